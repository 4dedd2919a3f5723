"""What one site has taught one method."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from dehusk.errors import StateError
from dehusk.memory.tables import EMPTY, Table
from dehusk.page.hashing import Hashes

KNOWN: Final = "~known"
"""The table of the pages that a memory has learned, by their digests. Every memory in a store has
one; no method's table is called so."""
CHANGES: Final = "~changes"
"""The table that says how often the site's template has changed, and when last: one row, since
counts add up."""
PLACES: Final = "~places"
"""The table of the places where the site shows its dates and its authors: `answer/shown.py`."""
HISTORY: Final[tuple[str, ...]] = (KNOWN, CHANGES, PLACES)
_SIZE_BYTES: Final = attrgetter("size_bytes")


class Memory(Struct, frozen=True, eq=False):
    """What one site has taught one method: how many pages, and the method's tables by name.

    `sequences` are for what has an order, such as a tree; memories that hold any do not add up.
    """

    pages: int = 0
    tables: Mapping[str, Table] = field(default_factory=dict)
    sequences: Mapping[str, Hashes] = field(default_factory=dict)
    history: Mapping[str, Table] = field(default_factory=dict)
    """What is kept beside the method's tables: which pages are known, when the template changed,
    and where dates and authors stand. Saved among them."""

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

    def with_tables(self, **tables: Table) -> Memory:
        """The memory of the same pages with these tables replaced."""
        return replace(self, tables={**self.tables, **tables})

    def with_history(self, **history: Table) -> Memory:
        """The memory of the same pages with these tables beside it replaced."""
        return replace(self, history={**self.history, **history})

    def then(self, later: Memory) -> Memory:
        """The memory of these pages followed by the later ones, which it renumbers."""
        return self._added(later, self.pages)

    def plus(self, other: Memory) -> Memory:
        """Both memories added up: the memory of all their pages, if neither has forgotten any."""
        return self._added(other, 0)

    def _added(self, other: Memory, before: int) -> Memory:
        """Both memories added up, the pages of the other numbered on behind so many."""
        if self.sequences or other.sequences:
            raise StateError("memories of this method do not add up")
        return Memory(
            self.pages + other.pages,
            _added(self.tables, other.tables, before),
            history=_added(self.history, other.history, before),
        )

    def knows_all(self, other: Memory) -> bool:
        """True where this memory has learned every page that another knows, if that knows any.

        Never where the other has learned more pages: it may have let go of which they were.
        """
        pages = other.table(KNOWN).keys
        may_know = self.pages >= other.pages and len(pages) > 0
        return may_know and bool(self.table(KNOWN).counts_of(pages).all())

    @property
    def size_bytes(self) -> int:
        """What all tables and sequences hold."""
        tables: int = sum(map(_SIZE_BYTES, self.tables.values()))
        tables += sum(map(_SIZE_BYTES, self.history.values()))
        return tables + sum(sequence.nbytes for sequence in self.sequences.values())


def _added(
    tables: Mapping[str, Table], others: Mapping[str, Table], before: int
) -> Mapping[str, Table]:
    """Tables by name added up, the pages of the others numbered on behind so many."""
    if not others:
        return tables
    names = tables if tables.keys() == others.keys() else sorted({*tables, *others})
    return {name: tables.get(name, EMPTY).then(others.get(name, EMPTY), before) for name in names}
