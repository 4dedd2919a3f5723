"""Arrays that stand one behind another in one piece of memory, as the kernel makes and takes them.

A view of an array costs half a microsecond, and a page has some fifty of them that only the kernel
looks at. So it is handed the memory and which arrays of it are meant (`open_all` in
`src/kernel/kernel.c`); a view is made when somebody else asks for one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dehusk import _kernel

Packed = bytes | bytearray
Cut = tuple[Packed | _kernel.Tree, tuple[int, ...], bytes, bytes]
"""Arrays for the kernel: the memory, how many items its arrays have, their sizes, and which."""


@dataclass(frozen=True, slots=True)
class Column:
    """One of the arrays: its items, and which of the counts says how many rows of them it has."""

    name: str
    kind: type[np.generic]
    count: int = 0
    width: int = 1
    """Items of each row."""

    @property
    def row_bytes(self) -> int:
        """Bytes of each row."""
        return np.dtype(self.kind).itemsize * self.width


class Packing:
    """The order of arrays in memory, those of the largest items first."""

    def __init__(self, *columns: Column) -> None:
        self._columns = columns
        self._places = {column.name: place for place, column in enumerate(columns)}
        self._before = [_row_bytes_by_count(columns[:place]) for place in range(len(columns))]
        self.sizes = np.array(
            [(column.row_bytes, column.count) for column in columns], np.uint16
        ).tobytes()
        """Of each array, the bytes of a row and which count: as the kernel takes them."""
        self.row_bytes = sum(column.row_bytes for column in columns)
        """Bytes of one row of each array."""

    def __contains__(self, name: str) -> bool:
        return name in self._places

    def wanted(self, *names: str) -> bytes:
        """These arrays, in this order, as `cut` takes them."""
        return bytes(self._places[name] for name in names)

    def cut(self, memory: Packed, counts: tuple[int, ...], wanted: bytes) -> Cut:
        """Arrays out of a memory, as the kernel takes them."""
        return memory, counts, self.sizes, wanted

    def view(self, memory: Packed, counts: tuple[int, ...], name: str) -> NDArray[Any]:
        """One of the arrays."""
        place = self._places[name]
        column = self._columns[place]
        first = sum(map(mul, counts, self._before[place]))
        rows = counts[column.count]
        view = np.frombuffer(memory, column.kind, rows * column.width, first)
        return view if column.width == 1 else view.reshape(rows, column.width)

    def pack(self, arrays: Sequence[NDArray[Any]]) -> bytes:
        """The memory of arrays that came from elsewhere, in their order here."""
        return b"".join(
            np.ascontiguousarray(array, column.kind).tobytes()
            for column, array in zip(self._columns, arrays, strict=True)
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the arrays, in their order."""
        return tuple(self._places)


def _row_bytes_by_count(columns: Sequence[Column]) -> tuple[int, ...]:
    """By count: the bytes that one row of each of the arrays with that count takes together."""
    counts = range(max((column.count for column in columns), default=-1) + 1)
    return tuple(sum(c.row_bytes for c in columns if c.count == count) for count in counts)
