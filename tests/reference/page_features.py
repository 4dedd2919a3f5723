"""What the page alone says of each block: the numbers that the page network reads.

In the order of `src/kernel/features.def`, which says what each is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dehusk.page import tags
from dehusk.page.hashing import mix
from dehusk.page.tree import Flags, Floats, Ints, Tree
from reference.reading import (  # fmt: skip
    COMMA,
    DIGIT,
    FOREIGN,
    KINDS,
    LEVELS,
    LOWER,
    SIGN,
    SPACE,
    STOP,
    UPPER,
    Blocks,
    Letters,
    Names,
    read_letters,
)
from reference.steps import log1p

Matrix = NDArray[np.float32]
Places = NDArray[np.intp]

_ABOVE = (
    "nav", "header", "footer", "aside", "main", "article", "section", "form", "ul", "ol", "table",
    "dl", "figure", "blockquote", "pre", "button", "label", "select", "a", "details",
)  # fmt: skip
"""Tags that matter when they stand somewhere above a block."""
OWN = (
    "p", "li", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6", "div", "dt", "dd", "pre",
    "figcaption", "button", "option", "blockquote", "summary", "caption",
)  # fmt: skip
"""Tags that matter as a block's container."""
_FARTHEST = 24
"""How many levels up tags and names are looked for; each counts 1 / sqrt(level)."""
_MAX_TITLE = 1000
"""Characters of `<title>` that are looked at: a longer one is no title, and would cost its length
for every block."""
_LONG = 80
"""Characters from which a block that is no link is running text."""


def page_features(tree: Tree, blocks: Blocks, names: Names) -> Matrix:
    """One row of numbers per block, from the page alone."""
    letters = read_letters(tree, blocks)
    text = _text(blocks, letters)
    rows, main = _rows(tree, blocks, names, letters)
    columns = [
        text,
        _neighbours(text),
        _place(tree, blocks),
        _container(tree, blocks),
        _above(tree, blocks, names),
        _around(blocks),
        _alike(tree, blocks, names),
        rows,
        _main(tree, blocks, main),
        _further(tree, blocks, names),
        _copies(blocks, letters),
        _title(tree, blocks),
    ]
    return np.concatenate(columns, axis=1, dtype=np.float32)


def running_chars(blocks: Blocks) -> Floats:
    """The characters of the blocks that are running text; 0 for the others."""
    is_long = (blocks.chars > _LONG) & (blocks.link_chars < 0.3 * blocks.chars)
    return np.where(is_long, blocks.chars, 0.0)


def _text(blocks: Blocks, letters: Letters) -> Floats:
    """Length, links, and the kinds of characters of each block's text."""
    counts = letters.counts
    total = np.maximum(counts.sum(axis=1), 1)
    capitals = counts[:, UPPER] + letters.capitals
    cased = np.maximum(capitals + counts[:, LOWER] + letters.small, 1)
    columns = (
        log1p(blocks.chars),
        blocks.link_chars / blocks.chars,
        counts[:, COMMA] / total,
        counts[:, STOP] / total,
        log1p(counts[:, SPACE]),
        log1p(counts[:, STOP]),
        counts[:, DIGIT] / total,
        capitals / cased,
        counts[:, FOREIGN] / total,
        counts[:, SIGN] / total,
        letters.ends,
        letters.colon,
    )
    return np.stack(columns, axis=1)


def _neighbours(text: Floats) -> Floats:
    """Length, links and signs of sentences of the three blocks before and the three behind."""
    nobody = np.full((3, 4), -1.0)
    padded = np.concatenate((nobody, text[:, :4], nobody))
    return np.concatenate([padded[at : at + len(text)] for at in (0, 1, 2, 4, 5, 6)], axis=1)


def _place(tree: Tree, blocks: Blocks) -> Floats:
    """Where the block stands on the page, and what page that is."""
    count = len(blocks)
    order = np.arange(count)
    total = max(float(blocks.chars.sum()), 1.0)
    running = running_chars(blocks).sum()
    page = (log1p(total), log1p(count), blocks.link_chars.sum() / total, running / total)
    columns = (
        order / max(count, 1),
        (np.cumsum(blocks.chars) - blocks.chars) / total,
        tree.depth[blocks.container] / 20,
        log1p(order),
        log1p(count - order),
        *(np.full(count, number) for number in page),
    )
    return np.stack(columns, axis=1)


