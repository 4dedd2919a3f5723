"""What is doubtful on a site: pages, and the questions whose answers would mend most of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dehusk.answer.labels import Label, Reason
from dehusk.answer.regions import excerpt
from dehusk.answer.result import MUCH_REMOVED, Result
from dehusk.answer.text import visible_lengths
from dehusk.memory.rules import MAX_SELECTOR
from dehusk.page.tree import Ints, Tree
from dehusk.template.viewing import own_name

QUESTIONS: Final = 10
"""Questions that are asked of a site at once, and pages that are named."""
_UNSURE: Final = 0.8
"""Pages of which a lower F1 is expected are named, behind those that lost much."""
_MIN_DOUBT: Final = 0.15
"""Text whose score is nearer to 0 or 1 than this is not in doubt."""
_MIN_SHARE: Final = 0.5
"""Of what a selector selects, the share that must be in doubt to be asked about: a whole article
with one doubtful line is no question."""
_MIN_PAGES: Final = 2
"""Pages that must share a place, where the site has so many."""
_MAX_ELEMENTS: Final = 20_000
"""Elements of a page that are looked at for names."""
_MAX_EXAMPLES: Final = 3
_MIN_MENDS: Final = 0.005
"""Of a page: questions about less are not worth an answer."""


@dataclass(frozen=True, slots=True)
class Example:
    """What a question is about, on one page."""

    url: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """A place that pages of a site share, and that the method is not sure of."""

    selector: str
    """CSS: the rule that an answer becomes."""
    pages: int
    """Pages that have it."""
    kept_pages: int
    """Of these, those on which most of it is kept."""
    characters: int
    """Of text, on all pages."""
    score: float
    """The mean over its text: 0 content … 1 template."""
    mends: float
    """Pages' worth of text that is expected to be wrong: 1 is one whole page."""
    examples: tuple[Example, ...]


@dataclass(frozen=True, slots=True)
class DoubtfulPage:
    """A page and how far its answer may be trusted."""

    url: str | None
    title: str | None
    confidence: float | None
    """The F1 to be expected, where the method says."""
    doubt: float
    """The share of its text that is expected to be wrong."""
    site_removed: float | None = None
    """The share of what it says alone that its site took away, where the method says."""

    @property
    def is_mostly_removed(self) -> bool:
        """True for a page that keeps less than half of what it says alone."""
        return (self.site_removed or 0) > MUCH_REMOVED


@dataclass(frozen=True, slots=True, eq=False)
class _Looked:
    """What is noted of a page: its texts, and which of them stand in which named elements."""

    url: str | None
    lengths: NDArray[np.int64]
    scores: NDArray[np.float64]
    doubts: NDArray[np.float64]
    """Of each text the share of the page that is expected to be wrong because of it."""
    kept: NDArray[np.bool_]
    names: NDArray[np.int64]
    """Of each named element the number of its name; it holds the texts from `first` to `last`."""
    first: NDArray[np.int64]
    last: NDArray[np.int64]


