"""The template of a page by the pages that it links, one page at a time.

Whoever loads pages need not be where they are compared: `linked_answer` is handed what was loaded
so far, and names the page that the method wants next, until it wants none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from dehusk import pipeline
from dehusk.answer.override import NO_OVERRIDES, Overrides
from dehusk.answer.result import Result
from dehusk.errors import PageError
from dehusk.memory import Memory
from dehusk.methods.papers.hyperlink import Detection, Hyperlink, detect, normal_url
from dehusk.methods.papers.hyperlink.addresses import Addresses, host_of
from dehusk.methods.papers.hyperlink.links import find_links
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Floats, Tree
from dehusk.settings import Limits
from dehusk.template.graph import LinkGraph

MAX_URL: Final = 2000
"""Characters of a URL that is asked for; longer ones lead nowhere."""
MAX_TRIES: Final = 5
"""Links that may be tried for each page that may be asked for: those that robots.txt forbids, and
others that cost no request, make room for more."""
_MAX_SHOWN: Final = 40
"""Pages in the graph: all links between more would be no picture, and thousands of numbers."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The page that the method asks for next."""

    url: str
    loads: int
    """Pages loaded so far, the key page included."""
    asked: int
    """Pages asked for before this one, whether they could be loaded or not."""


@dataclass(frozen=True, slots=True)
class Load:
    """What became of a page that the method asked for."""

    url: str
    state: str
    """`voted`, `loaded` without a vote, `failed`, or `replaced` for being atypical."""
    reason: str | None = None
    """Why it failed, where that is known."""


@dataclass(frozen=True, slots=True, eq=False)
class Linked:
    """The answer on the key page, and how it came about."""

    result: Result
    detection: Detection
    loads: tuple[Load, ...]
    """In the order in which the method asked."""
    graph: LinkGraph


def linked_answer(
    key: Page,
    pages: Mapping[str, Page],
    failed: Mapping[str, str | None],
    method: Hyperlink,
    limits: Limits = Limits(),
    overrides: Overrides = NO_OVERRIDES,
    trees: dict[str, Tree] | None = None,
) -> Linked | Wanted:
    """The answer on the key page; or the page that the method wants and that was not handed over.

    `pages` are those loaded so far by the URL that was asked for, `failed` are URLs that led
    nowhere, with the reason where it is known. Who asks several times saves work with `trees`, to
    which those of `pages` are added as they are parsed. Raises PageError for the key page.
    """
    loader = _Loader(pages, failed, limits, {} if trees is None else trees)
    asking = _Asking(replace(method, loader=loader))
    try:
        result, _ = pipeline.clean(key, Memory(), pipeline.Setup(asking, limits, overrides))
    except _Missing as missing:
        loaded = sum(tree is not None for tree in loader.asked.values())
        return Wanted(missing.url, 1 + loaded, len(loader.asked))
    (found,) = asking.found
    return Linked(
        result,
        found,
        tuple(_loads(result.tree, found, loader)),
        _graph(result.tree, found, loader),
    )


def search_message(
    method: Hyperlink, key: Tree, found: Detection, option: str = "max_loads"
) -> str:
    """What the method did and could not do, and what it left, for people.

    `option` is what they call the setting that lets it ask for more.
    """
    left = len(find_links(key, Addresses()).inside) + 1 - found.requests
    is_cut = found.requests >= method.max_loads and len(found.pages) < method.size and left > 0
    rest = f"; {left} more not followed: no more than {method.max_loads} pages are asked for"
    return found.message + (f"{rest}; try a higher {option}" if is_cut else "")


def search_among(method: Hyperlink, key: Tree) -> tuple[Hyperlink, Detection]:
    """What the method finds among pages that are at hand, and the method as it was asked.

    To ask for others costs nothing, so they make room, up to `MAX_TRIES` times as many: a search
    that was saved finds what it found, though not all that it asked for is there.
    """
    most = MAX_TRIES * method.max_loads
    asked, found = method, detect(method, key)
    while (enough := min(method.max_loads + len(found.failed), most)) > asked.max_loads:
        asked = replace(asked, max_loads=enough)
        found = detect(asked, key)
    return asked, found


