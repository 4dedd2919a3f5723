"""One request over HTTP: its limits, its redirects refused, its body unpacked."""

from __future__ import annotations

import asyncio
import math
import re
import ssl
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol
from urllib.parse import urljoin, urlsplit

import httpcore2

from dehusk.errors import (
    AddressRefused,
    BadRedirect,
    BadResponse,
    ConnectionFailed,
    FetchTimeout,
    NoAddress,
    PageTooLarge,
)
from dehusk.sources.crawl.addresses import Allowed, CheckedBackend, NoName

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

ACCEPTED: Final = "gzip, deflate"
"""What a server is told it may send: what can be unpacked here in steps of a known size."""
_STEP: Final = 1 << 16
"""Bytes unpacked at a time: what a bomb can make beyond the limit before it is noticed."""
_GZIP: Final = 16 + zlib.MAX_WBITS
_GZIP_MAGIC: Final = b"\x1f\x8b"
Headers = tuple[tuple[str, str], ...]

_REDIRECTS: Final = (301, 302, 303, 307, 308)
_CHARSET: Final = re.compile(r"charset\s*=\s*[\"']?([A-Za-z0-9_.:-]{1,40})", re.IGNORECASE)
_MAX_COOKIE_BYTES: Final = 4096
"""Of the cookies that are handed back to a server which insists on them: what a browser keeps."""
_KEEP_ALIVE_S: Final = 15.0
_MAX_COOKIE_ROUNDS: Final = 2


class Decoder(Protocol):
    """Unpacks a body piece by piece."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What comes out for the next bytes. Raises zlib.error for damage."""

    @property
    def is_whole(self) -> bool:
        """False where the packed data must go on."""


class Plain:
    """Bytes as they are."""

    is_whole = True

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The bytes themselves."""
        yield data


class Packed:
    """gzip, of one or more members, or deflate, with or without its header."""

    def __init__(self, *, is_gzip: bool) -> None:
        self._is_gzip = is_gzip
        self._inner = zlib.decompressobj(_GZIP if is_gzip else zlib.MAX_WBITS)
        self._has_begun = False
        self._behind = b""
        """What came behind the end and is too short to say what it is."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What the bytes unpack to, in steps. What stands behind the end is passed over."""
        data, self._behind = self._behind + data, b""
        while data:
            if self._inner.eof:
                # More members are more of the body; anything else is padding, as for browsers.
                if not self._is_gzip or not data.startswith(_GZIP_MAGIC):
                    self._behind = data if data == _GZIP_MAGIC[:1] else b""
                    return
                self._inner = zlib.decompressobj(_GZIP)
            yield self._unpack(data)
            data = self._inner.unconsumed_tail or self._inner.unused_data

    def _unpack(self, data: bytes) -> bytes:
        """The next step. Some servers call deflate what has no zlib header: tried second."""
        try:
            piece = self._inner.decompress(data, _STEP)
        except zlib.error:
            if self._is_gzip or self._has_begun:
                raise
            self._inner = zlib.decompressobj(-zlib.MAX_WBITS)
            piece = self._inner.decompress(data, _STEP)
        self._has_begun = True
        return piece

    @property
    def is_whole(self) -> bool:
        """True at the end of the packed data, and where nothing was packed at all."""
        return self._inner.eof or not self._has_begun


def make_decoder(encoding: str) -> Decoder | None:
    """What unpacks a body with this `Content-Encoding`; None for one that was not asked for."""
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return Plain()
    if name in ("gzip", "x-gzip"):
        return Packed(is_gzip=True)
    return Packed(is_gzip=False) if name == "deflate" else None


