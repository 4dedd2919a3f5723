"""The options of `dehusk clean` for web addresses, with their help."""

from __future__ import annotations

import argparse
from typing import Final

from dehusk.cli.options import positive_float, positive_int

CRAWL_PAGES: Final = 1000
CRAWL_DEPTH: Final = 500
CRAWL_DELAY_S: Final = 1.0
CRAWL_MAX_DELAY_S: Final = 60.0
CRAWL_TIMEOUT_S: Final = 30.0
CRAWL_RETRIES: Final = 2
CRAWL_REDIRECTS: Final = 10
WISHES: Final = ("robots", "nofollow", "noindex", "tdm", "canonical")
"""What `CrawlSettings` and `Wish` say too; a test compares. --help must not load them."""


def add_crawl(parser: argparse.ArgumentParser) -> None:
    """How to crawl, where a SOURCE is a web address."""
    add_crawl_extent(parser.add_argument_group("crawling: how much"))
    add_crawl_pace(parser.add_argument_group("crawling: how fast, and how safe"))


def add_crawl_extent(group: argparse._ArgumentGroup) -> None:
    """How much of a site to crawl, and how to go on with it."""
    group.add_argument(
        "--pages",
        type=positive_int,
        default=CRAWL_PAGES,
        metavar="N",
        help="stop after so many pages (default: %(default)s)",
    )
    group.add_argument(
        "--depth",
        type=_whole_number,
        default=CRAWL_DEPTH,
        metavar="N",
        help="follow so many links from the start (default: %(default)s)",
    )
    group.add_argument(
        "--include",
        action="append",
        default=[],
        metavar="PATTERN",
        help="only URLs like this, with * and ?; may be repeated",
    )
    group.add_argument(
        "--exclude",
        action="append",
        default=[],
        metavar="PATTERN",
        help="no URLs like this; may be repeated",
    )
    group.add_argument(
        "--ignore",
        action="append",
        default=[],
        choices=WISHES,
        help="a wish of the site to pass over, for a site of your own; may be repeated",
    )
    group.add_argument("--no-sitemaps", action="store_true", help="do not read sitemaps")
    again = group.add_mutually_exclusive_group()
    again.add_argument(
        "--resume",
        action="store_true",
        help="go on with a crawl that was cut off; begins one where there is none",
    )
    again.add_argument(
        "--fresh",
        action="store_true",
        help="forget an earlier crawl, and write its output anew",
    )
    group.add_argument(
        "--state",
        metavar="FILE",
        help="where the crawl keeps what it needs to go on (default: dehusk.crawl in the output"
        " folder, or the output file's name with .crawl; nowhere for standard output)",
    )


def add_crawl_pace(group: argparse._ArgumentGroup) -> None:
    """How fast to crawl, under what name, and what to connect to."""
    group.add_argument(
        "--delay",
        type=_seconds,
        default=CRAWL_DELAY_S,
        metavar="SECONDS",
        help="between two requests to a host; robots.txt may ask for more (default: %(default)s)",
    )
    group.add_argument(
        "--max-delay",
        type=_seconds,
        default=CRAWL_MAX_DELAY_S,
        metavar="SECONDS",
        help="the most that Crawl-delay or Retry-After can ask for (default: %(default)s)",
    )
    group.add_argument(
        "--concurrency",
        type=positive_int,
        default=1,
        metavar="N",
        help="requests to a host at a time (default: %(default)s)",
    )
    group.add_argument("--user-agent", metavar="TEXT", help="the name to crawl under")
    group.add_argument(
        "--fetch-timeout",
        type=positive_float,
        default=CRAWL_TIMEOUT_S,
        metavar="SECONDS",
        help="for a request from its beginning to its end (default: %(default)s)",
    )
    group.add_argument(
        "--retries",
        type=_whole_number,
        default=CRAWL_RETRIES,
        metavar="N",
        help="times to ask again where the network or the server failed (default: %(default)s)",
    )
    group.add_argument(
        "--max-redirects",
        type=_whole_number,
        default=CRAWL_REDIRECTS,
        metavar="N",
        help="redirects in a row to follow (default: %(default)s)",
    )
    group.add_argument(
        "--allow-private",
        action="store_true",
        help="connect to addresses that are not public too: this machine, the local network",
    )


def _whole_number(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)


def _seconds(text: str) -> float:
    return 0.0 if text.strip() in ("0", "0.0") else positive_float(text)
