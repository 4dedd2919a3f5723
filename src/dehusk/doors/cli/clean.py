"""`dehusk clean`: pages in, content out."""

from __future__ import annotations

import argparse
import io
import logging
import sys
from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dehusk.answer.fingerprint import Seen
from dehusk.answer.result import Refusal, Result
from dehusk.doors.cli.checks import check_jobs, check_options, check_revision, check_targets
from dehusk.doors.cli.in_jobs import answers_in_jobs, unlocked_stdin
from dehusk.doors.cli.passes import (
    is_wanted,
    is_written,
    learn_again,
    learned_first,
    revision_asked,
)
from dehusk.doors.cli.progress import Progress
from dehusk.errors import NotWritten, PageError, UsageError
from dehusk.memory.memories import Memories
from dehusk.memory.memories import open as open_memories
from dehusk.memory.site import Sites
from dehusk.memory.store import recorded_method
from dehusk.methods import DEFAULT
from dehusk.methods.papers.hyperlink import Hyperlink
from dehusk.methods.written import parse_settings, with_favour
from dehusk.output import (
    NOTHING,
    Format,
    Rendered,
    Writer,
    Written,
    is_markdown_folder,
    open_writer,
    write_llms_txt,
)
from dehusk.page.page import Page
from dehusk.settings import Durable, Limits, SiteBy, SourceSettings
from dehusk.sources import Failure, Read, count_pages, is_web, read_pages, rereadable
from dehusk.template.loader import PageLoader
from dehusk.workers.answering import answer_on

if TYPE_CHECKING:
    from dehusk.page.browser import Browser

_LOG: Final = logging.getLogger("dehusk")


def run(arguments: argparse.Namespace) -> int:
    """Clean all sources; 1 if anything could not be read or used."""
    check_jobs(arguments)
    if not arguments.render:
        return _clean(arguments, None)
    from dehusk.page.browser import Browser  # noqa: PLC0415  nobody else needs asyncio

    with Browser() as browser:
        browser.start()  # One that will not start is said before anything is read.
        return _clean(arguments, browser)


def _clean(arguments: argparse.Namespace, browser: Browser | None) -> int:
    """Clean all sources, as the browser shows them if there is one."""
    limits, source_settings = make_limits(arguments), make_source_settings(arguments)
    revision_asked(arguments)
    check_options(arguments)
    check_targets(arguments)
    if any(map(is_web, arguments.sources)):
        from dehusk.doors.cli import crawl  # noqa: PLC0415 - needs an extra

        with make_sites(arguments, limits, source_settings, browser) as sites:
            return crawl.run(arguments, sites, source_settings, browser)
    left_out: Counter[str] = Counter()
    with ExitStack() as stack:
        stdin = unlocked_stdin() if arguments.jobs > 1 else None
        read: Read = partial(read_pages, arguments.sources, source_settings, stdin)
        if arguments.two_pass:
            read = stack.enter_context(rereadable(arguments.sources, source_settings))
        if browser is not None:
            read = partial(_read_shown, read, browser, limits)
        sites = stack.enter_context(make_sites(arguments, limits, source_settings, browser))
        check_revision(arguments, sites)
        return _answer_all(arguments, read, sites, left_out)


def _read_shown(
    read: Read, browser: Browser, limits: Limits, left_out: Counter[str] | None
) -> Iterator[Page | Failure]:
    """The items that are read, each page as the browser shows it."""
    return as_shown(read(left_out), browser, limits)


def _answer_all(
    arguments: argparse.Namespace,
    read: Read,
    sites: Sites | Memories,
    left_out: Counter[str],
) -> int:
    """Answer on all items and write the answers; 1 if anything could not be read or used."""
    writer = make_writer(arguments, resumes=arguments.resume)
    answers = answers_in_jobs if arguments.jobs > 1 else _one_by_one
    is_live = sys.stderr.isatty() and not arguments.quiet
    total = count_pages(arguments.sources) if is_live else None
    is_json = arguments.log_format == "json"
    progress = Progress(sys.stderr, total, is_quiet=arguments.quiet, is_json=is_json)
    is_whole = False
    # Closed before the memory is: what processes have taught goes there.
    with writer, closing(answers(arguments, read, sites, left_out, writer)) as each:
        try:
            _write_all(arguments, each, sites, writer, progress)
            is_whole = True
        finally:
            progress.finish(left_out, is_whole=is_whole)
    if arguments.llms_txt:
        write_llms_txt(Path(arguments.output))
    return 1 if progress.refusals else 0


