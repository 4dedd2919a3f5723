"""The method `hyperlink`: what a page shares with pages that link each other is its template.

After Alarte, *Site-Level Web Template Extraction Based on Hyperlink Analysis* ('the thesis'), and
Alarte, Insa, Silva and Tamarit, *Site-Level Web Template Extraction based on DOM Analysis*, 2016.

The way of a key page, module by module:

    addresses, links ─► subdigraph ─► equality, mapping ─► vote ─► page_verdict ─► scores
    which links, in     which pages   which nodes are      ▲       (what `auto` says besides)
    what order          to compare    the same       content (what is new, where it stands)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

import numpy as np

from dehusk.errors import PageError, SettingError
from dehusk.memory import Memory
from dehusk.methods.papers.hyperlink.addresses import Addresses, host_of, normal_url
from dehusk.methods.papers.hyperlink.best import BEST, BEST_VOTES, best_settings
from dehusk.methods.papers.hyperlink.content import (
    Shares,
    compare_texts,
    main_content,
    shown_text,
    text_alone,
)
from dehusk.methods.papers.hyperlink.detection import (
    MAX_LINKS,
    Detection,
    Equality,
    Outcome,
    no_answer,
)
from dehusk.methods.papers.hyperlink.equality import Weights
from dehusk.methods.papers.hyperlink.links import Link, find_links, find_menu, sort_links
from dehusk.methods.papers.hyperlink.mapping import Mapper, Rules
from dehusk.methods.papers.hyperlink.page_verdict import (
    PageVerdict,
    template_alone,
    template_together,
)
from dehusk.methods.papers.hyperlink.subdigraph import Search, Step, find_subdigraph
from dehusk.methods.papers.hyperlink.vote import (
    count_votes,
    find_atypical,
    holds_any,
    make_scores,
    mapped_nodes,
    same_nodes,
)
from dehusk.page.tree import Flags, Floats, Ints, Tree

__all__ = [
    "BEST",
    "BEST_VOTES",
    "Detection",
    "Equality",
    "Hyperlink",
    "Loader",
    "Outcome",
    "PageVerdict",
    "best_settings",
    "detect",
    "normal_url",
]

Loader = Callable[[str], Tree | None]
"""Gives the page at a URL, spelled as `normal_url` spells it; None where there is none."""

_MAX_SIZE: Final = 64
_MAX_FAILED: Final = 2
"""Links of a menu that lead nowhere before it is given up."""


@dataclass(frozen=True, slots=True)
class Hyperlink:
    """What a page shares with pages of its site that link each other is template.

    The key page's links are sorted, pages are loaded one by one until `size` of them all link
    each other, and each of these votes for the nodes of the key page that it has as well. Needs a
    `loader`, and pages that know their URL; without them it has no opinion. It learns nothing.
    """

    size: int = 3
    """n: pages that must link each other (section 5.2.2)."""
    votes: int = 2
    """t: pages that must have a node (section 5.2.2); fewer where fewer pages were found."""
    equality: str = Equality.PAPER.value
    """When two nodes are the same: `paper` by tag, classes and place, `text` by what they say."""
    similarity_threshold: float = 0.3
    """Pt: nodes above this equality probability map. Not in the seeds: found by a sweep, see
    docs/methods/hyperlink.md."""
    activate_position: bool = True
    """Children that map keep their order (section 5.2.3)."""
    classes_weight: float = 0.5
    position_weight: float = 0.2
    attributes_weight: float = 0.2
    children_weight: float = 0.1
    not_classes: float = 0.8
    """What two nodes without classes count; the seed prints 'higher than 0,75 and lower than 1'."""
    not_attributes: float = 0.25
    not_children: float = 1.0
    menu: bool = False
    """Follow the links of the menu first, and others only until enough pages can vote."""
    replace_atypical: bool = False
    """Replace a page that lacks what all others have by another one."""
    moved: bool = False
    """Map equal subtrees wherever they stand. With `text` they always do."""
    content_first: bool = False
    """Look for the main content in the page alone, and take it out of what the pages voted for."""
    content_share: float = 0.7
    """What an element must hold of the page's new text to hold the main content, where other
    pages agree. Found by a sweep, as is the next."""
    sure_share: float = 0.9
    """The same where they do not."""
    page_verdict: str = PageVerdict.OFF.value
    """When `auto` has a say: `off`, `few` where too few pages vote, or `always`."""
    sure_score: float = 0.95
    """The score from which `auto` is believed that something amid the content is template. With
    0.8, 0.9 and 0.95 linked-dev has an F1 of 0.905, 0.919 and 0.927, sites-dev 0.936, 0.935 and
    0.933 (`dehusk bench all --only teco-best --only teco-best-sites`)."""
    model: str | None = None
    """The model of `auto` for that, a file; None for the one that comes with dehusk."""
    max_loads: int = 1000
    """Pages to load at most, the key page and links that lead nowhere included."""
    loader: Loader | None = None
    """How other pages are loaded."""

    name = "hyperlink"

    def __post_init__(self) -> None:
        if not 1 <= self.size <= _MAX_SIZE:
            raise SettingError(f"hyperlink: size must be from 1 to {_MAX_SIZE}")
        if not 1 <= self.votes <= self.size:
            raise SettingError("hyperlink: votes must be from 1 to size")
        if self.equality not in tuple(Equality):
            raise SettingError(f"hyperlink: equality must be one of {', '.join(Equality)}")
        if self.page_verdict not in tuple(PageVerdict):
            raise SettingError(f"hyperlink: page_verdict must be one of {', '.join(PageVerdict)}")
        if self.max_loads < 2:
            raise SettingError("hyperlink: max_loads must be at least 2: the key page and another")
        if not 0.5 < self.content_share <= self.sure_share <= 1:
            raise SettingError("hyperlink: 0.5 < content_share <= sure_share <= 1 must hold")
        if self.loader is not None and not callable(self.loader):
            raise SettingError("hyperlink: loader must be a call that takes a URL and gives a tree")
        for name in _PROBABILITIES:
            if not 0 <= getattr(self, name) <= 1:
                raise SettingError(f"hyperlink: {name} must be from 0 to 1")

    def learn(self, memory: Memory, tree: Tree) -> Memory:  # noqa: ARG002  every method is given it
        """The memory with this page counted: the pages to compare with are loaded when asked."""
        return memory.after_page()

    def score(self, memory: Memory, tree: Tree) -> Floats:  # noqa: ARG002  the same
        """The score of each node: above 0.5 if enough pages have it. See `detect` for more."""
        return detect(self, tree).scores

    @property
    def rules(self) -> Rules:
        """When two nodes are mapped."""
        weights = Weights(
            self.classes_weight, self.position_weight, self.attributes_weight,
            self.children_weight, self.not_classes, self.not_attributes, self.not_children,
        )  # fmt: skip
        return Rules(weights, self.similarity_threshold, self.activate_position)


_PROBABILITIES: Final = (
    "similarity_threshold", "classes_weight", "position_weight", "attributes_weight",
    "children_weight", "not_classes", "not_attributes", "not_children", "sure_score",
)  # fmt: skip


def detect(method: Hyperlink, tree: Tree) -> Detection:
    """The template of a page, with all that can be said of how it was found.

    Where no page can be compared with, the outcome says why, and every score is nan; unless
    `page_verdict` lets the page be judged alone.
    """
    if method.loader is None:
        return _without_pages(method, tree, no_answer(tree, Outcome.NO_LOADER, method.size))
    if tree.url is None:
        return _without_pages(method, tree, no_answer(tree, Outcome.NO_URL, method.size))
    case = _Case(method, tree, method.loader)
    search = find_subdigraph(islice(case.steps(), method.max_loads - 1), case.loads.load)
    case.elect(search)
    return case.count(search)


def _without_pages(method: Hyperlink, tree: Tree, found: Detection) -> Detection:
    """The answer where no page can be compared with: none, or that of `auto`."""
    if method.page_verdict == PageVerdict.OFF:
        return found
    is_template = template_alone(tree, method.model)
    return replace(
        found,
        scores=make_scores(tree, found.votes, 0, is_template),
        is_template=is_template,
        page_counts=True,
        is_emptied=_is_emptied(tree, is_template),
    )


def _is_emptied(tree: Tree, is_template: Flags) -> bool:
    """Is there text on the page, and all of it template?"""
    leaf = shown_text(tree)
    return bool(leaf.any() and is_template[leaf].all())


class _Loads:
    """Loads pages, once each, and keeps them until the answer is found."""

    def __init__(self, key: Tree, loader: Loader) -> None:
        self._key, self._loader = key, loader
        self.addresses = Addresses()
        self.pages: dict[str, Tree] = {}
        self.failed: list[str] = []
        self._known: set[str] = set()
        """Where pages stand that were loaded: redirects may lead to one of them again."""

    def load(self, url: str) -> frozenset[str] | None:
        """What the page at the URL links; None where it leads nowhere, out, or to a known page."""
        try:
            page = self._loader(url)
        except PageError:
            page = None
        if page is None or self._leads_away(page):
            self.failed.append(url)
            return None
        self._known.add(normal_url(page.url or url))
        self.pages[url] = page
        return frozenset(self.addresses.targets(page))

    @property
    def requests(self) -> int:
        """How many pages were asked for, the key page included."""
        return 1 + len(self.pages) + len(self.failed)

    def _leads_away(self, page: Tree) -> bool:
        """Is it of another domain, or a page that is known under another name?

        The key page would vote for all of itself, another twice.
        """
        if page.url is not None and normal_url(page.url) in self._known:
            return True
        if page.url is not None and host_of(page.url) != host_of(self._key.url or ""):
            return True
        # Hashes cost more than lengths, which nearly always differ.
        return len(page) == len(self._key) and page.subtree_hash[0] == self._key.subtree_hash[0]


class _Voters:
    """The pages that vote, and for which nodes of the key page each of them does."""

    def __init__(self, method: Hyperlink, key: Tree) -> None:
        self._key, self._moved = key, method.moved
        by_text = method.equality == Equality.TEXT
        self._mapper = None if by_text else Mapper(key, method.rules)
        self.pages: dict[str, Tree] = {}
        self.ballots: dict[str, Flags] = {}
        self.replaced: list[str] = []

    def add(self, url: str, page: Tree) -> None:
        """Let a page vote."""
        self.pages[url] = page
        if self._mapper is None:
            self.ballots[url] = same_nodes(self._key, page)
        else:
            self.ballots[url] = mapped_nodes(self._mapper, self._key, page, moved=self._moved)

    def atypical(self) -> str | None:
        """The page that lacks most of what all others have, if that is much."""
        place = find_atypical(list(self.ballots.values()))
        return None if place is None else list(self.ballots)[place]

    def remove(self, url: str) -> None:
        """Take a page's vote away."""
        del self.pages[url], self.ballots[url]
        self.replaced.append(url)


