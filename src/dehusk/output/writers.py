"""Writers of answers: all into one stream, or each into a file of its own."""

from __future__ import annotations

import errno
import json
import os
import stat
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from io import FileIO
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final, NamedTuple, Protocol, Self

from dehusk.errors import NotWritten, UsageError
from dehusk.output.formats import Ahead, Answer, Rendered, Shape
from dehusk.output.names import FileNames
from dehusk.output.whole import clear_parts, naming, sync, write_whole

_BLOCK: Final = 1 << 16
_HOPELESS: Final = {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS}
"""Faults of the disk, not of one file: the next page would meet them too."""


class Written(NamedTuple):
    """What an earlier run has written, for a writer that is to go on behind it."""

    size: int = 0
    """Bytes of whole pages in the file; what stands behind them is half a page, and goes."""
    pages: Sequence[tuple[str | None, str | None]] = ()
    """URL and site of the pages in the folder, in the order written. One that comes again is
    written over."""


NOTHING: Final = Written()


class Writer(Protocol):
    """Writes one answer after another; what it wrote is whole, whenever the run ends."""

    @property
    def size(self) -> int:
        """Bytes in the file so far; 0 where there is no one file."""

    @property
    def shape(self) -> Shape:
        """How it writes a page."""

    def holds_next(self, url: str | None, site: str | None) -> bool:
        """True where an earlier run has written the answer on the next page, which is this one.

        It may be asked about pages ahead of those that are written, in their order. Only a writer
        that resumes can say so; UsageError where it was a run over other pages.
        """

    def prepare(self, answer: Answer, /) -> None:
        """Make what is written of a page: see `Ahead`."""

    def write(self, answer: Answer | Rendered) -> None:
        """Write one page's answer. An OSError (disk full, pipe closed) goes to the caller."""

    def sync(self) -> None:
        """Make sure that what was written outlives a power cut."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *fault: object) -> None: ...


class Sink(Protocol):
    """Where the bytes of whole pages go."""

    @property
    def size(self) -> int:
        """Bytes that are there; 0 where nobody can tell."""

    def put(self, data: bytes) -> None:
        """Write all of the bytes, at once."""

    def sync(self) -> None:
        """Make sure that they outlive a power cut."""

    def close(self) -> None:
        """Let go of it."""


class OpenStream:
    """A stream that is the caller's, as standard output is: it stays open."""

    size = 0

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def put(self, data: bytes) -> None:
        """Write the bytes and push them on; BrokenPipeError where nobody reads any more."""
        with naming("standard output"):
            self._stream.write(data)
            self._stream.flush()

    def sync(self) -> None:
        """Nothing: it is whoever reads that keeps it."""

    def close(self) -> None:
        """Nothing: all has been pushed on."""


