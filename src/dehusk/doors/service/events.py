"""Who listens to what sites learn: server-sent events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any, Final

_MAX_BEHIND: Final = 1000
"""Events that a listener may be behind before it is told that some are lost."""
_HEARTBEAT_S: Final = 15.0
"""Proxies cut off connections that are silent for longer."""


class Listeners:
    """All who listen. Nobody who listens slowly holds the others up."""

    def __init__(self) -> None:
        self._queues: set[asyncio.Queue[bytes | None]] = set()
        self._number = 0

    def __len__(self) -> int:
        return len(self._queues)

    def tell(self, kind: str, facts: dict[str, Any]) -> None:
        """Send an event to everybody."""
        self._number += 1
        if not self._queues:
            return
        event = _event(kind, facts, self._number)
        for queue in self._queues:
            if queue.qsize() < _MAX_BEHIND:
                queue.put_nowait(event)
            elif queue.qsize() == _MAX_BEHIND:
                queue.put_nowait(_event("lost", {"after": self._number - 1}, self._number))

    def close(self) -> None:
        """End all streams, each behind what it was told."""
        for queue in self._queues:
            queue.put_nowait(None)

    async def listen(self) -> AsyncIterator[bytes]:
        """The events from now on, as an event stream; a comment where nothing happens."""
        queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._queues.add(queue)
        try:
            yield b": dehusk\n\n"
            while True:
                try:
                    async with asyncio.timeout(_HEARTBEAT_S):
                        event = await queue.get()
                except TimeoutError:
                    event = b": still here\n\n"
                if event is None:
                    return
                yield event
        finally:
            self._queues.discard(queue)


def _event(kind: str, facts: dict[str, Any], number: int) -> bytes:
    return f"id: {number}\nevent: {kind}\ndata: {json.dumps(facts)}\n\n".encode()
