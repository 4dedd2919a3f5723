"""A page as `auto` reads it: its blocks, what they look like, and their keys in the memory."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from dehusk.kernel import KERNEL
from dehusk.methods.auto.blocks import LEVELS, Blocks, cut
from dehusk.methods.auto.columns import Matrix, width
from dehusk.methods.auto.compiled import read_blocks
from dehusk.methods.auto.looks import COLUMNS, looks
from dehusk.methods.auto.names import read_names
from dehusk.page.hashing import Hashes, mix
from dehusk.page.packing import Column, Cut, Packed, Packing
from dehusk.page.tree import Floats, Tree

PLACE_BITS = np.uint64(40)
"""A segment's key is 24 bits of its place and, below them, 40 bits of its text: the segments of a
place stand together in a sorted table, so that a range of rows answers for a place."""


READING_PACKING: Final = Packing(
    Column("places", np.uint64),
    Column("surroundings", np.uint64, width=len(LEVELS)),
    Column("keys", np.uint64, count=1),
    Column("texts", np.uint64, count=1),
    Column("chars", np.float64),
    Column("link_chars", np.float64),
    Column("lengths", np.float64, count=1),
    Column("looks", np.float32, width=width(COLUMNS)),
    Column("segments", np.int32, count=1),
    Column("owner", np.int32, count=1),
    Column("first", np.int32),
    Column("container", np.int32),
    Column("levels", np.int32, width=len(LEVELS)),
    Column("low", np.int32, width=len(LEVELS)),
    Column("high", np.int32, width=len(LEVELS)),
)
"""The arrays of a reading in memory, over blocks and over segments (`src/kernel/read.c`)."""
_OF_BLOCKS: Final = tuple(field.name for field in fields(Blocks))


@dataclass(frozen=True, eq=False)
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

    @staticmethod
    def of_memory(memory: bytearray, blocks: int, segments: int) -> Reading:
        """The reading whose arrays the kernel made; views of them are made when asked for."""
        page = object.__new__(Reading)
        page.__dict__.update(packed=memory, counts=(blocks, segments))
        return page

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            if "packed" not in self.__dict__ or (name != "blocks" and name not in READING_PACKING):
                raise AttributeError(name)
            made = Blocks(*map(self._view, _OF_BLOCKS)) if name == "blocks" else self._view(name)
            self.__dict__[name] = made
            return made

    def __len__(self) -> int:
        """How many blocks there are."""
        return self.counts[0]

    @cached_property
    def counts(self) -> tuple[int, int]:
        """How many blocks and segments there are."""
        return len(self.blocks), len(self.keys)

    @cached_property
    def chars(self) -> Floats:
        """Of each block, its characters; without views of all that is known of blocks."""
        return self._view("chars") if "packed" in self.__dict__ else self.blocks.chars

    @cached_property
    def packed(self) -> Packed:
        """All arrays in one piece of memory."""
        own = {field.name for field in fields(self)}
        return READING_PACKING.pack(
            [getattr(self if name in own else self.blocks, name) for name in READING_PACKING.names]
        )

    def cut(self, wanted: bytes) -> Cut:
        """Some of the arrays, as the kernel takes them."""
        return self.packed, self.counts, READING_PACKING.sizes, wanted

    def _view(self, name: str) -> NDArray[Any]:
        return READING_PACKING.view(self.packed, self.counts, name)


def read(tree: Tree) -> Reading:
    """The page as arrays."""
    if KERNEL is not None:
        return Reading.of_memory(*read_blocks(KERNEL, tree))
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
