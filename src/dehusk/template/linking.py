"""How pages of a site link each other, as `hyperlink` sees it from one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from dehusk.methods.papers.hyperlink import Hyperlink, detect, normal_url
from dehusk.methods.papers.hyperlink.addresses import Addresses
from dehusk.methods.papers.hyperlink.links import find_links, sort_links
from dehusk.page.page import Page
from dehusk.settings import Limits
from dehusk.template.loader import PageLoader

_MAX_SHOWN: Final = 14
"""Pages in the picture: those that vote, and the next in the order of the links."""


@dataclass(frozen=True, slots=True)
class LinkGraph:
    """Pages around a key page, and which of them link which."""

    urls: tuple[str, ...]
    """The key page first, then the pages that vote, then others that it links."""
    voters: int
    """How many vote: the subdigraph."""
    links: tuple[tuple[int, int], ...]
    """From and to, by place in `urls`."""
    message: str
    """What the search found, for people."""


def link_graph(key: Page, pages: Sequence[Page], limits: Limits = Limits()) -> LinkGraph:
    """The pages that a key page is compared with, and how they link each other."""
    loader = PageLoader([key, *pages], limits)
    tree = loader(key.url or "")
    if key.url is None or tree is None:
        return LinkGraph((key.url or "",), 0, (), "the page has no URL, so its links lead nowhere")
    found = detect(Hyperlink(loader=loader), tree)
    addresses = Addresses()
    links = find_links(tree, addresses)
    order = [link.url for link in sort_links(tree, links.inside[:200], normal_url(key.url))]
    wanted = dict.fromkeys([normal_url(key.url), *found.pages, *order])
    urls = [url for url in wanted if loader(url) is not None][:_MAX_SHOWN]
    places = {url: place for place, url in enumerate(urls)}
    edges = []
    for url, place in places.items():
        other = loader(url)
        assert other is not None, "it was loaded a moment ago"
        targets = addresses.targets(other)
        edges += [(place, places[target]) for target in targets if target in places]
    return LinkGraph(
        tuple(urls),
        len(found.pages),
        tuple(sorted({edge for edge in edges if edge[0] != edge[1]})),
        found.message,
    )
