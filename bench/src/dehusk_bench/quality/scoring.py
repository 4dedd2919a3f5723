"""How near an answer's text is to the gold: words, bags of words, and phrases that must survive."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from dehusk.answer.labels import Label
from dehusk.answer.text import text
from dehusk.doors.service.gold import Score, score
from dehusk.errors import PageError
from dehusk.page import tags
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk_bench.corpora import GoldPage

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
_MIN_LINE: Final = 5
_H1: Final = tags.numbers("h1")
WORD: Final = re.compile(rf"(?=\w)[{_BY_CHARACTER}]|[^\W{_BY_CHARACTER}]+")
"""A word."""


def words(text: str) -> list[str]:
    """The words of a text, `\\w+` in lower case; Han, Hiragana and Katakana by character.

    >>> words("Don't panic: 日本語 OK")
    ['don', 't', 'panic', '日', '本', '語', 'ok']
    """
    return WORD.findall(text.lower())


def bag_score(gold: Counter[str], answer: Counter[str]) -> Score:
    """The score of an answer's words against those of the gold, each as often as it occurs."""
    return score((gold & answer).total(), gold.total(), answer.total())


@dataclass(frozen=True, slots=True)
class ContentGold:
    """The words of a page's content, and the headlines of the page that are not among them.

    Whether a headline is content is a matter of convention, and gold sets differ in it. So one that
    the gold lacks is taken out of an answer before the answer is scored: it neither costs nor wins.
    """

    words: Counter[str]
    absent: tuple[list[str], ...]

    def score(self, answer: Sequence[str]) -> Score:
        """The score of an answer's words."""
        return bag_score(self.words, self.bag(answer))

    def bag(self, answer: Sequence[str]) -> Counter[str]:
        """The answer's words that are scored."""
        for headline in self.absent:
            answer = _without(answer, headline)
        return Counter(answer)


def content_gold(gold: GoldPage) -> ContentGold | None:
    """What the answers on a page are scored against; None where nobody knows its content.

    Its headlines are the first `<h1>` with words, which may be the site's name, and the one that
    the gold tells. The gold has a headline where it has its words one behind another.
    """
    if gold.content is None:
        return None
    content = words(gold.content)
    first, told = words(_first_h1(gold.page)), words(gold.headline or "")
    headlines = (first, told) if told != first else (first,)
    absent = tuple(each for each in headlines if each and not _holds(content, each))
    return ContentGold(Counter(content), absent)


def _first_h1(page: Page) -> str:
    """What the first `<h1>` that shows a word says; empty if there is none."""
    try:
        tree = parse(page).tree
    except PageError:
        return ""
    for node in np.flatnonzero(_H1[tree.tag]).tolist():
        labels = np.full(len(tree), Label.HIDDEN, np.int8)
        labels[node : tree.end[node]][tree.shown[node : tree.end[node]]] = Label.CONTENT
        said = text(tree, labels)
        if words(said):
            return said
    return ""


def _holds(answer: Sequence[str], phrase: Sequence[str]) -> bool:
    """Are the words of the phrase in the answer, one behind another?"""
    return f" {' '.join(phrase)} " in f" {' '.join(answer)} "


def _without(answer: Sequence[str], phrase: Sequence[str]) -> Sequence[str]:
    """The words of the answer without the phrase, where it stands there for the first time."""
    before, found, after = f" {' '.join(answer)} ".partition(f" {' '.join(phrase)} ")
    return [*before.split(), *after.split()] if found else answer


@dataclass(frozen=True, slots=True)
class Phrases:
    """How many of some phrases an answer holds."""

    found: int
    count: int

    @property
    def share(self) -> float | None:
        """None where there is no phrase."""
        return self.found / self.count if self.count else None


def comment_lines(gold: GoldPage) -> list[str]:
    """The lines of what readers wrote, without short ones: 'Reply' says nothing."""
    lines = (gold.comments or "").splitlines()
    return [line for line in lines if len(words(line)) >= _MIN_LINE]


def find_phrases(phrases: Iterable[str], answer: Sequence[str]) -> Phrases:
    """How many of the phrases have their words in the answer, one behind another.

    Phrases without any word, such as '$', are passed over.
    """
    line = f" {' '.join(answer)} "
    wanted = [f" {' '.join(found)} " for phrase in phrases if (found := words(phrase))]
    return Phrases(sum(phrase in line for phrase in wanted), len(wanted))
