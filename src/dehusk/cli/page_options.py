"""The options of the commands on one page, `dehusk template` and `dehusk explain`."""

from __future__ import annotations

import argparse

from dehusk.cli.options import positive_int


def _add_page(parser: argparse.ArgumentParser) -> None:
    """A page, and others of its site."""
    parser.add_argument("page", metavar="PAGE", help="a file, or the URL of a page in --against")
    parser.add_argument(
        "--against",
        nargs="+",
        default=[],
        metavar="SOURCE",
        help="the pages to compare with, as for `dehusk clean` (default: the folder of PAGE)",
    )


def add_explain(parser: argparse.ArgumentParser) -> None:
    """The page, what to compare it with, and how to show it."""
    _add_page(parser)
    parser.add_argument(
        "--format",
        choices=("table", "json"),
        default="table",
        help="a table for people, or JSON for programs (default: %(default)s)",
    )


def add_template(parser: argparse.ArgumentParser) -> None:
    """The page, what to compare it with, and what to write."""
    _add_page(parser)
    parser.add_argument(
        "--size",
        type=positive_int,
        metavar="N",
        help="hyperlink: pages that must link each other (default: 3)",
    )
    parser.add_argument(
        "--votes",
        type=positive_int,
        metavar="N",
        help="hyperlink: pages that must have a node (default: 2)",
    )
    parser.add_argument(
        "--format",
        choices=("html", "json", "sections", "slots", "rules", "graby"),
        default="html",
        help="html: the template, its slots marked; as JSON: slots (their selectors and values),"
        " rules (selectors of content and of what to strip), json (every node's verdict), sections"
        " (of a method that smooths); graby: a site config of graby and wallabag"
        " (default: %(default)s)",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="where to write (default: standard output)"
    )