class _Missing(Exception):
    """The method asks for a page that nobody has loaded yet."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.url = url


class _Loader:
    """Gives the pages that were handed over, parsed once each; raises _Missing for any other."""

    def __init__(
        self,
        pages: Mapping[str, Page],
        failed: Mapping[str, str | None],
        limits: Limits,
        trees: dict[str, Tree],
    ) -> None:
        # By what was asked for as it is, too: no spelling may be asked for again and again.
        self._pages = {normal_url(url): page for url, page in pages.items()} | dict(pages)
        self.reasons = {normal_url(url): reason for url, reason in failed.items()} | dict(failed)
        self._limits = limits
        self._trees = trees
        self.asked: dict[str, Tree | None] = {}

    def __call__(self, url: str) -> Tree | None:
        """The tree of the page at the URL; None where it failed or cannot be read."""
        url = normal_url(url)
        if url not in self.asked:
            self.asked[url] = self._load(url)
        return self.asked[url]

    def _load(self, url: str) -> Tree | None:
        if url in self._pages:
            try:
                if url not in self._trees:
                    self._trees[url] = parse(self._pages[url], self._limits).tree
                return self._trees[url]
            except PageError as error:
                self.reasons[url] = error.reason
                return None
        if url in self.reasons:
            return None
        if len(url) > MAX_URL or not _is_unicode(url):
            self.reasons[url] = "its URL is too long, or no text"
            return None
        raise _Missing(url)


def _is_unicode(url: str) -> bool:
    """False for what cannot be sent: half of a pair of surrogates."""
    return url == url.encode("utf-8", "replace").decode()


@dataclass(frozen=True, slots=True)
class _Asking:
    """The method as the pipeline knows methods; what it found besides scores is kept."""

    method: Hyperlink
    found: list[Detection] = field(default_factory=list)
    name = Hyperlink.name

    def learn(self, memory: Memory, tree: Tree) -> Memory:
        return self.method.learn(memory, tree)

    def score(self, memory: Memory, tree: Tree) -> Floats:  # noqa: ARG002  every method is given it
        self.found.append(detect(self.method, tree))
        return self.found[-1].scores


def _loads(key: Tree, found: Detection, loader: _Loader) -> Iterator[Load]:
    """What became of each page that was asked for."""
    states = dict.fromkeys(found.replaced, "replaced") | dict.fromkeys(found.pages, "voted")
    states |= dict.fromkeys(found.failed, "failed")
    states = {normal_url(url): state for url, state in states.items()}
    for url, tree in loader.asked.items():
        state, reason = states.get(url, "loaded"), None
        if tree is None:
            reason = loader.reasons[url]
        elif state == "failed":
            reason = _why_left_out(tree, key)
        yield Load(url, state, reason)


def _why_left_out(tree: Tree, key: Tree) -> str:
    """Why a page that was loaded is not compared with."""
    if host_of(tree.url or "") != host_of(key.url or ""):
        return "it leads to another site"
    is_key = len(tree) == len(key) and tree.subtree_hash[0] == key.subtree_hash[0]
    return "it is the page itself" if is_key else "it is a page that was loaded before"


def _graph(key: Tree, found: Detection, loader: _Loader) -> LinkGraph:
    """The key page, those that voted, others that were loaded."""
    gone = {normal_url(url) for url in found.failed}
    loaded = {url: tree for url, tree in loader.asked.items() if tree is not None}
    trees = {normal_url(key.url or ""): key}
    for url in (*map(normal_url, found.pages), *(url for url in loaded if url not in gone)):
        if len(trees) < _MAX_SHOWN:
            trees.setdefault(url, loaded[url])
    return LinkGraph.of(trees, len(found.pages), found.message)
