"""The links of a page, how far apart they are, and the order in which they are followed.

After chapter 2.2 of the thesis: hyperlink distance, DOM distance, and Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dehusk.methods.papers.hyperlink.addresses import Addresses, host_of
from dehusk.page.tree import Tree

_FAR: Final = 1 << 30
"""Farther than any two nodes of a tree can be."""

Longs = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Link:
    """A page that is linked, and the first node that links it."""

    url: str
    node: int


@dataclass(frozen=True, slots=True)
class Links:
    """What a page links."""

    inside: tuple[Link, ...] = ()
    """Other pages of its domain, in document order, each once."""
    outside: int = 0
    """How many pages of other domains there are besides."""


def find_links(tree: Tree, addresses: Addresses) -> Links:
    """The pages that a page links, without itself (getLinks of Algorithm 2)."""
    found = addresses.targets(tree)
    domain = host_of(tree.url or "")
    inside = tuple(Link(url, node) for url, node in found.items() if host_of(url) == domain)
    return Links(inside, len(found) - len(inside))


def hyperlink_words(url: str) -> tuple[str, ...]:
    """The host and the folders of a URL, which are all that the hyperlink distance looks at.

    Definition 2.2.4 leaves the name of the resource out. Where a URL does not end in a slash, its
    last word is such a name if there is a dot in it, else a folder, as in example 2.2.6.

    >>> hyperlink_words("https://grain.example/news/rye/index.html")
    ('grain.example', 'news', 'rye')
    """
    address = url.partition("?")[0].partition("#")[0]
    scheme, _, rest = address.partition(":")
    if scheme in ("http", "https", "file"):
        address = rest.lstrip("/")
    host, *folders = address.split("/")
    if scheme == "file":
        host, folders = "", [host, *folders]
    if folders and "." in folders[-1]:
        folders.pop()
    return tuple(word for word in (host, *folders) if word)


def hyperlink_distance(start: Sequence[str], target: Sequence[str]) -> int:
    """How far the folder `target` is from the folder `start` (definition 2.2.5).

    0 for the same, above 0 for so many levels below it, under 0 for so many levels that one must
    climb before the way down to the target begins.
    """
    shared = 0
    for one, other in zip(start, target, strict=False):
        if one != other:
            break
        shared += 1
    return len(target) - shared if shared == len(start) else shared - len(start)


def link_relevance(distance: int) -> tuple[bool, int]:
    """A key that sorts hyperlink distances by relevance: 0, 1, 2 …, then -1, -2 … (2.2.12)."""
    return distance < 0, abs(distance)


def dom_distance(tree: Tree, one: int, other: int) -> int:
    """How many nodes stand on the two paths from where they part (definition 2.2.10)."""
    if one == other:
        return 0
    first, last = sorted((one, other))
    # The lowest depth behind the one and up to the other is that of a child of their ancestor.
    shared = int(tree.depth[first + 1 : last + 1].min()) - 1
    return int(tree.depth[one]) + int(tree.depth[other]) - 2 * shared


def sort_links(tree: Tree, links: Sequence[Link], url: str) -> Iterator[Link]:
    """The links in the order in which they are followed (Algorithm 1), found as they are asked for.

    By link relevance from the page at `url`; of equals the one farthest in the tree from those
    of its rank that come before it, and the first of the rank the one farthest from all other
    links of the page: example 2.2.15 comes out in no other way. What is still equal comes in
    document order.
    """
    start = hyperlink_words(url)
    rank = [link_relevance(hyperlink_distance(start, hyperlink_words(x.url))) for x in links]
    isolation = _isolation(tree, [link.node for link in links])
    by_rank = sorted(range(len(links)), key=lambda place: rank[place])
    for _, group in groupby(by_rank, key=lambda place: rank[place]):
        members = list(group)
        nodes = np.array([links[place].node for place in members], np.int64)
        for chosen in _farthest_first(tree, nodes, isolation[members]):
            yield links[members[chosen]]


def find_menu(tree: Tree, links: Sequence[Link], min_links: int) -> range:
    """The nodes of the page's menu: of the elements with so many links, the one with most a node.

    'The menu has probably one of the higher densities of links in a webpage' (thesis, chapter 8).
    Empty where no element has so many.
    """
    marks = np.zeros(len(tree), np.bool_)
    marks[[link.node for link in links]] = True
    count, size = tree.sums(marks), tree.sums(~tree.is_text)
    density = np.where(count >= min_links, count / np.maximum(size, 1), 0.0)
    menu = int(density.argmax())
    return range(menu, int(tree.end[menu])) if density[menu] else range(0)


def _farthest_first(tree: Tree, nodes: Longs, isolation: Longs) -> Iterator[int]:
    """Places in `nodes`, which stand in document order: the next is farthest from those before."""
    depth = tree.depth[nodes].astype(np.int64)
    shared = _shared_depths(tree, nodes)
    nearest, left = isolation.copy(), np.full(len(nodes), _FAR)
    for _ in range(len(nodes)):
        chosen = int(nearest.argmax())
        yield chosen
        common = np.concatenate((
            np.minimum.accumulate(shared[:chosen][::-1])[::-1],
            depth[chosen : chosen + 1],
            np.minimum.accumulate(shared[chosen:]),
        ))  # fmt: skip
        left = np.minimum(left, depth + depth[chosen] - 2 * common)
        left[chosen] = -1
        nearest = left


def _shared_depths(tree: Tree, nodes: Longs) -> Longs:
    """Of each node and the next one, in document order: the depth of their nearest ancestor."""
    if len(nodes) < 2:
        return np.empty(0, np.int64)
    lowest = np.minimum.reduceat(tree.depth[: nodes[-1] + 1], nodes[:-1] + 1)
    return np.asarray(lowest.astype(np.int64) - 1)


def _isolation(tree: Tree, nodes: Sequence[int]) -> Longs:
    """The DOM distance from each node to the nearest other one; `nodes` are in document order."""
    places = np.array(nodes, np.int64)
    depth, shared = tree.depth[places].tolist(), _shared_depths(tree, places).tolist()
    before = _nearest_before(depth, shared)
    behind = _nearest_before(depth[::-1], shared[::-1])[::-1]
    return np.array([min(pair) for pair in zip(before, behind, strict=True)], np.int64)


def _nearest_before(depth: Sequence[int], shared: Sequence[int]) -> list[int]:
    """The distance from each node to the nearest one before it; a great one for the first.

    A stack holds, by the depth of the ancestor shared with what comes next, the shallowest node
    seen, and the best of all below: each entry is put on it and taken off it once.
    """
    nearest = [_FAR] * min(len(depth), 1)
    stack: list[tuple[int, int, int]] = []
    for place, common in enumerate(shared):
        shallowest = depth[place]
        while stack and stack[-1][0] >= common:
            shallowest = min(shallowest, stack.pop()[1])
        best = shallowest - 2 * common
        stack.append((common, shallowest, min(best, stack[-1][2]) if stack else best))
        nearest.append(depth[place + 1] + stack[-1][2])
    return nearest