class Doubts:
    """Takes the answers on a site's pages, and tells what is doubtful about them.

    Of each page it keeps a few numbers for each text and each element with a name, and the
    beginning of what is in doubt.
    """

    def __init__(self) -> None:
        self.pages: list[DoubtfulPage] = []
        self._looked: list[_Looked] = []
        self._names: dict[str, int] = {}
        self._by_tag: dict[bytes, str | None] = {}
        self._said: dict[int, list[Example]] = {}

    def take(self, result: Result) -> None:
        """Look at the answer on a page."""
        tree, labels = result.tree, result.labels
        texts = np.flatnonzero(tree.is_text & tree.shown & (tree.text_length > 0)).astype(np.int32)
        lengths = visible_lengths(tree)[texts].astype(np.int64)
        scores = labels.scores[texts].astype(np.float64)
        wrong = np.minimum(scores, 1 - scores)
        is_decided = np.isin(labels.reasons[texts], (Reason.KEPT.value, Reason.DROPPED.value))
        wrong[is_decided | ~(wrong >= _MIN_DOUBT)] = 0.0
        doubts = wrong * lengths / max(1, int(lengths.sum()))
        kept = labels.labels[texts] == Label.CONTENT.value
        told = result.confidence, float(doubts.sum()), result.site_removed
        self.pages.append(DoubtfulPage(result.url, result.title, *told))
        if not len(texts):
            return
        named = list(self._named(tree))
        names, elements = (np.array([row[i] for row in named], np.int64) for i in (0, 1))
        first = np.searchsorted(texts, elements)
        last = np.searchsorted(texts, tree.end[elements])
        looked = _Looked(result.url, lengths, scores, doubts, kept, names, first, last)
        self._looked.append(looked)
        self._quote(tree, texts, looked)

    def _named(self, tree: Tree) -> Iterator[tuple[int, int]]:
        """Each element that has a name and is in no other of the same, and the name's number."""
        ends: dict[int, int] = {}
        is_element = np.flatnonzero(~tree.is_text & tree.shown & (tree.text_length > 0))
        for element in is_element[:_MAX_ELEMENTS].tolist():
            name = self._name(tree, element)
            if name is None:
                continue
            number = self._names.setdefault(name, len(self._names))
            if ends.get(number, 0) <= element:
                ends[number] = int(tree.end[element])
                yield number, element

    def _name(self, tree: Tree, element: int) -> str | None:
        """The element's name; sites repeat their tags, so each is read once."""
        tag = tree.source[tree.start[element] : tree.stop[element]]
        if tag not in self._by_tag:
            name = own_name(tree, element)
            self._by_tag[tag] = name if name and len(name) <= MAX_SELECTOR else None
        return self._by_tag[tag]

    def _quote(self, tree: Tree, texts: Ints, page: _Looked) -> None:
        """Keep the beginning of what is in doubt, of a few pages for each name."""
        doubts = np.concatenate(([0.0], np.cumsum(page.doubts)))
        for row in np.flatnonzero(doubts[page.last] - doubts[page.first] > 0).tolist():
            said = self._said.setdefault(int(page.names[row]), [])
            if len(said) < _MAX_EXAMPLES:
                words = excerpt(tree, texts[page.first[row] : page.last[row]])
                if all(words != one.text for one in said):
                    said.append(Example(page.url, words))

    def questions(self, count: int = QUESTIONS) -> list[Question]:
        """The questions whose answers would mend most, the best first; none about the same text."""
        found: list[Question] = []
        left = [page.doubts.copy() for page in self._looked]
        names = list(self._names)
        while len(found) < count:
            mends, number = self._best(left)
            if mends < _MIN_MENDS:
                break
            found.append(self._question(names[number], number, mends))
            for page, doubts in zip(self._looked, left, strict=True):
                for row in np.flatnonzero(page.names == number).tolist():
                    doubts[page.first[row] : page.last[row]] = 0.0
        return found

    def unsure_pages(self) -> list[DoubtfulPage]:
        """The pages whose answers are least to be trusted: those that lost much to their site, the
        most first, then those of which the lowest F1 is expected.
        """
        doubts = [(doubt_of(page.confidence, page.site_removed), page) for page in self.pages]
        doubtful = [(doubt, page) for doubt, page in doubts if doubt is not None]
        doubtful.sort(key=lambda one: (-one[0], -one[1].doubt))
        return [page for _, page in doubtful[:QUESTIONS]]

    @property
    def mostly_removed(self) -> int:
        """How many pages keep less than half of what they say alone."""
        return sum(page.is_mostly_removed for page in self.pages)

    def _best(self, left: list[NDArray[np.float64]]) -> tuple[float, int]:
        """What would be mended by the best name, and its number."""
        size = len(self._names)
        mends, doubtful, whole, pages = (np.zeros(size) for _ in range(4))
        for page, doubts in zip(self._looked, left, strict=True):
            for total, each in (
                (mends, doubts),
                (doubtful, page.lengths * (page.doubts > 0)),
                (whole, page.lengths),
            ):
                sums = np.concatenate(([0.0], np.cumsum(each)))
                np.add.at(total, page.names, sums[page.last] - sums[page.first])
            pages[np.unique(page.names)] += 1
        share = doubtful / np.maximum(whole, 1.0)
        is_asked = (pages >= min(_MIN_PAGES, len(self._looked))) & (share >= _MIN_SHARE)
        # Rather a place with little around it that is sure; a fifth is let pass.
        worth = np.where(is_asked, mends * np.minimum(1.0, share / 0.8), 0.0)
        best = int(np.argmax(worth)) if size else 0
        return (float(mends[best]) if size and is_asked[best] else 0.0), best

    def _question(self, selector: str, number: int, mends: float) -> Question:
        pages = kept_pages = characters = 0
        weighed = 0.0
        for page in self._looked:
            rows = np.flatnonzero(page.names == number).tolist()
            if not rows:
                continue
            texts = np.concatenate([np.arange(page.first[row], page.last[row]) for row in rows])
            lengths, scores = page.lengths[texts], page.scores[texts]
            pages += 1
            kept_pages += bool(lengths[page.kept[texts]].sum() * 2 >= lengths.sum())
            characters += int(lengths.sum())
            weighed += float((np.nan_to_num(scores, nan=0.5) * lengths).sum())
        examples = tuple(self._said.get(number, ()))
        score = weighed / max(1, characters)
        return Question(selector, pages, kept_pages, characters, score, mends, examples)


def doubt_of(confidence: float | None, site_removed: float | None) -> float | None:
    """How much an answer is to be doubted: from 1 on where its site took most of the page away.

    None for one that can be trusted, or of which nobody knows.
    """
    if (site_removed or 0) > MUCH_REMOVED:
        return 1.0 + (site_removed or 0)
    return None if confidence is None or confidence >= _UNSURE else 1.0 - confidence
