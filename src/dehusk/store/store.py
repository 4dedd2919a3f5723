"""Any number of sites' memories in a database: read when asked for, written page by page."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from dehusk.errors import SettingError, StoreDamaged
from dehusk.memory import Memory, dump, load
from dehusk.store.database import Database
from dehusk.store.reading import read_parts
from dehusk.store.rows import SiteRow, StoreRow, site_id
from dehusk.store.shelf import Shelf, Shelves
from dehusk.store.statements import Statements

KNOWN: Final = "~known"
"""The table of the pages that a memory has learned, by their digests. Every memory in a store has
one; no method's table is called so."""
_FOLD_BYTES: Final = 32_000
"""A log shorter than this is never folded: some ten pages, which are replayed in a millisecond."""
_SITE_OVERHEAD: Final = 2_000
"""What an active site takes besides its arrays' contents, by `dehusk bench memory`."""
_TOTAL_COMMITS: Final = 256
"""After so many commits the whole is measured again: others may write too."""

Replay = Callable[[Memory, Memory], Memory]
"""Gives the memory after a page, from the one before it and what the page taught."""
Summary = Callable[[Memory], tuple[int, int]]
"""Gives the families of a memory, and how often its template has changed."""


def _no_summary(_memory: Memory) -> tuple[int, int]:
    return 0, 0


@dataclass(frozen=True, slots=True)
class Keeping:
    """How much a store keeps."""

    max_site_bytes: int = 16_000_000
    """Of each site, in memory. Beyond it what has the least of its life time left goes."""
    max_known_pages: int = 100_000
    """Of each site: pages that are known not to be learned twice, 16 bytes each, the last ones."""
    max_total_bytes: int = 4_000_000_000
    """Of all sites together. Beyond it the sites go that have not changed for longest."""
    max_active_bytes: int = 128_000_000
    """Of the sites that are held in memory; the others are read again when they are asked for."""

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if getattr(self, name) < 1:
                raise SettingError(f"keeping: {name} must be at least 1")


@dataclass(slots=True)
class _Active:
    """A site that is held in memory."""

    row: SiteRow
    """As it is in the database."""
    memory: Memory
    """With what is pending."""
    pending: list[bytes] = field(default_factory=list)
    """What pages taught that are not committed yet."""

    @property
    def size_bytes(self) -> int:
        return self.memory.size_bytes + _SITE_OVERHEAD