@dataclass(frozen=True, slots=True)
class Response:
    """What a server answered; the body is unpacked, and empty where it was not wanted."""

    url: str
    status: int
    headers: Headers
    body: bytes = b""
    answered_at: float = 0.0
    """When its headers came, in seconds since 1970; 0 where nobody knows."""

    def header(self, name: str) -> str:
        """The values of a header, joined by commas; empty where it is not there."""
        return ", ".join(self.values(name))

    def values(self, name: str) -> list[str]:
        """Each value of a header by itself."""
        return [value for key, value in self.headers if key == name]

    @property
    def redirect(self) -> str | None:
        """Where a redirect leads, made absolute; None for any other answer. Raises BadRedirect."""
        if self.status not in _REDIRECTS:
            return None
        written = self.values("location")
        if not written:
            raise BadRedirect(self.url, f"status {self.status} without a Location")
        try:
            target = urljoin(self.url, written[0].strip())
            is_web = urlsplit(target).scheme in ("http", "https") and urlsplit(target).hostname
        except ValueError as fault:
            raise BadRedirect(self.url, "redirected to an address that cannot be read") from fault
        if not is_web:
            raise BadRedirect(self.url, "redirected to something that is not a web address")
        return target

    @property
    def media_type(self) -> str:
        """`text/html` and the like, in lower case; empty where the server does not say."""
        return self.header("content-type").partition(";")[0].strip().lower()

    @property
    def charset(self) -> str | None:
        """The charset that the server states."""
        found = _CHARSET.search(self.header("content-type")[:500])
        return found[1] if found else None


@dataclass(frozen=True, slots=True)
class FetchSettings:
    """What a request says of itself, and what it may cost."""

    user_agent: str
    timeout_s: float = 30.0
    max_bytes: int = 20_000_000
    allow_private: tuple[str, ...] = ()
    credentials: Mapping[str, str] | None = None
    """By origin (`https://example.org`), the value of the `Authorization` header it is sent."""


class _Limit(NamedTuple):
    """How much of a body is taken, and whether more is cut off or refused."""

    max_bytes: int
    may_cut: bool


