"""`dehusk bench teco`: the experiments of 000 and 001, on key pages and what they link."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from dehusk_bench.options import positive
from dehusk_bench.papers.teco_report import run_report

DESCRIPTION: Final = (
    "Find the template of key pages with the help of the pages that they link, and print table 1"
    " of the paper: DOM nodes, template nodes, nodes retrieved and those of them that are template,"
    " recall, precision, F1, page loads and time; by type of site too. --sweep prints F1 by size"
    " and votes (tables 5.2 and 5.3 of the thesis), --ablation what its parameters are worth,"
    " --grid which of their combinations is best on some sites and how good it is on others."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options of the experiment."""
    parser.add_argument(
        "sources",
        nargs="+",
        metavar="SOURCE",
        help="a folder in the form of the TECO suite, with a folder for each site, or a corpus as"
        " for `dehusk bench quality`, in which key pages have `key`",
    )
    parser.add_argument(
        "--method",
        dest="methods",
        action="append",
        default=[],
        metavar="NAME[:SETTING=VALUE,…]",
        help="a method to measure, such as hyperlink:equality=text; may be repeated. Any but"
        " hyperlink learns all pages that the key page links (default: hyperlink)",
    )
    parser.add_argument(
        "--few-loads",
        action="append",
        default=[],
        metavar="NAME[:SETTING=VALUE,…]",
        help="a method but hyperlink to measure with only the pages that hyperlink loads as"
        " commands set it; may be repeated",
    )
    parser.add_argument(
        "--sweep", action="store_true", help="every size from 1 to 8 with every number of votes"
    )
    parser.add_argument(
        "--ablation",
        action="store_true",
        help="threshold, order and weights of the equality probability, one by one",
    )
    parser.add_argument(
        "--grid",
        action="store_true",
        help="every combination of settings: the best by training sites, and its figures on others",
    )
    parser.add_argument(
        "--vary",
        action="append",
        metavar="SETTING=VALUE,VALUE…",
        help="for --grid: the values of a setting, instead of the usual grid; may be repeated;"
        " weights=0.5/0.2/0.2/0.1,… are classes, position, attributes and children",
    )
    parser.add_argument(
        "--parts",
        type=positive,
        default=5,
        metavar="N",
        help="for --grid: cut the sites into so many parts; each is left out of training once"
        " (default: 5)",
    )
    parser.add_argument(
        "--state",
        type=Path,
        metavar="FILE",
        help="for --grid: keep in this file what is done, and go on with what is in it",
    )
    parser.add_argument(
        "--links", action="store_true", help="which links are chosen, and where they stand"
    )
    parser.add_argument(
        "--sites",
        type=positive,
        metavar="N",
        help="use so many sites of a corpus, spread evenly over it (default: all)",
    )
    parser.add_argument(
        "--keys",
        type=positive,
        metavar="N",
        help="key pages of a site in a corpus that names none, spread evenly (default: all pages)",
    )
    parser.add_argument(
        "--stand-ins",
        action="store_true",
        help="let a link to a page that a corpus lacks lead to another page of the site",
    )
    parser.add_argument(
        "--folds",
        type=Path,
        metavar="DIR",
        help="let `auto`, alone or in hyperlink's page_verdict, judge each site by a model that has"
        " not seen it, as for `dehusk bench quality`",
    )
    parser.add_argument("--rows", action="store_true", help="add a row for each key page")
    parser.add_argument("--markdown", action="store_true", help="write the tables as Markdown")
    parser.add_argument("--json", metavar="FILE", help="write all rows to this file as well")


def run(arguments: argparse.Namespace) -> int:
    """Run the experiment and print its tables; 1 if a source could not be read to its end.

    Raises UsageError for a source without key pages, or a method that does not exist.
    """
    return run_report(arguments)
