"""A worker's seat: the process that sits there now, the tasks it has, and the sites it holds."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Final

from dehusk.answer.result import Refusal
from dehusk.errors import DehuskError, MemoryDamaged, PageError, PageTimeout, ProcessLost
from dehusk.memory.lending import Loan
from dehusk.page.page import Page
from dehusk.sources import Failure
from dehusk.workers.frames import Header
from dehusk.workers.jobs.acts import Act, Outcome
from dehusk.workers.jobs.ledger import Ledger
from dehusk.workers.jobs.process import WorkerProcess

_SENT_LEAST: Final = 4
"""Tasks that a process is sent before it has answered, whatever they take."""
_SENT_MOST: Final = 32
_SENT_BYTES: Final = 1_000_000
"""Tasks that it is sent beyond that, and their bytes, with those of the sites that it is lent. When
half of that is answered more are sent: some together, and early enough that the process never waits
for them."""
_MAX_LOSSES: Final = 2
"""Processes that a page may cost before it is given up."""
_MAX_STARTS: Final = 3
"""Processes that may end one after another before they have begun."""

_START_S: Final = 60.0
"""A process that has not begun for so long is ended. Apart from what a page may take: that can be
set to less than a start needs on a busy machine, which none would survive."""


@dataclass(slots=True)
class Task:
    """An item on its way."""

    item: Page | Failure
    act: Act
    site: str
    size: int
    """The room that it takes."""
    lent_bytes: int = 0
    """Of the site that went with it, where the process did not hold that."""
    losses: int = 0
    """Processes that ended on it."""
    outcome: Outcome | None = None
    fault: DehuskError | None = None
    """What ends the run when this item's turn comes."""
    is_learned: bool = False
    """Has its page taught something?"""
    lesson: bytes | None = None
    """What its page teaches, where its site is split: learned when its turn comes."""

    @property
    def is_done(self) -> bool:
        """Is it known what came of it?"""
        return self.outcome is not None or self.fault is not None


