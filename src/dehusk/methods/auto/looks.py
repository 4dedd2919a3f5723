"""What the page alone says of each block: the numbers that the page network reads."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from dehusk import tags
from dehusk.hashing import mix
from dehusk.methods.auto.blocks import Blocks
from dehusk.methods.auto.names import KINDS, Names
from dehusk.model import Floats, Tree

Matrix = NDArray[np.float32]

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
_LONG: Final = 80
"""Characters from which a block that is no link is running text."""

_LOWER, _UPPER, _DIGIT, _COMMA, _STOP, _SPACE, _FOREIGN, _SIGN = range(8)


def _byte_kinds() -> NDArray[np.uint8]:
    """The kind of each byte of UTF-8."""
    table = np.full(256, _SIGN, np.uint8)
    table[:33] = _SPACE
    table[128:] = _FOREIGN
    for characters, kind in (
        (b"abcdefghijklmnopqrstuvwxyz", _LOWER),
        (b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", _UPPER),
        (b"0123456789", _DIGIT),
        (b",;:()\"'", _COMMA),
        (b".!?", _STOP),
    ):
        table[list(characters)] = kind
    return table


_BYTE_KINDS: Final = _byte_kinds()
_TAG_BITS: Final = np.zeros(len(tags.NAMES), np.uint32)
for _place, _name in enumerate(_ABOVE):
    _TAG_BITS[tags.NUMBERS[_name]] = 1 << _place
_OWN_COLUMN: Final = np.full(len(tags.NAMES), len(_OWN))
for _place, _name in enumerate(_OWN):
    _OWN_COLUMN[tags.NUMBERS[_name]] = _place


def looks(tree: Tree, blocks: Blocks, names: Names) -> Matrix:
    """One row of numbers per block, from the page alone."""
    own = _own_text(tree, blocks)
    columns = [
        own,
        _neighbours(own),
        _place_on_page(tree, blocks),
        np.eye(len(_OWN) + 1)[_OWN_COLUMN[tree.tag[blocks.container]]],
        _above(tree, blocks, names),
        _surroundings(blocks),
        _likes(tree, blocks, names),
        _units(tree, blocks, names),
        _titles(tree, blocks),
    ]
    return np.concatenate(columns, axis=1, dtype=np.float32)


def _own_text(tree: Tree, blocks: Blocks) -> Floats:
    """Length, links, and the kinds of characters of each block's text."""
    counts, last = _characters(tree, blocks)
    total = np.maximum(counts.sum(axis=1), 1)
    letters = np.maximum(counts[:, _LOWER] + counts[:, _UPPER], 1)
    # The last byte of the full stops of Chinese and Japanese, and of their question marks.
    ends = np.isin(last, np.frombuffer(b".!?\x82\x9f\x81", np.uint8))
    return np.stack(
        (
            np.log1p(blocks.chars),
            blocks.link_chars / blocks.chars,
            counts[:, _COMMA] / total,
            counts[:, _STOP] / total,
            np.log1p(counts[:, _SPACE]),
            np.log1p(counts[:, _STOP]),
            counts[:, _DIGIT] / total,
            counts[:, _UPPER] / letters,
            counts[:, _FOREIGN] / total,
            counts[:, _SIGN] / total,
            ends,
            last == ord(":"),
        ),
        axis=1,
    )


def _characters(tree: Tree, blocks: Blocks) -> tuple[Floats, NDArray[np.uint8]]:
    """How many bytes of each kind each block has, and its last byte that is not white space."""
    starts, stops = tree.start[blocks.segments], tree.stop[blocks.segments]
    lengths = stops - starts
    offset = np.concatenate(([0], np.cumsum(lengths)))
    inside = np.arange(offset[-1]) + np.repeat(starts - offset[:-1], lengths)
    text = np.frombuffer(tree.source, np.uint8)[inside]
    kinds = _BYTE_KINDS[text]
    # White space around a segment is markup's, not the text's.
    first = offset[:-1][blocks.first]
    cell = kinds + 8 * np.repeat(blocks.owner, lengths)
    counts = np.bincount(cell, minlength=8 * len(blocks)).reshape(-1, 8).astype(np.float64)
    solid = np.where(kinds == _SPACE, 0, np.arange(len(text)))
    last = text[np.maximum.reduceat(solid, first)] if len(first) else text[:0]
    return counts, last


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
    long = _long_chars(blocks).sum()
    page = (np.log1p(total), np.log1p(count), blocks.link_chars.sum() / total, long / total)
    return np.stack(
        (
            order / max(count, 1),
            (np.cumsum(blocks.chars) - blocks.chars) / total,
            tree.depth[blocks.container] / 20,
            np.log1p(order),
            np.log1p(count - order),
            *(np.full(count, number) for number in page),
        ),
        axis=1,
    )


