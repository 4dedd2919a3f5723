"""Canonical HTML to a tree by the compiled kernel: the quick twin of `tokens` and `nodes`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from dehusk import tags
from dehusk.model import Tree
from dehusk.parse.tokens import KNOWN_HASHES, KNOWN_NUMBERS, Foreign

_BITS: Final = (
    tags.VOID, tags.RAW, tags.NEVER_SHOWN, ("noscript",), ("a",), ("pre", "textarea", "listing"),
    ("svg", "math"), ("plaintext",),
)  # fmt: skip
"""The sets that the kernel asks for, from the lowest bit on (`src/kernel/scan.h`)."""
_KINDS: Final = np.zeros(len(tags.NAMES), np.uint8)
for _place, _names in enumerate(_BITS):
    _KINDS[tags.numbers(*_names)] |= np.uint8(1 << _place)

_COLUMNS: Final = (
    ("own_hash", np.uint64), ("path_hash", np.uint64), ("parent", np.int32), ("end", np.int32),
    ("depth", np.int32), ("start", np.int32), ("stop", np.int32), ("close", np.int32),
    ("text_length", np.int32), ("link_length", np.int32), ("tag", np.int16), ("shown", np.bool_),
    ("raw", np.bool_),
)  # fmt: skip
"""The arrays as the kernel lays them out, one behind another (`src/kernel/tree.c`)."""
_NODE_BYTES: Final = sum(np.dtype(kind).itemsize for _, kind in _COLUMNS)


def scan(
    kernel: Any, source: bytes, foreign: Callable[[], Foreign], max_depth: int, url: str | None
) -> Tree:
    """The tree of a page; `foreign` is only called where canonical HTML does not say enough."""
    known = (max_depth, source, KNOWN_NUMBERS, KNOWN_HASHES, _KINDS)
    memory = kernel.scan(*known)
    if memory is None:
        memory = kernel.scan(*known, *_as_flags(foreign()))
    count = len(memory) // _NODE_BYTES
    arrays: dict[str, Any] = {}
    offset = 0
    for name, kind in _COLUMNS:
        arrays[name] = np.frombuffer(memory, kind, count, offset)
        offset += arrays[name].nbytes
    return Tree(source=source, url=url, **arrays)


def _as_flags(foreign: Foreign) -> tuple[bytes, bytes, bytes]:
    """By rank: is what looks raw or void foreign? And how many bytes of text has what looks raw?"""
    raws, voids = (bytearray(max(ranks, default=-1) + 1) for ranks in (foreign.raws, foreign.voids))
    for flags, ranks in ((raws, foreign.raws), (voids, foreign.voids)):
        for rank in ranks:
            flags[rank] = 1
    return bytes(raws), bytes(voids), np.array(foreign.raw_lengths(), np.int64).tobytes()
