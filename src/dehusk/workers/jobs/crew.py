"""Tasks handed to processes, and their answers given in the order of the pages."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Final, Self

from dehusk import pipeline
from dehusk.answer.result import Refusal
from dehusk.errors import PageError, StateError, UsageError
from dehusk.memory.answers import rendered_answer
from dehusk.memory.lending import unlearned_digest
from dehusk.memory.memories import Memories
from dehusk.memory.site import Sites
from dehusk.methods import adds_up
from dehusk.methods.papers.hyperlink import Hyperlink
from dehusk.output import Rendered, Shape
from dehusk.page.page import Page
from dehusk.settings import JobSettings
from dehusk.sources import Failure
from dehusk.workers.frames import Header
from dehusk.workers.jobs.acts import Act, Done, Learned, Outcome
from dehusk.workers.jobs.intake import Arrived, Intake, NoMore
from dehusk.workers.jobs.ledger import Ledger, Lesson, MemoriesLedger, SitesLedger
from dehusk.workers.jobs.process import Ended, Replied
from dehusk.workers.jobs.seat import Seat, Task

Given = Page | Failure | tuple[str | bytes, str | None]
"""A page, or its HTML and URL; or what stands in a source's place for one that cannot be read."""
Plan = Callable[[Page | Failure], Act]

LINES: Final = Shape()
"""JSON lines."""
_LOOK_S: Final = 0.02
"""How often it is looked what was read, when nothing happens."""
_CHECK_S: Final = 1.0
"""How often it is looked whether a process still answers."""
_SLACK_BYTES: Final = 1_000_000
"""A site goes to another process where its own is behind by more pages than that: some ten pages,
or a tenth of a second, which is more than it costs to hand the site over."""
_FREED_BYTES: Final = 1_000_000
"""Room that the reader is told of at once; less, when there is nothing else to do."""
_DONE_BYTES: Final = 1000
"""What an answer takes besides its bytes, roughly."""
_ERRORS: Final[dict[str, type[PageError]]] = {}


def _errors() -> dict[str, type[PageError]]:
    """Every kind of PageError by its code."""
    if not _ERRORS:
        kinds = [PageError]
        while kinds:
            kind = kinds.pop()
            _ERRORS[kind.code] = kind
            kinds += kind.__subclasses__()
    return _ERRORS


@dataclass(slots=True)
class _Busy:
    """A site with tasks that are not answered: where they are, and how many."""

    seat: Seat
    tasks: int = 0


