"""A service that runs until it is told to stop."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import uvicorn

from dehusk.doors.service.app import make_app
from dehusk.doors.service.ending import Ending, Server
from dehusk.doors.service.guard import Guard
from dehusk.doors.service.listening import listen, patient_for
from dehusk.doors.service.logs import log_to
from dehusk.doors.service.service import Service
from dehusk.memory.memories import Memories
from dehusk.memory.memories import open as open_memories
from dehusk.settings import Durable, ServiceSettings


@contextmanager
def open_or_borrow(address: str | None, durable: str, **settings: Any) -> Iterator[Memories]:
    """The memories at an address; without one, memories that go when the block ends."""
    with ExitStack() as stack:
        if address is None:
            folder = stack.enter_context(TemporaryDirectory(prefix="dehusk-"))
            address, durable = str(Path(folder) / "memory.husk"), Durable.EXIT
        yield stack.enter_context(open_memories(address, durable=durable, **settings))


def serve(
    memories: Memories,
    settings: ServiceSettings,
    *,
    is_quiet: bool,
    ready: Callable[[str], object] | None = None,
) -> None:
    """Answer until interrupted. What was learned is committed at the end.

    `ready` is told the address, unless it is to be quiet. Raises UsageError where another listens
    there already.
    """
    opened = listen(settings.host, settings.port)
    if ready is not None and not is_quiet:
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        ready(f"http://{host}:{opened.getsockname()[1]}")
    log_to(sys.stderr, is_quiet=is_quiet)
    service = Service(memories, settings)
    app = Guard(Ending(make_app(service)), settings, service.metrics)
    config = uvicorn.Config(
        app, log_config=None, access_log=False,
        server_header=False, date_header=False, timeout_graceful_shutdown=5,
        limit_concurrency=None, timeout_keep_alive=30, http=patient_for(settings.deadline_s),
    )  # fmt: skip
    # Who listens to events would never go by himself.
    Server(config, service.listeners.close).run([opened])
