"""The template of a page's family as an answer, and pages by URL for methods that follow links."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

import numpy as np

from dehusk import pipeline
from dehusk.answer.html import slotted_html
from dehusk.answer.labels import Label
from dehusk.answer.override import Overrides, overrides
from dehusk.answer.result import Result
from dehusk.errors import PageError
from dehusk.memory import Memory
from dehusk.methods import DEFAULT, METHODS, Method, make_method
from dehusk.methods.papers.hyperlink import normal_url
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Tree
from dehusk.page.urls import without_session
from dehusk.settings import Limits
from dehusk.template.slots import (
    Family,
    LabelledPage,
    Selector,
    Shape,
    find_family,
    is_alike,
    is_in_head,
    own_nodes,
    shape_of,
    shared_title,
)

_KEPT_TREES: Final = 64
"""Trees kept for the next question: the pages that a menu leads to are asked for often."""
_MAX_REDIRECTS: Final = 20
_HEAD: Final = "head"
"""The slot of what a page says of itself alone: its canonical URL, its author."""
_MAX_PAGES: Final = 40
"""Pages of the family that are looked at: more hardly change what they have in common."""
_MAX_EXAMPLES: Final = 5
_MAX_VALUE: Final = 200
"""Letters of an example value; longer ones are cut and end in '…'."""


class PageLoader:
    """Gives the tree of the page at a URL; None for a URL without a page, or with a broken one.

    `show`, where given, makes of each page what a browser shows of it. `names` are further URLs of
    pages, which redirect to them.
    """

    def __init__(
        self,
        pages: Iterable[Page],
        limits: Limits = Limits(),
        show: Callable[[Page], Page] | None = None,
        names: Mapping[str, Page] = {},
    ) -> None:
        self._pages = {normal_url(url): page for url, page in names.items()}
        self._pages |= {normal_url(page.url): page for page in pages if page.url}
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
        page = self._pages.get(url) or self._pages.get(crawled_url(url))
        if page is None:
            return None
        try:
            return parse(self._show(page) if self._show else page, self._limits).tree
        except PageError:
            return None


def crawled_url(url: str) -> str:
    """The URL that a crawl asks for instead of one that says who came, and from where."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    path, query = without_session(parts.path, parts.query)
    return normal_url(urlunsplit((parts.scheme, parts.netloc, path, query, "")))


def redirected(pages: Iterable[Page], redirects: Mapping[str, str]) -> dict[str, Page]:
    """The pages by the URLs that redirect to them."""
    known = {normal_url(page.url): page for page in pages if page.url}
    leads = {normal_url(url): normal_url(target) for url, target in redirects.items()}
    named: dict[str, Page] = {}
    for url in leads:
        place = url
        for _ in range(_MAX_REDIRECTS):
            if place in known or place not in leads:
                break
            place = leads[place]
        if place in known:
            named[url] = known[place]
    return named


@dataclass(frozen=True, eq=False)
class Template:
    """What pages of a family share, and where on them the content is."""

    result: Result
    """The answer on the page that was asked about."""
    method: Method
    results: tuple[Result, ...] = field(repr=False)
    """The pages of the family that were looked at; the first is the page asked about."""
    family: Family = field(repr=False)

    @cached_property
    def _trees(self) -> list[Tree]:
        """The trees of the pages: results let theirs go."""
        return [result.tree for result in self.results]

    @cached_property
    def html(self) -> str:
        """The template as an HTML page; a comment, `<!-- slot: main -->`, is where content was."""
        trees = self._trees
        own = own_nodes(trees)
        slots = {node: _HEAD for node in own if is_in_head(trees[0], node)}
        slots |= {node: slot.name for slot in self.family.slots for node in slot.nodes[0]}
        gone = (*own, *self.family.repeats)
        return slotted_html(trees[0], slots, gone, shared_title(trees))

    @cached_property
    def slots(self) -> list[dict[str, object]]:
        """Each slot's name and selectors, how many pages have it, and example values."""
        return [
            {
                "name": slot.name,
                "css": ", ".join(dict.fromkeys(s.css for s in slot.selectors)),
                "xpath": " | ".join(dict.fromkeys(s.xpath for s in slot.selectors)),
                "pages": slot.pages,
                "repeated": slot.is_repeated,
                "examples": self._examples(slot.nodes),
            }
            for slot in self.family.slots
        ]

    @cached_property
    def rules(self) -> dict[str, object]:
        """What to select and what to strip from it, as CSS and XPath, and how well that does.

        `found` is the share of the content's letters that the rules give on the pages looked at,
        `clean` the share of content in what they give; None where there is no content.
        """
        rules = self.family.rules
        found, clean = self._checked()
        return {
            "title": None if rules.title is None else _written(rules.title),
            "content": [_written(selector) for selector in rules.content],
            "strip": [_written(selector) for selector in rules.strip],
            "found": found,
            "clean": clean,
        }

    @cached_property
    def site_config(self) -> str:
        """The rules as a site config of graby, wallabag and Full-Text RSS."""
        rules = self.family.rules
        lines = [f"# {self.result.site}: {len(self.results)} pages, method {self.method.name}"]
        if rules.title is not None:
            lines.append(f"title: {rules.title.xpath}")
        # Only the first `body` that matches counts, so all of them are one expression.
        lines.append("body: " + " | ".join(selector.xpath for selector in rules.content))
        lines += [f"{name}: {selector.xpath}" for name, selector in rules.named]
        lines += [f"strip: {selector.xpath}" for selector in rules.strip]
        lines += ["prune: no", "tidy: no"]
        urls = [result.url for result in self.results if (result.url or "").startswith("http")]
        lines += [f"test_url: {url}" for url in urls[:3] if url and url.isprintable()]
        return "\n".join(lines) + "\n"

    def _examples(self, nodes: Sequence[Sequence[int]]) -> list[dict[str, object]]:
        """Values of a slot on the first pages that have it, no value twice."""
        examples: list[dict[str, object]] = []
        seen: set[str] = set()
        for result, tree, own in zip(self.results, self._trees, nodes, strict=True):
            value = _value(tree, own)
            if value and value not in seen and len(examples) < _MAX_EXAMPLES:
                seen.add(value)
                examples.append({"url": result.url, "value": value})
        return examples

    def _checked(self) -> tuple[float | None, float | None]:
        """How much of the content the rules give, and how much of what they give is content."""
        rules = self.family.rules
        keep = tuple(selector.css for selector in rules.content)
        wanted = Overrides(keep, tuple(selector.css for selector in rules.strip))
        both = content = given = 0
        for result, labels in zip(self.results, self.family.labels, strict=True):
            tree = result.tree
            length = np.where(tree.is_text & tree.shown, tree.text_length, 0)
            is_content = labels == Label.CONTENT.value
            is_given = result.choices(wanted) == Label.CONTENT.value
            both += int(length[is_content & is_given].sum())
            content += int(length[is_content].sum())
            given += int(length[is_given].sum())
        found = round(both / content, 4) if content else None
        return found, round(both / given, 4) if given else None


