"""What a service says when it does not do what it was asked: one form for all."""

from __future__ import annotations

import json

from starlette.types import Send

from dehusk.errors import StateError, StoreFull


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