class Jobs:
    """Processes that judge pages of `Memories`, or of sites that are forgotten afterwards.

    The answers are those of one process, to the byte, in the order of the pages, rendered as the
    `shape` says: JSON lines unless it says otherwise. A process that ends costs nothing: its page
    is tried again once, then refused, and its site goes on as if that page had not been.

    With `splits_sites` any process works on any page. That takes two passes: `learn` all pages,
    then `run` with a plan that asks about them.
    """

    def __init__(
        self,
        sites: Memories | Sites | None = None,
        jobs: int = 2,
        *,
        shape: Shape = LINES,
        settings: JobSettings | None = None,
        is_sketching: bool = False,
        splits_sites: bool = False,
    ) -> None:
        self._settings = replace(settings or JobSettings(), jobs=jobs)
        sites = Sites() if sites is None else sites
        if sites.method.name == Hyperlink.name:
            raise UsageError("hyperlink compares pages across the sources; it needs one process")
        if splits_sites and not adds_up(sites.method):
            raise UsageError(f"memories of {sites.method.name} do not add up: no site can be split")
        self._splits_sites = splits_sites
        self._ledger: Ledger = (
            MemoriesLedger(sites) if isinstance(sites, Memories) else SitesLedger(sites)
        )
        self._sites = sites
        self._inbox: SimpleQueue[object] = SimpleQueue()
        self._line: deque[Task] = deque()
        self._busy: dict[str, _Busy] = {}
        self._intake: Intake | None = None
        self._freed_bytes = self._freed_pages = 0
        self._hello: Header = {
            "terms": asdict(self._ledger.terms),
            "shape": asdict(shape),
            "is_noting": self._ledger.is_noting,
            "is_sketching": is_sketching,
        }
        self._seats: list[Seat] = []
        self._checked = 0.0
        self._patience_s = 3 * sites.limits.timeout_s + self._settings.patience_s

    @property
    def pids(self) -> list[int]:
        """The numbers of the processes that judge, of those that were needed so far."""
        return [seat.process.pid for seat in self._seats]

    def clean(self, pages: Iterable[Given]) -> Iterator[Rendered | Refusal]:
        """Learn pages and answer on each, in order; a page that cannot be used gives a Refusal.

        `Memories` take note of the answers, as their own `clean` does. The pages are read in
        another thread.
        """
        for done in self.run(map(_item, pages), lambda _: Act.CLEAN):
            if isinstance(done.outcome, Rendered) and isinstance(self._sites, Memories):
                self.note(done.outcome)
            assert not isinstance(done.outcome, Learned)
            yield done.outcome

    def learn(self, pages: Iterable[Given]) -> Iterator[Learned | Refusal]:
        """Learn pages without an answer on them, in order: was each new, or why not?"""
        act = Act.TELL if self._splits_sites else Act.LEARN
        for done in self.run(map(_item, pages), lambda _: act):
            assert not isinstance(done.outcome, Rendered)
            yield done.outcome

    def note(self, answer: Rendered, since: int | None = None) -> bool:
        """Note the answer that is given on a page, as `Memories.note` does."""
        assert isinstance(self._sites, Memories)
        return self._sites.note_given(answer.site, rendered_answer(answer), since)

    def run(self, items: Iterable[Page | Failure], plan: Plan) -> Iterator[Done]:
        """What came of each item, in order; `plan` says what to do with it, when it is read.

        Items are read in another thread; all else happens in the caller's.
        """
        if self._intake is not None:
            raise UsageError("these processes have a run to end first, or were left in one")
        if self._splits_sites:
            for seat in self._seats:  # Each may hold a site; what comes now may change it.
                seat.let_go_all()
        self._intake = Intake(items, self._inbox, self._settings)
        end: NoMore | None = None
        while end is None or self._line:
            event = self._next_event()
            if isinstance(event, NoMore):
                end = event
            elif event is not None:
                self._handle(event)
            for arrived in self._intake.take():
                self._take(arrived, plan)
            for seat in self._seats:
                self._pump(seat.pump())
            yield from self._given()
        if end.fault is not None:
            raise end.fault
        self._intake.stop()
        self._intake = None

    def _given(self) -> Iterator[Done]:
        """All that can be given: what is done, up to the first that is not."""
        while self._line and self._line[0].is_done:
            task = self._line.popleft()
            self._freed_bytes += task.size
            self._freed_pages += 1
            if task.fault is not None:
                raise task.fault
            if task.is_learned:
                self._ledger.given(task.site)
            elif task.lesson is not None:
                task.outcome = self._learned(task)
            assert task.outcome is not None
            yield Done(task.item, task.act, task.outcome)

    def _learned(self, task: Task) -> Learned | Refusal:
        """What comes of what a page told, when its turn has come."""
        page, lesson = task.item, task.lesson
        assert isinstance(page, Page)
        assert lesson is not None
        try:
            return Learned(self._ledger.told(page, lesson))
        except PageError as error:
            return Refusal(page.url, page.site, error)

    def _next_event(self) -> object:
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
        if now - self._checked > _CHECK_S:
            self._checked = now
            for seat in self._seats:
                if seat.is_silent(self._patience_s):
                    seat.end()

    def _free(self) -> None:
        """Let as much be read as there is room again."""
        assert self._intake is not None
        self._intake.free(self._freed_bytes, self._freed_pages)
        self._freed_bytes = self._freed_pages = 0

    def _handle(self, event: object) -> None:
        """Take in a reply, or the end of a process."""
        assert isinstance(event, (Replied, Ended))
        seat = next(seat for seat in self._seats if seat.process is event.process)
        if isinstance(event, Ended):
            given_up = seat.lost()
            if given_up is not None:
                self._settle(given_up)
        elif event.header.get("is_ready"):
            seat.ready()
        else:
            rest = iter(event.blobs)
            for header, count in zip(event.header["replies"], event.header["counts"], strict=True):
                task = seat.answered(header.get("size"), self._is_idle)
                self._answered(task, header, list(islice(rest, count)))
                self._settle(task)

    def _is_idle(self, site: str) -> bool:
        """Has a site nothing on its way?"""
        return site not in self._busy

    def _take(self, arrived: Arrived, plan: Plan) -> None:
        """Put an item into the line, and its page to work."""
        item, act = arrived.item, plan(arrived.item)
        site = pipeline.site_of(item) if isinstance(item, Page) else item.site or ""
        task = Task(item, act, site, arrived.size)
        self._line.append(task)
        if act is Act.SKIP:
            task.outcome = Learned(is_new=False)
        elif isinstance(item, Failure):
            task.outcome = Refusal(item.url, item.site, item.error)
        else:
            if self._splits_sites:
                seat = self._any_seat_for(site, act)
                busy = self._busy.get(site) or _Busy(seat)
            else:
                busy = self._busy.get(site) or _Busy(self._seat_for(site))
                seat = busy.seat
            busy.tasks += 1
            self._busy[site] = busy
            seat.give(task)

    def _any_seat_for(self, site: str, act: Act) -> Seat:
        """Where a page of a site that is split goes: to who holds it, or where there is less to do.

        Raises UsageError for an act that needs the site whole.
        """
        if act not in (Act.TELL, Act.ASK):
            raise UsageError("a site can be split in two passes only: learn all pages, then ask")
        least = self._least_busy()
        holders = [seat for seat in self._seats if seat.holds(site)]
        holder = min(holders, key=lambda seat: seat.backlog_bytes, default=least)
        if holder.backlog_bytes <= least.backlog_bytes + _SLACK_BYTES:
            return holder
        return least

    def _seat_for(self, site: str) -> Seat:
        """Where a site goes that nobody works on: where it was, or where there is less to do."""
        least = self._least_busy()
        holder = next((seat for seat in self._seats if seat.holds(site)), least)
        if holder.backlog_bytes <= least.backlog_bytes + _SLACK_BYTES:
            return holder
        holder.let_go(site)
        return least

    def _least_busy(self) -> Seat:
        """Where there is least to do. A process is only started where all others are busy."""
        least = min(self._seats, key=lambda seat: seat.backlog_bytes, default=None)
        if least is None or (least.backlog_bytes and len(self._seats) < self._settings.jobs):
            least = Seat(self._hello, self._inbox, self._ledger, self._settings.max_held_bytes)
            self._seats.append(least)
        return least

    def _pump(self, failed: list[Task]) -> None:
        """Settle the tasks that could not be sent."""
        for task in failed:
            self._settle(task)

    def _answered(self, task: Task, header: Header, blobs: list[bytes]) -> None:
        """Take in what a process says of a task."""
        if "fatal" in header:
            kind = UsageError if header["fatal"] == "usage" else StateError
            task.fault = kind(header["message"])
        elif "error" in header:
            kind_of_error = _errors().get(header["error"], PageError)
            error = kind_of_error(task.item.url, header["message"])
            task.outcome = Refusal(task.item.url, task.item.site, error)
            if task.act in (Act.LEARN, Act.TELL):
                self._ledger.unlearned(task.site, header["digest"])
        elif task.act is Act.TELL:
            task.lesson = blobs[0]
            task.outcome = Learned(is_new=True)
        else:
            task.outcome, data = _outcome(task, header, blobs)
            if header["is_learned"]:
                body, *state = blobs[data:]
                family = header.get("family")
                lesson = Lesson(body, state[0] if state else None, task.item.url, family)
                self._ledger.learned(task.site, lesson)
                task.is_learned = True

    def _settle(self, task: Task) -> None:
        """Take note that a task is done: its page goes, its answer stays until its turn comes."""
        busy = self._busy[task.site]
        busy.tasks -= 1
        if not busy.tasks:
            del self._busy[task.site]
        page, outcome = task.item, task.outcome
        assert isinstance(page, Page)
        is_learning = task.act in (Act.LEARN, Act.TELL)
        if is_learning and isinstance(outcome, Refusal) and task.losses:
            self._ledger.unlearned(task.site, unlearned_digest(page))
        task.item = Page(b"", page.url, page.site)
        data = outcome.data if isinstance(outcome, Rendered) else task.lesson
        size = _DONE_BYTES + len(data or b"")
        self._freed_bytes += task.size - size
        task.size = size

    def close(self) -> None:
        """Keep what was learned, and end the processes."""
        if self._intake is not None:
            self._intake.stop()
        try:
            self._ledger.close()
        finally:
            for seat in self._seats:
                seat.process.stop()
            self._seats = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *fault: object) -> None:
        self.close()


def _item(given: Given) -> Page | Failure:
    return Page(*given) if isinstance(given, tuple) else given


def _outcome(task: Task, header: Header, blobs: list[bytes]) -> tuple[Outcome, int]:
    """What came of a page that could be used, and how many of the blobs are its answer."""
    if task.act is Act.LEARN:
        return Learned(header["is_learned"]), 0
    data = int(header["has_data"])
    rendered = Rendered(
        task.item.url,
        task.site,
        blobs[0] if data else None,
        header["pages_seen"],
        header["characters"],
        header["template_share"],
        header["template_changed"],
        header["needs_render"],
        bytes.fromhex(header.get("text", "")),
        bytes.fromhex(header.get("key", "")),
        tuple(header.get("sketch", ())),
    )
    return rendered, data
