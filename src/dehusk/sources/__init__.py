"""Pages out of what a user names: files, folders, archives, records, standard input and the web.

Each kind of source is one row of `KINDS`: how it is known, how it is read, which extra it needs. To
add one: a module that reads it, a row, and its line in docs/sources.md.
"""

from __future__ import annotations

import io
import os
import re
import stat
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, Final

from msgspec import Struct
from msgspec.structs import replace

from dehusk.errors import MissingExtra, SourceError, UsageError
from dehusk.page.kinds import text_as_html
from dehusk.page.page import Page
from dehusk.page.patterns import pattern
from dehusk.page.urls import site_of
from dehusk.settings import CrawlSettings, SourceSettings
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
    HTML_SUFFIXES,
    count_files,
    file_url,
    folder_names,
    read_folder,
    read_page,
    saved_archive,
)
from dehusk.sources.items import Failure
from dehusk.sources.parquet import check_parquet, read_parquet
from dehusk.sources.records import (
    first_lines,
    is_record,
    read_lines,
    read_records,
    starts_record,
)

__all__ = [
    "Failure",
    "Read",
    "check_saved",
    "count_pages",
    "fetching",
    "is_web",
    "names_of",
    "read",
    "read_pages",
    "rereadable",
]

Items = Iterator[Page | Failure]
Fetch = Callable[[Sequence[str]], Items]
"""Gives the page at each URL, in their order."""
Read = Callable[[Counter[str] | None], Items]
"""Gives all pages in order, and counts what there is beside them, as `read_pages` does."""

_STDIN: Final = "-"
_STDIN_NAME: Final = "stdin"
"""What errors call standard input, and the site of a stream's pages where nothing names one."""
_WEB: Final = pattern(r"https?://", re.IGNORECASE)
_HOST: Final = pattern(r"(?:[\w-]{1,63}\.){1,9}[a-z]{2,24}(?=[:/]|\Z)", re.IGNORECASE)
"""How an address begins whose https:// was forgotten."""
_LOCAL: Final = pattern(
    r"(?:localhost(?=[:/])|(?:\d{1,3}\.){3}\d{1,3}|\[[\da-f:.]+\])(?::\d{1,5})?(?=/|\Z)",
    re.IGNORECASE,
)
"""The same of a server without a name of its own, which mostly has no certificate."""
_MAX_COUNTED: Final = 10_000
"""Pages that are counted before the first is read: more would keep the user waiting for it."""
_BLOCK_BYTES: Final = 1 << 18


class _Source(Struct, frozen=True):
    """A source that exists, and how it is to be read. Standard input and the web have no path."""

    path: Path | None
    kind: Kind
    settings: SourceSettings
    stdin: BinaryIO | None
    left_out: Counter[str]
    redirects: dict[str, str]
    folder: str
    """The site of its pages where neither they nor their URLs name one."""
    web: Items
    """The pages of all sources that are web addresses, in order."""

    @property
    def name(self) -> str:
        """What errors call the source."""
        return str(self.path or _STDIN_NAME)

    @property
    def url(self) -> str | None:
        """The URL of the page, where the source is one; a stream has no name worth keeping."""
        if self.settings.url or self.path is None or self.kind is STREAM:
            return self.settings.url
        return file_url(self.path.name, self.folder)

    @contextmanager
    def open(self) -> Iterator[ByteStream]:
        """Its bytes, as they are. Raises SourceError."""
        if self.path is not None:
            with open_packed(self.path, self.name) as stream:
                yield stream
            return
        if self.stdin is None and sys.stdin is None:
            raise SourceError("standard input is closed")
        stdin = self.stdin or sys.stdin.buffer
        # A pipe is read as it fills: `read` would wait for a whole block of pages.
        yield ByteStream(self.name, getattr(stdin, "read1", stdin.read))

    def check_one(self) -> None:
        """Raise UsageError for a source that is not one page, where there is the URL of one."""
        if self.settings.url:
            raise UsageError(
                f"--url is the address of one page, but {self.name} holds pages with their own"
            )

    def archive(self, packed: ByteStream) -> Items:
        """Its pages, where it is an archive."""
        self.check_one()
        from dehusk.sources.warc import (  # noqa: PLC0415  a file needs none of it
            is_archive,
            read_archive,
        )

        packing = found_compression(packed)
        stated = named_compression(self.path.name) if self.path else None
        if Compression.XZ in (packing, stated):
            packed, packing = unpack(packed, stated), None
        elif packing is None and not is_archive(packed, None):
            # One whose first bytes are damaged is read as its name says: others may be whole.
            packing = stated
        return read_archive(
            packed, packing, self.folder, self.settings, self.left_out, self.redirects
        )

    def unpacked(self, packed: ByteStream) -> ByteStream:
        """Its plain bytes."""
        return unpack(packed, named_compression(self.path.name) if self.path else None)

    def page(self, stream: io.BufferedIOBase, first: bytes = b"") -> Items:
        """All of a stream as one page, or none where it is empty."""
        site = site_of(self.settings.url, None, self.folder, self.settings)
        item = read_page(stream, self.url, site, self.settings, first)
        if isinstance(item, Page) and not item.html:
            self.left_out["empty source"] += 1
        else:
            yield item

    def records(self, lines: Iterator[bytes]) -> Items:
        """The page of each line."""
        self.check_one()
        return read_records(lines, self.name, self.folder, self.settings)


