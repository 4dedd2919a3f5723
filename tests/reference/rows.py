"""Rows of alike siblings, such as comments, teasers and posts, and the main element of a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dehusk.page import tags
from dehusk.page.hashing import mix
from dehusk.page.tree import Flags, Floats, Ints, Tree
from reference.reading import DIGIT, LEVELS, MUCH_TEXT, Blocks, Letters, Names
from reference.steps import log1p

Places = NDArray[np.intp]

_LONG = 80
"""Characters from which a block that is no link is running text."""


def running_chars(blocks: Blocks) -> Floats:
    """The characters of the blocks that are running text; 0 for the others."""
    is_long = (blocks.chars > _LONG) & (blocks.link_chars < 0.3 * blocks.chars)
    return np.where(is_long, blocks.chars, 0.0)


def headings_of(tree: Tree, blocks: Blocks) -> Places:
    """The blocks in an h1."""
    return np.flatnonzero(tree.tag[blocks.container] == tags.NUMBERS["h1"])


# --- rows ---

_MIN_ROW = 3
"""Alike siblings that make a row."""
_MAX_MEMBER = 0.5
"""The share of a row's text that one member may hold: the columns of a layout are no row."""


class Main(NamedTuple):
    """The main element, and the run of its blocks."""

    node: int
    low: int
    high: int


@dataclass(frozen=True, slots=True, eq=False)
class _Members:
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

    def ofread_rows(self, values: Floats) -> Floats:
        """The sum of a number per member over its row, at each member."""
        return np.asarray(np.bincount(self.row, values)[self.row], np.float64)


def read_rows(tree: Tree, blocks: Blocks, names: Names, letters: Letters) -> tuple[Floats, Main]:
    """What the rows of the page say of each block: numbers that tell comments from articles.

    Of the longest row that it stands in, what `_row`, `_parts` and `_stands` say; and how much
    running text stands in no row, before the block or its row and in all, and how much is in the
    largest row. Beside them, the main element, which depends on what stands in no row.
    """
    running = running_chars(blocks)
    total = max(float(running.sum()), 1.0)
    elements = _elements(tree, blocks)
    nested, found = _find(tree, blocks, names, elements)
    member = _members(tree, found, elements)
    inside = np.flatnonzero(member >= 0)
    alone = running.copy()
    alone[inside] = 0
    main = _find_main(tree, blocks, alone)
    numbers = (
        _row(found, blocks, running),
        _parts(tree, found, blocks, letters, nested),
        _stands(tree, found, blocks, main),
    )
    own = np.zeros((len(blocks), 16))
    own[inside] = np.concatenate(numbers, axis=1)[member[inside]]
    begin = np.arange(len(blocks))
    first = np.unique(found.row, return_index=True)[1]
    begin[inside] = found.low[first][found.row[member[inside]]]
    before = np.concatenate(([0.0], np.cumsum(alone)))[begin]
    in_rows = np.bincount(found.row, found.sums(running)) if len(found.row) else np.zeros(1)
    page = (alone.sum() / total, log1p(min(alone.sum(), MUCH_TEXT)) / 8, in_rows.max() / total)
    few = np.minimum(before, MUCH_TEXT)
    columns = (before / total, log1p(few) / 8, *(np.full(len(blocks), each) for each in page))
    return np.concatenate((own, np.stack(columns, axis=1)), axis=1), main


def _row(found: _Members, blocks: Blocks, running: Floats) -> Floats:
    """Of each member: how many its row has, how long they are, how different in length, and how
    linked; how many have a block that is a link; the row's share of the page and of its running
    text; and which member this is.
    """
    sizes = found.sums(blocks.chars)
    links = found.sums((blocks.link_chars > 0.8 * blocks.chars).astype(np.float64))
    count, chars = found.ofread_rows(np.ones(len(sizes))), found.ofread_rows(sizes)
    spread = np.sqrt(np.maximum(found.ofread_rows(sizes**2) * count / chars**2 - 1, 0))
    place = np.array([np.sum(found.row[:at] == row) for at, row in enumerate(found.row)])
    columns = (
        log1p(count),
        log1p(chars / count),
        np.minimum(spread, 3),
        found.ofread_rows(found.sums(blocks.link_chars)) / chars,
        found.ofread_rows((links > 0).astype(np.float64)) / count,
        chars / max(float(blocks.chars.sum()), 1.0),
        found.ofread_rows(found.sums(running)) / max(float(running.sum()), 1.0),
        log1p(place),
    )
    return np.stack(columns, axis=1)


