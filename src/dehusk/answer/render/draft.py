"""The parser's document, cut down to the content of a page and ready to be put into shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

import numpy as np
from turbohtml import Document, Element, Node, Text

from dehusk.answer.render.groups import Groups, groups_of, is_grouped
from dehusk.answer.render.marks import marks_of
from dehusk.answer.render.nodes import LabelArray, Run
from dehusk.answer.render.plan import plan_of
from dehusk.page.tree import Flags, Ints, Tree

_IN_TREE: Final = frozenset((Element, Text))
"""The parser's nodes that the tree has too."""


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """A page on its way to Markdown: what is kept of the tree, and the parser's nodes for it."""

    tree: Tree
    nodes: list[Node]
    """The parser's node for each node of the tree. Those that are not kept are gone."""
    ends: Ints
    kept: Flags
    inked: Flags
    """Which nodes are or hold a kept text or image."""
    texts: Run
    """The kept texts, in order."""
    images: dict[int, str | None]
    """Where each kept image is loaded from; None if only its alternative text is known."""
    groups: Groups

    def kept_nodes(self, numbers: Sequence[int]) -> list[int]:
        """The kept elements with tags of these numbers, in document order; not to be changed."""
        assert all(map(is_grouped, numbers)), "a tag that `groups` does not gather"
        by_tag = self.groups.by_tag
        found = [by_tag[number] for number in numbers if number in by_tag]
        if len(found) == 1:
            return found[0]
        return sorted(chain.from_iterable(found))

    def element(self, node: int) -> Element:
        """The parser's element for a node of the tree."""
        element = self.nodes[node]
        assert isinstance(element, Element), "texts are never looked up as elements"
        return element


def cut_down(tree: Tree, document: Document, labels: LabelArray) -> Draft:
    """The draft of a page, from a document that loses all that is not content."""
    nodes = _aligned(tree, document)
    marks = marks_of(tree, labels)
    images = _images(nodes, marks.images)
    plan = plan_of(tree, labels, _permalinks(nodes, marks.short_links), list(images))
    _mend(nodes, plan.texts)
    _free_spaces(nodes, plan.spaced)
    for node in plan.dropped:
        nodes[node].decompose()
    groups = groups_of(tree, plan.ends, plan.kept)
    return Draft(tree, nodes, plan.ends, plan.kept, plan.inked, plan.texts, images, groups)


def _aligned(tree: Tree, document: Document) -> list[Node]:
    """The parser's node for each node of the tree."""
    root = document.root
    assert root is not None, "an HTML parser always makes <html>"
    nodes: list[Node] = [root, *root.descendants]
    if len(nodes) > len(tree):
        nodes = [node for node in nodes if type(node) in _IN_TREE]
    if len(nodes) > len(tree):
        nodes = [node for node in nodes if type(node) is not Text or node.data]
    assert len(nodes) == len(tree), "the tree comes from this document"
    return nodes


def _images(nodes: list[Node], candidates: list[int]) -> dict[int, str | None]:
    """The images among the candidates that can be shown or said, and where they are loaded from."""
    found: dict[int, str | None] = {}
    for node in candidates:
        element = nodes[node]
        assert isinstance(element, Element), "an image is an element"
        source = _image_source(element)
        if source or (element.attr("alt") or "").strip():
            found[node] = source
    return found


def _image_source(image: Element) -> str | None:
    """Where an image is loaded from; None for pixels that only count, and for embedded data.

    What is loaded late stands in other attributes than `src`.
    """
    if image.attr("width") in ("0", "1") or image.attr("height") in ("0", "1"):
        return None
    for name in ("data-src", "data-lazy-src", "data-original", "src", "srcset", "data-srcset"):
        source = (image.attr(name) or "").strip()
        if name.endswith("srcset"):
            source = source.partition(" ")[0].rstrip(",")
        if source and not source[:5].lower().startswith(("data:", "{", "[")):
            return source
    return None


def _permalinks(nodes: list[Node], candidates: list[int]) -> list[int]:
    """The candidates, short links in headings, that say nothing, such as '#' or '¶'."""
    found: list[int] = []
    for node in candidates:
        element = nodes[node]
        assert isinstance(element, Element), "a link is an element"
        if "#" in (element.attr("href") or "") and not any(map(str.isalnum, element.text)):
            found.append(node)
    return found


def _mend(nodes: list[Node], texts: Run) -> None:
    """Put a space where words would run together because template between them goes."""
    for place in np.flatnonzero(texts.cut).tolist():
        if texts.spaced[place] or texts.new_line[place] or texts.new_cells[place]:
            continue
        before, behind = nodes[texts.nodes[place - 1]], nodes[texts.nodes[place]]
        assert isinstance(before, Text), "a run holds texts only"
        assert isinstance(behind, Text), "a run holds texts only"
        if before.data[-1:].isalnum() and behind.data[:1].isalnum():
            behind.data = " " + behind.data


def _free_spaces(nodes: list[Node], spaced: list[int]) -> None:
    """Make plain spaces of those that may not break, so that they collapse like others."""
    for node in spaced:
        text = nodes[node]
        assert isinstance(text, Text), "content is marked on texts only"
        text.data = text.data.replace("\xa0", " ")
