"""A page as `auto` reads it: its blocks, the letters of each, and what names say of elements."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dehusk.methods.auto.model import Lexicon, Numbers
from dehusk.page import tags
from dehusk.page.hashing import Hashes, hash_bytes, mix
from dehusk.page.tree import ATTRIBUTE, Flags, Floats, Ints, Tree

MUCH_TEXT = 20_000
"""Characters of a page from which on more make no difference."""
LEVELS = (1, 2, 3, 4, 6, 8)
"""How far up a block's surroundings are looked at: its container is 1, what that stands in 2."""
CUTS = tags.numbers(*tags.BLOCK, "td", "th", "br")
HOLDS = CUTS & ~tags.numbers("br")

# --- blocks ---


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """The blocks of a page in document order: runs of text that no block tag interrupts.

    An element covers a run of blocks, so that what is asked about the surroundings of a block is a
    difference of two running sums: `low` and `high` are the runs of its ancestors, one column for
    each of `LEVELS`.
    """

    segments: Ints
    """The shown text nodes."""
    owner: Ints
    """Of each segment, its block."""
    first: Ints
    """Of each block, its first segment's place in `segments`."""
    container: Ints
    """Of each block, the nearest element around it that holds blocks."""
    levels: Ints
    """Of each block, the nodes at `LEVELS`; `<html>` where the tree ends before."""
    low: Ints
    high: Ints
    lengths: Floats
    """Of each segment, its characters."""
    chars: Floats
    link_chars: Floats

    def __len__(self) -> int:
        return len(self.first)

    def sums(self, values: Floats) -> Floats:
        """The sum of a number per segment over each block."""
        return np.asarray(np.bincount(self.owner, values, len(self)), np.float64)

    def around(self, values: Floats) -> Floats:
        """The sum of a number per block over its surroundings, one column for each level."""
        total = np.concatenate(([0.0], np.cumsum(values)))
        return np.asarray(total[self.high] - total[self.low])


def cut(tree: Tree) -> Blocks:
    """The blocks of the page."""
    cuts = CUTS[tree.tag]
    closed = np.bincount(tree.end[cuts], minlength=len(tree) + 1)
    number = np.cumsum(cuts + closed[: len(tree)])
    segments = np.flatnonzero(tree.is_text & tree.shown & (tree.text_length > 0)).astype(np.int32)
    run = number[segments]
    begins = np.ones(len(run), np.bool_)
    begins[1:] = run[1:] != run[:-1]
    first = np.flatnonzero(begins).astype(np.int32)
    owner = (np.cumsum(begins) - 1).astype(np.int32)
    starts = segments[first]
    container = _containers(tree, starts)
    levels = _ancestors(tree, container)
    lengths = np.array([_length(tree, node) for node in segments.tolist()], np.float64)
    linked = np.where(tree.link_length[segments] > 0, lengths, 0.0)
    return Blocks(
        segments=segments,
        owner=owner,
        first=first,
        container=container,
        levels=levels,
        low=np.searchsorted(starts, levels).astype(np.int32),
        high=np.searchsorted(starts, tree.end[levels]).astype(np.int32),
        lengths=lengths,
        chars=np.bincount(owner, lengths, len(first)).astype(np.float64),
        link_chars=np.bincount(owner, linked, len(first)).astype(np.float64),
    )


def _length(tree: Tree, node: int) -> int:
    """The characters of a text; one of Han, Kana or Hangul counts as two."""
    wide = CHARACTER_KINDS[characters(tree, node)] & _IS_WIDE > 0
    return int(tree.text_length[node] + wide.sum())


def _containers(tree: Tree, nodes: Ints) -> Ints:
    """The nearest element above each node that holds blocks."""
    up = tree.parent[nodes]
    while len(climbing := np.flatnonzero(~HOLDS[tree.tag[up]] & (up > 0))):
        up[climbing] = tree.parent[up[climbing]]
    return np.asarray(np.maximum(up, 0), np.int32)


def _ancestors(tree: Tree, container: Ints) -> Ints:
    """The nodes at `LEVELS` above each block, one column for each."""
    columns, node = [], container
    for level in range(1, LEVELS[-1] + 1):
        if level in LEVELS:
            columns.append(node)
        node = np.maximum(tree.parent[node], 0)
    return np.stack(columns, axis=1)


# --- letters ---

