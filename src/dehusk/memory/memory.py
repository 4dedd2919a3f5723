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
_RECENT: Final = "~recent"
"""Pages that are known besides those in `KNOWN`, never saved apart: `Memory.settled`."""
_LARGE: Final = 5_000
_MAX_RECENT: Final = 256
"""A table of so many known pages is added to now and then, since that copies it: for each page it
took 25 µs with 10,000 of them, and 245 with 100,000, a fifth of what a page takes in all. 256 to
512 are best for 100,000."""


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
        if found is None:
            found = self.history.get(name, EMPTY)
        return found.plus(self._recent) if name == KNOWN and len(self._recent) else found

    @property
    def _recent(self) -> Table:
        return self.history.get(_RECENT, EMPTY)

    @property
    def known_pages(self) -> int:
        """How many pages it knows."""
        return len(self.history.get(KNOWN, EMPTY)) + len(self._recent)

    def knows(self, *pages: int) -> bool:
        """True where it has learned any of the pages of these digests."""
        tables = (self.history.get(KNOWN, EMPTY), self._recent)
        return any(table.row(page) is not None for page in pages for table in tables)

    def settled(self) -> Memory:
        """The same memory as it is saved: all known pages in one table."""
        return self.with_history(**{KNOWN: self.table(KNOWN)}) if len(self._recent) else self

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
        kept = {**self.history, **history}
        if KNOWN in history:
            kept.pop(_RECENT, None)
        return replace(self, history=kept)

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
        tables = _added(self.tables, other.tables, before)
        recent = self._recent_after(other, before)
        if recent is None:
            history = _added(self.settled().history, other.settled().history, before)
            return Memory(self.pages + other.pages, tables, history=history)
        own, others = (
            {name: table for name, table in memory.history.items() if name not in (KNOWN, _RECENT)}
            for memory in (self, other)
        )
        known = {KNOWN: self.history[KNOWN], _RECENT: recent}
        return Memory(self.pages + other.pages, tables, history=_added(own, others, before) | known)

    def _recent_after(self, other: Memory, before: int) -> Table | None:
        """The pages that are known besides the large table; None where that is to be added to."""
        new = other.history.get(KNOWN, EMPTY)
        if len(self.history.get(KNOWN, EMPTY)) < _LARGE or len(other._recent) or not len(new):
            return None
        if len(self._recent) + len(new) > _MAX_RECENT or self.knows(*new.keys.tolist()):
            return None
        return self._recent.then(new, before)

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
) -> dict[str, Table]:
    """Tables by name added up, the pages of the others numbered on behind so many."""
    if not others:
        return dict(tables)
    names = tables if tables.keys() == others.keys() else sorted({*tables, *others})
    return {name: tables.get(name, EMPTY).then(others.get(name, EMPTY), before) for name in names}
