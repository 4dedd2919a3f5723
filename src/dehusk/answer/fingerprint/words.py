"""The words of a text, as the kernel finds them: by tables of what Python calls a letter."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final, TypeVar

import numpy as np

from dehusk import _kernel
from dehusk.page.hashing import Hashes

Found = TypeVar("Found")

_FEW, _MANY = 0x3000, 0x20000
"""Numbers of characters up to which it is looked up what is a letter: those that most texts stay
below, and those above which there are none but Chinese ones."""
_NOT_ONE: Final = 0xFFFF


def hashes(text: str) -> Hashes:
    """The hash of each word: a run of letters and digits in small letters, cut at 64 of them.

    Chinese and Japanese go by character.
    """
    return np.frombuffer(of_words(_kernel.words, text), np.uint64)


def of_words(ask: Callable[[bytes, bytes, bytes], Found | None], text: str) -> Found:
    """What a function of the kernel makes of the text's words.

    It is given larger tables where the text has characters that are not in the small ones.
    """
    found = ask(text.encode("utf-8", "surrogatepass"), _letters(_FEW), _small())
    if found is None:
        written = text.lower().encode("utf-8", "surrogatepass")
        found = ask(written, _letters(_FEW), b"")
        if found is None:
            found = ask(written, _letters(_MANY), b"")
    assert found is not None, "the largest table has all letters"
    return found


@cache
def _letters(count: int) -> bytes:
    """By the number of a character: does it stand in words?"""
    are_letters = bytearray(map(str.isalnum, map(chr, range(count))))
    are_letters[ord("_")] = True
    return bytes(are_letters)


@cache
def _small() -> bytes:
    """By the number of a character, that of its small letter.

    `_NOT_ONE` where it is not one of those looked up, as of the Turkish İ, or depends on those
    around it, as of the Greek Σ.
    """
    letters = list(map(str.lower, map(chr, range(_FEW))))
    letters[ord("Σ")] = ""
    ones = "".join(letter if len(letter) == 1 else chr(_NOT_ONE) for letter in letters)
    codes = np.frombuffer(ones.encode("utf-16-le"), "<u2")
    return np.where(codes < _FEW, codes, _NOT_ONE).astype(np.uint16).tobytes()
