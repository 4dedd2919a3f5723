"""The options that commands share, with their help."""

from __future__ import annotations

import argparse
from typing import Final

from dehusk.output.formats import Format
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


def add_output(parser: argparse.ArgumentParser) -> None:
    """What to write, and where."""
    *formats, last = [choice.row.help for choice in Format]
    named = [str(choice) for choice in Format if choice.row.is_named]
    *cut, last_cut = [str(choice) for choice in Format if choice.row.has_pieces]
    group = parser.add_argument_group("output")
    group.add_argument(
        "--format",
        choices=[str(choice) for choice in Format],
        help=f"how to write pages: {', '.join(formats)}, or {last} (default: by the end of the"
        f" file's name for {' and '.join(named)}, {Format.MARKDOWN} on a terminal or into a folder,"
        f" else {Format.JSONL})",
    )
    group.add_argument(
        "-o",
        "--output",
        metavar="FILE|DIR",
        help="where to write; an existing folder or a name ending in / gets one file per page, a"
        " name ending in .gz is packed (default: standard output)",
    )
    group.add_argument(
        "--pieces",
        type=positive_int,
        metavar="N",
        help="add the content in pieces of at most N tokens, cut at headings and between blocks,"
        f" each with its headings and its place in the page ({', '.join(cut)} and {last_cut}); a"
        " token counts as four characters",
    )
    group.add_argument(
        "--llms-txt",
        action="store_true",
        help="write llms.txt and llms-full.txt for each site, into its folder of Markdown",
    )
    group.add_argument(
        "--unique",
        action="store_true",
        help="leave out pages whose content nearly repeats that of an earlier page of the run: of"
        " the 8 smallest hashes of their runs of 6 words, 4 are the same",
    )
    group.add_argument("-q", "--quiet", action="store_true", help="no progress and no summary")
    group.add_argument(
        "--log-format",
        choices=("text", "json"),
        default="text",
        help="how failures, progress and the summary are written to standard error"
        " (default: %(default)s)",
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


def add_jobs(parser: argparse._ActionsContainer) -> None:
    """How many processes work on pages."""
    parser.add_argument(
        "--jobs",
        type=positive_int,
        default=1,
        metavar="N",
        help="let N processes work on pages, each site in one of them at a time; the same output"
        " in the same order (default: %(default)s)",
    )


def add_passes(parser: argparse.ArgumentParser) -> None:
    """How often the pages are read, and which answers are written."""
    group = parser.add_argument_group("passes")
    add_jobs(group)
    group.add_argument(
        "--two-pass",
        action="store_true",
        help="read all pages twice: learn them first, then answer on each with all that was learned"
        " (standard input goes through a temporary file)",
    )
    group.add_argument(
        "--split-sites",
        action="store_true",
        help="with --two-pass and --jobs: let all processes work on a site at the same time, for"
        " sources with few sites or a very large one; the same output",
    )
    group.add_argument(
        "--revise",
        type=_revision,
        metavar="N|last",
        help="write only pages whose answer has changed since revision N of their site, or since"
        " each was last answered on; needs --memory",
    )


def _revision(text: str) -> str:
    if text != "last" and not (text.isascii() and text.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is neither a whole number nor `last`")
    return text


def add_demo(parser: argparse.ArgumentParser) -> None:
    """What the demo makes, and where."""
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        default="demo",
        help="the folder to write to (default: %(default)s)",
    )
    parser.add_argument(
        "--pages",
        type=positive_int,
        default=40,
        metavar="N",
        help="pages of each site (default: %(default)s)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=1,
        metavar="N",
        help="other seeds give other sites (default: %(default)s)",
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