_PARTS = (
    tags.numbers("h1", "h2", "h3", "h4", "h5", "h6"),
    tags.numbers("img", "picture", "video"),
    tags.numbers("time"),
    tags.numbers("form", "button", "input", "select", "textarea"),
)
_DATE_CHARS = 40
"""Characters of a short text."""


def _parts(tree: Tree, found: _Members, blocks: Blocks, letters: Letters, nested: Flags) -> Floats:
    """Of each member: the shares of its row's members with a heading, an image, `<time>`, a form, a
    short text with digits, and an element like themselves.
    """
    ends = tree.end[found.nodes]
    has = []
    for part in _PARTS:
        count = np.concatenate(([0], np.cumsum(part[tree.tag])))
        has.append(count[ends] > count[found.nodes])
    dates = (blocks.chars <= _DATE_CHARS) & (letters.counts[:, DIGIT] > 0)
    has += [found.sums(dates.astype(np.float64)) > 0, nested[found.nodes]]
    count = found.ofread_rows(np.ones(len(ends)))
    columns = [found.ofread_rows(members.astype(np.float64)) / count for members in has]
    return np.stack(columns, axis=1)


def _stands(tree: Tree, found: _Members, blocks: Blocks, main: Main) -> Floats:
    """Of each member: the share of its row behind the main element, and whether the first h1 stands
    in it, or in another of the row.
    """
    sizes = found.sums(blocks.chars)
    behind = found.ofread_rows(np.where(found.low >= main.high, sizes, 0)) / found.ofread_rows(
        sizes
    )
    headings = headings_of(tree, blocks)[:1]
    holds = np.zeros(len(sizes))
    for heading in headings.tolist():
        holds[(found.low <= heading) & (heading < found.high)] = 1
    headline = np.where(holds > 0, 1, np.where(found.ofread_rows(holds) > 0, 0.5, 0))
    return np.stack((behind, headline), axis=1)


def _elements(tree: Tree, blocks: Blocks) -> Ints:
    """The elements around each block that can be members of a row."""
    columns, node = [], blocks.container
    for _ in range(LEVELS[-1]):
        columns.append(node)
        node = np.maximum(tree.parent[node], 0)
    return np.stack(columns, axis=1)


def _find(tree: Tree, blocks: Blocks, names: Names, elements: Ints) -> tuple[Flags, _Members]:
    """Which elements have one like themselves in them, and the rows of the page. Only siblings that
    hold several blocks make one: paragraphs do not, even if they have several lines.
    """
    nodes = np.unique(elements)[1:].astype(np.intp)
    starts = blocks.segments[blocks.first]
    low, high = np.searchsorted(starts, nodes), np.searchsorted(starts, tree.end[nodes])
    lines = np.bincount(blocks.container, minlength=len(tree))[nodes]
    several = (high - low >= 2) & (lines < high - low)
    nodes, low, high = nodes[several], low[several], high[several]
    nested, up = np.zeros(len(tree), np.bool_), nodes
    for _ in range(LEVELS[-1]):
        up = np.maximum(tree.parent[up], 0)
        is_alike = (names.classes[up] == names.classes[nodes]) & (tree.tag[up] == tree.tag[nodes])
        nested[up[is_alike & (names.classes[nodes] > 0)]] = True
    key = mix(names.classes[nodes] + mix(tree.parent[nodes].astype(np.uint64)))
    _, row = np.unique(key + tree.tag[nodes].astype(np.uint64), return_inverse=True)
    found = _Members(nodes, row, low, high)
    sizes = found.sums(blocks.chars)
    largest = np.zeros(row.max(initial=-1) + 1)
    np.maximum.at(largest, row, sizes)
    is_row = np.bincount(row, minlength=len(largest)) >= _MIN_ROW
    is_row &= largest <= _MAX_MEMBER * np.bincount(row, sizes, minlength=len(largest))
    kept = is_row[row]
    row = (np.cumsum(is_row) - 1)[row[kept]]
    return nested, _Members(nodes[kept], row, low[kept], high[kept])


def _members(tree: Tree, found: _Members, elements: Ints) -> Places:
    """Of each block, its member of the longest row it stands in, the innermost of equal ones; -1
    where it stands in none.
    """
    if not len(found.nodes):
        return np.full(len(elements), -1)
    place = np.full(len(tree), -1)
    place[found.nodes] = np.arange(len(found.nodes))
    members = place[elements]
    length = np.where(members >= 0, np.bincount(found.row)[found.row[members]], 0)
    return np.asarray(members[np.arange(len(elements)), length.argmax(axis=1)])