def origin_of(url: str) -> str:
    """Scheme, host and port of a URL: what robots.txt and credentials belong to."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2].lower()}"


def wants_all(response: Response) -> bool:
    """True where the server has what was asked for, whatever kind of file it is."""
    return response.status == HTTPStatus.OK


class Fetcher:
    """Asks servers, one request at a time or several; connections are kept for the next."""

    def __init__(self, settings: FetchSettings) -> None:
        self._settings = settings
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=httpcore2.default_ssl_context(),
            keepalive_expiry=_KEEP_ALIVE_S,
            network_backend=CheckedBackend(Allowed(settings.allow_private)),
        )

    async def aclose(self) -> None:
        """Close all connections."""
        await self._pool.aclose()

    async def fetch(
        self,
        url: str,
        *,
        headers: Headers = (),
        wants_body: Callable[[Response], bool] = wants_all,
        max_bytes: int | None = None,
        may_cut: bool = False,
        timeout_s: float | None = None,
    ) -> Response:
        """The answer to one GET, redirects not followed; a FetchError or PageTooLarge otherwise.

        One deadline holds for all of it. Cookies are not kept; a page that redirects to itself
        until it gets its cookie back gets it back. With `may_cut` a body that is too large is cut
        at `max_bytes`, not refused. `timeout_s` is a deadline before the usual one.
        """
        limit = _Limit(max_bytes or self._settings.max_bytes, may_cut)
        cookies = ""
        async with _typed(url, min(timeout_s or math.inf, self._settings.timeout_s)):
            for _ in range(_MAX_COOKIE_ROUNDS):
                extra = (*headers, ("Cookie", cookies)) if cookies else headers
                response = await self._ask(url, extra, wants_body, limit)
                cookies = _cookies(response)
                if not cookies or response.redirect != url:
                    return response
        raise BadRedirect(url, "redirects to itself")

    async def _ask(
        self, url: str, extra: Headers, wants_body: Callable[[Response], bool], limit: _Limit
    ) -> Response:
        """One exchange with the server."""
        request = httpcore2.Request("GET", _target(url), headers=self._headers(url, extra))
        answer = await self._pool.handle_async_request(request)
        try:
            headers = _decoded(answer.headers)
            head = Response(url, answer.status, headers, answered_at=time.time())
            if answer.status < 200:
                raise BadResponse(url, f"status {answer.status}, which was not asked for")
            return await _with_body(head, answer, limit) if wants_body(head) else head
        finally:
            await answer.aclose()

    def _headers(self, url: str, extra: Headers) -> list[tuple[bytes, bytes]]:
        """What the request says; credentials go to the origin they were given for, alone."""
        credentials = (self._settings.credentials or {}).get(origin_of(url))
        said = [
            ("Host", urlsplit(url).netloc.rpartition("@")[2]),
            ("User-Agent", self._settings.user_agent),
            ("Accept", "text/html,application/xhtml+xml;q=0.9,*/*;q=0.1"),
            ("Accept-Encoding", ACCEPTED),
            *([("Authorization", credentials)] if credentials else []),
            *extra,
        ]
        return [(name.encode("ascii"), value.encode("latin-1", "replace")) for name, value in said]


async def _with_body(head: Response, answer: httpcore2.Response, limit: _Limit) -> Response:
    """The answer with its body, which is unpacked and counted as it comes."""
    decoder = make_decoder(head.header("content-encoding"))
    if decoder is None:
        raise BadResponse(head.url, f"packed as {head.header('content-encoding')[:40]!r}")
    body = bytearray()
    try:
        async for chunk in answer.aiter_stream():
            for piece in decoder.feed(chunk):
                body += piece
                if len(body) > limit.max_bytes and limit.may_cut:
                    return replace(head, body=bytes(body[: limit.max_bytes]))
                if len(body) > limit.max_bytes:
                    raise PageTooLarge(head.url, f"more than {limit.max_bytes} bytes")
    except zlib.error as fault:
        raise BadResponse(head.url, "damaged: not compressed as its header says") from fault
    if not decoder.is_whole:
        raise BadResponse(head.url, "cut short: its compressed body ends too early")
    return replace(head, body=bytes(body))


@asynccontextmanager
async def _typed(url: str, timeout_s: float) -> AsyncIterator[None]:
    """Sets the deadline, and turns whatever the network does wrong into a FetchError."""
    try:
        async with asyncio.timeout(timeout_s):
            yield
    except AddressRefused as refused:
        raise AddressRefused(url, refused.reason) from refused
    except (TimeoutError, httpcore2.TimeoutException) as fault:
        raise FetchTimeout(url, f"no complete answer within {timeout_s:g} s") from fault
    except (httpcore2.RemoteProtocolError, httpcore2.LocalProtocolError) as fault:
        raise BadResponse(url, _phrase(fault)) from fault
    except NoName as fault:
        raise NoAddress(url, _phrase(fault)) from fault
    except (httpcore2.NetworkError, httpcore2.ProxyError, ssl.SSLError, OSError) as fault:
        raise ConnectionFailed(url, _phrase(fault)) from fault
    except (httpcore2.UnsupportedProtocol, ValueError) as fault:  # A port that is none, too.
        raise ConnectionFailed(url, "none of its addresses can be reached") from fault


_PHRASES: Final = {
    "All connection attempts failed": "nobody answers at its address",
    "illegal status line": "what came is not HTTP",
    "Receive buffer too long": "its headers have no end",
    "Server disconnected without": "the server closed the connection without an answer",
    "peer ": "cut short: the connection was closed before the end",
}
"""What a library's exception begins with, in words for people."""


def _phrase(fault: Exception) -> str:
    """What went wrong in a line; a library's exception may say nothing, or much."""
    said = " ".join(str(fault).split())[:200]
    plain = (phrase for begin, phrase in _PHRASES.items() if said.startswith(begin))
    return next(plain, said or f"the connection failed ({type(fault).__name__})")


def _target(url: str) -> httpcore2.URL:
    """The URL as the client wants it: what goes over the wire is bytes of ASCII."""
    parts = urlsplit(url)
    target = parts.path or "/"
    if parts.query:
        target += f"?{parts.query}"
    host = parts.hostname or ""
    return httpcore2.URL(
        scheme=parts.scheme.encode("ascii"),
        host=host.encode("ascii" if host.isascii() else "idna"),
        port=parts.port,
        target=target.encode("utf-8", "replace"),
    )


def _decoded(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Header names in lower case with their values."""
    return tuple((name.decode("latin-1").lower(), text.decode("latin-1")) for name, text in headers)


def _cookies(response: Response) -> str:
    """What the server's cookies look like when they are sent back; empty for none, or too many."""
    pairs = [value.partition(";")[0].strip() for value in response.values("set-cookie")]
    sent = "; ".join(pair for pair in pairs if "=" in pair)
    return sent if len(sent) <= _MAX_COOKIE_BYTES else ""
