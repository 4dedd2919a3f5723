"""How tables stay within a limit: what is rare and long gone leaves first."""

from __future__ import annotations

from dehusk.memory import Table, keep_best


def trim(table: Table, max_keys: int, pages_per_count: float) -> Table:
    """The table, or if it has more than `max_keys` keys, the better three quarters of the limit.

    A key is worth its last page plus `pages_per_count` for each page it was on, so that neither
    what was frequent long ago nor a flood of new keys takes all the room.
    """
    return keep_best(table, table.last + pages_per_count * table.count, max_keys)
