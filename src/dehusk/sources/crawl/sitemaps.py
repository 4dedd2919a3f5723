"""Sitemaps: what a file names, and which file is read next within one budget for each host."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from http import HTTPStatus
from typing import Any, Final
from xml.parsers import expat

from dehusk.errors import PageError
from dehusk.sources.crawl.fetch import Packed, Response

MAX_SITEMAP_BYTES: Final = 52_428_800
"""What the sitemap protocol allows for a file, unpacked."""
_MAX_URLS: Final = 50_000
"""What it allows in a file."""
_MAX_FILES: Final = 100
"""Files of a host that are read, and that wait."""
_MAX_BYTES: Final = MAX_SITEMAP_BYTES
_BYTES_PER_URL: Final = 500
"""Bytes of all files of a host, unpacked: one file of the largest size, or so many for each URL
that is wanted, with its date and its images."""
_MAX_S: Final = 120.0
"""Seconds that all requests for a host's sitemaps take together: four that nobody answers."""
_BUSY: Final = (408, 425, 429)
"""Statuses below 500 that may be others the next time."""
_MAX_URL: Final = 2048
_GZIP_MAGIC: Final = b"\x1f\x8b"
_STEP: Final = 1 << 16


@dataclass(slots=True)
class Budget:
    """What the sitemaps of one host may still cost, and those that wait."""

    urls: int
    bytes: int
    seconds: float
    files: int = 0
    """Files that were asked for."""
    waiting: list[str] = field(default_factory=list)
    known: list[str] = field(default_factory=list)
    """Every file that was ever let wait."""

    def add(self, addresses: Iterable[str]) -> bool:
        """Let files wait that were not named before; False where there are too many of them."""
        for address in addresses:
            if address not in self.known:
                if len(self.known) >= _MAX_FILES:
                    return False
                self.known.append(address)
                self.waiting.append(address)
        return True

    @property
    def max_bytes(self) -> int:
        """Bytes that the next file may have."""
        return min(self.bytes, MAX_SITEMAP_BYTES)


class Sitemaps:
    """The sitemaps of the hosts that a crawl starts at, one file at a time, each host in turn."""

    def __init__(self, max_urls: int) -> None:
        """`max_urls` are the pages that the sitemaps of a host may name."""
        self._max_urls = max_urls
        self._hosts: dict[str, Budget] = {}
        self.warnings: list[str] = []
        self.is_cut = False
        """True where a host's sitemaps name more pages than are wanted."""
        """What went wrong."""

    def __len__(self) -> int:
        return sum(len(host.waiting) for host in self._hosts.values())

    def add(self, origin: str, addresses: Iterable[str]) -> None:
        """Let the sitemaps of a host wait."""
        host = self._hosts.setdefault(origin, Budget(self._max_urls, self._max_bytes, _MAX_S))
        self._name(origin, host, addresses)

    @property
    def _max_bytes(self) -> int:
        return max(_MAX_BYTES, _BYTES_PER_URL * self._max_urls)

    def take(self) -> tuple[str, Budget, str] | None:
        """The next file: the host that names it, what it may cost, its address; None for none."""
        hosts = ((b.files, origin) for origin, b in self._hosts.items() if b.waiting)
        first = min(hosts, default=None)
        if first is None:
            return None
        budget = self._hosts[first[1]]
        budget.files += 1
        return first[1], budget, budget.waiting.pop(0)

    def read(self, origin: str, answer: Response | PageError) -> list[str]:
        """The pages that a file of the host names; its sitemaps wait from now on.

        A sitemap that is not there is no fault; one that the server fails to give is.
        """
        budget = self._hosts[origin]
        found = Sitemap()
        if isinstance(answer, PageError):
            self.warnings.append(str(answer))
        elif answer.status == HTTPStatus.OK:
            found = read_sitemap(answer.body, budget.max_bytes, budget.urls)
            if found.fault:
                self.warnings.append(f"{answer.url}: {found.fault}")
            self._name(origin, budget, found.sitemaps)
        elif answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR or answer.status in _BUSY:
            self.warnings.append(f"{answer.url}: status {answer.status}")
        budget.urls -= len(found.pages)
        budget.bytes -= found.size
        self.is_cut |= budget.urls <= 0
        self._check(origin, budget)
        return found.pages

    def _name(self, origin: str, budget: Budget, addresses: Iterable[str]) -> None:
        if not budget.add(addresses):
            self._stop(origin, f"there are more than {_MAX_FILES} files")

    def _check(self, origin: str, budget: Budget) -> None:
        """Let no more files wait where the host's budget is used up."""
        if not budget.waiting:
            return
        if budget.urls <= 0:
            budget.waiting = []  # Enough is known: nothing went wrong.
        elif budget.bytes <= 0 or budget.seconds <= 0:
            budget.waiting = []
            took = "longer than" if budget.seconds <= 0 else "more than"
            unit = f"{_MAX_S:g} s" if budget.seconds <= 0 else f"{self._max_bytes:,} bytes"
            self._stop(origin, f"all together {took} {unit}")

    def _stop(self, origin: str, why: str) -> None:
        warning = f"{origin}: not all sitemaps are read: {why}"
        if warning not in self.warnings:
            self.warnings.append(warning)

    def facts(self) -> dict[str, Any]:
        """How far the sitemaps are read, as plain data; {} once none waits."""
        return {origin: asdict(budget) for origin, budget in self._hosts.items() if budget.waiting}

    def restore(self, facts: Mapping[str, Any]) -> None:
        """Be as an earlier run left it."""
        self._hosts = {origin: Budget(**budget) for origin, budget in facts.items()}


