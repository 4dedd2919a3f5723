"""What sites have taught so far, kept where no page can crash it: in the process that reads.

A worker may die at any moment. Whatever it was lent, and what its pages have taught since, can be
lent again from here. Lessons are kept as the bytes that they come in; nobody learns them twice
unless a worker dies.
"""

from __future__ import annotations

import time
from collections import deque
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
_STATE_LESSONS: Final = 8
"""Lessons of a site after which a worker sends the whole state along: to load that costs about as
much as to learn one lesson (0.6 ms against 0.5, documentation pages), so this makes it an eighth.
"""


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a page taught."""

    body: bytes
    state: bytes | None = None
    """What its site has come to with it, where that was asked for."""
    url: str | None = None
    family: int | None = None


class Ledger(Protocol):
    """What sites have taught, in order, whoever judges their pages."""

    terms: Terms
    is_noting: bool
    """Are the answers noted?"""

    def lend(self, page: Page) -> Loan:
        """What a worker needs to go on with the page's site. Raises MemoryDamaged."""

    def wants_state(self, site: str) -> bool:
        """Should the state be sent along with the next page of a site? Asked once for each."""

    def learned(self, site: str, lesson: Lesson) -> None:
        """Keep what a page taught; those of a site come in order."""

    def unlearned(self, site: str, digest: int) -> None:
        """Take note of a page that could not be learned."""

    def told(self, page: Page, lesson: bytes) -> bool:
        """Learn a page from what it told a worker; False where it was known. Raises PageError.

        Those of a site come in order, and no worker holds it.
        """

    def given(self, site: str) -> None:
        """Take note that the answer on the next page of a site that taught something is given."""

    def close(self) -> None:
        """Make lasting what pages taught whose answers are given."""


@dataclass(slots=True)
class _Journal:
    """What a site has taught: a state, and the lessons behind it."""

    state: bytes = b""
    lessons: list[bytes] = field(default_factory=list)
    lesson_bytes: int = 0
    unlearned: set[int] = field(default_factory=set)
    is_asked: bool = False


class SitesLedger:
    """What sites have taught in a run that starts empty and forgets, as in `Sites`."""

    is_noting = False

    def __init__(self, sites: Sites) -> None:
        settings = settings_of(sites.method)
        self.terms = Terms(sites.method.name, settings, sites.limits, Keeping(), knows_pages=False)
        self._learner = Learner(sites.method, Keeping(), knows_pages=False)
        self._overrides = sites.overrides
        self._is_additive = adds_up(sites.method)
        self._journals: dict[str, _Journal] = {}

    def _journal(self, site: str) -> _Journal:
        return self._journals.setdefault(site, _Journal())

    def lend(self, page: Page) -> Loan:
        """The site as it was last folded, and what was learned since."""
        site = pipeline.site_of(page)
        journal = self._journal(site)
        journal.is_asked = False
        unlearned = frozenset(journal.unlearned)
        return Loan(site, journal.state, self._overrides, tuple(journal.lessons), unlearned)

    def wants_state(self, site: str) -> bool:
        """True where the lessons have become longer than the state that they stand behind."""
        journal = self._journal(site)
        is_due = journal.lesson_bytes > max(_FOLD_BYTES, len(journal.state))
        if journal.is_asked or not is_due:
            return False
        journal.is_asked = True
        return True

    def learned(self, site: str, lesson: Lesson) -> None:
        """Keep what a page taught. Of a method whose lessons do not add up each is a state."""
        journal = self._journal(site)
        state = lesson.state if self._is_additive else lesson.body
        if state is not None:
            journal.state, journal.lessons, journal.lesson_bytes = state, [], 0
            journal.is_asked = False
        else:
            journal.lessons.append(lesson.body)
            journal.lesson_bytes += len(lesson.body)

    def told(self, page: Page, lesson: bytes) -> bool:
        """Keep the lesson; those that have become longer than the state are learned."""
        site = pipeline.site_of(page)
        journal = self._journal(site)
        journal.lessons.append(lesson)
        journal.lesson_bytes += len(lesson)
        if journal.lesson_bytes > max(_FOLD_BYTES, len(journal.state)):
            before = self._learner.read(journal.state, site) if journal.state else Memory()
            after = self._learner.after(before, journal.lessons, site)
            journal.state, journal.lessons = self._learner.written(after, site), []
            journal.lesson_bytes = 0
        return True

    def unlearned(self, site: str, digest: int) -> None:
        """Take note of a page that could not be learned."""
        self._journal(site).unlearned.add(digest)

    def given(self, site: str) -> None:
        """Nothing is lasting here."""

    def close(self) -> None:
        """Nothing is lasting here."""


