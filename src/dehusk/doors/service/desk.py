"""Where pages are handed in: the memory, the workers, and what goes between them.

The memory stays in this process, the only one that writes it. A site is lent to its worker; the
lessons that come back are kept here until they are committed, so that a worker may die at any
moment and nothing is lost.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from dehusk import pipeline
from dehusk.answer.result import FIELDS
from dehusk.doors.service.bodies import Posted
from dehusk.doors.service.events import Listeners
from dehusk.doors.service.failures import Failed
from dehusk.doors.service.logs import log
from dehusk.doors.service.metrics import Metrics
from dehusk.doors.service.pool import Pool, Worker, WorkerLost
from dehusk.errors import StateError, StoreDamaged
from dehusk.memory.answers import Answer
from dehusk.memory.memories import Memories
from dehusk.methods import AdditiveMethod
from dehusk.page.page import Page
from dehusk.settings import Durable, ServiceSettings
from dehusk.workers.frames import Header

_BATCH_PAGES: Final = 256
_BATCH_S: Final = 5.0
"""How long lessons wait here: as `Memories` waits with a commit."""


@dataclass(frozen=True, slots=True)
class Given:
    """An answer as it goes to the client: JSON, whether the page could be used, and what is new."""

    body: bytes
    error: str | None = None
    is_changed: bool = True


class Desk:
    """Takes pages, has them judged, and keeps what they teach."""

    def __init__(
        self, memories: Memories, settings: ServiceSettings, *, durable: str = Durable.BATCH
    ) -> None:
        self.memories = memories
        self.settings = settings
        self.metrics = Metrics()
        self.listeners = Listeners()
        self.pool = Pool(memories.terms(), settings)
        self.waiting = 0
        self.is_keeping = True
        """False where the last commit failed: what was learned waits for a better time."""
        is_additive = isinstance(memories.method, AdditiveMethod)
        self._is_prompt = durable == Durable.PAGE or not is_additive
        self._lessons: dict[str, list[bytes]] = {}
        self._pending = 0
        self._keeper: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Start the workers, and commit now and then."""
        await self.pool.start()
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
            await self.pool.stop()

    async def clean(
        self,
        page: Posted,
        *,
        learns: bool,
        pieces: int | None = None,
        revise: str | None = None,
        act: str = "clean",
    ) -> Given:
        """The answer on a page, which is learned or not: its JSON line, or its `marks`."""
        site = _site_of(page)
        header = {"act": act, "learns": learns, "pieces": pieces}
        worker = self.pool.of(site)
        async with self._turn(worker):
            reply, blobs = await self._ask(worker, site, header, [page])
            if "error" in reply:
                return Given(blobs[0], reply["error"])
            is_changed = True
            if learns:
                is_changed = await self._learned(site, page, reply, blobs[1:], revise)
        self.metrics.pages["ok"] += 1
        return Given(blobs[0], None, is_changed)

    async def act(self, act: str, pages: Sequence[Posted], **more: Any) -> Given:
        """The answer of a worker that learns nothing: `explain`, `template` and the like."""
        site = _site_of(pages[0])
        worker = self.pool.of(site)
        async with self._turn(worker):
            reply, blobs = await self._ask(worker, site, {"act": act, **more}, pages)
        if "usage" in reply:
            raise Failed(400, "bad_request", reply["usage"])
        return Given(blobs[0], reply.get("error"))

    def _turn(self, worker: Worker) -> _Turn:
        """A turn at the worker. Raises Failed (503) where too many wait, or it does not come."""
        return _Turn(self, worker)

    async def _ask(
        self, worker: Worker, site: str, header: Header, pages: Sequence[Posted]
    ) -> tuple[Header, list[bytes]]:
        """The worker's reply; one that cost it its life is a reply too."""
        given = [page.told() for page in pages]
        header = {**header, "site": site, "page": given[0], "pages": given}
        blobs = [page.html for page in pages]
        try:
            reply, answer = await self._lent(worker, site, header, blobs)
        except WorkerLost as lost:
            log(logging.WARNING, "worker_lost", code=lost.code, reason=lost.reason, site=site)
            reply = {"error": lost.code, "message": lost.reason}
            answer = [_refusal(pages[0].url, site, lost)]
        if "error" in reply:
            self.metrics.pages[reply["error"]] += 1
        return reply, answer

    async def _lent(
        self, worker: Worker, site: str, header: Header, blobs: list[bytes]
    ) -> tuple[Header, list[bytes]]:
        """The reply of a worker that is lent the site where it does not have it."""
        timeout_s = self.settings.deadline_s
        await worker.start()
        if site in worker.sites:
            reply, answer = await worker.ask(header, blobs, timeout_s)
            if not reply.get("is_missing"):
                return reply, answer
        try:
            self._settle(site)
            loan = self.memories.lend(site)
        except StoreDamaged as fault:
            raise WorkerLost("memory_damaged", f"{fault}; `dehusk sites check` says more") from None
        lent = {"site": site, "keep": loan.overrides.keep, "drop": loan.overrides.drop}
        answered = await worker.ask({**header, "loan": lent}, [*blobs, loan.state], timeout_s)
        worker.sites.add(site)
        return answered

    async def _learned(
        self, site: str, page: Posted, reply: Header, lessons: list[bytes], revise: str | None
    ) -> bool:
        """Keep what a page taught; True where its answer has changed."""
        answer = Answer(
            bytes.fromhex(reply["key"]), bytes.fromhex(reply["text"]), reply["revision"]
        )
        since = int(revise) if revise is not None and revise != "last" else None
        is_changed = self.memories.note_given(site, answer, since)
        if lessons:
            self.metrics.learned += 1
            self._lessons.setdefault(site, []).extend(lessons)
            self._pending += 1
            if self._is_prompt:
                self._settle(site)
        facts = {"site": site, "url": page.url, "is_changed": is_changed}
        kept = ("revision", "family", "template_changed", "is_learned")
        self.listeners.tell("revision", facts | {name: reply[name] for name in kept})
        return is_changed

    def _settle(self, site: str, state: bytes | None = None) -> None:
        """Give the memory what pages of a site have taught.

        Raises StoreDamaged where the site's memory is: its lessons wait here then. Where a commit
        raises, the memory has them.
        """
        if self._lessons.get(site):
            self.memories.memory(site)
            lessons = self._lessons.pop(site)
            self._pending -= len(lessons)
            self.memories.take(site, lessons, state)

    async def _keep(self) -> None:
        """Commit what was learned, as often as `Memories` would."""
        is_kept = True
        while True:
            end = time.monotonic() + _BATCH_S
            # What could not be kept is not tried again before its time, however much it is.
            while time.monotonic() < end and not (is_kept and self._pending >= _BATCH_PAGES):
                await asyncio.sleep(0.25)
            is_kept = await self.flush()

    async def flush(self) -> bool:
        """Make all that was learned lasting; False where some is not: it is logged, and waits."""
        is_kept = True
        for site in list(self._lessons):
            worker = self.pool.of(site)
            async with worker.lock:
                state = None
                if site in worker.sites and len(self._lessons.get(site, ())) > 1:
                    # Cheaper than to learn the lessons again here.
                    with suppress(WorkerLost):
                        reply, blobs = await worker.ask({"act": "state", "site": site}, [], 10.0)
                        state = blobs[0] if blobs and not reply.get("is_missing") else None
                is_kept &= self._try(partial(self._settle, site, state))
        self.is_keeping = self._try(self.memories.commit) and is_kept
        return self.is_keeping

    @staticmethod
    def _try(act: Callable[[], object]) -> bool:
        """False where it fails for the state of the memory, which is logged."""
        try:
            act()
        except StateError as fault:
            log(logging.ERROR, "not_kept", error=type(fault).__name__, message=str(fault))
            return False
        return True

    async def forget(self, site: str) -> bool:
        """Take a site out, with all that is kept of it; False if it was not there."""
        worker = self.pool.of(site)
        async with worker.lock:
            self._settle(site)
            self.memories.commit()
            worker.sites.discard(site)
            return self.memories.forget(site)

    async def change_rules(self, site: str) -> None:
        """Let the next page of a site be judged by its rules as they are now."""
        worker = self.pool.of(site)
        async with worker.lock:
            worker.sites.discard(site)
        self.memories.commit()


class _Turn:
    """The right to ask a worker, in the order of asking."""

    def __init__(self, desk: Desk, worker: Worker) -> None:
        self._desk = desk
        self._worker = worker

    async def __aenter__(self) -> None:
        desk = self._desk
        if desk.waiting >= desk.settings.max_waiting:
            raise Failed(503, "busy", "too many requests wait; come again")
        desk.waiting += 1
        try:
            async with asyncio.timeout(desk.settings.deadline_s):
                await self._worker.lock.acquire()
        except TimeoutError:
            raise Failed(503, "busy", "no worker was free in time; come again") from None
        finally:
            desk.waiting -= 1

    async def __aexit__(self, *fault: object) -> None:
        self._worker.lock.release()


def _site_of(page: Posted) -> str:
    """The site of a page, as the library tells it."""
    return pipeline.site_of(Page("", page.url, page.site))


def _refusal(url: str | None, site: str, lost: WorkerLost) -> bytes:
    """The JSON line of a page that cost a worker its life."""
    error = {"code": lost.code, "message": lost.reason}
    known = {"url": url, "site": site, "error": error}
    return json.dumps(dict.fromkeys(FIELDS) | known, ensure_ascii=False).encode("utf-8", "replace")
