"""What a record says of its page: its HTTP head, and its body unpacked."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final, NamedTuple

from dehusk.errors import DamagedRecord, MissingExtra, NotHtml, PageTooLarge
from dehusk.sources.compression import INFLATE_FAULTS, ZstdUnpacker, new_inflater
from dehusk.sources.warc.framing import Fields, parse_fields

_STATUS: Final = re.compile(rb"HTTP/[0-9](?:\.[0-9])? +([0-9]{3})")
_EMPTY_LINE: Final = re.compile(rb"\n\r?\n")
_MAX_HEADER: Final = 1 << 18
_CHARSET: Final = re.compile(rb"""charset\s{0,9}=\s{0,9}["']?([^\s"';,]{1,40})""", re.IGNORECASE)
_HTML: Final = frozenset((b"text/html", b"application/xhtml+xml"))
_HTML_START: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?\s{0,999}<(?:!doctype\s+html|html|head|body|title|meta)[\s>]", re.IGNORECASE
)
_CHUNK: Final = re.compile(rb"[ \t]{0,9}([0-9a-fA-F]{1,15})[ \t]{0,9}(?:;[^\r\n]{0,999})?\r?\n")
_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_STEP: Final = 512
"""Packed bytes given at a time to decoders that cannot be told to stop: 16 MB at the worst."""


class Response(NamedTuple):
    """An HTTP response: its status, its header's fields, and where in the block its body begins."""

    status: int
    fields: Fields
    start: int


def parse_response(block: memoryview) -> Response | None:
    """The response that a record's block begins with; None where it begins with none."""
    status = _STATUS.match(block)
    end = _EMPTY_LINE.search(block, 0, _MAX_HEADER)
    if not status or not end:
        return None
    return Response(int(status[1]), parse_fields(bytes(block[: end.end()])), end.end())


@lru_cache(maxsize=256)
def is_html(stated: bytes) -> bool | None:
    """Does a `Content-Type` say HTML? None where it says nothing."""
    kind = stated.partition(b";")[0].strip().lower()
    return kind in _HTML if kind else None


def looks_like_html(body: bytes) -> bool:
    """Does a body that nobody named a type for begin as a page does?"""
    return _HTML_START.match(body) is not None


@lru_cache(maxsize=256)
def charset_of(stated: bytes) -> str | None:
    """The charset in a `Content-Type`."""
    found = _CHARSET.search(stated)
    return found[1].decode("ascii", "replace") if found else None


class Body(NamedTuple):
    """A body, decoded; `is_whole` is false where it ends before it should."""

    data: bytes
    is_whole: bool = True


class _TooLarge(ValueError):
    """More plain bytes than allowed. Caught where the limit is known."""


def decode(raw: memoryview, fields: Fields, max_bytes: int) -> Body:
    """The body that a response's bytes hold.

    Archives often hold bodies decoded, under headers that still call them packed or chunked: what
    does not begin so is taken as it is. Raises PageTooLarge, DamagedRecord for a body that cannot
    be unpacked, NotHtml for an encoding that nobody knows, and MissingExtra.
    """
    body = Body(bytes(raw), _stated_length(fields) <= len(raw))
    if b"content-encoding" not in fields and b"transfer-encoding" not in fields:
        return body
    codings = [*_codings(fields, b"content-encoding"), *_codings(fields, b"transfer-encoding")]
    if b"chunked" in codings:
        codings.remove(b"chunked")
        body = _join_chunks(body.data)
    try:
        for coding in reversed(codings):
            body = _unpack(body, coding, max_bytes)
    except _TooLarge as fault:
        raise PageTooLarge(None, f"more than {max_bytes} bytes, decompressed") from fault
    except LookupError as fault:
        raise NotHtml(None, f"its body is compressed in an unknown way ({fault})") from fault
    except (*INFLATE_FAULTS, OSError) as fault:
        raise DamagedRecord(None, f"its body cannot be decompressed ({fault})") from fault
    return body


