"""A page to look at: written anew from its tree, each text marked with its verdict and why.

Only what is named here is written: elements and attributes that show something, and style sheets
that stand in the page. Nothing is 'cleaned', so nothing is forgotten. Whoever shows it must not
rely on this alone: a frame without rights, of another origin, under a policy that allows no script
and no request, is what keeps a page in.

The document knows four views, and is told which by the part of its address behind `#`, so that it
needs no script: `dehusk-page`, `dehusk-content`, `dehusk-template`, `dehusk-heat`, each also with
the number of a region behind it, `dehusk-heat-12`, which is then shown and marked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import isnan
from typing import Final

import numpy as np

from dehusk.answer.labels import Label, Labels, Reason
from dehusk.answer.nodes import holds, inked, written_ends
from dehusk.methods.contract import Explanation
from dehusk.page import tags
from dehusk.page.tree import Flags, Tree

VIEWS: Final = ("page", "content", "template", "heat")
MAX_NODES: Final = 60_000
"""Nodes that are shown: more would take a browser seconds. The document says so."""
_KEPT: Final = frozenset(
    ("abbr", "acronym", "address", "article", "aside", "b", "bdi", "bdo", "big", "blockquote",
     "br", "caption", "center", "cite", "code", "col", "colgroup", "dd", "del", "details", "dfn",
     "dir", "div", "dl", "dt", "em", "fieldset", "figcaption", "figure", "font", "footer", "h1",
     "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "i", "ins", "kbd", "label", "legend",
     "li", "main", "mark", "menu", "nav", "ol", "p", "pre", "q", "rp", "rt", "ruby", "s", "samp",
     "section", "small", "span", "strike", "strong", "sub", "summary", "sup", "table", "tbody",
     "td", "tfoot", "th", "thead", "time", "tr", "tt", "u", "ul", "var", "wbr")
)  # fmt: skip
"""Elements that are written as they are; any other becomes a `div` or a `span`."""
_VOID: Final = frozenset(("br", "col", "hr", "wbr"))
_BOXES: Final = frozenset(
    ("applet", "audio", "canvas", "embed", "frame", "iframe", "image", "img", "input", "math",
     "object", "picture", "svg", "video")
)  # fmt: skip
"""What is shown as a box with its name."""
_ATTRIBUTES: Final = frozenset(
    ("align", "bgcolor", "border", "cellpadding", "cellspacing", "class", "color", "colspan", "dir",
     "face", "height", "id", "lang", "open", "reversed", "rowspan", "size", "start", "style",
     "valign", "width")
)  # fmt: skip
_BLOCK: Final = frozenset(tags.BLOCK)
_BARE: Final = (
    "<style>:where(body){max-width:44rem;margin:32px auto;padding:0 24px}"
    ":where(nav,aside,footer){font-size:15px}"
    ":where(nav ul,nav ol,footer ul){display:flex;flex-wrap:wrap;gap:2px 16px;padding:0;"
    "margin:8px 0;list-style:none}"
    ":where(h1){font-size:30px;line-height:1.2}:where(h2){font-size:21px}"
    ":where(table){border-collapse:collapse}:where(td,th){padding:4px 12px 4px 0;text-align:left}"
    ":where(a){color:#3b5b7a}</style>"
)
"""For a page whose style sheets stand elsewhere: type that can be read. Any rule of the page's own
outranks it."""
_MIN_STYLE: Final = 3000
"""Characters of style sheets that make a page look like something by itself."""
_MAX_STYLE: Final = 500_000
"""Characters of style sheets that are kept."""
_WORDS: Final = {Label.CONTENT: "content", Label.TEMPLATE: "template"}


@dataclass(frozen=True, slots=True)
class Showing:
    """What the document is told besides the page."""

    pick: str
    """The address that a click on a node leads to, before the node's number."""
    style: str
    """The style sheet of the marks."""
    regions: Sequence[int] = ()
    """The first node of each region, by number of the region."""


