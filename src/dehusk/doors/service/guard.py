"""Who may ask: host, origin and token are looked at first; and every request is logged."""

from __future__ import annotations

import hmac
import logging
import re
import time
from collections import Counter
from collections.abc import Iterator
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dehusk.doors.service.monitoring import Metrics, log
from dehusk.doors.service.server import Failed, say
from dehusk.doors.service.settings import ServiceSettings

_OPEN: Final = frozenset({"/", "/docs", "/health"})
"""What may be asked without a token: how to ask, and whether it is well."""
_FOREIGN: Final = frozenset({b"cross-site", b"same-site"})
"""What browsers say of a request that another origin's page has made."""
_EXTENSIONS: Final = ("chrome-extension://", "moz-extension://")
"""Origins of what the user has installed. A web page cannot claim one."""
_ONCE: Final = (b"host", b"origin", b"authorization")
"""Headers of which a second one could mean the opposite to whoever stands in between."""
_AUTHORITY: Final = re.compile(r"([a-z0-9_.-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?")
"""A host and perhaps a port, and nothing else."""
_HEADERS: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
)
_METHODS: Final = b"GET, POST, DELETE"
_ALLOWED_HEADERS: Final = b"authorization, content-type, content-encoding"


def name_of(host: str) -> str | None:
    """The name in a `Host` header, without its port; None where there is more than these."""
    found = _AUTHORITY.fullmatch(host)
    return found[1] if found else None


class Guard:
    """Lets requests through to the app, or answers them itself; counts and logs all of them."""

    def __init__(self, app: ASGIApp, settings: ServiceSettings, metrics: Metrics) -> None:
        self._app = app
        self._settings = settings
        self._metrics = metrics
        self._names = settings.known_names
        self._token = settings.token.encode() if settings.token else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        headers = dict(scope["headers"])
        origin = headers.get(b"origin", b"").decode("latin-1")
        status, size = 0, 0

        async def answer(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], *self._more(message, origin)]
            else:
                size += len(message.get("body", b""))
            await send(message)

        refused = self._refusal(scope, headers, origin)
        # HEAD is answered as GET. The server knows better, and sends no body.
        inner = {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope
        try:
            if refused is None:
                await self._app(inner, receive, answer)
            else:
                await say(answer, refused)
        finally:
            seconds = time.perf_counter() - started
            route = getattr(inner.get("route"), "path", None) or "other"
            self._metrics.count(scope["method"], route, status or 499, seconds)
            # The query may name pages, which are nobody else's business: left out.
            log(
                logging.INFO, "request", method=scope["method"], path=scope["path"],
                status=status or 499, ms=round(seconds * 1000, 2), bytes=size,
            )  # fmt: skip

    def _refusal(self, scope: Scope, headers: dict[bytes, bytes], origin: str) -> Failed | None:
        """Why the request is answered here; None where it may pass. Status 204 for a preflight."""
        names = Counter(name for name, _ in scope["headers"])
        if any(names[name] > 1 for name in _ONCE):
            return Failed(400, "bad_request", "a header that says who asks came twice")
        host = headers.get(b"host", b"").decode("latin-1").lower()
        if name_of(host) not in self._names:
            return Failed(421, "host", "this service does not go by that name")
        # A browser sends no origin with an image's address, which could be one that loads a page.
        is_foreign = headers.get(b"sec-fetch-site") in _FOREIGN and scope["path"] not in _OPEN
        if (origin and not self._may_ask(origin, host)) or (is_foreign and not origin):
            return Failed(403, "origin", "this origin may not ask")
        if scope["method"] == "OPTIONS" and b"access-control-request-method" in headers:
            return Failed(204, "preflight", "")
        if self._token and scope["path"] not in _OPEN:
            given = headers.get(b"authorization", b"")
            if not hmac.compare_digest(given, b"Bearer " + self._token):
                return Failed(401, "token", "a token is needed: Authorization: Bearer …")
        return None

    def _may_ask(self, origin: str, host: str) -> bool:
        """True for the service's own pages, for origins that were named, and for extensions."""
        is_own = origin in (f"http://{host}", f"https://{host}")
        return is_own or origin in self._settings.origins or origin.startswith(_EXTENSIONS)

    def _more(self, message: Message, origin: str) -> Iterator[tuple[bytes, bytes]]:
        """Headers that every answer has."""
        given = {name for name, _ in message["headers"]}
        yield from (header for header in _HEADERS if header[0] not in given)
        if message["status"] == 401:
            yield b"www-authenticate", b"Bearer"
        if message["status"] == 408:
            yield b"connection", b"close"  # What comes late would be read as the next request.
        if message["status"] == 503:
            yield b"retry-after", b"1"
        if origin in self._settings.origins:
            yield b"access-control-allow-origin", origin.encode("latin-1")
            yield b"vary", b"origin"
            if message["status"] == 204:
                yield b"access-control-allow-methods", _METHODS
                yield b"access-control-allow-headers", _ALLOWED_HEADERS
