"""`dehusk bench ablation`: what the parts of a method are worth, without training it anew.

Only argparse is loaded here: `dehusk --help` passes through.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from dehusk_bench.shared_options import add_corpora, add_extent, add_report

DESCRIPTION: Final = (
    "Take parts of `auto` away and see what is lost: the site (each page judged alone), the order"
    " (two passes: all pages learned before the first is asked about), most of the memory, ageing;"
    " and what its presets change. `dehusk train auto --without` leaves out inputs of the networks."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options of the experiment."""
    add_corpora(parser)
    parser.add_argument(
        "--folds",
        type=Path,
        metavar="DIR",
        help="judge each site by a model that has not seen it, as for `dehusk bench quality`",
    )
    add_extent(parser)
    add_report(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the experiment and print its tables; 1 if a corpus could not be read to its end.

    Raises UsageError for a corpus that does not exist.
    """
    from dehusk_bench.ablation_report import run_ablation  # noqa: PLC0415  it loads numpy

    return run_ablation(arguments)