class Seat:
    """Where one process after another works on the tasks that it is given, in order."""

    def __init__(
        self, hello: Header, inbox: SimpleQueue[object], ledger: Ledger, max_held_bytes: int
    ) -> None:
        self.backlog_bytes = 0
        """Of the pages that are not answered."""
        self._hello = hello
        self._inbox = inbox
        self._ledger = ledger
        self._max_held_bytes = max_held_bytes
        self._waiting: deque[Task] = deque()
        self._sent: deque[Task] = deque()
        self._sent_bytes = 0
        self._held: OrderedDict[str, int] = OrderedDict()
        self._held_bytes = 0
        self._drops: list[str] = []
        self._failed_starts = 0
        self._suspects = 0  # Tasks that come next, of which one may have ended a process.
        self._start()

    def _start(self) -> None:
        self.process = WorkerProcess(self._hello, self._inbox)
        self._is_ready = False
        self._is_stuck = False
        self._held.clear()
        self._held_bytes = 0
        self._drops.clear()
        self._since = time.monotonic()

    def ready(self) -> None:
        """Take note that the process has begun."""
        self._is_ready = True
        self._failed_starts = 0
        self._since = time.monotonic()

    def holds(self, site: str) -> bool:
        """Does the process hold the site?"""
        return site in self._held

    def let_go(self, site: str) -> None:
        """Have the process drop a site, of which no task is here."""
        self._held_bytes -= self._held.pop(site)
        self._drops.append(site)

    def let_go_all(self) -> None:
        """Have the process drop all sites, when it has no task."""
        self._drops += self._held
        self._held.clear()
        self._held_bytes = 0

    def give(self, task: Task) -> None:
        """Take a task; `pump` sends it."""
        self.backlog_bytes += task.size
        self._waiting.append(task)

    def pump(self) -> list[Task]:
        """Send what may be sent; the tasks that are done already, since they could not be."""
        failed: list[Task] = []
        told: list[Header] = []
        blobs: list[bytes] = []
        most, most_bytes = _SENT_MOST, _SENT_BYTES
        if not self._has_room(most // 2, most_bytes // 2):
            return failed
        while self._waiting and self._has_room(most, most_bytes):
            task = self._waiting.popleft()
            try:
                header, given = self._message(task)
            except MemoryDamaged as error:
                task.outcome = Refusal(task.item.url, task.item.site, error)
                self.backlog_bytes -= task.size
                failed.append(task)
                continue
            if not self._sent:
                self._since = time.monotonic()
            self._sent.append(task)
            task.lent_bytes = sum(map(len, given[1:]))
            self._sent_bytes += task.size + task.lent_bytes
            told.append(header)
            blobs += given
        if told:
            self.process.send({"tasks": told, "drop": self._drops}, blobs)
            self._drops = []
        return failed

    def _has_room(self, most: int, most_bytes: int) -> bool:
        """Does the process have fewer tasks than that? A suspect is sent alone."""
        sent = len(self._sent)
        if self._suspects:
            return sent == 0
        return sent < _SENT_LEAST or (sent < most and self._sent_bytes < most_bytes)

    def _message(self, task: Task) -> tuple[Header, list[bytes]]:
        """A task as it is sent, with its site where the process does not hold it."""
        page = task.item
        assert isinstance(page, Page)
        header: Header = {"act": task.act, "page": _told(page)}
        blobs = [_html(page)]
        if task.act is Act.TELL:
            return header, blobs
        if task.site not in self._held:
            loan = self._ledger.lend(page)
            header["loan"] = _loan(loan)
            blobs += [loan.state, *loan.lessons]
            self._held[task.site] = 0
        self._held.move_to_end(task.site)
        if task.act is not Act.ASK and self._ledger.wants_state(task.site):
            header["wants_state"] = True
        return header, blobs

    def answered(self, size: int | None, is_idle: Callable[[str], bool]) -> Task:
        """The task that was answered; its site takes so much in the process now.

        Beyond what it may hold the process drops sites, of those that are idle.
        """
        self._since = time.monotonic()
        self._suspects = max(0, self._suspects - 1)
        task = self._sent.popleft()
        self.backlog_bytes -= task.size
        self._sent_bytes -= task.size + task.lent_bytes
        if size is not None:
            self._held_bytes += size - self._held[task.site]
            self._held[task.site] = size
        if self._held_bytes > self._max_held_bytes:
            for site in [site for site in self._held if site != task.site and is_idle(site)]:
                if self._held_bytes <= self._max_held_bytes:
                    break
                self.let_go(site)
        return task

    def is_silent(self, patience_s: float) -> bool:
        """Has the process said nothing for so long, though it has something to do?"""
        silent_s = time.monotonic() - self._since
        if not self._is_ready:
            return silent_s > _START_S
        return bool(self._sent) and silent_s > patience_s

    def end(self) -> None:
        """End a process that is silent; `lost` comes of it."""
        self._is_stuck = True
        self.process.kill()

    def lost(self) -> Task | None:
        """Put another process in the place of one that ended.

        The tasks that it had are suspects. Each is sent alone until it is answered, so that it is
        certain which one another process ends on; that is tried again once. Given back is one that
        was done for. Raises DehuskError where no process can be started.

        A worker that notes how far it has come cannot tell as much: it may end on an answer that
        it gathered, or while it sends some.
        """
        self.process.stop()
        given_up = None
        self._suspects = max(self._suspects, len(self._sent))
        if self._is_ready and len(self._sent) == 1:
            task = self._sent[0]
            task.losses += 1
            if task.losses >= _MAX_LOSSES:
                given_up = self._sent.popleft()
                self._suspects -= 1
                self.backlog_bytes -= task.size
                error = self._error(task.item.url)
                task.outcome = Refusal(task.item.url, task.item.site, error)
        if not self._is_ready:
            self._failed_starts += 1
            if self._failed_starts >= _MAX_STARTS:
                raise DehuskError(
                    f"{_MAX_STARTS} worker processes ended one after another before they had begun:"
                    " killed, or for a reason that is said above"
                )
        self._waiting.extendleft(reversed(self._sent))
        self._sent.clear()
        self._sent_bytes = 0
        self._start()
        return given_up

    def _error(self, url: str | None) -> PageError:
        if self._is_stuck:
            return PageTimeout(url, "its process did not answer, twice")
        return ProcessLost(
            url, "its process ended, twice: too much memory, a fault in the parser, or killed"
        )


def _html(page: Page) -> bytes:
    return page.html if isinstance(page.html, bytes) else page.html.encode("utf-8", "surrogatepass")


def _told(page: Page) -> Header:
    """What a message says of a page."""
    told: Header = {"url": page.url, "is_text": isinstance(page.html, str)}
    if page.site is not None:
        told["site"] = page.site
    if page.charset is not None:
        told["charset"] = page.charset
    if (capture := page.capture) is not None:
        told["capture"] = [capture.record_id, capture.date, capture.truncated]
    return told


def _loan(loan: Loan) -> Header:
    """What a message says of a loan."""
    return {
        "site": loan.site,
        "keep": loan.overrides.keep,
        "drop": loan.overrides.drop,
        "unlearned": sorted(loan.unlearned),
        "lessons": len(loan.lessons),
    }
