"""Fingerprints of a text: near for texts that are near, and a sketch that tells duplicates."""

from __future__ import annotations

from dehusk import _kernel
from dehusk.answer.fingerprint.seen import Seen
from dehusk.answer.fingerprint.shingles import is_duplicate, sketch
from dehusk.answer.fingerprint.words import of_words

__all__ = ["Seen", "fingerprint", "is_duplicate", "sketch"]


def fingerprint(text: str) -> str:
    """The 64-bit SimHash of the text's words as 16 hex digits; zeros for a text without words.

    A word is a run of letters and digits in small letters; Chinese and Japanese go by character.
    Order does not count. A word weighs the number of binary digits of its count, so that a hundred
    times 'the' does not drown what the text is about. The same on every machine.
    """
    return of_words(_kernel.fingerprint, text)
