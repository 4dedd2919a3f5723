"""A site looked at as a whole: what went in, what came out, and what is doubtful about it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from dehusk.answer.result import Result
from dehusk.answer.text import text
from dehusk.errors import PageError
from dehusk.template.doubts import Doubts
from dehusk.template.viewing import Viewed

_HAN_AND_KANA: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD: Final = re.compile(f"[{_HAN_AND_KANA}]|[^\\s{_HAN_AND_KANA}]+")
"""Chinese and Japanese are written without spaces: each character counts, as word processors do."""


@dataclass(frozen=True, slots=True)
class Words:
    """A page before and after: words, and characters of which some are template."""

    before: int
    after: int
    characters: int
    template_characters: int

    @property
    def tokens_saved(self) -> int:
        """The template, in tokens of four characters."""
        return round(self.template_characters / 4)


def count_words(given: str) -> int:
    """How many words a text has."""
    return len(_WORD.findall(given))


def words_of(result: Result) -> Words:
    """A page before and after."""
    everything = np.zeros_like(result.labels.labels)
    return Words(
        count_words(text(result.tree, everything)),
        count_words(result.text),
        result.characters,
        round(result.characters * result.template_share),
    )


@dataclass(slots=True)
class Survey:
    """The sums over a site's pages."""

    site: str
    pages: int = 0
    words: Words = Words(0, 0, 0, 0)
    families: Counter[int | None] = field(default_factory=Counter)
    types: Counter[str | None] = field(default_factory=Counter)
    refusals: list[PageError] = field(default_factory=list)
    empty: int = 0
    """Pages with text, of which none is content."""
    scripted: int = 0
    """Pages that are empty without their scripts."""
    doubts: Doubts = field(default_factory=Doubts)

    @property
    def template_share(self) -> float:
        """The share of template among visible characters, 0 … 1."""
        return self.words.template_characters / max(1, self.words.characters)

    @property
    def confidence(self) -> float | None:
        """The mean F1 to be expected; None where the method does not say."""
        told = [page.confidence for page in self.doubts.pages if page.confidence is not None]
        return sum(told) / len(told) if told else None

    def take(self, result: Result) -> None:
        """Add a page."""
        own, before = words_of(result), self.words
        self.pages += 1
        self.words = Words(
            before.before + own.before,
            before.after + own.after,
            before.characters + own.characters,
            before.template_characters + own.template_characters,
        )
        self.families[result.family] += 1
        self.types[result.type] += 1
        self.scripted += result.needs_render
        self.empty += bool(own.characters and not own.after and not result.needs_render)
        self.doubts.take(result)


def answers(viewed: Viewed, site: str) -> Iterator[Result | PageError]:
    """The answer on each page of a site, by all of its pages."""
    for number in viewed.sites[site].pages:
        try:
            yield viewed.result(number)
        except PageError as error:
            yield error


def survey(viewed: Viewed, site: str, step: Callable[[], object] = lambda: None) -> Survey:
    """The sums over the pages of a site; `step` is called after each."""
    found = Survey(site)
    for answer in answers(viewed, site):
        step()
        if isinstance(answer, PageError):
            found.refusals.append(answer)
        else:
            found.take(answer)
    return found
