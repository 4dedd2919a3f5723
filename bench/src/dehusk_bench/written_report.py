"""`dehusk bench report`: one page of Markdown out of what `dehusk bench all` wrote.

Only argparse is loaded here: `dehusk --help` passes through.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

DESCRIPTION: Final = (
    "Make a report of a folder that `dehusk bench all` wrote: every experiment with its command,"
    " its tables beside the papers' and its plots, on what machine, and what may be claimed. Tables"
    " (CSV) and plots (SVG) go to a folder beside the report, under its name."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options of the command."""
    parser.add_argument(
        "results",
        nargs="?",
        type=Path,
        default=Path("results"),
        metavar="DIR",
        help="the folder that `dehusk bench all` wrote (default: %(default)s)",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("results.md"),
        metavar="FILE",
        help="the report (default: %(default)s)",
    )
    parser.add_argument(
        "--notes",
        type=Path,
        metavar="FILE",
        help="what people have to say of the results: the text under `## NAME` goes to the"
        " experiment, corpus or section of that name, under `## in short` to the top",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the report; 1 if an experiment is missing from it. Raises UsageError, SourceError."""
    from dehusk_bench.record.writing import write_report  # noqa: PLC0415  it loads the experiments

    return write_report(arguments)
