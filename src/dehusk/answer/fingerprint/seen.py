"""A memory of the texts that a run has met, by which near duplicates are told."""

from __future__ import annotations

from collections import Counter
from typing import Final

from dehusk.answer.fingerprint.shingles import min_common, sketch
from dehusk.errors import SettingError

MAX_TEXTS: Final = 50_000
_SHARERS: Final = 8
"""Texts remembered by one hash, the newest. A line that a whole site repeats would otherwise make
each page cost as much as there are pages; a duplicate has other hashes to be found by."""


class Seen:
    """Texts that were met. It keeps nothing of them but sketches, and forgets the oldest.

    At least the newest `max_texts` are remembered and at most twice as many: they stand in two
    tables, and when the younger is full the older is dropped. A text takes 1.4 kB (measured on
    4,000 of 300 words), so that the default needs 140 MB at most.

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
        """Is the text a near duplicate of one met before? If not, it is remembered.

        A duplicate is what `is_duplicate` says. A text without words never is one.
        """
        return self.add_sketch(sketch(text).tolist())

    def add_sketch(self, hashes: list[int]) -> bool:
        """Is a text with this `sketch` one? As `add`, for whoever has no more of it."""
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
