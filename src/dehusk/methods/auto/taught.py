"""What a page teaches, and what its site says of it, by the compiled kernel: the quick twins of
`evidence` and `weighing`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dehusk.memory import Memory, Table
from dehusk.methods.auto.columns import Matrix
from dehusk.methods.auto.reading import Reading
from dehusk.model import Floats

_SUMS = 4
_EVIDENCE, _ROW = 51, 160
"""Columns of the evidence, and of what the site network reads; the kernel checks the latter."""


def lesson_tables(kernel: Any, page: Reading, verdict: Floats) -> dict[str, Table]:
    """The tables of `evidence.lesson`, without that of families."""
    memory, segments, texts, places = kernel.lesson(
        page.keys, page.texts, page.blocks.owner, page.places, page.blocks.chars, verdict
    )
    words = np.frombuffer(memory, np.uint64)
    behind = segments + texts
    sums = words[behind + places : behind + (1 + _SUMS) * places].reshape(-1, _SUMS)
    return {
        "segments": _table(words[:segments]),
        "texts": _table(words[segments:behind]),
        "places": _table(words[behind : behind + places], sums),
    }


def _table(keys: Any, sums: Any = None) -> Table:
    """The table of one page from its keys, each once and in order; as `Table.of_page` gives it."""
    if not len(keys):
        return Table()
    ones = np.ones(len(keys), np.uint32)
    return Table(keys, ones, ones, None, sums)


def weigh_blocks(
    kernel: Any, memory: Memory, own: Memory, page: Reading, judged: tuple[Floats, Floats]
) -> tuple[Matrix, Matrix]:
    """What `weighing.weigh` gives; `own` is what the page taught, `judged` logits and verdicts."""
    blocks = page.blocks
    family = memory.table("families").counts_of(own.table("families").keys)
    segments, texts, places = (memory.table(name) for name in ("segments", "texts", "places"))
    own_segments, own_places = own.table("segments"), own.table("places")
    found = kernel.weigh(
        float(max(memory.pages - 1, 0)), float(np.maximum(family.astype(np.int64) - 1, 0).sum()),
        _ROW, page.keys, page.texts, page.lengths, blocks.owner, page.places, blocks.chars,
        blocks.low, blocks.high, page.looks, *judged, segments.keys, segments.count, texts.keys,
        texts.count, places.keys, places.count, _sums(places), own_segments.keys,
        own_segments.count, own_places.keys, own_places.count, _sums(own_places),
    )  # fmt: skip
    count = len(blocks)
    told = np.frombuffer(found, np.float32, count * _EVIDENCE, 8 * count)
    rows = np.frombuffer(found, np.float32, count * _ROW, (8 + 4 * _EVIDENCE) * count)
    return told.reshape(count, _EVIDENCE), rows.reshape(count, _ROW)


def _sums(table: Table) -> Any:
    """The sums of a table; none for an empty one."""
    return b"" if table.sums is None else np.ascontiguousarray(table.sums)
