"""The library's way in: one page, or a site that is learned page by page."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from dehusk import pipeline
from dehusk.answer.override import overrides
from dehusk.answer.result import Result
from dehusk.memory import Memory, dump, load
from dehusk.methods import DEFAULT, learned_with, make_method
from dehusk.page.page import Page
from dehusk.settings import Limits


def extract(
    html: str | bytes | Page,
    url: str | None = None,
    *,
    charset: str | None = None,
    method: str = DEFAULT,
    limits: Limits = Limits(),
    keep: str | Iterable[str] = (),
    drop: str | Iterable[str] = (),
    **settings: Any,
) -> Result:
    """One page's answer from the page alone, without a memory.

    `keep` and `drop` are CSS selectors: what they select is content, or template, with all below
    it, whatever the method says. Raises SelectorError for what is not CSS.

    >>> extract("<p>Hello</p>").text
    'Hello'
    """
    site = Site(method=method, limits=limits, keep=keep, drop=drop, **settings)
    return site.add(html, url, charset=charset)


class Sites:
    """Any number of sites, each learned by itself, in memory."""

    def __init__(
        self,
        *,
        method: str = DEFAULT,
        limits: Limits = Limits(),
        keep: str | Iterable[str] = (),
        drop: str | Iterable[str] = (),
        **settings: Any,
    ) -> None:
        self.method = make_method(method, **settings)
        self.limits = limits
        self.overrides = overrides(keep, drop)
        self.memories: dict[str, Memory] = {}
        self.not_learned: set[np.uint64] = set()
        """Digests of the pages that `learn` was given in vain."""

    def add(self, page: Page, render: Callable[[Result], object] | None = None) -> Result:
        """Learn a page of its site and answer on it; PageError changes nothing.

        `render` is called with the result before the page counts as learned: a page that cannot
        be rendered is not learned.
        """
        memory = self.memories.get(pipeline.site_of(page), Memory())
        result, memory = pipeline.clean(
            page, memory, self.method, self.limits, render, overrides=self.overrides
        )
        self.memories[result.site] = memory
        return result

    def learn(self, page: Page) -> bool:
        """Learn a page without an answer on it: True, as `Memories.learn` says of a new page."""
        from dehusk.memory.learning import page_digest  # noqa: PLC0415  with it comes all of the store

        site = pipeline.site_of(page)
        memory = self.memories.get(site, Memory())
        try:
            self.memories[site] = pipeline.learn(page, memory, self.method, self.limits)
        except BaseException:  # Ctrl-C too: it was not learned
            self.not_learned.add(page_digest(page, with_html=True))
            raise
        return True

    def ask(self, page: Page, render: Callable[[Result], object] | None = None) -> Result:
        """Answer on a page that `learn` was given, from all that its site has taught.

        One that could not be learned is answered on as if it were the site's next.
        """
        from dehusk.memory.learning import page_digest  # noqa: PLC0415  with it comes all of the store

        is_learned = page_digest(page, with_html=True) not in self.not_learned
        learn = pipeline.as_learned if is_learned else None
        memory = self.memories.get(pipeline.site_of(page), Memory())
        return pipeline.clean(
            page, memory, self.method, self.limits, render, learn, self.overrides
        )[0]


class Site:
    """A site that is learned page by page, in memory.

    >>> site = Site()
    >>> for number in range(6):
    ...     result = site.add(f"<div>Home News</div><p>Page {number}</p>")
    >>> result.text
    'Page 5'
    """

    def __init__(
        self,
        name: str | None = None,
        *,
        method: str = DEFAULT,
        limits: Limits = Limits(),
        keep: str | Iterable[str] = (),
        drop: str | Iterable[str] = (),
        **settings: Any,
    ) -> None:
        self.name = name
        self.method = make_method(method, **settings)
        self.limits = limits
        self.overrides = overrides(keep, drop)
        self.memory = Memory()

    def add(
        self, html: str | bytes | Page, url: str | None = None, *, charset: str | None = None
    ) -> Result:
        """Learn a page and answer on it; a PageError leaves the site as it was."""
        page = self._page(html, url, charset)
        result, self.memory = pipeline.clean(
            page, self.memory, self.method, self.limits, overrides=self.overrides
        )
        return result

    def ask(
        self,
        html: str | bytes | Page,
        url: str | None = None,
        *,
        charset: str | None = None,
        is_learned: bool = False,
    ) -> Result:
        """Answer on a page as if it were the site's next, and forget it again.

        With `is_learned`, answer on a page that the site has learned, from all that it has taught.
        """
        page = self._page(html, url, charset)
        learn = pipeline.as_learned if is_learned else None
        return pipeline.clean(
            page, self.memory, self.method, self.limits, learn=learn, overrides=self.overrides
        )[0]

    def explain(
        self,
        html: str | bytes | Page,
        url: str | None = None,
        *,
        charset: str | None = None,
        is_learned: bool = False,
    ) -> Result:
        """Answer as `ask` does, with what the scores are made of where the method can say it."""
        page = self._page(html, url, charset)
        learn = pipeline.as_learned if is_learned else None
        return pipeline.explain(
            page, self.memory, self.method, self.limits, learn, overrides=self.overrides
        )

    def learn(
        self, html: str | bytes | Page, url: str | None = None, *, charset: str | None = None
    ) -> None:
        """Learn a page without an answer on it."""
        page = self._page(html, url, charset)
        self.memory = pipeline.learn(page, self.memory, self.method, self.limits)

    def _page(self, html: str | bytes | Page, url: str | None, charset: str | None) -> Page:
        """The page to learn. One that is given whole keeps what it says, but for its site."""
        if isinstance(html, Page):
            return replace(html, site=self.name or html.site)
        return Page(html, url, self.name, charset)

    def dump(self) -> bytes:
        """What the site has taught, as bytes that `Site.load` reads."""
        settings = learned_with(self.method)
        return dump(self.memory, self.method.name, settings=settings, site=self.name or "")

    def load(self, state: bytes) -> None:
        """Go on from what `dump` gave for the same name, method and settings; else StateError."""
        settings = learned_with(self.method)
        self.memory = load(state, self.method.name, settings=settings, site=self.name or "")
