"""Tables of hashes with small counters: what a memory is made of.

Nothing here knows a method. A method decides which tables it fills and what their keys mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dehusk.errors import StateError
from dehusk.kernel import KERNEL
from dehusk.page.hashing import Hashes
from dehusk.page.packing import Column, Cut, Packed, Packing
from dehusk.page.tree import Flags

Counts = NDArray[np.uint32]
Sums = NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Keys in ascending order, each with the pages it was on and the number of the last of them.

    A key may have an owner, another key that it belongs to, for tables that are asked 'what belongs
    to this?', and a row of `sums`, numbers that add up over its pages. Sorted arrays rather than a
    dict: 16 bytes a key (8 more for an owner and for each sum) instead of a hundred, the same order
    on every run, and keys made to collide cannot slow it down.
    """

    keys: Hashes = field(default_factory=lambda: np.empty(0, np.uint64))
    count: Counts = field(default_factory=lambda: np.empty(0, np.uint32))
    last: Counts = field(default_factory=lambda: np.empty(0, np.uint32))
    owner: Hashes | None = None
    sums: Sums | None = None
    """A row for each key; as many columns in all rows of a table."""

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def size_bytes(self) -> int:
        """What the table holds in memory."""
        owner = 0 if self.owner is None else self.owner.nbytes
        sums = 0 if self.sums is None else self.sums.nbytes
        return len(self) * 16 + owner + sums

    @staticmethod
    def of_page(
        keys: Hashes, page: int = 1, owner: Hashes | None = None, sums: Sums | None = None
    ) -> Table:
        """The table of one page; a key that stands there twice counts once.

        Of two owners of one key the lesser stays; its rows of sums are added up.
        """
        if not len(keys):
            return Table()
        given, keys = keys, np.unique(keys)
        added = None
        if sums is not None:
            added = np.zeros((len(keys), sums.shape[1]), np.uint64)
            np.add.at(added, np.searchsorted(keys, given), sums)
        return Table(
            keys,
            np.ones(len(keys), np.uint32),
            np.full(len(keys), page, np.uint32),
            None if owner is None else _least_owners(keys, given, owner),
            added,
        )

    def counts_of(self, keys: Hashes) -> Counts:
        """On how many pages each of the keys was; 0 for one that is not in the table."""
        if not len(self.keys):
            return np.zeros(len(keys), np.uint32)
        place = np.searchsorted(self.keys, keys)
        place[place == len(self.keys)] = 0
        return np.where(self.keys[place] == keys, self.count[place], np.uint32(0))

    def with_page(
        self, keys: Hashes, page: int, owner: Hashes | None = None, sums: Sums | None = None
    ) -> Table:
        """The table after a page with these keys, as `of_page` takes them.

        Either all keys of a table have owners or none, and as many sums: StateError for a page
        that differs.
        """
        return self.plus(Table.of_page(keys, page, owner, sums))

    def only(self, kept: Flags) -> Table:
        """The rows where `kept` is true."""
        if kept.all():
            return self
        owner = None if self.owner is None else self.owner[kept]
        sums = None if self.sums is None else self.sums[kept]
        return Table(self.keys[kept], self.count[kept], self.last[kept], owner, sums)

    def plus(self, other: Table) -> Table:
        """Both tables added up, whichever comes first; quick where the other one is small.

        StateError if one has owners and one not, or if they have not as many sums.
        """
        if not len(self) or not len(other):
            return self if len(self) else other
        self._check_columns(other)
        if KERNEL is not None and self.owner is None:
            return _merged(KERNEL, self, other, 0)
        place = np.searchsorted(self.keys, other.keys)
        known = np.zeros(len(other), np.bool_)
        inside = place < len(self.keys)
        known[inside] = self.keys[place[inside]] == other.keys[inside]
        at, new = place[known], ~known
        count, last = self.count.copy(), self.last.copy()
        count[at] += other.count[known]
        last[at] = np.maximum(last[at], other.last[known])
        owner = sums = None
        if self.owner is not None and other.owner is not None:
            owner = self.owner.copy()
            owner[at] = np.minimum(owner[at], other.owner[known])
            owner = np.insert(owner, place[new], other.owner[new])
        if self.sums is not None and other.sums is not None:
            sums = self.sums.copy()
            sums[at] += other.sums[known]
            sums = np.insert(sums, place[new], other.sums[new], axis=0)
        return Table(
            np.insert(self.keys, place[new], other.keys[new]),
            np.insert(count, place[new], other.count[new]),
            np.insert(last, place[new], other.last[new]),
            owner,
            sums,
        )

    def then(self, other: Table, pages: int) -> Table:
        """This table of so many pages and the other one, of later pages, added up."""
        if KERNEL is None or self.owner is not None or not len(self) or not len(other):
            return self.plus(other.later(pages))
        self._check_columns(other)
        return _merged(KERNEL, self, other, pages)

    def later(self, pages: int) -> Table:
        """The table as if so many pages had come before."""
        return replace(self, last=self.last + np.uint32(pages)) if pages and len(self) else self

    def _check_columns(self, other: Table) -> None:
        """Raise StateError where rows of another shape would meet these."""
        if (self.owner is None) != (other.owner is None):
            raise StateError("keys with owners and keys without do not go into one table")
        mine, theirs = (0 if t.sums is None else t.sums.shape[1] for t in (self, other))
        if mine != theirs:
            raise StateError(f"keys with {mine} and with {theirs} sums do not go into one table")


