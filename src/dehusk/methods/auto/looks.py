"""What the page alone says of each block: the numbers that the page network reads."""

from __future__ import annotations

from typing import Final

import numpy as np

from dehusk.methods.auto.blocks import LEVELS, Blocks
from dehusk.methods.auto.columns import Matrix, columns_of, log1p
from dehusk.methods.auto.letters import (  # fmt: skip
    COMMA,
    DIGIT,
    FOREIGN,
    LOWER,
    SIGN,
    SPACE,
    STOP,
    UPPER,
    Letters,
    read_letters,
)
from dehusk.methods.auto.names import KINDS, Names
from dehusk.methods.auto.rows import copies, rows, running_chars
from dehusk.page import tags
from dehusk.page.tree import Floats, Tree

_ABOVE: Final = (
    "nav", "header", "footer", "aside", "main", "article", "section", "form", "ul", "ol", "table",
    "dl", "figure", "blockquote", "pre", "button", "label", "select", "a", "details",
)  # fmt: skip
"""Tags that matter when they stand somewhere above a block."""
_OWN: Final = (
    "p", "li", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6", "div", "dt", "dd", "pre",
    "figcaption", "button", "option", "blockquote", "summary", "caption",
)  # fmt: skip
"""Tags that matter as a block's container."""
_FARTHEST: Final = 24
"""How many levels up tags and names are looked for; each counts 1 / sqrt(level)."""
_MAX_TITLE: Final = 1000
"""Characters of `<title>` that are looked at: a longer one is no title, and would cost its length
for every block."""

TAG_BITS: Final = np.zeros(len(tags.NAMES), np.uint32)
for _place, _name in enumerate(_ABOVE):
    TAG_BITS[tags.NUMBERS[_name]] = 1 << _place
OWN_COLUMN: Final = np.full(len(tags.NAMES), len(_OWN))
for _place, _name in enumerate(_OWN):
    OWN_COLUMN[tags.NUMBERS[_name]] = _place


_WIDTHS: Final = {
    "text": 12,
    "neighbours": 24,
    "place": 9,
    "container": len(_OWN) + 1,
    "tags": len(_ABOVE),
    "names": len(KINDS),
    "around": 6 * len(LEVELS),
    "alike": 3,
    "rows": 13,
    "copies": 2 + len(LEVELS),
    "title": 3,
}
"""How many numbers each part of the looks has, in their order."""
COLUMNS: Final = columns_of(_WIDTHS)
"""Where each part stands."""
CELLS, ITEMS, HEADINGS = (
    tuple(COLUMNS["container"].start + _OWN.index(tag) for tag in tags)
    for tags in (("td", "th"), ("li", "dt", "dd"), ("h1", "h2", "h3", "h4", "h5", "h6"))
)
"""The columns that say whether a block's container is a cell of a table, an item of a list, or a
heading."""
HEADLINE: Final = (HEADINGS[0], COLUMNS["title"].start)
"""The columns that say that a block is an `<h1>`, and that it says what `<title>` says."""
_MANY, _MUCH = np.log1p(400), np.log1p(40_000)
HIGHEST: Final = {
    "place": {3: _MANY, 4: _MANY, 5: _MUCH, 6: _MANY},
    "around": dict.fromkeys(range(2 * len(LEVELS), 3 * len(LEVELS)), _MANY),
    "alike": {0: _MANY},
    "rows": {0: _MANY, 7: _MANY},
}
"""Counts from which on more makes no difference, by part and column: the networks have seen few
pages of more blocks, and took the text of a book for a list of links. On held-out sites this wins
0.002 on wcxb-dev and 0.001 on docs-dev."""
LINKED: Final = 1
"""The column of how much of a block is links."""


def looks(tree: Tree, blocks: Blocks, names: Names) -> Matrix:
    """One row of numbers per block, from the page alone."""
    letters = read_letters(tree, blocks)
    own = _own_text(blocks, letters)
    columns = [
        own,
        _neighbours(own),
        _place_on_page(tree, blocks),
        np.eye(len(_OWN) + 1)[OWN_COLUMN[tree.tag[blocks.container]]],
        _above(tree, blocks, names),
        _surroundings(blocks),
        _likes(tree, blocks, names),
        rows(tree, blocks, names),
        copies(blocks, letters),
        _in_title(tree, blocks)[:, None],
        _headings(tree, blocks),
    ]
    return np.concatenate(columns, axis=1, dtype=np.float32)


def _own_text(blocks: Blocks, letters: Letters) -> Floats:
    """Length, links, and the kinds of characters of each block's text."""
    counts = letters.counts
    total = np.maximum(counts.sum(axis=1), 1)
    cased = np.maximum(counts[:, LOWER] + counts[:, UPPER], 1)
    return np.stack(
        (
            log1p(blocks.chars),
            blocks.link_chars / blocks.chars,
            counts[:, COMMA] / total,
            counts[:, STOP] / total,
            log1p(counts[:, SPACE]),
            log1p(counts[:, STOP]),
            counts[:, DIGIT] / total,
            counts[:, UPPER] / cased,
            counts[:, FOREIGN] / total,
            counts[:, SIGN] / total,
            letters.ends,
            letters.colon,
        ),
        axis=1,
    )


