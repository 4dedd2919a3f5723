"""How a memory stays within a limit: what has the least of its life time left leaves first."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from dehusk.memory.memory import Memory
from dehusk.memory.tables import Counts, Table

Floats = NDArray[np.float64]

BASE_LIFE: Final = 10.0
LIFE_FACTOR: Final = 20.0
"""Tb and N of `life_time`; where they come from stands at the settings of `segments`."""


_MAX_COUNT: Final = 800
"""e^-799 is 0 in double precision."""


def life_time(
    count: Counts, base_life: float = BASE_LIFE, life_factor: float = LIFE_FACTOR
) -> Floats:
    """Pages for which a key of that count is kept: Tb·N / (1 + (N - 1)·e^-(df - 1))."""
    lives = _lives(base_life, life_factor)
    return lives[np.minimum(count, len(lives) - 1)]


@lru_cache(maxsize=16)
def _lives(base_life: float, life_factor: float) -> Floats:
    """The life time by count, up to where e^-(df - 1) is too small to be seen in it."""
    count = np.arange(_MAX_COUNT, dtype=np.float64)
    lives = base_life * life_factor / (1.0 + (life_factor - 1.0) * np.exp(1.0 - count))
    lives.flags.writeable = False
    return np.asarray(lives)


def life_left(
    table: Table, pages: int, base_life: float = BASE_LIFE, life_factor: float = LIFE_FACTOR
) -> Floats:
    """For how many more pages each key is kept if it does not come back; below 0 when it is due."""
    unseen = pages - table.last.astype(np.int64)
    return life_time(table.count, base_life, life_factor) - unseen


def limited(
    table: Table,
    pages: int,
    max_keys: int,
    base_life: float,
    life_factor: float,
    *,
    ages: bool,
) -> Table:
    """The table without what is past its life time, where it ages, and within its limit."""
    # Nothing is kept for fewer pages than `base_life`.
    if ages and pages > base_life:
        table = table.alive(_lives(base_life, life_factor), pages)
    if len(table) <= max_keys:
        return table
    left = life_left(table, pages, base_life, life_factor)
    return keep_best(table, fair_worth(table, left), max_keys)


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


def fair_worth(table: Table, left: Floats) -> Floats:
    """What each key is worth: the life it has left; of keys seen once, the fewest of a page most.

    A page full of text that never comes back would else drive out what other pages had just begun
    to teach: all of it is as new. So each page keeps as many of its new keys as any other.
    """
    once = np.flatnonzero(table.count == 1)
    order = once[np.argsort(table.last[once], kind="stable")]
    page = table.last[order]
    starts = np.flatnonzero(np.concatenate(([True], page[1:] != page[:-1]))[: len(order)])
    sizes = np.diff(np.append(starts, len(order)))
    worth = np.maximum(left, 0.0)
    worth[order] = -1.0 - (np.arange(len(order)) - np.repeat(starts, sizes))
    return worth


def shrink(memory: Memory, max_bytes: int) -> Memory:
    """The memory, or if it holds more than `max_bytes`, three quarters of that.

    Every table gives up the same share of its rows, those with the least life left. Sequences stay
    whole: a tree without some of its nodes would be another tree.
    """
    size = memory.size_bytes
    if size <= max_bytes:
        return memory
    fixed = sum(sequence.nbytes for sequence in memory.sequences.values())
    share = max(0.0, 0.75 * max_bytes - fixed) / max(size - fixed, 1)
    tables, history = (
        {name: _shared(table, memory.pages, share) for name, table in kept.items()}
        for kept in (memory.tables, memory.settled().history)
    )
    return replace(memory, tables=tables, history=history)


def _shared(table: Table, pages: int, share: float) -> Table:
    """That share of a table's rows, those with the most life left."""
    worth = life_left(table, pages)
    best = np.lexsort((table.keys, -worth))[: int(share * len(table))]
    kept = np.zeros(len(table), np.bool_)
    kept[best] = True
    return table.only(kept)
