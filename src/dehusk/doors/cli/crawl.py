"""`dehusk crawl`: a site out of the web, cleaned while it is crawled."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from dehusk.answer.result import Refusal, Result
from dehusk.doors.cli.checks import check_lasting, check_targets
from dehusk.doors.cli.clean import is_wanted, make_progress, make_writer, write
from dehusk.doors.cli.learn import make_sites, opened_browser
from dehusk.doors.cli.linked import advised
from dehusk.doors.cli.web_options import make_crawl_settings
from dehusk.doors.options import chosen_method, make_limits, make_source_settings
from dehusk.errors import UsageError
from dehusk.memory.session import Session
from dehusk.methods import HYPERLINK
from dehusk.output import Format, Writer, named_format, write_llms_txt
from dehusk.output.archive import archive_path
from dehusk.settings import CrawlSettings
from dehusk.sources import hint, is_web
from dehusk.sources.crawl.crawler import Crawl
from dehusk.sources.items import as_shown
from dehusk.workers.answering import answer_on
from dehusk.workers.crawling import Crawling

if TYPE_CHECKING:
    from dehusk.page.browser import Browser

IN_FOLDER = "dehusk.crawl"
"""The state of a crawl whose pages go into a folder, in that folder."""
BESIDE_FILE = ".crawl"
"""What is added to the name of the file that a crawl is written to."""


def run(arguments: argparse.Namespace) -> int:
    """Crawl and clean; 1 if anything could not be had or used."""
    _check(arguments)
    with (
        opened_browser(arguments) as browser,
        make_sites(arguments, make_limits(arguments), browser) as sites,
    ):
        return _crawl(arguments, sites, browser)


def _crawl(arguments: argparse.Namespace, sites: Session, browser: Browser | None) -> int:
    """Crawl and clean, as the browser shows the pages if there is one."""
    settings = make_crawl_settings(arguments)
    path = state_path(arguments)
    crawling = Crawling(
        arguments.sources,
        sites,
        settings,
        make_source_settings(arguments),
        path=path,
        resumes=arguments.resume,
        is_fresh=arguments.fresh,
        save=archive_path(arguments.save) if arguments.save is not None else None,
    )
    with crawling, make_writer(arguments, crawling.written) as writer:
        crawl = crawling.crawl
        progress = make_progress(arguments, None, sites, lambda: crawl.waiting)
        progress.earlier = len(crawling.written.pages) if arguments.resume else 0
        is_whole = False
        try:
            for answer in _written(arguments, crawling, sites, browser, writer):
                progress.count(answer)
            is_whole = True
        finally:
            for warning in crawl.warnings:
                progress.warn(warning)
            left_out = {str(reason): count for reason, count in crawl.left_out.items()}
            then = _what_then(settings, crawl, path)
            progress.finish(left_out, then, is_whole=is_whole)
    if arguments.llms_txt:
        write_llms_txt(Path(arguments.output))
    return 1 if progress.refusals else 0


def _written(
    arguments: argparse.Namespace,
    crawling: Crawling,
    sites: Session,
    browser: Browser | None,
    writer: Writer,
) -> Iterator[Result | Refusal]:
    """The answer on each page that comes, once it is written down and noted."""
    for item in crawling:
        for seen in as_shown([item], browser, sites.limits) if browser else [advised(item)]:
            answer = answer_on(seen, sites, writer.prepare)
            is_wanted(arguments, seen, answer, sites)
            answer = write(arguments, writer, answer) or answer
            writer.sync()
            crawling.note(seen, answer, writer.size)
            yield answer


def _check(arguments: argparse.Namespace) -> None:
    """Raise UsageError for what does not go with a crawl."""
    for source in arguments.sources:
        if not is_web(source):
            meant = hint(source) or "; `dehusk clean` reads files and folders"
            raise UsageError(f"{source}: not a web address{meant}")
    check_lasting(arguments)
    check_targets(arguments)
    if chosen_method(arguments)[0] == HYPERLINK:
        raise UsageError(
            "hyperlink compares a page with those that it links: `dehusk clean URL --method"
            " hyperlink`"
        )
    chosen = Format(arguments.format) if arguments.format else named_format(arguments.output)
    if chosen and chosen.row.open is not None:
        raise UsageError(
            f"{chosen.title()} is complete only at its end, and a crawl can be cut off:"
            " save the pages (--save pages.warc.gz), and clean those"
        )


def state_path(arguments: argparse.Namespace) -> Path | None:
    """Where the state of the crawl is kept: as named, else with the output; None for nowhere."""
    if arguments.state:
        return Path(arguments.state)
    output = arguments.output
    if output in (None, "-"):
        if arguments.resume:
            raise UsageError("--resume needs -o, or the --state of the crawl to continue")
        return None
    if output.endswith(("/", os.sep)) or Path(output).is_dir():
        Path(output).mkdir(parents=True, exist_ok=True)
        return Path(output) / IN_FOLDER
    return Path(output + BESIDE_FILE)


def _what_then(settings: CrawlSettings, crawl: Crawl, path: Path | None) -> str:
    """What is left, and how to go on with it."""
    waiting = crawl.waiting
    if not waiting:
        return ""
    wait = "1 URL waits" if waiting == 1 else f"{waiting:,} URLs wait"
    if path is None:
        return f"{wait}; with -o or --state the crawl could be continued\n"
    more = " and more --pages" if crawl.pages >= settings.max_pages else ""
    return f"{wait} in {path}; to go on: the same command with --resume{more}\n"
