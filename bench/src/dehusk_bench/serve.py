"""`dehusk bench serve`: what the HTTP service adds to a page.

Only argparse is loaded here.
"""

from __future__ import annotations

import argparse
import os
from typing import Final

from dehusk_bench.shared_options import add_corpora, add_extent, positive

DESCRIPTION: Final = (
    "Start `dehusk serve` on this machine with a new memory, post pages to it from so many clients"
    " at once, and show how long answers take (p50, p99), pages a second, and CPU time a page of"
    " all its processes, beside what the library takes for the same pages, a batch of each in turn."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options."""
    add_corpora(parser, note=": pages to post")
    parser.add_argument(
        "--method",
        metavar="NAME",
        help="the method to use (default: the one that dehusk uses by default)",
    )
    parser.add_argument(
        "--clients",
        action="append",
        type=positive,
        metavar="N",
        help="clients at once; may be repeated (default: 1, then 8)",
    )
    parser.add_argument(
        "--workers",
        type=positive,
        default=2,
        metavar="N",
        help="worker processes of the service (default: %(default)s)",
    )
    add_extent(parser)
    parser.add_argument("--markdown", action="store_true", help="write the table as Markdown")


def run(arguments: argparse.Namespace) -> int:
    """Load the service and print the table; 1 if an answer was not as the library's."""
    # As in the workers: threads of numpy would be counted against the library, and gain nothing.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from dehusk_bench.serve_load import report  # noqa: PLC0415  it loads numpy

    return report(arguments)
