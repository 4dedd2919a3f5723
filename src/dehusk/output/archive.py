"""Pages as they came from the web, in a web archive that grows record by record."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Final, Self

from dehusk.errors import UsageError
from dehusk.output.warc import SOFTWARE, Exchange, response, warcinfo
from dehusk.output.writers import GrowingFile
from dehusk.settings import SAVED, USER_AGENT

_PACKED: Final = ".warc.gz"
_ARCHIVES: Final = (".warc", _PACKED)
_OTHERS: Final = (".warc.zst", ".warc.xz", ".wacz")
_LOOKED_AT: Final = 4096
"""Bytes in which the first record of an archive says who wrote it."""


def archive_path(target: str) -> Path:
    """The file for `--save`: what ends in .warc or .warc.gz, else one in the folder of that name.

    Raises UsageError.
    """
    path, name = Path(target), target.lower()
    if not target or name.endswith(_OTHERS):
        raise UsageError(f"--save {target}: name a folder, or a file ending in .warc or .warc.gz")
    if not name.endswith(_ARCHIVES) or path.is_dir():
        path /= SAVED
    return path


class Archive:
    """A WARC file that holds whole records only, whenever the run ends. Use with `with`.

    It is made when the first page comes, each record packed by itself where its name says so. An
    archive that is there is gone on with behind its first `size` bytes, what else it holds goes;
    without a size only one of dehusk's own may be replaced, and only with `may_replace`. Raises
    UsageError. An OSError, such as a full disk, goes to the caller; the records before are whole.
    """

    def __init__(
        self,
        path: Path,
        user_agent: str = USER_AGENT,
        *,
        size: int = 0,
        may_replace: bool = False,
    ) -> None:
        self.path = path
        self._user_agent = user_agent
        self._size = size
        self._sink: GrowingFile | None = None
        try:
            found = path.stat().st_size if os.path.lexists(path) else 0
            if size > found:
                raise UsageError(f"cannot go on saving to {path}: it is shorter than it was left")
            if found and not size and not (may_replace and _is_own(path)):
                raise UsageError(f"--save {path}: it is there already; choose another name")
            path.parent.mkdir(parents=True, exist_ok=True)
            if not os.access(path.parent, os.W_OK | os.X_OK):
                raise UsageError(f"cannot save to {path}: no permission to make files there")
            if size:
                self._sink = GrowingFile(path, size)
        except (OSError, ValueError) as fault:
            reason = getattr(fault, "strerror", None) or fault
            raise UsageError(f"cannot save to {path}: {reason}") from fault

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *fault: object) -> None:
        if self._sink is not None:
            self._sink.close()

    @property
    def size(self) -> int:
        """Bytes of whole records."""
        return self._sink.size if self._sink else self._size

    def add(self, answers: Iterable[Exchange]) -> None:
        """Write the records of what a server answered, all of them or none."""
        data = [response(answer) for answer in answers]
        if self._sink is None:
            data.insert(0, warcinfo(self.path.name, self._user_agent))
            self._sink = GrowingFile(self.path)
        is_packed = self.path.name.lower().endswith(_PACKED)
        self._sink.put(b"".join(gzip.compress(x, 6, mtime=0) if is_packed else x for x in data))

    def sync(self) -> None:
        """Make sure that what was written outlives a power cut."""
        if self._sink is not None:
            self._sink.sync()


def _is_own(path: Path) -> bool:
    """Is it an archive that dehusk has written?"""
    with path.open("rb") as file:
        head = file.read(_LOOKED_AT)
    if path.name.lower().endswith(_PACKED):
        try:
            head = zlib.decompressobj(31).decompress(head, _LOOKED_AT)
        except zlib.error:
            return False
    software = f"software: {SOFTWARE.partition('/')[0]}/".encode()
    return head.startswith(b"WARC/1.1\r\nWARC-Type: warcinfo\r\n") and software in head
