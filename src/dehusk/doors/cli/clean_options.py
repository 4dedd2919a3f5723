"""The options of `dehusk clean`, `crawl` and `learn`, apart from their work: help never waits."""

from __future__ import annotations

import argparse
from typing import Final

from dehusk.doors import options
from dehusk.doors.cli import web_options
from dehusk.doors.cli.parser import Parser
from dehusk.doors.cli.web_options import whole_number
from dehusk.doors.options import positive_int
from dehusk.output.formats import Format
from dehusk.settings import CrawlSettings

_USUAL: Final = CrawlSettings()


def add_clean(parser: Parser) -> None:
    """Pages, how they are judged, and where the answers go."""
    options.add_sources(parser, is_fetched=True)
    options.add_url(parser, "SOURCE is one file of HTML or standard input")
    written = _add_answers(parser)
    written.add_argument(
        "--unique",
        action="store_true",
        help="leave out pages whose content nearly repeats an earlier page of the run",
    )
    _add_passes(parser)
    parser.add_argument(
        "--resume",
        action="store_true",
        help="continue a run over files that was cut off; starts one if there is none",
    )
    options.add_site(parser)
    options.add_search(parser)
    parser.elsewhere = (
        add_crawl,
        "`dehusk clean` takes the pages that you name; `dehusk crawl URL` takes a whole site",
    )


def add_crawl(parser: Parser) -> None:
    """Where to start, how far to go, and where the answers go."""
    parser.add_argument(
        "sources", nargs="+", metavar="URL", help="where to start: a web address of the site"
    )
    options.add_render(parser)
    _add_answers(parser)
    _add_crawling(parser.add_argument_group("crawling: how much"))
    options.add_site_name(parser.add_argument_group("sites"))
    parser.set_defaults(revise=None)
    parser.elsewhere = (
        add_clean,
        "not while a site is crawled; save its pages (--save FILE), and `dehusk clean FILE`",
    )


def _add_answers(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Where the answers go, how pages are judged and fetched; the group on what is written."""
    _add_output(parser)
    options.add_memory(parser)
    written = parser.add_argument_group("what is written")
    _add_written(written)
    options.add_overrides(parser)
    web_options.add_fetching(parser)
    options.add_method(parser)
    options.add_limits(parser)
    return written


def add_learn(parser: argparse.ArgumentParser) -> None:
    """Pages, and the memory that learns them."""
    options.add_sources(parser)
    options.add_memory(parser, is_required=True)
    options.add_site(parser)
    options.add_method(parser)
    _add_jobs(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress and no summary")
    options.add_limits(parser)
    parser.set_defaults(favour=None, keep=(), drop=(), links="keep", images="keep", tables="gfm")
    parser.set_defaults(heading_path=False)


def _add_output(parser: argparse.ArgumentParser) -> None:
    """What to write, and where."""
    *formats, last = [choice.row.help for choice in Format]
    group = parser.add_argument_group("output")
    group.add_argument(
        "-o",
        "--output",
        metavar="FILE|DIR",
        help="where to write: a file, compressed if it ends in .gz, or a folder (it exists, or ends"
        " in /) with a file for each page (default: standard output)",
    )
    group.add_argument(
        "--format",
        type=Format.named,
        choices=list(Format),
        metavar="FORMAT",
        help=f"{', '.join(formats)} or {last} (default: what FILE ends in, such as .jsonl; else"
        f" {Format.MARKDOWN})",
    )
    group.add_argument("-q", "--quiet", action="store_true", help="no progress and no summary")
    group.add_argument(
        "--log-format",
        choices=("text", "json"),
        default="text",
        help="how failures, progress and the summary are written to standard error"
        " (default: %(default)s)",
    )


def _add_written(group: argparse._ArgumentGroup) -> None:
    """What the output has of a page, and of which pages."""
    *cut, last_cut = [str(choice) for choice in Format if choice.row.has_pieces]
    options.add_markdown(group)
    group.add_argument(
        "--front-matter",
        action=argparse.BooleanOptionalAction,
        help="begin each page of Markdown with what is known of it, as YAML, or not"
        " (default: it does)",
    )
    group.add_argument(
        "--pieces",
        type=positive_int,
        metavar="N",
        help="add the content in pieces of at most N tokens of four characters, cut at headings and"
        f" between blocks ({', '.join(cut)} and {last_cut})",
    )
    group.add_argument(
        "--heading-path",
        action="store_true",
        help="begin the text of each piece with a line of the headings above it",
    )
    group.add_argument(
        "--structured",
        action="store_true",
        help="add the page's JSON-LD, microdata and Open Graph (jsonl and parquet)",
    )
    group.add_argument(
        "--llms-txt",
        action="store_true",
        help="write llms.txt and llms-full.txt for each site, into its folder of Markdown",
    )
    group.add_argument(
        "--skip-problems",
        action="store_true",
        help="leave out pages that are not what you wanted: bot, consent and login walls, paywalls,"
        " soft 404s, error pages, empty searches and empty pages",
    )


def _add_jobs(parser: argparse._ActionsContainer) -> None:
    """How many processes work on pages."""
    parser.add_argument(
        "--jobs",
        type=positive_int,
        default=1,
        metavar="N",
        help="use N processes; the output stays the same (default: %(default)s)",
    )


def _add_passes(parser: argparse.ArgumentParser) -> None:
    """How often the pages are read, and which answers are written."""
    group = parser.add_argument_group("passes")
    _add_jobs(group)
    group.add_argument(
        "--two-pass",
        action="store_true",
        help="read all pages twice: learn them first, then clean each with all that was learned",
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
        " each was last cleaned; needs --memory",
    )


def _revision(text: str) -> str:
    if text != "last" and not (text.isascii() and text.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is neither a whole number nor `last`")
    return text


def _add_crawling(group: argparse._ArgumentGroup) -> None:
    """How much of a site to crawl, and how to go on with it."""
    group.add_argument(
        "--pages",
        type=positive_int,
        metavar="N",
        help=f"crawl at most this many pages (default: {_USUAL.max_pages})",
    )
    group.add_argument(
        "--depth",
        type=whole_number,
        metavar="N",
        help=f"follow links up to this far from the start (default: {_USUAL.max_depth})",
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
        "--concurrency",
        type=positive_int,
        metavar="N",
        help=f"requests to a host at a time (default: {_USUAL.concurrency})",
    )
    group.add_argument("--no-sitemaps", action="store_true", help="do not read sitemaps")
    again = group.add_mutually_exclusive_group()
    again.add_argument(
        "--resume",
        action="store_true",
        help="continue a crawl that was cut off; starts one if there is none",
    )
    again.add_argument(
        "--fresh",
        action="store_true",
        help="forget an earlier crawl and start over",
    )
    group.add_argument(
        "--changes",
        metavar="FILE",
        help="write a JSON line for each page that is new, changed, moved or gone since the last"
        " crawl",
    )
    group.add_argument(
        "--prune",
        action="store_true",
        help="remove the outputs of pages that are gone, after a full crawl into a folder",
    )
    group.add_argument(
        "--state",
        metavar="FILE",
        help="where the crawl keeps its state, to be resumed (default: dehusk.crawl in the output"
        " folder, or the output file's name with .crawl; nowhere for standard output)",
    )
