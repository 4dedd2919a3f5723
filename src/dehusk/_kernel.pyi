"""The compiled kernel (`src/kernel`), as its few callers see it."""

from typing import Any

Buffer = Any
"""Something with memory of its own, without gaps: bytes or an array."""

def scan(
    max_depth: int,
    source: bytes,
    numbers: Buffer,
    hashes: Buffer,
    kinds: Buffer,
    raws: Buffer = ...,
    voids: Buffer = ...,
    raw_lengths: Buffer = ...,
    /,
) -> bytearray | None: ...