def _neighbours(own: Floats) -> Floats:
    """Length, links and signs of sentences of the three blocks before and the three behind."""
    told = own[:, :4]
    padded = np.concatenate((np.full((3, 4), -1.0), told, np.full((3, 4), -1.0)))
    count = len(own)
    return np.concatenate([padded[at : at + count] for at in (0, 1, 2, 4, 5, 6)], axis=1)


def _place_on_page(tree: Tree, blocks: Blocks) -> Floats:
    """Where the block stands on the page, and what page that is."""
    count = len(blocks)
    order = np.arange(count)
    total = max(float(blocks.chars.sum()), 1.0)
    long = running_chars(blocks).sum()
    page = (log1p(total), log1p(count), blocks.link_chars.sum() / total, long / total)
    return np.stack(
        (
            order / max(count, 1),
            (np.cumsum(blocks.chars) - blocks.chars) / total,
            tree.depth[blocks.container] / 20,
            log1p(order),
            log1p(count - order),
            *(np.full(count, number) for number in page),
        ),
        axis=1,
    )


def _above(tree: Tree, blocks: Blocks, names: Names) -> Floats:
    """How near above the block the tags of `_ABOVE` and the words of `KINDS` stand."""
    bits = TAG_BITS[tree.tag] | (names.kinds << np.uint32(len(_ABOVE)))
    width = len(_ABOVE) + len(KINDS)
    near = np.zeros((len(blocks), width))
    met = np.zeros(len(blocks), np.uint32)
    node = blocks.container
    shifts = np.arange(width, dtype=np.uint32)
    for level in range(1, _FARTHEST + 1):
        new = bits[node] & ~met
        met |= new
        rows = np.flatnonzero(new)
        if len(rows):
            near[rows] += ((new[rows, None] >> shifts) & 1) / np.sqrt(level)
        if not node.any():
            break
        node = np.maximum(tree.parent[node], 0)
    return near


def _surroundings(blocks: Blocks) -> Floats:
    """For each level: links, share of the page, number and length of blocks, running text."""
    long = running_chars(blocks)
    chars = np.maximum(blocks.around(blocks.chars), 1)
    linked, running = blocks.around(blocks.link_chars), blocks.around(long)
    count = np.maximum(blocks.high - blocks.low, 1)
    page = max(float(blocks.chars.sum()), 1.0)
    return np.concatenate(
        (
            linked / chars,
            chars / page,
            log1p(count),
            log1p(chars / count),
            running / chars,
            running / max(float(long.sum()), 1.0),
        ),
        axis=1,
    )


def _likes(tree: Tree, blocks: Blocks, names: Names) -> Floats:
    """Of the page's blocks of the same path and class: how many, how long, how linked."""
    look = tree.path_hash[blocks.container] + names.look[blocks.container]
    _, kind = np.unique(look, return_inverse=True)
    count = np.bincount(kind)
    chars, linked = np.bincount(kind, blocks.chars), np.bincount(kind, blocks.link_chars)
    return np.stack((log1p(count), log1p(chars / count), linked / chars), axis=1)[kind]


def _headings(tree: Tree, blocks: Blocks) -> Floats:
    """Where does the block stand to the first h1?"""
    count = len(blocks)
    order = np.arange(count)
    headings = np.flatnonzero(tree.tag[blocks.container] == tags.NUMBERS["h1"])
    first = int(headings[0]) if len(headings) else 0
    has_heading = float(len(headings) > 0)
    return np.stack(
        (
            has_heading * np.where(order >= first, 1.0, -1.0),
            has_heading * np.clip((order - first) / 50, -1, 1),
        ),
        axis=1,
    )


def _in_title(tree: Tree, blocks: Blocks) -> Floats:
    """1 for blocks that begin with a text of 8 characters or more that is part of `<title>`."""
    found = np.zeros(len(blocks))
    title = _title(tree)
    if not title:
        return found
    starts = blocks.segments[blocks.first]
    length = tree.text_length[starts]
    can = (length >= 8) & (length <= len(title))
    for block in np.flatnonzero(can).tolist():
        text = " ".join(tree.text(int(starts[block])).lower().split())
        if len(text) >= 8 and text in title:
            found[block] = 1.0
    return found


def _title(tree: Tree) -> str:
    """The text of `<title>` in lower case, on one line; empty without one."""
    for node in np.flatnonzero(tree.tag == tags.NUMBERS["title"]).tolist():
        if tree.tag[tree.parent[node]] == tags.NUMBERS["head"]:  # Drawings have titles too.
            has_text = int(tree.end[node]) > node + 1
            return " ".join(tree.text(node + 1)[:_MAX_TITLE].lower().split()) if has_text else ""
    return ""
