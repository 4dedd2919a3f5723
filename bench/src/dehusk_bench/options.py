"""The options that experiments share. Nothing else is loaded here."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

_CORPUS_HELP: Final = (
    "JSON lines with gold (plain, .gz, .xz, .zst), or sample sites: `samples` is one of each kind,"
    " `samples:KIND:SEED:PAGES:LANG` one of them, parts at the end may be left out"
    " (default: samples)"
)


def add_corpora(parser: argparse.ArgumentParser, usual: str = "samples", note: str = "") -> None:
    """Give the parser the corpora to measure on; `usual` says which those are without any."""
    about = f"as for `dehusk bench quality`{note} (default: {usual})"
    parser.add_argument("corpora", nargs="*", metavar="CORPUS", help=about)


def add_extent(parser: argparse.ArgumentParser) -> None:
    """Give the parser `--sites` and `--pages`."""
    parser.add_argument(
        "--sites",
        type=positive,
        metavar="N",
        help="use so many sites, spread evenly over the corpus (default: all)",
    )
    parser.add_argument(
        "--pages",
        type=positive,
        metavar="N",
        help="use the first so many pages of each site (default: all)",
    )


def add_folds(parser: argparse.ArgumentParser) -> None:
    """Give the parser `--folds`."""
    parser.add_argument(
        "--folds",
        type=Path,
        metavar="DIR",
        help="judge with `auto` each site by a model that has not seen it, as for `dehusk bench"
        " quality`",
    )


def add_methods(parser: argparse.ArgumentParser, usual: str) -> None:
    """Give the parser `--method`, as `methods`; `usual` says what is measured without it."""
    parser.add_argument(
        "--method",
        dest="methods",
        action="append",
        default=[],
        metavar="NAME",
        help="a method to measure, also with settings (segments:min_count=3,ages=false); may be"
        f" repeated (default: {usual})",
    )


def add_report(parser: argparse.ArgumentParser) -> None:
    """Give the parser `--markdown` and `--json`."""
    parser.add_argument("--markdown", action="store_true", help="write the tables as Markdown")
    parser.add_argument("--json", metavar="FILE", help="write all figures to this file as well")


def positive(text: str) -> int:
    """The whole number above 0 that is written; argparse says what is wrong otherwise."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def add_contenders(parser: argparse.ArgumentParser) -> None:
    """Give the parser what `quality` and `speed` have in common."""
    parser.add_argument("corpora", nargs="*", metavar="CORPUS", help=_CORPUS_HELP)
    add_methods(parser, "the one that dehusk uses by default")
    parser.add_argument(
        "--peers",
        action="store_true",
        help="add other extractors (trafilatura, rs-trafilatura, resiliparse, readability-lxml,"
        " jusText, boilerpy3, newspaper4k, goose3, turbohtml's main text, all text); those not"
        " installed are left out",
    )
    add_extent(parser)
    add_report(parser)
