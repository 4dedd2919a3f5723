"""`dehusk bench all`: every experiment of the record, one after the other.

Only argparse is loaded here: `dehusk --help` passes through.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from dehusk_bench.shared_options import positive

DESCRIPTION: Final = (
    "Run every experiment of the record, each in a process of its own, and write tables (Markdown"
    " and CSV) and plots (SVG and PNG) to a folder. What was done is not done again unless its"
    " input, its options, its code or the version of a package changed; a run that was cut off goes"
    " on where it was. `dehusk bench report` makes a report of it."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options of the command."""
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("results"),
        metavar="DIR",
        help="the folder to write to (default: %(default)s)",
    )
    parser.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        help="the folder with the corpora, as `dehusk bench data` tells; experiments whose corpora"
        " are not there use sample sites, or are skipped (default: data, if there is one)",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="a few sites and pages of each corpus: minutes instead of hours, and figures that say"
        " little",
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="NAME",
        help="run this experiment; may be repeated (default: all)",
    )
    parser.add_argument(
        "--folds",
        type=Path,
        metavar="DIR",
        help="judge with `auto` each site by a model that has not seen it, out of a folder that"
        " `dehusk train auto --folds` wrote",
    )
    parser.add_argument(
        "--timeout",
        type=positive,
        default=4 * 3600,
        metavar="SECONDS",
        help="stop an experiment after so long (default: %(default)s)",
    )
    parser.add_argument("--list", action="store_true", help="name the experiments and run none")


def run(arguments: argparse.Namespace) -> int:
    """Run the experiments; 1 if one failed. Raises UsageError for one that does not exist."""
    from dehusk_bench.record.showing import run_and_show  # noqa: PLC0415  it loads the experiments

    return run_and_show(arguments)
