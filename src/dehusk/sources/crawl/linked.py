"""Pages of one site as a method asks for them, one by one, with the crawl's manners and safety."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from dataclasses import replace
from http import HTTPStatus
from typing import Final, Self
from urllib.parse import urlsplit

from dehusk.errors import (
    BadRedirect,
    BadResponse,
    ConnectionFailed,
    FetchError,
    FetchTimeout,
    PageError,
)
from dehusk.page.page import Page
from dehusk.page.urls import site_of
from dehusk.settings import CrawlSettings, SourceSettings, Wish
from dehusk.sources.crawl.fetch import Response
from dehusk.sources.crawl.frontier import (
    Entry,
    credentials_of,
    key_of,
    normal_url,
    read_start,
)
from dehusk.sources.crawl.judge import Judge, read
from dehusk.sources.crawl.network import Network, Paces, is_busy
from dehusk.sources.crawl.scope import LeftOut, Scope
from dehusk.sources.items import Failure

_MAX_SILENCE: Final = 3
"""Pages in a row that nobody answers for, or that the server is too busy for, before the site is
given up: a search may ask for dozens, and each takes as long as `CrawlSettings.timeout_s`, or as
`max_delay_s` where the server says when to come again."""


class LinkedPages:
    """A key page and the pages of its site, fetched when asked for. Use with `with`.

        with LinkedPages("https://example.org/news/", settings) as pages:
            key = pages.fetch(pages.url)
            other = pages.fetch("https://example.org/about")

    As a crawl does, it asks robots.txt first, keeps the delay, connects to public addresses only
    and obeys what pages ask for (noindex, nofollow of the key page's links, data mining). Redirects
    are followed one by one, each checked like a page of its own. The site is that of the key page,
    and where the key page redirects to; all other hosts are refused without being asked. A page is
    fetched once, or fails once, however often it is asked for and under whichever name.

    `fetch` blocks, and may be called from any thread; calls wait for each other. To leave the
    `with` block ends a call that is under way in another thread. Raises UsageError for a key page
    that is no address on the web. `on_page` is told of each page that came, with the answers of the
    server that led to it: redirects first, the page last. Several that share `paces` ask
    each host as slowly together as one does. A `network` that is named must be open, and stays so.
    """

    def __init__(
        self,
        url: str,
        settings: CrawlSettings = CrawlSettings(),
        source_settings: SourceSettings = SourceSettings(),
        on_page: Callable[[Page, Sequence[Response]], None] = lambda *_: None,
        paces: Paces | None = None,
        network: Network | None = None,
    ) -> None:
        start = read_start(url)
        self.url = start.url
        """The key page's, without user and password, which its own host alone is told."""
        # Depth 0: the links of a page are noted, but none is admitted. A page that was asked for
        # by its name is wanted whatever its canonical URL is.
        ignored = settings.ignored | {Wish.CANONICAL}
        self._settings = replace(settings, max_depth=0, ignored=ignored)
        self._source_settings = source_settings
        self._on_page = on_page
        self._is_own = network is None
        self._network = network or Network(self._settings, credentials_of([start]), paces)
        self._sites = {self._scope(frozenset()).site_of(start.url)}
        self._nofollow: frozenset[int] = frozenset()
        self._known: dict[int, Page | PageError] = {}
        self.requests = 0
        """How often pages were asked for: what is forbidden, or known, costs none."""
        self._silence = 0
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        if self._is_own:
            self._network.__enter__()
        return self

    def __exit__(self, *fault: object) -> None:
        if self._is_own:
            self._network.__exit__(*fault)

    def fetch(self, url: str) -> Page:
        """The page at the URL, under the URL that its redirects led to. Raises PageError.

        RobotsRefused, AddressRefused, BadRedirect (a circle, too many, to another site), NotHtml,
        HttpStatus, FetchTimeout, ConnectionFailed, BadResponse, PageTooLarge, Reserved, and
        FetchError for another site.
        """
        normal = normal_url(url)
        if normal is None:
            raise FetchError(url, "not an address on the web")
        with self._lock:
            key = key_of(normal)
            if key not in self._known:
                try:
                    self._known[key] = self._fetch(normal)
                except PageError as error:
                    self._known[key] = error
            found = self._known[key]
        if isinstance(found, PageError):
            raise type(found)(found.url, found.reason)
        return found

    def heed(self, key: Page) -> None:
        """Obey the key page, had elsewhere, in which of its links are not to be followed."""
        html = key.html if isinstance(key.html, bytes) else key.html.encode("utf-8", "replace")
        charset = key.charset if isinstance(key.html, bytes) else "utf-8"
        headers = (("content-type", f"text/html; charset={charset}"),) if charset else ()
        url = key.url or self.url
        reading = read(
            Response(url, HTTPStatus.OK, headers, html), url, self._settings.robots_token
        )
        keys: dict[bool, set[int]] = {True: set(), False: set()}
        for link in reading.links:
            if normal := normal_url(link.url):
                keys[link.nofollow or reading.asked.nofollow].add(key_of(normal))
        if self._settings.obeys(Wish.NOFOLLOW):
            self._nofollow = frozenset(keys[True] - keys[False])

    def _scope(self, sites: frozenset[str]) -> Scope:
        return Scope(self._settings, self._source_settings, self._network.manners, sites)

    def _fetch(self, url: str) -> Page:
        """The page, through its redirects."""
        is_key = url == self.url
        # What one page leads to is judged by itself: a scope lets no URL pass twice.
        scope = self._scope(frozenset() if is_key else frozenset(self._sites))
        judge = Judge(self._settings, self._source_settings, scope)
        if key_of(url) in self._nofollow:
            raise scope.error(url, LeftOut.NOFOLLOW)
        try:
            found = scope.admit_start(url)
            assert found is not None, "a new scope has met nothing"
            if found.reason is not None:
                raise scope.error(url, found.reason)
            page, answers = self._follow(found.entry, judge, is_key=is_key)
        except CancelledError as fault:
            raise ConnectionFailed(url, "no longer wanted") from fault
        if is_key:
            self._sites |= scope.sites
            seen = scope.seen.items()
            self._nofollow = frozenset(key for key, why in seen if why is LeftOut.NOFOLLOW)
        self._on_page(page, answers)
        return page

    def _follow(
        self, entry: Entry | None, judge: Judge, *, is_key: bool
    ) -> tuple[Page, list[Response]]:
        """The page that a URL leads to, and all answers on the way."""
        answers: list[Response] = []
        while entry is not None:
            known = self._known.get(key_of(entry.url))
            if isinstance(known, PageError):
                raise known
            if known is not None:
                return known, answers
            # Another host, to which many may lead, has a delay of its own.
            came_from = urlsplit(answers[-1].url).netloc if answers else None
            is_first = entry.attempts == 0 and urlsplit(entry.url).netloc == came_from
            answer = self._ask(entry.url, is_prompt=is_first)
            if isinstance(answer, FetchTimeout) or (is_busy(answer) and not is_key):
                # Another page may take its place, so nobody waits for it twice.
                entry = replace(entry, attempts=self._settings.retries)
            verdict = judge.judge(entry, answer, None)
            is_silence = isinstance(answer, FetchTimeout | ConnectionFailed) or is_busy(answer)
            self._silence = self._silence if is_silence else 0
            if isinstance(verdict.item, Failure):
                assert isinstance(verdict.item.error, PageError), "it is about one page"
                self._silence += is_silence
                # One redirect too many is so on this way alone.
                if not isinstance(verdict.item.error, BadRedirect):
                    self._known[key_of(entry.url)] = verdict.item.error
                raise verdict.item.error
            assert isinstance(answer, Response) or verdict.again, "a page, a redirect, or again"
            if isinstance(answer, Response) and not verdict.again:
                answers.append(answer)
            if isinstance(verdict.item, Page):
                self._known[key_of(entry.url)] = verdict.item
                return verdict.item, answers
            entry = verdict.again or next((found.entry for found in verdict.found), None)
        raise BadResponse(answers[-1].url, f"status {answers[-1].status}, which was not asked for")

    def _ask(self, url: str, *, is_prompt: bool) -> Response | PageError:
        """What the server answers, unless it has been silent for long."""
        self.requests += 1
        if self._silence >= _MAX_SILENCE:
            return FetchTimeout(url, "not asked for: the site does not answer any more")
        return self._network.fetch(url, is_prompt=is_prompt)


def fetch_pages(
    urls: Sequence[str],
    settings: CrawlSettings = CrawlSettings(),
    source_settings: SourceSettings = SourceSettings(),
    on_page: Callable[[Page, Sequence[Response]], None] = lambda *_: None,
) -> Iterator[Page | Failure]:
    """The page at each URL, in their order, or a Failure where it cannot be had.

    Each is fetched when it is asked for, and nothing else. Raises UsageError at once for what is no
    address on the web.
    """
    starts = [read_start(url) for url in urls]
    credentials = credentials_of(starts)

    def pages() -> Iterator[Page | Failure]:
        with Network(settings, credentials) as network:
            for start in starts:
                linked = LinkedPages(start.url, settings, source_settings, on_page, network=network)
                try:
                    yield linked.fetch(start.url)
                except PageError as error:
                    site = site_of(start.url, None, start.origin, source_settings)
                    yield Failure(error.url, site, error)

    return pages()