def _read_archive(source: _Source) -> Items:
    with source.open() as packed:
        yield from source.archive(packed)


def _read_wacz(source: _Source) -> Items:
    from dehusk.sources.warc import read_wacz  # noqa: PLC0415

    return read_wacz(Path(source.name), source.folder, source.settings, source.left_out)


def _read_records(source: _Source) -> Items:
    with source.open() as packed:
        buffered = io.BufferedReader(source.unpacked(packed))
        yield from source.records(read_lines(buffered, source.settings))


def _read_page(source: _Source) -> Items:
    with source.open() as packed:
        yield from source.page(io.BufferedReader(source.unpacked(packed)))


def _read_text(source: _Source) -> Items:
    for item in _read_page(source):
        yield item if isinstance(item, Failure) else text_as_html(item)


def _read_any(source: _Source) -> Items:
    """What no name tells: an archive or records by what it begins with, else one page.

    Of a file the first line must be a record; of a pipe the first byte tells.
    """
    from dehusk.sources.warc import is_archive  # noqa: PLC0415

    with source.open() as packed:
        if is_archive(packed, found_compression(packed)):
            yield from source.archive(packed)
            return
        stream = source.unpacked(packed)
        may_be_lines = starts_record(stream)
        buffered = io.BufferedReader(stream)
        lines = read_lines(buffered, source.settings)
        first = first_lines(lines) if may_be_lines else []
        if first and (source.kind is STREAM or is_record(first[-1], source.settings)):
            yield from source.records(chain(first, lines))
        else:
            yield from source.page(buffered, b"".join(first))


def _read_folder(source: _Source) -> Items:
    """The pages that were saved in a folder, then its files of HTML."""
    if archive := saved_archive(Path(source.name)):
        yield from _read_archive(replace(source, path=archive))
    yield from read_folder(Path(source.name), source.folder, source.settings)


def _read_web(source: _Source) -> Items:
    yield next(source.web)


class Kind(Struct, frozen=True):
    """A kind of source: how it is known, and how it is read."""

    read: Callable[[_Source], Items]
    suffixes: tuple[str, ...] = ()
    """What the name of its files ends in."""
    is_packed: bool = False
    """May `.gz`, `.xz` or `.zst` stand behind that?"""
    check: Callable[[], None] = lambda: None
    """Raises MissingExtra where what it needs is not installed."""
    count: Callable[[Path], int] | None = None
    """How many pages there are, where that can be told without reading them."""
    is_page: bool = False
    """Is it one page, whose URL a failure has?"""


FOLDER: Final = Kind(_read_folder, count=lambda path: count_files(path, _MAX_COUNTED))
WEB: Final = Kind(_read_web)
"""A web address: that one page."""
STREAM: Final = Kind(_read_any)
"""Standard input, or another pipe."""
UNKNOWN: Final = Kind(_read_any)
"""A file whose name says nothing."""
KINDS: Final = (
    Kind(_read_archive, (".warc", ".arc"), is_packed=True),
    Kind(_read_wacz, (".wacz",)),
    Kind(
        lambda source: read_parquet(Path(source.name), source.folder, source.settings),
        (".parquet",),
        check=check_parquet,
    ),
    Kind(_read_records, (".jsonl", ".ndjson", ".json"), is_packed=True),
    Kind(_read_page, HTML_SUFFIXES, is_packed=True, count=lambda _: 1, is_page=True),
    Kind(_read_text, (".txt",), is_packed=True, count=lambda _: 1, is_page=True),
)
"""What files are, by the end of their names."""


