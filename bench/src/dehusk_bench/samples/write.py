"""A tree of elements to the HTML that a parser reads back to the very same nodes, with gold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dehusk.answer.labels import Label
from dehusk.page import tags
from dehusk_bench.samples.build import Child, Comment, Element

_CONTENT, _TEMPLATE, _HIDDEN = Label.CONTENT, Label.TEMPLATE, Label.HIDDEN
_SHOWS_CONTENT: Final = 1
_SHOWS_TEMPLATE: Final = 2

_VOID: Final = frozenset(tags.VOID)
_NEVER_SHOWN: Final = frozenset(tags.NEVER_SHOWN)
_BLOCK: Final = frozenset(tags.BLOCK)
_LINES: Final = _BLOCK | {"br"}
_CELLS: Final = frozenset(("td", "th"))
_VECTOR: Final = frozenset(("path", "use", "circle", "rect"))
_GLUED: Final = frozenset(
    ("a", "b", "button", "em", "font", "h1", "h2", "h3", "h4", "i", "label", "option", "p", "pre",
     "small", "span", "strong", "sub", "sup", "svg", "title", "u")
)  # fmt: skip
"""Elements into which no line is broken."""
_INLINE: Final = frozenset(
    ("a", "abbr", "b", "br", "button", "cite", "code", "em", "font", "i", "img", "input", "label",
     "map", "small", "span", "strong", "sub", "sup", "svg", "time", "u")
)  # fmt: skip
_ENDS_PARAGRAPH: Final = frozenset(
    ("blockquote", "center", "div", "dl", "h1", "h2", "h3", "h4", "hr", "ol", "p", "pre", "ul")
)
_RUNS_ON: Final = frozenset(("body", "html"))
"""Elements whose end tag does not end a text: what is behind it is put into the body."""


@dataclass(frozen=True, slots=True)
class Style:
    """How a site writes its HTML."""

    indent: str | None = "  "
    """What a level is indented by; None for HTML without line breaks."""
    in_capitals: bool = False
    """Tags as <TABLE>, as they were written once."""
    open_ended: frozenset[str] = frozenset()
    """Tags whose end is left out where HTML allows it."""
    entities: Mapping[int, str] | None = None
    """Characters that are written by name, for `str.translate`."""


@dataclass(frozen=True, slots=True, eq=False)
class Written:
    """A page's HTML and its gold. A path is child positions among elements, from <html> down."""

    html: str
    outline: tuple[str, ...]
    """Every node in document order: an element's tag, or `#` and a text."""
    labels: NDArray[np.int8]
    content: str
    content_nodes: tuple[tuple[int, ...], ...]
    excluded_nodes: tuple[tuple[int, ...], ...]
    template_tables: int


def write(root: Element, style: Style, doctype: str) -> Written:
    """The page as HTML, with the label of each node that a parser makes of it."""
    writer = _Writer(style)
    writer.element(root, _TEMPLATE, 0, inside=False)
    writer.text("\n", _TEMPLATE)
    lines = (" ".join(line.split()) for line in "".join(writer.pieces).split("\n"))
    return Written(
        html=doctype + "".join(writer.out),
        outline=tuple(writer.outline),
        labels=np.array(writer.labels, np.int8),
        content="\n".join(line for line in lines if line),
        content_nodes=tuple(writer.content_nodes),
        excluded_nodes=tuple(writer.excluded_nodes),
        template_tables=writer.template_tables,
    )


