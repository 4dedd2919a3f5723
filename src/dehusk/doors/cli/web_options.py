"""The options of commands that fetch pages, and what they come to. Without numpy."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Final

from dehusk.doors.options import add_allow_private, positive_float, seconds, written_option
from dehusk.settings import CrawlSettings, Wish

_USUAL: Final = CrawlSettings()
_FETCHING: Final = (
    *("ignore", "delay", "max_delay", "user_agent", "fetch_timeout", "retries", "max_redirects"),
    *("allow_private", "save"),
)


def add_fetching(parser: argparse.ArgumentParser) -> None:
    """How pages are fetched from the web, by crawls and by searches."""
    group = parser.add_argument_group("fetching from the web: how fast, and how safe")
    group.add_argument(
        "--delay",
        type=seconds,
        metavar="SECONDS",
        help="between two requests to a host; robots.txt may ask for more"
        f" (default: {_USUAL.delay_s})",
    )
    group.add_argument(
        "--max-delay",
        type=seconds,
        metavar="SECONDS",
        help="the most that Crawl-delay or Retry-After can ask for"
        f" (default: {_USUAL.max_delay_s})",
    )
    group.add_argument(
        "--fetch-timeout",
        type=positive_float,
        metavar="SECONDS",
        help=f"how long a request may take, from start to end (default: {_USUAL.timeout_s})",
    )
    group.add_argument(
        "--retries",
        type=whole_number,
        metavar="N",
        help=f"retries after a failure of the network or the server (default: {_USUAL.retries})",
    )
    group.add_argument(
        "--max-redirects",
        type=whole_number,
        metavar="N",
        help=f"redirects in a row to follow (default: {_USUAL.max_redirects})",
    )
    group.add_argument("--user-agent", metavar="TEXT", help="the name that servers see")
    group.add_argument(
        "--ignore",
        action="append",
        default=[],
        choices=[str(wish) for wish in Wish],
        help="ignore this wish, on a site of your own; may be repeated",
    )
    add_allow_private(group)
    group.add_argument(
        "--save",
        metavar="PATH",
        help="keep the pages that are fetched, for other commands to read: a file ending in .warc"
        " or .warc.gz, or a folder",
    )


def given_options(arguments: argparse.Namespace) -> list[str]:
    """The options about the web that the user gave, as they are written."""
    given = [(name, getattr(arguments, name)) for name in _FETCHING]
    # A 0 is given, though it equals False.
    return [
        written_option(name)
        for name, value in given
        if value is not None and value is not False and value != []
    ]


def make_crawl_settings(arguments: argparse.Namespace) -> CrawlSettings:
    """How to fetch, as the options say; a command without those of a crawl has the usual ones."""
    given = {
        "max_pages": getattr(arguments, "pages", None),
        "max_depth": getattr(arguments, "depth", None),
        "delay_s": arguments.delay,
        "max_delay_s": arguments.max_delay,
        "concurrency": getattr(arguments, "concurrency", None),
        "user_agent": arguments.user_agent,
        "timeout_s": arguments.fetch_timeout,
        "max_redirects": arguments.max_redirects,
        "retries": arguments.retries,
    }
    usual = CrawlSettings(
        max_bytes=arguments.max_bytes,
        allow_private=tuple(arguments.allow_private),
        include=tuple(getattr(arguments, "include", ())),
        exclude=tuple(getattr(arguments, "exclude", ())),
        ignored=frozenset(map(Wish, arguments.ignore)),
        sitemaps=not getattr(arguments, "no_sitemaps", False),
    )
    return replace(usual, **{name: value for name, value in given.items() if value is not None})


def whole_number(text: str) -> int:
    """The whole number, 0 or above, that an option is given."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)
