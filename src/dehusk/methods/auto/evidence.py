"""What the site says of each block: the tables that a page fills, and the numbers read from them.

Four tables: `segments`, a text at its place; `texts`, a text anywhere; `places`, with sums of what
stood there; `families`, where the content of a page stood. All add up, whatever the order of the
pages.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from dehusk.kernel import KERNEL
from dehusk.memory import Memory, Sums, Table
from dehusk.methods.auto.blocks import LEVELS
from dehusk.methods.auto.columns import Matrix, columns_of, log1p
from dehusk.methods.auto.families import family_of
from dehusk.methods.auto.reading import PLACE_BITS, Reading
from dehusk.methods.auto.taught import taught
from dehusk.page.hashing import Hashes
from dehusk.page.tree import Floats

_SEGMENTS, _CHARS, _VERDICT, _WEIGHT = range(4)
"""Columns of sums in `places`: different segments on each page, characters, the page network's
verdicts by weight, and that weight."""
_OWN: Final = (
    "pages", "many pages", "family pages", "family share", "share", "known", "given place",
    "anywhere", "known anywhere", "place share", "repeats", "place known", "segments",
    "segments a page", "length",
)  # fmt: skip
"""What is told of each block. How many other pages the site has, and the block's family; of the
block's text what share stood at its place, how often by all pages, on any of them, and by those
that have the place; the same anywhere; by how many pages its place is had; of all that stood there
the share that came back; whether it was there at all; how many segments stood there, and how
long."""
_AROUND: Final = ("share", "known", "given place", "known anywhere", "place new", "repeats")
"""What is told of its surroundings, level by level."""
COLUMNS: Final = columns_of(
    dict.fromkeys(_OWN, 1) | {f"{name} around": len(LEVELS) for name in _AROUND}
)
"""Where each number stands."""
_UNIT: Final = 1000
"""Verdicts are summed in thousandths."""


def lesson(page: Reading, verdict: Floats) -> Memory:
    """What one page teaches; `verdict` is how much of content the page network sees in a block."""
    blocks = page.blocks
    if KERNEL is not None:
        return taught(KERNEL, page, verdict)
    distinct = np.zeros(len(page.keys))
    distinct[np.unique(page.keys, return_index=True)[1]] = 1
    weight = np.sqrt(blocks.chars)
    sums = np.stack(
        (
            blocks.sums(distinct),
            blocks.chars,
            np.rint(_UNIT * weight * verdict),
            np.rint(_UNIT * weight),
        ),
        axis=1,
    )
    return Memory.of_page(
        segments=Table.of_page(page.keys),
        texts=Table.of_page(page.texts),
        places=Table.of_page(page.places, sums=sums.astype(np.uint64)),
        families=Table.of_page(family_of(page, verdict)),
    )


def evidence(memory: Memory, page: Reading, verdict: Floats) -> tuple[Matrix, Floats]:
    """One row of numbers per block, from the other pages of the site, and the site's mean verdict.

    The memory has learned this page: its own part is taken out. Without other pages all are 0, but
    for the places around, which are new. The mean verdict is that of the page network on the blocks
    that stood at the same place before, else on this block itself.
    """
    own = lesson(page, verdict)
    at_place, sums = _place_sums(memory.table("places"), own.table("places"), page.places)
    told = _pages_told(memory, own, page) | _text_told(memory, own, page, at_place)
    segments = np.maximum(sums[:, _SEGMENTS], 1)
    repeated = _repeated(memory.table("segments"), own.table("segments"), page.places)
    told |= {
        "place share": np.minimum(at_place / max(memory.pages - 1, 1), 1),
        "repeats": np.minimum(repeated / segments, 1),
        "place known": (at_place > 0).astype(np.float64),
        "segments": log1p(np.minimum(sums[:, _SEGMENTS], 500)) / 5,
        "segments a page": log1p(sums[:, _SEGMENTS] / np.maximum(at_place, 1)) / 3,
        "length": log1p(sums[:, _CHARS] / segments) / 5,
    }
    told["place new"] = 1 - told["place known"]
    mean = np.minimum(sums[:, _VERDICT] / np.maximum(sums[:, _WEIGHT], 1), 1)
    columns = [told[name][:, None] for name in _OWN]
    columns += [region_mean(page, told[name]) for name in _AROUND]
    verdicts = np.where(sums[:, _WEIGHT] > 0, mean, verdict)
    return np.concatenate(columns, axis=1, dtype=np.float32), verdicts


def _pages_told(memory: Memory, own: Memory, page: Reading) -> dict[str, Floats]:
    """How much of the site, and of the page's family, has been seen."""
    pages = max(memory.pages - 1, 0)
    family = float(_others(memory, own, "families", own.table("families").keys).sum())
    told = {
        "pages": log1p(min(pages, 60)),
        "many pages": pages / (pages + 3),
        "family pages": log1p(min(family, 60)),
        "family share": min(family / max(pages, 1), 1),
    }
    return {name: np.full(len(page.blocks), number) for name, number in told.items()}


