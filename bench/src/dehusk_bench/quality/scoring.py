"""How near an answer's text is to the gold: words, bags of words, and values that must survive."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from dehusk.doors.service.gold import Score, score

_BY_CHARACTER: Final = (
    "\u3005-\u3007"  # iteration mark, closing mark and zero of Han
    "\u3041-\u309f"  # Hiragana
    "\u30a0-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # Katakana, its extension, its half-width forms
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
"""Scripts that put no spaces between words, so that each character counts as a word.

Hangul has spaces and counts by word. Thai, Lao, Khmer and Burmese have none either, but are not
CJK: a run of them is one word, as `\\w+` finds it.
"""
_WORD: Final = re.compile(rf"(?=\w)[{_BY_CHARACTER}]|[^\W{_BY_CHARACTER}]+")


def words(text: str) -> list[str]:
    """The words of a text, `\\w+` in lower case; Han, Hiragana and Katakana by character.

    >>> words("Don't panic: 日本語 OK")
    ['don', 't', 'panic', '日', '本', '語', 'ok']
    """
    return _WORD.findall(text.lower())


def bag_score(gold: Counter[str], answer: Counter[str]) -> Score:
    """The score of an answer's words against those of the gold, each as often as it occurs."""
    return score((gold & answer).total(), gold.total(), answer.total())


def share_found(values: Iterable[str], answer: Sequence[str]) -> float | None:
    """The share of values whose words occur in the answer, one behind another.

    Values without any word, such as '$', are passed over; None if no other is left.
    """
    wanted = [f" {' '.join(value_words)} " for value in values if (value_words := words(value))]
    if not wanted:
        return None
    line = f" {' '.join(answer)} "
    return sum(value in line for value in wanted) / len(wanted)
