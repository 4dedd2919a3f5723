"""`dehusk crawl`: a site out of the web, cleaned while it is crawled."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from dehusk.answer.result import Refusal, Result
from dehusk.doors.cli.checks import check_lasting, check_targets
from dehusk.doors.cli.clean import is_wanted, make_progress, make_writer, write
from dehusk.doors.cli.learn import make_sites, opened_browser
from dehusk.doors.cli.linked import advised
from dehusk.doors.cli.progress import Progress
from dehusk.doors.cli.web_options import make_crawl_settings
from dehusk.doors.options import chosen_method, make_limits, make_source_settings, plural
from dehusk.errors import UsageError
from dehusk.memory.session import Session
from dehusk.methods import HYPERLINK
from dehusk.output import (
    FolderWriter,
    Format,
    Writer,
    is_folder,
    named_format,
    write_llms_txt,
)
from dehusk.output.archive import archive_path
from dehusk.output.whole import check_replaceable, unwritable
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
        folder=Path(arguments.output) if is_folder(arguments.output) else None,
        compares=bool(arguments.changes or arguments.prune),
    )
    with crawling, make_writer(arguments, crawling.written) as writer:
        crawl = crawling.crawl
        progress = make_progress(arguments, None, sites, lambda: crawl.waiting)
        progress.earlier = len(crawling.written.pages) if arguments.resume else 0
        is_whole, told, is_done = False, "", True
        try:
            for answer in _written(arguments, crawling, sites, browser, writer):
                progress.count(answer)
            is_whole = True
            told, is_done = _tell(arguments, crawling, progress)
        finally:
            for warning in crawl.warnings:
                progress.warn(warning)
            left_out = {str(reason): count for reason, count in crawl.left_out.items()}
            then = told + _what_then(settings, crawl, path)
            progress.finish(left_out, then, is_whole=is_whole)
    if arguments.llms_txt:
        write_llms_txt(Path(arguments.output))
    return 1 if progress.refusals or not is_done else 0


def _tell(
    arguments: argparse.Namespace, crawling: Crawling, progress: Progress
) -> tuple[str, bool]:
    """What is other than in the crawl before, written and pruned as asked; was it all done?"""
    changes = crawling.changes()
    if arguments.changes:
        changes.write(Path(arguments.changes))
    is_done = not (arguments.prune and changes.doubt)
    pruned = crawling.prune() if arguments.prune and is_done else 0
    crawling.note_told()
    progress.changes = {**changes.counts, "pruned": pruned}
    if not changes.known:
        return "", True
    counts = ", ".join(f"{count:,} {kind}" for kind, count in changes.counts.items())
    then = f" ({plural(pruned, 'output')} removed)" if pruned else ""
    told = f"since the crawl before: {counts}{then}\n"
    if changes.doubt and (arguments.changes or arguments.prune):
        what = "not every page that is gone is told" if is_done else "no output was removed"
        told += f"{what}: {changes.doubt}\n"
    return told, is_done


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
            if arguments.changes and isinstance(answer, Result):
                crawling.compare(answer, writer.shape)
            answer = write(arguments, writer, answer) or answer
            writer.sync()
            is_skipped = arguments.skip_problems and answer.problem is not None
            file = None
            if isinstance(writer, FolderWriter) and not is_skipped:
                file = writer.last_name
            crawling.note(seen, answer, writer.size, file)
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
    _check_changes(arguments)
    chosen = Format(arguments.format) if arguments.format else named_format(arguments.output)
    if chosen and chosen.row.open is not None:
        raise UsageError(
            f"{chosen.title()} is complete only at its end, and a crawl can be cut off:"
            " save the pages (--save pages.warc.gz), and clean those"
        )


def _check_changes(arguments: argparse.Namespace) -> None:
    """Raise UsageError where nobody could tell what has changed, or what to take away."""
    if arguments.prune and not is_folder(arguments.output):
        raise UsageError("--prune needs a folder with a file for each page: -o FOLDER/")
    if arguments.prune and arguments.fresh:
        raise UsageError("--prune: --fresh forgets which pages there were; crawl again without it")
    if arguments.changes is None:
        return
    if arguments.output in (None, "-") and not arguments.state:
        raise UsageError("--changes needs -o or --state: the crawl's state knows what there was")
    if arguments.changes in ("", "-"):
        raise UsageError("--changes needs the name of a file")
    try:
        check_replaceable(Path(arguments.changes))
    except OSError as fault:
        raise unwritable(arguments.changes, fault, "name another file") from fault


def state_path(arguments: argparse.Namespace) -> Path | None:
    """Where the state of the crawl is kept: as named, else with the output; None for nowhere."""
    if arguments.state:
        return Path(arguments.state)
    output = arguments.output
    if output in (None, "-"):
        if arguments.resume:
            raise UsageError("--resume needs -o, or the --state of the crawl to continue")
        return None
    if is_folder(output):
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
