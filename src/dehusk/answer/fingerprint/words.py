"""The words of a text, and their hashes."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from dehusk.page.hashing import TEXT_POWERS, Hashes, mix

# Scripts that put no space between words: each character counts as one.
_SOLID: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_SOLID_CHARACTER: Final = re.compile(f"[{_SOLID}]")
# A longer run is no word, and is taken apart: hashes of long words need long tables.
_WORD: Final = re.compile(r"\w{1,64}")
_SOLID_WORD: Final = re.compile(rf"[{_SOLID}]|[^\W{_SOLID}]{{1,64}}")


def words_of(text: str) -> list[str]:
    """Runs of letters and digits in small letters; Chinese and Japanese go by character."""
    has_solid = not text.isascii() and _SOLID_CHARACTER.search(text)
    return (_SOLID_WORD if has_solid else _WORD).findall(text.lower())


def hashes(words: list[str]) -> Hashes:
    """The hash of each word; at least one is needed."""
    codes = np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), "<u4")
    lengths = np.fromiter(map(len, words), np.int64, len(words))
    starts = np.cumsum(lengths) - lengths
    offsets = np.arange(len(codes)) - np.repeat(starts, lengths)
    weights = TEXT_POWERS.up_to(int(lengths.max()))[offsets]
    return mix(np.add.reduceat((codes.astype(np.uint64) + np.uint64(1)) * weights, starts))
