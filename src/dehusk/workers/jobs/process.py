"""One worker process: messages to it and from it, each way through a thread of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from subprocess import PIPE, Popen
from threading import Thread
from typing import IO, Final

from dehusk.workers.frames import Header, pack, read

_PIPE_BYTES: Final = 1 << 20
"""What a pipe holds, where the system lets us say: most pages whole, so that the one who sends
need not wait for the one who reads."""
_ONE_THREAD: Final = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
"""The processes share the processors among themselves."""


@dataclass(frozen=True, slots=True)
class Replied:
    """A message from a process."""

    process: WorkerProcess
    header: Header
    blobs: list[bytes]


@dataclass(frozen=True, slots=True)
class Ended:
    """A process that says nothing more: it is gone, or what it says is no message."""

    process: WorkerProcess


class WorkerProcess:
    """A process that judges pages. All that it says is put into the inbox, its end too."""

    def __init__(self, hello: Header, inbox: SimpleQueue[object]) -> None:
        # In a session of its own: Ctrl-C on a terminal is for whoever reads and writes.
        self._process = Popen(
            [sys.executable, "-m", "dehusk.workers.jobs.work"],
            stdin=PIPE, stdout=PIPE, env=os.environ | _ONE_THREAD, start_new_session=True,
        )  # fmt: skip
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        for pipe in (self._process.stdin, self._process.stdout):
            _widen(pipe)
        self._outbox: SimpleQueue[bytes | None] = SimpleQueue()
        self._inbox = inbox
        self._threads = [
            Thread(target=self._write, args=(self._process.stdin,), daemon=True),
            Thread(target=self._read, args=(self._process.stdout,), daemon=True),
        ]
        for thread in self._threads:
            thread.start()
        self.send(hello)

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def send(self, header: Header, blobs: Sequence[bytes] = ()) -> None:
        """Have a message sent; nobody waits for that."""
        self._outbox.put(pack(header, blobs))

    def _write(self, stdin: IO[bytes]) -> None:
        with suppress(OSError, ValueError), stdin:  # Its end is told by the other thread.
            while (message := self._outbox.get()) is not None:
                stdin.write(message)
                stdin.flush()

    def _read(self, stdout: IO[bytes]) -> None:
        try:
            with suppress(OSError, ValueError, MemoryError), stdout:
                while (message := read(stdout)) is not None:
                    self._inbox.put(Replied(self, *message))
        finally:  # Whatever it said: who is not told of its end waits for ever.
            self._inbox.put(Ended(self))

    def kill(self) -> None:
        """End the process at once."""
        with suppress(ProcessLookupError):
            self._process.kill()

    def stop(self) -> None:
        """End the process, and all that belongs to it."""
        self.kill()
        self._process.wait()
        self._outbox.put(None)
        for thread in self._threads:
            thread.join()


def _widen(pipe: IO[bytes]) -> None:
    """Have a pipe hold more, where the system can do that."""
    with suppress(ImportError, AttributeError, OSError):
        import fcntl  # noqa: PLC0415  not everywhere

        fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
