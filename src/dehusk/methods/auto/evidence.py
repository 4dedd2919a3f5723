"""What the site says of each block: the tables that a page fills, and the numbers read from them.

Four tables: `segments`, a text at its place; `texts`, a text anywhere; `places`, with sums of what
stood there; `families`, where the content of a page stood. All add up, whatever the order of the
pages.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from dehusk.hashing import Hashes
from dehusk.memory import Memory, Sums, Table
from dehusk.methods.auto.families import family_of
from dehusk.methods.auto.looks import Matrix
from dehusk.methods.auto.reading import PLACE_BITS, Reading
from dehusk.model import Floats

_SEGMENTS, _CHARS, _VERDICT, _WEIGHT = range(4)
"""Columns of sums in `places`: different segments on each page, characters, the page network's
verdicts by weight, and that weight."""
PAGES, KNOWN, GIVEN_PLACE, ANYWHERE, REPEATS, IS_KNOWN = 0, 3, 4, 6, 8, 9
"""Columns of the evidence: how many other pages (log), the shares of the block's text that stood
at its place on any of them, on those that have the place, and anywhere; of all that stood at its
place the share that came back; and whether the place was there at all."""
_UNIT: Final = 1000
"""Verdicts are summed in thousandths."""


def lesson(page: Reading, verdict: Floats) -> Memory:
    """What one page teaches; `verdict` is how much of content the page network sees in a block."""
    blocks = page.blocks
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

    The memory has learned this page: its own part is taken out. Without other pages all are 0. The
    mean verdict is that of the page network on the blocks that stood at the same place before,
    else on this block itself.
    """
    pages = max(memory.pages - 1, 0)
    seen = max(pages, 1)
    own = lesson(page, verdict)
    count = _others(memory, own, "segments", page.keys)
    anywhere = _others(memory, own, "texts", page.texts)
    repeated = _repeated(memory.table("segments"), own.table("segments"), page.places)
    at_place, sums = _place_sums(memory.table("places"), own.table("places"), page.places)
    owner, blocks = page.blocks.owner, page.blocks

    def mean(values: Floats) -> Floats:
        return np.asarray(blocks.sums(values * page.lengths) / blocks.chars)

    segments = np.maximum(sums[:, _SEGMENTS], 1)
    is_known = (at_place > 0).astype(np.float64)
    share = mean(np.minimum(count / seen, 1))
    known = mean((count > 0).astype(np.float64))
    given_place = mean(np.minimum(count / np.maximum(at_place, 1)[owner], 1))
    known_anywhere = mean((anywhere > 0).astype(np.float64))
    repeats = np.minimum(repeated / segments, 1)
    own_columns = (
        np.full(len(blocks), np.log1p(min(pages, 60))),
        np.full(len(blocks), pages / (pages + 3)),
        share,
        known,
        given_place,
        mean(np.minimum(anywhere / seen, 1)),
        known_anywhere,
        np.minimum(at_place / seen, 1),
        repeats,
        is_known,
        np.log1p(np.minimum(sums[:, _SEGMENTS], 500)) / 5,
        np.log1p(sums[:, _CHARS] / segments) / 5,
    )
    around = (share, known, given_place, known_anywhere, 1 - is_known, repeats)
    regions = [region_mean(page, values) for values in around]
    verdicts = np.where(
        sums[:, _WEIGHT] > 0, sums[:, _VERDICT] / np.maximum(sums[:, _WEIGHT], 1), verdict
    )
    matrix = np.concatenate((np.stack(own_columns, axis=1), *regions), axis=1, dtype=np.float32)
    return matrix, verdicts


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
