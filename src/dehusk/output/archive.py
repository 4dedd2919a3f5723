"""Pages as they came from the web, in a web archive that grows record by record."""

from __future__ import annotations

import gzip
import os
import re
import stat
import sys
import zlib
from collections.abc import Iterable
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import Final, Self

from dehusk.errors import UsageError
from dehusk.output.warc import Exchange, new_record_id, response, warcinfo
from dehusk.output.writers import GrowingFile
from dehusk.settings import SAVED, USER_AGENT

_PACKED: Final = ".warc.gz"
_ARCHIVES: Final = (".warc", _PACKED)
_OTHERS: Final = (".warc.zst", ".warc.xz", ".wacz")
_LOOKED_AT: Final = 4096
"""Bytes in which the first record of an archive says what it is."""
_RECORD_ID: Final = re.compile(
    rb"WARC/1\.1\r\nWARC-Type: warcinfo\r\nWARC-Record-ID: ([^\r\n]+)\r\n"
)


def archive_path(target: str) -> Path:
    """The file for `--save`: what ends in .warc or .warc.gz, else one in the folder of that name.

    Raises UsageError.
    """
    path, name = Path(target), target.lower()
    is_other = path.is_file() and not name.endswith(_ARCHIVES)
    if not target or is_other or name.endswith(_OTHERS):
        raise UsageError(f"--save {target}: name a folder, or a file ending in .warc or .warc.gz")
    if not name.endswith(_ARCHIVES) or path.is_dir():
        path /= SAVED
    return path


class Archive:
    """A WARC file that holds whole records only, whenever the run ends. Use with `with`.

    It is there, and locked, from the start; where no page comes it goes again. Each record is
    packed by itself where its name says so. What is there already is left as it is, unless its
    first record has the `record_id`: that archive is gone on with behind its first `size` bytes,
    what else it holds goes; without a size it is begun anew when the first page comes. Raises
    UsageError. An OSError, such as a full disk, goes to the caller; the records before are whole.
    """

    def __init__(
        self,
        path: Path,
        user_agent: str = USER_AGENT,
        *,
        record_id: str | None = None,
        size: int = 0,
    ) -> None:
        self.path = path
        self.record_id = record_id or new_record_id()
        """Of the first record: by it the archive is known again."""
        self._user_agent = user_agent
        self._size = size
        self._sink: GrowingFile | None = None
        self._is_new = not os.path.lexists(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = open(path, "r+b", buffering=0, opener=_opened)  # noqa: SIM115
        except (OSError, ValueError) as fault:
            reason = getattr(fault, "strerror", None) or fault
            raise UsageError(f"cannot save to {path}: {reason}") from fault
        try:
            self._check(is_known=record_id is not None)
            if size:
                self._sink = GrowingFile(path, size, self._file)
        except BaseException:
            self._close()
            raise

    def _check(self, *, is_known: bool) -> None:
        """Raise UsageError for a file that may not be written to. From here on it is locked."""
        if not _lock(self._file, self.path):
            self._is_new = False
            raise UsageError(f"--save {self.path}: another run saves to it; choose another name")
        found = os.fstat(self._file.fileno())
        if not (stat.S_ISREG(found.st_mode) or stat.S_ISCHR(found.st_mode)):
            raise UsageError(f"--save {self.path}: it exists, and is not a file")
        if found.st_size and _first_record(self._file, self.path) != self.record_id:
            known = "it is not the archive of this crawl" if is_known else "it is there already"
            raise UsageError(f"--save {self.path}: {known}; choose another name")
        if self._size > found.st_size:
            raise UsageError(
                f"cannot go on saving to {self.path}: it is gone, or shorter than it was left;"
                " --fresh starts over"
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *fault: object) -> None:
        self._close()

    def _close(self) -> None:
        # While it is locked, so that no other run takes it to be there.
        if self._is_new and not os.fstat(self._file.fileno()).st_size:
            with suppress(OSError):
                self.path.unlink()
        self._file.close()

    @property
    def size(self) -> int:
        """Bytes of whole records."""
        return self._sink.size if self._sink else self._size

    def add(self, answers: Iterable[Exchange]) -> None:
        """Write the records of what a server answered, all of them or none."""
        data = [response(answer) for answer in answers]
        if self._sink is None:
            data.insert(0, warcinfo(self.path.name, self._user_agent, self.record_id))
            self._sink = GrowingFile(self.path, 0, self._file)
        is_packed = self.path.name.lower().endswith(_PACKED)
        self._sink.put(b"".join(gzip.compress(x, 6, mtime=0) if is_packed else x for x in data))

    def sync(self) -> None:
        """Make sure that what was written outlives a power cut."""
        if self._sink is not None:
            self._sink.sync()


def _opened(name: str, flags: int) -> int:
    """The file, made where it is not there, and otherwise not yet touched."""
    return os.open(name, flags | os.O_CREAT, 0o666)


def _lock(file: FileIO, path: Path) -> bool:
    """Take the file for this run; False where another run has it, or has just removed it."""
    if sys.platform != "win32":
        import fcntl  # noqa: PLC0415  not everywhere

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # Some disks of other machines have no locks.
            return True
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except OSError:
        return False


def _first_record(file: FileIO, path: Path) -> str | None:
    """The name of an archive's first record; None where it is no archive."""
    file.seek(0)
    head = file.read(_LOOKED_AT)
    if path.name.lower().endswith(_PACKED):
        try:
            head = zlib.decompressobj(31).decompress(head, _LOOKED_AT)
        except zlib.error:
            return None
    found = _RECORD_ID.match(head)
    return found[1].decode("ascii", "replace") if found else None
