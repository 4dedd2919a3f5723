"""Pages of a source that can be looked at, and selectors of what somebody points at there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from dehusk import pipeline
from dehusk.answer.override import Overrides
from dehusk.answer.result import Result
from dehusk.errors import DehuskError, PageError
from dehusk.memory import Memory
from dehusk.memory.lessons import Lessons
from dehusk.memory.rules import MAX_SELECTOR
from dehusk.memory.session import Session
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Tree
from dehusk.sources import Failure
from dehusk.template.slots.selectors import css_name
from dehusk.template.templates import Template, template_of

_MAX_CLASSES: Final = 3
_MAX_UP: Final = 4
"""Ancestors that are looked at for a name."""
_FRAME: Final = frozenset(("html", "head", "body"))
_MAX_STATES: Final = 96
"""Memories of a site that are held, so that one can look back; then every second one goes."""
_MAX_FAMILY_PAGES: Final = 60
"""Pages that a template is found among."""


def element_of(tree: Tree, node: int) -> int:
    """The node, or of a text the element it stands in."""
    return int(tree.parent[node]) if tree.is_text[node] else node


def named_selectors(tree: Tree, element: int) -> list[str]:
    """Selectors by names that other pages of the site may share, the nearest element first.

    Each is of the element itself or of an ancestor that has a name; empty where none has.
    """
    found: list[str] = []
    for place in _upwards(tree, element):
        if tree.name(place) in _FRAME:
            break
        own = own_name(tree, place)
        if own and len(own) <= MAX_SELECTOR and own not in found:
            found.append(own)
    return found


def exact_selector(tree: Tree, element: int) -> str:
    """The selector of this element on this page, by its place among its siblings all the way."""
    steps = [f":nth-child({position + 1})" for position in element_path(tree, element)]
    return " > ".join(["html", *steps])


def element_path(tree: Tree, element: int) -> list[int]:
    """The element's place: child positions among elements, from `<html>` down."""
    path: list[int] = []
    while element > 0:
        parent = int(tree.parent[element])
        before = (tree.parent[:element] == parent) & ~tree.is_text[:element]
        path.append(int(np.count_nonzero(before)))
        element = parent
    return path[::-1]


def _upwards(tree: Tree, element: int) -> Iterator[int]:
    for _ in range(_MAX_UP):
        if element <= 0:
            return
        yield element
        element = int(tree.parent[element])


def own_name(tree: Tree, element: int) -> str | None:
    """A selector by the element's id, else its classes, else a tag that says what it is for."""
    attributes, name = tree.attributes(element), tree.name(element)
    if attributes.get("id"):
        return f"#{css_name(attributes['id'])}"
    classes = attributes.get("class", "").split()[:_MAX_CLASSES]
    tag = name if name.isalnum() and name.isascii() else ""
    if classes:
        return tag + "".join(f".{css_name(one)}" for one in classes)
    return name if name in _MEANING else None


_MEANING: Final = frozenset(("article", "aside", "footer", "form", "h1", "header", "main", "nav"))
"""Tags that say by themselves what an element is for."""


@dataclass(slots=True)
class ViewedSite:
    """A site: its pages by number, in the order they came, and what they had taught by then."""

    name: str
    pages: list[int] = field(default_factory=list)
    states: dict[int, Memory] = field(default_factory=dict)
    """By how many pages of the source had been learned."""

    @property
    def seen(self) -> int:
        """How many pages have been learned."""
        return max(self.states)

    def nearest(self, seen: int | None) -> int:
        """The number of pages of a state that is held, not above the one asked for."""
        if seen is None:
            return self.seen
        return max((count for count in self.states if count <= seen), default=min(self.states))


