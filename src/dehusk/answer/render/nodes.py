"""Facts about the nodes of a labelled tree that several ways of rendering need."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dehusk.answer.labels import Label
from dehusk.page import tags
from dehusk.page.tree import Flags, Ints, Tree

LabelArray = NDArray[np.int8]
Places = NDArray[np.int64]

BLOCK: Final = tags.numbers(*tags.BLOCK)
BREAKS: Final = tags.numbers(*tags.BLOCK, "br")
CELL: Final = tags.numbers("td", "th")
_ROW: Final = tags.numbers("table", "caption", "thead", "tbody", "tfoot", "tr")
ANCHOR: Final = tags.numbers("a")
_PREFORMATTED: Final = tags.numbers("pre", "listing", "xmp", "textarea", "plaintext")
_THING: Final = tags.numbers(
    "img", "input", "select", "svg", "video", "audio", "canvas", "iframe", "object", "embed"
)
"""What is shown as a thing between words: a picture, a control."""
TEXT_KINDS: Final = np.zeros(len(tags.NAMES), np.uint8)
"""By tag number, what the kernel asks of tags, from the lowest bit on (`src/kernel/text.c`)."""
for _place, _table in enumerate((BREAKS, CELL, _ROW, ANCHOR, _PREFORMATTED, _THING)):
    TEXT_KINDS[_table] |= np.uint8(1 << _place)


_BARE: Final = np.array([len(f"<{name}>") for name in tags.NAMES])
"""By tag number, how long a start tag without attributes is."""


def with_attributes(tree: Tree, nodes: list[int]) -> list[int]:
    """Those of the nodes, elements of known tags, that have any attribute."""
    if not nodes:
        return nodes
    places = np.array(nodes)
    is_bare = tree.stop[places] - tree.start[places] == _BARE[tree.tag[places]]
    found: list[int] = places[~is_bare].tolist()
    return found


def written_ends(tree: Tree) -> Ints:
    """Of each node, one behind the last node written inside it in `tree.source`.

    The same as `tree.end`, but for elements so deep that the tree made siblings of what they hold.
    """
    return np.searchsorted(tree.start, tree.close).astype(np.int32)


def holds(ends: Ints, marked: Flags) -> Flags:
    """Is the node, or any node from it to its end, marked?"""
    total = np.concatenate(([0], np.cumsum(marked, dtype=np.int32)))
    return np.asarray(total[ends] > total[:-1])


def outermost(ends: Ints, marked: Flags) -> Ints:
    """The marked nodes that lie in no other marked node, in document order."""
    nodes = np.flatnonzero(marked).astype(np.int32)
    reach = np.maximum.accumulate(ends[nodes])
    return nodes[np.concatenate(([True], nodes[1:] >= reach[:-1]))[: len(nodes)]]


def inside(ends: Ints, marked: Flags) -> Flags:
    """Is the node a marked one, or in one?"""
    return np.asarray(_edges(ends, marked, closing=-1) > 0)


def spaces(tree: Tree) -> Flags:
    """Which nodes are shown text of nothing but white space."""
    return np.asarray(tree.is_text & tree.shown & (tree.text_length == 0))


def inked(tree: Tree, labels: LabelArray, label: Label) -> Flags:
    """Which nodes are shown text with this label that is more than white space."""
    return np.asarray(tree.is_text & (tree.text_length > 0) & (labels == label))


def preformatted(tree: Tree) -> Flags:
    """Which nodes keep their white space: those in `<pre>` and the like."""
    return inside(tree.end, _PREFORMATTED[tree.tag])


def text_below(tree: Tree, counted: Flags) -> Ints:
    """Of each node, the length of the counted texts from it to its end."""
    own = np.where(tree.is_text & counted, tree.text_length, 0)
    total = np.concatenate(([0], np.cumsum(own, dtype=np.int32)))
    return np.asarray(total[tree.end] - total[:-1])


def unescaped(written: bytes) -> str:
    """The text that canonical HTML writes so."""
    if b"&" in written:
        written = written.replace(b"&nbsp;", b"\xc2\xa0").replace(b"&quot;", b'"')
        written = written.replace(b"&lt;", b"<").replace(b"&gt;", b">").replace(b"&amp;", b"&")
    return written.decode("utf-8", "surrogatepass")


def attribute(start_tag: bytes, name: bytes) -> str | None:
    """The value of one attribute in a canonical start tag, at a fraction of what all cost."""
    written = written_attribute(start_tag, name)
    return None if written is None else unescaped(written)


def written_attribute(start_tag: bytes, name: bytes) -> bytes | None:
    """The value of one attribute in a canonical start tag, as it is written there."""
    if b' %s="' % name not in start_tag:
        return None
    found = _attribute_pattern(name).match(start_tag)
    return found[1] if found else None


@cache
def _attribute_pattern(name: bytes) -> re.Pattern[bytes]:
    """What matches a canonical start tag up to the value of one attribute.

    Attribute names may hold quotes, and values what looks like attributes, so each step takes a
    whole attribute. A step is never taken back: one pass over the tag, and one way to read it.
    """
    return re.compile(rb'(?>[^ ]+)(?> [^ ]+?="[^"]*")*? %s="([^"]*)"' % re.escape(name))


def block_numbers(tree: Tree) -> Ints:
    """The stretch of inline text each node stands in: the number moves at blocks and cells."""
    return _edges(tree.end, (BLOCK | CELL)[tree.tag], closing=1)


def line_numbers(tree: Tree) -> Ints:
    """The line each node stands on: the number moves wherever a browser begins a new one.

    Cells of a table row do not begin lines.
    """
    return _edges(tree.end, BREAKS[tree.tag], closing=1)


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """Text nodes that are rendered one after another, and what stands before each of them."""

    nodes: Ints
    new_line: Flags
    """A line begins here; false for the first node."""
    new_cells: Ints
    """How many table cells begin before this text, in the row that the text before stands in."""
    spaced: Flags
    """White space, or the edge between two links, stands between this text and the one before."""
    cut: Flags
    """Shown text that is not rendered stood between this text and the one before."""


def run(tree: Tree, rendered: Flags, skipped: Flags) -> Run:
    """The rendered text nodes in order; `skipped` marks shown text that is not rendered."""
    nodes = np.flatnonzero(rendered).astype(np.int32)
    line = line_numbers(tree)
    new_line = _moves(line, nodes)
    new_cells = np.zeros(len(nodes), np.int32)
    is_cell = CELL[tree.tag]
    if is_cell.any():
        new_cells = _new_cells(tree, nodes, is_cell, new_line)
        new_line |= _moves(_edges(tree.end, is_cell, closing=1), nodes)
        new_line &= new_cells == 0
    return Run(
        nodes,
        new_line,
        new_cells,
        spaced=_moves(np.cumsum(spaces(tree) & ~rendered, dtype=np.int32), nodes)
        | _new_link(tree, nodes),
        cut=_moves(np.cumsum(skipped, dtype=np.int32), nodes)
        | _moves(_edges(tree.end, _THING[tree.tag], closing=1), nodes),
    )


def _new_link(tree: Tree, nodes: Ints) -> Flags:
    """Which texts are in another link than the text before, which is in a link too.

    Links that touch are set apart by style sheets, not by white space: on every corpus tried, words
    of the content were glued together without this, and none came apart with it.
    """
    is_link = ANCHOR[tree.tag]
    is_linked = inside(tree.end, is_link)[nodes]
    is_new = _moves(np.cumsum(is_link, dtype=np.int32), nodes)
    is_new[1:] &= is_linked[1:] & is_linked[:-1]
    return is_new


def _new_cells(tree: Tree, nodes: Ints, is_cell: Flags, new_line: Flags) -> Ints:
    """How many cells begin before each text, in rows whose cells so far have one line each.

    A cell behind one of several lines begins a line of its own: such tables lay out a page.
    """
    new_row = _moves(_edges(tree.end, _ROW[tree.tag], closing=1), nodes)
    broken = new_line & ~_moves(_edges(tree.end, is_cell, closing=1), nodes)
    breaks = np.cumsum(broken, dtype=np.int32)
    row_start = np.maximum.accumulate(np.where(new_row, np.arange(len(nodes)), 0))
    begun = np.cumsum(is_cell, dtype=np.int32)[nodes]
    count = np.diff(begun, prepend=begun[:1])
    return np.where(new_row | (breaks != breaks[row_start]), 0, count).astype(np.int32)


def _moves(count: Ints, nodes: Ints) -> Flags:
    """Does the count differ between a node and the one before it in `nodes`?"""
    values = count[nodes]
    moves = np.zeros(len(nodes), np.bool_)
    np.not_equal(values[1:], values[:-1], out=moves[1:])
    return moves


def _edges(ends: Ints, marked: Flags, *, closing: int) -> Ints:
    """At each node, the marked elements begun so far, plus `closing` for each that has ended."""
    ended = np.bincount(ends[marked], minlength=len(ends) + 1)[: len(ends)]
    return np.cumsum(marked + closing * ended, dtype=np.int32)
