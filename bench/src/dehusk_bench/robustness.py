"""`dehusk bench robustness`: what pages that do not belong to a site do to it.

Only argparse is loaded here: `dehusk --help` passes through.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from dehusk_bench.shared_options import add_corpora, add_extent, add_methods, add_report

DESCRIPTION: Final = (
    "Put pages among those of a site that have not its template, and score the site's own pages:"
    " pages of another site (foreign), pages of text that never comes back (noise), and copies of"
    " the next page at other URLs, as sessions and calendars make them (copies), each as a tenth, a"
    " quarter, half and three quarters of all pages."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options of the experiment."""
    add_corpora(parser)
    add_methods(parser, "auto, segments and site-hash")
    parser.add_argument(
        "--folds",
        type=Path,
        metavar="DIR",
        help="judge with `auto` each site by a model that has not seen it, as for `dehusk bench"
        " quality`",
    )
    add_extent(parser)
    add_report(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the experiment and print its tables; 1 if a corpus could not be read to its end.

    Raises UsageError for a corpus or a method that does not exist.
    """
    from dehusk_bench.robustness_report import run_robustness  # noqa: PLC0415  it loads numpy

    return run_robustness(arguments)
