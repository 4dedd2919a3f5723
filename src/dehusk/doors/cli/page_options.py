"""The options of the commands on pages: `dehusk clean`, `learn`, `template` and `explain`."""

from __future__ import annotations

import argparse

from dehusk.doors.cli import crawl_options, options
from dehusk.doors.cli.options import positive_int


def add_clean(parser: argparse.ArgumentParser) -> None:
    """Pages, how they are judged, and where the answers go."""
    options.add_sources(parser)
    options.add_method(parser)
    options.add_memory(parser)
    options.add_passes(parser)
    options.add_overrides(parser)
    options.add_output(parser)
    crawl_options.add_crawl(parser)
    options.add_limits(parser)


def add_learn(parser: argparse.ArgumentParser) -> None:
    """Pages, and the memory that learns them."""
    options.add_sources(parser)
    options.add_method(parser)
    options.add_memory(parser, is_required=True)
    options.add_jobs(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress and no summary")
    options.add_limits(parser)
    parser.set_defaults(favour=None, keep=(), drop=())


def add_methods(parser: argparse.ArgumentParser) -> None:
    """Which method to show."""
    parser.add_argument("name", nargs="?", metavar="METHOD", help="show this method's settings")


def _add_one_page(parser: argparse.ArgumentParser) -> None:
    """What the commands on one page share."""
    options.add_site(parser)
    options.add_method(parser)
    options.add_memory_file(parser)
    options.add_overrides(parser)
    options.add_limits(parser)


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
    _add_one_page(parser)


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
    _add_one_page(parser)
