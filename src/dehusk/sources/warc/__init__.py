"""Pages out of web archives: WARC and ARC files, packed by gzip or zstd or not, and WACZ files."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from itertools import dropwhile
from pathlib import Path
from typing import Final
from urllib.parse import urljoin

from dehusk.errors import (
    DamagedRecord,
    DehuskError,
    MissingExtra,
    PageError,
    PageTooLarge,
    SourceError,
)
from dehusk.page.page import Capture, Page
from dehusk.page.urls import site_of
from dehusk.settings import SourceSettings
from dehusk.sources.compression import (
    INFLATE_FAULTS,
    ByteStream,
    Compression,
    ZstdUnpacker,
    found_compression,
    new_inflater,
    unpacked_name,
)
from dehusk.sources.items import Failure
from dehusk.sources.warc.arc import ARC, read_arc
from dehusk.sources.warc.bodies import (
    Body,
    Response,
    charset_of,
    decode,
    is_html,
    looks_like_html,
    parse_response,
)
from dehusk.sources.warc.framing import WORD, Damage, Fields, Record, Window, read_records
from dehusk.sources.warc.pieces import DICTIONARY, gzip_source, plain_source, zstd_source

__all__ = ["is_archive", "read_archive"]

_MAX_SNIFFED: Final = 1 << 18
"""Packed bytes that are looked at to see whether a stream is an archive: zstd gives nothing before
it has a block of up to 128 kB."""

_WORDS: Final = (WORD, ARC)
_MAX_WORD: Final = max(map(len, _WORDS))
_NO_HTML: Final = "responses that are no HTML"
_SOURCES: Final = {Compression.GZIP: gzip_source, Compression.ZSTD: zstd_source, None: plain_source}
_ARCHIVE: Final = "archive/"
_WARC: Final = ".warc"
_ARC: Final = ".arc"
_FAULTS: Final = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError)
"""What `zipfile` raises: RuntimeError for files that are locked, or packed in unknown ways."""
_MAX_READ: Final = 1 << 24
"""Bytes that are read at once. The list of files is, and takes some 20 times as much memory."""


def is_archive(stream: ByteStream, packing: Compression | None) -> bool:
    """Does the stream begin with a record of a WARC or an ARC file, once it is unpacked?"""
    if packing is None:
        return stream.head(_MAX_WORD).startswith(_WORDS)
    if packing is Compression.ZSTD and stream.head(len(DICTIONARY)) == DICTIONARY:
        return True
    size = 64
    while size <= _MAX_SNIFFED:
        head = stream.head(size)
        plain = _first_plain(head, packing)
        if plain is None or len(plain) >= _MAX_WORD or len(head) < size:
            return (plain or b"").startswith(_WORDS)
        size *= 2
    return False


def _first_plain(head: bytes, packing: Compression) -> bytes | None:
    """The first plain bytes of packed data; None where it is damaged, or packed by xz."""
    try:
        if packing is Compression.GZIP:
            return new_inflater(31).decompress(head, _MAX_WORD)
        return ZstdUnpacker().new_frame().decompress(head) if packing is Compression.ZSTD else None
    except (*INFLATE_FAULTS, OSError):
        return None


def read_archive(
    stream: ByteStream,
    packing: Compression | None,
    folder: str,
    settings: SourceSettings,
    left_out: Counter[str],
    redirects: dict[str, str] | None = None,
) -> Iterator[Page | Failure]:
    """The HTML pages of a web archive, and a Failure for each record that is damaged.

    Pages come from `response` records with a 2xx status and from `resource` records. Other records
    are counted in `left_out`, by what they are; where redirects lead goes into `redirects`, by URL.
    Raises SourceError where the file cannot be read on, and MissingExtra.
    """
    window = Window(_SOURCES[packing](stream.take), is_packed=packing is not None)
    # Headers and chunk sizes make a record longer than its page.
    window.has(_MAX_WORD)
    is_arc = window.data.startswith(ARC) or (
        unpacked_name(stream.name).endswith(_ARC) and not window.data.startswith(WORD)
    )
    read = read_arc if is_arc else read_records
    for item in read(window, 2 * settings.max_bytes + 1_000_000):
        error: DehuskError
        if isinstance(item, Damage):
            error = DamagedRecord(None, item.reason)
        else:
            try:
                page = _page(item, folder, settings, left_out)
                if page is None and redirects is not None:
                    redirects |= _redirect(item)
            except (PageError, MissingExtra) as fault:
                error = fault
            else:
                if page:
                    yield page
                continue
        url = _target(item.fields)
        if isinstance(error, PageError):
            error = type(error)(url, f"{stream.name}, {item.place}: {error.reason}")
        yield Failure(url, site_of(url, None, folder, settings), error)


def _target(fields: Fields) -> str | None:
    """The URL of a record. Some writers put it in angle brackets, as WARC/1.0 says by mistake."""
    written = fields.get(b"warc-target-uri", b"")
    return written.strip(b"<>").decode("utf-8", "replace") or None


def _page(
    record: Record, folder: str, settings: SourceSettings, left_out: Counter[str]
) -> Page | None:
    """The page that a record holds; None, and a count, where it holds none.

    Raises PageError, not yet with its URL, and MissingExtra.
    """
    kind = record.kind
    if kind not in (b"response", b"resource"):
        left_out[f"{kind.decode('ascii', 'replace') or 'unnamed'} records"] += 1
        return None
    fields = record.fields
    response = None
    if kind == b"response":
        response = parse_response(record.block)
        reason = _no_page(response, fields)
    else:
        reason = None if is_html(fields.get(b"content-type", b"")) else "resource records"
    if reason:
        left_out[reason] += 1
        return None
    if record.is_too_large:
        raise PageTooLarge(None, f"more than {settings.max_bytes} bytes")
    stated = (response.fields if response else fields).get(b"content-type", b"")
    body = _body(record, response, settings.max_bytes)
    if not is_html(stated) and not looks_like_html(body.data):
        left_out[_NO_HTML] += 1
        return None
    url = _target(fields)
    capture = _capture(fields, response.status if response else None, is_whole=body.is_whole)
    site = site_of(url, None, folder, settings)
    return Page(body.data, url, site, charset_of(stated), capture=capture)


def _no_page(response: Response | None, fields: Fields) -> str | None:
    """What a response is where it can be no page; None where it may be one."""
    if response is None:
        return "responses of other protocols"
    if not 200 <= response.status < 300:
        return "redirects" if 300 <= response.status < 400 else "error pages"
    stated = response.fields.get(b"content-type", b"")
    says_html = is_html(stated)
    if says_html is None:
        says_html = is_html(fields.get(b"warc-identified-payload-type", b""))
    return _NO_HTML if says_html is False else None


def _redirect(record: Record) -> dict[str, str]:
    """Where a record that holds no page leads, by its URL; nothing for one that is no redirect."""
    url, answer = _target(record.fields), None
    if record.kind == b"response":
        answer = parse_response(record.block)
    if url is None or answer is None or not 300 <= answer.status < 400:
        return {}
    location = answer.fields.get(b"location", b"").decode("utf-8", "replace")
    try:
        return {url: urljoin(url, location)} if location else {}
    except ValueError:
        return {}


def _body(record: Record, response: Response | None, max_bytes: int) -> Body:
    """The page's bytes, decoded. Raises PageError and MissingExtra."""
    if response is None:
        body = Body(bytes(record.block))
    else:
        body = decode(record.block[response.start :], response.fields, max_bytes)
    if len(body.data) > max_bytes:
        raise PageTooLarge(None, f"{len(body.data)} bytes, more than {max_bytes}")
    return body


