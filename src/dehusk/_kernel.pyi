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
def label(
    images: Buffer,
    parent: Buffer,
    text_length: Buffer,
    tag: Buffer,
    shown: Buffer,
    scores: Buffer,
    /,
) -> bytearray: ...
def smooth(
    unit: float,
    parent: Buffer,
    depth: Buffer,
    level: Buffer,
    weight: Buffer,
    penalty: Buffer,
    values: Buffer,
    /,
) -> bytearray: ...
def text(
    source: bytes,
    kinds: Buffer,
    tag: Buffer,
    end: Buffer,
    text_length: Buffer,
    start: Buffer,
    stop: Buffer,
    shown: Buffer,
    raw: Buffer,
    labels: Buffer,
    /,
) -> str: ...
