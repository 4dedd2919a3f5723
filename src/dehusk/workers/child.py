"""A worker process as its parent sees it: messages to it, and what it says as events."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from subprocess import PIPE, Popen
from threading import Thread
from typing import IO, Final

from dehusk.workers.messages import BUFFER_BYTES, Reply, read, replies_from_parts

_PIPE_BYTES: Final = 1 << 20
"""What a pipe holds, where the system lets us say: most pages whole, so that the one who sends
need not wait for the one who reads."""
_ONE_THREAD: Final = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
"""The processes share the processors among themselves; and each thread of numpy would reserve
memory that counts against a limit."""
_SECRETS: Final = frozenset({"DEHUSK_TOKEN"})
"""What has pages of strangers in its hands is told no secret."""


@dataclass(frozen=True, slots=True)
class Said:
    """Replies of a process; none of them says that it has begun."""

    process: Process
    replies: list[Reply]


@dataclass(frozen=True, slots=True)
class Ended:
    """A process that says nothing more, and is gone."""

    process: Process


Event = Said | Ended


class Process:
    """A process that judges pages, and a thread each way. All that it says is posted."""

    def __init__(self, setup: bytes, post: Callable[[Event], object]) -> None:
        inherited = {name: value for name, value in os.environ.items() if name not in _SECRETS}
        # In a session of its own: Ctrl-C on a terminal is for whoever reads and writes.
        self._popen = Popen(
            [sys.executable, "-m", "dehusk.workers.process"],
            bufsize=BUFFER_BYTES, stdin=PIPE, stdout=PIPE, env=inherited | _ONE_THREAD,
            start_new_session=True,
        )  # fmt: skip
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        for pipe in (self._popen.stdin, self._popen.stdout):
            _widen(pipe)
        self._outbox: SimpleQueue[bytes | None] = SimpleQueue()
        self._post = post
        self._threads = [
            Thread(target=self._write, args=(self._popen.stdin,), daemon=True),
            Thread(target=self._read, args=(self._popen.stdout,), daemon=True),
        ]
        for thread in self._threads:
            thread.start()
        self.send(setup)

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._popen.pid

    def send(self, message: bytes) -> None:
        """Have a message sent; nobody waits for that."""
        self._outbox.put(message)

    def _write(self, stdin: IO[bytes]) -> None:
        with suppress(OSError, ValueError), stdin:  # Its end is told by the other thread.
            while (message := self._outbox.get()) is not None:
                stdin.write(message)
                stdin.flush()

    def _read(self, stdout: IO[bytes]) -> None:
        try:
            with suppress(OSError, ValueError, MemoryError), stdout:
                while (message := read(stdout)) is not None:
                    self._post(Said(self, replies_from_parts(*message)))
        finally:  # Whatever it said: who is not told of its end waits for ever.
            self.kill()
            if hasattr(os, "waitid"):
                # Only waited for: its number is not another's before `status` is asked for.
                with suppress(ChildProcessError):
                    os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
            self._outbox.put(None)
            self._post(Ended(self))

    def kill(self) -> None:
        """End the process at once; what reads it says so."""
        with suppress(ProcessLookupError):
            self._popen.kill()

    def status(self) -> int:
        """How it ended: minus the signal where it was killed."""
        return self._popen.wait()

    def stop(self) -> None:
        """End the process, and wait until all that belongs to it is gone."""
        self.kill()
        for thread in self._threads:
            thread.join()
        self.status()


def _widen(pipe: IO[bytes]) -> None:
    """Have a pipe hold more, where the system can do that."""
    with suppress(ImportError, AttributeError, OSError):
        import fcntl  # noqa: PLC0415  not everywhere

        fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