def _above(tree: Tree, blocks: Blocks, names: Names) -> Floats:
    """How near above the block the tags of `_ABOVE` and the words of `KINDS` stand."""
    bits = _TAG_BITS[tree.tag] | (names.kinds << np.uint32(len(_ABOVE)))
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
        node = np.maximum(tree.parent[node], 0)
        if not node.any():
            break
    return near


def _long_chars(blocks: Blocks) -> Floats:
    """The characters of the blocks that are running text; 0 for the others."""
    is_long = (blocks.chars > _LONG) & (blocks.link_chars < 0.3 * blocks.chars)
    return np.where(is_long, blocks.chars, 0.0)


def _surroundings(blocks: Blocks) -> Floats:
    """For each level: links, share of the page, number and length of blocks, running text."""
    long = _long_chars(blocks)
    chars = np.maximum(blocks.around(blocks.chars), 1)
    linked, running = blocks.around(blocks.link_chars), blocks.around(long)
    count = np.maximum(blocks.high - blocks.low, 1)
    page = max(float(blocks.chars.sum()), 1.0)
    return np.concatenate(
        (
            linked / chars,
            chars / page,
            np.log1p(count),
            np.log1p(chars / count),
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
    return np.stack((np.log1p(count), np.log1p(chars / count), linked / chars), axis=1)[kind]


def _units(tree: Tree, blocks: Blocks, names: Names) -> Floats:
    """Of the longest row of alike siblings that the block stands in: comments, teasers, posts.

    How many they are, how long, their share of the page, and how much running text is outside.
    Only siblings that hold several blocks make a row: paragraphs of an article make none.
    """
    levels = blocks.levels[:, 1:]
    is_unit = (blocks.high - blocks.low)[:, 1:] >= 2
    key = mix(names.look[levels] + mix(tree.parent[levels].astype(np.uint64)))
    key = key + tree.tag[levels].astype(np.uint64)
    kinds, kind = np.unique(key, return_inverse=True)
    kind = kind.reshape(key.shape)
    nodes = np.unique(np.stack((levels[is_unit], kind[is_unit])), axis=1)
    alike = np.bincount(nodes[1], minlength=len(kinds))
    count = np.where(is_unit, alike[kind], 0)
    best = count.argmax(axis=1)
    rows = np.arange(len(blocks))
    many, row = count[rows, best], kind[rows, best]
    in_row = many >= 4
    chars = np.bincount(row, np.where(in_row, blocks.chars, 0.0), minlength=len(kinds))[row]
    total = max(float(blocks.chars.sum()), 1.0)
    long = _long_chars(blocks)
    alone = np.where(in_row, 0.0, long)
    running = max(float(long.sum()), 1.0)
    return np.stack(
        (
            np.log1p(many),
            in_row,
            np.log1p(chars / np.maximum(many, 1)),
            np.where(in_row, chars / total, 0.0),
            np.cumsum(alone) / running,
            np.full(len(blocks), alone.sum() / running),
            np.where(in_row, np.bincount(row, long, minlength=len(kinds))[row] / running, 0.0),
        ),
        axis=1,
    )


def _titles(tree: Tree, blocks: Blocks) -> Floats:
    """Is the block in the page's title? Where does it stand to the first h1?"""
    count = len(blocks)
    order = np.arange(count)
    headings = np.flatnonzero(tree.tag[blocks.container] == tags.NUMBERS["h1"])
    first = int(headings[0]) if len(headings) else 0
    has_heading = float(len(headings) > 0)
    return np.stack(
        (
            _in_title(tree, blocks),
            has_heading * np.where(order >= first, 1.0, -1.0),
            has_heading * np.clip((order - first) / 50, -1, 1),
        ),
        axis=1,
    )


def _in_title(tree: Tree, blocks: Blocks) -> Floats:
    """1 for blocks of 8 to 300 characters that begin with a text that is part of `<title>`."""
    found = np.zeros(len(blocks))
    titles = np.flatnonzero(tree.tag == tags.NUMBERS["title"])
    if not len(titles) or tree.end[titles[0]] == titles[0] + 1:
        return found
    title = " ".join(tree.text(int(titles[0]) + 1)[:_MAX_TITLE].lower().split())
    candidates = np.flatnonzero((blocks.chars >= 8) & (blocks.chars <= 300))
    for block in candidates.tolist():
        text = " ".join(tree.text(int(blocks.segments[blocks.first[block]])).lower().split())
        if len(text) >= 8 and text in title:
            found[block] = 1.0
    return found
