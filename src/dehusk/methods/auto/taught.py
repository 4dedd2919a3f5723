"""What a page teaches, and what its site says of it, by the compiled kernel: the quick twins of
`evidence` and `weighing`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dehusk.memory import Memory, Sums, Table
from dehusk.methods.auto.columns import Matrix
from dehusk.methods.auto.reading import Reading
from dehusk.model import Floats

_SUMS = 4
_EVIDENCE, _ROW = 51, 160
"""Columns of the evidence, and of what the site network reads; the kernel checks the latter."""


def lesson_tables(kernel: Any, page: Reading, verdict: Floats) -> dict[str, Table]:
    """The tables of `evidence.lesson`."""
    blocks = page.blocks
    memory, segments, texts, places = kernel.lesson(
        page.keys, page.texts, blocks.owner, page.places, blocks.chars, verdict,
        page.surroundings, blocks.low, blocks.high,
    )  # fmt: skip
    words = np.frombuffer(memory, np.uint64)
    behind = segments + texts
    sums = words[behind + places : behind + (1 + _SUMS) * places].reshape(-1, _SUMS)
    ones = np.ones(max(segments, texts, places, 1), np.uint32)

    def table(first: int, count: int, sums: Sums | None = None) -> Table:
        if not count:
            return Table()
        return Table(words[first : first + count], ones[:count], ones[:count], None, sums)

    return {
        "segments": table(0, segments),
        "texts": table(segments, texts),
        "places": table(behind, places, sums),
        "families": table(len(words) - 1, int(places > 0)),
    }


def weigh_blocks(
    kernel: Any, memory: Memory, own: Memory, page: Reading, judged: tuple[Floats, Floats]
) -> tuple[Matrix, Matrix]:
    """What `weighing.weigh` gives; `own` is what the page taught, `judged` logits and verdicts."""
    blocks = page.blocks
    family = memory.table("families").counts_of(own.table("families").keys)
    segments, texts, places = (memory.table(name) for name in ("segments", "texts", "places"))
    own_segments, own_places = own.table("segments"), own.table("places")
    found = kernel.weigh(
        float(max(memory.pages - 1, 0)), float(max(int(family.sum()) - 1, 0)),
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