def _write_all(
    arguments: argparse.Namespace,
    answers: Iterable[tuple[Page | Failure, Result | Rendered | Refusal | None]],
    sites: Sites | Memories,
    writer: Writer,
    progress: Progress,
) -> None:
    """Write all answers that are wanted, and count them all."""
    seen = Seen() if arguments.unique else None
    for item, answer in answers:
        if answer is None:
            progress.earlier += 1
        elif seen and _is_repeated(seen, answer):
            progress.count(answer, is_duplicate=True)
        elif not is_wanted(arguments, item, answer, sites):
            progress.count(answer, is_unchanged=True)
        else:
            progress.count(_written(answer, writer))


def _written(answer: Result | Rendered | Refusal, writer: Writer) -> Result | Rendered | Refusal:
    """The answer, once it is written; a Refusal where its file cannot be made."""
    try:
        writer.write(answer)
    except NotWritten as error:
        return Refusal(answer.url, answer.site, error)
    return answer


def _one_by_one(
    arguments: argparse.Namespace,
    read: Read,
    sites: Sites | Memories,
    left_out: Counter[str],
    writer: Writer,
) -> Generator[tuple[Page | Failure, Result | Refusal | None], None, None]:
    """Each item with its answer, in order; None where an earlier run has written that."""
    items = read(left_out)
    if arguments.two_pass:
        items = learned_first(arguments, read, sites, left_out)
    for item in items:
        if is_written(arguments, item, writer):
            if not arguments.two_pass:
                learn_again(item, sites)
            yield item, None
            continue
        is_learned = arguments.two_pass
        yield item, answer_on(item, sites, writer.shape.format, is_learned=is_learned)


def _is_repeated(seen: Seen, answer: Result | Rendered | Refusal) -> bool:
    """Does the content of a page nearly repeat that of an earlier one?"""
    if isinstance(answer, Rendered):
        return seen.add_sketch(list(answer.sketch))
    return isinstance(answer, Result) and seen.add(answer.text)


def make_writer(
    arguments: argparse.Namespace, written: Written = NOTHING, *, resumes: bool = False
) -> Writer:
    """A writer to where the options say, behind what was already written. Raises UsageError."""
    if sys.stdout is None and arguments.output in (None, "-"):
        raise UsageError("standard output is closed; name a file with -o")
    chosen = Format(arguments.format) if arguments.format else None
    if arguments.llms_txt and not is_markdown_folder(arguments.output, chosen):
        raise UsageError("--llms-txt needs a folder of Markdown: -o FOLDER/")
    return open_writer(
        arguments.output,
        chosen,
        sys.stdout.buffer if sys.stdout else io.BytesIO(),
        is_terminal=sys.stdout is not None and sys.stdout.isatty(),
        sources=[source for source in arguments.sources if not is_web(source)],
        piece_tokens=arguments.pieces,
        written=written,
        resumes=resumes,
    )


def as_shown(
    items: Iterable[Page | Failure], browser: Browser, limits: Limits
) -> Iterator[Page | Failure]:
    """The items, each page as the browser shows it."""
    for item in items:
        if isinstance(item, Failure):
            yield item
            continue
        try:
            yield browser.render(item, limits)
        except PageError as error:
            yield Failure(item.url, item.site, error)


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


def make_sites(
    arguments: argparse.Namespace,
    limits: Limits,
    source_settings: SourceSettings,
    browser: Browser | None,
) -> AbstractContextManager[Sites | Memories]:
    """The sites to learn. A method that follows links is given the sources, read once for it."""
    method = arguments.method or (recorded_method(arguments.memory) or DEFAULT)
    written = with_favour(method, arguments.settings, arguments.favour)
    settings: dict[str, Any] = parse_settings(method, written)
    if method == Hyperlink.name:
        if "-" in arguments.sources:
            raise UsageError("hyperlink follows links, so it cannot read standard input")
        pages = read_pages(arguments.sources, source_settings)
        show = partial(browser.render, limits=limits) if browser else None
        settings["loader"] = PageLoader((p for p in pages if isinstance(p, Page)), limits, show)
    if not arguments.memory:
        sites = Sites(
            method=method, limits=limits, keep=arguments.keep, drop=arguments.drop, **settings
        )
        return nullcontext(sites)
    return open_memories(
        arguments.memory,
        durable=arguments.durable or Durable.BATCH,
        relearn=arguments.relearn,
        method=method,
        limits=limits,
        keep=arguments.keep,
        drop=arguments.drop,
        **settings,
    )
