"""How tables stay within a limit: what is rare and long gone leaves first."""

from __future__ import annotations

import numpy as np

from dehusk.memory import Table
from dehusk.model import Floats


def trim(table: Table, max_keys: int, pages_per_count: float) -> Table:
    """The table, or if it has more than `max_keys` keys, the better three quarters of the limit.

    A key is worth its last page plus `pages_per_count` for each page it was on, so that neither
    what was frequent long ago nor a flood of new keys takes all the room.
    """
    return keep_best(table, table.last + pages_per_count * table.count, max_keys)


def keep_best(table: Table, worth: Floats, max_keys: int) -> Table:
    """The table, or if it has more than `max_keys` keys, those worth most: three quarters of it.

    Of equal ones the smaller keys stay: the answer depends on counts only. A quarter is cleared at
    once because sorting the table on every page would cost more than all the rest.
    """
    if len(table) <= max_keys:
        return table
    best = np.lexsort((table.keys, -worth))[: max_keys - max_keys // 4]
    kept = np.zeros(len(table), np.bool_)
    kept[best] = True
    return table.only(kept)