class _Case:
    """One key page: its links, the pages loaded for it, and those that vote."""

    def __init__(self, method: Hyperlink, tree: Tree, loader: Loader) -> None:
        self._method, self._tree = method, tree
        self.loads = _Loads(tree, loader)
        self.links = find_links(tree, self.loads.addresses)
        self._voters = _Voters(method, tree)

    def steps(self) -> Iterator[Step]:
        """The links in the order in which they are followed."""
        method, tree = self._method, self._tree
        links = sort_links(tree, self.links.inside[:MAX_LINKS], normal_url(tree.url or ""))
        in_order = (Step(link.url, method.size) for link in links)
        return self._menu_first(links) if method.menu else in_order

    def _menu_first(self, links: Iterable[Link]) -> Iterator[Step]:
        """The links of the menu, then others, of which fewer pages are enough.

        What leads nowhere is no menu but a bar of languages, or a list of pages that are gone: its
        other links come last.
        """
        size = self._method.size
        # One more link than pages are wanted: one of them may lead nowhere.
        menu = find_menu(self._tree, self.links.inside, size + 1)
        listed: list[str] = []
        others: list[str] = []
        for link in links:
            (listed if link.node in menu else others).append(link.url)
        while listed and len(self.loads.failed) < _MAX_FAILED:
            yield Step(listed.pop(0), size)
        enough = self._method.votes if menu and not listed else size
        yield from (Step(url, enough) for url in others)
        yield from (Step(url, size) for url in listed)

    def elect(self, search: Search) -> None:
        """Let the pages of the subdigraph vote, or others for those that are atypical."""
        voters, loads = self._voters, self.loads
        for url in search.chosen:
            voters.add(url, loads.pages[url])
        spares = self._spares(search)
        while self._method.replace_atypical and (odd := voters.atypical()) is not None:
            voters.remove(odd)
            for spare in spares:
                if spare in loads.pages or loads.load(spare) is not None:
                    voters.add(spare, loads.pages[spare])
                    break

    def _spares(self, search: Search) -> Iterator[str]:
        """Pages that can take another's place: those loaded in vain, then a few that may be."""
        yield from (url for url in search.loaded if url not in search.chosen)
        seen = {*search.loaded, *search.failed}
        may_load = self._method.max_loads - self.loads.requests
        left = (step.url for step in self.steps() if step.url not in seen)
        yield from islice(left, min(self._method.size, may_load))

    def count(self, search: Search) -> Detection:
        """The answer from the votes."""
        tree, method, voters, loads = self._tree, self._method, self._voters, self.loads
        outcome = Outcome.NO_PAGES if self.links.inside else Outcome.NO_LINKS
        found = replace(
            no_answer(tree, outcome, method.size),
            loads=1 + len(loads.pages),
            failed=tuple(loads.failed),
            outside=self.links.outside,
            unread=max(len(self.links.inside) - MAX_LINKS, 0),
        )
        size = len(voters.pages)
        if not size:
            return _without_pages(method, tree, found)
        needed = min(method.votes, size)
        votes = count_votes(list(voters.ballots.values()))
        is_template = self._verdict(votes, needed)
        page_counts = PageVerdict(method.page_verdict).counts(size, method.votes)
        if page_counts:
            is_template = template_together(
                tree, is_template, loads.pages.values(), method.sure_score, method.model
            )
        return replace(
            found,
            outcome=Outcome.of(len(search.chosen), method.size),
            scores=make_scores(tree, votes, size, is_template),
            votes=votes,
            is_template=is_template,
            pages=tuple(voters.pages),
            needed=needed,
            replaced=tuple(voters.replaced),
            page_counts=page_counts,
            is_emptied=_is_emptied(tree, is_template),
        )

    def _verdict(self, votes: Ints, needed: int) -> Flags:
        """Which nodes are template.

        By the paper those with enough votes. By text all that is neither in the main content nor
        above it: a menu that marks the open page, a list of what is near, a way through the site
        differ from page to page and are template all the same.
        """
        tree, pages = self._tree, (self._tree, *self._voters.pages.values())
        by_text = self._method.equality == Equality.TEXT
        if not by_text and not self._method.content_first:
            return np.asarray(votes >= needed)
        if self._method.content_first:
            texts = [text_alone(page) for page in pages]
        else:
            texts = compare_texts(pages, needed)
        shares = Shares(self._method.content_share, self._method.sure_share)
        content = main_content(texts[0], texts[1:] if by_text else (), needed, shares)
        return ~holds_any(tree, content) if by_text else np.asarray((votes >= needed) & ~content)
