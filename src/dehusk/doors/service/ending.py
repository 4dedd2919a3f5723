"""The end of a service, for those whose request it is still at."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from socket import socket

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dehusk.doors.service.failures import Failed, say


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

    async def shutdown(self, sockets: Sequence[socket] | None = None) -> None:
        """Take no more requests, and wait a while for those that are there."""
        self._before_end()
        await super().shutdown(list(sockets) if sockets is not None else None)
