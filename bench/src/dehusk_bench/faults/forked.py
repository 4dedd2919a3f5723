"""Worker processes that are forked: an interpreter that starts costs more than a round."""

from __future__ import annotations

import gc
import os
import signal
from typing import IO

from dehusk.workers.process import run
from dehusk_bench.faults import shim

_FILES = 1024


class Forked:
    """What a pool of workers asks of `subprocess.Popen`, without a new interpreter.

    The process holds no file of its parent's, as one that was started: a lock would outlive it.
    """

    def __init__(self, command: object, **more: object) -> None:
        del command, more
        theirs, to_them = os.pipe()
        from_them, ours = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            _be_worker(theirs, ours)
        os.close(theirs)
        os.close(ours)
        self.stdin: IO[bytes] = os.fdopen(to_them, "wb")
        self.stdout: IO[bytes] = os.fdopen(from_them, "rb")
        self._status: int | None = None

    def kill(self) -> None:
        """End the process at once."""
        if self._status is None:
            os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> int:
        """How it ended: minus the signal where it was killed."""
        if self._status is None:
            _, status = os.waitpid(self.pid, 0)
            self._status = os.waitstatus_to_exitcode(status)
        return self._status


def _be_worker(stdin: int, stdout: int) -> None:
    """Answer messages until they end; never returns."""
    status = 1
    try:
        shim.end()
        gc.freeze()  # Files of the parent's that are garbage must not close ours of their number.
        os.setsid()
        os.dup2(stdin, 0)
        os.dup2(stdout, 1)
        os.closerange(3, _FILES)
        run()
        status = 0
    finally:
        os._exit(status)
