"""One writer to a store at a time: a lock that dies with its process."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO

from dehusk.errors import StateError, StoreLocked


class WriterLock:
    """Held from when it is made until it is released, or the process ends, however it ends.

    SQLite before 3.51.3 can corrupt its log of writes when two connections move it into the file at
    once, so it is not enough that SQLite locks each write. The lock is a file beside the store, not
    the store's own: closing that a second time would let go of SQLite's locks on it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path.with_name(path.name + "-lock")
        self._file: IO[bytes] | None = None
        while self._file is None:
            try:
                file = self._path.open("ab")
            except OSError as fault:
                raise StateError(f"{self._path}: {fault.strerror}") from fault
            if not _take(file):
                file.close()
                raise StoreLocked(f"{path}: another process writes to it; only one can at a time")
            # Its last holder may have taken the file away between opening and locking.
            if _is_there(self._path, file):
                self._file = file
            else:
                file.close()

    def release(self) -> None:
        """Let others write."""
        if self._file is not None:
            with suppress(OSError):
                self._path.unlink()
            self._file.close()
            self._file = None


def _is_there(path: Path, file: IO[bytes]) -> bool:
    """True where the open file is the one of that name."""
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


if sys.platform == "win32":
    import msvcrt

    def _take(file: IO[bytes]) -> bool:
        """Lock the open file; False where somebody else has."""
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _take(file: IO[bytes]) -> bool:
        """Lock the open file; False where somebody else has."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
