"""The options that say how much of a corpus an experiment uses. Only argparse is loaded here."""

from __future__ import annotations

import argparse


def add_extent(parser: argparse.ArgumentParser) -> None:
    """Give the parser `--sites` and `--pages`."""
    parser.add_argument(
        "--sites",
        type=positive,
        metavar="N",
        help="use so many sites, spread evenly over the corpus (default: all)",
    )
    parser.add_argument(
        "--pages",
        type=positive,
        metavar="N",
        help="use the first so many pages of each site (default: all)",
    )


def positive(text: str) -> int:
    """The whole number above 0 that is written; argparse says what is wrong otherwise."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)
