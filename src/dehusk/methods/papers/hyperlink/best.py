"""The settings of `hyperlink` that were found best: the papers', and ours."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from dehusk.methods.papers.hyperlink.detection import Equality
from dehusk.methods.papers.hyperlink.page_verdict import PageVerdict

BEST_VOTES: Final = {1: 1, 2: 1, 3: 2, 4: 3, 5: 3, 6: 3, 7: 3, 8: 4}
"""The votes that were best for each size on TECO (table 2 of 001; the thesis's table 5.2 has 1, 1,
2, 3, 4, 2, 2, 4)."""
BEST: Final[Mapping[str, Any]] = MappingProxyType({
    "equality": Equality.TEXT.value, "page_verdict": PageVerdict.ALWAYS.value, "max_loads": 5,
})  # fmt: skip
"""The settings for who wants the content rather than the papers' answer, which commands and the
service start from. Chosen by hand on linked-dev and sites-dev, where F1 is 0.927 and 0.933; with
settings chosen on some of the sites it is 0.917 and 0.935 on the others (`dehusk bench all --only
teco-best-grid --only teco-best-grid-sites`)."""


def best_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """These settings, and `BEST` for others; where the papers' equality is asked for, the papers'.

    Votes are what was best for the size, and more than it can be loaded.
    """
    is_paper = given.get("equality") == Equality.PAPER
    usual = {} if is_paper else dict(BEST)
    size = given.get("size")
    if isinstance(size, int):
        usual["votes"] = BEST_VOTES.get(size, max(size // 2, 1))
        if not is_paper:
            usual["max_loads"] = max(BEST["max_loads"], size + 2)
    return usual | dict(given)
