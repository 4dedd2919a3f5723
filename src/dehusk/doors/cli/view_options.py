"""The options of `dehusk view`, apart from its work: `dehusk --help` passes through."""

from __future__ import annotations

import argparse
from typing import Final

from dehusk.doors.cli import options

PORT: Final = 8101


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser its options."""
    options.add_sources(parser)
    parser.add_argument(
        "--port",
        type=int,
        default=PORT,
        metavar="N",
        help="the port on this machine; 0 takes any that is free (default: %(default)s)",
    )
    parser.add_argument(
        "--pages",
        type=options.positive_int,
        default=1000,
        metavar="N",
        help="read at most so many pages (default: %(default)s)",
    )
    parser.add_argument(
        "--no-browser", action="store_true", help="do not open a browser; only say where it is"
    )
    options.add_method(parser)
    options.add_memory_file(parser)
    options.add_overrides(parser)
    options.add_limits(parser)