class GrowingFile:
    """A file that holds whole pages only.

    It is not written under another name and renamed at the end: a run over a crawl takes hours,
    and what it had written when it was killed should be there. A page of which only a part could
    be written (disk full, interrupted) is taken back.
    """

    def __init__(self, path: Path, size: int = 0, file: FileIO | None = None) -> None:
        self._path = path
        # Without a buffer: after a failed write a buffer would try again when it is closed.
        self._file = file or path.open("r+b" if size else "wb", buffering=0)
        self._can_take_back = stat.S_ISREG(os.fstat(self._file.fileno()).st_mode)
        self.size = size
        self._take_back()

    def put(self, data: bytes) -> None:
        """Write all of the bytes, or none."""
        rest = memoryview(data)
        try:
            with naming(self._path):
                while rest:
                    rest = rest[self._file.write(rest) :]
        except BaseException:  # Ctrl-C too: no half page may stay
            self._take_back()
            raise
        self.size += len(data)

    def _take_back(self) -> None:
        # Where even this fails, the caller is better served by the first fault.
        if self._can_take_back:
            with suppress(OSError):
                self._file.truncate(self.size)
                self._file.seek(self.size)

    def sync(self) -> None:
        """Have the disk write it down. A pipe cannot."""
        if self._can_take_back:
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class WrittenLines:
    """The JSON lines of an earlier run over the same sources; none where there is no file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.size = _whole_size(path)
        """Bytes of whole lines; what stands behind them is half a page, and goes."""
        self._left = self.size
        self._file = path.open("rb") if self.size else None

    def holds_next(self, url: str | None) -> bool:
        """True while there are lines, and the next one is on this page.

        Raises UsageError where it is on another one: the file is of another run.
        """
        if self._file is None:
            return False
        line = self._file.readline()
        self._left -= len(line)
        try:
            record = json.loads(line)
            is_own = isinstance(record, dict) and record["url"] == url
        except (ValueError, KeyError):
            is_own = False
        if not is_own:
            raise UsageError(f"cannot continue {self._path}: it was written for other pages")
        if self._left <= 0:
            self.close()
        return True

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()
        self._file = None


def _whole_size(path: Path) -> int:
    """The bytes of a file up to the end of its last whole line; 0 where there is none."""
    if not path.is_file():
        return 0
    with path.open("rb") as file:
        end = file.seek(0, 2)
        while end:
            start = max(0, end - _BLOCK)
            file.seek(start)
            cut = file.read(end - start).rfind(b"\n")
            if cut >= 0:
                return start + cut + 1
            end = start
    return 0


class StreamWriter:
    """Writes pages one behind another, each whole and at once: others may be reading."""

    def __init__(
        self,
        sink: Sink,
        shape: Shape,
        *,
        earlier: WrittenLines | None = None,
    ) -> None:
        self.shape = shape
        self._ahead = Ahead(shape.data)
        self.prepare = self._ahead.prepare
        self._earlier = earlier
        self._sink = sink
        self._is_first = not sink.size

    def holds_next(self, url: str | None, site: str | None) -> bool:
        """True where the next of an earlier run's lines is there, which must be on this page."""
        del site
        return self._earlier is not None and self._earlier.holds_next(url)

    def write(self, answer: Answer | Rendered) -> None:
        """Write one page's answer."""
        data = self._ahead.take(answer)
        if data is not None:
            self._sink.put(self.shape.behind(data, is_first=self._is_first))
            self._is_first = False

    @property
    def size(self) -> int:
        """Bytes in the file."""
        return self._sink.size

    def sync(self) -> None:
        """Make sure that what was written outlives a power cut."""
        self._sink.sync()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *fault: object) -> None:
        if self._earlier is not None:
            self._earlier.close()
        if self.shape.is_packed and not self._sink.size:
            # An empty file is no gzip file, and tools that read the output would stumble over it.
            self._sink.put(self.shape.packed(b""))
        self._sink.close()


class FolderWriter:
    """Writes a file for each page, under another name first: a file that is there is whole."""

    size = 0

    def __init__(
        self,
        folder: Path,
        shape: Shape,
        written: Written = NOTHING,
        *,
        resumes: bool = False,
    ) -> None:
        self.shape = shape
        self._ahead = Ahead(shape.data)
        self.prepare = self._ahead.prepare
        self._resumes = resumes
        self._named: deque[PurePosixPath] = deque()
        self._folder = folder
        self._names = FileNames(shape.format.row.suffix)
        self._position = len(written.pages)
        self._known = {
            page: self._names.next_name(*page, number)
            for number, page in enumerate(written.pages, 1)
        }
        self._unsynced: list[Path] = []
        self.last_name: str | None = None
        """The file of the last page, below the folder; None where it got none."""
        clear_parts(folder)

    def holds_next(self, url: str | None, site: str | None) -> bool:
        """True where the file of the next page is there, from an earlier run."""
        if not self._resumes:
            return False
        # A page keeps the name that it gets here, written or not: names depend on those before.
        self._position += 1
        name = self._names.next_name(url, site, self._position)
        path = self._folder / name
        # A power cut may leave a file without its bytes.
        if path.is_file() and path.stat().st_size > 0:
            return True
        self._named.append(name)
        return False

    def write(self, answer: Answer | Rendered) -> None:
        """Write one page's answer; NotWritten if its file cannot be made, though others may."""
        self.last_name = None
        named = self._named.popleft() if self._named else None
        self._position += named is None
        data = self._ahead.take(answer)
        if data is None:
            return
        name = named or self._known.get((answer.url, answer.site))
        name = name or self._names.next_name(answer.url, answer.site, self._position)
        try:
            write_whole(self._folder / name, data, self._folder)
        except UnicodeError as fault:
            raise NotWritten(
                answer.url, f"{self._folder / name}: no file of that name is possible here"
            ) from fault
        except OSError as fault:
            if fault.errno in _HOPELESS:
                raise
            reason = f"cannot write {self._folder / name}: {fault.strerror or fault}"
            raise NotWritten(answer.url, reason) from fault
        self.last_name = str(name)
        self._unsynced.append(self._folder / name)

    def sync(self) -> None:
        """Have the disk write down the files since the last time, and their names."""
        for path in self._unsynced:
            for place in (path, path.parent):
                sync(place)
        self._unsynced.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *fault: object) -> None:
        """Nothing is open."""
