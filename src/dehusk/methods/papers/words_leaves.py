"""The method `words-leaves`: the element with many words on few leaves is the content.

Insa, Silva and Tamarit, *Using the words/leafs ratio in the DOM tree for content extraction*, The
Journal of Logic and Algebraic Programming 82(8), 2013. The ratio and the choice of one main block
are theirs. How the ratio of a block is weighed against its size is decided here, in `weight`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dehusk.errors import SettingError
from dehusk.memory import Memory
from dehusk.page.tree import Flags, Floats, Ints, Tree

_MAX_WEIGHT: Final = 10
"""Long before it the block is one paragraph; far above it powers of long texts are no numbers."""


@dataclass(frozen=True, slots=True)
class WordsLeaves:
    """The block whose words stand on few leaves of the tree is content, all else is template.

    The page alone is looked at. Prose has many words to a leaf, menus few. By the ratio alone one
    long paragraph would win, by words alone the whole page: the block with the highest
    words · ratio**weight is taken, the innermost one of equals.
    """

    weight: float = 1.0
    """How much the ratio counts against the number of words; 0 takes the whole page. The paper's
    own relevance is not used. The table in docs/methods/words-leaves.md has what 0.7 and 1.4 do:
    the recall of content is 0.89 to 0.97 with 0.7, 0.77 to 0.87 with 1 and 0.50 to 0.74 with 1.4,
    that of template rises; no value is best on all corpora."""

    name = "words-leaves"

    def __post_init__(self) -> None:
        if not 0 <= self.weight <= _MAX_WEIGHT:
            raise SettingError(f"words-leaves: weight must be from 0 to {_MAX_WEIGHT}")

    def learn(self, memory: Memory, tree: Tree) -> Memory:  # noqa: ARG002  the page alone is asked
        """The memory with the page counted: it teaches nothing about others."""
        return memory.after_page()

    def score(self, memory: Memory, tree: Tree) -> Floats:  # noqa: ARG002
        """0 for texts of the main block and 1 for all others; nan for elements."""
        scores = np.full(len(tree), np.nan)
        words = _words(tree)
        is_leaf = words > 0
        if is_leaf.any():
            below, leaves = tree.sums(words), tree.sums(is_leaf)
            relevance = below * (below / np.maximum(leaves, 1)) ** self.weight
            relevance[tree.is_text] = -1.0
            block = int(np.flatnonzero(relevance == relevance.max())[-1])
            scores[is_leaf] = 1.0
            scores[block : tree.end[block]][is_leaf[block : tree.end[block]]] = 0.0
        return scores


def _words(tree: Tree) -> Ints:
    """How many words each text that is shown has; Han and Kana count by character."""
    source = np.frombuffer(tree.source, np.uint8)
    small = source | 0x20
    is_word = (small >= ord("a")) & (small <= ord("z")) | (source >= 0x80) & ~_signs(source)
    is_word |= (source >= ord("0")) & (source <= ord("9"))
    begins = is_word & ~_moved(is_word, 1)
    begins &= _moved(source, 1) != ord("&")  # The name of an escape is no word.
    # The first of a character's three bytes in UTF-8: U+3040 … U+9FFF.
    begins |= (source >= 0xE4) & (source <= 0xE9) | (source == 0xE3) & is_word
    count = np.concatenate(([0], np.cumsum(begins)))
    is_read = tree.is_text & tree.shown & (tree.text_length > 0)
    return np.where(is_read, count[tree.stop] - count[tree.start], 0)


def _signs(source: NDArray[np.uint8]) -> Flags:
    """True for the bytes of signs that are in no word: U+80 … BF, U+2000 … 2FFF, U+3000 … 303F."""
    is_short = source == 0xC2
    is_long = (source == 0xE2) | (source == 0xE3) & (np.append(source[1:], 0) == 0x80)
    first = is_short | is_long
    return np.asarray(first | _moved(first, 1) | _moved(is_long, 2))


def _moved(values: NDArray[Any], places: int) -> NDArray[Any]:
    """The values, each so many places later; 0 in front."""
    return np.concatenate((np.zeros(places, values.dtype), values[:-places]))
