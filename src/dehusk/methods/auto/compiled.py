"""A page as `auto` reads it by the kernel: the twin of `blocks`, `letters`, `names`, `rows` and
`looks`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from dehusk import tags
from dehusk.hashing import Hashes
from dehusk.methods.auto.blocks import CUTS, HOLDS, LEVELS, Blocks
from dehusk.methods.auto.columns import Matrix, width
from dehusk.methods.auto.letters import CODES, KINDS, SIGNATURES
from dehusk.methods.auto.looks import COLUMNS, OWN_COLUMN, TAG_BITS
from dehusk.methods.auto.names import WORDS
from dehusk.model import Floats, Tree

_WIDTH: Final = width(COLUMNS)
_NUMBERS: Final = tuple(tags.NUMBERS[name] for name in ("h1", "title", "head"))
_TABLES: Final = (
    CUTS, HOLDS, OWN_COLUMN.astype(np.uint8), TAG_BITS, KINDS, SIGNATURES, CODES.astype(np.int64),
    *WORDS,
)  # fmt: skip


def _cut(memory: bytearray, kind: type[np.generic], first: int, sizes: Sequence[int]) -> list[Any]:
    """Arrays of these sizes that stand one behind another, from a byte of the memory on."""
    whole = np.frombuffer(memory, kind, sum(sizes), first)
    arrays, start = [], 0
    for size in sizes:
        arrays.append(whole[start : start + size])
        start += size
    return arrays


def read_blocks(
    kernel: Any, tree: Tree
) -> tuple[Blocks, Matrix, tuple[Hashes, Hashes, Hashes, Hashes, Floats]]:
    """The blocks, their looks, and places, surroundings, keys, texts and lengths."""
    memory, count, segments = kernel.read(
        _WIDTH, *_NUMBERS, tree.source, tree.parent, tree.end, tree.depth, tree.start, tree.stop,
        tree.text_length, tree.link_length, tree.tag, tree.shown, tree.raw, tree.own_hash,
        tree.path_hash, *_TABLES,
    )  # fmt: skip
    levels = len(LEVELS) * count
    sizes = (count, levels, segments, segments, count, count, segments)
    places, surroundings, keys, texts = _cut(memory, np.uint64, 0, sizes[:4])
    first = 8 * sum(sizes[:4])
    chars, link_chars, lengths = _cut(memory, np.float64, first, sizes[4:])
    first = 8 * sum(sizes)
    (looks,) = _cut(memory, np.float32, first, (count * _WIDTH,))
    ints = (segments, segments, count, count, levels, levels, levels)
    own, owner, starts, container, *around = _cut(memory, np.int32, first + looks.nbytes, ints)
    shape = (count, len(LEVELS))
    above, low, high = (array.reshape(shape) for array in around)
    blocks = Blocks(own, owner, starts, container, above, low, high, chars, link_chars)
    reading = places, surroundings.reshape(shape), keys, texts, lengths
    return blocks, looks.reshape(count, _WIDTH), reading
