"""Fingerprints of a text: near for texts that are near, and sketches that tell duplicates."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Final, TypeVar

import numpy as np

from dehusk import _kernel
from dehusk.errors import SettingError
from dehusk.page.hashing import PATH_FACTOR, Hashes, mix

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
    are_letters = np.char.isalnum(np.arange(count, dtype=np.uint32).view("U1"))
    are_letters[ord("_")] = True
    return are_letters.tobytes()


@cache
def _small() -> bytes:
    """By the number of a character, that of its small letter.

    `_NOT_ONE` where it is not one of those looked up, as of the Turkish İ, or depends on those
    around it, as of the Greek Σ.
    """
    ones = re.sub("[İΣ]", chr(_NOT_ONE), _characters(_FEW)).lower()
    assert len(ones) == _FEW, "all others have one small letter, whatever stands around them"
    codes = np.frombuffer(ones.encode("utf-16-le"), "<u2")
    return np.where(codes < _FEW, codes, _NOT_ONE).astype(np.uint16).tobytes()


def _characters(count: int) -> str:
    """All characters in order; no letter is among those that are half a pair."""
    return np.arange(count, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")


def fingerprint(text: str) -> str:
    """The 64-bit SimHash of the text's words as 16 hex digits; zeros for a text without words.

    A word is a run of letters and digits in small letters; Chinese and Japanese go by character.
    Order does not count. A word weighs the number of binary digits of its count, so that a hundred
    times 'the' does not drown what the text is about. The same on every machine.
    """
    return of_words(_kernel.fingerprint, text)


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


MAX_TEXTS: Final = 50_000
_SHARERS: Final = 8
"""Texts remembered by one hash, the newest. A line that a whole site repeats would otherwise make
each page cost as much as there are pages; a duplicate has other hashes to be found by."""


class Seen:
    """The texts seen so far. It keeps only their sketches, and forgets the oldest.

    At least the newest `max_texts` are remembered, and at most twice as many: they are in two
    tables, and when the newer one is full the older one is dropped. A text takes 1.4 kB (measured
    on 4,000 of 300 words), so that the default needs 140 MB at most.

    >>> seen = Seen()
    >>> seen.add("Rye is sown in autumn."), seen.add("Oats in spring.")
    (False, False)
    >>> seen.add("Rye is sown in autumn!")
    True
    """

    def __init__(self, max_texts: int = MAX_TEXTS) -> None:
        if max_texts < 1:
            raise SettingError("max_texts must be 1 or above")
        self._max_texts = max_texts
        self._young, self._old = _Table(), _Table()

    def add(self, text: str) -> bool:
        """Is the text a near duplicate of an earlier one? If not, it is remembered.

        A duplicate is what `is_duplicate` says. A text without words never is one.
        """
        return self.add_sketch(sketch(text).tolist())

    def add_sketch(self, hashes: list[int]) -> bool:
        """The same as `add`, for callers who only have the text's `sketch`."""
        if self._young.has_duplicate(hashes) or self._old.has_duplicate(hashes):
            return True
        if len(self._young.sizes) == self._max_texts:
            self._young, self._old = _Table(), self._young
        self._young.put(hashes)
        return False


class _Table:
    """Sketches by the hashes in them."""

    def __init__(self) -> None:
        self.sizes = bytearray()
        """By text: how many hashes its sketch has."""
        self._texts: dict[int, tuple[int, ...]] = {}
        """By hash: the texts that have it."""

    def has_duplicate(self, hashes: list[int]) -> bool:
        """Does any sketch share enough hashes with these?"""
        common = Counter(text for each in hashes for text in self._texts.get(each, ()))
        return any(
            count >= min_common(max(len(hashes), self.sizes[text]))
            for text, count in common.items()
        )

    def put(self, hashes: list[int]) -> None:
        """Remember a sketch."""
        text = len(self.sizes)
        self.sizes.append(len(hashes))
        for each in hashes:
            self._texts[each] = (*self._texts.get(each, ())[1 - _SHARERS :], text)
