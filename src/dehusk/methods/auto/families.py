"""Families: pages of a site whose content stands at the same place."""

from __future__ import annotations

from typing import Final

import numpy as np

from dehusk.memory import Table
from dehusk.methods.contract import FamilySeen

_NUMBERS: Final = 999_999
"""Two of 256 families have one number on one site in thirty."""
MAX_FAMILIES: Final = 256
"""Families that are remembered."""


def family_number(family: int) -> int:
    """A number that names the family of this key within its site, the same on every run."""
    return 1 + family % _NUMBERS


def families_seen(families: Table) -> tuple[FamilySeen, ...]:
    """What a table of families holds, that of most pages first; one number is one family."""
    found: dict[int, FamilySeen] = {}
    numbers = 1 + families.keys % np.uint64(_NUMBERS)
    columns = numbers.tolist(), families.count.tolist(), families.last.tolist()
    for number, pages, last in zip(*columns, strict=True):
        before = found.get(number, FamilySeen(number, 0, 0))
        found[number] = FamilySeen(number, before.pages + pages, max(before.last_page, last))
    return tuple(sorted(found.values(), key=lambda family: (-family.pages, family.number)))
