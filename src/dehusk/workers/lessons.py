"""What pages have taught that their session does not have yet, kept where no page can crash it.

A worker may die at any moment. Whatever it was sent, and what its pages have taught since, can be
sent again from here. Lessons are kept as the bytes that they come in; nobody learns them twice
unless a worker dies.

    worker ─► add ─► coming ─► release ─► ready ─► settle ─► session
                     until the answer     until there are some, or
                     is given             a snapshot comes with them
"""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from msgspec import Struct

from dehusk import pipeline
from dehusk.errors import MemoryDamaged, StateError, StoreDamaged
from dehusk.memory.kept import BATCH_PAGES, BATCH_S
from dehusk.memory.session import Session, Snapshot
from dehusk.methods import adds_up
from dehusk.page.page import Page
from dehusk.settings import Durable

_FOLD_BYTES: Final = 32_000
"""Lessons of a site that are always kept as they are: as in a store's log."""
_SNAPSHOT_LESSONS: Final = 8
"""Lessons of a site after which a worker sends the whole site along: to load that costs about as
much as to learn one lesson (0.6 ms against 0.5, documentation pages), so this makes it an eighth.
"""


class Lesson(Struct, frozen=True):
    """What a page taught."""

    body: bytes
    snapshot: bytes | None = None
    """What its site has come to with it, where that was asked for."""
    url: str | None = None
    family: int | None = None


class LessonQueue:
    """What pages have taught, in the order of each site's pages, until the session has it."""

    def __init__(self, session: Session, advice: str = "") -> None:
        self._session = session
        self._run = None if session.is_lasting else _RunSites(session)
        is_page_by_page = session.durable is Durable.PAGE or not adds_up(session.method)
        self._is_prompt = session.is_lasting and is_page_by_page
        self._advice = advice
        self._coming: dict[str, deque[Lesson]] = {}
        """Lessons of pages whose answers are not given yet."""
        self._ready: dict[str, list[bytes]] = {}
        """Lessons of pages whose answers are given."""
        self.ready_count = 0
        self._settled_at = time.monotonic()
        self._asked: set[str] = set()

    def snapshot(self, site: str, url: str | None) -> Snapshot:
        """The site as the session has it, and what was learned since. Raises MemoryDamaged."""
        self._asked.discard(site)
        try:
            snapshot = (self._run or self._session).snapshot(site)
        except StoreDamaged as fault:
            raise MemoryDamaged(
                url, f"{fault}; {self._advice or self._session._mending}"
            ) from fault
        coming = (lesson.body for lesson in self._coming.get(site, ()))
        lessons = (*snapshot.lessons, *self._ready.get(site, ()), *coming)
        return replace(snapshot, lessons=lessons)

    def wants_snapshot(self, site: str) -> bool:
        """Should the site be sent back with its next page? Asked once for each."""
        if site in self._asked or self._is_prompt:
            return False
        if self._run is not None:
            is_due = self._run.is_long(site)
        else:
            waiting = len(self._ready.get(site, ())) + len(self._coming.get(site, ()))
            is_due = waiting >= _SNAPSHOT_LESSONS
        if is_due:
            self._asked.add(site)
        return is_due

    def miss_snapshot(self, site: str) -> None:
        """Want a snapshot again that was asked for and did not come."""
        self._asked.discard(site)

    def add(self, site: str, lesson: Lesson) -> None:
        """Keep what a page taught until its answer is given; those of a site come in order."""
        if self._run is None:
            self._coming.setdefault(site, deque()).append(lesson)
            return
        if lesson.snapshot is not None:
            self._asked.discard(site)
        self._run.take(site, [lesson.body], lesson.snapshot)

    def add_unlearned(self, site: str, digest: int) -> None:
        """Take note of a page that could not be learned."""
        if self._run is not None:  # A memory that lasts knows what it has learned.
            self._run.add_unlearned(site, digest)

    def take_lesson(self, page: Page, lesson: bytes) -> bool:
        """Learn a page from what it told a worker; False where it was known. Raises PageError.

        Those of a site come in order, and no worker holds it.
        """
        return (self._run or self._session).take_lesson(page, lesson)

    def release(self, site: str) -> None:
        """Let the session have what the next page of a site taught, soon: its answer is given."""
        if self._run is not None:
            return
        coming = self._coming[site]
        lesson = coming.popleft()
        if not coming:
            del self._coming[site]
        self._ready.setdefault(site, []).append(lesson.body)
        self.ready_count += 1
        if lesson.snapshot is not None:
            self._asked.discard(site)
        # Behind what cannot fail: a damaged example must not cost the lesson.
        self._session.offer_example(site, lesson.family, lesson.url)
        if lesson.snapshot is not None or self._is_prompt:
            self.settle(site, lesson.snapshot)

    def ready_sites(self) -> dict[str, int]:
        """The sites that the session has not all of, and how many lessons it lacks."""
        return {site: len(lessons) for site, lessons in self._ready.items()}

    def settle(self, site: str, snapshot: bytes | None = None) -> None:
        """Let the session have what pages of a site taught whose answers are given.

        Raises StoreDamaged where the site's memory is: its lessons wait here then. Where a commit
        raises, the session has them.
        """
        lessons = self._ready.get(site)
        if lessons:
            self._session.memory(site)
            del self._ready[site]
            self.ready_count -= len(lessons)
            self._session.take(site, lessons, snapshot)

    def settle_if_due(self) -> None:
        """Let the session have all that waits for long, or where it is much."""
        if self.ready_count >= BATCH_PAGES or time.monotonic() - self._settled_at > BATCH_S:
            self.settle_all()

    def settle_all(self) -> None:
        """Let the session have all whose answers are given.

        Raises the first StateError behind the last site: none keeps the others' lessons back.
        """
        first: StateError | None = None
        for site in list(self._ready):
            try:
                self.settle(site)
            except StateError as fault:
                first = first or fault
        self._settled_at = time.monotonic()
        if first is not None:
            raise first


