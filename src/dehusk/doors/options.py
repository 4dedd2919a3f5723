"""The options that the commands of several doors share, and what they come to.

Without numpy: help is shown at once.
"""

from __future__ import annotations

import argparse
from typing import Any, Final

from dehusk.errors import UsageError
from dehusk.settings import (
    MAX_LOADS,
    METHOD,
    Comments,
    CrawlSettings,
    Durable,
    Favour,
    Images,
    Limits,
    Links,
    MarkdownSettings,
    PageType,
    SiteBy,
    SourceSettings,
    Tables,
)

_LIMITS: Final = Limits()
_SOURCE: Final = SourceSettings()
MAX_LOADS_OPTION: Final = "--max-loads"
_SEARCH: Final = ("size", "votes", "max_loads", "menu", "equality")


def add_sources(parser: argparse.ArgumentParser, *, is_fetched: bool = False) -> None:
    """What pages to read, out of the web too where that `is_fetched`."""
    group = parser.add_argument_group("input")
    group.add_argument(
        "sources",
        nargs="+",
        metavar="SOURCE",
        help="a file or folder of HTML, a WARC or WACZ file, JSON lines or Parquet with `url` and"
        " `html`, plain or compressed; - for standard input"
        + ("; or a web address, for that one page" if is_fetched else ""),
    )
    add_render(group)


def add_url(parser: argparse.ArgumentParser, what: str) -> None:
    """The address of the one page that is read, and what may have one."""
    parser.add_argument("--url", metavar="URL", help=f"the address of the page, where {what}")


def add_render(parser: argparse._ActionsContainer) -> None:
    """Are pages shown in a browser first?"""
    parser.add_argument(
        "--render",
        action="store_true",
        help="load each page in Chromium first, with scripts but without network (install extra:"
        " render)",
    )


def add_site(parser: argparse.ArgumentParser) -> None:
    """How the site of a page is known, and what the fields of records are called."""
    group = parser.add_argument_group("sites and fields")
    add_site_name(group)
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


