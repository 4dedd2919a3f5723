"""Sockets to listen on, taken before anything else is done, and patience with who connects."""

from __future__ import annotations

import asyncio
import socket
from typing import Any, Final

from uvicorn.protocols.http.auto import AutoHTTPProtocol

from dehusk.errors import UsageError

_BACKLOG: Final = 2048
"""Connections that wait to be taken: uvicorn's own number."""


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
        raise UsageError(f"cannot listen on {host}, port {port}: {fault.strerror}") from fault
    return opened


def patient_for(seconds: float) -> type[asyncio.Protocol]:
    """uvicorn's protocol, which closes a connection when the head of a request takes so long.

    uvicorn itself waits for it without end, and a few hundred connections of one who never sends
    the last line would be all that the service has.
    """

    class Patient(AutoHTTPProtocol):  # type: ignore[misc, valid-type]  # One of two, as installed.
        _waits: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._wait()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.cycle is None or self.cycle.response_complete:
                self._wait()
            else:
                self._rest()

        def connection_lost(self, exc: Exception | None) -> None:
            self._rest()
            super().connection_lost(exc)

        def _wait(self) -> None:
            if self._waits is None:
                self._waits = self.loop.call_later(seconds, self.transport.close)

        def _rest(self) -> None:
            if self._waits is not None:
                self._waits.cancel()
                self._waits = None

    return Patient
