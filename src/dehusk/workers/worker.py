"""The parent's side of a worker: its process, the tasks it has, and the sites it holds.

A worker belongs to one thread, or to one event loop. What its process says comes to that thread as
events, which two threads of the process post; all else happens where the worker belongs.
"""

from __future__ import annotations

import signal
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol

from msgspec import Struct, field

from dehusk.errors import (
    DehuskError,
    PageError,
    PageFault,
    PageTimeout,
    ProcessLost,
)
from dehusk.memory.session import Snapshot
from dehusk.page.page import Page
from dehusk.workers.child import Ended, Event, Process, Said
from dehusk.workers.messages import Act, Batch, Reply, Request, Setup

_SENT_LEAST: Final = 4
"""Tasks that a process is sent before it has answered, whatever they take."""
_SENT_MOST: Final = 64
_SENT_BYTES: Final = 1_000_000
"""Tasks that it is sent beyond that, and their bytes, with those of the sites that go with them.
When half of that is answered more are sent: some together, and early enough that the process never
waits for them."""
_MAX_STARTS: Final = 3
"""Processes that may end one after another before they have begun."""
_START_S: Final = 60.0
"""A process that has not begun for so long is ended. Apart from what a page may take: that can be
set to less than a start needs on a busy machine, which none would survive."""


class Task(Struct, eq=False):
    """Something for a worker to do, on its way; `done` is called with it at its end."""

    act: str
    site: str
    pages: Sequence[Page]
    done: Callable[[Task], None]
    options: Mapping[str, Any] = field(default_factory=dict)
    size_bytes: int = 0
    """The room that its pages take."""
    snapshot_bytes: int = 0
    """Of the site that went with it, where the process did not hold that."""
    wants_snapshot: bool = False
    """Is its site to be sent back with the reply?"""
    losses: int = 0
    """Processes that ended on it."""
    reply: Reply | None = None
    error: DehuskError | None = None
    """Why there is no reply: a PageError, or what no other task would survive either."""

    @property
    def url(self) -> str | None:
        """Of its first page."""
        return self.pages[0].url if self.pages else None


class Snapshots(Protocol):
    """What sites have taught, kept where no page can crash it: see `lessons`."""

    def snapshot(self, site: str, url: str | None) -> Snapshot:
        """What a worker needs to go on with a site. Raises MemoryDamaged, of the page's URL."""

    def wants_snapshot(self, site: str) -> bool:
        """Should the site be sent back with its next page? Asked once for each."""

    def miss_snapshot(self, site: str) -> None:
        """It was asked for with a page that taught nothing, and did not come."""


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """What a worker may hold, and what its pages may cost."""

    max_held_bytes: int = 128_000_000
    """What the sites that a process holds may take in it, as `Keeping.max_active_bytes`."""
    max_losses: int = 2
    """Processes that a page may cost before it is given up."""


