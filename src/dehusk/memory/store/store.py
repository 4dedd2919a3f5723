"""Any number of sites' memories in a database: read when asked for, written page by page."""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from dehusk.errors import StateError, StoreDamaged
from dehusk.memory import Memory, dump, load
from dehusk.memory.memory import KNOWN
from dehusk.memory.store.checking import Replay, read_memory
from dehusk.memory.store.rows import Database, SiteRow, Statements, StoreRow, site_id
from dehusk.memory.store.shelf import Shelves
from dehusk.settings import Keeping

_FOLD_BYTES: Final = 32_000
"""A log shorter than this is never folded: some ten pages, which are replayed in a millisecond."""
_FOLD_PAGES: Final = 4
"""A log of so many pages is folded where it had to be read, and would have to be again: among more
sites than find room in memory, each page of a site reads what its last pages taught."""
_SITE_OVERHEAD: Final = 2_000
"""What an active site takes besides its arrays' contents, by `dehusk bench memory`."""
_TOTAL_COMMITS: Final = 256
"""After so many commits the whole is measured again: others may write too."""

Summary = Callable[[Memory], tuple[int, int]]
"""Gives the families of a memory, and how often its template has changed."""


def _least_bytes(lesson: bytes | Memory) -> int:
    """What a lesson takes at least when it is written: its keys, eight bytes each."""
    if isinstance(lesson, bytes):
        return len(lesson)
    return 8 * sum(map(len, lesson.tables.values()))


def _no_summary(_memory: Memory) -> tuple[int, int]:
    return 0, 0


@dataclass(slots=True)
class _Active:
    """A site that is held in memory."""

    row: SiteRow
    """As it is in the database."""
    memory: Memory
    """With what is pending."""
    pending: list[bytes | Memory] = field(default_factory=list)
    """What pages taught that are not committed yet, as `dump` writes it or still to be written."""
    pending_bytes: int = 0
    """What that takes in memory."""
    is_read: bool = False
    """Was it read since it was committed?"""
    size_bytes: int = field(init=False)

    def __post_init__(self) -> None:
        self.size_bytes = self.memory.size_bytes + _SITE_OVERHEAD

    def hold(self, memory: Memory) -> int:
        """Hold this memory; how many bytes more that takes than the one before."""
        before = self.size_bytes
        self.memory = memory
        self.size_bytes = memory.size_bytes + _SITE_OVERHEAD
        return self.size_bytes - before