def _container(tree: Tree, blocks: Blocks) -> Floats:
    """Which of `OWN` the container is, or another."""
    names = [tags.NAMES[tag] for tag in tree.tag[blocks.container].tolist()]
    places = [OWN.index(name) if name in OWN else len(OWN) for name in names]
    return np.eye(len(OWN) + 1)[np.array(places, np.intp)]


def _above(tree: Tree, blocks: Blocks, names: Names) -> Floats:
    """How near above the block stand the tags of `_ABOVE`, the words of `KINDS`, `aria-hidden`."""
    numbers = np.array([tags.NUMBERS[name] for name in _ABOVE])
    bits = np.arange(len(KINDS) + 1, dtype=np.uint32)
    near = np.zeros((len(blocks), len(_ABOVE) + len(bits)))
    node = blocks.container
    for level in range(1, _FARTHEST + 1):
        is_tag = tree.tag[node][:, None] == numbers
        is_named = names.kinds[node][:, None] >> bits & 1 > 0
        is_there = np.concatenate((is_tag, is_named), axis=1)
        near = np.where(is_there & (near == 0), 1 / np.sqrt(level), near)
        if not node.any():
            break
        node = np.maximum(tree.parent[node], 0)
    return near


def _around(blocks: Blocks) -> Floats:
    """For each level: links, share of the page, number and length of blocks, running text."""
    running = running_chars(blocks)
    chars = np.maximum(blocks.around(blocks.chars), 1)
    count = np.maximum(blocks.high - blocks.low, 1)
    columns = (
        blocks.around(blocks.link_chars) / chars,
        chars / max(float(blocks.chars.sum()), 1.0),
        log1p(count),
        log1p(chars / count),
        blocks.around(running) / chars,
        blocks.around(running) / max(float(running.sum()), 1.0),
    )
    return np.concatenate(columns, axis=1)


def _alike(tree: Tree, blocks: Blocks, names: Names) -> Floats:
    """Of the page's blocks of the same path and class: how many, how long, how linked."""
    key = tree.path_hash[blocks.container] + names.classes[blocks.container]
    _, kind = np.unique(key, return_inverse=True)
    count = np.bincount(kind)
    chars, linked = np.bincount(kind, blocks.chars), np.bincount(kind, blocks.link_chars)
    return np.stack((log1p(count), log1p(chars / count), linked / chars), axis=1)[kind]


# --- rows of alike siblings, such as comments, teasers and posts ---

_MIN_ROW = 4
"""Alike siblings that make a row."""
_MAX_MEMBER = 0.5
"""The share of a row's text that one member may hold: the columns of a layout are no row."""


class _Main(NamedTuple):
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

    def of_rows(self, values: Floats) -> Floats:
        """The sum of a number per member over its row, at each member."""
        return np.asarray(np.bincount(self.row, values)[self.row], np.float64)


def _rows(tree: Tree, blocks: Blocks, names: Names, letters: Letters) -> tuple[Floats, _Main]:
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
    page = (alone.sum() / total, log1p(alone.sum()) / 8, in_rows.max() / total)
    columns = (before / total, log1p(before) / 8, *(np.full(len(blocks), each) for each in page))
    return np.concatenate((own, np.stack(columns, axis=1)), axis=1), main


