"""URLs out of sitemaps: XML, its index files, or plain lists; packed or not."""

from __future__ import annotations

import zlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final
from xml.parsers import expat

from dehusk.errors import FetchError, PageTooLarge
from dehusk.sources.crawl.decoding import Packed
from dehusk.sources.crawl.fetch import Response

MAX_SITEMAP_BYTES: Final = 52_428_800
"""What the sitemap protocol allows for a file, unpacked."""
_MAX_URLS: Final = 50_000
"""What it allows in a file."""
_MAX_FILES: Final = 100
_MAX_URL: Final = 2048
_GZIP_MAGIC: Final = b"\x1f\x8b"
_STEP: Final = 1 << 16


@dataclass(slots=True)
class Sitemap:
    """What a sitemap file names: pages, and further sitemaps."""

    pages: list[str] = field(default_factory=list)
    sitemaps: list[str] = field(default_factory=list)
    fault: str = ""
    """Why the file was not read to its end; what came before is there."""


class _Stop(Exception):
    """Raised inside the parser to end it."""


async def find_urls(
    starts: Sequence[str], fetch: Callable[[str, int], Awaitable[Response]], max_urls: int
) -> tuple[list[str], list[str]]:
    """The URLs of pages in these sitemaps and all that they lead to, and what went wrong.

    A sitemap that is not there is no fault. At most 100 files are read.
    """
    waiting, seen = list(starts), set(starts)
    urls: dict[str, None] = {}
    faults: list[str] = []
    files = 0
    while waiting and files < _MAX_FILES and len(urls) < max_urls:
        address = waiting.pop(0)
        files += 1
        try:
            answer = await fetch(address, MAX_SITEMAP_BYTES)
        except (FetchError, PageTooLarge) as error:
            faults.append(str(error))
            continue
        if answer.status != HTTPStatus.OK:
            continue
        found = read_sitemap(answer.body)
        if found.fault:
            faults.append(f"{address}: {found.fault}")
        urls.update(dict.fromkeys(found.pages))
        waiting += [name for name in found.sitemaps if name not in seen]
        seen.update(found.sitemaps)
    return list(urls)[:max_urls], faults


def read_sitemap(body: bytes) -> Sitemap:
    """What a sitemap file names. HTML, which many servers send instead, names nothing."""
    try:
        text = _unpacked(body)
    except (zlib.error, OverflowError) as fault:
        return Sitemap(fault=f"damaged: {fault}")
    head = text[:1000].lstrip(b"\xef\xbb\xbf \t\r\n")
    if head.startswith(b"<"):
        return Sitemap() if b"<html" in head.lower() else _read_xml(text)
    lines = (line.strip() for line in text.splitlines()[:_MAX_URLS])
    return Sitemap([url for line in lines if (url := _usable(line.decode("utf-8", "replace")))])


def _unpacked(body: bytes) -> bytes:
    """The file as it is, or what gzip makes of it. Raises OverflowError beyond the limit."""
    if not body.startswith(_GZIP_MAGIC):
        return body
    decoder, pieces, size = Packed(is_gzip=True), [], 0
    for piece in decoder.feed(body):
        pieces.append(piece)
        size += len(piece)
        if size > MAX_SITEMAP_BYTES:
            raise OverflowError(f"more than {MAX_SITEMAP_BYTES} bytes unpacked")
    return b"".join(pieces)


def _read_xml(text: bytes) -> Sitemap:
    """The `<loc>` of each `<url>` and `<sitemap>`, whatever their namespace.

    The parser knows no files and no network here, and a document that declares entities is not
    read on: they are what bombs are made of, and no sitemap needs them.
    """
    found = Sitemap()
    path: list[str] = []
    words: list[str] = []

    def start(name: str, _: object) -> None:
        path.append(name.rpartition(" ")[2])
        words.clear()

    def end(_: str) -> None:
        if path[-1] == "loc" and len(path) > 1 and path[-2] in ("url", "sitemap"):
            kept = found.pages if path[-2] == "url" else found.sitemaps
            if url := _usable("".join(words).strip()):
                kept.append(url)
            if len(kept) >= _MAX_URLS:
                raise _Stop(f"more than {_MAX_URLS} URLs")
        path.pop()

    def stop(*_: object) -> None:
        raise _Stop("declares entities")

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = words.append
    parser.EntityDeclHandler = stop
    try:
        for at in range(0, len(text), _STEP):
            parser.Parse(text[at : at + _STEP], at + _STEP >= len(text))
            if len(path) > 10 or sum(map(len, words)) > _STEP:
                raise _Stop("not a sitemap")
    except (_Stop, expat.ExpatError, ValueError, LookupError) as fault:
        found.fault = str(fault)
    return found


def _usable(url: str) -> str:
    """The URL if it is one of the web and not too long, else nothing."""
    is_web = url[:8].lower().startswith(("http://", "https://"))
    return url if is_web and len(url) <= _MAX_URL else ""
