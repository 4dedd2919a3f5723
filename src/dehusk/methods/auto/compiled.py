"""A page as `auto` reads it by the kernel: the twin of `blocks`, `letters`, `rows` and `looks`."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from dehusk import tags
from dehusk.hashing import Hashes
from dehusk.methods.auto.blocks import CUTS, HOLDS, LEVELS, Blocks
from dehusk.methods.auto.columns import Matrix, width
from dehusk.methods.auto.letters import CODES, KINDS, SIGNATURES
from dehusk.methods.auto.looks import COLUMNS, OWN_COLUMN, TAG_BITS
from dehusk.methods.auto.names import Names
from dehusk.model import Floats, Tree

_WIDTH: Final = width(COLUMNS)
_HEADING: Final = tags.NUMBERS["h1"]
_TABLES: Final = (
    CUTS, HOLDS, OWN_COLUMN.astype(np.uint8), TAG_BITS, KINDS, SIGNATURES, CODES.astype(np.int64),
)  # fmt: skip


class _Cutter:
    """Cuts arrays off a piece of memory, one behind another."""

    def __init__(self, memory: bytearray) -> None:
        self._memory = memory
        self._offset = 0

    def take(self, kind: type[np.generic], *shape: int) -> Any:
        """The next array."""
        array = np.frombuffer(self._memory, kind, math.prod(shape), self._offset)
        self._offset += array.nbytes
        return array if len(shape) == 1 else array.reshape(shape)


def read_blocks(
    kernel: Any, tree: Tree, names: Names
) -> tuple[Blocks, Matrix, tuple[Hashes, Hashes, Hashes, Hashes, Floats]]:
    """The blocks, their looks but for the title, and places, surroundings, keys, texts, lengths."""
    memory, count, segments = kernel.read(
        _WIDTH, _HEADING, tree.source, tree.parent, tree.end, tree.depth, tree.start, tree.stop,
        tree.text_length, tree.link_length, tree.tag, tree.shown, tree.own_hash, tree.path_hash,
        names.look, names.kinds, *_TABLES,
    )  # fmt: skip
    take, levels = _Cutter(memory).take, len(LEVELS)
    places, surroundings = take(np.uint64, count), take(np.uint64, count, levels)
    keys, texts = take(np.uint64, segments), take(np.uint64, segments)
    chars, link_chars = take(np.float64, count), take(np.float64, count)
    lengths = take(np.float64, segments)
    looks = take(np.float32, count, _WIDTH)
    blocks = Blocks(
        segments=take(np.int32, segments),
        owner=take(np.int32, segments),
        first=take(np.int32, count),
        container=take(np.int32, count),
        levels=take(np.int32, count, levels),
        low=take(np.int32, count, levels),
        high=take(np.int32, count, levels),
        chars=chars,
        link_chars=link_chars,
    )
    return blocks, looks, (places, surroundings, keys, texts, lengths)
