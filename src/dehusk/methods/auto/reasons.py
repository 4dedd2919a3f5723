"""Why a block has its score, in words."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from dehusk.methods.auto.evidence import GIVEN_PLACE, IS_KNOWN, PAGES, REPEATS
from dehusk.methods.auto.judge import Judgement
from dehusk.model import Flags

REASONS: Final = (
    "its surroundings decide",
    "no other page seen: its look decides",
    "the same text stands here on most pages",
    "what stands here comes back from page to page",
    "what stands here differs from page to page",
    "no page before had anything here: its look decides",
)
_SURROUNDINGS, _LOOK, _SAME, _COMES_BACK, _DIFFERS, _NEW_PLACE = range(len(REASONS))


def reasons_of(judgement: Judgement) -> NDArray[np.int16]:
    """Of each block the place in `REASONS` of what speaks most for its label."""
    site = judgement.evidence
    kept = judgement.site >= judgement.threshold
    looks_kept = judgement.page >= 0.5
    is_same, comes_back = site[:, GIVEN_PLACE] > 0.5, site[:, REPEATS] > 0.5
    is_known = site[:, IS_KNOWN] > 0
    reasons = np.full(len(kept), _SURROUNDINGS, np.int16)
    if not site[:, PAGES].any():
        return _where(reasons, looks_kept == kept, _LOOK)
    reasons = _where(reasons, (looks_kept == kept) & ~is_known, _NEW_PLACE)
    reasons = _where(reasons, kept & is_known & ~comes_back, _DIFFERS)
    reasons = _where(reasons, ~kept & is_known & comes_back, _COMES_BACK)
    return _where(reasons, ~kept & is_same, _SAME)


def _where(reasons: NDArray[np.int16], chosen: Flags, reason: int) -> NDArray[np.int16]:
    """The reasons, with this one where `chosen`."""
    return np.where(chosen, np.int16(reason), reasons)
