"""A page of the web and the pages that it links, fetched as `hyperlink` asks for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dehusk.answer.override import NO_OVERRIDES, Overrides
from dehusk.errors import PageError
from dehusk.methods import make_method
from dehusk.methods.papers.hyperlink import Hyperlink, best_settings
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Tree
from dehusk.settings import MAX_LOADS, CrawlSettings, Limits, SourceSettings
from dehusk.sources.crawl.fetch import Response
from dehusk.sources.crawl.linked import LinkedPages
from dehusk.sources.crawl.network import Paces
from dehusk.template.linked import MAX_TRIES, Linked, linked_answer
from dehusk.template.templates import PageLoader, Template, template_of

OnLoad = Callable[[str, Page | PageError], object]
"""Is told of each URL that was asked for, and of the page that came or why none did."""


@dataclass(frozen=True, slots=True)
class Found:
    """A key page, the pages that its search loaded, and what came of it."""

    key: Page
    pages: dict[str, Page]
    """By the URL that was asked for; their own is where its redirects led to."""
    answer: Linked
    method: Hyperlink
    """The search with as many loads as it came to, those that cost no request included."""

    @property
    def others(self) -> list[Page]:
        """The pages besides the key page, each once, in the order loaded."""
        once = {page.url: page for page in self.pages.values()}
        once.pop(self.key.url, None)
        return list(once.values())

    @property
    def is_judged(self) -> bool:
        """Was the page judged, by others or by itself? By the papers it is not by itself."""
        return bool(self.answer.detection.pages) or self.answer.detection.page_counts

    def search(self, limits: Limits) -> Hyperlink:
        """The same search among what was loaded: other pages are judged by it as well."""
        loader = PageLoader([self.key, *self.others], limits, names=self.pages)
        return replace(self.method, loader=loader)


@dataclass(frozen=True, slots=True)
class Search:
    """Fetches key pages and what `hyperlink` asks for.

    `show` makes of each page what a browser shows of it. `on_load` is told of every page that was
    asked for, the key page first; `on_page` of each that came, with the answers of its server.
    Searches that share `paces` ask a host no faster than one.
    """

    method: Hyperlink
    crawl: CrawlSettings = CrawlSettings()
    source: SourceSettings = SourceSettings()
    limits: Limits = Limits()
    overrides: Overrides = NO_OVERRIDES
    show: Callable[[Page], Page] = lambda page: page
    on_load: OnLoad = lambda *_: None
    on_page: Callable[[Page, Sequence[Response]], None] = lambda *_: None
    paces: Paces | None = None

    def run(self, url: str) -> Found:
        """The page at the URL compared with pages that it links. Raises PageError, UsageError."""
        pages: dict[str, Page] = {}
        failed: dict[str, str | None] = {}
        trees: dict[str, Tree] = {}
        method, most = self.method, MAX_TRIES * self.method.max_loads
        with LinkedPages(url, self.crawl, self.source, self.on_page, self.paces) as linked:
            key = self.show(linked.fetch(linked.url))
            self.on_load(linked.url, key)
            while True:
                answer = linked_answer(
                    key, pages, failed, method, self.limits, self.overrides, trees
                )
                if isinstance(answer, Linked):
                    return Found(key, pages, answer, method)
                before = linked.requests
                loaded = self._load(answer.url, linked, trees)
                if linked.requests == before:
                    method = replace(method, max_loads=min(method.max_loads + 1, most))
                if isinstance(loaded, PageError):
                    failed[answer.url] = loaded.reason
                else:
                    pages[answer.url] = loaded
                self.on_load(answer.url, loaded)

    def _load(self, url: str, linked: LinkedPages, trees: dict[str, Tree]) -> Page | PageError:
        """The page that is wanted, or why it cannot be had."""
        try:
            page = self.show(linked.fetch(url))
            trees[url] = parse(page, self.limits).tree  # Said now, not when it has been counted on.
        except PageError as error:
            return error
        return page


def template_at(
    url: str,
    *,
    method: str = Hyperlink.name,
    crawl: CrawlSettings = CrawlSettings(),
    limits: Limits = Limits(),
    keep: str | Iterable[str] = (),
    drop: str | Iterable[str] = (),
    show: Callable[[Page], Page] = lambda page: page,
    on_load: OnLoad = lambda *_: None,
    paces: Paces | None = None,
    **settings: Any,
) -> Template:
    """The template of a page on the web, found by comparing it with pages that it links to.

    These are the pages that `hyperlink` asks for, with the settings of the command line; another
    method compares with the same pages. A page that cannot be loaded is skipped. `on_load` is
    called with each URL that was requested, and the page or the PageError. Calls that share `paces`
    ask a host no faster than one. Raises PageError for the page itself.
    """
    is_search = method == Hyperlink.name
    chosen = best_settings(settings if is_search else {})
    make_method(method, **chosen if is_search else settings)  # Wrong settings fetch nothing.
    source = SourceSettings(max_bytes=limits.max_bytes)
    search = Search(
        Hyperlink(**{"max_loads": MAX_LOADS} | chosen),
        crawl,
        source,
        limits,
        show=show,
        on_load=on_load,
        paces=paces,
    )
    found = search.run(url)
    if is_search:
        repeated = found.search(limits)
        settings = chosen | {"loader": repeated.loader, "max_loads": repeated.max_loads}
    return template_of(
        found.key,
        found.others,
        method=method,
        limits=limits,
        keep=keep,
        drop=drop,
        **settings,
    )
