"""`dehusk bench classify`: table 3 of 003, pages classified with and without the template.

Only argparse is loaded here: `dehusk --help` passes through.
"""

from __future__ import annotations

import argparse
from typing import Final

from dehusk_bench.shared_options import add_corpora, add_extent, add_methods, add_report, positive

CORPORA: Final = tuple(f"samples:topics:{seed}:90" for seed in range(4))
"""Four sites that write of five topics."""
DESCRIPTION: Final = (
    "Tell pages of two topics apart by naive Bayes, trained on the pages of one site for each topic"
    " and tried on all other sites, with the template left in and taken out by each method;"
    " averaged over all pairs of topics and of sites. The topic of a page is its `subject`, or the"
    " part of the site's name before the first hyphen. Intervals come from drawing the sites anew."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options of the experiment."""
    add_corpora(parser, "four sample sites, samples:topics:0:90 to :3:90")
    parser.add_argument(
        "--draws",
        type=positive,
        default=1000,
        metavar="N",
        help="how often sites are drawn anew for the intervals (default: %(default)s)",
    )
    add_methods(parser, "all")
    add_extent(parser)
    add_report(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the experiment and print its tables; 1 if a corpus could not be read to its end.

    Raises UsageError for a corpus or a method that does not exist, or topics on too few sites.
    """
    from dehusk_bench.classify_report import run_classify  # noqa: PLC0415  it loads numpy

    return run_classify(arguments)