def add_site_name(group: argparse._ActionsContainer) -> None:
    """How the site of a page is known."""
    group.add_argument("--site", metavar="NAME", help="count all pages as pages of this site")
    group.add_argument(
        "--site-by",
        choices=[str(choice) for choice in SiteBy],
        default=str(_SOURCE.site_by),
        help="what part of a URL names the site (default: %(default)s)",
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


def add_markdown(parser: argparse._ActionsContainer) -> None:
    """What Markdown has of links, images and tables."""
    parser.add_argument(
        "--links",
        choices=[str(choice) for choice in Links],
        default=str(Links.KEEP),
        help="links in Markdown: with addresses, without tracking parameters; text only; addresses"
        " at the end; nothing, not even the text; or with full addresses (default: %(default)s)",
    )
    parser.add_argument(
        "--images",
        choices=[str(choice) for choice in Images],
        default=str(Images.KEEP),
        help="images of the content in Markdown: all with their addresses, only those with"
        " alternative text or a caption, that text alone, or nothing (default: %(default)s)",
    )
    parser.add_argument(
        "--tables",
        choices=[str(choice) for choice in Tables],
        default=str(Tables.GFM),
        help="tables in Markdown: as on GitHub, or as HTML where those cannot hold them"
        " (default: %(default)s)",
    )


def make_markdown_settings(arguments: argparse.Namespace) -> MarkdownSettings:
    """What Markdown is to have, as the options say."""
    return MarkdownSettings(
        Links(arguments.links),
        Images(arguments.images),
        Tables(arguments.tables),
        heading_path=arguments.heading_path,
    )


def add_search(parser: argparse.ArgumentParser) -> None:
    """How `hyperlink` looks for pages to compare with."""
    group = parser.add_argument_group("hyperlink: which pages to compare with")
    group.add_argument(
        "--size",
        type=positive_int,
        metavar="N",
        help="pages that must link each other (default: 3)",
    )
    group.add_argument(
        "--votes",
        type=positive_int,
        metavar="N",
        help="how many of them must have a node for it to be template (default: 2, or the best for"
        " --size)",
    )
    group.add_argument(
        MAX_LOADS_OPTION,
        type=positive_int,
        metavar="N",
        help="load at most this many pages, counting the page itself and dead links (default:"
        f" 5, or two more than --size; with --equality paper {MAX_LOADS} from the web, else 1000)",
    )
    group.add_argument(
        "--menu",
        action=argparse.BooleanOptionalAction,
        help="follow the links of the menu first, or not (default: the method's own choice)",
    )
    group.add_argument(
        "--equality",
        choices=("paper", "text"),
        help="when two nodes are the same: by tag, classes and place, or by what they say"
        " (default: text)",
    )


def add_memory(parser: argparse.ArgumentParser, *, is_required: bool = False) -> None:
    """Where what is learned lasts, and how."""
    group = parser.add_argument_group("memory")
    add_memory_file(group, is_required=is_required)
    group.add_argument(
        "--durable",
        choices=[str(choice) for choice in Durable],
        help="when what pages taught is safe from a crash: before each answer, every 2,048 pages or"
        f" 5 seconds, or at the end (default: {Durable.BATCH})",
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
        help="the memory, which keeps what sites teach: a file (usually NAME.husk) or a database"
        " (postgresql://…)" + ("" if is_required else "; without it a run starts empty"),
    )


def add_overrides(parser: argparse.ArgumentParser) -> None:
    """What the user knows better than the method."""
    group = parser.add_argument_group("what you know better")
    group.add_argument(
        "--favour",
        choices=[str(choice) for choice in Favour],
        help="keep only what is surely content (precision), all that may be content (recall), or"
        " weigh both equally (balance); for methods that support it",
    )
    group.add_argument(
        "--comments",
        choices=[str(choice) for choice in Comments],
        help="readers' comments: in a field of their own (default; only in JSON lines and Parquet),"
        " kept in the content, or dropped; with auto",
    )
    group.add_argument(
        "--type",
        choices=[str(choice) for choice in PageType],
        help="what kind all pages are, if you know; with auto",
    )
    for name, label in (("--keep", "content"), ("--drop", "template")):
        group.add_argument(
            name,
            action="append",
            default=[],
            metavar="CSS",
            help=f"what this selector matches is {label}; may be repeated",
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
        help="give up on a page after this much CPU time, or thirty times as long by the clock"
        " (default: %(default)s)",
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


def seconds(text: str) -> float:
    """The seconds, 0 or above, that an option is given."""
    try:
        return 0.0 if text.strip() in ("0", "0.0") else positive_float(text)
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds") from None


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
    names = ("url", "html_field", "url_field", "site_field")
    given = {name: getattr(arguments, name) for name in names if hasattr(arguments, name)}
    site_by = SiteBy(arguments.site_by)
    return SourceSettings(
        site=arguments.site, site_by=site_by, max_bytes=arguments.max_bytes, **given
    )


def search_settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """The settings of `hyperlink` that its options name."""
    given = {name: getattr(arguments, name, None) for name in _SEARCH}
    return {name: value for name, value in given.items() if value is not None}


def plural(count: int, noun: str) -> str:
    """The count, and the noun as it goes with it."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def written_option(name: str) -> str:
    """An option as it is written."""
    return f"--{name.replace('_', '-')}"


def chosen_method(
    arguments: argparse.Namespace, default: str = METHOD, *, is_searching: bool = False
) -> tuple[str, dict[str, Any]]:
    """The method that is asked for, else the memory's, else the default, and its settings.

    Raises UsageError, also for options of `hyperlink` with another method, unless it is searched
    for pages to compare with.
    """
    from dehusk.methods import HYPERLINK  # noqa: PLC0415  numpy too
    from dehusk.methods.written import parse_settings, with_wishes  # noqa: PLC0415  and here

    name = arguments.method or _recorded_method(arguments) or default
    wishes = {wish: getattr(arguments, wish, None) for wish in ("favour", "comments", "type")}
    settings = parse_settings(name, with_wishes(name, arguments.settings, wishes))
    search = search_settings(arguments)
    if name == HYPERLINK:
        from dehusk.methods.papers.hyperlink import best_settings  # noqa: PLC0415  seldom

        return name, best_settings(settings | search)
    if search and not is_searching:
        raise UsageError(f"{', '.join(map(written_option, search))}: only with --method hyperlink")
    return name, settings


def _recorded_method(arguments: argparse.Namespace) -> str | None:
    """The method of the memory that is named; None where none is, or it is a new one."""
    if not getattr(arguments, "memory", None):
        return None
    from dehusk.memory.store import recorded_method  # noqa: PLC0415  loads numpy

    return recorded_method(arguments.memory)


def add_loading(parser: argparse._ActionsContainer) -> None:
    """How single pages are loaded from the web."""
    usual = CrawlSettings()
    parser.add_argument(
        "--delay",
        type=seconds,
        default=usual.delay_s,
        metavar="SECONDS",
        help="between two requests to a host; robots.txt may ask for more (default: %(default)s)",
    )
    parser.add_argument(
        "--user-agent", default=usual.user_agent, metavar="TEXT", help="the name that servers see"
    )
    add_allow_private(parser)


def add_allow_private(parser: argparse._ActionsContainer) -> None:
    """Which hosts may be asked although they are not public."""
    parser.add_argument(
        "--allow-private",
        action="append",
        default=[],
        metavar="HOST",
        help="connect to this host, address or network (10.1.0.0/16) although it is not public; may"
        " be repeated; link-local addresses are always refused",
    )