def view_html(tree: Tree, labels: Labels, explanation: Explanation | None, showing: Showing) -> str:
    """The page as a document to look at."""
    return "".join(_View(tree, labels, explanation, showing).pieces())


class _View:
    """One page being written."""

    def __init__(
        self, tree: Tree, labels: Labels, explanation: Explanation | None, showing: Showing
    ) -> None:
        self._tree = tree
        self._labels = labels.labels
        self._showing = showing
        self._said = _Said(labels, explanation)
        self._roots = piece_marks(tree, labels)
        self._regions = {node: number for number, node in enumerate(showing.regions)}
        self._link_end = 0
        """One behind the last node of the link that is open: links do not nest."""
        self._waiting: list[int] = []
        """Regions that have begun, whose first text has not come."""

    def pieces(self) -> Iterator[str]:
        """The document, piece by piece."""
        tree = self._tree
        html, body = (self._attributes(node) for node in (0, self._body()))
        yield f"<!DOCTYPE html>\n<html{html}><head><meta charset=utf-8><title>page</title>"
        own = list(self._style_sheets())
        if sum(map(len, own)) < _MIN_STYLE:
            yield _BARE
        yield from own
        yield f"<style>{self._showing.style}</style></head><body{body}>"
        for view in VIEWS:
            yield f'<i class=dehusk-view id="dehusk-{view}"></i>'
        if len(tree) > MAX_NODES:
            yield (
                f"<p class=dehusk-note>A long page: the first {MAX_NODES:,} of {len(tree):,} nodes"
                " are shown. All of them were judged.</p>"
            )
        yield from self._nodes(self._body() + 1, min(len(tree), MAX_NODES))
        yield "</body></html>\n"

    def _body(self) -> int:
        found = np.flatnonzero(self._tree.tag == tags.NUMBERS["body"])
        return int(found[0]) if len(found) else 0

    def _style_sheets(self) -> Iterator[str]:
        """The page's own, as far as they stand in it."""
        tree, size = self._tree, 0
        for node in np.flatnonzero(tree.raw).tolist():
            parent = int(tree.parent[node])
            if tree.name(parent) != "style" or tree.attributes(parent).get("type", "text/css") != (
                "text/css"
            ):
                continue
            text = tree.text(node)
            size += len(text)
            # Raw text ends at `</`: with one in it, this would not be what the page means.
            if size <= _MAX_STYLE and "</" not in text and "<!--" not in text:
                yield f"<style>{text}</style>"

    def _nodes(self, first: int, last: int) -> Iterator[str]:
        """All that is shown, from one node to another."""
        tree = self._tree
        closing: list[tuple[int, str]] = []
        ends = tree.end.tolist()
        node = first
        while node < last:
            while closing and closing[-1][0] <= node:
                yield closing.pop()[1]
            if not tree.shown[node]:
                node = ends[node]
                continue
            if node in self._regions:
                self._waiting.append(self._regions[node])
            if tree.is_text[node]:
                yield self._text(node)
            else:
                start, end = self._element(node)
                yield start
                if end:
                    closing.append((ends[node], end))
            node += 1
        while closing:
            yield closing.pop()[1]

    def _element(self, node: int) -> tuple[str, str]:
        """The element's start, and its end where it has one."""
        tree, name = self._tree, self._tree.name(node)
        mark = self._roots[node]
        marks = self._attributes(node) + (f' data-dehusk="{mark}"' if mark else "")
        if name in _BOXES:
            return self._box(node, name, marks), ""
        if name == "a" and node >= self._link_end:
            self._link_end = int(tree.end[node])
            return f'<a{marks} href="{self._showing.pick}{node}">', "</a>"
        if name in _VOID:
            return f"<{name}{marks}>", ""
        written = name if name in _KEPT else "div" if name in _BLOCK else "span"
        return f"<{written}{marks}>", f"</{written}>"

    def _box(self, node: int, name: str, marks: str) -> str:
        """A box in the place of what cannot be shown."""
        attributes = self._tree.attributes(node)
        words = attributes.get("alt") or attributes.get("value") or attributes.get("placeholder")
        if name == "input" and attributes.get("type", "").lower() == "hidden":
            return ""
        source = attributes.get("src", "")
        if name == "img" and source.startswith("data:image/"):
            return f'<img{marks} alt="{escape(words or "")}" src="{escape(source)}">'
        shown = f"<b>{escape(name)}</b> {escape((words or '')[:200])}"
        return f"<span{marks}>{self._wrapped(node, shown, ' dehusk-box')}</span>"

    def _text(self, node: int) -> str:
        """A text with its mark; white space as it is."""
        text = escape(self._tree.text(node), quote=False)
        if not self._tree.text_length[node]:
            return text
        anchors = ""
        while self._waiting:
            number = self._waiting.pop()
            anchors += "".join(f'<i id="dehusk-{view}-{number}"></i>' for view in VIEWS)
        return self._wrapped(node, anchors + text)

    def _wrapped(self, node: int, inner: str, more: str = "") -> str:
        """Something seen, in what shows its verdict and can be clicked."""
        score = self._said.score(node)
        heat = "" if score is None else f" dehusk-h{round(score * 10)}"
        mark = self._roots[node]
        own = f' data-dehusk="{mark}"' if mark and self._tree.is_text[node] else ""
        words = escape(self._said.words(node))
        facts = f'class="dehusk{heat}{more}"{own} data-why="{words}"'
        if node < self._link_end:
            return f"<span {facts}>{inner}</span>"
        return f'<a {facts} href="{self._showing.pick}{node}">{inner}</a>'

    def _attributes(self, node: int) -> str:
        """The element's attributes that show something."""
        kept = (
            f' {name}="{escape(value)}"'
            for name, value in self._tree.attributes(node).items()
            if name in _ATTRIBUTES
        )
        return "".join(kept)