def read(
    *sources: str | os.PathLike[str],
    failed: Callable[[Failure], None] | None = None,
    settings: SourceSettings = SourceSettings(),
    crawl: CrawlSettings = CrawlSettings(),
) -> Iterator[Page]:
    """The pages of any source that the command line reads, in order.

    A web address is that one page, fetched as `crawl` says. What cannot be read goes to `failed`,
    or is logged without it, and reading continues. Raises UsageError at once for a source that does
    not exist, MissingExtra for one that needs an extra.
    """
    items = read_pages(names_of(sources), settings, fetch=fetching(crawl, settings))
    return _pages(items, failed or _log)


def fetching(crawl: CrawlSettings, settings: SourceSettings, **options: Any) -> Fetch:
    """What fetches pages of the web, as the crawler would; `options` as `fetch_pages` has them."""

    def fetch(urls: Sequence[str]) -> Items:
        from dehusk.sources.crawl.linked import fetch_pages  # noqa: PLC0415  needs an extra

        return fetch_pages(urls, crawl, settings, **options)

    return fetch


def _log(failure: Failure) -> None:
    import logging  # noqa: PLC0415  most runs have nothing to log

    logging.getLogger("dehusk").warning("%s", failure.error)


def _pages(items: Items, failed: Callable[[Failure], None]) -> Iterator[Page]:
    for item in items:
        if isinstance(item, Failure):
            failed(item)
        else:
            yield item


def read_pages(
    sources: Sequence[str],
    settings: SourceSettings = SourceSettings(),
    stdin: BinaryIO | None = None,
    left_out: Counter[str] | None = None,
    redirects: dict[str, str] | None = None,
    fetch: Fetch | None = None,
) -> Iterator[Page | Failure]:
    """The pages of all sources in order, and a Failure for whatever could not be read.

    A source is a file or folder of HTML, a web archive, JSON lines, `-` for standard input
    (`stdin`, where given), or a web address where there is something to `fetch` it. What a source
    holds beside pages is counted in `left_out`, by what it is; where redirects of an archive lead
    goes into `redirects`, by URL. Raises UsageError for any source that does not exist or cannot be
    one, before the first page is read.
    """
    count = Counter() if left_out is None else left_out
    led = {} if redirects is None else redirects
    found = _check(sources)
    urls = [name for name in sources if is_web(name)]
    if fetch is None:
        check_saved(sources)
    if settings.url:
        _check_one(settings.url, found)
    web = fetch(urls) if fetch and urls else iter(())
    checked = [
        _Source(path, kind, settings, stdin, count, led, folder, web)
        for (path, kind), folder in zip(found, _folders(found), strict=True)
    ]
    return chain.from_iterable(map(_read_source, checked))


def _check_one(url: str, found: Sequence[tuple[Path | None, Kind]]) -> None:
    """Raise UsageError unless there is one source, which may be one page, and it has this URL."""
    if not is_web(url):
        raise UsageError(f"--url {url}: not a web address{hint(url)}")
    kinds = [kind for _, kind in found]
    if len(kinds) != 1 or not (kinds[0].is_page or kinds[0] in (STREAM, UNKNOWN)):
        raise UsageError("--url is the address of one page: a file of HTML, or standard input")


def _folders(found: Sequence[tuple[Path | None, Kind]]) -> Iterator[str]:
    """What the folder of each source is called: the site of pages that name none."""
    own = [
        path if path is None or kind is FOLDER else None if kind is STREAM else path.parent
        for path, kind in found
    ]
    real = {folder: folder.resolve() for folder in {*own} if folder}
    names = folder_names(real.values())
    yield from (names[real[folder]] if folder else _STDIN_NAME for folder in own)


def check_saved(sources: Iterable[str]) -> None:
    """Raise UsageError for a web address, where pages must be at hand."""
    if any(map(is_web, sources)):
        raise UsageError(
            "a page of the web must be saved first: `dehusk clean URL --save FILE`, and for a whole"
            " site `dehusk crawl URL --save FILE`"
        )


def is_web(source: str) -> bool:
    """True for a source that is a web address."""
    return _WEB.match(source) is not None


