"""Fingerprints of a text: near for texts that are near, and a sketch that tells duplicates."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any, Final

import numpy as np

from dehusk.answer.fingerprint.seen import Seen
from dehusk.answer.fingerprint.shingles import is_duplicate, sketch
from dehusk.answer.fingerprint.words import hashes, words_of
from dehusk.kernel import KERNEL

__all__ = ["Seen", "fingerprint", "is_duplicate", "sketch"]

_BITS: Final = 64
_WORDS_AT_ONCE: Final = 1 << 14
"""Words are weighed in parts, so that a long text costs time, not memory."""


def fingerprint(text: str) -> str:
    """The 64-bit SimHash of the text's words as 16 hex digits; zeros for a text without words.

    A word is a run of letters and digits in small letters; Chinese and Japanese go by character.
    Order does not count. A word weighs the number of binary digits of its count, so that a hundred
    times 'the' does not drown what the text is about. The same on every machine.
    """
    if KERNEL is not None and (found := _compiled(KERNEL, text)) is not None:
        return found
    counts = Counter(words_of(text))
    if not counts:
        return "0" * (_BITS // 4)
    words = list(counts)
    balance = np.zeros(_BITS)
    for first in range(0, len(words), _WORDS_AT_ONCE):
        part = words[first : first + _WORDS_AT_ONCE]
        weights = np.array([counts[word].bit_length() for word in part], np.float64)
        digits = np.unpackbits(hashes(part).astype(">u8").view(np.uint8)).reshape(-1, _BITS)
        # Whole numbers of this size are exact in floats, which numpy multiplies much faster.
        balance += 2 * (weights @ digits.astype(np.float64)) - weights.sum()
    return np.packbits(balance > 0).tobytes().hex()


_FEW, _MANY = 0x3000, 0x20000
"""Numbers of characters up to which it is looked up what is a letter: those that most texts stay
below, and those above which there are none but Chinese ones."""


@cache
def _letters(count: int) -> bytes:
    """By the number of a character: does it stand in words?"""
    are_letters = bytearray(map(str.isalnum, map(chr, range(count))))
    are_letters[ord("_")] = True
    return bytes(are_letters)


_NOT_ONE: Final = 0xFFFF


@cache
def _small() -> bytes:
    """By the number of a character, that of its small letter, for the kernel.

    `_NOT_ONE` where it is not one of those looked up, as of the Turkish İ, or depends on those
    around it, as of the Greek Σ.
    """
    letters = list(map(str.lower, map(chr, range(_FEW))))
    letters[ord("Σ")] = ""
    ones = "".join(letter if len(letter) == 1 else chr(_NOT_ONE) for letter in letters)
    codes = np.frombuffer(ones.encode("utf-16-le"), "<u2")
    return np.where(codes < _FEW, codes, _NOT_ONE).astype(np.uint16).tobytes()


def _compiled(kernel: Any, text: str) -> str | None:
    """The same by the kernel; None for texts with characters that are not looked up, or with two
    words of one hash.
    """
    written = text.encode("utf-8", "surrogatepass")
    found: str | None = kernel.fingerprint(written, _letters(_FEW), _small())
    if found is None:
        written = text.lower().encode("utf-8", "surrogatepass")
        found = kernel.fingerprint(written, _letters(_FEW), b"")
    if found is None:
        found = kernel.fingerprint(written, _letters(_MANY), b"")
    return found
