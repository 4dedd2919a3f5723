"""`dehusk bench crawl`: a sample site is crawled on this machine, once whole, once killed often.

Only argparse is loaded here.
"""

from __future__ import annotations

import argparse
from typing import Final

from dehusk_bench.shared_options import positive

DESCRIPTION: Final = (
    "Serve a sample site on this machine and crawl it twice: without a break, and killed (SIGKILL)"
    " at random moments and resumed. Shows whether all pages were found, whether both wrote the"
    " same, and how many pages were asked for again."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options."""
    parser.add_argument(
        "--kind", default="town", metavar="KIND", help="the kind of site (default: %(default)s)"
    )
    parser.add_argument(
        "--pages",
        type=positive,
        default=2000,
        metavar="N",
        help="pages of the site (default: %(default)s)",
    )
    parser.add_argument(
        "--kills",
        type=positive,
        default=20,
        metavar="N",
        help="times to kill the crawl (default: %(default)s)",
    )
    parser.add_argument(
        "--concurrency",
        type=positive,
        default=1,
        metavar="N",
        help="requests at a time (default: %(default)s)",
    )
    parser.add_argument(
        "--seed", type=int, default=1, metavar="N", help="of the site, and of the moments"
    )


def run(arguments: argparse.Namespace) -> int:
    """Run both crawls and print what came of them; 1 if they differ or pages are missing."""
    from dehusk_bench.crawl_kills import report  # noqa: PLC0415  it loads numpy

    return report(arguments)
