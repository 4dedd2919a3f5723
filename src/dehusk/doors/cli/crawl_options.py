"""The options of `dehusk clean` for web addresses, with their help."""

from __future__ import annotations

import argparse
from typing import Final

from dehusk.doors.cli.options import positive_float, positive_int
from dehusk.settings import CrawlSettings, Wish

_USUAL: Final = CrawlSettings()
_NAMES: Final = (
    *("pages", "depth", "include", "exclude", "ignore", "no_sitemaps", "fresh", "state"),
    *("delay", "max_delay", "concurrency", "user_agent", "fetch_timeout", "retries"),
    *("max_redirects", "allow_private"),
)


def given_options(arguments: argparse.Namespace) -> list[str]:
    """The options of crawling that the user gave, as they are written."""
    given = [(name, getattr(arguments, name)) for name in _NAMES]
    # A 0 is given, though it equals False.
    return [
        f"--{name.replace('_', '-')}"
        for name, value in given
        if value is not None and value is not False and value != []
    ]


def add_crawl(parser: argparse.ArgumentParser) -> None:
    """How to crawl, where a SOURCE is a web address."""
    add_crawl_extent(parser.add_argument_group("crawling: how much"))
    add_crawl_pace(parser.add_argument_group("crawling: how fast, and how safe"))


def add_crawl_extent(group: argparse._ArgumentGroup) -> None:
    """How much of a site to crawl, and how to go on with it."""
    group.add_argument(
        "--pages",
        type=positive_int,
        metavar="N",
        help=f"stop after so many pages (default: {_USUAL.max_pages})",
    )
    group.add_argument(
        "--depth",
        type=_whole_number,
        metavar="N",
        help=f"follow so many links from the start (default: {_USUAL.max_depth})",
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
        choices=[str(wish) for wish in Wish],
        help="a wish of the site to pass over, for a site of your own; may be repeated",
    )
    group.add_argument("--no-sitemaps", action="store_true", help="do not read sitemaps")
    again = group.add_mutually_exclusive_group()
    again.add_argument(
        "--resume",
        action="store_true",
        help="go on with a crawl that was cut off, or a run over files into JSON lines or a folder;"
        " begins where there is none",
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
        metavar="SECONDS",
        help="between two requests to a host; robots.txt may ask for more"
        f" (default: {_USUAL.delay_s})",
    )
    group.add_argument(
        "--max-delay",
        type=_seconds,
        metavar="SECONDS",
        help="the most that Crawl-delay or Retry-After can ask for"
        f" (default: {_USUAL.max_delay_s})",
    )
    group.add_argument(
        "--concurrency",
        type=positive_int,
        metavar="N",
        help=f"requests to a host at a time (default: {_USUAL.concurrency})",
    )
    group.add_argument("--user-agent", metavar="TEXT", help="the name to crawl under")
    group.add_argument(
        "--fetch-timeout",
        type=positive_float,
        metavar="SECONDS",
        help=f"for a request from its beginning to its end (default: {_USUAL.timeout_s})",
    )
    group.add_argument(
        "--retries",
        type=_whole_number,
        metavar="N",
        help="times to ask again where the network or the server failed"
        f" (default: {_USUAL.retries})",
    )
    group.add_argument(
        "--max-redirects",
        type=_whole_number,
        metavar="N",
        help=f"redirects in a row to follow (default: {_USUAL.max_redirects})",
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
