"""The service behind its addresses: the memory, the workers, and what goes between them.

The memory stays in this process, the only one that writes it. A site is sent to its worker; the
lessons that come back are kept here until they are committed, so that a worker may die at any
moment and nothing is lost.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, Final

from msgspec import structs

from dehusk import pipeline
from dehusk.answer.result import Refusal
from dehusk.doors.service.monitoring import Listeners, Metrics, log
from dehusk.doors.service.server import Failed
from dehusk.doors.service.settings import ServiceSettings
from dehusk.errors import MemoryDamaged, PageError, PageFault, PageTimeout, StateError, StoreDamaged
from dehusk.memory.kept import BATCH_PAGES, BATCH_S
from dehusk.memory.notes import Answer
from dehusk.memory.session import Session
from dehusk.output.formats import Format, json_line
from dehusk.page.page import Page
from dehusk.settings import MarkdownSettings
from dehusk.workers.child import Event
from dehusk.workers.lessons import Lesson, LessonQueue
from dehusk.workers.messages import Act, Reply, Setup
from dehusk.workers.pool import Pool
from dehusk.workers.worker import Task, Worker, WorkerSettings

_ACTS: Final = "dehusk.doors.service.acts"
_ADVICE: Final = "`dehusk sites check` says more"
_SNAPSHOT_S: Final = 10.0
"""How long a commit waits for what a site has come to."""


@dataclass(frozen=True, slots=True)
class PageAnswer:
    """An answer as it goes to the client, whether the page could be used, and what is new."""

    body: bytes
    error: str | None = None
    is_changed: bool = True
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What the worker says besides, for the service itself."""


