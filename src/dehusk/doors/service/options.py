"""The options of `dehusk serve` and `view`, apart from their work: help must not wait for it."""

from __future__ import annotations

import argparse
from typing import Final

from dehusk.doors import options
from dehusk.doors.options import positive_float, positive_int
from dehusk.doors.service.settings import ServiceSettings

_USUAL: Final = ServiceSettings()
_VIEW_PORT: Final = 8101


def add_serve(parser: argparse.ArgumentParser) -> None:
    """Give the parser its options."""
    _add_listening(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="log only warnings")
    options.add_method(parser)
    options.add_memory(parser)
    options.add_overrides(parser)
    options.add_limits(parser)
    _add_costs(parser)
    _add_fetching(parser)


def _add_fetching(parser: argparse.ArgumentParser) -> None:
    """Whether pages are loaded from the web, and how."""
    group = parser.add_argument_group("loading pages")
    group.add_argument(
        "--fetch",
        action="store_true",
        help="load pages that requests name (GET /v1/clean?url=, /v1/linked; install extra: crawl)",
    )
    options.add_loading(group)


def _add_listening(parser: argparse.ArgumentParser) -> None:
    """Where to listen, and to whom."""
    group = parser.add_argument_group("who may ask")
    group.add_argument(
        "--host",
        default=_USUAL.host,
        metavar="ADDRESS",
        help="the address to listen on; any but this machine's own needs a token"
        " (default: %(default)s)",
    )
    group.add_argument(
        "--port",
        type=_port,
        default=_USUAL.port,
        metavar="N",
        help="the port (default: %(default)s)",
    )
    group.add_argument(
        "--token-file",
        metavar="FILE",
        help="a file with the token that every request must show; else DEHUSK_TOKEN in the"
        " environment",
    )
    group.add_argument(
        "--name",
        action="append",
        default=[],
        metavar="HOST",
        help="another host name of the service; may be repeated",
    )
    group.add_argument(
        "--origin",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="a web origin whose scripts may ask (CORS), such as https://app.example; may be"
        " repeated (default: none)",
    )


def _add_costs(parser: argparse.ArgumentParser) -> None:
    """What a request may cost."""
    group = parser.add_argument_group("limits per request")
    group.add_argument(
        "--workers",
        type=positive_int,
        default=_USUAL.workers,
        metavar="N",
        help="processes that judge pages; each site stays with one (default: %(default)s)",
    )
    group.add_argument(
        "--max-body",
        type=positive_int,
        default=_USUAL.max_body_bytes,
        metavar="N",
        help="refuse bodies of more bytes, unpacked (default: %(default)s)",
    )
    group.add_argument(
        "--max-pages",
        type=positive_int,
        default=_USUAL.max_pages,
        metavar="N",
        help="refuse batches of more pages (default: %(default)s)",
    )
    group.add_argument(
        "--deadline",
        type=positive_float,
        default=_USUAL.deadline_s,
        metavar="SECONDS",
        help="how long to wait for a body, a free worker, and a page (default: %(default)s)",
    )
    group.add_argument(
        "--cpu",
        type=positive_float,
        default=_USUAL.cpu_s,
        metavar="SECONDS",
        help="end a worker whose page takes more CPU time than this (default: %(default)s)",
    )
    group.add_argument(
        "--worker-memory",
        type=positive_int,
        default=_USUAL.memory_bytes,
        metavar="N",
        help="bytes that a worker may use beyond what it starts with, on Linux"
        " (default: %(default)s)",
    )


def _port(text: str) -> int:
    if not text.isdecimal() or not 0 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port, 0 to 65535")
    return int(text)


def add_view(parser: argparse.ArgumentParser) -> None:
    """Give the parser its options."""
    options.add_sources(parser)
    parser.add_argument(
        "--port",
        type=_port,
        default=_VIEW_PORT,
        metavar="N",
        help="the port on this machine; 0 takes any that is free (default: %(default)s)",
    )
    parser.add_argument(
        "--pages",
        type=options.positive_int,
        default=1000,
        metavar="N",
        help="read at most this many pages (default: %(default)s)",
    )
    parser.add_argument(
        "--gold",
        action="append",
        default=[],
        metavar="FILE",
        help="marks of judges, as the viewer writes them: JSON lines with gold; marks without a"
        " name belong to a judge named after the file; may be repeated",
    )
    parser.add_argument(
        "--no-browser", action="store_true", help="do not open a browser, only print the address"
    )
    options.add_memory_file(parser)
    options.add_overrides(parser)
    options.add_site(parser)
    options.add_method(parser)
    options.add_limits(parser)