class _Writer:
    """What has been written so far. Between two tags there is one text node, however made."""

    def __init__(self, style: Style) -> None:
        self.style = style
        self.out: list[str] = []
        self.outline: list[str] = []
        self.labels: list[int] = []
        self.pieces: list[str] = []
        self.content_nodes: list[tuple[int, ...]] = []
        self.excluded_nodes: list[tuple[int, ...]] = []
        self.template_tables = 0
        self._path: list[int] = []
        self._in_text = False
        self._is_blank = True
        self._in_pre = False

    def text(self, text: str, label: Label, *, raw: bool = False) -> int:
        """Write a text, or go on with the one before it; what it shows."""
        is_blank = not text.strip()
        if not self._in_text:
            self.labels.append(label)
            self.outline.append("#" + text)
            self._in_text, self._is_blank = True, is_blank
        else:
            self.outline[-1] += text
            if not is_blank:
                assert self._is_blank or self.labels[-1] == label, "one text, two labels"
                self.labels[-1], self._is_blank = label, False
        self.out.append(text if raw else self._escape(text))
        if label is _HIDDEN:
            return 0
        if is_blank:
            self.pieces.append(" ")
            return 0
        if label is _TEMPLATE:
            return _SHOWS_TEMPLATE
        self.pieces.append(text if self._in_pre else text.replace("\n", " "))
        return _SHOWS_CONTENT

    def _escape(self, text: str) -> str:
        if "&" in text:
            text = text.replace("&", "&amp;")
        if "<" in text:
            text = text.replace("<", "&lt;")
        entities = self.style.entities
        return text if entities is None or text.isascii() else text.translate(entities)

    def element(
        self, node: Element, label: Label, depth: int, *, inside: bool, can_stay_open: bool = False
    ) -> int:
        """Write an element with all that is in it; what it shows.

        `label` is that of the place it stands in, `inside` tells whether that is in the content.
        """
        tag, own = node.tag, node.label
        was_content = inside and label is _CONTENT
        if node.is_hidden or tag in _NEVER_SHOWN:
            label = _HIDDEN
        elif own is not None and label is not _HIDDEN:
            assert own is _TEMPLATE or was_content or not inside, "content in what is excluded"
            label = own
        is_root = label is _CONTENT and not inside
        spot = len(self.labels)
        stays_open = can_stay_open and own is None and tag in self.style.open_ended
        self._open(node, label)
        shows = 0
        if node.children:
            shows = self._inner(node, label, depth, inside=inside or is_root, ended=not stays_open)
        elif tag == "img" and label is not _HIDDEN:
            shows = _SHOWS_CONTENT if label is _CONTENT else _SHOWS_TEMPLATE
        self._close(node, ended=not stays_open)
        self.labels[spot] = self._settle(node, label, shows)
        if is_root and shows & _SHOWS_CONTENT:
            self.content_nodes.append(tuple(self._path))
        elif was_content and self.labels[spot] == _TEMPLATE and shows:
            self._exclude()
        return shows

    def _settle(self, node: Element, label: Label, shows: int) -> Label:
        """The element's final label, once it is known what it shows."""
        if label is not _HIDDEN and shows:
            label = _CONTENT if shows & _SHOWS_CONTENT else _TEMPLATE
        if node.tag == "table" and label is _TEMPLATE:
            self.template_tables += 1
        return label

    def _exclude(self) -> None:
        """Note the element as left out, instead of what was noted below it."""
        path = tuple(self._path)
        while self.excluded_nodes and self.excluded_nodes[-1][: len(path)] == path:
            self.excluded_nodes.pop()
        self.excluded_nodes.append(path)

    def _open(self, node: Element, label: Label) -> None:
        """Write the start tag."""
        tag = node.tag
        self.labels.append(label)
        self.outline.append(tag)
        if tag in _LINES:
            self.pieces.append("\n")
        elif tag in _CELLS:
            self.pieces.append(" ")
        if node.is_implied:
            self._in_text = False
            return
        name = tag.upper() if self.style.in_capitals else tag
        self.out.append(f"<{name}{node.attributes}{'/' if tag in _VECTOR else ''}>")
        self._in_text = False

    def _close(self, node: Element, *, ended: bool) -> None:
        """Write the end tag, where the element has one."""
        tag = node.tag
        if tag in _VOID or tag in _VECTOR:
            return
        if tag in _BLOCK:
            self.pieces.append("\n")
        if node.is_implied or not ended:
            return
        name = tag.upper() if self.style.in_capitals else tag
        self.out.append(f"</{name}>")
        if tag not in _RUNS_ON:
            self._in_text = False

    def _inner(self, node: Element, label: Label, depth: int, *, inside: bool, ended: bool) -> int:
        """Write what is in an element, on lines of its own where the site does that."""
        children = node.children
        raw, breaks, was_pre = node.tag in tags.RAW, _has_lines(node), self._in_pre
        self._in_pre = was_pre or node.tag == "pre"
        shows = number = 0
        self._path.append(0)
        for place, child in enumerate(children):
            if breaks:
                self._gap(node, place, label, depth)
            if type(child) is str:
                shows |= self.text(child, label, raw=raw)
            elif type(child) is Element:
                self._path[-1] = number
                number += 1
                ends = _can_stay_open(node, place)
                below = depth + (not child.is_implied)
                shows |= self.element(child, label, below, inside=inside, can_stay_open=ends)
            elif type(child) is Comment:
                self.out.append(f"<!--{child.text}-->")
                self._in_text = False
        self._path.pop()
        self._in_pre = was_pre
        if breaks and ended and self.style.indent is not None and not _is_implied(children[-1]):
            self.text("\n" + self.style.indent * (depth - 1), label)
        return shows

    def _gap(self, node: Element, place: int, label: Label, depth: int) -> None:
        """Write the white space before a child: a new line, or what must be left between words."""
        if self.style.indent is None:
            if place and _is_inline(node.children[place]) and _is_inline(node.children[place - 1]):
                self.text(" ", label)
        elif node.tag == "html" and place == 0:
            self.out.append("\n")  # A parser drops white space before <head>.
        elif place or not node.is_implied:
            self.text("\n" + self.style.indent * depth, label)


def _has_lines(node: Element) -> bool:
    """Do the children of the element stand on lines of their own?"""
    if node.tag in _GLUED:
        return False
    children = node.children
    if len(children) == 1:
        return type(children[0]) is Element and children[0].tag not in _INLINE
    return str not in map(type, children)


def _is_inline(child: Child) -> bool:
    return type(child) is Element and child.tag in _INLINE


def _is_implied(child: Child) -> bool:
    return type(child) is Element and child.is_implied


_CLOSED_BY: Final = {
    "li": frozenset(("li",)),
    "dt": frozenset(("dt", "dd")),
    "dd": frozenset(("dt", "dd")),
    "td": _CELLS,
    "th": _CELLS,
    "tr": frozenset(("tr",)),
    "option": frozenset(("option",)),
    "p": _ENDS_PARAGRAPH,
}
"""Which start tags end an element whose end tag is left out."""
_PARAGRAPH_PARENTS: Final = frozenset(("blockquote", "body", "div", "li", "td"))
"""Where a last paragraph needs no end: the end of a formatting element would tear it in two."""


def _can_stay_open(parent: Element, place: int) -> bool:
    """May the end tag of this child be left out, by HTML's rules?"""
    child = parent.children[place]
    assert type(child) is Element
    if child.tag not in _CLOSED_BY:
        return False
    if place == len(parent.children) - 1:
        return child.tag != "p" or parent.tag in _PARAGRAPH_PARENTS
    following = parent.children[place + 1]
    return type(following) is Element and following.tag in _CLOSED_BY[child.tag]
