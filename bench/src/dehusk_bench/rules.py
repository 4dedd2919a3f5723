"""`dehusk bench rules`: what the rules of `dehusk template` give on pages they have not seen.

Only argparse is loaded here: `dehusk --help` passes through.
"""

from __future__ import annotations

import argparse
from typing import Final

from dehusk_bench.shared_options import add_methods, positive

DESCRIPTION: Final = (
    "Make the rules of the largest family of each sample site from its first pages, and try them on"
    " as many that follow: the share of the content's letters that the rules give (found), and the"
    " share of content in what they give (clean)."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options of the experiment."""
    add_methods(parser, "the one that dehusk uses by default")
    parser.add_argument(
        "--seed",
        dest="seeds",
        type=positive,
        action="append",
        metavar="N",
        help="a site of each kind with this seed; may be repeated (default: 3 and 5)",
    )
    parser.add_argument(
        "--pages",
        type=positive,
        default=30,
        metavar="N",
        help="pages that the rules are made from, and pages they are tried on (default: 30)",
    )
    parser.add_argument("--markdown", action="store_true", help="write the tables as Markdown")


def run(arguments: argparse.Namespace) -> int:
    """Run the experiment and print its table. Raises UsageError for an unknown method."""
    from dehusk_bench.rules_report import run_rules  # noqa: PLC0415  it loads numpy

    return run_rules(arguments)
