"""A synthetic web archive, made as it is read: whole pages of the sample sites, at real sizes."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from itertools import chain, cycle, islice
from random import Random
from typing import Final

from dehusk_bench.samples import KINDS, sample_site

_SITE_PAGES: Final = 40
_MEDIAN_KB: Final = 100
"""Kilobytes of the median page, a round number: the pages behind the speed figures in the README
have 145. Sizes spread as a log-normal distribution does."""
_SPREAD: Final = 0.8
_MAX_KB: Final = 1000
_WORDS: Final = 300
"""Different words in the scripts that bring a page to its size: it packs to a fifth then, as pages
do."""


def sample_pages(count: int) -> Iterator[tuple[str, bytes]]:
    """URL and HTML of so many pages, the same on every run; scripts bring them to their size."""
    dice = Random(1)  # noqa: S311  nothing secret
    words = [f"{dice.getrandbits(32):x}" for _ in range(_WORDS)]
    sites = (
        sample_site(kind, pages=_SITE_PAGES, seed=seed, lang="en")
        for seed in (1, 2)
        for kind in KINDS
    )
    samples = cycle(chain.from_iterable(sites))
    for number, sample in enumerate(islice(samples, count)):
        html = sample.page.html
        data = html.encode("utf-8", "replace") if isinstance(html, str) else html
        size = min(1000 * _MAX_KB, int(1000 * _MEDIAN_KB * dice.lognormvariate(0, _SPREAD)))
        filling = " ".join(dice.choices(words, k=max(0, size - len(data)) // 9))
        script = f"<script>var data = '{filling}';</script>".encode()
        url = f"https://site-{number % 97}.example/{number}"
        yield url, data.replace(b"</head>", script + b"</head>", 1)


def records(count: int) -> Iterator[bytes]:
    """The records of an archive of so many pages: request, response and metadata of each."""
    for url, html in sample_pages(count):
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"
        head += b"Server: sample\r\nVary: Accept-Encoding\r\nContent-Length: %d\r\n\r\n" % len(html)
        request = b"GET / HTTP/1.1\r\nHost: sample\r\nUser-Agent: sample\r\nAccept: */*\r\n\r\n"
        fields = "application/http; msgtype="
        yield _record("request", f"{fields}request", url, request)
        yield _record("response", f"{fields}response", url, head + html)
        yield _record("metadata", "application/warc-fields", url, b"fetchTimeMs: 100\r\n")


def _record(kind: str, content_type: str, url: str, block: bytes) -> bytes:
    """One record with the fields that crawlers write."""
    name = f"{hash_of(url + kind):032x}"
    header = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n"
        f"WARC-Record-ID: <urn:uuid:{name}>\r\nContent-Length: {len(block)}\r\n"
        f"Content-Type: {content_type}\r\nWARC-IP-Address: 192.0.2.1\r\n"
        f"WARC-Target-URI: {url}\r\nWARC-Payload-Digest: sha1:{'A' * 32}\r\n\r\n"
    )
    return header.encode("ascii") + block + b"\r\n\r\n"


def hash_of(text: str) -> int:
    """A number for the text, the same on every run."""
    return int.from_bytes(text.encode("utf-8")[-16:], "big")


_HELD: Final = 280
"""Pages of which the endless archive is made over and over again: one sample site of each kind."""


class EndlessArchive:
    """A gzipped archive of so many plain bytes that is made as it is read, and never held."""

    def __init__(self, plain_bytes: int, on_read: Callable[[int], None]) -> None:
        plain = list(records(_HELD))
        self._members = cycle([(len(each), gzip.compress(each, 6)) for each in plain])
        self._left = plain_bytes
        self._on_read = on_read

    def read1(self, size: int) -> bytes:  # noqa: ARG002  records come whole
        """The next record; none at the end."""
        if self._left <= 0:
            return b""
        plain, packed = next(self._members)
        self._left -= plain
        self._on_read(self._left)
        return packed

    read = read1
