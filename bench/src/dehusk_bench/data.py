"""`dehusk bench data`: what there is to measure on, and how to get or make it.

Only argparse is loaded here: `dehusk --help` passes through.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from dehusk_bench.shared_options import positive

DESCRIPTION: Final = (
    "Say which corpora `dehusk bench all` looks for, which of them are in a folder, and where the"
    " others come from. --samples writes corpora of sample sites there, with the gold of every"
    " node; --wcxb makes one of a copy of the WCXB benchmark. Nothing is fetched: the public"
    " benchmarks have their own ways of download and their own terms."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options of the command."""
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("data"),
        metavar="DIR",
        help="the folder with the corpora (default: %(default)s)",
    )
    parser.add_argument(
        "--samples",
        action="store_true",
        help="write docs-dev, linked-dev, news-dev and wcxb-dev made of sample sites, where there"
        " is no file of that name",
    )
    parser.add_argument(
        "--pages",
        type=positive,
        default=40,
        metavar="N",
        help="pages of each sample site (default: %(default)s)",
    )
    parser.add_argument(
        "--wcxb",
        type=Path,
        metavar="DIR",
        help="a copy of WCXB, with a folder of HTML and one of gold: write wcxb-dev from it",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write what is asked for and list what there is. Raises UsageError, SourceError."""
    from dehusk_bench.data_files import run_data  # noqa: PLC0415  it loads the sample sites

    return run_data(arguments)