class MemoriesLedger:
    """What sites have taught beyond what their memories hold.

    A page's lesson goes into the memories once its answer is given: they are never ahead of what
    was written.
    """

    is_noting = True

    def __init__(self, memories: Memories) -> None:
        self.terms = memories.terms()
        self._memories = memories
        is_additive = adds_up(memories.method)
        self._is_prompt = memories.durable is Durable.PAGE or not is_additive
        self._coming: dict[str, deque[Lesson]] = {}
        """Lessons of pages whose answers are not given yet."""
        self._ready: dict[str, list[bytes]] = {}
        """Lessons of pages whose answers are given, not yet with the memories."""
        self._ready_count = 0
        self._settled = time.monotonic()
        self._asked: set[str] = set()

    def lend(self, page: Page) -> Loan:
        """The site as the memories have it, and what was learned since."""
        site = pipeline.site_of(page)
        self._asked.discard(site)
        try:
            loan = self._memories.lend(site)
        except StoreDamaged as fault:
            raise MemoryDamaged(page.url, f"{fault}; {MEND}") from fault
        coming = (lesson.body for lesson in self._coming.get(site, ()))
        return replace(loan, lessons=(*self._ready.get(site, ()), *coming))

    def wants_state(self, site: str) -> bool:
        """True where so many lessons wait that to load a state costs less than to learn them."""
        waiting = len(self._ready.get(site, ())) + len(self._coming.get(site, ()))
        if waiting < _STATE_LESSONS or site in self._asked or self._is_prompt:
            return False
        self._asked.add(site)
        return True

    def learned(self, site: str, lesson: Lesson) -> None:
        """Keep what a page taught until its answer is given."""
        self._coming.setdefault(site, deque()).append(lesson)

    def told(self, page: Page, lesson: bytes) -> bool:
        """Let the memories have it."""
        return self._memories.take_told(page, lesson)

    def unlearned(self, site: str, digest: int) -> None:
        """Nothing: a memory knows what it has learned."""

    def given(self, site: str) -> None:
        """Let the memories have what the next page of the site taught, soon."""
        coming = self._coming[site]
        lesson = coming.popleft()
        if not coming:
            del self._coming[site]
        if lesson.family is not None and lesson.url:
            Examples(self._memories.shelf(EXAMPLES, site)).offer(lesson.family, lesson.url)
        self._ready.setdefault(site, []).append(lesson.body)
        self._ready_count += 1
        if lesson.state is not None:
            self._asked.discard(site)
        if lesson.state is not None or self._is_prompt:
            self._settle(site, lesson.state)
        waited_s = time.monotonic() - self._settled
        if self._ready_count >= BATCH_PAGES or waited_s > BATCH_S:
            self._settle_all()

    def _settle(self, site: str, state: bytes | None = None) -> None:
        lessons = self._ready.pop(site)
        self._ready_count -= len(lessons)
        self._memories.take(site, lessons, state)

    def _settle_all(self) -> None:
        for site in list(self._ready):
            self._settle(site)
        self._settled = time.monotonic()

    def close(self) -> None:
        """Let the memories have all that was given."""
        self._settle_all()
