"""What one site has taught one method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from dehusk.errors import StateError
from dehusk.kernel import KERNEL
from dehusk.memory.tables import EMPTY, PackedTables, Table
from dehusk.page.hashing import Hashes


@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """What one site has taught one method: how many pages, and the method's tables by name.

    `sequences` are for what has an order, such as a tree; memories that hold any do not add up.
    """

    pages: int = 0
    tables: Mapping[str, Table] = field(default_factory=dict)
    sequences: Mapping[str, Hashes] = field(default_factory=dict)

    @staticmethod
    def of_page(**tables: Table) -> Memory:
        """The memory of one page alone."""
        return Memory(1, tables)

    def table(self, name: str) -> Table:
        """The table of that name; an empty one if nothing was learned yet."""
        return self.tables.get(name, EMPTY)

    def after_page(
        self, *, sequences: Mapping[str, Hashes] | None = None, **tables: Table
    ) -> Memory:
        """The memory after one more page, with these tables and sequences replaced."""
        return Memory(
            self.pages + 1,
            {**self.tables, **tables},
            {**self.sequences, **(sequences or {})},
        )

    def sizes(self, names: Sequence[str]) -> tuple[int, ...]:
        """How many keys each of these tables has."""
        if isinstance(self.tables, PackedTables) and self.tables.kind.names == names:
            return self.tables.rows
        return tuple(len(self.table(name)) for name in names)

    def with_tables(self, **tables: Table) -> Memory:
        """The memory of the same pages with these tables replaced."""
        return replace(self, tables={**self.tables, **tables})

    def then(self, later: Memory) -> Memory:
        """The memory of these pages followed by the later ones, which it renumbers."""
        if self.sequences or later.sequences:
            raise StateError("memories of this method do not add up")
        pages = self.pages + later.pages
        if KERNEL is not None and isinstance(later.tables, PackedTables):
            before = later.tables.kind.packed(self.tables)
            if before is not None:
                return Memory(pages, before.then(KERNEL, later.tables, self.pages))
        names = sorted({*self.tables, *later.tables})
        tables = {name: self.table(name).then(later.table(name), self.pages) for name in names}
        return Memory(pages, tables)

    def plus(self, other: Memory) -> Memory:
        """Both memories added up: the memory of all their pages, if neither has forgotten any."""
        if self.sequences or other.sequences:
            raise StateError("memories of this method do not add up")
        names = sorted({*self.tables, *other.tables})
        tables = {name: self.table(name).plus(other.table(name)) for name in names}
        return Memory(self.pages + other.pages, tables)

    @property
    def size_bytes(self) -> int:
        """What all tables and sequences hold."""
        tables = sum(table.size_bytes for table in self.tables.values())
        return tables + sum(sequence.nbytes for sequence in self.sequences.values())
