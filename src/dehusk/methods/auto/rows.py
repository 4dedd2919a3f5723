"""Rows of alike siblings on a page, such as comments, teasers and posts; and copies of a text."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dehusk.methods.auto.blocks import LEVELS, Blocks
from dehusk.methods.auto.columns import log1p
from dehusk.methods.auto.letters import DIGIT, FOREIGN, LOWER, UPPER, Letters
from dehusk.methods.auto.names import Names
from dehusk.page.hashing import mix
from dehusk.page.tree import Floats, Ints, Tree

Places = NDArray[np.intp]

_MIN_ROW: Final = 4
"""Alike siblings that make a row."""
_MAX_MEMBER: Final = 0.5
"""The share of a row's text that one member may hold: the columns of a layout are no row."""
_MIN_COPY: Final = 40
"""Bytes of letters and digits from which a text that stands twice on a page is a copy."""
_LONG: Final = 80
"""Characters from which a block that is no link is running text."""


def running_chars(blocks: Blocks) -> Floats:
    """The characters of the blocks that are running text; 0 for the others."""
    is_long = (blocks.chars > _LONG) & (blocks.link_chars < 0.3 * blocks.chars)
    return np.where(is_long, blocks.chars, 0.0)


class _Rows(NamedTuple):
    """The members of all rows in the order of the page."""

    nodes: Places
    row: Places
    """Of each member, its row."""
    low: Places
    high: Places
    """Of each member, the run of its blocks."""

    def sums(self, values: Floats) -> Floats:
        """The sum of a number per block over each member."""
        total = np.concatenate(([0.0], np.cumsum(values)))
        return np.asarray(total[self.high] - total[self.low])

    def first(self) -> Places:
        """Of each row, its first member."""
        return np.unique(self.row, return_index=True)[1]


def rows(tree: Tree, blocks: Blocks, names: Names) -> Floats:
    """What the rows of the page say of each block: numbers that tell comments from articles.

    Of the longest row that it stands in, what `_told` says; and how much running text stands in no
    row, before the block or its row and in all, and how much is in the largest row.
    """
    running = running_chars(blocks)
    total = max(float(running.sum()), 1.0)
    around = _around(tree, blocks)
    found = _find(tree, blocks, names, around)
    member = _members(tree, found, around)
    inside = np.flatnonzero(member >= 0)
    told = np.zeros((len(blocks), _TOLD))
    told[inside] = _told(found, blocks, running)[member[inside]]
    alone = running.copy()
    alone[inside] = 0
    begin = np.arange(len(blocks))
    begin[inside] = found.low[found.first()][found.row[member[inside]]]
    before = np.concatenate(([0.0], np.cumsum(alone)))[begin]
    in_rows = np.bincount(found.row, found.sums(running)) if len(found.row) else np.zeros(1)
    page = (alone.sum() / total, log1p(alone.sum()) / 8, in_rows.max() / total)
    return np.concatenate(
        (
            told,
            np.stack((before / total, log1p(before) / 8), axis=1),
            np.broadcast_to(page, (len(blocks), len(page))),
        ),
        axis=1,
    )


_TOLD: Final = 8


def _told(found: _Rows, blocks: Blocks, running: Floats) -> Floats:
    """Of each member: how many its row has, how long they are, how different in length, and how
    linked; how many have a block that is a link; the row's share of the page and of its running
    text; and which member this is.
    """
    sizes = found.sums(blocks.chars)
    linked = found.sums(blocks.link_chars)
    links = found.sums((blocks.link_chars > 0.8 * blocks.chars).astype(np.float64))

    def by_row(values: Floats) -> Floats:
        return np.asarray(np.bincount(found.row, values)[found.row], np.float64)

    count, chars = by_row(np.ones(len(sizes))), by_row(sizes)
    spread = np.sqrt(np.maximum(by_row(sizes**2) * count / chars**2 - 1, 0))
    order = np.argsort(found.row, kind="stable")
    place = np.empty(len(order))
    place[order] = np.arange(len(order)) - np.searchsorted(found.row[order], found.row[order])
    return np.stack(
        (
            log1p(count),
            log1p(chars / count),
            np.minimum(spread, 3),
            by_row(linked) / chars,
            by_row((links > 0).astype(np.float64)) / count,
            chars / max(float(blocks.chars.sum()), 1.0),
            by_row(found.sums(running)) / max(float(running.sum()), 1.0),
            log1p(place),
        ),
        axis=1,
    )


def _around(tree: Tree, blocks: Blocks) -> Ints:
    """The elements around each block that can be members of a row."""
    columns, node = [], blocks.container
    for _ in range(LEVELS[-1]):
        columns.append(node)
        node = np.maximum(tree.parent[node], 0)
    return np.stack(columns, axis=1)


def _find(tree: Tree, blocks: Blocks, names: Names, around: Ints) -> _Rows:
    """The rows of the page. Only siblings that hold several blocks make one: paragraphs do not,
    even if they have several lines.
    """
    seen = np.zeros(len(tree), np.bool_)
    seen[around.ravel()] = True
    nodes = np.flatnonzero(seen)[1:]
    starts = blocks.segments[blocks.first]
    low, high = np.searchsorted(starts, nodes), np.searchsorted(starts, tree.end[nodes])
    lines = np.bincount(blocks.container, minlength=len(tree))[nodes]
    several = (high - low >= 2) & (lines < high - low)
    nodes, low, high = nodes[several], low[several], high[several]
    key = mix(names.look[nodes] + mix(tree.parent[nodes].astype(np.uint64)))
    _, row = np.unique(key + tree.tag[nodes].astype(np.uint64), return_inverse=True)
    found = _Rows(nodes, row, low, high)
    sizes = found.sums(blocks.chars)
    largest = np.zeros(row.max(initial=-1) + 1)
    np.maximum.at(largest, row, sizes)
    is_row = np.bincount(row, minlength=len(largest)) >= _MIN_ROW
    is_row &= largest <= _MAX_MEMBER * np.bincount(row, sizes, minlength=len(largest))
    kept = is_row[row]
    return _Rows(nodes[kept], (np.cumsum(is_row) - 1)[row[kept]], low[kept], high[kept])


def _members(tree: Tree, found: _Rows, around: Ints) -> Places:
    """Of each block, its member of the longest row it stands in; -1 where it stands in none."""
    if not len(found.nodes):
        return np.full(len(around), -1)
    place = np.full(len(tree), -1)
    place[found.nodes] = np.arange(len(found.nodes))
    members = place[around]
    length = np.where(members >= 0, np.bincount(found.row)[found.row[members]], 0)
    return np.asarray(members[np.arange(len(around)), length.argmax(axis=1)])


def copies(blocks: Blocks, letters: Letters) -> Floats:
    """Is the text of the block a copy of an earlier one, how often is it there, and how much of
    the text around it, level by level, is copied: the print version of an article, for one.
    """
    solid = letters.counts[:, (LOWER, UPPER, DIGIT, FOREIGN)].sum(axis=1)
    can = np.flatnonzero(solid >= _MIN_COPY)
    _, first, kind, count = np.unique(
        letters.signature[can], return_index=True, return_inverse=True, return_counts=True
    )
    is_copy, others = np.zeros(len(blocks)), np.zeros(len(blocks))
    is_copy[can] = first[kind] != np.arange(len(can))
    others[can] = log1p(count[kind] - 1)
    chars = np.maximum(blocks.around(blocks.chars), 1)
    around = blocks.around(is_copy * blocks.chars) / chars
    return np.concatenate((np.stack((is_copy, others), axis=1), around), axis=1)
