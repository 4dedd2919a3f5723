"""A page as `auto` reads it: its blocks, what they look like, and their keys in the memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dehusk.hashing import Hashes, mix
from dehusk.kernel import KERNEL
from dehusk.methods.auto.blocks import Blocks, cut
from dehusk.methods.auto.columns import Matrix
from dehusk.methods.auto.compiled import read_blocks
from dehusk.methods.auto.looks import looks
from dehusk.methods.auto.names import read_names
from dehusk.model import Floats, Tree

PLACE_BITS = np.uint64(40)
"""A segment's key is 24 bits of its place and, below them, 40 bits of its text: the segments of a
place stand together in a sorted table, so that a range of rows answers for a place."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Reading:
    """All that is asked of a page, as arrays over its blocks and segments."""

    blocks: Blocks
    looks: Matrix
    places: Hashes
    """Of each block, a hash of the path, tags and classes, that its container stands at."""
    surroundings: Hashes
    """The same of the elements at each level above the block."""
    keys: Hashes
    """Of each segment, its text at its place."""
    texts: Hashes
    """Of each segment, its text wherever it stands."""
    lengths: Floats
    """Of each segment, its characters."""


def read(tree: Tree) -> Reading:
    """The page as arrays."""
    if KERNEL is not None:
        blocks, found, keys = read_blocks(KERNEL, tree)
        return Reading(blocks, found, *keys)
    names = read_names(tree)
    blocks = cut(tree)
    place_of = _places(tree, names.look)
    places = place_of[blocks.container]
    texts = mix(tree.own_hash[blocks.segments])
    prefix = places[blocks.owner] >> PLACE_BITS << PLACE_BITS
    return Reading(
        blocks=blocks,
        looks=looks(tree, blocks, names),
        places=places,
        surroundings=place_of[blocks.levels],
        keys=prefix | (texts >> np.uint64(24)),
        texts=texts,
        lengths=tree.text_length[blocks.segments].astype(np.float64),
    )


def _places(tree: Tree, look: Hashes) -> Hashes:
    """Of each node, its path and the classes of the four nearest elements, itself included.

    Not those of all above it: one class on `<body>` that differs from page to page would make every
    place of a page unknown.
    """
    up = np.maximum(tree.parent, 0)
    place, node = tree.path_hash, np.arange(len(tree))
    for level in range(1, 5):
        place = place + mix(look[node] + np.uint64(level))
        node = up[node]
    return mix(place)