LOWER, UPPER, DIGIT, COMMA, STOP, SPACE, FOREIGN, SIGN = range(8)
_IS_UNSPACED, _IS_WIDE, _IS_CAPITAL, _IS_SMALL = 8, 16, 32, 64
_MEANINGS = {
    "LOWER": LOWER,
    "UPPER": UPPER,
    "DIGIT": DIGIT,
    "COMMA": COMMA,
    "STOP": STOP,
    "SPACE": SPACE,
    "FOREIGN": FOREIGN,
    "FOREIGN_UPPER": FOREIGN | _IS_CAPITAL,
    "FOREIGN_LOWER": FOREIGN | _IS_SMALL,
    "UNSPACED": FOREIGN | _IS_UNSPACED,
    "WIDE": FOREIGN | _IS_WIDE,
    "WIDE_UNSPACED": FOREIGN | _IS_WIDE | _IS_UNSPACED,
}
_WORD_CHARS = 6
"""Characters of a word and the space behind it: where a script sets no spaces, one is counted for
so many."""
_QUOTES = "\"'«»‘’‚‛“”„‟‹›「」『』＂"


def _character_kinds() -> NDArray[np.uint8]:
    """By its number, the kind of each character, as `letters.def` lists those behind ASCII."""
    kinds = np.full(0x110000, SIGN, np.uint8)
    kinds[:33] = SPACE
    for characters, kind in (
        ("abcdefghijklmnopqrstuvwxyz", LOWER),
        ("ABCDEFGHIJKLMNOPQRSTUVWXYZ", UPPER),
        ("0123456789", DIGIT),
        (",;:()\"'", COMMA),
        (".!?", STOP),
    ):
        kinds[[ord(character) for character in characters]] = kind
    listed = Path(__file__).parents[2].joinpath("src/kernel/letters.def").read_text("utf-8")
    row = re.compile(r"^(?:CHARACTERS|IN_TURN)\((\w+), (\w+), (\w+)(?:, (\w+))?\)", re.MULTILINE)
    for first, last, kind, following in row.findall(listed):
        start, stop = int(first, 16), int(last, 16) + 1
        kinds[start:stop:2] = _MEANINGS[kind]
        kinds[start + 1 : stop : 2] = _MEANINGS[following or kind]
    return kinds


CHARACTER_KINDS = _character_kinds()
_IS_SIGNED = np.isin(CHARACTER_KINDS[:256], (LOWER, UPPER, DIGIT))
_IS_SIGNED[128:] = True
_SIGNATURES = np.where(_IS_SIGNED, mix(np.arange(1, 257, dtype=np.uint64)), np.uint64(0))


def characters(tree: Tree, node: int) -> NDArray[np.uint32]:
    """The characters of a text by their numbers, with the escapes undone; lone surrogates too."""
    text = tree.source[tree.start[node] : tree.stop[node]].decode("utf-8", "surrogatepass")
    for written, means in (("&nbsp;", "\xa0"), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "&")):
        text = text.replace(written, means)
    return np.array([ord(character) for character in text.replace("&amp;", "&")], np.uint32)


@dataclass(frozen=True, slots=True, eq=False)
class Letters:
    """The characters of each block, counted; one of Han, Kana or Hangul counts as two."""

    counts: Floats
    """Of each block, how many of each kind it has; one space more for every `_WORD_CHARS`
    characters of scripts without spaces."""
    capitals: Floats
    small: Floats
    """Of the letters that are not Latin, those with case."""
    ends: Flags
    """Does it end like a sentence?"""
    colon: Flags
    signature: Hashes
    """The same for texts of the same letters and digits, however spaced and marked up."""


def read_letters(tree: Tree, blocks: Blocks) -> Letters:
    """The characters of each block, counted."""
    count = len(blocks)
    counts, signature = np.zeros((count, 8)), np.zeros(count, np.uint64)
    capitals, small = np.zeros(count), np.zeros(count)
    ends, colon = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    texts = [np.zeros(0, np.uint32)] * count
    for node, owner in zip(blocks.segments.tolist(), blocks.owner.tolist(), strict=True):
        texts[owner] = np.concatenate((texts[owner], characters(tree, node)))
    for place, text in enumerate(texts):
        kinds = CHARACTER_KINDS[text]
        weights = 1 + (kinds & _IS_WIDE > 0)
        counts[place] = np.bincount(kinds & 7, weights, minlength=8)
        counts[place, SPACE] += weights[kinds & _IS_UNSPACED > 0].sum() // _WORD_CHARS
        capitals[place] = np.sum(kinds & _IS_CAPITAL > 0)
        small[place] = np.sum(kinds & _IS_SMALL > 0)
        said = "".join(map(chr, text[kinds != SPACE]))
        # Of white space only that of ASCII, and no-break spaces, are left out.
        signed = text[(kinds != SPACE) | ((text >= 0x80) & (text != 0xA0))]
        read = np.frombuffer("".join(map(chr, signed)).encode("utf-8", "surrogatepass"), np.uint8)
        signature[place] = int(_SIGNATURES[read].sum()) % 2**64
        last = said.rstrip(_QUOTES)[-1:]
        ends[place] = last != "" and CHARACTER_KINDS[ord(last)] == STOP
        colon[place] = last in (":", "：")
    return Letters(counts, capitals, small, ends, colon, signature)