@dataclass(slots=True)
class _Journal:
    """What a site has taught: a state, and the lessons behind it."""

    state: bytes = b""
    lessons: list[bytes] = field(default_factory=list)
    lesson_bytes: int = 0
    unlearned: set[int] = field(default_factory=set)


class _RunSites:
    """Sites of a session that forgets them, as bytes: nothing is learned here but what is told."""

    def __init__(self, session: Session) -> None:
        self._settings = session.settings()
        self._overrides = session.overrides
        self._is_additive = adds_up(session.method)
        self._journals: defaultdict[str, _Journal] = defaultdict(_Journal)

    def snapshot(self, site: str) -> Snapshot:
        """The site as it was last folded, and what was learned since."""
        journal = self._journals[site]
        unlearned = frozenset(journal.unlearned)
        return Snapshot(site, journal.state, self._overrides, tuple(journal.lessons), unlearned)

    def is_long(self, site: str) -> bool:
        """Have the lessons of a site become longer than the state that they stand behind?"""
        journal = self._journals[site]
        return journal.lesson_bytes > max(_FOLD_BYTES, len(journal.state))

    def take(self, site: str, lessons: Sequence[bytes], state: bytes | None = None) -> None:
        """Keep the lessons. Of a method whose lessons do not add up each is a state."""
        journal = self._journals[site]
        state = state if self._is_additive else lessons[-1]
        if state is not None:
            journal.state, journal.lessons, journal.lesson_bytes = state, [], 0
        else:
            journal.lessons += lessons
            journal.lesson_bytes += sum(map(len, lessons))

    def take_lesson(self, page: Page, lesson: bytes) -> bool:
        """Keep the lesson; those that have become longer than the state are learned."""
        site = pipeline.site_of(page)
        self.take(site, [lesson])
        if self.is_long(site):
            folding = Session.worker(self._settings)
            folding.restore(self.snapshot(site))
            self.take(site, (), folding.state(site))
        return True

    def add_unlearned(self, site: str, digest: int) -> None:
        """Take note of a page that could not be learned."""
        self._journals[site].unlearned.add(digest)
