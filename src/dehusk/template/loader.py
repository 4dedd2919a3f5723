"""Pages by URL, parsed when they are asked for: what a method that follows links is given."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Final

from dehusk.errors import PageError
from dehusk.methods.papers.hyperlink import normal_url
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Tree
from dehusk.settings import Limits

_KEPT_TREES: Final = 64
"""Trees kept for the next question: the pages that a menu leads to are asked for often."""


class PageLoader:
    """Gives the tree of the page at a URL; None for a URL without a page, or with a broken one.

    `show`, where given, makes of each page what a browser shows of it.
    """

    def __init__(
        self,
        pages: Iterable[Page],
        limits: Limits = Limits(),
        show: Callable[[Page], Page] | None = None,
    ) -> None:
        self._pages = {normal_url(page.url): page for page in pages if page.url}
        self._trees: OrderedDict[str, Tree | None] = OrderedDict()
        self._limits = limits
        self._show = show

    def __call__(self, url: str) -> Tree | None:
        """The tree of the page at this URL."""
        url = normal_url(url)
        if url not in self._trees:
            self._trees[url] = self._parse(url)
            if len(self._trees) > _KEPT_TREES:
                self._trees.popitem(last=False)
        self._trees.move_to_end(url)
        return self._trees[url]

    def _parse(self, url: str) -> Tree | None:
        page = self._pages.get(url)
        if page is None:
            return None
        try:
            return parse(self._show(page) if self._show else page, self._limits).tree
        except PageError:
            return None
