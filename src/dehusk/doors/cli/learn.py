"""`dehusk learn`: pages in, only the memory is changed. And what `dehusk clean` learns first."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Generator, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, BinaryIO

from dehusk.answer.result import Refusal
from dehusk.doors.cli.checks import check_folders, check_jobs, check_targets
from dehusk.doors.cli.progress import LearningProgress
from dehusk.doors.options import (
    chosen_method,
    make_limits,
    make_markdown_settings,
    make_source_settings,
)
from dehusk.errors import PageError, StateError, UsageError
from dehusk.memory.opening import open as open_session
from dehusk.memory.session import Session
from dehusk.methods import HYPERLINK
from dehusk.page.page import Page
from dehusk.settings import Durable, Limits
from dehusk.sources import Failure, count_pages, read_pages
from dehusk.sources.items import as_shown
from dehusk.workers.answering import Learned

if TYPE_CHECKING:
    from dehusk.page.browser import Browser
    from dehusk.workers.jobs import Jobs


def run(arguments: argparse.Namespace) -> int:
    """Learn all sources; 1 if anything could not be read or used."""
    check_jobs(arguments)
    with opened_browser(arguments) as browser:
        return _learn(arguments, browser)


@contextmanager
def opened_browser(arguments: argparse.Namespace) -> Iterator[Browser | None]:
    """A browser where pages are to be rendered. One that will not start is said at once."""
    if not arguments.render:
        yield None
        return
    from dehusk.page.browser import Browser  # noqa: PLC0415  nobody else needs asyncio

    with Browser() as browser:
        browser.start()
        yield browser


def _learn(arguments: argparse.Namespace, browser: Browser | None) -> int:
    """Learn all sources, as the browser shows them if there is one."""
    limits, settings = make_limits(arguments), make_source_settings(arguments)
    check_targets(arguments)
    check_folders(arguments.sources)
    stdin = unlocked_stdin() if arguments.jobs > 1 else None
    items = read_pages(arguments.sources, settings, stdin)
    if browser is not None:
        items = as_shown(items, browser, limits)
    progress = learning_progress(arguments)
    with make_sites(arguments, limits, browser) as memory:
        assert memory.is_lasting
        learn = _in_jobs if arguments.jobs > 1 else _one_by_one
        with closing(learn(arguments, items, memory)) as outcomes:
            try:
                for outcome in outcomes:
                    if isinstance(outcome, Refusal):
                        progress.refuse(outcome.error)
                    else:
                        progress.count(is_new=outcome.is_new)
            finally:
                progress.finish()
    return 1 if progress.refusals else 0


def _one_by_one(
    arguments: argparse.Namespace, items: Iterable[Page | Failure], memory: Session
) -> Generator[Learned | Refusal, None, None]:
    """What came of each item, in order."""
    del arguments
    for item in items:
        if isinstance(item, Failure):
            yield Refusal(item.url, item.site, item.error)
            continue
        try:
            yield Learned(memory.learn(item))
        except PageError as error:
            yield Refusal(item.url, item.site, error)


def _in_jobs(
    arguments: argparse.Namespace, items: Iterable[Page | Failure], memory: Session
) -> Generator[Learned | Refusal, None, None]:
    """What came of each item, in order, by several processes."""
    from dehusk.workers.jobs import Jobs  # noqa: PLC0415  one process needs none of it

    with Jobs(memory, arguments.jobs) as jobs:
        yield from jobs.learn(items)


def learn_first(
    arguments: argparse.Namespace,
    items: Iterable[Page | Failure],
    sites: Session,
    jobs: Jobs | None = None,
) -> None:
    """Learn all pages, here or in other processes, before they are asked about.

    What cannot be learned is named when it is asked about, where it fails again.
    """
    progress = learning_progress(arguments)
    pages = (item for item in items if isinstance(item, Page))
    try:
        if jobs is None:
            for page in pages:
                is_new = learn_again(page, sites)
                if is_new is not None:
                    progress.count(is_new=is_new)
        else:
            for outcome in jobs.learn(pages):
                if isinstance(outcome, Learned):
                    progress.count(is_new=outcome.is_new)
    finally:
        progress.finish()


def learn_again(page: Page, sites: Session) -> bool | None:
    """Learn a page whose faults are named elsewhere; True for a new one, None where it failed."""
    try:
        return sites.learn(page)
    except (StateError, UsageError):
        raise  # The memory cannot be written, or no model read: the next page would meet that too.
    except Exception:
        import logging  # noqa: PLC0415  most runs have nothing to log

        logging.getLogger("dehusk").debug("fault on %s", page.url, exc_info=True)
        return None


def learning_progress(arguments: argparse.Namespace) -> LearningProgress:
    """What is told of pages that are learned."""
    is_live = sys.stderr.isatty() and not arguments.quiet
    total = count_pages(arguments.sources) if is_live else None
    return LearningProgress(sys.stderr, total, is_quiet=arguments.quiet)


def unlocked_stdin() -> BinaryIO | None:
    """Standard input for another thread to wait for.

    A thread that waits for the buffered one holds its lock, which ends Python with a fatal error
    where the run is interrupted meanwhile.
    """
    buffered = getattr(sys.stdin, "buffer", None)
    raw: BinaryIO | None = getattr(buffered, "raw", buffered)
    return raw


def make_sites(
    arguments: argparse.Namespace, limits: Limits, browser: Browser | None
) -> AbstractContextManager[Session]:
    """The sites to learn. A method that follows links is given the sources, read once for it."""
    method, settings = chosen_method(arguments)
    if method == HYPERLINK:
        from dehusk.template.templates import PageLoader, redirected  # noqa: PLC0415  seldom

        if "-" in arguments.sources:
            raise UsageError("hyperlink follows links, so it cannot read standard input")
        redirects: dict[str, str] = {}
        items = read_pages(arguments.sources, make_source_settings(arguments), redirects=redirects)
        pages = [item for item in items if isinstance(item, Page)]
        show = partial(browser.render, limits=limits) if browser else None
        settings["loader"] = PageLoader(pages, limits, show, redirected(pages, redirects))
    settings |= {"keep": arguments.keep, "drop": arguments.drop, "limits": limits}
    settings["markdown"] = make_markdown_settings(arguments)
    if not arguments.memory:
        return nullcontext(Session(method=method, **settings))
    return open_session(
        arguments.memory,
        durable=arguments.durable or Durable.BATCH,
        relearn=arguments.relearn,
        method=method,
        **settings,
    )