def _text_told(memory: Memory, own: Memory, page: Reading, at_place: Floats) -> dict[str, Floats]:
    """What share of each block's text other pages have."""
    seen = max(memory.pages - 1, 1)
    count = _others(memory, own, "segments", page.keys)
    anywhere = _others(memory, own, "texts", page.texts)
    told = {
        "share": count / seen,
        "known": count > 0,
        "given place": count / np.maximum(at_place, 1)[page.blocks.owner],
        "anywhere": anywhere / seen,
        "known anywhere": anywhere > 0,
    }
    return {
        name: page.blocks.sums(np.minimum(shares, 1) * page.lengths) / page.blocks.chars
        for name, shares in told.items()
    }


def column(told: Matrix, name: str) -> Matrix:
    """The numbers of one name, one for each block."""
    return np.asarray(told[:, COLUMNS[name].start])


def region_mean(page: Reading, values: Floats) -> Floats:
    """The mean of a number over the surroundings of each block, by characters, level by level."""
    chars = np.maximum(page.blocks.around(page.blocks.chars), 1)
    return np.asarray(page.blocks.around(values * page.blocks.chars) / chars)


def _others(memory: Memory, own: Memory, table: str, keys: Hashes) -> Floats:
    """On how many other pages each key was."""
    both = memory.table(table).counts_of(keys).astype(np.float64)
    return np.asarray(np.maximum(both - own.table(table).counts_of(keys), 0))


def _repeated(table: Table, own: Table, places: Hashes) -> Floats:
    """Of each block's place, the segments there that other pages share, each as often as it came.

    A segment that only this page shares with one other does not count as shared.
    """
    worth = np.where(table.count >= 2, table.count, 0).astype(np.float64)
    mine = table.counts_of(own.keys)
    lost = np.where(mine == 2, 2.0, np.where(mine > 2, 1.0, 0.0))
    return np.maximum(_at(table, worth, places) - _at(own, lost, places), 0)


def _at(table: Table, values: Floats, places: Hashes) -> Floats:
    """The sum of a number per row of a table of segments over the rows of each place."""
    total = np.concatenate(([0.0], np.cumsum(values)))
    low = places >> PLACE_BITS << PLACE_BITS
    high = low | np.uint64((1 << int(PLACE_BITS)) - 1)
    return np.asarray(
        total[np.searchsorted(table.keys, high, "right")] - total[np.searchsorted(table.keys, low)]
    )


def _place_sums(table: Table, own: Table, places: Hashes) -> tuple[Floats, Floats]:
    """Of each block's place, on how many other pages it was, and the sums of these pages."""
    count, sums = _rows(table, places)
    own_count, own_sums = _rows(own, places)
    return np.maximum(count - own_count, 0), np.maximum(sums - own_sums, 0)


def _rows(table: Table, keys: Hashes) -> tuple[Floats, Floats]:
    """The count and the sums of each key; zeros for one that is not in the table."""
    width = _WEIGHT + 1
    if not len(table):
        return np.zeros(len(keys)), np.zeros((len(keys), width))
    place = np.minimum(np.searchsorted(table.keys, keys), len(table) - 1)
    found = table.keys[place] == keys
    sums: Sums = table.sums if table.sums is not None else np.zeros((len(table), width), np.uint64)
    return (
        np.where(found, table.count[place], 0).astype(np.float64),
        np.where(found[:, None], sums[place], 0).astype(np.float64),
    )
