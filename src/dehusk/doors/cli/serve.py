"""`dehusk serve`: the library over HTTP."""

from __future__ import annotations

import argparse
import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from dehusk.doors.cli.clean import make_limits
from dehusk.errors import MissingExtra, UsageError
from dehusk.memory.store import recorded_method
from dehusk.methods import DEFAULT
from dehusk.methods.papers.hyperlink import Hyperlink
from dehusk.methods.written import parse_settings, with_favour
from dehusk.settings import Durable, ServiceSettings

TOKEN: Final = "DEHUSK_TOKEN"  # noqa: S105  the name of a variable


def run(arguments: argparse.Namespace) -> int:
    """Serve until interrupted."""
    check_extra("dehusk serve")
    from dehusk.doors.service.run import open_or_borrow, serve  # noqa: PLC0415  an extra

    settings = make_settings(arguments)
    durable = arguments.durable or Durable.BATCH
    with open_or_borrow(
        arguments.memory,
        durable,
        relearn=arguments.relearn,
        limits=make_limits(arguments),
        keep=arguments.keep,
        drop=arguments.drop,
        **method_settings(arguments),
    ) as memories:
        kept = arguments.memory or "nothing is kept: name a --memory"
        serve(
            memories,
            settings,
            is_quiet=arguments.quiet,
            ready=lambda address: sys.stderr.write(f"dehusk at {address} ({kept})\n"),
        )
    return 0


def check_extra(command: str) -> None:
    """Raise MissingExtra where what the service needs is not installed."""
    if sys.platform == "win32":
        raise UsageError(f"{command} needs limits on processes, which Windows does not have")
    if any(find_spec(name) is None for name in ("fastapi", "uvicorn")):
        raise MissingExtra(command, "serve")


def method_settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """The method that is asked for, with its settings, as `dehusk.open` takes them."""
    name = arguments.method or recorded_method(arguments.memory) or DEFAULT
    if name == Hyperlink.name:
        raise UsageError("hyperlink follows links between pages, which a service does not keep")
    written = with_favour(name, arguments.settings, arguments.favour)
    return {"method": name, **parse_settings(name, written)}


def make_settings(arguments: argparse.Namespace) -> ServiceSettings:
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
    )


def _token(arguments: argparse.Namespace) -> str | None:
    """The token: from the file that is named, else from the environment."""
    if not arguments.token_file:
        return os.environ.get(TOKEN) or None
    try:
        return Path(arguments.token_file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as fault:
        raise UsageError(f"{arguments.token_file}: cannot be read") from fault
