"""A page as `auto` reads it by the kernel: the twin of `blocks`, `letters`, `names`, `rows` and
`looks`.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dehusk.methods.auto.blocks import CUTS, HOLDS
from dehusk.methods.auto.columns import width
from dehusk.methods.auto.letters import CODES, KINDS, SIGNATURES
from dehusk.methods.auto.looks import COLUMNS, OWN_COLUMN, TAG_BITS
from dehusk.methods.auto.names import WORDS
from dehusk.page import tags
from dehusk.page.tree import TREE_PACKING, Tree

_WIDTH: Final = width(COLUMNS)
_NUMBERS: Final = tuple(tags.NUMBERS[name] for name in ("h1", "title", "head"))
_TABLES: Final = tuple(
    np.ascontiguousarray(table).tobytes()
    for table in (
        CUTS, HOLDS, OWN_COLUMN.astype(np.uint8), TAG_BITS, KINDS, SIGNATURES,
        CODES.astype(np.int64), *WORDS,
    )
)  # fmt: skip


_TREE: Final = TREE_PACKING.wanted(
    "parent", "end", "depth", "start", "stop", "text_length", "link_length", "tag", "shown", "raw",
    "own_hash", "path_hash",
)  # fmt: skip


def read_blocks(kernel: Any, tree: Tree) -> tuple[bytearray, int, int]:
    """The arrays of a reading in one piece of memory, and how many blocks and segments it has."""
    found: tuple[bytearray, int, int] = kernel.read(
        _WIDTH, *_NUMBERS, tree.source, tree.cut(_TREE), *_TABLES
    )
    return found
