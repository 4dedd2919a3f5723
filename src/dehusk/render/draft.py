"""The parser's document, cut down to the content of a page and ready to be put into shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from turbohtml import Document, Element, Node, Text

from dehusk import tags
from dehusk.model import Flags, Ints, Label, Tree
from dehusk.render.nodes import LabelArray, Run, holds
from dehusk.render.plan import plan_of

_LINK: Final = tags.numbers("a")
_HEADING: Final = tags.numbers("h1", "h2", "h3", "h4", "h5", "h6")
_IMAGE: Final = tags.numbers("img")
_MAX_PERMALINK: Final = 8
"""Characters beyond which a link says something."""


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
    tags_kept: Flags
    """Which tags any kept node has, by number."""

    def kept_nodes(self, table: Flags) -> list[int]:
        """The kept elements with one of the table's tags, in document order."""
        if not (table & self.tags_kept).any():
            return []
        found: list[int] = np.flatnonzero(self.kept & table[self.tree.tag]).tolist()
        return found

    def element(self, node: int) -> Element:
        """The parser's element for a node of the tree."""
        element = self.nodes[node]
        assert isinstance(element, Element), "texts are never looked up as elements"
        return element

    def holding(self, table: Flags) -> Flags:
        """Does the node hold a kept element with one of the table's tags, or is it one?"""
        if not (table & self.tags_kept).any():
            return np.zeros(len(self.tree), np.bool_)
        return holds(self.ends, self.kept & table[self.tree.tag])


def cut_down(tree: Tree, document: Document, labels: LabelArray) -> Draft:
    """The draft of a page, from a document that loses all that is not content."""
    nodes = _aligned(tree, document)
    images = _images(tree, nodes, labels)
    plan = plan_of(tree, labels, _permalinks(tree, nodes), list(images))
    _mend(nodes, plan.texts)
    _free_spaces(nodes, plan.spaced)
    for node in plan.dropped:
        nodes[node].decompose()
    tags_kept = np.bincount(tree.tag[plan.kept], minlength=len(tags.NAMES)) > 0
    return Draft(tree, nodes, plan.ends, plan.kept, plan.inked, plan.texts, images, tags_kept)


def _aligned(tree: Tree, document: Document) -> list[Node]:
    """The parser's node for each node of the tree."""
    root = document.root
    assert root is not None, "an HTML parser always makes <html>"
    nodes: list[Node] = [root]
    nodes += [node for node in root.descendants if type(node) is Element or type(node) is Text]
    if len(nodes) > len(tree):
        nodes = [node for node in nodes if type(node) is not Text or node.data]
    assert len(nodes) == len(tree), "the tree comes from this document"
    return nodes


def _images(tree: Tree, nodes: list[Node], labels: LabelArray) -> dict[int, str | None]:
    """The content images that can be shown or said, with where they are loaded from."""
    found: dict[int, str | None] = {}
    candidates = _IMAGE[tree.tag] & tree.shown & (labels == Label.CONTENT.value)
    for node in np.flatnonzero(candidates).tolist():
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


def _permalinks(tree: Tree, nodes: list[Node]) -> list[int]:
    """Links from a heading to itself that say nothing, such as '#' or '¶'."""
    headings = np.flatnonzero(_HEADING[tree.tag])
    if not len(headings):
        return []
    links = np.flatnonzero(_LINK[tree.tag] & (tree.text_length <= _MAX_PERMALINK))
    reach = np.append(np.maximum.accumulate(tree.end[headings]), 0)
    in_heading = reach[np.searchsorted(headings, links) - 1] > links
    found: list[int] = []
    for node in links[in_heading].tolist():
        element = nodes[node]
        assert isinstance(element, Element), "a link is an element"
        if "#" in (element.attr("href") or "") and not any(map(str.isalnum, element.text)):
            found.append(node)
    return found


def _mend(nodes: list[Node], texts: Run) -> None:
    """Put a space where words would run together because template between them goes."""
    joined = texts.cut & ~texts.spaced & ~texts.new_line & (texts.new_cells == 0)
    for place in np.flatnonzero(joined).tolist():
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
