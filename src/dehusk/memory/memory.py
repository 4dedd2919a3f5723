"""What one site has taught one method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from dehusk.errors import StateError
from dehusk.kernel import KERNEL
from dehusk.memory.tables import EMPTY, PackedTables, Table
from dehusk.page.hashing import Hashes

KNOWN: Final = "~known"
"""The table of the pages that a memory has learned, by their digests. Every memory in a store has
one; no method's table is called so."""
CHANGES: Final = "~changes"
"""The table that says how often the site's template has changed, and when last: one row, since
counts add up."""
HISTORY: Final[tuple[str, ...]] = (KNOWN, CHANGES)


@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """What one site has taught one method: how many pages, and the method's tables by name.

    `sequences` are for what has an order, such as a tree; memories that hold any do not add up.
    """

    pages: int = 0
    tables: Mapping[str, Table] = field(default_factory=dict)
    sequences: Mapping[str, Hashes] = field(default_factory=dict)
    history: Mapping[str, Table] = field(default_factory=dict)
    """What is kept beside the method's tables: which pages are known, and when the template
    changed. Apart, so that those stay packed; saved among them."""

    @staticmethod
    def of_page(**tables: Table) -> Memory:
        """The memory of one page alone."""
        return Memory(1, tables)

    def table(self, name: str) -> Table:
        """The table of that name; an empty one if nothing was learned yet."""
        found = self.tables.get(name)
        return self.history.get(name, EMPTY) if found is None else found

    def after_page(
        self, *, sequences: Mapping[str, Hashes] | None = None, **tables: Table
    ) -> Memory:
        """The memory after one more page, with these tables and sequences replaced."""
        return Memory(
            self.pages + 1,
            {**self.tables, **tables},
            {**self.sequences, **(sequences or {})},
            self.history,
        )

    def sizes(self, names: Sequence[str]) -> tuple[int, ...]:
        """How many keys each of these tables has."""
        if isinstance(self.tables, PackedTables) and self.tables.kind.names == names:
            return self.tables.rows
        return tuple(len(self.table(name)) for name in names)

    def with_tables(self, **tables: Table) -> Memory:
        """The memory of the same pages with these tables replaced."""
        return replace(self, tables={**self.tables, **tables})

    def with_history(self, **history: Table) -> Memory:
        """The memory of the same pages with these tables beside it replaced."""
        return replace(self, history={**self.history, **history})

    def then(self, later: Memory) -> Memory:
        """The memory of these pages followed by the later ones, which it renumbers."""
        if self.sequences or later.sequences:
            raise StateError("memories of this method do not add up")
        pages = self.pages + later.pages
        history = _then(self.history, later.history, self.pages)
        if KERNEL is not None:
            packed = _packed(self.tables, later.tables)
            if packed is not None:
                before, after = packed
                return Memory(pages, before.then(KERNEL, after, self.pages), history=history)
        return Memory(pages, _then(self.tables, later.tables, self.pages), history=history)

    def plus(self, other: Memory) -> Memory:
        """Both memories added up: the memory of all their pages, if neither has forgotten any."""
        if self.sequences or other.sequences:
            raise StateError("memories of this method do not add up")
        tables, history = (
            {
                name: mine.get(name, EMPTY).plus(theirs.get(name, EMPTY))
                for name in sorted({*mine, *theirs})
            }
            for mine, theirs in ((self.tables, other.tables), (self.history, other.history))
        )
        return Memory(self.pages + other.pages, tables, history=history)

    @property
    def size_bytes(self) -> int:
        """What all tables and sequences hold."""
        tables = self.tables
        size = tables.size_bytes if isinstance(tables, PackedTables) else _size(tables)
        size += _size(self.history)
        return size + sum(sequence.nbytes for sequence in self.sequences.values())


def _size(tables: Mapping[str, Table]) -> int:
    return sum(table.size_bytes for table in tables.values())


def _then(tables: Mapping[str, Table], later: Mapping[str, Table], pages: int) -> dict[str, Table]:
    """Tables of so many pages and those of later ones, added up."""
    if not later:
        return dict(tables)
    return {
        name: tables.get(name, EMPTY).then(later.get(name, EMPTY), pages)
        for name in sorted({*tables, *later})
    }


def _packed(
    tables: Mapping[str, Table], later: Mapping[str, Table]
) -> tuple[PackedTables, PackedTables] | None:
    """Both as packed tables of one set; None where neither is packed, or they are of two sets."""
    kind = next((each.kind for each in (later, tables) if isinstance(each, PackedTables)), None)
    if kind is None:
        return None
    before, after = kind.packed(tables), kind.packed(later)
    return None if before is None or after is None else (before, after)