def _codings(fields: Fields, name: bytes) -> list[bytes]:
    """The codings that a header names, in the order they were applied."""
    stated = fields.get(name, b"").lower().split(b",")
    return [coding for word in stated if (coding := word.strip()) not in (b"", b"identity")]


def _stated_length(fields: Fields) -> int:
    """The bytes that the header says the body has; 0 where it does not say, or not clearly."""
    stated = fields.get(b"content-length", b"")
    return int(stated) if stated.isdigit() and len(stated) < 19 else 0


def _join_chunks(raw: bytes) -> Body:
    """The chunks of a body put together; the body as it is where it does not begin with one."""
    parts: list[bytes] = []
    at = 0
    while found := _CHUNK.match(raw, at):
        size = int(found[1], 16)
        at = found.end() + size
        parts.append(raw[found.end() : at])
        if size == 0 or at > len(raw):
            return Body(b"".join(parts), is_whole=size == 0)
        at += 2 if raw.startswith(b"\r\n", at) else raw.startswith(b"\n", at)
    return Body(b"".join(parts), is_whole=False) if parts else Body(raw)


def _unpack(body: Body, coding: bytes, limit: int) -> Body:
    """The body with one coding undone."""
    data = body.data
    unpack = _UNPACKERS[coding]
    try:
        plain, is_whole = unpack(data, limit)
    except (*INFLATE_FAULTS, OSError):
        if data.lstrip()[:1] == b"<":
            return body
        raise
    return Body(plain, body.is_whole and is_whole)


def _gunzip(data: bytes, limit: int) -> tuple[bytes, bool]:
    """The plain bytes of all members, and whether the last is whole."""
    if not data.startswith(_GZIP):
        return data, True
    parts: list[bytes] = []
    while data.startswith(_GZIP):
        decoder = new_inflater(31)
        parts.append(decoder.decompress(data, limit + 1))
        limit -= len(parts[-1])
        if limit < 0:
            raise _TooLarge
        if not decoder.eof:
            return b"".join(parts), False
        data = decoder.unused_data
    return b"".join(parts), True


def _inflate(data: bytes, limit: int) -> tuple[bytes, bool]:
    """The plain bytes of what is called deflate, with the header of zlib or without it."""
    has_header = len(data) > 1 and data[0] & 15 == 8 and (data[0] << 8 | data[1]) % 31 == 0
    decoder = new_inflater(15 if has_header else -15)
    plain = decoder.decompress(data, limit + 1)
    if len(plain) > limit:
        raise _TooLarge
    return plain, decoder.eof


def _unbrotli(data: bytes, limit: int) -> tuple[bytes, bool]:
    """The plain bytes of what brotli packed."""
    try:
        import brotli  # noqa: PLC0415  an extra, so it may be missing
    except ImportError as missing:
        raise MissingExtra("reading pages compressed with brotli", "warc") from missing
    decoder = brotli.Decompressor()
    try:
        plain = decoder.process(data, output_buffer_limit=limit + 1)
    except brotli.error as fault:
        raise OSError(str(fault)) from fault
    if len(plain) > limit:
        raise _TooLarge
    return plain, decoder.is_finished()


def _unzstd(data: bytes, limit: int) -> tuple[bytes, bool]:
    """The plain bytes of a zstd frame."""
    if not data.startswith(_ZSTD):
        return data, True
    frame = ZstdUnpacker().new_frame()
    parts: list[bytes] = []
    for at in range(0, len(data), _STEP):
        parts.append(frame.decompress(data[at : at + _STEP]))
        limit -= len(parts[-1])
        if limit < 0:
            raise _TooLarge
        if frame.eof:
            break
    return b"".join(parts), frame.eof


_UNPACKERS: Final[dict[bytes, Callable[[bytes, int], tuple[bytes, bool]]]] = {
    b"gzip": _gunzip,
    b"x-gzip": _gunzip,
    b"deflate": _inflate,
    b"br": _unbrotli,
    b"zstd": _unzstd,
}
