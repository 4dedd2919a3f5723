"""`dehusk bench chunks-tables`: the tables and figures of 004, and the two measures it defines.

Only argparse is loaded here: `dehusk --help` passes through.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from statistics import fmean
from typing import Final

from dehusk_bench.shared_options import add_corpora, add_extent, positive

DESCRIPTION: Final = (
    "Run the method `chunks` on collections of pages as its paper does: of each site the largest"
    " group of pages that look alike. Table 1 and 2: size, time, average template fraction and"
    " template table discovery ratio; figure 3: the ratio by threshold; figure 4: the ratio and the"
    " time by number of pages picked."
)


def atf(template_tokens: int, page_tokens: Sequence[int]) -> float:
    """The average template fraction t / p (definition 4.1.1); 0 for pages without tokens.

    t: tokens of the template, each of its chunks counted once; p: the mean of the pages' tokens.
    """
    mean = fmean(page_tokens) if page_tokens else 0.0
    return template_tokens / mean if mean else 0.0


def ttdr(found: int, counted: int) -> float | None:
    """The template table discovery ratio nd / nt (definition 4.1.2); None if there is no table.

    Above 1, more was called template than there is; it says nothing of which tables were found.
    """
    return found / counted if counted else None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options of the experiment."""
    add_corpora(parser, "samples:tables", "; only sites whose gold names nodes are of use")
    parser.add_argument(
        "--threshold",
        type=positive,
        default=4,
        metavar="N",
        help="pages from which a chunk is template (default: %(default)s)",
    )
    parser.add_argument(
        "--separators",
        choices=("tables", "blocks"),
        default="tables",
        help="what cuts a page into chunks (default: %(default)s)",
    )
    parser.add_argument(
        "--tag-path", action="store_true", help="the same text at another path is another chunk"
    )
    parser.add_argument(
        "--group",
        choices=("look", "none"),
        default="look",
        help="take the largest group of each site, or all its pages (default: %(default)s)",
    )
    add_extent(parser)
    parser.add_argument("--markdown", action="store_true", help="write the tables as Markdown")


def run(arguments: argparse.Namespace) -> int:
    """Run the experiment and print its tables; 1 if a corpus could not be read to its end.

    Raises UsageError for a corpus that does not exist.
    """
    from dehusk_bench.chunks_report import run_chunks  # noqa: PLC0415  it loads numpy

    return run_chunks(arguments)