class Worker:
    """One process after another, which works on the tasks that it is given, in order."""

    def __init__(
        self,
        setup: Setup,
        snapshots: Snapshots,
        settings: WorkerSettings,
        post: Callable[[Worker, Event], object],
    ) -> None:
        self.backlog_bytes = 0
        """Of the pages that are not answered."""
        self.starts = 0
        """Processes that were started."""
        self.is_running = False
        """False at the end, and where one process after another has ended before it had begun: then
        the next task starts another."""
        self._setup = setup
        self._snapshots = snapshots
        self._settings = settings
        self._post = partial(post, self)
        self._waiting: deque[Task] = deque()
        self._sent: deque[Task] = deque()
        self._sent_bytes = 0
        self._task_counts: Counter[str] = Counter()
        self._held: OrderedDict[str, int] = OrderedDict()
        self._held_bytes = 0
        self._dropped_sites: list[str] = []
        self._failed_starts = 0
        self._suspects = 0  # Tasks that come next, of which one may have ended a process.
        self._start()

    def _start(self) -> None:
        self.process = Process(self._setup.to_bytes(), self._post)
        self.starts += 1
        self.is_running = True
        self._is_ready = False
        self._is_stuck = False
        self._held.clear()
        self._held_bytes = 0
        self._dropped_sites.clear()
        self._since = time.monotonic()

    def holds(self, site: str) -> bool:
        """Does the process hold the site?"""
        return site in self._held

    def has_tasks(self, site: str) -> bool:
        """Are there tasks of the site that are not done?"""
        return site in self._task_counts

    def drop(self, site: str) -> None:
        """Have the process let go of a site, of which no task is here."""
        if site in self._held:
            self._held_bytes -= self._held.pop(site)
            self._dropped_sites.append(site)

    def drop_all(self) -> None:
        """Have the process let go of all sites, when it has no task."""
        self._dropped_sites += self._held
        self._held.clear()
        self._held_bytes = 0

    def give(self, task: Task) -> None:
        """Take a task; `pump` sends it."""
        self.backlog_bytes += task.size_bytes
        self._task_counts[task.site] += 1
        self._waiting.append(task)

    def pump(self) -> None:
        """Send what may be sent."""
        if not self._waiting or not self._has_room(_SENT_MOST // 2, _SENT_BYTES // 2):
            return
        if not self.is_running:
            self._start()
        requests: list[Request] = []
        while self._waiting and self._has_room(_SENT_MOST, _SENT_BYTES):
            task = self._waiting.popleft()
            try:
                request = self._request(task)
            except DehuskError as error:
                self._finish(task, error=error)
                continue
            if not self._sent:
                self._since = time.monotonic()
            self._sent.append(task)
            self._sent_bytes += task.size_bytes + task.snapshot_bytes
            requests.append(request)
        if requests:
            self.process.send(Batch(requests, self._dropped_sites).to_bytes())
            self._dropped_sites = []

    def _has_room(self, most: int, most_bytes: int) -> bool:
        """Does the process have fewer tasks than that? A suspect is sent alone."""
        sent = len(self._sent)
        if self._suspects:
            return sent == 0
        return sent < _SENT_LEAST or (sent < most and self._sent_bytes < most_bytes)

    def _request(self, task: Task) -> Request:
        """A task as it is sent, with its site where the process does not hold it."""
        site, snapshot = task.site, None
        task.snapshot_bytes, task.wants_snapshot = 0, False
        if task.act != Act.TELL:
            if site not in self._held:
                snapshot = self._snapshots.snapshot(site, task.url)
                task.snapshot_bytes = len(snapshot.state) + sum(map(len, snapshot.lessons))
                self._held[site] = 0
            self._held.move_to_end(site)
            learns = task.act in (Act.CLEAN, Act.LEARN)
            task.wants_snapshot = learns and self._snapshots.wants_snapshot(site)
        return Request(task.act, site, task.pages, task.options, snapshot, task.wants_snapshot)

    def _finish(
        self, task: Task, reply: Reply | None = None, error: DehuskError | None = None
    ) -> None:
        """Say what came of a task that is not here any more."""
        self.backlog_bytes -= task.size_bytes
        self._task_counts[task.site] -= 1
        if not self._task_counts[task.site]:
            del self._task_counts[task.site]
        task.reply, task.error = reply, error
        task.done(task)

    def handle(self, event: Event) -> None:
        """Take in what the process says, or its end; nothing where it was replaced before."""
        status = event.process.status() if isinstance(event, Ended) else None
        if event.process is not self.process or not self.is_running:
            return
        if not isinstance(event, Said):
            self._lost(status)
            return
        self._since = time.monotonic()
        self._is_ready = True
        self._failed_starts = 0
        if len(event.replies) > len(self._sent):
            self.process.kill()  # It answers what nobody asked.
            return
        for reply in event.replies:
            self._answered(reply)

    def _answered(self, reply: Reply) -> None:
        """Take in what came of the task that was sent first.

        Beyond what it may hold the process lets go of sites, of those that are idle.
        """
        self._suspects = max(0, self._suspects - 1)
        task = self._sent.popleft()
        self._sent_bytes -= task.size_bytes + task.snapshot_bytes
        if task.wants_snapshot and reply.snapshot is None:
            self._snapshots.miss_snapshot(task.site)
        if reply.fault is not None:
            self.drop(task.site)
        elif reply.held_bytes is not None and task.site in self._held:
            self._held_bytes += reply.held_bytes - self._held[task.site]
            self._held[task.site] = reply.held_bytes
        if self._held_bytes > self._settings.max_held_bytes:
            for site in [site for site in self._held if not self.has_tasks(site)]:
                if self._held_bytes <= self._settings.max_held_bytes:
                    break
                self.drop(site)
        self._finish(task, reply)

    def is_silent(self, patience_s: float) -> bool:
        """Has the process said nothing for so long, though it has something to do?"""
        silent_s = time.monotonic() - self._since
        if not self._is_ready:
            return silent_s > _START_S
        return bool(self._sent) and silent_s > patience_s

    def end(self) -> None:
        """End a process that is silent; its loss is an event."""
        self._is_stuck = True
        self.process.kill()

    def stop(self) -> None:
        """End the process for good, and wait for that."""
        self.is_running = False
        self.process.stop()

    def abandon(self) -> None:
        """Put another process in place of one whose tasks nobody waits for any more.

        Also where it has just answered: it has learned what nobody will keep.
        """
        self.process.kill()
        self._waiting.clear()
        self._sent.clear()
        self._task_counts.clear()
        self._sent_bytes = self._suspects = self.backlog_bytes = 0
        self._start()

    def _lost(self, status: int | None) -> None:
        """Put another process in place of one that ended.

        The tasks that it had are suspects. Each is sent alone until it is answered, so that it is
        certain which one another process ends on; that is tried again as often as it may be.

        A worker that notes how far it has come cannot tell as much: it may end on an answer that
        it gathered, or while it sends some.
        """
        given_up = None
        self._suspects = max(self._suspects, len(self._sent))
        if self._is_ready and len(self._sent) == 1:
            self._sent[0].losses += 1
            if self._sent[0].losses >= self._settings.max_losses:
                given_up = self._sent.popleft()
                self._suspects -= 1
        error = None if given_up is None else self._loss(given_up.url, status)
        self._waiting.extendleft(reversed(self._sent))
        self._sent.clear()
        self._sent_bytes = 0
        self._failed_starts += not self._is_ready
        if self._failed_starts >= _MAX_STARTS:
            self._fail_all()
            return
        self._start()
        if given_up is not None:
            self._finish(given_up, error=error)

    def _fail_all(self) -> None:
        """Give up all tasks, since no process can be started."""
        self.is_running = False
        self._failed_starts = self._suspects = 0
        error = DehuskError(
            f"{_MAX_STARTS} worker processes ended one after another before they had begun:"
            " killed, or for a reason that is said above"
        )
        while self._waiting:
            self._finish(self._waiting.popleft(), error=error)

    def _loss(self, url: str | None, status: int | None) -> PageError:
        """Why a page is given up."""
        if self._settings.max_losses == 1:
            if status == -signal.SIGPROF:
                cpu_s = self._setup.cpu_s or 0.0
                return PageTimeout(url, f"it took more than {cpu_s:g} s of CPU time")
            return PageFault(url, "its process ended: too much memory, or a fault in the parser")
        if self._is_stuck:
            return PageTimeout(url, "its process did not answer, twice")
        return ProcessLost(
            url, "its process ended, twice: too much memory, a fault in the parser, or killed"
        )
