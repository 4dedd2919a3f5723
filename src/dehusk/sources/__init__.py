"""Pages out of what a user names: files, folders, archives, records and standard input."""

from __future__ import annotations

import io
import re
import stat
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO, Final

from dehusk.errors import MissingExtra, SourceError, UsageError
from dehusk.page.page import Page
from dehusk.settings import SiteBy, SourceSettings
from dehusk.sources.compression import (
    ByteStream,
    Compression,
    check_supported,
    found_compression,
    named_compression,
    open_packed,
    unpack,
    unpacked_name,
)
from dehusk.sources.folders import (
    file_url,
    find_files,
    folder_name,
    is_html_name,
    read_folder,
    read_page,
)
from dehusk.sources.parquet import check_parquet, read_parquet
from dehusk.sources.records import BYTE_ORDER_MARK, is_record, read_lines, read_records
from dehusk.sources.settings import DEFAULTS, Failure
from dehusk.sources.sites import site_of
from dehusk.sources.warc import is_warc, read_warc
from dehusk.sources.warc.wacz import read_wacz

__all__ = ["Failure", "SiteBy", "SourceSettings", "count_pages", "is_web", "read_pages"]

_STDIN: Final = "-"
_STDIN_NAME: Final = "stdin"
"""What errors call standard input, and the site of a stream's pages where nothing names one."""
_RECORD_SUFFIXES: Final = (".jsonl", ".ndjson", ".json")
_WARC_SUFFIX: Final = ".warc"
_WACZ_SUFFIX: Final = ".wacz"
_PARQUET_SUFFIX: Final = ".parquet"
_WEB: Final = re.compile(r"https?://", re.IGNORECASE)
_HOST: Final = re.compile(r"(?:[\w-]{1,63}\.){1,9}[a-z]{2,24}(?=[:/]|\Z)", re.IGNORECASE)
"""How an address begins whose https:// was forgotten."""
_SUFFIXES: Final = (*_RECORD_SUFFIXES, _WARC_SUFFIX, _WACZ_SUFFIX, _PARQUET_SUFFIX, ".husk")
_SNIFFED: Final = 1024
"""How far the first byte that is not white space is looked for."""
_MAX_COUNTED: Final = 10_000
"""Pages that are counted before the first is read: more would keep the user waiting for it."""


class _Kind(Enum):
    """What a source turned out to be."""

    STREAM = auto()
    """Standard input or a pipe: records if it begins with `{`, an archive if with `WARC/`, else
    one page."""
    FOLDER = auto()
    WARC = auto()
    WACZ = auto()
    PARQUET = auto()
    RECORDS = auto()
    PAGE = auto()
    UNKNOWN = auto()
    """A file whose name says nothing: an archive or records by its first line, else one page."""


@dataclass(frozen=True, slots=True)
class _Source:
    """A source that exists: where it is, and what it is. Standard input has no path."""

    path: Path | None
    kind: _Kind

    @property
    def name(self) -> str:
        """What errors call the source."""
        return str(self.path or _STDIN_NAME)

    @property
    def url(self) -> str | None:
        """The URL of the page, where the source is one; a stream has no name worth keeping."""
        return file_url(self.path.name) if self.path and not self._is_stream else None

    @property
    def folder(self) -> str:
        """The site of its pages where neither they nor their URLs name one."""
        return folder_name(self.path.parent) if self.path and not self._is_stream else _STDIN_NAME

    @property
    def _is_stream(self) -> bool:
        return self.kind is _Kind.STREAM


def read_pages(
    sources: Sequence[str],
    settings: SourceSettings = DEFAULTS,
    stdin: BinaryIO | None = None,
    left_out: Counter[str] | None = None,
) -> Iterator[Page | Failure]:
    """The pages of all sources in order, and a Failure for whatever could not be read.

    A source is a file or folder of HTML, a web archive, JSON lines, or `-` for standard input
    (`stdin`, where given). What a source holds beside pages is counted in `left_out`, by what it
    is. Raises UsageError for any source that does not exist or cannot be one, before the first
    page is read.
    """
    checked = _check_sources(sources)
    count = Counter() if left_out is None else left_out
    return (item for source in checked for item in _read_source(source, settings, stdin, count))


def is_web(source: str) -> bool:
    """True for a source that is a web address, to be crawled."""
    return _WEB.match(source) is not None


def count_pages(sources: Sequence[str]) -> int | None:
    """How many pages there are to read; None where only reading tells, or for more than 10,000.

    Raises UsageError.
    """
    checked = _check_sources(sources)
    total = 0
    for source in checked:
        if source.path and source.kind is _Kind.FOLDER:
            files = (found for found in find_files(source.path) if isinstance(found, str))
            total += sum(1 for _ in islice(files, _MAX_COUNTED + 1))
        elif source.kind is _Kind.PAGE:
            total += 1
        else:
            return None
        if total > _MAX_COUNTED:
            return None
    return total


def _check_sources(sources: Sequence[str]) -> list[_Source]:
    """Each source with what it is. Raises UsageError."""
    if sum(source == _STDIN for source in sources) > 1:
        raise UsageError("`-` is standard input, which can be read only once")
    return [_check_source(source) for source in sources]