def _capture(fields: Fields, status: int | None, *, is_whole: bool) -> Capture:
    """What the archive says of how it came to the page."""
    stated = fields.get(b"warc-truncated", b"").decode("ascii", "replace")
    segment = fields.get(b"warc-segment-number")
    cut = stated or ("segment" if segment else None) or (None if is_whole else "short")
    return Capture(
        record_id=fields.get(b"warc-record-id", b"").decode("ascii", "replace") or None,
        date=fields.get(b"warc-date", b"").decode("ascii", "replace") or None,
        truncated=cut,
        status=status,
    )


class _Bounded(io.BufferedReader):
    """A file of which nobody can read too much at once."""

    def read(self, size: int | None = -1, /) -> bytes:
        """The next bytes. BadZipFile where they are too many."""
        limit = _MAX_READ + 1
        data = super().read(limit if size is None or size < 0 else min(size, limit))
        if len(data) == limit:
            raise zipfile.BadZipFile(f"more than {_MAX_READ} bytes at once")
        return data


def read_wacz(
    path: Path, folder: str, settings: SourceSettings, left_out: Counter[str]
) -> Iterator[Page | Failure]:
    """The pages of all WARC files in a WACZ file, in the order in which it lists them.

    One whose list of files is damaged is searched for records as a damaged WARC file is: the files
    in it are there, usually as they were. Nothing is ever written. Raises SourceError.
    """
    try:
        file = _Bounded(io.FileIO(path))
    except OSError as fault:
        raise SourceError(f"{path}: {fault.strerror or fault}") from fault
    with file:
        try:
            archive = zipfile.ZipFile(file)
        except _FAULTS as fault:
            error = SourceError(f"{path}: its list of files is damaged ({fault})")
            yield Failure(None, site_of(None, None, folder, settings), error)
            file.seek(0)
            stream = ByteStream(str(path), file.read1)
            records = read_archive(stream, Compression.GZIP, folder, settings, left_out)
            # What stands before the first record was said to be damaged already.
            yield from dropwhile(lambda item: isinstance(item, Failure), records)
            return
        for entry in archive.infolist():
            if entry.filename.startswith(_ARCHIVE) and unpacked_name(entry.filename).endswith(
                _WARC
            ):
                yield from _read_entry(archive, entry, path, folder, settings, left_out)


def _read_entry(
    archive: zipfile.ZipFile,
    entry: zipfile.ZipInfo,
    path: Path,
    folder: str,
    settings: SourceSettings,
    left_out: Counter[str],
) -> Iterator[Page | Failure]:
    """The pages of one WARC file in it, and a last Failure where that cannot be read on."""
    name = f"{path}/{entry.filename}"
    try:
        with archive.open(entry) as file:
            stream = ByteStream(name, file.read)
            packing = found_compression(stream)
            yield from read_archive(stream, packing, folder, settings, left_out)
    except SourceError as fault:
        yield Failure(None, site_of(None, None, folder, settings), fault)
    except _FAULTS as fault:
        error = SourceError(f"{name}: cannot be read: {fault}")
        yield Failure(None, site_of(None, None, folder, settings), error)