class Store:
    """Memories by site. What was put is lasting once `commit` has returned.

    Appending to a log is cheap and reading a long one is not, so a site's log is folded into its
    snapshot when it has become longer than that. `replay` makes a memory out of a log; without it
    (methods whose memories do not add up) every commit writes the whole memory of the site.
    """

    def __init__(
        self,
        database: Database,
        replay: Replay | None,
        keeping: Keeping,
        summary: Summary = _no_summary,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.database = database
        self.statements = Statements(database)
        self.row = self.statements.read_store()
        self.keeping = keeping
        self.shelves = Shelves(database)
        self._replay = replay
        self._summary = summary
        self._clock = clock
        self._active: OrderedDict[str, _Active] = OrderedDict()
        self._active_bytes = 0
        self._undo: dict[str, tuple[Memory, int]] | None = None
        self._commits = 0
        self._total_bytes = self.statements.total_bytes()
        self.pending_pages = 0
        self.pending_bytes = 0
        self._numbers = None if database.is_shared else self._checked_numbers()

    def _checked_numbers(self) -> set[int]:
        """The numbers of all sites: a damaged file may not find one of them later."""
        numbers = self.statements.site_numbers()
        mark = int(np.bitwise_xor.reduce(np.array([0, *numbers], np.uint64)))
        if (len(numbers), mark) != (self.row.sites, self.row.mark):
            raise StoreDamaged(
                f"{self.database.address}: damaged: {self.row.sites} sites were written,"
                f" {len(numbers)} are found; `dehusk sites check` says more"
            )
        return set(numbers)

    def memory(self, site: str) -> Memory:
        """What the site has taught; an empty memory for an unknown one. Raises StoreDamaged."""
        active = self._active.get(site)
        if active is None:
            with self.database.reading():
                active = self._read(site)
            self._active[site] = active
            self._active_bytes += active.size_bytes
            self._make_room(site)
        self._active.move_to_end(site)
        return active.memory

    def _read(self, site: str) -> _Active:
        """The site out of the database."""
        row = self.statements.site(site_id(site))
        if row is None:
            if self._numbers is not None and site_id(site) in self._numbers:
                raise StoreDamaged(f"the row of site {site!r} is missing", site)
            return _Active(SiteRow(site), Memory())
        return _Active(row, read_memory(self.statements, self.row.method, row, self._replay))

    def put(self, site: str, memory: Memory, lesson: Memory) -> None:
        """Keep the memory after a page, and what the page taught; `memory(site)` came before."""
        active = self._active[site]
        if self._undo is not None and site not in self._undo:
            self._undo[site] = (active.memory, len(active.pending))
        # Without a log only the number of pending pages matters.
        body = dump(lesson, self.row.method, site=site) if self._replay else b""
        self.put_written(site, memory, [body])

    def put_written(self, site: str, memory: Memory, bodies: Sequence[bytes]) -> None:
        """Keep the memory after some pages, and what each taught, as `dump` writes it."""
        active = self._active[site]
        self._active_bytes += memory.size_bytes - active.memory.size_bytes
        active.memory = memory
        active.pending += bodies
        self.pending_pages += len(bodies)
        self.pending_bytes += sum(map(len, bodies))
        self._make_room(site)

    def shelf(self, name: str, site: str = "") -> Shelf:
        """The shelf of that name, of a site or of all: see `Shelf`."""
        return self.shelves.shelf(name, site)

    @contextmanager
    def unit(self) -> Iterator[None]:
        """All that is put inside, or, if it raises, nothing."""
        self._undo = {}
        self.shelves.begin_unit()
        is_undone = True
        try:
            yield
            is_undone = False
        finally:
            if is_undone:
                self._undo_pages(self._undo)
            self.shelves.end_unit(undo=is_undone)
            self._undo = None

    def _undo_pages(self, undo: dict[str, tuple[Memory, int]]) -> None:
        for site, (memory, pending) in undo.items():
            active = self._active[site]
            self._active_bytes += memory.size_bytes - active.memory.size_bytes
            self.pending_pages -= len(active.pending) - pending
            self.pending_bytes -= sum(map(len, active.pending[pending:]))
            active.memory = memory
            del active.pending[pending:]

    def _make_room(self, asked: str) -> None:
        """Let go of the sites that were not asked for longest; never of pages not committed."""
        if self._active_bytes <= self.keeping.max_active_bytes:
            return
        for site in list(self._active):
            if self._active_bytes <= self.keeping.max_active_bytes:
                return
            if site != asked and not self._active[site].pending:
                self._let_go(site)

    def _let_go(self, site: str) -> None:
        gone = self._active.pop(site, None)
        if gone is not None:
            self._active_bytes -= gone.size_bytes
            self.pending_pages -= len(gone.pending)
            self.pending_bytes -= sum(map(len, gone.pending))

    @property
    def active_sites(self) -> int:
        """How many sites are held in memory."""
        return len(self._active)

    @property
    def is_crowded(self) -> bool:
        """True where sites must be committed before others find room in memory."""
        return self._active_bytes > self.keeping.max_active_bytes and self.pending_pages > 0

    def commit(self) -> None:
        """Make all that was put lasting. Where it raises, it is all still there to be committed."""
        changed = sorted(site for site, active in self._active.items() if active.pending)
        if not changed and not self.shelves.pending:
            return
        row = self.row
        with self._writing():
            written = {site: self._write(self._active[site]) for site in changed}
            self.shelves.write()
            new = [done.row.id for done in written.values() if done.is_new]
            if new:
                row = self._write_store(new)
        self.row = row
        self.shelves.written()
        if self._numbers is not None:
            self._numbers.update(new)
        for site, done in written.items():
            self._settle(site, done)
        self._commits += 1
        self._limit_total()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """All that is written inside is committed, or nothing."""
        self.database.begin()
        try:
            yield
            self.database.commit()
        except BaseException:
            self.database.rollback()
            raise

    def _write(self, active: _Active) -> _Written:
        """Write what a site has pending: into its log, or folded into its snapshot."""
        name, number, memory = active.row.name, active.row.id, active.memory
        self.database.lock(number)
        found = self.statements.site(number)
        base = found or SiteRow(name)
        is_alone = base.pages == active.row.pages
        if not is_alone and not self.database.is_shared:
            raise StoreDamaged(f"the row of site {name!r} has changed by itself", name)
        bodies = active.pending if is_alone else self._not_yet_known(active, base)
        families, revision = self._summary(memory)
        row = replace(base, changed=int(self._clock()), families=families, revision=revision)
        log_bytes = base.log_bytes + sum(map(len, bodies))
        is_long = self._replay is None or log_bytes > max(_FOLD_BYTES, base.snapshot_bytes)
        if is_alone and is_long:
            body = dump(memory, self.row.method, site=name)
            self.statements.write_snapshot(number, body, memory.pages)
            pages = memory.pages
            row = replace(row, pages=pages, folded=pages, snapshot_bytes=len(body), log_bytes=0)
        else:
            self.statements.write_log(number, base.pages + 1, bodies)
            row = replace(row, pages=base.pages + len(bodies), log_bytes=log_bytes)
        self.statements.write_site(row)
        return _Written(row, found is None, is_alone)

    def _not_yet_known(self, active: _Active, base: SiteRow) -> list[bytes]:
        """What is pending without the pages that others have learned since the site was read."""
        method, site = self.row.method, base.name
        log = self.statements.log(base.id, max(base.folded, active.row.pages))
        memories = [load(body, method, site=site) for _, body in log]
        if base.folded > active.row.pages:
            memories.append(load(self.statements.snapshot(base.id) or b"", method, site=site))
        pages = np.concatenate([memory.table(KNOWN).keys for memory in memories])
        known = set(pages.tolist())
        return [
            body
            for body in active.pending
            if known.isdisjoint(load(body, method, site=site).table(KNOWN).keys.tolist())
        ]

    def _settle(self, site: str, done: _Written) -> None:
        """Take note that a site was committed."""
        active = self._active[site]
        self._total_bytes += done.row.size_bytes - active.row.size_bytes
        self.pending_pages -= len(active.pending)
        self.pending_bytes -= sum(map(len, active.pending))
        active.pending = []
        active.row = done.row
        if not done.is_alone:
            # Others have written too, and their pages stand before ours: read it when it is asked.
            self._let_go(site)
        else:
            self._make_room(site)

    def _write_store(
        self, added: Sequence[int] = (), removed: Sequence[int] = (), forgotten: int = 0
    ) -> StoreRow:
        """Write which sites there are now."""
        self.database.lock(0)
        row = self.statements.read_store()
        mark = row.mark
        for number in (*added, *removed):
            mark ^= number
        row = replace(
            row,
            sites=row.sites + len(added) - len(removed),
            mark=mark,
            forgotten=row.forgotten + forgotten,
        )
        self.statements.write_store(row)
        return row

    def write_whole(self, site: str, memory: Memory, changed: int) -> None:
        """Write a site's whole memory in place of what there was; it is committed at once."""
        body = dump(memory, self.row.method, site=site)
        summary = self._summary(memory)
        row = SiteRow(site, memory.pages, memory.pages, len(body), 0, changed, *summary)
        with self._writing():
            self.database.lock(row.id)
            found = self.statements.site(row.id)
            self.statements.drop_site(row.id)
            self.statements.write_snapshot(row.id, body, row.pages)
            self.statements.write_site(row)
            store_row = self.row if found else self._write_store([row.id])
        self.row = store_row
        self._total_bytes += row.size_bytes - (found.size_bytes if found else 0)
        if self._numbers is not None:
            self._numbers.add(row.id)
        self._let_go(site)

    def forget(self, site: str, *, counts: bool = False) -> bool:
        """Take a site out, with all that is kept of it; False if it was not there."""
        number = site_id(site)
        try:
            row = self.statements.site(number)
        except StoreDamaged:
            row = SiteRow(site)
        if row is None:
            self._let_go(site)
            return False
        with self._writing():
            self.database.lock(number)
            self.statements.drop_site(number)
            self.shelves.drop_site(number)
            store_row = self._write_store(removed=[number], forgotten=int(counts))
        self.row = store_row
        self._total_bytes -= row.size_bytes
        if self._numbers is not None:
            self._numbers.discard(number)
        self._let_go(site)
        return True

    def _limit_total(self) -> None:
        """Forget the sites that have not changed for longest, while all are too large."""
        if self.database.is_shared and self._commits % _TOTAL_COMMITS == 0:
            self._total_bytes = self.statements.total_bytes()
        if self._total_bytes <= self.keeping.max_total_bytes:
            return
        # Some more than needed, so that it is not done again for every page.
        room = self.keeping.max_total_bytes - self.keeping.max_total_bytes // 10
        for row in self.statements.longest_unchanged(max(1, self.row.sites - 1)):
            if self._total_bytes <= room:
                return
            self.forget(row.name, counts=True)

    def close(self) -> None:
        """Let go of the database; what was not committed is lost."""
        self.database.close()


@dataclass(frozen=True, slots=True)
class _Written:
    """What became of a site's row in a commit."""

    row: SiteRow
    is_new: bool
    is_alone: bool
    """Nobody else has written to the site since it was read."""


def read_memory(statements: Statements, method: str, row: SiteRow, replay: Replay | None) -> Memory:
    """A site's memory: its snapshot, and what its log says came behind. Raises StoreDamaged."""
    parts = read_parts(statements, method, row)
    memory = parts.snapshot
    for lesson in parts.lessons:
        if replay is None:
            raise StoreDamaged(
                f"site {row.name!r} has a log, which {method} never writes", row.name
            )
        memory = replay(memory, lesson)
    return memory