def piece_marks(tree: Tree, labels: Labels) -> list[str]:
    """Of each node `template` or `content` if it begins a piece that is nothing else; else ''."""
    ends = written_ends(tree)
    template, content = (
        holds(ends, inked(tree, labels.labels, label) | _image(tree, labels, label))
        for label in (Label.TEMPLATE, Label.CONTENT)
    )
    is_plain = template ^ content
    above = np.maximum(tree.parent, 0)
    is_root = is_plain & ~(is_plain[above] & (tree.parent >= 0))
    marks = np.where(is_root, np.where(template, "template", "content"), "")
    return [str(mark) for mark in marks.tolist()]


def _image(tree: Tree, labels: Labels, label: Label) -> Flags:
    names = tags.numbers("img", "svg", "picture", "object", "embed", "input", "image")
    return np.asarray(names[tree.tag] & tree.shown & (labels.labels == label))


def verdict_words(labels: Labels, explanation: Explanation | None, node: int) -> str:
    """What is said of a node when somebody points at it: label, score and why, on one line."""
    return _Said(labels, explanation).words(node)


class _Said:
    """What is said of a node when somebody points at it."""

    def __init__(self, labels: Labels, explanation: Explanation | None) -> None:
        self._labels = labels
        self._explanation = explanation

    def score(self, node: int) -> float | None:
        """The node's score; None for no opinion."""
        score = float(self._labels.scores[node])
        return None if isnan(score) else score

    def words(self, node: int) -> str:
        """Label, score and reason, on one line."""
        label = _WORDS.get(Label(int(self._labels.labels[node])), "hidden")
        score, told = self.score(node), self._explanation
        found = Reason(int(self._labels.reasons[node]))
        reason = found.words
        parts = [label if score is None else f"{label} {score:.2f}"]
        if told is not None and found in (Reason.SCORED_CONTENT, Reason.SCORED_TEMPLATE):
            number = int(told.reason[node])
            reason = told.reasons[number] if number >= 0 else reason
            both = float(told.page_score[node]), float(told.site_score[node])
            if not any(map(isnan, both)):
                parts.append("page {:.2f}, site {:.2f}".format(*both))
        return " · ".join([*parts, reason])
