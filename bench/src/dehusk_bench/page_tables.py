"""`dehusk bench page-tables`: table 1 and figures 1–3 of the paper of `page`, on our data.

Only argparse is loaded here: `dehusk --help` passes through.
"""

from __future__ import annotations

import argparse
from typing import Final

from dehusk_bench.shared_options import add_corpora, add_extent

DESCRIPTION: Final = (
    "What the paper of `page` reports on pages whose template is known: F of the words, anchor"
    " words and links that are found to be inside template, without and with smoothing (its table"
    " 1); how near the sections are to the true ones by the adjusted Rand index, also of a naive"
    " merging of neighbours (figure 1); both by the penalty of a section (figures 2 and 3)."
    " Corpora need gold that names nodes."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options of the experiment."""
    add_corpora(parser)
    parser.add_argument(
        "--factors",
        type=_factors,
        default=(0.01, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0, 1000.0),
        metavar="X,…",
        help="what the penalty is multiplied by for figures 2 and 3 (default: 0.01,0.1,0.3,1,3,10,"
        "100,1000)",
    )
    parser.add_argument(
        "--penalty",
        type=_penalty,
        default=0.001,
        metavar="C",
        help="the penalty of the method page; the paper has 0.01 (default: %(default)s)",
    )
    parser.add_argument("--model", default="", metavar="FILE", help="another page model")
    parser.add_argument("--plots", metavar="DIR", help="write the figures to this folder as SVG")
    add_extent(parser)
    parser.add_argument("--markdown", action="store_true", help="write the tables as Markdown")


def run(arguments: argparse.Namespace) -> int:
    """Run the experiment and print its tables; 1 if a corpus could not be read to its end.

    Raises UsageError for a corpus or a folder that does not exist.
    """
    from dehusk_bench.page_report import run_tables  # noqa: PLC0415  it loads numpy

    return run_tables(arguments)


def _factors(text: str) -> tuple[float, ...]:
    try:
        factors = tuple(float(part) for part in text.split(","))
    except ValueError:
        factors = ()
    if not factors or not all(0 < factor < float("inf") for factor in factors):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of numbers above 0")
    return factors


def _penalty(text: str) -> float:
    return _factors(text)[0]
