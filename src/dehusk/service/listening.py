"""Sockets to listen on, taken before anything else is done."""

from __future__ import annotations

import socket
from typing import Final

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