class Service:
    """Takes pages, has them judged, and keeps what they teach."""

    def __init__(self, session: Session, settings: ServiceSettings) -> None:
        self.session = session
        self.settings = settings
        self.metrics = Metrics()
        self.listeners = Listeners()
        self._lessons = LessonQueue(session, _ADVICE)
        setup = Setup(
            session.settings(),
            acts=_ACTS,
            cpu_s=settings.cpu_s,
            memory_bytes=settings.memory_bytes,
        )
        given_up_at_once = WorkerSettings(max_losses=1)
        self.pool = Pool(setup, self._lessons, given_up_at_once, self._post, settings.workers)
        self._turns: dict[Worker, asyncio.Lock] = {}
        """Held by whoever asks a worker; those who wait are served in order."""
        self.waiting = 0
        self.is_keeping = True
        """False where the last commit failed: what was learned waits for a better time."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._keeper: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Start the workers, and commit now and then."""
        self._loop = asyncio.get_running_loop()
        self.pool.start_all()
        self._turns = {worker: asyncio.Lock() for worker in self.pool.workers}
        self._keeper = asyncio.create_task(self._keep())

    async def close(self) -> None:
        """Commit, and end the workers."""
        self.listeners.close()
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)
        try:
            await self.flush()
        finally:
            await asyncio.to_thread(self.pool.stop)

    def _post(self, worker: Worker, event: Event) -> None:
        """Have an event taken in by the loop; called by threads of the worker."""
        assert self._loop is not None
        with suppress(RuntimeError):  # It is closed, and nobody cares any more.
            self._loop.call_soon_threadsafe(self._handle, worker, event)

    @staticmethod
    def _handle(worker: Worker, event: Event) -> None:
        worker.handle(event)
        worker.pump()

    async def clean(
        self,
        page: Page,
        *,
        learns: bool,
        pieces: int | None = None,
        revise: str | None = None,
        markdown: MarkdownSettings = MarkdownSettings(),
        act: str = "written",
        written_as: Format = Format.JSONL,
    ) -> PageAnswer:
        """The answer on a page, which is learned or not, in a format; or its `marks`."""
        site = pipeline.site_of(page)
        async with self._turn(site) as worker:
            asked = {
                "learns": learns, "pieces": pieces, "markdown": asdict(markdown),
                "format": str(written_as),
            }  # fmt: skip
            reply = await self._ask(worker, site, act, [page], **asked)
            if isinstance(reply, PageAnswer):
                return reply
            is_changed = not learns or self._learned(site, page.url, reply, revise)
        self.metrics.pages["ok"] += 1
        return PageAnswer(reply.answer or b"", None, is_changed)

    async def act(self, act: str, pages: Sequence[Page], **options: Any) -> PageAnswer:
        """The answer of a worker that learns nothing: `explain`, `template` and the like."""
        site = pipeline.site_of(pages[0])
        async with self._turn(site) as worker:
            reply = await self._ask(worker, site, act, pages, **options)
        if isinstance(reply, PageAnswer):
            return reply
        return PageAnswer(reply.answer or b"", facts=reply.facts)

    @asynccontextmanager
    async def _turn(self, site: str) -> AsyncIterator[Worker]:
        """A turn at the site's worker, in the order of asking.

        Raises Failed (503) where too many wait, or it does not come in time.
        """
        if self.waiting >= self.settings.max_waiting:
            raise Failed(503, "busy", "too many requests are waiting; try again")
        worker = self.pool.fixed_worker(site)
        turn = self._turns[worker]
        self.waiting += 1
        try:
            async with asyncio.timeout(self.settings.deadline_s):
                await turn.acquire()
        except TimeoutError:
            raise Failed(503, "busy", "no worker was free in time; try again") from None
        finally:
            self.waiting -= 1
        try:
            yield worker
        finally:
            turn.release()

    async def _ask(
        self, worker: Worker, site: str, act: str, pages: Sequence[Page], **options: Any
    ) -> Reply | PageAnswer:
        """The worker's reply; where the page cannot be used, the answer that says why.

        A page that costs the worker its life is one of these. Raises Failed where the worker says
        that it was not asked as it should be.
        """
        url = pages[0].url
        try:
            if not worker.holds(site):
                self._lessons.settle(site)
            reply = await _reply(worker, act, site, pages, self.settings.deadline_s, options)
        except StoreDamaged as fault:
            return self._lost(pages[0], MemoryDamaged(url, f"{fault}; {_ADVICE}"))
        except PageError as error:
            return self._lost(pages[0], error)
        if (wrong := reply.fatal_error()) is not None:
            raise Failed(400, "bad_request", str(wrong))
        refused = reply.page_error(url)
        return reply if refused is None else self.refuse(pages[0], refused)

    def _lost(self, page: Page, error: PageError) -> PageAnswer:
        """The answer on a page that no worker has answered on."""
        site = pipeline.site_of(page)
        log(logging.WARNING, "worker_lost", code=error.code, reason=error.reason, site=site)
        return self.refuse(page, error)

    def refuse(self, page: Page, error: PageError) -> PageAnswer:
        """The JSON line of a page that could not be used."""
        self.metrics.pages[error.code] += 1
        line = json_line(Refusal(page.url, pipeline.site_of(page), error).to_json()).rstrip()
        return PageAnswer(line, error.code)

    def _learned(self, site: str, url: str | None, reply: Reply, revise: str | None) -> bool:
        """Keep what a page taught; True where its answer has changed."""
        facts = reply.facts
        revision = facts["pages_seen"]
        answer = Answer(bytes.fromhex(facts["key"]), bytes.fromhex(facts["text"]), revision)
        since = int(revise) if revise is not None and revise != "last" else None
        if reply.lesson is not None:
            self.metrics.learned += 1
            self._lessons.add(site, Lesson(reply.lesson))
        try:
            is_changed = self.session.note_given(site, answer, since)
        finally:
            if reply.lesson is not None:  # Behind the note: where it is committed, both are.
                self._lessons.release(site)
        if reply.lesson is not None:  # What is asked for again is no news of its site.
            self._watch(site, url, facts)
        told = {
            "site": site, "url": url, "is_changed": is_changed, "revision": revision,
            "family": facts["family"], "template_changed": facts["template_changed"],
            "is_learned": reply.lesson is not None,
        }  # fmt: skip
        self.listeners.tell("revision", told)
        return is_changed

    def _watch(self, site: str, url: str | None, facts: Mapping[str, Any]) -> None:
        """Tell where the answers on a site have suddenly changed."""
        share, confidence = facts["template_share"], facts["confidence"]
        shift = self.session.watch(site, share, facts["characters"], confidence, url)
        if shift is not None:
            # Without its URL: the log names no pages.
            log(logging.WARNING, "answers_changed", site=site, message=str(shift))
            self.listeners.tell("answers_changed", {"site": site} | structs.asdict(shift))

    async def _keep(self) -> None:
        """Commit what was learned, as often as a session would."""
        is_kept = True
        while True:
            end = time.monotonic() + BATCH_S
            # What could not be kept is not tried again before its time, however much it is.
            while time.monotonic() < end and not (
                is_kept and self._lessons.ready_count >= BATCH_PAGES
            ):
                await asyncio.sleep(0.25)
            is_kept = await self.flush()

    async def flush(self) -> bool:
        """Make all that was learned lasting; False where some is not: it is logged, and waits."""
        is_kept = True
        for site in self._lessons.ready_sites():
            worker = self.pool.fixed_worker(site)
            async with self._turns[worker]:
                snapshot = None
                if worker.holds(site) and self._lessons.ready_sites().get(site, 0) > 1:
                    # Cheaper than to learn the lessons again here.
                    try:
                        reply = await _reply(worker, Act.SNAPSHOT, site, (), _SNAPSHOT_S)
                        snapshot = reply.snapshot
                    except StateError as fault:
                        _log_not_kept(fault)
                    except PageError:
                        pass
                is_kept &= self._try(partial(self._lessons.settle, site, snapshot))
        self.is_keeping = self._try(self.session.commit) and is_kept
        return self.is_keeping

    @staticmethod
    def _try(act: Callable[[], object]) -> bool:
        """False where it fails for the state of the memory, which is logged."""
        try:
            act()
        except StateError as fault:
            _log_not_kept(fault)
            return False
        return True

    async def forget(self, site: str) -> bool:
        """Take a site out, with all that is kept of it; False if it was not there."""
        worker = self.pool.fixed_worker(site)
        async with self._turns[worker]:
            self._lessons.settle(site)
            self.session.commit()
            worker.drop(site)
            return self.session.forget(site)

    async def change_rules(self, site: str) -> None:
        """Let the next page of a site be judged by its rules as they are now."""
        worker = self.pool.fixed_worker(site)
        async with self._turns[worker]:
            worker.drop(site)
        self.session.commit()


def _log_not_kept(fault: StateError) -> None:
    log(logging.ERROR, "not_kept", error=type(fault).__name__, message=str(fault))


async def _reply(
    worker: Worker,
    act: str,
    site: str,
    pages: Sequence[Page],
    timeout_s: float,
    options: Mapping[str, Any] | None = None,
) -> Reply:
    """The reply of a worker that nobody else asks.

    Raises PageError, and StateError where the site cannot be sent; the next finds it anew.
    """
    url = pages[0].url if pages else None
    answered: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def done(_task: Task) -> None:
        if not answered.done():
            answered.set_result(None)

    task = Task(act, site, pages, done, options or {})
    worker.give(task)
    worker.pump()
    try:
        async with asyncio.timeout(timeout_s):
            await answered
    except TimeoutError:
        worker.abandon()
        raise PageTimeout(url, f"it took longer than {timeout_s:.0f} s") from None
    except BaseException:
        # Whoever asked has gone: what the process would say next answers nobody's question.
        worker.abandon()
        raise
    if isinstance(task.error, (PageError, StateError)):
        raise task.error
    if task.reply is None:
        raise PageFault(url, "its process ended: too much memory, or a fault in the parser")
    return task.reply
