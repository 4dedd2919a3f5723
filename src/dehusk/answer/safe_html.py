"""The content as HTML that a page of one's own can show: known elements, and nothing that runs."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Final

from dehusk import _kernel
from dehusk.answer.labels import Label, LabelArray
from dehusk.answer.nodes import attribute, holds, inked
from dehusk.page import tags
from dehusk.page.tree import Tree
from dehusk.page.urls import Base, base_of

_KEPT: Final = frozenset((
    "a", "abbr", "address", "article", "aside", "b", "bdi", "bdo", "blockquote", "br", "caption",
    "cite", "code", "dd", "del", "details", "dfn", "div", "dl", "dt", "em", "figcaption", "figure",
    "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "i", "img", "ins", "kbd", "li",
    "main", "mark", "ol", "p", "pre", "q", "rp", "rt", "ruby", "s", "samp", "section", "small",
    "span", "strong", "sub", "summary", "sup", "table", "tbody", "td", "tfoot", "th", "thead",
    "time", "tr", "u", "ul", "var", "wbr",
))  # fmt: skip
"""Elements that are written; of all others, only what they hold."""
_SAID: Final = (b"alt", b"colspan", b"datetime", b"dir", b"lang", b"rowspan", b"start", b"title")


_IMAGES: Final = tags.numbers("img", "amp-img")
_CELLS: Final = tags.numbers("td", "th", "br", "hr")
"""Elements that say something where they are empty."""


def safe_html(tree: Tree, labels: LabelArray, base_url: str | None) -> str:
    """The content as a fragment of HTML, without scripts, styles, forms, frames and handlers.

    Of attributes only words, spans and absolute addresses stay, none of `javascript:` or `data:`.
    """
    return "".join(_written(tree, labels, base_of(tree, base_url))).strip()


def _written(tree: Tree, labels: LabelArray, base: Base) -> Iterator[str]:
    images = _IMAGES[tree.tag] & tree.shown & (labels == Label.CONTENT.value)
    holding = holds(tree.end, inked(tree, labels, Label.CONTENT) | images).tolist()
    ends, is_text, shown = tree.end.tolist(), tree.is_text.tolist(), tree.shown.tolist()
    kinds, lengths = labels.tolist(), tree.text_length.tolist()
    is_cell = _CELLS[tree.tag].tolist()
    open_elements: list[tuple[int, str]] = []
    node = 0
    while node < len(tree):
        while open_elements and open_elements[-1][0] <= node:
            yield open_elements.pop()[1]
        is_content = shown[node] and kinds[node] == Label.CONTENT
        if is_text[node]:
            if is_content or (shown[node] and not lengths[node]):
                yield escape(tree.text(node), quote=False)
        elif not (holding[node] or (is_cell[node] and is_content)):
            node = ends[node]
            continue
        elif (name := _written_name(tree.name(node))) in _KEPT:
            yield f"<{name}{_attributes(tree, node, name, base)}>"
            if name not in tags.VOID:
                open_elements.append((ends[node], f"</{name}>"))
        node += 1
    yield from (end for _, end in reversed(open_elements))


def _written_name(name: str) -> str:
    """What an element is written as."""
    return "img" if name == "amp-img" else name


def _attributes(tree: Tree, node: int, name: str, base: Base) -> str:
    """What stays of a start tag's attributes."""
    start_tag = tree.source[tree.start[node] : tree.stop[node]]
    if b"=" not in start_tag:
        return ""
    kept = [(key.decode(), attribute(start_tag, key)) for key in _SAID]
    if name == "a" and (written := attribute(start_tag, b"href")):
        kept.append(("href", base.absolute(written)))
    elif name == "img" and (written := _kernel.image_source(tree.kernel, node)):
        kept.append(("src", base.absolute(written)))
    return "".join(f' {key}="{escape(value)}"' for key, value in kept if value)
