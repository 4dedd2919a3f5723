"""A page as HTML: whole and marked, its content alone, its template alone.

All are cut from the tree's source, the page as canonical HTML; nothing is parsed again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from html import escape
from typing import Final

import numpy as np

from dehusk.answer.labels import Label, LabelArray
from dehusk.answer.nodes import (
    holds,
    inked,
    inside,
    outermost,
    spaces,
    written_attribute,
    written_ends,
)
from dehusk.page import tags
from dehusk.page.patterns import pattern
from dehusk.page.tree import Flags, Ints, Tree

_DOCTYPE: Final = "<!DOCTYPE html>\n"
_MARKS: Final = {Label.CONTENT: b"content", Label.TEMPLATE: b"template"}
_MARK: Final = b' data-dehusk="%s"'
_SPAN: Final = b'<span data-dehusk="%s">'
_ATTRIBUTE: Final = pattern(rb' ([^ ]+?)="[^"]*"')
_COMMENT: Final = pattern(r"<!--.*?-->", re.DOTALL)
_COMMENT_BYTES: Final = pattern(_COMMENT.pattern.encode(), re.DOTALL)

_NO_SPANS: Final = tags.numbers(
    "colgroup", "frameset", "iframe", "noembed", "noframes", "optgroup", "option", "plaintext",
    "script", "select", "style", "table", "tbody", "textarea", "tfoot", "thead", "title", "tr",
    "xmp",
)  # fmt: skip
"""Elements whose text cannot stand in a `<span>`: a parser would move it, or not see it."""
_NO_COMMENTS: Final = tags.numbers(
    "iframe", "noembed", "noframes", "plaintext", "script", "style", "textarea", "title", "xmp"
)
"""Elements in which a comment would be text."""
_FOREIGN: Final = tags.numbers("math", "svg")
_CELL: Final = tags.numbers("td", "th")
_FRAME: Final = tags.numbers("html", "head", "body", "frameset")
_CHARSET: Final = '<meta charset="utf-8">'
_TITLE, _BASE, _HEAD, _BODY, _META = (
    tags.NUMBERS[name] for name in ("title", "base", "head", "body", "meta")
)


def marked_html(tree: Tree, labels: LabelArray) -> str:
    """The whole page, each shown element marked `data-dehusk="template"` or `"content"`.

    A text that differs from the element it stands in gets a `<span>` with its own mark, where HTML
    allows one. What is never shown stays as it is.
    """
    source = tree.source
    own_marks = b"data-dehusk" in source
    no_spans = _span_free(tree)
    relevant = tree.shown & ((tree.is_text & (tree.text_length > 0)) | ~tree.is_text)
    nodes = np.flatnonzero(relevant & (labels != Label.HIDDEN.value))
    rows = zip(
        tree.start[nodes].tolist(), tree.stop[nodes].tolist(), tree.close[nodes].tolist(),
        labels[nodes].tolist(), tree.is_text[nodes].tolist(), no_spans[nodes].tolist(),
        strict=True,
    )  # fmt: skip
    pieces: list[bytes] = []
    open_elements: list[tuple[int, int]] = []
    done = 0
    for start, stop, close, label, is_text, is_span_free in rows:
        while open_elements and open_elements[-1][0] <= start:
            open_elements.pop()
        if is_text:
            if is_span_free or (open_elements and open_elements[-1][1] == label):
                continue
            pieces += (source[done:start], _SPAN % _MARKS[Label(label)], source[start:stop])
            pieces.append(b"</span>")
        else:
            open_elements.append((close, label))
            start_tag = source[start : stop - 1]
            pieces += (source[done:start], _unmarked(start_tag) if own_marks else start_tag)
            pieces.append(_MARK % _MARKS[Label(label)] + b">")
        done = stop
    pieces.append(source[done:])
    return _DOCTYPE + _as_utf8(tree, b"".join(pieces).decode("utf-8", "surrogatepass"))


def _unmarked(start_tag: bytes) -> bytes:
    """A start tag without the mark that the page itself has written."""
    return _ATTRIBUTE.sub(lambda found: b"" if found[1] == b"data-dehusk" else found[0], start_tag)


def _span_free(tree: Tree) -> Flags:
    """Which nodes stand where no `<span>` can be put around them."""
    return _NO_SPANS[tree.tag[tree.parent]] | inside(tree.end, _FOREIGN[tree.tag])


def content_html(tree: Tree, labels: LabelArray) -> str:
    """A page of the content alone: its title, and its body without template and hidden parts."""
    ends = written_ends(tree)
    removed = (labels != Label.CONTENT.value) & ~spaces(tree)
    removed &= ~holds(ends, inked(tree, labels, Label.CONTENT))
    _keep_cells(tree, removed)
    body = np.flatnonzero(tree.tag == _BODY)
    inner = ""
    if len(body) and not removed[body[0]]:
        first, last = int(tree.stop[body[0]]), int(tree.close[body[0]]) - len("</body>")
        inner = _cut(tree, outermost(ends, removed), first, last)
    if not (tree.raw & ~removed).any():
        # Raw text may hold what looks like a comment.
        inner = _COMMENT.sub("", inner)
    return (
        f"{_DOCTYPE}<html{_kept_attributes(tree)}><head>{_head(tree)}</head>"
        f"<body>{inner}</body></html>\n"
    )


def template_html(tree: Tree, labels: LabelArray) -> str:
    """The page without its content: its head, its template, and the elements above both.

    Cells of a kept table row stay, empty, so that the columns of the template stay.
    """
    ends = written_ends(tree)
    is_template = (labels == Label.TEMPLATE.value) & tree.shown & ~spaces(tree)
    removed = tree.shown & (labels == Label.CONTENT.value) & ~spaces(tree) & ~_FRAME[tree.tag]
    removed &= ~holds(ends, is_template)
    _keep_cells(tree, removed)
    return _DOCTYPE + _as_utf8(tree, _cut(tree, outermost(ends, removed), 0, len(tree.source)))


def slotted_html(tree: Tree, slots: Mapping[int, str], gone: Iterable[int], title: str = "") -> str:
    """The page without its content: each slot is a comment, `<!-- slot: NAME -->`.

    `slots` names the slot that a node fills; neighbours of one slot share a comment. `gone` are
    further nodes to leave out, and so are the page's own comments, which could be taken for slots.
    Cells and `<body>` stay, and hold the comment. A `<title>` that is among the slots stays too,
    and says `title`.
    """
    pieces: list[bytes] = []
    done, last_name, is_apart = 0, "", True
    for start, close, node in _cuts(tree, slots, gone):
        if start < done:
            continue
        between = tree.source[done:start]
        is_apart |= between.strip() != b""
        pieces.append(between)
        done, name = close, slots.get(node, "")
        if name and tree.tag[node] == _TITLE:
            pieces.append(b"<title>%s</title>" % escape(title, quote=False).encode())
            is_apart = True
        elif name and not _NO_COMMENTS[tree.tag[tree.parent[node]]]:
            if is_apart or name != last_name:
                pieces.append(b"<!-- slot: %s -->" % name.encode())
            last_name, is_apart = name, False
    pieces.append(tree.source[done:])
    return _DOCTYPE + _as_utf8(tree, b"".join(pieces).decode("utf-8", "surrogatepass"))


def _cuts(tree: Tree, slots: Mapping[int, str], gone: Iterable[int]) -> list[tuple[int, int, int]]:
    """What to cut from the source, in order: first and last byte, and the node; -1 for comments."""
    removed = np.zeros(len(tree), np.bool_)
    removed[[*slots, *gone]] = True
    nodes = outermost(written_ends(tree), removed)
    start, close = tree.start[nodes].copy(), tree.close[nodes].copy()
    for n, node in enumerate(nodes.tolist()):
        if node in slots and (_CELL[tree.tag[node]] or tree.tag[node] == _BODY):
            start[n], close[n] = tree.stop[node], close[n] - len(f"</{tree.name(node)}>")
    # Raw text may hold what looks like a comment.
    raw = np.flatnonzero(tree.raw)
    first, last = [0, *tree.stop[raw].tolist()], [*tree.start[raw].tolist(), len(tree.source)]
    comments = [
        (*found.span(), -1)
        for edges in zip(first, last, strict=True)
        for found in _COMMENT_BYTES.finditer(tree.source, *edges)
    ]
    return sorted([*zip(start.tolist(), close.tolist(), nodes.tolist(), strict=True), *comments])


def _as_utf8(tree: Tree, html: str) -> str:
    """The page with its declared charset made UTF-8, which is what dehusk writes."""
    for node in np.flatnonzero(tree.tag == _META).tolist():
        start_tag = tree.source[tree.start[node] : tree.stop[node]]
        kind = written_attribute(start_tag, b"http-equiv") or b""
        if kind.lower() == b"content-type" or written_attribute(start_tag, b"charset") is not None:
            return html.replace(start_tag.decode("utf-8", "surrogatepass"), _CHARSET, 1)
    return html if html.isascii() else html.replace("<head>", f"<head>{_CHARSET}", 1)


def _keep_cells(tree: Tree, removed: Flags) -> None:
    """Take the cells of rows that stay out of what is removed; what they hold still goes."""
    cells = np.flatnonzero(_CELL[tree.tag])
    removed[cells] &= removed[tree.parent[cells]]


def _cut(tree: Tree, nodes: Ints, first: int, last: int) -> str:
    """The page's source from `first` to `last`, without these nodes and all that is in them."""
    pieces: list[bytes] = []
    for start, close in zip(tree.start[nodes].tolist(), tree.close[nodes].tolist(), strict=True):
        if start < first:
            continue
        if start >= last:
            break
        pieces.append(tree.source[first:start])
        first = close
    pieces.append(tree.source[first:last])
    return b"".join(pieces).decode("utf-8", "surrogatepass")


def _kept_attributes(tree: Tree) -> str:
    """The page's language and direction of writing, as its `<html>` writes them."""
    start_tag = tree.source[: tree.stop[0]]
    found = ((name, written_attribute(start_tag, name)) for name in (b"lang", b"dir"))
    return b"".join(b' %s="%s"' % (n, v) for n, v in found if v is not None).decode(
        "utf-8", "surrogatepass"
    )


def _head(tree: Tree) -> str:
    """A head with the page's title, and with its `<base>`, on which its links depend."""
    base = tree.tag == _BASE
    title = (tree.tag == _TITLE) & (tree.tag[tree.parent] == _HEAD)
    pieces = [b'<meta charset="utf-8">']
    bases, titles = np.flatnonzero(base)[:1].tolist(), np.flatnonzero(title)[:1].tolist()
    pieces += [tree.source[tree.start[node] : tree.stop[node]] for node in bases]
    pieces += [tree.source[tree.start[node] : tree.close[node]] for node in titles]
    return b"".join(pieces).decode("utf-8", "surrogatepass") + ("" if titles else "<title></title>")
