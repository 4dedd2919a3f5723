"""The parser's document, cut down to the content of a page and ready to be put into shape."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import numpy as np
from turbohtml import Document, Element, Node, Text

from dehusk import tags
from dehusk.model import Flags, Ints, Label, Tree
from dehusk.render.nodes import (
    LabelArray,
    Places,
    Run,
    block_numbers,
    holds,
    inked,
    inside,
    outermost,
    run,
    spaces,
    written_ends,
)

_CELL: Final = tags.numbers("td", "th")
_LINK: Final = tags.numbers("a")
_HEADING: Final = tags.numbers("h1", "h2", "h3", "h4", "h5", "h6")
_IMAGE: Final = tags.numbers("img")
_RULE: Final = tags.numbers("hr")
_BREAK: Final = tags.numbers("br")
_NBSP: Final = re.compile(rb"&nbsp;")
_MAX_PERMALINK: Final = 8
"""Characters beyond which a link says something."""
_SMALL: Final = tags.numbers("wbr", "input")


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
        return holds(self.ends, self.kept & table[self.tree.tag])


def cut_down(tree: Tree, document: Document, labels: LabelArray) -> Draft:
    """The draft of a page, from a document that loses all that is not content."""
    nodes, ends = _aligned(tree, document), written_ends(tree)
    content = inked(tree, labels, Label.CONTENT)
    permalinks = _permalinks(tree, nodes)
    if permalinks:
        is_permalink = np.zeros(len(tree), np.bool_)
        is_permalink[permalinks] = True
        content &= ~inside(ends, is_permalink)
    images = _images(tree, nodes, labels)
    ink = content.copy()
    ink[list(images)] = True
    kept = _kept(tree, labels, ends, ink)
    texts = run(tree, content, inked(tree, labels, Label.TEMPLATE))
    _mend(nodes, texts)
    _free_spaces(tree, nodes, content)
    for node in outermost(ends, ~kept).tolist():
        nodes[node].decompose()
    tags_kept = np.bincount(tree.tag[kept], minlength=len(tags.NAMES)) > 0
    return Draft(tree, nodes, ends, kept, holds(ends, ink), texts, images, tags_kept)


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


def _kept(tree: Tree, labels: LabelArray, ends: Ints, ink: Flags) -> Flags:
    """Which nodes stay: those that hold ink, white space, and what lies between ink.

    Cells of a kept row stay even if they are empty, so that columns stay columns.
    """
    is_content = tree.shown & (labels == Label.CONTENT.value)
    rules = np.flatnonzero(is_content & _RULE[tree.tag])
    if len(rules):
        # A rule parts ink from ink; one at an end, or behind another, parts nothing.
        before = np.cumsum(ink)[rules]
        after = np.append(before[1:], ink.sum())
        ink = ink.copy()
        ink[rules] = (before > 0) & (after > before)
    kept = holds(ends, ink) | spaces(tree) | (is_content & _SMALL[tree.tag])
    cells = np.flatnonzero(_CELL[tree.tag])
    kept[cells] = kept[tree.parent[cells]]
    breaks = np.flatnonzero(is_content & _BREAK[tree.tag])
    if len(breaks) and kept[0]:
        kept[breaks] = _parts_lines(tree, breaks, np.flatnonzero(ink))
    return np.asarray(kept)


def _parts_lines(tree: Tree, breaks: Places, ink: Places) -> Flags:
    """Which breaks stand between ink and ink of one block; at its ends they part nothing."""
    block = block_numbers(tree)
    place = np.searchsorted(ink, breaks)
    before, behind = ink[place - 1], ink.take(place, mode="clip")
    is_between = (place > 0) & (place < len(ink))
    is_between &= (block[before] == block[breaks]) & (block[behind] == block[breaks])
    return np.asarray(is_between)


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
    candidates = _LINK[tree.tag] & inside(tree.end, _HEADING[tree.tag])
    candidates &= tree.text_length <= _MAX_PERMALINK
    found: list[int] = []
    for node in np.flatnonzero(candidates).tolist():
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


def _free_spaces(tree: Tree, nodes: list[Node], content: Flags) -> None:
    """Make plain spaces of those that may not break, so that they collapse like others."""
    if b"&nbsp;" not in tree.source:
        return
    places = [found.start() for found in _NBSP.finditer(tree.source)]
    holders = np.unique(np.searchsorted(tree.start, places, "right") - 1)
    for node in holders[content[holders]].tolist():
        text = nodes[node]
        assert isinstance(text, Text), "content is marked on texts only"
        text.data = text.data.replace("\xa0", " ")