# --- the main element ---

_MOST = 0.7
"""The share of the text that the main element holds at least. Its text as the answer, by blocks, on
every 7th page of articles-dev, 21st of docs-dev and 9th of wcxb-dev: F1 0.812, 0.861 and 0.826;
with 0.6 0.818, 0.829 and 0.819, with 0.8 0.801, 0.876 and 0.824."""
_LITTLE = 0.2
"""With less of the running text outside of rows, all of it counts: a listing, a discussion."""


def stand_to_main(tree: Tree, blocks: Blocks, main: Main) -> Floats:
    """Where each block stands to the main element, and how much of the page that holds."""
    node, low, high = main
    order = np.arange(len(blocks))
    inside, behind = (order >= low) & (order < high), order >= high
    levels = np.maximum(tree.depth[blocks.container] - tree.depth[node], 0)
    running = running_chars(blocks)
    chars = max(float(blocks.chars[low:high].sum()), 1.0)
    page = (
        running[low:high].sum() / max(float(running.sum()), 1.0),
        chars / max(float(blocks.chars.sum()), 1.0),
        blocks.link_chars[low:high].sum() / chars,
    )
    columns = (
        inside,
        order < low,
        behind,
        np.where(behind, log1p(np.maximum(order - high + 1, 0)), 0),
        np.where(inside, log1p(levels), 0),
        *(np.full(len(blocks), number) for number in page),
    )
    return np.stack(columns, axis=1).astype(np.float64)


def _find_main(tree: Tree, blocks: Blocks, alone: Floats) -> Main:
    """The smallest element that holds most of the text, and the run of its blocks.

    A paragraph, even if it has several lines, is only part of what is written: an element whose
    blocks are all its own is not the main one, nor is what stands in it.
    """
    running = running_chars(blocks)
    weight = running if running.any() else blocks.chars
    if alone.any() and alone.sum() >= _LITTLE * running.sum():
        weight = alone
    total = np.concatenate(([0.0], np.cumsum(weight)))
    starts = blocks.segments[blocks.first]
    low, high = np.searchsorted(starts, np.arange(len(tree))), np.searchsorted(starts, tree.end)
    lines = np.bincount(blocks.container, minlength=len(tree))
    found = Main(0, 0, len(blocks))
    for node in np.flatnonzero((high > low) & (total[high] - total[low] >= _MOST * total[-1])):
        if lines[node] == high[node] - low[node]:
            break
        if high[node] - low[node] >= 2:
            found = Main(int(node), int(low[node]), int(high[node]))
    return found


ARTICLE_CHARS = 200
"""Running text that makes an article."""
_ABOUT_AS_MUCH = 0.3
"""The share of it that a further article has at least."""


def find_further(tree: Tree, blocks: Blocks, names: Names) -> Floats:
    """1 from a sibling on that is like what holds the first h1, and has an h1 too; 0.5 without.

    From the h1 upwards, the nearest with an h1 counts, then the first of the nearest.
    """
    starts, headings = blocks.segments[blocks.first], headings_of(tree, blocks)
    total = np.concatenate(([0.0], np.cumsum(running_chars(blocks))))
    found = np.zeros((len(blocks), 1))
    node = int(blocks.container[headings[0]]) if len(headings) else 0

    def run(node: int) -> tuple[int, int]:
        low, high = np.searchsorted(starts, (node, tree.end[node]))
        return int(low), int(high)

    while node > 0:
        low, high = run(node)
        own, up = total[high] - total[low], int(tree.parent[node])
        sibling, stop = int(tree.end[node]), int(tree.end[up]) if up >= 0 else len(tree)
        while sibling < stop and own >= ARTICLE_CHARS:
            low, high = run(sibling)
            is_alike = tree.tag[sibling] == tree.tag[node]
            is_alike &= names.classes[sibling] == names.classes[node]
            is_alike &= names.classes[node] > 0 or tree.tag[node] == tags.NUMBERS["article"]
            if is_alike and total[high] - total[low] >= _ABOUT_AS_MUCH * own:
                if np.any((headings >= low) & (headings < high)):
                    found[:] = 0
                    found[low:] = 1
                    return found
                if not found.any():
                    found[low:] = 0.5
            sibling = int(tree.end[sibling])
        node = max(up, 0)
    return found
