"""`dehusk bench sources`: what reading web archives costs, in time and in memory.

Only argparse is loaded here: `dehusk --help` passes through.
"""

from __future__ import annotations

import argparse
from typing import Final

from dehusk_bench.shared_options import add_report, positive

DESCRIPTION: Final = (
    "Read a synthetic WARC (a request, a response and a metadata record for each page, as Common"
    " Crawl has them) plain, packed by gzip and by zstd, with dehusk, bare fastwarc and warcio, in"
    " turns: CPU time, megabytes a second, and ratios. With --gigabytes, watch the resident memory"
    " while so much is read as it is made."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options of the experiment."""
    parser.add_argument(
        "archives",
        nargs="*",
        metavar="WARC",
        help="read these files instead of a synthetic archive",
    )
    parser.add_argument(
        "--pages",
        type=positive,
        default=500,
        metavar="N",
        help="pages of the synthetic archive (default: %(default)s)",
    )
    parser.add_argument(
        "--rounds",
        type=positive,
        default=5,
        metavar="N",
        help="times that each archive is read; the median counts (default: %(default)s)",
    )
    parser.add_argument(
        "--gigabytes",
        type=positive,
        metavar="N",
        help="watch the memory over an archive of so many gigabytes, unpacked",
    )
    parser.add_argument(
        "--clean",
        action="store_true",
        help="with --gigabytes: clean the pages too, to their JSON lines",
    )
    add_report(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the experiment and print its table. Raises UsageError."""
    from dehusk_bench.sources_report import run_sources  # noqa: PLC0415  it loads numpy

    return run_sources(arguments)
