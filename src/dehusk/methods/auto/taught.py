"""What a page teaches, what its site says of it, and the verdict, by the compiled kernel: the quick
twins of `evidence`, `weighing` and `judge`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from dehusk.memory import Memory, Sums, Table
from dehusk.methods.auto.columns import Matrix
from dehusk.methods.auto.reading import READING_PACKING, Reading
from dehusk.model import Floats

_SUMS: Final = 4
"""Columns of sums of a place (`evidence`, `src/kernel/lesson.c`)."""


_LESSON: Final = (
    "keys", "texts", "owner", "places", "chars", "surroundings", "low", "high",
)  # fmt: skip
_TAUGHT: Final = READING_PACKING.wanted(*_LESSON)
_SEEN: Final = READING_PACKING.wanted(*_LESSON, "looks")
_WEIGHED: Final = READING_PACKING.wanted(
    "keys", "texts", "lengths", "owner", "places", "chars", "low", "high", "looks",
)  # fmt: skip
_JUDGED: Final = READING_PACKING.wanted(
    "looks", "chars", "link_chars", "low", "high", "levels",
)  # fmt: skip
"""What lessons, the page network, the site's word and the verdict are made of, for the kernel."""


def lesson_tables(kernel: Any, page: Reading, verdict: Floats) -> dict[str, Table]:
    """The tables of `evidence.lesson`."""
    memory, *counts = kernel.lesson(page.cut(_TAUGHT), verdict)
    return _tables(np.frombuffer(memory, np.uint64), *counts)


def look_at(kernel: Any, page: Reading, network: Sequence[Any]) -> tuple[Floats, Floats, Memory]:
    """What `judge.page_look` gives: the page network's logits and verdicts, and the lesson."""
    memory, *counts = kernel.look(page.cut(_SEEN), *network)
    count = len(page)
    logits, verdict = np.frombuffer(memory, np.float64, 2 * count).reshape(2, count)
    words = np.frombuffer(memory, np.uint64, -1, 16 * count)
    return logits, verdict, Memory.of_page(**_tables(words, *counts))


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
    evidence, row = widths
    segments, texts, places = (memory.table(name) for name in ("segments", "texts", "places"))
    own_segments, own_places = own.table("segments"), own.table("places")
    families = memory.table("families")
    found = kernel.weigh(
        float(max(memory.pages - 1, 0)), evidence, row, page.cut(_WEIGHED), *judged,
        segments.keys, segments.count, texts.keys, texts.count, places.keys, places.count,
        _sums(places), own_segments.keys, own_segments.count, own_places.keys, own_places.count,
        _sums(own_places), families.keys, families.count, own.table("families").keys,
    )  # fmt: skip
    count = len(page)
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
    told, rows = weighed
    memory, threshold = kernel.judge(
        given.shift, given.others, given.numbers, rows, told, page.cut(_JUDGED), *given.kinds,
        *network,
    )  # fmt: skip
    said, site, scores = np.frombuffer(memory, np.float64).reshape(3, len(page))
    return said, site, scores, threshold


def _sums(table: Table) -> Any:
    """The sums of a table; none for an empty one."""
    return b"" if table.sums is None else np.ascontiguousarray(table.sums)
