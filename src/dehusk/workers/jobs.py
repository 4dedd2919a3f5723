"""Pages judged by several processes, with the answers of one: `dehusk.Jobs`.

One process reads and writes; the others judge. Answers are given in the order of the pages:

    items ─► ReadAhead ─► Pool ─► Worker ─► process ─► Worker ─► in order ─► answers
                                    ▲                    │
                                    └────── Lessons ◄────┘
                                    so that any process may die
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from queue import Empty, SimpleQueue
from typing import Final, Self

from msgspec import Struct

from dehusk import pipeline
from dehusk.answer.result import Refusal
from dehusk.errors import DehuskError, PageError, UsageError
from dehusk.memory.notes import rendered_answer
from dehusk.memory.session import Session, unlearned_digest
from dehusk.methods import HYPERLINK, adds_up
from dehusk.output import Rendered, Shape
from dehusk.page.page import Page, PageLike, as_page, check_pages
from dehusk.settings import WALL_FACTOR, JobSettings
from dehusk.sources import Failure
from dehusk.workers.answering import Learned
from dehusk.workers.child import Event
from dehusk.workers.lessons import Lesson, LessonQueue
from dehusk.workers.messages import Act, Reply, Setup
from dehusk.workers.pool import Pool
from dehusk.workers.reading import Arrived, NoMore, ReadAhead
from dehusk.workers.worker import Task, Worker, WorkerSettings

__all__ = ["Act", "ItemOutcome", "JobSettings", "Jobs", "Learned", "Outcome"]

Item = PageLike | Failure
"""A page, or what stands in a source's place for one that cannot be read."""
Plan = Callable[[Page | Failure], Act]

LINES: Final = Shape()
"""JSON lines."""
_LOOK_S: Final = 0.02
"""How often it is looked what was read, when nothing happens."""
_CHECK_S: Final = 1.0
"""How often it is looked whether a process still answers."""
_FREED_BYTES: Final = 1_000_000
"""Room that the reader is told of at once; less, when there is nothing else to do."""
_DONE_BYTES: Final = 1000
"""What an answer takes besides its bytes, roughly."""


Outcome = Rendered | Refusal | Learned


class ItemOutcome(Struct, frozen=True):
    """An item, what was to be done with it, and what came of it. Its page has no HTML any more."""

    item: Page | Failure
    act: Act
    outcome: Outcome


class _Entry(Struct):
    """An item in the line of those that are not given yet."""

    item: Page | Failure
    act: Act
    site: str
    size_bytes: int
    """The room that it takes."""
    outcome: Outcome | None = None
    fault: DehuskError | None = None
    """What ends the run when this item's turn comes."""
    is_learned: bool = False
    """Has its page taught something?"""
    told: bytes | None = None
    """What its page teaches, where its site is split: learned when its turn comes."""

    @property
    def is_done(self) -> bool:
        """Is it known what came of it?"""
        return self.outcome is not None or self.fault is not None


