"""`dehusk bench screenshots`: the pictures in the docs, taken anew.

Only argparse is loaded here.
"""

from __future__ import annotations

import argparse
from typing import Final

DESCRIPTION: Final = (
    "Start the viewer and the service on sample sites, look at them in Chromium, and write the"
    " pictures that the docs show, so that they stay true. Needs the extras serve and render."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options."""
    parser.add_argument(
        "-o",
        "--output",
        default="docs/images",
        metavar="DIR",
        help="the folder to write to (default: %(default)s)",
    )
    parser.add_argument(
        "--extension",
        default="extension",
        metavar="DIR",
        help="the folder of the browser extension (default: %(default)s)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Take the pictures and say which."""
    from dehusk_bench.screenshots_taken import take  # noqa: PLC0415  it loads a browser

    return take(arguments)
