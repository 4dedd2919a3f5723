"""What the bytes of each block's text say: kinds of characters, how it ends, and its signature."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dehusk.methods.auto.blocks import Blocks
from dehusk.page.hashing import Hashes, mix
from dehusk.page.tree import Flags, Floats, Tree

LOWER, UPPER, DIGIT, COMMA, STOP, SPACE, FOREIGN, SIGN = range(8)

CODES: Final = np.array([int.from_bytes(end.encode()) for end in ".!?؟。！？…।"])
"""The ends of sentences in UTF-8, of one, two and three bytes."""


def _byte_kinds() -> NDArray[np.uint8]:
    """The kind of each byte of UTF-8."""
    table = np.full(256, SIGN, np.uint8)
    table[:33] = SPACE
    table[128:] = FOREIGN
    for characters, kind in (
        (b"abcdefghijklmnopqrstuvwxyz", LOWER),
        (b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", UPPER),
        (b"0123456789", DIGIT),
        (b",;:()\"'", COMMA),
        (b".!?", STOP),
    ):
        table[list(characters)] = kind
    return table


KINDS: Final = _byte_kinds()
_SIGNED: Final = np.isin(KINDS, (LOWER, UPPER, DIGIT, FOREIGN))
SIGNATURES: Final = np.where(_SIGNED, mix(np.arange(1, 257, dtype=np.uint64)), np.uint64(0))


_NBSP: Final = b"&nbsp;"
"""A no-break space, as the parser writes it."""


class Letters(NamedTuple):
    """The bytes of each block, counted."""

    counts: Floats
    """Of each block, how many bytes of each kind it has."""
    ends: Flags
    """Does it end like a sentence?"""
    colon: Flags
    signature: Hashes
    """The same for texts of the same letters and digits, however spaced and marked up."""


def read_letters(tree: Tree, blocks: Blocks) -> Letters:
    """The bytes of each block, counted."""
    starts, stops = tree.start[blocks.segments], tree.stop[blocks.segments]
    lengths = (stops - starts).astype(np.int32)
    offset = np.concatenate(([0], np.cumsum(lengths, dtype=np.int32)))
    inside = np.arange(offset[-1], dtype=np.int32)
    text = np.frombuffer(tree.source, np.uint8)[inside + np.repeat(starts - offset[:-1], lengths)]
    kinds = KINDS[text]
    cell = kinds + 8 * np.repeat(blocks.owner, lengths)
    counts = np.bincount(cell, minlength=8 * len(blocks)).reshape(-1, 8).astype(np.float64)
    if not len(blocks):
        nothing = np.zeros(0, np.bool_)
        return Letters(counts, nothing, nothing, np.zeros(0, np.uint64))
    first = offset[:-1][blocks.first]
    last = np.maximum.reduceat(np.where(kinds == SPACE, 0, inside), first)
    ending = np.zeros((3, len(blocks)), np.int64)
    for back in range(3):
        ending[back] = np.where(last - back >= first, text[np.maximum(last - back, 0)], 0)
    one, two = ending[0], ending[0] + (ending[1] << 8)
    three = two + (ending[2] << 16)
    return Letters(
        counts=counts,
        ends=np.isin(one, CODES) | np.isin(two, CODES) | np.isin(three, CODES),
        colon=one == ord(":"),
        signature=np.add.reduceat(SIGNATURES[text], first, dtype=np.uint64)
        - _spaces(tree, blocks) * SIGNATURES[list(_NBSP)].sum(),
    )


def _spaces(tree: Tree, blocks: Blocks) -> Hashes:
    """How many no-break spaces each block has: in its bytes they look like letters."""
    found = np.array([match.start() for match in re.finditer(_NBSP, tree.source)], np.int64)
    segment = np.searchsorted(tree.start[blocks.segments], found, "right") - 1
    inside = (segment >= 0) & (found < tree.stop[blocks.segments[segment]])
    owners = blocks.owner[segment[inside]]
    return np.bincount(owners, minlength=len(blocks)).astype(np.uint64)
