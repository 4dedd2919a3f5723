"""A service, or a viewer, that runs until it is told to stop."""

from __future__ import annotations

import asyncio
import secrets
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dehusk.doors.service.app import make_app
from dehusk.doors.service.frames import ViewerState, make_frames
from dehusk.doors.service.guard import Guard
from dehusk.doors.service.judges import Judges
from dehusk.doors.service.monitoring import Metrics, log_to
from dehusk.doors.service.server import Ending, Server, listen, patient_for
from dehusk.doors.service.service import Service
from dehusk.doors.service.settings import ServiceSettings
from dehusk.doors.service.viewer import make_viewer
from dehusk.memory.opening import open as open_session
from dehusk.memory.session import Session
from dehusk.settings import Durable
from dehusk.template.viewing import Viewed

HOST: Final = "127.0.0.1"
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
    " img-src 'self' data:; frame-src {frames}; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'"
)


@contextmanager
def open_or_make(address: str | None, durable: str, **settings: Any) -> Iterator[Session]:
    """A session of the memories at an address; without one, of some that go with the block."""
    with ExitStack() as stack:
        if address is None:
            folder = stack.enter_context(TemporaryDirectory(prefix="dehusk-"))
            address, durable = str(Path(folder) / "memory.husk"), Durable.EXIT
        yield stack.enter_context(open_session(address, durable=durable, **settings))


def serve(
    session: Session,
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
    service = Service(session, settings)
    inner = make_app(service)
    config = uvicorn.Config(
        Guard(Ending(inner), settings, service.metrics), log_config=None, access_log=False,
        server_header=False, date_header=False, timeout_graceful_shutdown=5,
        limit_concurrency=None, timeout_keep_alive=30, http=patient_for(settings.deadline_s),
    )  # fmt: skip

    def before_end() -> None:
        # Who listens to events would never go by himself, and who loads pages not soon.
        service.listeners.close()
        inner.state.loader.stop()

    Server(config, before_end).run([opened])


class _Server(uvicorn.Server):
    """A server that leaves signals to whoever runs it."""

    def install_signal_handlers(self) -> None:
        """Nothing: two servers share one process."""

    def capture_signals(self) -> Any:
        """Nothing, in the words of later versions."""
        return nullcontext()


class _Policy:
    """Gives every answer of the viewer's own origin its policy."""

    def __init__(self, app: ASGIApp, policy: str) -> None:
        self._app = app
        self._policy = policy.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                policy = (b"content-security-policy", self._policy)
                message["headers"] = [*message["headers"], policy]
            await send(message)

        await self._app(scope, receive, answer)


def view(
    viewed: Viewed,
    port: int,
    *,
    is_kept: bool,
    gold: Sequence[Path] = (),
    ready: Callable[[str], object] | None = None,
) -> None:
    """Show pages until interrupted, with the marks of files of gold.

    `ready` is told the address once it answers. Raises SourceError for a file that is no gold.
    """
    judges = Judges(viewed)
    for file in gold:
        judges.read(file, lambda words: sys.stderr.write(f"dehusk: {words}\n"))
    asyncio.run(_view(viewed, judges, port, is_kept=is_kept, ready=ready))


async def _view(
    viewed: Viewed,
    judges: Judges,
    port: int,
    *,
    is_kept: bool,
    ready: Callable[[str], object] | None,
) -> None:
    own, other = listen(HOST, port), listen(HOST, 0)
    settings = ServiceSettings(host=HOST, port=own.getsockname()[1])
    secret = secrets.token_urlsafe(16)
    frames, viewer = (f"http://{HOST}:{one.getsockname()[1]}" for one in (other, own))
    state = ViewerState(viewed, f"{frames}/{secret}", is_kept=is_kept, judges=judges)
    app = Guard(Ending(make_viewer(state)), settings, Metrics())
    shown = make_frames(state, secret, viewer, frozenset((HOST,)))
    servers = [_server(_Policy(app, _POLICY.format(frames=frames))), _server(Ending(shown))]
    loop = asyncio.get_running_loop()

    def stop() -> None:
        state.listeners.close()
        for server in servers:
            server.should_exit = True

    for number in (signal.SIGINT, signal.SIGTERM):
        # Signals reach the main thread only; elsewhere nobody needs them.
        with suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(number, stop)
    if ready is not None:
        loop.call_later(0.2, ready, viewer)
    pairs = zip(servers, (own, other), strict=True)
    await asyncio.gather(*(server.serve(sockets=[one]) for server, one in pairs))


def _server(app: ASGIApp) -> _Server:
    return _Server(
        uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            lifespan="off",
            timeout_graceful_shutdown=2,
        )
    )
