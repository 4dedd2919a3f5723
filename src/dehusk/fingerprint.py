"""A fingerprint of a text that is near for texts that are near."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

import numpy as np

from dehusk.hashing import TEXT_POWERS, Hashes, mix

_BITS: Final = 64
_WORDS_AT_ONCE: Final = 1 << 14
"""Words are weighed in parts, so that a long text costs time, not memory."""
# Scripts that put no space between words: each character counts as one.
_SOLID: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_SOLID_CHARACTER: Final = re.compile(f"[{_SOLID}]")
# A longer run is no word, and is taken apart: hashes of long words need long tables.
_WORD: Final = re.compile(r"\w{1,64}")
_SOLID_WORD: Final = re.compile(rf"[{_SOLID}]|[^\W{_SOLID}]{{1,64}}")


def fingerprint(text: str) -> str:
    """The 64-bit SimHash of the text's words as 16 hex digits; zeros for a text without words.

    A word is a run of letters and digits in small letters; Chinese and Japanese go by character.
    Order does not count. A word weighs the number of binary digits of its count, so that a hundred
    times 'the' does not drown what the text is about. The same on every machine.
    """
    has_solid = not text.isascii() and _SOLID_CHARACTER.search(text)
    counts = Counter((_SOLID_WORD if has_solid else _WORD).findall(text.lower()))
    if not counts:
        return "0" * (_BITS // 4)
    words = list(counts)
    balance = np.zeros(_BITS)
    for first in range(0, len(words), _WORDS_AT_ONCE):
        part = words[first : first + _WORDS_AT_ONCE]
        weights = np.array([counts[word].bit_length() for word in part], np.float64)
        digits = np.unpackbits(_hashes(part).astype(">u8").view(np.uint8)).reshape(-1, _BITS)
        # Whole numbers of this size are exact in floats, which numpy multiplies much faster.
        balance += 2 * (weights @ digits.astype(np.float64)) - weights.sum()
    return np.packbits(balance > 0).tobytes().hex()


def _hashes(words: list[str]) -> Hashes:
    """The hash of each word."""
    codes = np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), "<u4")
    lengths = np.fromiter(map(len, words), np.int64, len(words))
    starts = np.cumsum(lengths) - lengths
    offsets = np.arange(len(codes)) - np.repeat(starts, lengths)
    weights = TEXT_POWERS.up_to(int(lengths.max()))[offsets]
    return mix(np.add.reduceat((codes.astype(np.uint64) + np.uint64(1)) * weights, starts))
