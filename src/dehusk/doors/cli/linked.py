"""Pages of the web compared with those that they link: `template URL`, `clean` by `hyperlink`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

from dehusk.answer.override import overrides
from dehusk.answer.result import Refusal, Result
from dehusk.doors.cli.clean import make_progress, make_writer, write
from dehusk.doors.cli.progress import Progress
from dehusk.doors.cli.web_options import make_crawl_settings
from dehusk.doors.options import (
    MAX_LOADS_OPTION,
    make_limits,
    make_markdown_settings,
    make_source_settings,
)
from dehusk.errors import PageError, Reserved, RobotsRefused, UsageError
from dehusk.methods.papers.hyperlink import Hyperlink
from dehusk.output import Writer
from dehusk.output.archive import Archive, archive_path
from dehusk.page.browser import Browser
from dehusk.page.page import Page
from dehusk.settings import MAX_LOADS, MarkdownSettings, Wish
from dehusk.sources import Failure, Fetch, fetching, is_web
from dehusk.sources.crawl.fetch import Response
from dehusk.sources.crawl.frontier import normal_url, read_start
from dehusk.sources.crawl.network import Paces
from dehusk.sources.crawl.scope import LeftOut
from dehusk.template.fetching import Found, Search
from dehusk.template.linked import search_message


@dataclass(frozen=True, slots=True)
class Searching:
    """Searches, and says what came of it as it goes."""

    search: Search
    progress: Progress

    def run(self, url: str, *, says_votes: bool = True) -> Found:
        """The page at the URL compared with pages that it links. Raises PageError, UsageError.

        Where its owner's wish forbids it, the error says what they can do. Without `says_votes`
        another method judges, and only what was loaded is said.
        """
        try:
            found = self.search.run(url)
        except PageError as error:
            raise _advised(error) from error
        for load in found.answer.loads:
            if load.state == "failed" and load.url in found.pages:
                self.progress.left_out(load.url, load.reason or "")
        if says_votes or not found.answer.detection.pages:
            tree, detection = found.answer.result.tree, found.answer.detection
            said = search_message(self.search.method, tree, detection, MAX_LOADS_OPTION)
            is_judged = found.is_judged or not says_votes
            self.progress.compared(found.key.url, said, is_judged=is_judged)
        return found


_WISHES: Final = {
    Wish.ROBOTS: str(LeftOut.ROBOTS),
    Wish.NOINDEX: str(LeftOut.NOINDEX),
    Wish.TDM: str(LeftOut.TDM),
}
"""What the refusal of a wish says."""


def _advised(error: PageError) -> PageError:
    """The error, with what owners of a site can do where their own wish forbids a page."""
    if not isinstance(error, Reserved | RobotsRefused):
        return error
    wishes = (wish for wish, words in _WISHES.items() if words in error.reason)
    hint = "".join(f"; for a site of your own: --ignore {wish}" for wish in wishes)
    return type(error)(error.url, error.reason + hint)


Save = Callable[[Sequence[Response]], None]
"""Keeps what servers answered."""


@contextmanager
def opened_archive(arguments: argparse.Namespace) -> Iterator[Save]:
    """What keeps answers in the archive of --save; in none without it. Raises UsageError."""
    if arguments.save is None:
        yield lambda _: None
        return
    name = make_crawl_settings(arguments).user_agent
    with Archive(archive_path(arguments.save), name) as archive:
        yield archive.add
        archive.sync()


@contextmanager
def opened_web(arguments: argparse.Namespace) -> Iterator[Fetch]:
    """What fetches the pages that the user names, and saves them if that is asked for."""
    settings, source_settings = make_crawl_settings(arguments), make_source_settings(arguments)
    with opened_archive(arguments) as save:
        fetch = fetching(settings, source_settings, on_page=lambda _, answers: save(answers))
        yield lambda urls: map(advised, fetch(urls))


def advised(item: Page | Failure) -> Page | Failure:
    """The item; a failure with what owners of the site can do about it."""
    if isinstance(item, Failure) and isinstance(item.error, PageError):
        return replace(item, error=_advised(item.error))
    return item


def make_searching(
    arguments: argparse.Namespace,
    settings: dict[str, Any],
    browser: Browser | None,
    progress: Progress,
    save: Save,
) -> Searching:
    """What searches as the options say, with these settings of `hyperlink`."""
    limits = make_limits(arguments)

    def tell(url: str, found: Page | PageError) -> None:
        if isinstance(found, Page):
            # Parameters of campaigns and sessions are left out without a redirect.
            progress.loaded(url, None if normal_url(url) == found.url else found.url)
        else:
            progress.not_loaded(url, found.reason)

    crawl = make_crawl_settings(arguments)
    search = Search(
        Hyperlink(**({"max_loads": MAX_LOADS} | settings)),
        crawl,
        make_source_settings(arguments),
        limits,
        overrides(arguments.keep, arguments.drop),
        (lambda page: page) if browser is None else lambda page: browser.render(page, limits),
        tell,
        lambda _, answers: save(answers),
        Paces(crawl),
    )
    return Searching(search, progress)


def clean(arguments: argparse.Namespace, settings: dict[str, Any], browser: Browser | None) -> int:
    """Clean each page of the web by the pages that it links; 1 if one could not be.

    A page that there is none to compare with is cleaned by itself, or with the papers' equality not
    at all, which counts as one that could not be.
    """
    _check(arguments)
    is_judged = True
    progress = make_progress(arguments, None)
    markdown = make_markdown_settings(arguments)
    with make_writer(arguments) as writer, opened_archive(arguments) as save:
        searching = make_searching(arguments, settings, browser, progress, save)
        try:
            for url in arguments.sources:
                answer, found = _answer(arguments, searching, url, writer, markdown)
                progress.count(answer)
                is_judged = is_judged and (found is None or found.is_judged)
        finally:
            progress.finish()
    return 0 if is_judged and not progress.refusals else 1


def _answer(
    arguments: argparse.Namespace,
    searching: Searching,
    url: str,
    writer: Writer,
    markdown: MarkdownSettings,
) -> tuple[Result | Refusal, Found | None]:
    """The answer on one page, once it is written, and what was found for it."""
    answer: Result | Refusal
    found = None
    try:
        found = searching.run(url)
    except PageError as error:
        answer = Refusal(error.url, None, error)
    else:
        answer = found.answer.result.written_with(markdown)
        writer.prepare(answer)
    return write(arguments, writer, answer) or answer, found


def _check(arguments: argparse.Namespace) -> None:
    """Raise UsageError for what has no meaning where pages are compared with those they link."""
    for url in arguments.sources:
        if not is_web(url):
            raise UsageError("hyperlink fetches what web pages link, so no files in the same run")
        read_start(url)
    names = ("url", "memory", "two_pass", "unique", "revise", "resume", "llms_txt")
    given = [f"--{name.replace('_', '-')}" for name in names if getattr(arguments, name)]
    if given:
        raise UsageError(
            f"{', '.join(given)}: not with hyperlink, which fetches the pages that are named and"
            " what they link, and learns nothing"
        )
