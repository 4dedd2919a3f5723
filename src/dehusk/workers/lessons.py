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
from typing import Final, Protocol

from dehusk import pipeline
from dehusk.errors import MemoryDamaged, StoreDamaged
from dehusk.memory import Memory
from dehusk.memory.durability import BATCH_PAGES, BATCH_S
from dehusk.memory.examples import EXAMPLES, Examples
from dehusk.memory.learning import Learner
from dehusk.memory.lending import Loan, Terms
from dehusk.memory.memories import MEND, Memories
from dehusk.memory.site import Sites
from dehusk.methods import adds_up, settings_of
from dehusk.page.page import Page
from dehusk.settings import Durable, Keeping

_FOLD_BYTES: Final = 32_000
"""Lessons of a site that are always kept as they are: as in a store's log."""
_SNAPSHOT_LESSONS: Final = 8
"""Lessons of a site after which a worker sends the whole site along: to load that costs about as
much as to learn one lesson (0.6 ms against 0.5, documentation pages), so this makes it an eighth.
"""


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a page taught."""

    body: bytes
    snapshot: bytes | None = None
    """What its site has come to with it, where that was asked for."""
    url: str | None = None
    family: int | None = None


class Keeper(Protocol):
    """A session that sites are sent out of, and that takes what their pages taught."""

    terms: Terms
    is_lasting: bool
    """Does it outlast the run? Then it must never be ahead of the answers that are given."""
    is_prompt: bool
    """Is each lesson kept as soon as its answer is given?"""

    def snapshot(self, site: str) -> Loan:
        """What a worker needs to go on with a site. Raises StoreDamaged."""

    def is_snapshot_due(self, site: str, waiting: int) -> bool:
        """Would a snapshot cost less than the lessons, of which so many wait?"""

    def check(self, site: str) -> object:
        """Raise StoreDamaged where the site's memory is."""

    def take(self, site: str, lessons: Sequence[bytes], snapshot: bytes | None) -> None:
        """Keep what pages taught, in order."""

    def take_told(self, page: Page, lesson: bytes) -> bool:
        """Learn a page from what it told a worker; False where it was known. Raises PageError."""

    def add_example(self, site: str, family: int, url: str) -> None:
        """Keep a page as an example of its family."""

    def add_unlearned(self, site: str, digest: int) -> None:
        """Take note of a page that could not be learned."""


class Lessons:
    """What pages have taught, in the order of each site's pages, until the session has it."""

    def __init__(self, sites: Memories | Sites, advice: str = MEND) -> None:
        self._keeper: Keeper = _StoreKeeper(sites) if sites.is_lasting else _RunKeeper(sites)
        self._advice = advice
        self._coming: dict[str, deque[Lesson]] = {}
        """Lessons of pages whose answers are not given yet."""
        self._ready: dict[str, list[bytes]] = {}
        """Lessons of pages whose answers are given."""
        self.ready_count = 0
        self._settled_at = time.monotonic()
        self._asked: set[str] = set()

    @property
    def terms(self) -> Terms:
        """How the session judges pages."""
        return self._keeper.terms

    def snapshot(self, site: str, url: str | None) -> Loan:
        """The site as the session has it, and what was learned since. Raises MemoryDamaged."""
        self._asked.discard(site)
        try:
            snapshot = self._keeper.snapshot(site)
        except StoreDamaged as fault:
            raise MemoryDamaged(url, f"{fault}; {self._advice}") from fault
        coming = (lesson.body for lesson in self._coming.get(site, ()))
        lessons = (*snapshot.lessons, *self._ready.get(site, ()), *coming)
        return replace(snapshot, lessons=lessons)

    def wants_snapshot(self, site: str) -> bool:
        """Should the site be sent back with its next page? Asked once for each."""
        if site in self._asked or self._keeper.is_prompt:
            return False
        waiting = len(self._ready.get(site, ())) + len(self._coming.get(site, ()))
        if not self._keeper.is_snapshot_due(site, waiting):
            return False
        self._asked.add(site)
        return True

    def add(self, site: str, lesson: Lesson) -> None:
        """Keep what a page taught until its answer is given; those of a site come in order."""
        if self._keeper.is_lasting:
            self._coming.setdefault(site, deque()).append(lesson)
            return
        if lesson.snapshot is not None:
            self._asked.discard(site)
        self._keeper.take(site, [lesson.body], lesson.snapshot)

    def add_unlearned(self, site: str, digest: int) -> None:
        """Take note of a page that could not be learned."""
        self._keeper.add_unlearned(site, digest)

    def take_told(self, page: Page, lesson: bytes) -> bool:
        """Learn a page from what it told a worker; False where it was known. Raises PageError.

        Those of a site come in order, and no worker holds it.
        """
        return self._keeper.take_told(page, lesson)

    def release(self, site: str) -> None:
        """Let the session have what the next page of a site taught, soon: its answer is given."""
        if not self._keeper.is_lasting:
            return
        coming = self._coming[site]
        lesson = coming.popleft()
        if not coming:
            del self._coming[site]
        if lesson.family is not None and lesson.url:
            self._keeper.add_example(site, lesson.family, lesson.url)
        self._ready.setdefault(site, []).append(lesson.body)
        self.ready_count += 1
        if lesson.snapshot is not None:
            self._asked.discard(site)
        if lesson.snapshot is not None or self._keeper.is_prompt:
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
            self._keeper.check(site)
            del self._ready[site]
            self.ready_count -= len(lessons)
            self._keeper.take(site, lessons, snapshot)

    def settle_if_due(self) -> None:
        """Let the session have all that waits for long, or where it is much."""
        if self.ready_count >= BATCH_PAGES or time.monotonic() - self._settled_at > BATCH_S:
            self.settle_all()

    def settle_all(self) -> None:
        """Let the session have all whose answers are given."""
        for site in list(self._ready):
            self.settle(site)
        self._settled_at = time.monotonic()