class Store:
    """Memories by site. What was put is lasting once `commit` has returned.

    A site's log is folded into its snapshot when it has become longer than that, or was read and
    has some pages: appending is cheap and reading a long log is not. `replay` makes a memory out of
    a log; without it (methods whose memories do not add up) every commit writes the whole memory of
    the site.
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
        self.shelves = Shelves(database, self._is_new)
        self._replay = replay
        self._summary = summary
        self._clock = clock
        self._settled: OrderedDict[str, _Active] = OrderedDict()
        """Active sites with nothing pending; the one first that was not asked for longest."""
        self._changed: OrderedDict[str, _Active] = OrderedDict()
        """Those with something pending, in the same order: they cannot be let go."""
        self._active_bytes = 0
        self._undo: dict[str, tuple[Memory, int, int]] | None = None
        self._commits = 0
        self._total_bytes = self.statements.total_bytes()
        self.pending_pages = 0
        self.pending_bytes = 0
        self._numbers = None if database.is_shared else self._checked_numbers()
        self._process: int | None = os.getpid()
        self._lone: set[int] | None = None
        """Sites that have shelves and no page, once that was asked."""

    def _checked_numbers(self) -> set[int]:
        """The numbers of all sites: a damaged file may not find one of them later."""
        numbers = self.statements.site_numbers()
        mark = int(np.bitwise_xor.reduce(np.array([0, *numbers], np.uint64)))
        if (len(numbers), mark) != (self.row.sites, self.row.mark):
            raise StoreDamaged(
                f"{self.database.address}: damaged: {self.row.sites} sites were written,"
                f" {len(numbers)} are found, or others"
            )
        return set(numbers)

    def _is_new(self, number: int) -> bool:
        """True for a site of which nothing is written: whoever is alone need not look for it.

        Most pages of a wide crawl are the first of their site, and each would look ten times.
        """
        if not number or not self.database.is_alone or self._numbers is None:
            return False
        if number in self._numbers:
            return False
        if self._lone is None:
            self._lone = self.shelves.lone_sites()
        return number not in self._lone

    def memory(self, site: str) -> Memory:
        """What the site has taught; an empty memory for an unknown one. Raises StoreDamaged.

        StateError for a store that was closed, or opened by the process that this one was forked
        from: both would write to one file.
        """
        if self._process != os.getpid():
            why = "closed" if self._process is None else "opened in another process: open it here"
            raise StateError(f"{self.database.address}: this memory was {why}")
        for sites in (self._changed, self._settled):
            if site in sites:
                sites.move_to_end(site)
                return sites[site].memory
        if self._is_new(site_id(site)):
            active = _Active(SiteRow(site), Memory())
        else:
            with self.database.reading():
                active = self._read(site)
        self._settled[site] = active
        self._active_bytes += active.size_bytes
        self._make_room(site)
        return active.memory

    def _read(self, site: str) -> _Active:
        """The site out of the database."""
        row = self.statements.site_named(site)
        if row is None:
            if self._numbers is not None and site_id(site) in self._numbers:
                raise StoreDamaged(f"the row of site {site!r} is missing", site)
            return _Active(SiteRow(site), Memory())
        memory = read_memory(self.statements, self.row.method, row, self._replay)
        return _Active(row, memory, is_read=True)

    def put(self, site: str, memory: Memory, lesson: Memory) -> None:
        """Keep the memory after a page, and what the page taught; `memory(site)` came before."""
        # Without a log only the number of pending pages matters.
        self._put(site, memory, [lesson if self._replay else b""])

    def put_written(self, site: str, memory: Memory, bodies: Sequence[bytes]) -> None:
        """Keep the memory after some pages, and what each taught, as `dump` writes it."""
        self._put(site, memory, bodies)

    def _put(self, site: str, memory: Memory, lessons: Sequence[bytes | Memory]) -> None:
        """Keep the memory, and the lessons until they are written by the next commit.

        Many written one behind another take a third of the time of each behind its page, and those
        of a site that is folded then need not be written at all.
        """
        active = self._changed.get(site) or self._settled.pop(site)
        self._changed[site] = active
        if self._undo is not None and site not in self._undo:
            self._undo[site] = (active.memory, len(active.pending), active.pending_bytes)
        self._active_bytes += active.hold(memory)
        active.pending += lessons
        self.pending_pages += len(lessons)
        more = sum(len(one) if isinstance(one, bytes) else one.size_bytes for one in lessons)
        active.pending_bytes += more
        self.pending_bytes += more
        self._make_room(site)

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
            undo, self._undo = self._undo, None
            try:
                self._undo_pages(undo if is_undone else {})
            finally:
                self.shelves.end_unit(undo=is_undone)

    def _undo_pages(self, undo: dict[str, tuple[Memory, int, int]]) -> None:
        for site, (memory, pages, size_bytes) in undo.items():
            active = self._changed[site]
            self._active_bytes += active.hold(memory)
            self.pending_pages -= len(active.pending) - pages
            self.pending_bytes -= active.pending_bytes - size_bytes
            del active.pending[pages:]
            active.pending_bytes = size_bytes
            if not active.pending:
                self._settled[site] = self._changed.pop(site)

    def _make_room(self, asked: str) -> None:
        """Let go of the sites that were not asked for longest; never of pages not committed."""
        while self._settled and self._active_bytes > self.keeping.max_active_bytes:
            longest = next(iter(self._settled))
            if longest == asked:
                return
            self._let_go(longest)

    def _let_go(self, site: str) -> None:
        gone = self._settled.pop(site, None) or self._changed.pop(site, None)
        if gone is not None:
            self._active_bytes -= gone.size_bytes
            self.pending_pages -= len(gone.pending)
            self.pending_bytes -= gone.pending_bytes

    @property
    def active_sites(self) -> int:
        """How many sites are held in memory."""
        return len(self._settled) + len(self._changed)

    @property
    def is_crowded(self) -> bool:
        """True where sites must be committed before others find room in memory."""
        return self._active_bytes > self.keeping.max_active_bytes and self.pending_pages > 0

    def commit(self) -> None:
        """Make all that was put lasting. Where it raises, it is all still there to be committed."""
        # By number, neighbours are on one page of a file; by name, as others wait for locks.
        changed = sorted(self._changed, key=None if self.database.is_shared else site_id)
        if not changed and not self.shelves.pending:
            return
        row = self.row
        with self._writing():
            written = {site: self._write(self._changed[site]) for site in changed}
            # Together: to write each site by itself costs more than what is written.
            self.statements.write_log(page for done in written.values() for page in done.log)
            self.statements.write_sites(done.row for done in written.values())
            self.shelves.write()
            new = [done.row.id for done in written.values() if done.is_new]
            if new:
                row = self._write_store(new)
        self.row = row
        if self._numbers is not None:
            self._numbers.update(new)
            if self._lone is not None:
                self._lone |= self.shelves.pending_sites() - self._numbers
        self.shelves.written()
        for site in list(self._changed):
            self._settle(site, written[site])
        self._commits += 1
        self._limit_total()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """All that is written inside is committed, or nothing."""
        self.database.begin()
        try:
            yield
            self.database.commit()
        except BaseException:  # Ctrl-C too: no transaction may stay open
            self.database.rollback()
            raise

    def _write(self, active: _Active) -> _Written:
        """What a site has pending as it is to be written; folded into its snapshot where due."""
        base, memory, lessons = active.row, active.memory, active.pending
        name, number = base.name, base.id
        self.database.lock(number)
        is_new = not base.pages
        # The whole row, not only its pages: a site that was forgotten may have as many again.
        if not (self._is_new(number) if is_new else self.statements.has_site(base)):
            found = self.statements.site(number)
            is_new = found is None
            if (found or SiteRow(name)) != base:
                if not self.database.is_shared:
                    raise StoreDamaged(f"the row of site {name!r} has changed by itself", name)
                base = found or SiteRow(name)
                memory, lessons = self._behind_others(base, lessons)
        summary = self._summary(memory)
        changed = int(self._clock())
        is_long = active.is_read and base.pages - base.folded >= _FOLD_PAGES
        bodies = None if is_long else self._log_of(base, lessons)
        if bodies is None:
            body, pages = dump(memory, self.row.method, site=name), memory.pages
            self.statements.write_snapshot(number, body, pages)
            row = SiteRow(name, pages, pages, len(body), 0, changed, *summary)
            return _Written(row, memory, is_new=is_new)
        pages, log_bytes = base.pages + len(bodies), base.log_bytes + sum(map(len, bodies))
        held = base.folded, base.snapshot_bytes, log_bytes
        row = SiteRow(name, pages, *held, changed, *summary)
        log = [(number, page, body) for page, body in enumerate(bodies, base.pages + 1)]
        return _Written(row, memory, log, is_new=is_new)

    def _log_of(self, base: SiteRow, lessons: Sequence[bytes | Memory]) -> list[bytes] | None:
        """The lessons as they come into the log; None where the log is to be folded instead."""
        room = max(_FOLD_BYTES, base.snapshot_bytes) - base.log_bytes
        if self._replay is None or sum(map(_least_bytes, lessons)) > room:
            return None
        bodies = [self._body(lesson, base.name) for lesson in lessons]
        return None if sum(map(len, bodies)) > room else bodies

    def _body(self, lesson: bytes | Memory, site: str) -> bytes:
        """A lesson as it is written."""
        return lesson if isinstance(lesson, bytes) else dump(lesson, self.row.method, site=site)

    def _behind_others(
        self, base: SiteRow, pending: Sequence[bytes | Memory]
    ) -> tuple[Memory, list[bytes | Memory]]:
        """The memory with what is pending behind what others wrote, and what of it is new to them.

        The site's lock is held, so that it can be folded at once: if only a writer who met nobody
        could do that, the log of a busy site would grow for ever, and be read again by all.
        """
        method, site = self.row.method, base.name
        assert self._replay is not None
        memory = read_memory(self.statements, method, base, self._replay)
        kept: list[bytes | Memory] = []
        for one in pending:
            lesson = load(one, method, site=site) if isinstance(one, bytes) else one
            if not memory.knows(*lesson.table(KNOWN).keys.tolist()):
                after = self._replay(memory, lesson)
                kept += [one] if after is not memory else []
                memory = after
        return memory, kept

    def _settle(self, site: str, done: _Written) -> None:
        """Take note that a site was committed."""
        active = self._settled[site] = self._changed.pop(site)
        self._total_bytes += done.row.size_bytes - active.row.size_bytes
        self.pending_pages -= len(active.pending)
        self.pending_bytes -= active.pending_bytes
        if done.memory is not active.memory:
            self._active_bytes += active.hold(done.memory)
        active.pending, active.pending_bytes, active.row = [], 0, done.row
        active.is_read = False
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

    def add_whole(self, site: str, memory: Memory, changed: int) -> None:
        """Add a memory of many pages to what there is of the site; it is committed at once.

        Of two memories one of which knows all pages of the other, that one stays, so that adding
        twice is as good as once. Raises StateError where neither does, and memories of this method
        do not add up.
        """
        with self._writing():
            number = site_id(site)
            self.database.lock(number)
            found = self.statements.site(number)
            if found is not None and found.pages:
                before = read_memory(self.statements, self.row.method, found, self._replay)
                memory = self._together(before, memory)
            body, summary = dump(memory, self.row.method, site=site), self._summary(memory)
            changed = max(changed, found.changed if found else 0)
            row = SiteRow(site, memory.pages, memory.pages, len(body), 0, changed, *summary)
            self.statements.drop_site(number)
            self.statements.write_snapshot(number, body, row.pages)
            self.statements.write_sites([row])
            store_row = self.row if found else self._write_store([number])
        self.row = store_row
        self._total_bytes += row.size_bytes - (found.size_bytes if found else 0)
        if self._numbers is not None:
            self._numbers.add(number)
        self._let_go(site)

    def _together(self, before: Memory, memory: Memory) -> Memory:
        """The memory of all pages of two: either of them where it knows those of the other."""
        if before.knows_all(memory):
            return before
        if memory.knows_all(before):
            return memory
        if self._replay is None:
            raise StateError(f"memories of {self.row.method} do not add up")
        return self._replay(before, memory)

    def forget(self, site: str, *, counts: bool = False) -> bool:
        """Take a site out, with all that is kept of it; False if it was not there."""
        number, store_row = site_id(site), self.row
        if not number:
            return False  # The shelves of no site are nobody's.
        was_there = self.shelves.has_pending(number) or site in self._changed
        with self._writing():
            self.database.lock(number)
            # Under the lock: of two who forget a site only one takes it off the store's count.
            try:
                row = self.statements.site(number)
            except StoreDamaged:
                row = SiteRow(site)
            # A site may have shelves, say rules, before it has a page.
            was_there = self.shelves.drop_site(number) or was_there
            if row is not None:
                self.statements.drop_site(number)
                store_row = self._write_store(removed=[number], forgotten=int(counts))
        self._let_go(site)
        self.shelves.forget_pending(number)
        if row is None:
            return was_there
        self.row = store_row
        self._total_bytes -= row.size_bytes
        if self._numbers is not None:
            self._numbers.discard(number)
        return True

    def _limit_total(self) -> None:
        """Forget the sites that have not changed for longest, while all are too large."""
        if self.database.is_shared and self._commits % _TOTAL_COMMITS == 0:
            self._total_bytes = self.statements.total_bytes()
        if self._total_bytes <= self.keeping.max_total_bytes:
            return
        room = self.keeping.max_total_bytes * 9 // 10  # Some more, or each page would do it again.
        for row in self.statements.longest_unchanged(max(1, self.row.sites - 1)):
            if self._total_bytes <= room:
                return
            self.forget(row.name, counts=True)

    def close(self) -> None:
        """Let go of the database; what was not committed is lost."""
        self._process = None
        self.database.close()


@dataclass(frozen=True, slots=True)
class _Written:
    """What became of a site's row in a commit."""

    row: SiteRow
    memory: Memory
    """With what others have written."""
    log: Sequence[tuple[int, int, bytes]] = ()
    """What comes into the log: site, number of the page, and what it taught."""
    is_new: bool = field(kw_only=True)