@dataclass(slots=True)
class Sitemap:
    """What a sitemap file names: pages, and further sitemaps."""

    pages: list[str] = field(default_factory=list)
    sitemaps: list[str] = field(default_factory=list)
    fault: str = ""
    """Why the file was not read to its end; what came before is there."""
    size: int = 0
    """Bytes, unpacked."""


class _Stop(Exception):
    """Raised inside the parser to end it."""


def read_sitemap(
    body: bytes, max_bytes: int = MAX_SITEMAP_BYTES, max_urls: int = _MAX_URLS
) -> Sitemap:
    """What a sitemap file names. HTML, which many servers send instead, names nothing."""
    text, fault = _unpacked(body, max_bytes)
    if fault:
        return Sitemap(fault=f"damaged: {fault}", size=len(text))
    head = text[:1000].lstrip(b"\xef\xbb\xbf \t\r\n")
    max_urls = min(max_urls, _MAX_URLS)
    if head.startswith(b"<"):
        found = Sitemap() if b"<html" in head.lower() else _read_xml(text, max_urls)
    else:
        lines = (line.strip() for line in text.splitlines()[:max_urls])
        named = (_usable(line.decode("utf-8", "replace")) for line in lines)
        found = Sitemap([url for url in named if url])
    found.size = len(text)
    return found


def _unpacked(body: bytes, max_bytes: int) -> tuple[bytes, str]:
    """The file as it is, or what gzip makes of it; and why that is not all of it, if it is not."""
    if not body.startswith(_GZIP_MAGIC):
        return body, ""
    text, fault = bytearray(), ""
    try:
        for piece in Packed(is_gzip=True).feed(body):
            text += piece
            if len(text) > max_bytes:
                fault = f"more than {max_bytes} bytes unpacked"
                break
    except zlib.error as damage:
        fault = str(damage)
    return bytes(text), fault


def _read_xml(text: bytes, max_urls: int) -> Sitemap:
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
            if len(kept) >= (max_urls if path[-2] == "url" else _MAX_FILES + 1):
                raise _Stop("" if max_urls < _MAX_URLS else f"more than {_MAX_URLS} URLs")
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
