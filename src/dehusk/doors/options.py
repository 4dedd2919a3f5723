"""The options that the commands of several doors share, and what they come to.

Without numpy: help is shown at once.
"""

from __future__ import annotations

import argparse
from typing import Any, Final

from dehusk.settings import METHOD, Durable, Favour, Limits, SiteBy, SourceSettings

_LIMITS: Final = Limits()
_SOURCE: Final = SourceSettings()


def add_sources(parser: argparse.ArgumentParser) -> None:
    """What pages to read, and what site they belong to."""
    group = parser.add_argument_group("input")
    group.add_argument(
        "sources",
        nargs="+",
        metavar="SOURCE",
        help="a file or folder of HTML, a WARC or WACZ file, JSON lines or Parquet with `url` and"
        " `html`, or - for standard input; plain, .gz, .xz or .zst; or a web address, whose site is"
        " crawled",
    )
    group.add_argument(
        "--render",
        action="store_true",
        help="show each page in Chromium first, scripts on and network off, and clean what it shows"
        " (install extra: render)",
    )
    add_site(parser)


def add_site(parser: argparse.ArgumentParser) -> None:
    """How the site of a page is known, and what the fields of records are called."""
    group = parser.add_argument_group("sites and fields")
    group.add_argument("--site", metavar="NAME", help="the site of all pages")
    group.add_argument(
        "--site-by",
        choices=[str(choice) for choice in SiteBy],
        default=str(_SOURCE.site_by),
        help="what part of a URL names the site (default: %(default)s)",
    )
    group.add_argument(
        "--html-field",
        default=_SOURCE.html_field,
        metavar="NAME",
        help="the field, or column, with the page (default: %(default)s)",
    )
    group.add_argument(
        "--url-field",
        default=_SOURCE.url_field,
        metavar="NAME",
        help="the field, or column, with the URL (default: %(default)s)",
    )
    group.add_argument(
        "--site-field",
        default=_SOURCE.site_field,
        metavar="NAME",
        help="the field, or column, with the site (default: %(default)s)",
    )


def add_method(parser: argparse.ArgumentParser) -> None:
    """How to tell template from content."""
    group = parser.add_argument_group("method")
    group.add_argument(
        "--method",
        metavar="NAME",
        help="how to tell template from content; `dehusk methods` lists them (default: that of the"
        f" memory, else {METHOD})",
    )
    group.add_argument(
        "--set",
        dest="settings",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting of the method, such as ages=false; `dehusk methods NAME` lists them; may be"
        " repeated",
    )


def add_memory(parser: argparse.ArgumentParser, *, is_required: bool = False) -> None:
    """Where what is learned lasts, and how."""
    group = parser.add_argument_group("memory")
    add_memory_file(group, is_required=is_required)
    group.add_argument(
        "--durable",
        choices=[str(choice) for choice in Durable],
        help="when what a page taught survives a crash: before its answer is given, every 2,048"
        f" pages or 5 seconds, or at the end (default: {Durable.BATCH})",
    )
    group.add_argument(
        "--relearn",
        action="store_true",
        help="learn a page again if its URL is known but the page has changed",
    )


def add_memory_file(
    parser: argparse._ActionsContainer, *, is_required: bool = False
) -> argparse.Action:
    """The file with the memories, as an option of the parser's."""
    return parser.add_argument(
        "--memory",
        metavar="FILE",
        required=is_required,
        help="the file with what sites have taught (by convention NAME.husk), or a database"
        " (postgresql://…)" + ("" if is_required else "; without it a run starts empty"),
    )


def add_overrides(parser: argparse.ArgumentParser) -> None:
    """What the user knows better than the method."""
    group = parser.add_argument_group("what you know better")
    group.add_argument(
        "--favour",
        choices=[str(choice) for choice in Favour],
        help="keep less but surely content (precision), keep all that may be content (recall), or"
        " both alike; for methods that can be told",
    )
    for name, label in (("--keep", "content"), ("--drop", "template")):
        group.add_argument(
            name,
            action="append",
            default=[],
            metavar="CSS",
            help=f"what this selector selects is {label}, with all below it; may be repeated",
        )


def add_limits(parser: argparse.ArgumentParser) -> None:
    """What one page may cost."""
    group = parser.add_argument_group("limits per page")
    group.add_argument(
        "--max-bytes",
        type=positive_int,
        default=_LIMITS.max_bytes,
        metavar="N",
        help="refuse larger pages (default: %(default)s)",
    )
    group.add_argument(
        "--max-nodes",
        type=positive_int,
        default=_LIMITS.max_nodes,
        metavar="N",
        help="refuse pages with more nodes (default: %(default)s)",
    )
    group.add_argument(
        "--max-depth",
        type=positive_int,
        default=_LIMITS.max_depth,
        metavar="N",
        help="nodes deeper than this become siblings, as in browsers (default: %(default)s)",
    )
    group.add_argument(
        "--timeout",
        type=positive_float,
        default=_LIMITS.timeout_s,
        metavar="SECONDS",
        help="give a page up after this time (default: %(default)s)",
    )


def positive_int(text: str) -> int:
    """The whole number above 0 that an option is given."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def positive_float(text: str) -> float:
    """The number above 0 that an option is given."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return number


def make_limits(arguments: argparse.Namespace) -> Limits:
    """The limits that the options name."""
    return Limits(
        max_bytes=arguments.max_bytes,
        max_nodes=arguments.max_nodes,
        max_depth=arguments.max_depth,
        timeout_s=arguments.timeout,
    )


def make_source_settings(arguments: argparse.Namespace) -> SourceSettings:
    """How pages are to be read, as the options say."""
    return SourceSettings(
        site=arguments.site,
        site_by=SiteBy(arguments.site_by),
        html_field=arguments.html_field,
        url_field=arguments.url_field,
        site_field=arguments.site_field,
        max_bytes=arguments.max_bytes,
    )


def chosen_method(arguments: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    """The method that is asked for, else the memory's, else the default, and its settings.

    Raises UsageError.
    """
    from dehusk.memory.store import recorded_method  # noqa: PLC0415  loads numpy
    from dehusk.methods.written import parse_settings, with_favour  # noqa: PLC0415  numpy too

    memory = getattr(arguments, "memory", None)
    name = arguments.method or recorded_method(memory) or METHOD
    return name, parse_settings(name, with_favour(name, arguments.settings, arguments.favour))
