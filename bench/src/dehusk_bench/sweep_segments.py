"""`dehusk bench sweep-segments`: what the life time of segments and the separating tags change.

Only argparse is loaded here: `dehusk --help` passes through.
"""

from __future__ import annotations

import argparse
from typing import Final

from dehusk_bench.shared_options import add_corpora, add_extent

SEPARATOR_NAMES: Final = ("default", "named", "layout", "lists", "block")

DESCRIPTION: Final = (
    "Run the method `segments` with many settings at once, as its paper does in table 1: recall and"
    " precision of template blocks, recall of template characters, F1 of content words, and the"
    " average size of the table, also as a share of what a batch of 24 pages would cache. Then the"
    " smallest table that finds almost as much as one that never forgets, chosen on all sites, and"
    " on every second site and tested on the others."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options of the sweep."""
    add_corpora(parser)
    parser.add_argument(
        "--base-life",
        type=_numbers,
        default=(2.0, 5.0, 10.0, 20.0, 50.0),
        metavar="TB,…",
        help="values of base_life, in pages (default: 2,5,10,20,50)",
    )
    parser.add_argument(
        "--life-factor",
        type=_numbers,
        default=(5.0, 20.0),
        metavar="N,…",
        help="values of life_factor (default: 5,20)",
    )
    parser.add_argument(
        "--separators",
        action="append",
        choices=SEPARATOR_NAMES,
        help="separating tags: those of the method, the two that the paper names, layout elements,"
        " these and whole lists, all block elements; may be repeated (default: default)",
    )
    parser.add_argument(
        "--max-loss",
        type=_share,
        default=0.02,
        metavar="X",
        help="recall that a smaller table may cost (default: %(default)s)",
    )
    add_extent(parser)
    parser.add_argument("--markdown", action="store_true", help="write the tables as Markdown")


def run(arguments: argparse.Namespace) -> int:
    """Run the sweep and print a table for each corpus; 1 if one could not be read to its end.

    Raises UsageError for a corpus that does not exist, SettingError for impossible settings.
    """
    from dehusk_bench.sweep_report import run_sweep  # noqa: PLC0415  it loads numpy

    return run_sweep(arguments)


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of numbers") from None


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 1")
    return share