class Jobs:
    """Processes that judge the pages of a session, or without one forget everything at the end.

    The answers are those of one process, to the byte, in the order of the pages, rendered as the
    `shape` says: JSON lines unless it says otherwise. If a process dies, its page
    is tried once more, then refused, and its site continues as if that page had not come.

    With `splits_sites` any process works on any page. That takes two passes: `learn` all pages,
    then `run` with a plan that asks about them.
    """

    def __init__(
        self,
        session: Session | None = None,
        jobs: int = 2,
        *,
        shape: Shape = LINES,
        settings: JobSettings | None = None,
        is_sketching: bool = False,
        splits_sites: bool = False,
    ) -> None:
        self._settings = replace(settings or JobSettings(), jobs=jobs)
        session = Session() if session is None else session
        if session.method.name == HYPERLINK:
            raise UsageError("hyperlink compares pages across the sources; it needs one process")
        if splits_sites and not adds_up(session.method):
            raise UsageError(
                f"memories of {session.method.name} do not add up: no site can be split"
            )
        if not session.is_lasting and session.memories:
            raise UsageError(
                "other processes know nothing of what a session in memory has learned;"
                " open a file for it, or begin with a new session"
            )
        self._splits_sites = splits_sites
        self._lessons = LessonQueue(session)
        self._session = session
        self._inbox: SimpleQueue[NoMore | tuple[Worker, Event]] = SimpleQueue()
        self._line: deque[_Entry] = deque()
        self._reader: ReadAhead | None = None
        self._freed_bytes = self._freed_pages = 0
        self._pool = Pool(
            Setup(session.settings(), shape, is_sketching),
            self._lessons,
            WorkerSettings(self._settings.max_held_bytes),
            lambda worker, event: self._inbox.put((worker, event)),
            jobs,
        )
        self._checked_at = 0.0
        self._patience_s = WALL_FACTOR * session.limits.timeout_s + self._settings.patience_s

    @property
    def pids(self) -> list[int]:
        """The numbers of the processes that judge, of those that were needed so far."""
        return self._pool.pids

    def clean(self, pages: Iterable[Item]) -> Iterator[Rendered | Refusal]:
        """Learn pages and answer on each, in order; a page that cannot be used gives a Refusal.

        A session that lasts notes the answers, as its own `clean` does. The pages are read in
        another thread.
        """
        check_pages(pages)
        for done in self.run(map(_read, pages), lambda _: Act.CLEAN):
            if isinstance(done.outcome, Rendered) and self._session.is_lasting:
                self.note(done.outcome)
            assert not isinstance(done.outcome, Learned)
            yield done.outcome

    def learn(self, pages: Iterable[Item]) -> Iterator[Learned | Refusal]:
        """Learn pages without answering, in order: whether each was new, or a Refusal."""
        check_pages(pages)
        act = Act.TELL if self._splits_sites else Act.LEARN
        for done in self.run(map(_read, pages), lambda _: act):
            assert not isinstance(done.outcome, Rendered)
            yield done.outcome

    def note(self, answer: Rendered, since: int | None = None) -> bool:
        """Note the answer for a page, as `Session.note` does."""
        return self._session.note_given(answer.site, rendered_answer(answer), since)

    def run(self, items: Iterable[Page | Failure], plan: Plan) -> Iterator[ItemOutcome]:
        """The outcome of each item, in order; `plan` says what to do with it when it is read.

        Items are read in another thread; everything else happens in the caller's.
        """
        if self._reader is not None:
            raise UsageError("these processes have a run to end first, or were left in one")
        if self._splits_sites:
            for worker in self._pool.workers:  # Each may hold a site; what comes may change it.
                worker.drop_all()
        self._reader = ReadAhead(items, self._inbox.put, self._settings)
        end: NoMore | None = None
        while end is None or self._line:
            event = self._next_event()
            if isinstance(event, NoMore):
                end = event
            elif event is not None:
                worker, said = event
                worker.handle(said)
            for arrived in self._reader.take():
                self._take(arrived, plan)
            for worker in self._pool.workers:
                worker.pump()
            yield from self._outcomes()
        if end.fault is not None:
            raise end.fault
        self._reader.stop()
        self._reader = None

    def _outcomes(self) -> Iterator[ItemOutcome]:
        """All that can be given: what is done, up to the first that is not."""
        while self._line and self._line[0].is_done:
            entry = self._line.popleft()
            self._freed_bytes += entry.size_bytes
            self._freed_pages += 1
            if entry.fault is not None:
                raise entry.fault
            if entry.is_learned:
                self._lessons.release(entry.site)
                self._lessons.settle_if_due()
            elif entry.told is not None:
                entry.outcome = self._learned(entry.item, entry.told)
            assert entry.outcome is not None
            yield ItemOutcome(entry.item, entry.act, entry.outcome)

    def _learned(self, page: Page | Failure, told: bytes) -> Learned | Refusal:
        """What comes of what a page told, when its turn has come."""
        assert isinstance(page, Page)
        try:
            return Learned(self._lessons.take_lesson(page, told))
        except PageError as error:
            return Refusal(page.url, page.site, error)

    def _next_event(self) -> NoMore | tuple[Worker, Event] | None:
        """What happens next; None where nothing does for a moment.

        A process that has said nothing for long is ended: looked for only when all that was said
        is taken in, for whoever takes the answers may have let them lie for longer than that.
        """
        is_freed = self._freed_bytes or self._freed_pages
        if is_freed and (self._freed_bytes > _FREED_BYTES or self._inbox.empty()):
            self._free()
        try:
            return self._inbox.get(timeout=_LOOK_S)
        except Empty:
            self._end_silent()
            return None

    def _end_silent(self) -> None:
        now = time.monotonic()
        if now - self._checked_at > _CHECK_S:
            self._checked_at = now
            for worker in self._pool.workers:
                if worker.is_silent(self._patience_s):
                    worker.end()

    def _free(self) -> None:
        """Let as much be read as there is room again."""
        assert self._reader is not None
        self._reader.free(self._freed_bytes, self._freed_pages)
        self._freed_bytes = self._freed_pages = 0

    def _take(self, arrived: Arrived, plan: Plan) -> None:
        """Put an item into the line, and its page to work."""
        item, act = arrived.item, plan(arrived.item)
        site = pipeline.site_of(item) if isinstance(item, Page) else item.site or ""
        entry = _Entry(item, act, site, arrived.size)
        self._line.append(entry)
        if act is Act.SKIP:
            entry.outcome = Learned(is_new=False)
        elif isinstance(item, Failure):
            entry.outcome = Refusal(item.url, item.site, item.error)
        else:
            done = partial(self._done, entry, item)
            task = Task(act, site, (item,), done, size_bytes=arrived.size)
            self._worker_for(site, act).give(task)

    def _worker_for(self, site: str, act: Act) -> Worker:
        """Where a page goes. Raises UsageError for an act that needs a split site whole."""
        if not self._splits_sites:
            return self._pool.worker_for(site)
        if act not in (Act.TELL, Act.ASK):
            raise UsageError("a site can be split in two passes only: learn all pages, then ask")
        return self._pool.any_worker_for(site)

    def _done(self, entry: _Entry, page: Page, task: Task) -> None:
        """Take in what came of a task: its page goes, its answer stays until its turn comes."""
        if isinstance(task.error, PageError):
            entry.outcome = Refusal(page.url, page.site, task.error)
            if task.losses and entry.act in (Act.LEARN, Act.TELL):
                self._lessons.add_unlearned(entry.site, unlearned_digest(page))
        elif task.error is not None:
            entry.fault = task.error
        else:
            assert task.reply is not None
            self._replied(entry, page, task.reply)
        entry.item = Page(b"", page.url, page.site)
        data = entry.outcome.data if isinstance(entry.outcome, Rendered) else entry.told
        size = _DONE_BYTES + len(data or b"")
        self._freed_bytes += entry.size_bytes - size
        entry.size_bytes = size

    def _replied(self, entry: _Entry, page: Page, reply: Reply) -> None:
        """Take in what a worker says of an item."""
        entry.fault = reply.fatal_error()
        if entry.fault is not None:
            return
        error = reply.page_error(page.url)
        if error is not None:
            entry.outcome = Refusal(page.url, page.site, error)
            if entry.act in (Act.LEARN, Act.TELL):
                self._lessons.add_unlearned(entry.site, reply.facts["digest"])
            return
        if entry.act in (Act.LEARN, Act.TELL):
            entry.outcome = Learned(reply.lesson is not None)
        else:
            entry.outcome = _rendered(page.url, entry.site, reply)
        if entry.act is Act.TELL:
            entry.told = reply.lesson
        elif reply.lesson is not None:
            family = reply.facts.get("family")
            self._lessons.add(entry.site, Lesson(reply.lesson, reply.snapshot, page.url, family))
            entry.is_learned = True

    def close(self) -> None:
        """Keep what was learned, and end the processes."""
        if self._reader is not None:
            self._reader.stop()
        try:
            self._lessons.settle_all()
        finally:
            self._pool.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *fault: object) -> None:
        self.close()


def _read(item: Item) -> Page | Failure:
    return item if isinstance(item, Failure) else as_page(item)


def _rendered(url: str | None, site: str, reply: Reply) -> Rendered:
    """The answer of a worker."""
    facts = reply.facts
    return Rendered(
        url,
        site,
        reply.answer,
        facts["pages_seen"],
        facts["characters"],
        facts["template_share"],
        facts["template_changed"],
        facts["needs_render"],
        bytes.fromhex(facts.get("text", "")),
        bytes.fromhex(facts.get("key", "")),
        tuple(facts.get("sketch", ())),
        facts["confidence"],
        facts["site_removed"],
        facts["problem"],
    )
