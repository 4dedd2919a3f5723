"""Workers, and which of them gets a page.

A site belongs to one worker at a time, so that its pages are learned in order; where only lessons
are told, or a site is only asked about, any worker may have its pages.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from hashlib import blake2b
from typing import Final

from dehusk.workers.child import Event
from dehusk.workers.messages import Setup
from dehusk.workers.worker import Snapshots, Worker, WorkerSettings

_SLACK_BYTES: Final = 1_000_000
"""A site goes to another process where its own is behind by more pages than that: some ten pages,
or a tenth of a second, which is more than it costs to hand the site over."""


class Pool:
    """At most so many workers, started as they are needed. Belongs where its workers belong."""

    def __init__(
        self,
        setup: Setup,
        snapshots: Snapshots,
        settings: WorkerSettings,
        post: Callable[[Worker, Event], object],
        max_workers: int,
    ) -> None:
        self.workers: list[Worker] = []
        self._max_workers = max_workers
        self._start = partial(Worker, setup, snapshots, settings, post)

    @property
    def pids(self) -> list[int]:
        """The numbers of the processes that run."""
        return [worker.process.pid for worker in self.workers if worker.is_running]

    def start_all(self) -> None:
        """Start all workers that there may be."""
        while len(self.workers) < self._max_workers:
            self.workers.append(self._start())

    def fixed_worker(self, site: str) -> Worker:
        """The same worker for a site each time, when all are started."""
        digest = blake2b(site.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return self.workers[int.from_bytes(digest, "big") % len(self.workers)]

    def worker_for(self, site: str) -> Worker:
        """Where a page goes: where its site is worked on, or was, or where there is less to do."""
        for worker in self.workers:
            if worker.has_tasks(site):
                return worker
        least = self._least_busy()
        holder = next((worker for worker in self.workers if worker.holds(site)), least)
        if _is_near(holder, least):
            return holder
        holder.drop(site)
        return least

    def any_worker_for(self, site: str) -> Worker:
        """Where a page goes of a site that is split: who holds that, or who has less to do."""
        least = self._least_busy()
        holders = [worker for worker in self.workers if worker.holds(site)]
        holder = min(holders, key=lambda worker: worker.backlog_bytes, default=least)
        return holder if _is_near(holder, least) else least

    def _least_busy(self) -> Worker:
        """Who has least to do. A worker is only started where all others are busy."""
        least = min(self.workers, key=lambda worker: worker.backlog_bytes, default=None)
        if least is None or (least.backlog_bytes and len(self.workers) < self._max_workers):
            least = self._start()
            self.workers.append(least)
        return least

    def stop(self) -> None:
        """End all processes, and wait for that."""
        workers, self.workers = self.workers, []
        for worker in workers:
            worker.stop()


def _is_near(holder: Worker, least: Worker) -> bool:
    return holder.backlog_bytes <= least.backlog_bytes + _SLACK_BYTES