class _StoreKeeper:
    """Memories that outlast the run."""

    is_lasting = True

    def __init__(self, memories: Memories) -> None:
        self.terms = memories.terms()
        self.is_prompt = memories.durable is Durable.PAGE or not adds_up(memories.method)
        self._memories = memories
        self.snapshot = memories.lend
        self.check = memories.memory
        self.take = memories.take
        self.take_told = memories.take_told

    def is_snapshot_due(self, site: str, waiting: int) -> bool:
        """True where so many lessons wait that to load a site costs less than to learn them."""
        del site
        return waiting >= _SNAPSHOT_LESSONS

    def add_example(self, site: str, family: int, url: str) -> None:
        """Keep a page as an example of its family."""
        Examples(self._memories.shelf(EXAMPLES, site)).offer(family, url)

    def add_unlearned(self, site: str, digest: int) -> None:
        """Nothing: a memory knows what it has learned."""


@dataclass(slots=True)
class _Journal:
    """What a site has taught: a snapshot, and the lessons behind it."""

    state: bytes = b""
    lessons: list[bytes] = field(default_factory=list)
    lesson_bytes: int = 0
    unlearned: set[int] = field(default_factory=set)

    def is_long(self) -> bool:
        """Have the lessons become longer than the snapshot that they stand behind?"""
        return self.lesson_bytes > max(_FOLD_BYTES, len(self.state))


class _RunKeeper:
    """Sites of a run that starts empty and forgets: nothing is learned here but what is told."""

    is_lasting = False
    is_prompt = False

    def __init__(self, sites: Sites) -> None:
        settings = settings_of(sites.method)
        self.terms = Terms(sites.method.name, settings, sites.limits, Keeping(), knows_pages=False)
        self._learner = Learner(sites.method, Keeping(), knows_pages=False)
        self._overrides = sites.overrides
        self._is_additive = adds_up(sites.method)
        self._journals: defaultdict[str, _Journal] = defaultdict(_Journal)

    def snapshot(self, site: str) -> Loan:
        """The site as it was last folded, and what was learned since."""
        journal = self._journals[site]
        unlearned = frozenset(journal.unlearned)
        return Loan(site, journal.state, self._overrides, tuple(journal.lessons), unlearned)

    def is_snapshot_due(self, site: str, waiting: int) -> bool:
        """True where the lessons have become longer than the snapshot."""
        del waiting
        return self._journals[site].is_long()

    def check(self, site: str) -> None:
        """Nothing can be damaged."""

    def take(self, site: str, lessons: Sequence[bytes], snapshot: bytes | None) -> None:
        """Keep the lessons. Of a method whose lessons do not add up each is a snapshot."""
        journal = self._journals[site]
        state = snapshot if self._is_additive else lessons[-1]
        if state is not None:
            journal.state, journal.lessons, journal.lesson_bytes = state, [], 0
        else:
            journal.lessons += lessons
            journal.lesson_bytes += sum(map(len, lessons))

    def take_told(self, page: Page, lesson: bytes) -> bool:
        """Keep the lesson; those that have become longer than the snapshot are learned."""
        site = pipeline.site_of(page)
        self.take(site, [lesson], None)
        journal = self._journals[site]
        if journal.is_long():
            before = self._learner.read(journal.state, site) if journal.state else Memory()
            after = self._learner.after(before, journal.lessons, site)
            self.take(site, (), self._learner.written(after, site))
        return True

    def add_example(self, site: str, family: int, url: str) -> None:
        """No examples are kept."""

    def add_unlearned(self, site: str, digest: int) -> None:
        """Take note of a page that could not be learned."""
        self._journals[site].unlearned.add(digest)
