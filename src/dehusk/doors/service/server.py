"""HTTP below the application: sockets, patience with clients, failures, and the end."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable, Sequence
from typing import Any, Final

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from dehusk.errors import StateError, StoreFull, UsageError

_BACKLOG: Final = 2048
"""Connections that wait to be taken: uvicorn's own number."""

_MIN_READ_BYTES: Final = 1000
"""Bytes a second that a client must read of an answer that waits for it: a modem's."""

_MAX_HEADERS: Final = 200
"""Headers of a request, with those behind its body; browsers send 20."""

_UNREADABLE: Final = (
    "the request cannot be read: it is no HTTP, its head is too long, or its url is not"
    " percent-encoded, as curl -G --data-urlencode url=… does it"
)


class Failed(Exception):
    """A request that is not answered as it wished: status, code for programs, words for people."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message

    def body(self) -> bytes:
        """The answer, as JSON."""
        error = {"code": self.code, "message": self.message}
        return json.dumps({"error": error}, ensure_ascii=False).encode("utf-8", "replace")


def not_kept(fault: StateError) -> Failed:
    """What is said where the memory cannot do what is asked: no room, or damage."""
    return Failed(507 if isinstance(fault, StoreFull) else 500, "not_kept", str(fault))


async def say(send: Send, failed: Failed) -> None:
    """Answer a request that reaches no application."""
    body = b"" if failed.status == 204 else failed.body()
    headers = [(b"content-length", str(len(body)).encode())] if body else []
    headers += [(b"content-type", b"application/json")] if body else []
    await send({"type": "http.response.start", "status": failed.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def listen(host: str, port: int) -> socket.socket:
    """A socket at that address; port 0 takes any that is free. Raises UsageError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    opened = socket.socket(family)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind((host, port))
        # Whoever is told of the address may come before the server is ready, and waits then.
        opened.listen(_BACKLOG)
    except OSError as fault:
        opened.close()
        raise UsageError(
            f"cannot listen on {host}, port {port}: {fault.strerror}; name another with --port"
        ) from fault
    return opened


class _Patient(AutoHTTPProtocol):  # type: ignore[misc, valid-type]  # One of two, as installed.
    """uvicorn's protocol, which sends clients away that do not send, send too much or do not read.

    uvicorn itself waits for the head of a request without end, and a few hundred connections of one
    who never sends the last line would be all that the service has. Headers it takes as many as
    come. An answer that nobody reads it would hold for as long as the client likes.
    """

    patience_s: float
    _waits: asyncio.TimerHandle | None = None
    _stalls: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:
            self._wait()
        else:
            self._rest()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; called by one of the two parsers, the other has a limit of its own."""
        super().on_header(name, value)
        if len(self.headers) > _MAX_HEADERS:
            raise ValueError("too many headers")  # The parser stops, and uvicorn answers 400.

    def send_400_response(self, _: str) -> None:
        """Answer what no parser takes for a request, as everything else is answered."""
        body = Failed(400, "bad_request", _UNREADABLE).body()
        head = (
            b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\nconnection: close\r\n"
        )
        self.transport.write(b"%scontent-length: %d\r\n\r\n%s" % (head, len(body), body))
        self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._rest()
        self._flow()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._flow()
        self._watch()

    def resume_writing(self) -> None:
        self._flow()
        super().resume_writing()

    def _wait(self) -> None:
        if self._waits is None:
            self._waits = self.loop.call_later(self.patience_s, self.transport.close)

    def _rest(self) -> None:
        if self._waits is not None:
            self._waits.cancel()
            self._waits = None

    def _watch(self) -> None:
        unread = self.transport.get_write_buffer_size()
        self._stalls = self.loop.call_later(self.patience_s, self._check_reader, unread)

    def _flow(self) -> None:
        if self._stalls is not None:
            self._stalls.cancel()
            self._stalls = None

    def _check_reader(self, unread: int) -> None:
        """Send a client away that has read too little since so much waited for it."""
        if unread - self.transport.get_write_buffer_size() < _MIN_READ_BYTES * self.patience_s:
            self.transport.abort()
        else:
            self._watch()


def patient_for(seconds: float) -> type[asyncio.Protocol]:
    """The protocol that waits so long for the head of a request, and for answers to be read."""
    return type("Patient", (_Patient,), {"patience_s": seconds})


class Ending:
    """Answers 503 to requests that the end of the service has cut off."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        has_begun = False

        async def answer(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self._app(scope, receive, answer)
        except asyncio.CancelledError:
            # Nothing else cancels a request, and there is nobody above to hear of it.
            if scope["type"] != "http":
                raise
            if not has_begun:
                await say(send, Failed(503, "ending", "the service has ended meanwhile"))


class Server(uvicorn.Server):
    """A server that tells somebody before it waits for requests to end."""

    def __init__(self, config: uvicorn.Config, before_end: Callable[[], object]) -> None:
        super().__init__(config)
        self._before_end = before_end

    async def shutdown(self, sockets: Sequence[socket.socket] | None = None) -> None:
        """Take no more requests, and wait a while for those that are there."""
        self._before_end()
        await super().shutdown(list(sockets) if sockets is not None else None)
