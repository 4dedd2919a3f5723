"""`dehusk bench scale`: what more pages, more sites and more processes cost and gain.

Only argparse is loaded here: `dehusk --help` passes through.
"""

from __future__ import annotations

import argparse
import os
from typing import Final

from dehusk_bench.shared_options import positive

DESCRIPTION: Final = (
    "Clean sample pages of more and more sites, and show whether a page costs more then (growth);"
    " clean the same pages with one and with more processes, and show what is gained (jobs);"
    " simulate how sites of unequal size spread over many processors (simulation)."
)
PARTS: Final = ("growth", "jobs", "simulation")
SPARK: Final = "spark"
"""A part that is run when it is asked for: it needs an extra, and Java."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options of the experiment."""
    parser.add_argument(
        "--only",
        action="append",
        choices=(*PARTS, SPARK),
        help="run this part; may be repeated (default: all but spark, which cleans the same pages"
        " in two passes by jobs and by Spark on as many cores; install extra: spark)",
    )
    parser.add_argument(
        "--pages",
        type=_several,
        default=(1000, 10_000),
        metavar="N,…",
        help="pages in all, for growth one run for each; the other parts take the first"
        " (default: 1000,10000)",
    )
    parser.add_argument(
        "--sites",
        type=positive,
        metavar="N",
        help="sites that the pages are of (default: one for every 100 pages)",
    )
    parser.add_argument(
        "--skew",
        type=_skew,
        default=0.0,
        metavar="S",
        help="the n-th largest site has n to the power of -S times the pages of the largest; 0 for"
        " sites of equal size (default: %(default)s)",
    )
    parser.add_argument(
        "--jobs",
        type=_several,
        default=(1, 2),
        metavar="N,…",
        help="numbers of processes to measure (default: 1,2)",
    )
    parser.add_argument(
        "--format",
        choices=("jsonl", "markdown", "text"),
        default="jsonl",
        help="what is written (default: %(default)s)",
    )
    parser.add_argument(
        "--no-file",
        action="store_true",
        help="for growth: keep what is learned in memory only, as without --memory",
    )
    parser.add_argument(
        "--cores",
        type=_several,
        default=(1, 2, 4, 8, 16, 32, 64, 1024),
        metavar="N,…",
        help="processors to simulate (default: 1,2,4,8,16,32,64,1024)",
    )
    figures = {
        "--page-ms": (6.0, "CPU time of a page that the simulation goes by"),
        "--reader-ms": (0.5, "of which the reading process has so much to do"),
    }
    for option, (default, meaning) in figures.items():
        parser.add_argument(
            option,
            type=_above_0,
            default=default,
            metavar="MS",
            help=f"{meaning}; without this it is that of the jobs, if they were measured, else"
            " %(default)s",
        )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the pages' order")
    parser.add_argument("--markdown", action="store_true", help="write the tables as Markdown")
    parser.add_argument("--json", metavar="FILE", help="write all figures to this file as well")


def _several(text: str) -> tuple[int, ...]:
    return tuple(positive(each) for each in text.split(","))


def _skew(text: str) -> float:
    if not 0 <= (value := _number(text)) <= 5:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 5")
    return value


def _above_0(text: str) -> float:
    if not 0 < (value := _number(text)) < 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return value


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return -1.0


def run(arguments: argparse.Namespace) -> int:
    """Run the parts and print their tables; 1 if two runs did not write the same."""
    # Threads of numpy would be counted as a page's cost, and gain nothing.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from dehusk_bench.scale_report import report  # noqa: PLC0415  it loads numpy

    return report(arguments)
