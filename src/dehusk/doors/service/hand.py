"""Work that takes a while, done beside the loop that answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

_Found = TypeVar("_Found")


class Hand:
    """A thread that does one thing after another, in the order they were asked for.

    One, as nothing that it works with can be used by two at a time. It ends with the process,
    whatever it is at: somebody who wants to stop does not wait for a page of 5 MB.
    """

    def __init__(self) -> None:
        self._jobs: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()
        Thread(target=self._work, daemon=True).start()

    async def do(self, act: Callable[[], _Found]) -> _Found:
        """What the act gives, or raises. Left undone if whoever asked goes before it begins."""
        job: Future[_Found] = Future()
        self._jobs.put((job, act))
        return await asyncio.wrap_future(job)

    def _work(self) -> None:
        while True:
            job, act = self._jobs.get()
            if not job.set_running_or_notify_cancel():
                continue
            try:
                job.set_result(act())
            except Exception as fault:  # noqa: BLE001 - raised again where it was asked for
                job.set_exception(fault)
