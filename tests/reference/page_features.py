"""What the page alone says of each block: the numbers that the page network reads.

In the order of `src/kernel/features.def`, which says what each is.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from dehusk.methods.auto.model import Lexicon
from dehusk.page import tags
from dehusk.page.tree import Floats, Tree
from reference.reading import (  # fmt: skip
    COMMA,
    DIGIT,
    FOREIGN,
    LOWER,
    SIGN,
    SPACE,
    STOP,
    UPPER,
    Blocks,
    Letters,
    Names,
    characters,
    read_letters,
)
from reference.rows import (  # fmt: skip
    ARTICLE_CHARS,
    Places,
    find_further,
    headings_of,
    read_rows,
    running_chars,
    stand_to_main,
)
from reference.stated import stated
from reference.steps import log1p

Matrix = NDArray[np.float32]

_ABOVE = (
    "nav", "header", "footer", "aside", "main", "article", "section", "form", "ul", "ol", "table",
    "dl", "figure", "blockquote", "pre", "button", "label", "a", "details",
)  # fmt: skip
"""Tags that matter when they stand somewhere above a block."""
OWN = (
    "p", "li", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6", "div", "dt", "dd", "pre",
    "figcaption", "button", "blockquote", "summary", "caption",
)  # fmt: skip
"""Tags that matter as a block's container."""
_FARTHEST = 24
"""How many levels up tags are looked for; each counts 1 / sqrt(level)."""
_MAX_TITLE = 1000
"""Characters of `<title>` that are looked at: a longer one is no title, and would cost its length
for every block."""


def page_features(tree: Tree, blocks: Blocks, names: Names, lexicon: Lexicon) -> Matrix:
    """One row of numbers per block, from the page alone."""
    letters = read_letters(tree, blocks)
    text = _text(blocks, letters)
    rows, main = read_rows(tree, blocks, names, letters)
    columns = [
        text,
        _neighbours(text),
        _place(tree, blocks),
        _container(tree, blocks),
        _above(tree, blocks, names),
        names.told[blocks.container].astype(np.float64),
        _wording(tree, blocks, lexicon),
        _around(blocks),
        _alike(tree, blocks, names),
        rows,
        stand_to_main(tree, blocks, main),
        find_further(tree, blocks, names),
        _copies(blocks, letters),
        _title(tree, blocks),
        stated(tree, blocks),
    ]
    return np.concatenate(columns, axis=1, dtype=np.float32)


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
    """How near above the block stand the tags of `_ABOVE`, and `aria-hidden`."""
    numbers = np.array([tags.NUMBERS[name] for name in _ABOVE])
    near = np.zeros((len(blocks), len(_ABOVE) + 1))
    node = blocks.container
    for level in range(1, _FARTHEST + 1):
        is_tag = tree.tag[node][:, None] == numbers
        is_there = np.concatenate((is_tag, names.hidden[node][:, None]), axis=1)
        near = np.where(is_there & (near == 0), 1 / np.sqrt(level), near)
        if not node.any():
            break
        node = np.maximum(tree.parent[node], 0)
    return near


_MAX_WORDS = 10
"""Of a block that is short. Words of longer ones tell what the page is about: networks that read
them did worse on other sites."""
_NO_LETTERS = ((0x80, 0xBF), (0x2000, 0x303F), (0xFF00, 0xFF7F))


@cache
def _is_letter(character: str) -> bool:
    """Behind ASCII all are letters but those of three ranges, most of which are signs."""
    if character.isascii():
        return character.isalpha()
    return not any(first <= ord(character) <= last for first, last in _NO_LETTERS)


def _wording(tree: Tree, blocks: Blocks, lexicon: Lexicon) -> Floats:
    """What the words of short blocks tell; capitals of ASCII alone are made small."""
    words = lexicon.texts
    width = len(next(iter(words.values())))
    told, count = np.zeros((len(blocks), width), np.float32), np.zeros(len(blocks), np.int64)
    for segment, block in zip(blocks.segments.tolist(), blocks.owner.tolist(), strict=True):
        said = map(chr, characters(tree, segment).tolist())
        text = "".join(character if _is_letter(character) else " " for character in said)
        for word in text.split(" "):
            if not word:
                continue
            count[block] += 1
            small = "".join(c.lower() if c.isascii() else c for c in word)
            if small in words and count[block] <= _MAX_WORDS + 1:
                told[block] += np.array(words[small], np.float32)
    is_short = (count > 0) & (count <= _MAX_WORDS)
    root = np.sqrt(np.maximum(count, 1).astype(np.float32))[:, None]
    return np.where(is_short[:, None], told / root, 0).astype(np.float64)


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
    headings = headings_of(tree, blocks)
    first = int(headings[0]) if len(headings) else 0
    has_heading = float(len(headings) > 0)
    in_title = _in_title(tree, blocks)
    columns = (
        in_title,
        has_heading * np.where(order >= first, 1.0, -1.0),
        has_heading * np.clip((order - first) / 50, -1, 1),
        _other_heading(blocks, headings, in_title),
    )
    return np.stack(columns, axis=1)


def _other_heading(blocks: Blocks, headings: Places, in_title: Floats) -> Floats:
    """1 from the first h1 on that is not in the title, where it and the one that is have text.

    0.5 where none is in the title, and the first of all is taken for it.
    """
    running, found = running_chars(blocks), np.zeros(len(blocks))
    named = headings[in_title[headings] > 0]
    own = int([*named, *headings, 0][0])
    ends = np.append(headings, len(blocks))[1:]
    for heading, end in zip(headings.tolist(), ends.tolist(), strict=False):
        is_other = heading > own and not in_title[heading]
        texts = running[own + 1 : heading].sum(), running[heading + 1 : end].sum()
        if is_other and min(texts) >= ARTICLE_CHARS:
            found[heading:] = 1 if len(named) else 0.5
            break
    return found


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