def _written(selector: Selector) -> dict[str, str]:
    return {"css": selector.css, "xpath": selector.xpath}


def _value(tree: Tree, nodes: Sequence[int]) -> str:
    """What fills a slot on a page, cut to size; of images their alternative texts."""
    words: list[str] = []
    size = 0
    for node in nodes:
        for below in range(node, int(tree.end[node])):
            if size > _MAX_VALUE:
                break
            if tree.is_text[below] and tree.shown[below] and tree.text_length[below]:
                words.append(tree.text(below))
            elif tree.name(below) == "img":
                words.append(tree.attributes(below).get("alt", ""))
            else:
                continue
            size += len(words[-1])
    value = " ".join(" ".join(words).split())
    return value if len(value) <= _MAX_VALUE else value[: _MAX_VALUE - 1] + "…"


def template_of(
    page: Page,
    others: Iterable[Page],
    *,
    method: str = DEFAULT,
    memory: Memory | None = None,
    limits: Limits = Limits(),
    keep: str | Iterable[str] = (),
    drop: str | Iterable[str] = (),
    refused: Callable[[PageError], object] | None = None,
    **settings: Any,
) -> Template:
    """The template of the page's family, found by comparing it with other pages of its site.

    `memory` is what was learned about the site before. Other pages that cannot be used are
    skipped, and `refused` is called with the error of each. Raises PageError for the page itself.
    """
    others = list(others)
    if method in METHODS and "loader" in METHODS[method].__dataclass_fields__:
        settings.setdefault("loader", PageLoader([page, *others], limits))
    detector = make_method(method, **settings)
    setup = pipeline.Setup(detector, limits, overrides(keep, drop))
    memory, shapes = _learn([*others, page], memory or Memory(), setup, refused)
    own = shapes.pop()
    assert own is not None, "the page itself was read"
    alike = [n for n, shape in enumerate(shapes) if shape is not None and is_alike(own, shape)]
    step = max(1, -(-len(alike) // (_MAX_PAGES - 1)))
    results, pages, titles = [], [], []
    for given in (page, *(others[n] for n in alike[::step])):
        result, _ = pipeline.clean(given, memory, setup, pipeline.as_learned)
        results.append(result)
        pages.append(LabelledPage(result.tree, result.labels.labels))
        titles.append(result.title)
    return Template(results[0], detector, tuple(results), find_family(pages, titles))


def _learn(
    pages: Sequence[Page],
    memory: Memory,
    setup: pipeline.Setup,
    refused: Callable[[PageError], object] | None,
) -> tuple[Memory, list[Shape | None]]:
    """The memory of all pages, and the shape of each; None for one that cannot be used."""
    shapes: list[Shape | None] = []

    def learn(memory: Memory, tree: Tree) -> pipeline.Learned:
        shapes.append(shape_of(tree))
        return pipeline.Learned(setup.method.learn(memory, tree))

    for number, page in enumerate(pages):
        try:
            memory = pipeline.learn(page, memory, setup, learn).memory
        except PageError as error:
            if number == len(pages) - 1:
                raise
            del shapes[number:]
            shapes.append(None)
            if refused is not None:
                refused(error)
    return memory, shapes