def _row(found: _Members, blocks: Blocks, running: Floats) -> Floats:
    """Of each member: how many its row has, how long they are, how different in length, and how
    linked; how many have a block that is a link; the row's share of the page and of its running
    text; and which member this is.
    """
    sizes = found.sums(blocks.chars)
    links = found.sums((blocks.link_chars > 0.8 * blocks.chars).astype(np.float64))
    count, chars = found.of_rows(np.ones(len(sizes))), found.of_rows(sizes)
    spread = np.sqrt(np.maximum(found.of_rows(sizes**2) * count / chars**2 - 1, 0))
    place = np.array([np.sum(found.row[:at] == row) for at, row in enumerate(found.row)])
    columns = (
        log1p(count),
        log1p(chars / count),
        np.minimum(spread, 3),
        found.of_rows(found.sums(blocks.link_chars)) / chars,
        found.of_rows((links > 0).astype(np.float64)) / count,
        chars / max(float(blocks.chars.sum()), 1.0),
        found.of_rows(found.sums(running)) / max(float(running.sum()), 1.0),
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
    count = found.of_rows(np.ones(len(ends)))
    columns = [found.of_rows(members.astype(np.float64)) / count for members in has]
    return np.stack(columns, axis=1)


def _stands(tree: Tree, found: _Members, blocks: Blocks, main: _Main) -> Floats:
    """Of each member: the share of its row behind the main element, and whether the first h1 stands
    in it, or in another of the row.
    """
    sizes = found.sums(blocks.chars)
    behind = found.of_rows(np.where(found.low >= main.high, sizes, 0)) / found.of_rows(sizes)
    headings = _headings(tree, blocks)[:1]
    holds = np.zeros(len(sizes))
    for heading in headings.tolist():
        holds[(found.low <= heading) & (heading < found.high)] = 1
    headline = np.where(holds > 0, 1, np.where(found.of_rows(holds) > 0, 0.5, 0))
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

_MOST = 0.6
"""The share of the text that the main element holds at least."""
_LITTLE = 0.2
"""With less of the running text outside of rows, all of it counts: a listing, a discussion."""


def _main(tree: Tree, blocks: Blocks, main: _Main) -> Floats:
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


def _find_main(tree: Tree, blocks: Blocks, alone: Floats) -> _Main:
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
    found = _Main(0, 0, len(blocks))
    for node in np.flatnonzero((high > low) & (total[high] - total[low] >= _MOST * total[-1])):
        if lines[node] == high[node] - low[node]:
            break
        if high[node] - low[node] >= 2:
            found = _Main(int(node), int(low[node]), int(high[node]))
    return found


_ARTICLE_CHARS = 200
"""Running text that makes an article."""
_ABOUT_AS_MUCH = 0.3
"""The share of it that a further article has at least."""


def _further(tree: Tree, blocks: Blocks, names: Names) -> Floats:
    """1 from a sibling on that is like what holds the first h1, and has an h1 too; 0.5 without.

    From the h1 upwards, the nearest with an h1 counts, then the first of the nearest.
    """
    starts, headings = blocks.segments[blocks.first], _headings(tree, blocks)
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
        while sibling < stop and own >= _ARTICLE_CHARS:
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


# --- copies, title ---

_MIN_COPY = 40
"""Letters and digits from which a text that stands twice on a page is a copy."""


def _copies(blocks: Blocks, letters: Letters) -> Floats:
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


def _title(tree: Tree, blocks: Blocks) -> Floats:
    """Does the block say what `<title>` says, and where does it stand to the first h1?"""
    order = np.arange(len(blocks))
    headings = _headings(tree, blocks)
    first = int(headings[0]) if len(headings) else 0
    has_heading = float(len(headings) > 0)
    columns = (
        _in_title(tree, blocks),
        has_heading * np.where(order >= first, 1.0, -1.0),
        has_heading * np.clip((order - first) / 50, -1, 1),
    )
    return np.stack(columns, axis=1)


def _headings(tree: Tree, blocks: Blocks) -> Places:
    """The blocks in an h1."""
    return np.flatnonzero(tree.tag[blocks.container] == tags.NUMBERS["h1"])


def _in_title(tree: Tree, blocks: Blocks) -> Floats:
    """1 for blocks that begin with a text of 8 characters or more that is part of `<title>`."""
    title = _title_text(tree)
    found = np.zeros(len(blocks))
    for block, node in enumerate(blocks.segments[blocks.first].tolist()):
        text = " ".join(tree.text(node).lower().split())
        is_as_long = 8 <= tree.text_length[node] <= len(title)
        found[block] = is_as_long and len(text) >= 8 and text in title
    return found


def _title_text(tree: Tree) -> str:
    """The text of `<title>` in lower case, on one line; empty without one."""
    for node in np.flatnonzero(tree.tag == tags.NUMBERS["title"]).tolist():
        if tree.tag[tree.parent[node]] == tags.NUMBERS["head"]:  # Drawings have titles too.
            has_text = int(tree.end[node]) > node + 1
            return " ".join(tree.text(node + 1)[:_MAX_TITLE].lower().split()) if has_text else ""
    return ""
