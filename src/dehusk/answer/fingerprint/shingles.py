"""Sketches of texts: the smallest hashes of their shingles, by which duplicates are told."""

from __future__ import annotations

from typing import Final

import numpy as np

from dehusk.answer.fingerprint.words import hashes
from dehusk.page.hashing import PATH_FACTOR, Hashes, mix

SHINGLE_WORDS: Final = 6
SKETCH_SIZE: Final = 8
MIN_COMMON: Final = 4
"""The figures of 003, section 6.2: shingles of 6 words, the 8 smallest hashes kept, duplicates with
4 of them in common."""
_FACTOR: Final = np.uint64(PATH_FACTOR)


def sketch(text: str) -> Hashes:
    """The 8 smallest hashes of the text's shingles, in order; fewer for a text of under 13 words.

    A shingle is 6 words that follow each other; a text with fewer words is one shingle, one without
    any has none. The same on every machine.
    """
    each = hashes(text)
    if not len(each):
        return np.empty(0, np.uint64)
    width = min(SHINGLE_WORDS, len(each))
    total = np.zeros(len(each) - width + 1, np.uint64)
    for place in range(width):
        total = total * _FACTOR + each[place : place + len(total)]
    return np.unique(mix(total))[:SKETCH_SIZE]


def is_duplicate(one: Hashes, other: Hashes) -> bool:
    """Have two texts at least 4 of the 8 hashes of their sketches in common?

    Of shorter sketches half of the longer one; texts without words are no duplicates.
    """
    common = len(np.intersect1d(one, other, assume_unique=True))
    return common > 0 and common >= min_common(max(len(one), len(other)))


def min_common(size: int) -> int:
    """How many hashes two sketches must share, the longer of them being of this size."""
    return -(-size * MIN_COMMON // SKETCH_SIZE)
