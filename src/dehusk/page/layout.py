"""Where the nodes of a page stand and how large they are: a browser's word, or an estimate.

The estimate knows no style sheet. It gives every block the width of what it stands in (cells and
columns share it), every text the area that its characters take, and every box the area of what is
in it; heights follow. All of it is sums over the document, so it costs a few passes over arrays.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dehusk.page import tags
from dehusk.page.tree import Flags, Floats, Layout, Tree

PAGE_WIDTH: Final = 1280.0
"""The width of the window, in pixels; what a browser is given too."""
_LINE: Final = 22.0
_CHARACTER: Final = 7.5
_WIDE_CHARACTER: Final = 15.0
"""A line's height and a character's width at a font size of 16 px, as browsers' default styles and
common style sheets have them."""
_WIDE_BYTES: Final = 2.5
"""Bytes a character from which on a text is written in wide ones: Chinese, Japanese, Korean."""
_SIDE_SHARE: Final = 0.22
"""The width of `<nav>` and `<aside>` beside other blocks, as a share of what they stand in."""
_MIN_CELL: Final = 4.0
"""Characters that a table cell is at least taken to hold."""
_MIN_COLUMN: Final = 300
"""Characters from which on a block is a column with others beside it, not a piece of a header."""
_MAX_PIXELS: Final = 4000.0
_BLOCK: Final = tags.numbers(*(set(tags.BLOCK) | {"td", "th"}) - {"option", "optgroup", "title"})
_CELL: Final = tags.numbers("td", "th")
_SIDE: Final = tags.numbers("nav", "aside")
_ENDS: Final = tags.numbers("header", "footer")
_SELECT: Final = tags.numbers("select", "textarea", "button")
_BODY: Final = tags.NUMBERS["body"]
_SIZED: Final = {
    "img": (240.0, 160.0), "image": (240.0, 160.0), "svg": (24.0, 24.0), "embed": (300.0, 150.0),
    "object": (300.0, 150.0), "video": (300.0, 150.0), "canvas": (300.0, 150.0),
    "iframe": (300.0, 150.0), "input": (160.0, 24.0), "select": (160.0, 24.0),
    "textarea": (320.0, 60.0), "hr": (0.0, 2.0),
}  # fmt: skip
"""What takes room without text, and the width and height it has if it declares none: the defaults
of browsers, and for images a middle size."""
_MARGINS: Final = {
    "p": 16.0, "ul": 16.0, "ol": 16.0, "dl": 16.0, "pre": 16.0, "blockquote": 16.0, "figure": 16.0,
    "table": 8.0, "h1": 24.0, "h2": 22.0, "h3": 18.0, "h4": 18.0, "h5": 18.0, "h6": 18.0,
}  # fmt: skip
"""White space above and below a block, in pixels, half of what browsers' default styles say: the
margins of neighbours fall into one."""
_FONTS: Final = {"h1": 2.0, "h2": 1.5, "h3": 1.17, "h5": 0.83, "h6": 0.67, "small": 0.83}
"""Font sizes of browsers' default styles, as parts of the usual one."""
_DECLARED: Final = re.compile(rb' (width|height)="([0-9]{1,5})(?:px)?"')


def _by_tag(values: dict[str, float], other: float) -> Floats:
    """A table by tag number."""
    table = np.full(len(tags.NAMES), other)
    for name, value in values.items():
        table[tags.NUMBERS[name]] = value
    return table


_MARGIN: Final = _by_tag(_MARGINS, 0.0)
_FONT: Final = _by_tag(_FONTS, 1.0)
_WIDTH: Final = _by_tag({name: size[0] for name, size in _SIZED.items()}, 0.0)
_HEIGHT: Final = _by_tag({name: size[1] for name, size in _SIZED.items()}, 0.0)
_IS_SIZED: Final = tags.numbers(*_SIZED)


def layout_of(tree: Tree) -> Layout:
    """Where every node stands: as a browser measured it if one was asked, else estimated."""
    return estimate(tree) if tree.layout is None else tree.layout


def estimate(tree: Tree) -> Layout:
    """Where every node is likely to stand, from text lengths, tags and declared sizes.

    An empty tree has boxes of height 0.
    """
    family = _Family(tree)
    is_block = _holds(tree, _BLOCK[tree.tag]) & tree.shown
    is_block[0] = True
    block = _nearest(tree, is_block)
    is_beside, share = _shares(tree, family, is_block)
    width = PAGE_WIDTH * np.exp(_down(tree, np.log(share)))
    pixels, size_width, size_height = _inline(tree, block, width)
    run = np.bincount(block, pixels, len(tree))
    line = _LINE * _FONT[tree.tag]
    area = pixels * line[block]
    area += size_width * size_height
    # A line that is begun takes the whole width, and a block keeps its distance from others.
    lines = np.ceil(run / width - 1e-9)
    area += np.where(is_block, (lines * width - run) * line, 0.0)
    has_any = tree.sums(area) > 0
    area += np.where(is_block & has_any, _MARGIN[tree.tag] * width, 0.0)
    total = tree.sums(area)
    own = np.minimum(np.where(_IS_SIZED[tree.tag], size_width, tree.sums(pixels)), width)
    box_width = np.where(total > 0, np.where(is_block, width, own), 0.0)
    box_height = np.divide(total, box_width, out=np.zeros(len(tree)), where=box_width > 0)

    before = family.before(np.where(is_beside, 0.0, total))
    beside = family.before(np.where(is_beside, width, 0.0))
    inline = family.before(np.where(is_block, 0.0, own))
    inside = width[np.maximum(tree.parent, 0)]
    y = _down(tree, before / inside)
    x = _down(tree, np.where(is_beside, beside, np.where(is_block, 0.0, inline % inside)))
    return Layout(np.minimum(x, PAGE_WIDTH), y, box_width, box_height, is_estimate=True)