class Viewed:
    """Pages of a source that can be looked at. Nothing is learned but what one looks at.

    Sites begin with what `memories` know of them; rules are kept there, and nothing else is.
    """

    def __init__(self, memories: Session) -> None:
        self.memories = memories
        self.pages: list[Page] = []
        self.redirects: dict[str, str] = {}
        """Where redirects lead that an archive has beside its pages, by URL."""
        self.refusals: list[DehuskError] = []
        """Why pages, and parts of the source, could not be used."""
        self.is_cut = False
        """The source has more pages than were taken in."""
        self.sites: dict[str, ViewedSite] = {}
        self.families: dict[int, int | None] = {}
        """By page: its family, as it was when it came."""
        self.corrections: dict[tuple[str, int], Overrides] = {}
        """What somebody corrected on one page only, by judge and page."""
        self._lessons = Lessons(memories.method, knows_pages=True)

    def add(self, page: Page) -> bool:
        """Take a page in; False where it cannot be used."""
        name = pipeline.site_of(page)
        site = self.sites.get(name) or ViewedSite(name, states={0: self.memories.memory(name)})
        before = site.states[site.seen]
        setup = pipeline.Setup(self.memories.method, self.memories.limits)
        learning = self._lessons.learning(page, before)
        try:
            result, learned = pipeline.clean(page, before, setup, learning)
        except PageError as error:
            self.refusals.append(error)
            return False
        self.sites[name] = site
        site.pages.append(len(self.pages))
        self.families[len(self.pages)] = result.family
        self.pages.append(page)
        site.states[len(site.pages)] = learned.memory
        _thin(site)
        return True

    def read(
        self, items: Iterable[Page | Failure], max_pages: int, tell: Callable[[str], object]
    ) -> int:
        """Take pages in, as many as are allowed; how many items could not be used.

        `tell` is told of each of these, and where pages are left out.
        """
        failures = 0
        for item in items:
            if len(self.pages) >= max_pages:
                tell(f"only the first {max_pages:,} pages are looked at; --pages N reads more")
                self.is_cut = True
                break
            if isinstance(item, Failure):
                self.refusals.append(item.error)
            elif self.add(item):
                continue
            failures += 1
            tell(str(self.refusals[-1]))
        return failures

    def add_all(self, pages: Iterable[Page]) -> None:
        """Take all pages in."""
        for page in pages:
            self.add(page)

    def site_of(self, number: int) -> ViewedSite:
        """The site of a page."""
        return self.sites[pipeline.site_of(self.pages[number])]

    def result(
        self,
        number: int,
        seen: int | None = None,
        judge: str = "",
        overrides: Overrides | None = None,
    ) -> Result:
        """The answer on a page after so many pages of its site; after all of them by default.

        A page that had not come by then is answered on as if it were the next. `overrides` are in
        the place of what the judge decides.
        """
        page, site = self.pages[number], self.site_of(number)
        memory = site.states[site.nearest(seen)]
        method, limits = self.memories.method, self.memories.limits
        setup = pipeline.Setup(method, limits, overrides or self.decided(number, judge))
        return pipeline.explain(page, memory, setup, self._lessons.learning(page, memory))

    def decided(self, number: int, judge: str = "") -> Overrides:
        """What a judge decides on a page: by rules of the site, and on the page itself."""
        rules = self.memories.decided(pipeline.site_of(self.pages[number]))
        own = self.corrections.get((judge, number))
        if own is None:
            return rules
        return Overrides((*rules.keep, *own.keep), (*rules.drop, *own.drop))

    def correct(self, number: int, action: str, selector: str, judge: str = "") -> None:
        """Keep or drop what a selector selects, on this page only, for one judge."""
        before = self.corrections.get((judge, number), Overrides())
        keep, drop = (
            tuple(one for one in given if one != selector) for given in (before.keep, before.drop)
        )
        if action == "keep":
            keep += (selector,)
        elif action == "drop":
            drop += (selector,)
        self.corrections[judge, number] = Overrides(keep, drop)

    def template(self, number: int, judge: str = "") -> Template:
        """The template of a page's family, found among the pages of its site."""
        page, site = self.pages[number], self.site_of(number)
        step = max(1, len(site.pages) // _MAX_FAMILY_PAGES)
        others = [self.pages[other] for other in site.pages[::step] if other != number]
        decided = self.decided(number, judge)
        method = self.memories.method
        return template_of(
            page, others, method=method.name, limits=self.memories.limits,
            keep=decided.keep, drop=decided.drop,
        )  # fmt: skip

    def selectors(self, number: int, node: int) -> list[tuple[str, int]]:
        """Selectors of the element of a node: for other pages too; each with how many it selects.

        The last one selects this element, on this page, and nothing else.
        """
        parsed = parse(self.pages[number], self.memories.limits)
        element = element_of(parsed.tree, node)
        named = named_selectors(parsed.tree, element)
        found = [(css, len(parsed.document.select(css))) for css in named]
        return [*found, (exact_selector(parsed.tree, element), 1)]


def _thin(site: ViewedSite) -> None:
    """Let every second state go where there are too many; never the first and the last."""
    if len(site.states) > _MAX_STATES:
        counts = sorted(site.states)
        for count in counts[1:-1:2]:
            del site.states[count]