def _check_source(source: str) -> _Source:
    """What a source is, by its name and by what is there. Raises UsageError."""
    if source == _STDIN:
        return _Source(None, _Kind.STREAM)
    if not source:
        raise UsageError("a SOURCE without a name; the current folder is `.`")
    if is_web(source):
        raise UsageError(f"{source}: only `dehusk clean` crawls; save the pages first")
    path = Path(source)
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as fault:
        reason = getattr(fault, "strerror", None) or fault
        raise UsageError(f"{source}: {reason}{_hint(source)}") from fault
    if stat.S_ISDIR(mode):
        return _Source(path, _Kind.FOLDER)
    check_supported(path.name)
    return _Source(path, _kind_of_file(path, mode))


def _hint(source: str) -> str:
    """What the user may have meant by a name that is no file."""
    if "://" in source:
        return "; of addresses only http:// and https:// are crawled"
    if not (host := _HOST.match(source)):
        return ""
    name = unpacked_name(host[0])
    is_file_name = name != host[0].lower() or is_html_name(name) or name.endswith(_SUFFIXES)
    return "" if is_file_name else f"; did you mean https://{source} ?"


def _kind_of_file(path: Path, mode: int) -> _Kind:
    """What a file is, by its name. Raises MissingExtra."""
    name = unpacked_name(path.name)
    if name.endswith(_WARC_SUFFIX):
        return _Kind.WARC
    if path.name.lower().endswith(_WACZ_SUFFIX):
        return _Kind.WACZ
    if path.name.lower().endswith(_PARQUET_SUFFIX):
        check_parquet()
        return _Kind.PARQUET
    if name.endswith(_RECORD_SUFFIXES):
        return _Kind.RECORDS
    if is_html_name(name):
        return _Kind.PAGE
    return _Kind.UNKNOWN if stat.S_ISREG(mode) else _Kind.STREAM


def _read_source(
    source: _Source, settings: SourceSettings, stdin: BinaryIO | None, left_out: Counter[str]
) -> Iterator[Page | Failure]:
    """The pages of one source, and a last Failure where it is damaged."""
    try:
        if source.path is None:
            if stdin is None and sys.stdin is None:
                raise SourceError("standard input is closed")
            given = stdin or sys.stdin.buffer
            # A pipe is read as it fills: `read` would wait for a whole block of pages.
            stream = ByteStream(source.name, getattr(given, "read1", given.read))
            yield from _read_packed(stream, source, settings, left_out)
        elif source.kind is _Kind.FOLDER:
            yield from read_folder(source.path, settings)
        elif source.kind is _Kind.WACZ:
            yield from read_wacz(source.path, source.folder, settings, left_out)
        elif source.kind is _Kind.PARQUET:
            yield from read_parquet(source.path, source.folder, settings)
        else:
            with open_packed(source.path, source.name) as stream:
                yield from _read_packed(stream, source, settings, left_out)
    except (SourceError, MissingExtra) as fault:
        url = source.url if source.kind is _Kind.PAGE else None
        yield Failure(url, site_of(None, None, source.folder, settings), fault)


def _read_packed(
    packed: ByteStream, source: _Source, settings: SourceSettings, left_out: Counter[str]
) -> Iterator[Page | Failure]:
    """The pages of one file or stream, which may be packed."""
    stated = named_compression(source.path.name) if source.path else None
    found = found_compression(packed)
    is_archive = source.kind is _Kind.WARC
    if source.kind in (_Kind.STREAM, _Kind.UNKNOWN):
        is_archive = is_warc(packed, found)
    if not is_archive:
        yield from _read_stream(unpack(packed, stated), source, settings, left_out)
    elif Compression.XZ in (found, stated):
        yield from read_warc(unpack(packed, stated), None, source.folder, settings, left_out)
    else:
        # An archive whose first bytes are damaged is read as its name says: others may be whole.
        packing = found or (None if is_warc(packed, None) else stated)
        yield from read_warc(packed, packing, source.folder, settings, left_out)


def _read_stream(
    stream: ByteStream, source: _Source, settings: SourceSettings, left_out: Counter[str]
) -> Iterator[Page | Failure]:
    """The pages of one stream: of each line one, or one in all, or none where it is empty."""
    starts_record = _starts_record(stream)
    buffered = io.BufferedReader(stream)
    lines = read_lines(buffered, settings)
    first: list[bytes] = []
    is_page = source.kind is _Kind.PAGE
    if source.kind is _Kind.STREAM:
        is_page = not starts_record
    elif source.kind is _Kind.UNKNOWN:
        first = _first_lines(lines) if starts_record else []
        is_page = not first or not is_record(first[-1], settings)
    if is_page:
        site = site_of(None, None, source.folder, settings)
        item = read_page(buffered, source.url, site, settings, b"".join(first))
        if isinstance(item, Page) and not item.html:
            left_out["empty source"] += 1
        else:
            yield item
    else:
        yield from read_records(chain(first, lines), source.name, source.folder, settings)


def _starts_record(stream: ByteStream) -> bool:
    """True where the first character that is not white space is `{`."""
    size = 4
    while size <= _SNIFFED:
        head = stream.head(size)
        start = head.removeprefix(BYTE_ORDER_MARK).lstrip()
        if start or len(head) < size:
            return start.startswith(b"{")
        size *= 2
    return False


def _first_lines(lines: Iterator[bytes]) -> list[bytes]:
    """The first line that is not blank, and the blank ones before it."""
    first: list[bytes] = []
    for line in lines:
        first.append(line)
        if line.strip():
            break
    return first
