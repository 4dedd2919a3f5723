"""Writers of answers: all into one stream, or each into a file of its own."""

from __future__ import annotations

import errno
import gzip
import os
import re
import stat
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final, Protocol, Self

from dehusk.errors import NotWritten
from dehusk.output.formats import Answer, Format, encode, render
from dehusk.output.names import FileNames

_SUFFIXES: Final = {
    Format.JSONL: ".json",
    Format.MARKDOWN: ".md",
    Format.TEXT: ".txt",
    Format.HTML: ".html",
    Format.WARC: ".warc",
}
_SEPARATORS: Final = {Format.MARKDOWN: "\n", Format.TEXT: "\f"}
"""What stands between two pages in one stream."""
_HOPELESS: Final = {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS}
"""Faults of the disk, not of one file: the next page would meet them too."""
_COMMANDS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Control characters: a page could give a terminal orders with them."""


class Writer(Protocol):
    """Writes one answer after another; what it wrote is whole, whenever the run ends."""

    @property
    def format(self) -> Format:
        """The format it writes."""

    def write(self, answer: Answer) -> None:
        """Write one page's answer. An OSError (disk full, pipe closed) goes to the caller."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *fault: object) -> None: ...


class Sink(Protocol):
    """Where the bytes of whole pages go."""

    def put(self, data: bytes) -> None:
        """Write all of the bytes, at once."""

    def close(self) -> None:
        """Let go of it."""


class OpenStream:
    """A stream that is the caller's, as standard output is: it stays open."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def put(self, data: bytes) -> None:
        """Write the bytes and push them on; BrokenPipeError where nobody reads any more."""
        self._stream.write(data)
        self._stream.flush()

    def close(self) -> None:
        """Nothing: all has been pushed on."""


class GrowingFile:
    """A file that holds whole pages only.

    It is not written under another name and renamed at the end: a run over a crawl takes hours,
    and what it had written when it was killed should be there. A page of which only a part could
    be written (disk full, interrupted) is taken back.
    """

    def __init__(self, path: Path) -> None:
        # Without a buffer: after a failed write a buffer would try again when it is closed.
        self._file = path.open("wb", buffering=0)
        self._can_take_back = stat.S_ISREG(os.fstat(self._file.fileno()).st_mode)
        self._size = 0

    def put(self, data: bytes) -> None:
        """Write all of the bytes, or none."""
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except BaseException:
            self._take_back()
            raise
        self._size += len(data)

    def _take_back(self) -> None:
        # Where even this fails, the caller is better served by the first fault.
        if self._can_take_back:
            with suppress(OSError):
                self._file.truncate(self._size)
                self._file.seek(self._size)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class StreamWriter:
    """Writes pages one behind another, each whole and at once: others may be reading."""

    def __init__(
        self,
        sink: Sink,
        output_format: Format,
        piece_tokens: int | None = None,
        *,
        is_terminal: bool = False,
        is_packed: bool = False,
    ) -> None:
        self.format = output_format
        self._piece_tokens = piece_tokens
        self._is_packed = is_packed
        self._sink = sink
        self._is_terminal = is_terminal
        self._separator = ""

    def write(self, answer: Answer) -> None:
        """Write one page's answer."""
        written = render(answer, self.format, self._piece_tokens)
        if written is None:
            return
        if self._is_terminal:
            written = _COMMANDS.sub("\ufffd", written)
        data = encode(self._separator + written)
        # A member for each page: what is there can be unpacked, whenever the run ends.
        self._sink.put(gzip.compress(data, mtime=0) if self._is_packed else data)
        self._separator = _SEPARATORS.get(self.format, "")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *fault: object) -> None:
        self._sink.close()


def write_whole(path: Path, data: bytes) -> None:
    """Write a file under another name first, so that it is whole once it is there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".dehusk-{os.getpid()}.part")
    try:
        part.write_bytes(data)
        part.replace(path)
    except BaseException:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise


class FolderWriter:
    """Writes a file for each page, under another name first: a file that is there is whole."""

    def __init__(
        self, folder: Path, output_format: Format, piece_tokens: int | None = None
    ) -> None:
        self.format = output_format
        self._piece_tokens = piece_tokens
        self._folder = folder
        self._names = FileNames(_SUFFIXES[output_format])
        self._position = 0

    def write(self, answer: Answer) -> None:
        """Write one page's answer; NotWritten if its file cannot be made, though others may."""
        self._position += 1
        written = render(answer, self.format, self._piece_tokens)
        if written is None:
            return
        name = self._names.next_name(answer.url, answer.site, self._position)
        try:
            write_whole(self._folder / name, encode(written))
        except UnicodeError as fault:
            raise NotWritten(answer.url, f"{self._folder / name}: no such name here") from fault
        except OSError as fault:
            if fault.errno in _HOPELESS:
                raise
            reason = f"cannot write {self._folder / name}: {fault.strerror or fault}"
            raise NotWritten(answer.url, reason) from fault

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *fault: object) -> None:
        """Nothing is open."""
