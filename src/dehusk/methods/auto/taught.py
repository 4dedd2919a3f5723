"""What a page teaches, what its site says of it, and the verdict, by the compiled kernel: the quick
twins of `evidence`, `weighing` and `judge`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from dehusk.memory import Memory, PackedTables, Table, TableSet
from dehusk.methods.auto.reading import READING_PACKING, Reading
from dehusk.page.packing import Column, Packed, Packing
from dehusk.page.tree import Floats

TABLES: Final = TableSet(segments=0, texts=0, places=4, families=0)
"""The tables that a page fills (`evidence`, `src/kernel/lesson.c`)."""
_SITE: Final = TABLES.packing.wanted(
    "segments.keys", "segments.count", "texts.keys", "texts.count", "places.keys", "places.count",
    "places.sums", "families.keys", "families.count",
)  # fmt: skip
_OWN: Final = TABLES.packing.wanted(
    "segments.keys", "segments.count", "places.keys", "places.count", "places.sums",
    "families.keys",
)  # fmt: skip
"""What the site's word is made of: of the site's tables, and of those of the page."""

_LESSON: Final = (
    "keys", "texts", "owner", "places", "chars", "surroundings", "low", "high",
)  # fmt: skip
_TAUGHT: Final = READING_PACKING.wanted(*_LESSON)
_SEEN: Final = READING_PACKING.wanted(*_LESSON, "looks")
_WEIGHED: Final = READING_PACKING.wanted(
    "keys", "texts", "lengths", "owner", "places", "chars", "low", "high", "looks",
)  # fmt: skip
_JUDGED: Final = READING_PACKING.wanted("link_chars", "levels")
"""What lessons, the page network, the site's word and the verdict are made of, for the kernel."""


LOOK_PACKING: Final = Packing(Column("logits", np.float64), Column("verdict", np.float64))
"""What the page network says of each block."""
_SAID: Final = LOOK_PACKING.wanted("logits", "verdict")


def taught(kernel: Any, page: Reading, verdict: Floats) -> Memory:
    """What `evidence.lesson` gives."""
    return Memory(1, PackedTables(TABLES, *kernel.lesson(page.cut(_TAUGHT), verdict)))


def look_at(kernel: Any, page: Reading, network: Sequence[Any]) -> tuple[Packed, Memory]:
    """What `judge.page_look` is made of: the page network's logits and verdicts, and the lesson."""
    said, tables = kernel.look(page.cut(_SEEN), *network)
    return said, Memory(1, PackedTables(TABLES, *tables))


def _arrays(memory: Memory, wanted: bytes) -> tuple[Any, ...]:
    """Some of the arrays of `TABLES`, as the kernel takes them."""
    tables = memory.tables
    if isinstance(tables, PackedTables) and tables.kind is TABLES:
        return (tables.cut(wanted),)
    names = [TABLES.packing.names[place].split(".") for place in wanted]
    return tuple(_array(memory.table(name), part) for name, part in names)


def _array(table: Table, part: str) -> Any:
    """One of the arrays of a table; none of sums for an empty one."""
    array = getattr(table, part)
    return b"" if array is None else np.ascontiguousarray(array)


class Given(NamedTuple):
    """What `judge.judge` goes by."""

    shift: float
    others: int
    """How many other pages there are."""
    kinds: Sequence[bytes]
    """Columns of the looks, as `rules.KINDS` has them."""
    numbers: bytes
    told: int
    """How many numbers the site says of a block."""


def judge_blocks(
    kernel: Any,
    page: Reading,
    said: Packed,
    memories: tuple[Memory, Memory],
    network: Sequence[Any],
    given: Given,
) -> tuple[Packed, float]:
    """What `judge.judge` gives (`judge.JUDGED_PACKING`), and the threshold.

    `said` is what the page network said; the memories are the site's and what the page taught.
    """
    site, own = memories
    found: tuple[Packed, float] = kernel.judge(
        given.shift, given.others, given.told, given.numbers, page.cut(_JUDGED), *given.kinds,
        page.cut(_WEIGHED), LOOK_PACKING.cut(said, (len(page),), _SAID), *_arrays(site, _SITE),
        *_arrays(own, _OWN), *network,
    )  # fmt: skip
    return found


_TEXTS: Final = TABLES.packing.wanted("texts.keys", "texts.last")
_FAMILY: Final = TABLES.packing.wanted("families.keys")
_WHOLE: Final = READING_PACKING.wanted("looks", "chars", "texts")
_VERDICT: Final = LOOK_PACKING.wanted("verdict")


def kind_of_page(
    kernel: Any,
    page: Reading,
    said: Packed,
    memories: tuple[Memory, Memory],
    network: Sequence[Any],
) -> tuple[list[float], bool, int | None]:
    """What `judge.page_kind` gives; the arguments are those of `judge_blocks`."""
    site, own = memories
    found: tuple[list[float], bool, int | None] = kernel.kind(
        site.pages, page.cut(_WHOLE), LOOK_PACKING.cut(said, (len(page),), _VERDICT),
        *_arrays(site, _TEXTS), *_arrays(own, _FAMILY), *network,
    )  # fmt: skip
    return found


_USUAL: Final = TABLES.packing.wanted("texts.count", "texts.last")


def usual_texts(
    kernel: Any, memory: Memory, least: float, alive: int, before: int
) -> tuple[int, int, int]:
    """How many texts of the memory were on `least` pages and last on one behind `alive`, and how
    many of these last on one behind `before`, or on it.
    """
    found: tuple[int, int, int] = kernel.usual(least, alive, before, *_arrays(memory, _USUAL))
    return found
