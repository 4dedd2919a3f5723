"""The pages around a key page, and which of them link which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from dehusk.methods.papers.hyperlink import Hyperlink, detect, normal_url
from dehusk.methods.papers.hyperlink.addresses import Addresses
from dehusk.methods.papers.hyperlink.links import find_links, sort_links
from dehusk.page.page import Page
from dehusk.page.tree import Tree
from dehusk.settings import Limits
from dehusk.template.templates import PageLoader

_MAX_SHOWN: Final = 14
"""Pages in the picture: those that vote, and the next in the order of the links."""
_MAX_SORTED: Final = 200
"""Links that are sorted for it."""


@dataclass(frozen=True, slots=True)
class LinkGraph:
    """Pages around a key page, and which of them link which."""

    urls: tuple[str, ...]
    """The key page first, then the pages that vote, then others."""
    voters: int
    """How many vote: the subdigraph."""
    links: tuple[tuple[int, int], ...]
    """From and to, by place in `urls`."""
    message: str
    """What the search found, for people."""

    @classmethod
    def of(cls, trees: Mapping[str, Tree], voters: int, message: str) -> LinkGraph:
        """The graph of pages by their URLs, in the order of `urls`."""
        places = {normal_url(url): place for place, url in enumerate(trees)}
        addresses = Addresses()
        links = {
            (place, places[target])
            for place, tree in enumerate(trees.values())
            for target in map(normal_url, addresses.targets(tree))
            if places.get(target, place) != place
        }
        return cls(tuple(trees), voters, tuple(sorted(links)), message)


def link_graph(
    key: Page, pages: Sequence[Page], limits: Limits = Limits(), method: Hyperlink | None = None
) -> LinkGraph:
    """The pages that a key page is compared with, and others that it links."""
    method = method or Hyperlink()
    loader = method.loader or PageLoader([key, *pages], limits)
    tree = loader(key.url or "")
    if key.url is None or tree is None:
        return LinkGraph((key.url or "",), 0, (), "the page has no URL, so its links lead nowhere")
    found = detect(replace(method, loader=loader), tree)
    inside, url = find_links(tree, Addresses()).inside[:_MAX_SORTED], normal_url(key.url)
    order = [link.url for link in sort_links(tree, inside, url)]
    trees = {url: tree}
    for wanted in (*found.pages, *order):
        other = loader(wanted) if len(trees) < _MAX_SHOWN else None
        if other is not None:
            trees.setdefault(wanted, other)
    return LinkGraph.of(trees, len(found.pages), found.message)