def _merged(kernel: Any, one: Table, other: Table, pages: int) -> Table:
    """Both tables added up by the kernel, the other one later by so many pages; without owners."""
    columns = 0 if one.sums is None else one.sums.shape[1]
    memory = kernel.merge(columns, pages, *_columns(one), *_columns(other))
    size = len(memory) // (16 + 8 * columns)
    words = np.frombuffer(memory, np.uint64, (1 + columns) * size)
    count, last = np.frombuffer(memory, np.uint32, 2 * size, words.nbytes).reshape(2, size)
    sums = words[size:].reshape(size, columns) if columns else None
    return Table(words[:size], count, last, None, sums)


def _columns(table: Table) -> tuple[Any, ...]:
    """The arrays of a table as the kernel takes them."""
    whole = np.ascontiguousarray
    sums = b"" if table.sums is None else whole(table.sums)
    return whole(table.keys), whole(table.count), whole(table.last), sums


def _least_owners(keys: Hashes, given: Hashes, owner: Hashes) -> Hashes:
    """The least owner of each key, of all that were given with it."""
    least = np.full(len(keys), np.iinfo(np.uint64).max, np.uint64)
    np.minimum.at(least, np.searchsorted(keys, given), owner)
    return least


EMPTY: Final = Table()


class TableSet:
    """The tables that a method fills, and how they stand in one piece of memory.

    per table, by name: keys, rows of sums (8 bytes each), counts, last pages (4 each)
    """

    def __init__(self, **sums: int) -> None:
        """Tables by name, and how many sums a row of each has; none of them has owners."""
        self.names = tuple(sorted(sums))
        self.sums = bytes(sums[name] for name in self.names)
        self.packing = Packing(
            *(
                column
                for place, name in enumerate(self.names)
                for column in (
                    Column(f"{name}.keys", np.uint64, place),
                    Column(f"{name}.sums", np.uint64, place, sums[name]),
                    Column(f"{name}.count", np.uint32, place),
                    Column(f"{name}.last", np.uint32, place),
                )
            )
        )

    def packed(self, tables: Mapping[str, Table]) -> PackedTables | None:
        """The same tables in one piece of memory; None for those of another set."""
        if isinstance(tables, PackedTables):
            return tables if tables.kind is self else None
        if not tables:
            return PackedTables(self, b"", (0,) * len(self.names))
        if tuple(sorted(tables)) != self.names or not all(
            map(_has_sums, map(tables.__getitem__, self.names), self.sums)
        ):
            return None
        parts = [
            np.ascontiguousarray(array).tobytes()
            for name in self.names
            for array in _stored(tables[name])
        ]
        return PackedTables(self, b"".join(parts), tuple(len(tables[name]) for name in self.names))


def _has_sums(table: Table, sums: int) -> bool:
    """Can the table stand among those with so many sums a row, and without owners?"""
    has = 0 if table.sums is None else table.sums.shape[1]
    return not len(table) or (has == sums and table.owner is None)


def _stored(table: Table) -> tuple[NDArray[Any], ...]:
    """The arrays of a table in the order in which they stand in memory."""
    if table.sums is None:
        return table.keys, table.count, table.last
    return table.keys, table.sums, table.count, table.last


class PackedTables(Mapping[str, Table]):
    """Tables in one piece of memory; one is made of it when somebody asks for it.

    A page adds to all tables of its site, by the kernel, and nobody looks at them in between: to
    make arrays of them took longer than to add them up.
    """

    __slots__ = ("_made", "kind", "memory", "rows")

    def __init__(self, kind: TableSet, memory: Packed, rows: tuple[int, ...]) -> None:
        self.kind = kind
        self.memory = memory
        self.rows = rows
        """How many keys each table has."""
        self._made: dict[str, Table] = {}

    def __getitem__(self, name: str) -> Table:
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def _make(self, name: str) -> Table:
        if name not in self.kind.names:
            raise KeyError(name)
        place = self.kind.names.index(name)
        if not self.rows[place]:
            return EMPTY
        keys, count, last = (self._view(name, part) for part in ("keys", "count", "last"))
        return Table(
            keys, count, last, None, self._view(name, "sums") if self.kind.sums[place] else None
        )

    def _view(self, name: str, part: str) -> NDArray[Any]:
        view = self.kind.packing.view(self.memory, self.rows, f"{name}.{part}")
        return view.reshape(len(view), -1) if part == "sums" else view

    def __iter__(self) -> Iterator[str]:
        return iter(self.kind.names)

    def __len__(self) -> int:
        return len(self.kind.names)

    @property
    def size_bytes(self) -> int:
        """What all tables hold."""
        return len(self.memory)

    def cut(self, wanted: bytes) -> Cut:
        """Some of the arrays, as the kernel takes them."""
        return self.memory, self.rows, self.kind.packing.sizes, wanted

    def then(self, kernel: Any, later: PackedTables, pages: int) -> PackedTables:
        """These tables of so many pages and the later ones of the same set, added up."""
        if not pages and not any(self.rows):
            return later
        memory, rows = kernel.merge_all(
            self.kind.sums, pages, self.memory, self.rows, later.memory, later.rows
        )
        return PackedTables(self.kind, memory, rows)