@dataclass(frozen=True, slots=True, eq=False)
class _Family:
    """Who stands beside whom: sums over siblings, for all nodes at once."""

    order: NDArray[np.intp]
    """The nodes such that siblings stand together, in document order."""
    first: NDArray[np.intp]
    """Of each place in the order, the place of its first sibling."""
    parent: NDArray[Any]

    def __init__(self, tree: Tree) -> None:
        order = np.argsort(tree.parent, kind="stable")
        parent = tree.parent[order]
        first = np.flatnonzero(np.concatenate(([True], parent[1:] != parent[:-1])))
        sizes = np.diff(np.append(first, len(order)))
        object.__setattr__(self, "order", order)
        object.__setattr__(self, "first", np.repeat(first, sizes))
        object.__setattr__(self, "parent", np.maximum(tree.parent, 0))

    def before(self, values: Floats) -> Floats:
        """Of each node the sum over the siblings before it."""
        ordered = values[self.order]
        total = np.cumsum(ordered) - ordered
        sums = np.empty(len(values))
        sums[self.order] = total - total[self.first]
        return sums

    def total(self, values: Floats) -> Floats:
        """Of each node the sum over it and its siblings."""
        sums: Floats = np.bincount(self.parent[1:], values[1:], len(values))[self.parent]
        return sums


def _shares(tree: Tree, family: _Family, is_block: Flags) -> tuple[Flags, Floats]:
    """Which nodes stand beside their siblings, and the share of the width that each node has.

    Cells share by the length of their text, as browsers do with tables of no set width. Columns are
    one block with some text and `<nav>` or `<aside>` beside it, unless a header or a footer stands
    among them, or all stand in `<body>`: that is a page from top to bottom.
    """
    length = tree.text_length + _MIN_CELL
    is_cell = _CELL[tree.tag] & tree.shown
    filled = is_block & (tree.text_length > 0)
    is_side = filled & _SIDE[tree.tag]
    rest = filled & ~is_side
    sides, ends, others = (
        family.total(flags.astype(np.float64))
        for flags in (is_side, filled & _ENDS[tree.tag], rest)
    )
    has_text = family.total(np.where(rest, tree.text_length, 0.0)) >= _MIN_COLUMN
    in_columns = filled & (sides > 0) & (ends == 0) & (others == 1) & has_text
    in_columns &= tree.tag[family.parent] != _BODY
    is_beside = is_cell | in_columns
    is_beside[0] = False
    share = np.ones(len(tree))
    cells = family.total(np.where(is_cell, length, 0.0))
    share[is_cell] = (length / np.maximum(cells, 1.0))[is_cell]
    side_share = np.minimum(_SIDE_SHARE, 0.5 / np.maximum(sides, 1.0))
    share[in_columns] = np.where(is_side, side_share, 1 - sides * side_share)[in_columns]
    share[0] = 1.0
    return np.asarray(is_beside), np.maximum(share, 0.01)


def _inline(tree: Tree, block: NDArray[np.int32], width: Floats) -> tuple[Floats, Floats, Floats]:
    """Of each node: the width of its text on one line; of what is sized, its width and height."""
    in_control = _covered(tree, _SELECT[tree.tag])
    written = (tree.stop - tree.start) / np.maximum(tree.text_length, 1)
    character = np.where(written > _WIDE_BYTES, _WIDE_CHARACTER, _CHARACTER)
    is_text = tree.is_text & (tree.text_length > 0) & ~in_control
    pixels = np.where(is_text, tree.text_length * character * _FONT[tree.tag[block]], 0.0)
    sized = _IS_SIZED[tree.tag] & tree.shown
    wide, high = np.where(sized, _WIDTH[tree.tag], 0.0), np.where(sized, _HEIGHT[tree.tag], 0.0)
    _declare(tree, sized, wide, high)
    # What is wider than its place shrinks to it, as style sheets have it for images.
    shrink = np.minimum(1.0, width / np.maximum(wide, 1.0))
    return pixels, wide * shrink, high * shrink


def _declare(tree: Tree, sized: Flags, width: Floats, height: Floats) -> None:
    """Write the declared sizes of what is sized into the arrays."""
    nodes = np.flatnonzero(sized)
    for node in nodes.tolist():
        start_tag = tree.source[tree.start[node] : tree.stop[node]]
        for name, value in _DECLARED.findall(start_tag):
            side = width if name == b"width" else height
            side[node] = min(float(value), _MAX_PIXELS)


def _holds(tree: Tree, marked: Flags) -> Flags:
    """True for nodes that are marked, or have a marked one below them."""
    return np.asarray(tree.sums(marked) > 0)


def _covered(tree: Tree, marked: Flags) -> Flags:
    """True for nodes that are marked, or have a marked one above them."""
    return np.asarray(_down(tree, marked.astype(np.float64)) > 0.5)


def _down(tree: Tree, values: Floats) -> Floats:
    """Of each node the sum over it and all above it."""
    leaves = np.bincount(tree.end, values, len(tree) + 1)[:-1]
    sums: Floats = np.cumsum(values - leaves)
    return sums


def _nearest(tree: Tree, marked: Flags) -> NDArray[np.int32]:
    """Of each node, itself if it is marked, else its nearest marked ancestor; node 0 is marked."""
    own = np.arange(len(tree), dtype=np.int32)
    up = np.where(marked, own, np.maximum(tree.parent, 0)).astype(np.int32)
    while not np.array_equal(further := up[up], up):
        up = further
    return up
