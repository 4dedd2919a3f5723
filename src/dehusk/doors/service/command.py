"""`dehusk serve`, the library over HTTP, and `dehusk view`, pages and what was found on them."""

from __future__ import annotations

import argparse
import os
import sys
import webbrowser
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from dehusk.doors.looking import read_into
from dehusk.doors.options import chosen_method, make_limits
from dehusk.doors.service.settings import ServiceSettings
from dehusk.errors import MissingExtra, UsageError
from dehusk.methods.papers.hyperlink import Hyperlink
from dehusk.settings import CrawlSettings, Durable
from dehusk.sources import check_saved
from dehusk.template.viewing import Viewed

_TOKEN: Final = "DEHUSK_TOKEN"  # noqa: S105  the name of a variable


def serve(arguments: argparse.Namespace) -> int:
    """Serve until interrupted."""
    _check_extra("dehusk serve")
    from dehusk.doors.service import run  # noqa: PLC0415  an extra

    settings = _make_settings(arguments)
    durable = arguments.durable or Durable.BATCH
    with run.open_or_make(
        arguments.memory,
        durable,
        relearn=arguments.relearn,
        limits=make_limits(arguments),
        keep=arguments.keep,
        drop=arguments.drop,
        **_method(arguments),
    ) as memories:
        kept = arguments.memory or "nothing is kept: name a --memory"
        run.serve(
            memories,
            settings,
            is_quiet=arguments.quiet,
            ready=lambda address: sys.stderr.write(f"dehusk at {address} ({kept})\n"),
        )
    return 0


def view(arguments: argparse.Namespace) -> int:
    """Show the pages until interrupted; 1 if some could not be read."""
    _check_extra("dehusk view")
    check_saved(arguments.sources)
    from dehusk.doors.service import run  # noqa: PLC0415  an extra

    with run.open_or_make(
        arguments.memory,
        "page",
        limits=make_limits(arguments),
        keep=arguments.keep,
        drop=arguments.drop,
        **_method(arguments),
    ) as memories:
        viewed = Viewed(memories)
        failures = read_into(viewed, arguments)
        run.view(
            viewed,
            arguments.port,
            is_kept=arguments.memory is not None,
            gold=[Path(file) for file in arguments.gold],
            ready=lambda address: _ready(address, opens=not arguments.no_browser),
        )
    return 1 if failures else 0


def _ready(address: str, *, opens: bool) -> None:
    """Say where the viewer is, and open it."""
    sys.stderr.write(f"dehusk: {address} (Ctrl-C ends it)\n")
    sys.stderr.flush()
    if opens:
        webbrowser.open(address)


def _check_extra(command: str) -> None:
    """Raise MissingExtra where what the service needs is not installed."""
    if sys.platform == "win32":
        raise UsageError(f"{command} needs limits on processes, which Windows does not have")
    if any(find_spec(name) is None for name in ("fastapi", "uvicorn")):
        raise MissingExtra(command, "serve")


def _method(arguments: argparse.Namespace) -> dict[str, Any]:
    """The method that is asked for, with its settings, as `dehusk.open` takes them."""
    name, settings = chosen_method(arguments)
    if name == Hyperlink.name:
        raise UsageError("hyperlink follows links between pages, which a service does not keep")
    return {"method": name, **settings}


def _make_settings(arguments: argparse.Namespace) -> ServiceSettings:
    """The settings that the options name. Raises UsageError."""
    return ServiceSettings(
        host=arguments.host,
        port=arguments.port,
        token=_token(arguments),
        origins=tuple(origin.rstrip("/") for origin in arguments.origin),
        names=tuple(arguments.name),
        workers=arguments.workers,
        max_body_bytes=arguments.max_body,
        max_pages=arguments.max_pages,
        deadline_s=arguments.deadline,
        cpu_s=arguments.cpu,
        memory_bytes=arguments.worker_memory,
        fetch=_make_fetch(arguments),
    )


def _make_fetch(arguments: argparse.Namespace) -> CrawlSettings | None:
    """How pages are loaded; None where none are. Raises UsageError."""
    if not arguments.fetch:
        if arguments.allow_private:
            raise UsageError("--allow-private is about pages that are loaded: it needs --fetch")
        return None
    try:
        import_module("dehusk.sources.crawl")
    except MissingExtra as missing:
        raise MissingExtra("dehusk serve --fetch", "crawl") from missing
    return CrawlSettings(
        delay_s=arguments.delay,
        user_agent=arguments.user_agent,
        timeout_s=arguments.deadline,
        max_bytes=arguments.max_bytes,
        allow_private=tuple(arguments.allow_private),
    )


def _token(arguments: argparse.Namespace) -> str | None:
    """The token: from the file that is named, else from the environment."""
    if not arguments.token_file:
        return os.environ.get(_TOKEN) or None
    try:
        return Path(arguments.token_file).read_text(encoding="utf-8").strip()
    except OSError as fault:
        raise UsageError(f"{arguments.token_file}: {fault.strerror}") from fault
    except UnicodeDecodeError as fault:
        raise UsageError(f"{arguments.token_file}: not text in UTF-8") from fault
