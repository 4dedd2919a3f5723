"""What a page teaches, what its site says of it, and the verdict, by the compiled kernel: the quick
twins of `evidence`, `weighing` and `judge`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from dehusk.memory import Memory, Sums, Table
from dehusk.methods.auto.columns import Matrix
from dehusk.methods.auto.reading import Reading
from dehusk.model import Floats

_SUMS: Final = 4
"""Columns of sums of a place (`evidence`, `src/kernel/lesson.c`)."""


def lesson_tables(kernel: Any, page: Reading, verdict: Floats) -> dict[str, Table]:
    """The tables of `evidence.lesson`."""
    memory, *counts = kernel.lesson(*_taught(page), verdict)
    return _tables(np.frombuffer(memory, np.uint64), *counts)


def look_at(kernel: Any, page: Reading, network: Sequence[Any]) -> tuple[Floats, Floats, Memory]:
    """What `judge.page_look` gives: the page network's logits and verdicts, and the lesson."""
    memory, *counts = kernel.look(*_taught(page), page.looks, *network)
    count = len(page.blocks)
    logits, verdict = np.frombuffer(memory, np.float64, 2 * count).reshape(2, count)
    words = np.frombuffer(memory, np.uint64, -1, 16 * count)
    return logits, verdict, Memory.of_page(**_tables(words, *counts))


def _taught(page: Reading) -> tuple[Any, ...]:
    """What a lesson is made of, as the kernel takes it."""
    blocks = page.blocks
    return (
        page.keys, page.texts, blocks.owner, page.places, blocks.chars, page.surroundings,
        blocks.low, blocks.high,
    )  # fmt: skip


def _tables(words: Any, segments: int, texts: int, places: int) -> dict[str, Table]:
    """The tables whose keys and sums stand one behind another."""
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
    kernel: Any,
    widths: tuple[int, int],
    memory: Memory,
    own: Memory,
    page: Reading,
    judged: tuple[Floats, Floats],
) -> tuple[Matrix, Matrix]:
    """What `weighing.weigh` gives, two matrices of these widths.

    `own` is what the page taught, `judged` are logits and verdicts.
    """
    blocks, (evidence, row) = page.blocks, widths
    segments, texts, places = (memory.table(name) for name in ("segments", "texts", "places"))
    own_segments, own_places = own.table("segments"), own.table("places")
    families = memory.table("families")
    found = kernel.weigh(
        float(max(memory.pages - 1, 0)), evidence, row, page.keys, page.texts, page.lengths,
        blocks.owner, page.places, blocks.chars, blocks.low, blocks.high, page.looks, *judged,
        segments.keys, segments.count, texts.keys, texts.count, places.keys, places.count,
        _sums(places), own_segments.keys, own_segments.count, own_places.keys, own_places.count,
        _sums(own_places), families.keys, families.count, own.table("families").keys,
    )  # fmt: skip
    count = len(blocks)
    told = np.frombuffer(found, np.float32, count * evidence, 8 * count)
    rows = np.frombuffer(found, np.float32, count * row, (8 + 4 * evidence) * count)
    return told.reshape(count, evidence), rows.reshape(count, row)


class Given(NamedTuple):
    """What `judge.judge` goes by."""

    shift: float
    others: int
    """How many other pages there are."""
    kinds: Sequence[Any]
    """Columns of the looks, as `rules.KINDS` has them."""
    numbers: Floats


def judge_blocks(
    kernel: Any,
    page: Reading,
    weighed: tuple[Matrix, Matrix],
    network: Sequence[Any],
    given: Given,
) -> tuple[Floats, Floats, Floats, float]:
    """What `judge.judge` gives: what the networks say, that by the rules, scores, and threshold.

    `weighed` is what `weigh_blocks` gave.
    """
    blocks, (told, rows) = page.blocks, weighed
    memory, threshold = kernel.judge(
        given.shift, given.others, given.numbers, rows, page.looks, told, blocks.chars,
        blocks.link_chars, blocks.low, blocks.high, blocks.levels, *given.kinds, *network,
    )  # fmt: skip
    said, site, scores = np.frombuffer(memory, np.float64).reshape(3, len(blocks))
    return said, site, scores, threshold


def _sums(table: Table) -> Any:
    """The sums of a table; none for an empty one."""
    return b"" if table.sums is None else np.ascontiguousarray(table.sums)