def names_of(sources: Sequence[str | os.PathLike[str]]) -> list[str]:
    """Sources as text. Raises UsageError for a list of them, and for what is no path."""
    for source in sources:
        if not isinstance(source, str | os.PathLike):
            raise UsageError(
                f"a SOURCE is text or a path, not {type(source).__name__}; name several one after"
                " the other (`*sources`)"
            )
    return [os.fspath(source) for source in sources]


def count_pages(sources: Sequence[str]) -> int | None:
    """How many pages there are to read; None where only reading tells, or for more than 10,000.

    Raises UsageError.
    """
    total = 0
    for path, kind in _check(sources):
        if path is None or kind.count is None:
            return None
        total += kind.count(path)
        if total > _MAX_COUNTED:
            return None
    return total


def _check(sources: Sequence[str]) -> list[tuple[Path | None, Kind]]:
    """Where each source is, and of what kind. Raises UsageError."""
    if sum(source == _STDIN for source in sources) > 1:
        raise UsageError("`-` is standard input, which can be read only once")
    return [(None, STREAM) if source == _STDIN else _check_path(source) for source in sources]


def _check_path(source: str) -> tuple[Path | None, Kind]:
    """What a source is, by its name and by what is there. Raises UsageError."""
    if not source:
        raise UsageError("an empty SOURCE; the current folder is `.`")
    if is_web(source):
        return None, WEB
    path = Path(source)
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as fault:
        reason = getattr(fault, "strerror", None) or fault
        raise UsageError(f"{source}: {reason}{hint(source)}") from fault
    if stat.S_ISDIR(mode):
        return path, FOLDER
    check_supported(path.name)
    kind = _kind_of_name(path.name) or (UNKNOWN if stat.S_ISREG(mode) else STREAM)
    kind.check()
    return path, kind


def hint(source: str) -> str:
    """What the user may have meant by a name; nothing where a file has it."""
    if os.path.exists(source):  # noqa: PTH110  a name may be none that a path can have
        return ""
    if "://" in source:
        return "" if is_web(source) else "; of addresses only http:// and https:// are read"
    if _LOCAL.match(source):
        return f"; did you mean http://{source} ?"
    if not (host := _HOST.match(source)):
        return ""
    name = unpacked_name(host[0])
    is_file_name = name != host[0].lower() or _kind_of_name(name) or name.endswith(".husk")
    return "" if is_file_name else f"; did you mean https://{source} ?"


def _kind_of_name(name: str) -> Kind | None:
    """What a file is, by the end of its name; None where that says nothing."""
    whole, plain = name.lower(), unpacked_name(name)
    kinds = (kind for kind in KINDS if (plain if kind.is_packed else whole).endswith(kind.suffixes))
    return next(kinds, None)


def _read_source(source: _Source) -> Items:
    """The pages of one source, and a last Failure where it is damaged."""
    try:
        yield from source.kind.read(source)
    except (SourceError, MissingExtra) as fault:
        url = source.url if source.kind.is_page else None
        yield Failure(url, site_of(None, None, source.folder, source.settings), fault)


@contextmanager
def rereadable(
    sources: Sequence[str],
    settings: SourceSettings = SourceSettings(),
    stdin: BinaryIO | None = None,
) -> Iterator[Read]:
    """A function that reads the pages of all sources, as often as it is called.

    Standard input is first read to its end, into a temporary file that goes with the block. Raises
    UsageError for another pipe, which can be read only once, and as `read_pages` does.
    """
    for source in sources:
        path = Path(source)
        if is_web(source):
            raise UsageError(
                f"{source}: read twice, it would be fetched twice; save it first (--save FILE)"
            )
        if source != _STDIN and path.exists() and not (path.is_file() or path.is_dir()):
            raise UsageError(
                f"{source}: a pipe can be read only once; send it to standard input (-), or save it"
            )
    read_pages(sources, settings)  # Refuses at once what is no source.
    if _STDIN not in sources:
        yield lambda left_out: read_pages(sources, settings, None, left_out)
        return
    if stdin is None and sys.stdin is None:
        raise UsageError("standard input is closed")
    from tempfile import TemporaryFile  # noqa: PLC0415  seldom

    with TemporaryFile() as spool:
        given = stdin or sys.stdin.buffer
        # `read` waits for a whole block, and hears Ctrl-C only then.
        some = getattr(given, "read1", given.read)
        while block := some(_BLOCK_BYTES):
            spool.write(block)

        def read(left_out: Counter[str] | None = None) -> Iterator[Page | Failure]:
            spool.seek(0)
            yield from read_pages(sources, settings, spool, left_out)

        yield read
