"""`dehusk bench storage`: table 1 of 002, what methods must keep to find the same template.

Only argparse is loaded here: `dehusk --help` passes through.
"""

from __future__ import annotations

import argparse
from typing import Final

from dehusk_bench.shared_options import add_corpora, add_extent

DESCRIPTION: Final = (
    "What must be kept to reach the same recall of template blocks: the table of `segments` by its"
    " life time, against the pages that `chunks` and `style-tree` must cache to work in batches, by"
    " size of the batch. Also how many pages pass before the first useful answer, and recall by"
    " storage. Corpora need gold that names nodes."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options of the experiment."""
    add_corpora(parser)
    parser.add_argument(
        "--recall",
        type=_share,
        default=0.8,
        metavar="X",
        help="the recall to reach; where a method cannot on a site, the best that all three reach"
        " there (default: %(default)s, as in the paper)",
    )
    add_extent(parser)
    parser.add_argument("--markdown", action="store_true", help="write the tables as Markdown")


def run(arguments: argparse.Namespace) -> int:
    """Run the experiment and print its tables; 1 if a corpus could not be read to its end.

    Raises UsageError for a corpus that does not exist.
    """
    from dehusk_bench.storage_report import run_storage  # noqa: PLC0415  it loads numpy

    return run_storage(arguments)


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 < share <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0 and up to 1")
    return share