# --- names ---

_MAX_VALUE = 2000
_READ = (b"class", b"id", b"role", b"itemprop")
_DECAY = np.float32(0.8)


@dataclass(frozen=True, slots=True, eq=False)
class Names:
    """Of each node: what the words in its names and in those above it tell, whether it has
    `aria-hidden`, and a hash of its classes."""

    told: NDArray[np.float32]
    hidden: Flags
    classes: Hashes


def read_names(tree: Tree, lexicon: Lexicon) -> Names:
    """What class, id, role, itemprop and `aria-hidden` of every element say.

    What stands above counts 0.8 as much for each element between: the nearest names tell most, but
    'sidebar' far above tells something.
    """
    words = lexicon.names
    width = len(next(iter(words.values()))) if words else 0
    told, hidden = np.zeros((len(tree), width), np.float32), np.zeros(len(tree), np.bool_)
    classes = np.zeros(len(tree), np.uint64)
    for node in np.flatnonzero(~tree.is_text).tolist():
        for name, value in ATTRIBUTE.findall(tree.source[tree.start[node] : tree.stop[node]]):
            if name == b"aria-hidden" and value.lower() == b"true":
                hidden[node] = True
            if name not in _READ or not 0 < len(value) <= _MAX_VALUE:
                continue
            told[node] += _told(value, words, width)
            if name == b"class":
                classes[node] = classes_hash(value)
        if tree.parent[node] >= 0:
            told[node] += _DECAY * told[tree.parent[node]]
    return Names(told, hidden, classes)


def _told(value: bytes, words: Numbers, width: int) -> NDArray[np.float32]:
    """What the words of a value tell, added up one after another."""
    parted = re.sub(rb"([a-z])([A-Z])", rb"\1 \2", value).lower()
    total = np.zeros(width, np.float32)
    for word in re.findall(rb"[a-z]+", parted):
        if word.decode() in words:
            total += np.array(words[word.decode()], np.float32)
    return total


def classes_hash(value: bytes) -> int:
    """A hash of the classes, whatever their order. Those with a digit do not count: `post-17`."""
    kept = [name for name in value.split() if not re.search(rb"[0-9]", name)]
    total = sum(hash_bytes(name) for name in kept) + 1
    return int(mix(np.array([total % 2**64], np.uint64))[0])


# --- keys ---

PLACE_BITS = np.uint64(40)
"""A segment's key is 24 bits of its place and, below them, 40 bits of its text: the segments of a
place stand together in a sorted table, so that a range of rows answers for a place."""


@dataclass(frozen=True, slots=True, eq=False)
class Keys:
    """What the memory knows blocks and segments by."""

    places: Hashes
    """Of each block, a hash of the path, tags and classes, that its container stands at."""
    surroundings: Hashes
    """The same of the elements at each level above the block."""
    keys: Hashes
    """Of each segment, its text at its place."""
    texts: Hashes
    """Of each segment, its text wherever it stands."""


def read_keys(tree: Tree, blocks: Blocks, names: Names) -> Keys:
    """What the memory knows blocks and segments by."""
    place_of = _places(tree, names.classes)
    places = place_of[blocks.container]
    texts = mix(tree.own_hash[blocks.segments])
    prefix = places[blocks.owner] >> PLACE_BITS << PLACE_BITS
    return Keys(places, place_of[blocks.levels], prefix | (texts >> np.uint64(24)), texts)


def _places(tree: Tree, classes: Hashes) -> Hashes:
    """Of each node, its path and the classes of the four nearest elements, itself included.

    Not those of all above it: one class on `<body>` that differs from page to page would make every
    place of a page unknown.
    """
    place, node = tree.path_hash, np.arange(len(tree))
    for level in range(1, 5):
        place = place + mix(classes[node] + np.uint64(level))
        node = np.maximum(tree.parent[node], 0)
    return mix(place)
