"""Canonical HTML to a tree by the compiled kernel: the quick twin of `tokens` and `nodes`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from dehusk.page import tags
from dehusk.page.parse.tokens import KNOWN_HASHES, KNOWN_NUMBERS, Foreign
from dehusk.page.tree import Tree

_BITS: Final = (
    tags.VOID, tags.RAW, tags.NEVER_SHOWN, ("noscript",), ("a",), tags.NEWLINE_EATERS,
    ("svg", "math"), ("plaintext",),
)  # fmt: skip
"""The sets that the kernel asks for, from the lowest bit on (`src/kernel/scan.h`)."""
_KINDS: Final = np.zeros(len(tags.NAMES), np.uint8)
for _place, _names in enumerate(_BITS):
    _KINDS[tags.numbers(*_names)] |= np.uint8(1 << _place)
_TABLES: Final = tuple(table.tobytes() for table in (KNOWN_NUMBERS, KNOWN_HASHES, _KINDS))


def scan(
    kernel: Any, source: bytes, foreign: Callable[[], Foreign], max_depth: int, url: str | None
) -> Tree:
    """The tree of a page; `foreign` is only called where canonical HTML does not say enough."""
    memory = kernel.scan(max_depth, source, *_TABLES)
    if memory is None:
        memory = kernel.scan(max_depth, source, *_TABLES, *_as_flags(foreign()))
    return Tree.of_memory(memory, source, url)


def _as_flags(foreign: Foreign) -> tuple[bytes, ...]:
    """By rank: is what looks raw, void or to eat newlines foreign? And the lengths of raw texts."""
    all_flags = []
    for ranks in (foreign.raws, foreign.voids, foreign.eaters):
        flags = bytearray(max(ranks, default=-1) + 1)
        for rank in ranks:
            flags[rank] = 1
        all_flags.append(bytes(flags))
    return *all_flags, np.array(foreign.raw_lengths(), np.int64).tobytes()
