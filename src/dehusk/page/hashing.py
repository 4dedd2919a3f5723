"""Hashes that are the same on every run and machine, for whole arrays at once.

All are polynomials modulo 2**64 with odd factors, scattered at the end. They tell apart what sites
write; they are no defence against somebody who builds two equal ones, which would confuse nothing
but that site's own memory.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from hashlib import blake2b

Hashes = NDArray[np.uint64]

TEXT_FACTOR: Final = 0x9E3779B97F4A7C15
PATH_FACTOR: Final = 0xC2B2AE3D27D4EB4F
TREE_FACTOR: Final = 0xFF51AFD7ED558CCD


class _Powers:
    """The powers of an odd number modulo 2**64, computed once and grown on demand."""

    def __init__(self, factor: int) -> None:
        self._factor = np.uint64(factor)
        self._table = np.ones(1, np.uint64)

    def up_to(self, count: int) -> Hashes:
        """At least `count` powers, from the power 0 on."""
        table = self._table
        while len(table) < count:
            step = table[-1:] * self._factor
            table = np.concatenate((table, table * step))
        self._table = table
        return table


TEXT_POWERS: Final = _Powers(TEXT_FACTOR)
PATH_POWERS: Final = _Powers(PATH_FACTOR)
PATH_INVERSES: Final = _Powers(pow(PATH_FACTOR, -1, 2**64))
TREE_POWERS: Final = _Powers(TREE_FACTOR)
TREE_INVERSES: Final = _Powers(pow(TREE_FACTOR, -1, 2**64))


def mix(values: Hashes) -> Hashes:
    """Each value scattered over all 64 bits (the finaliser of splitmix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def digest(*parts: str | bytes, size: int = 8) -> bytes:
    """So many bytes that tell what was given from all else, also from what is built to equal it."""
    found = _blake2b()(digest_size=size)
    for part in parts:
        found.update(part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part)
    return found.digest()


@cache
def _blake2b() -> type[blake2b]:
    """The class that computes digests; `hashlib` has it from here, and loads OpenSSL besides."""
    from _blake2 import blake2b  # noqa: PLC0415

    return blake2b


def hash_bytes(data: bytes) -> int:
    """The hash of some bytes, as texts are hashed; for the few that come one by one."""
    words = np.frombuffer(data + bytes(-len(data) % 8), np.dtype("<u8")).astype(np.uint64)
    folded = (words ^ (words >> np.uint64(32))) * TEXT_POWERS.up_to(len(words))[: len(words)]
    return int(mix(folded.sum(keepdims=True) + np.uint64(len(data)))[0])
