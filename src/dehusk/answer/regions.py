"""Labels to regions: the pieces of a page that were kept or dropped whole, and why."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dehusk.answer.labels import Label, Labels, Reason
from dehusk.answer.text import visible_lengths
from dehusk.methods.contract import Explanation
from dehusk.page import tags
from dehusk.page.tree import Floats, Ints, Tree

_EXCERPT: Final = 200
"""Characters of a region's text that are given, to know it by."""
_NAME: Final = 40
"""Characters of an id or a class that are given in a place."""


@dataclass(frozen=True, slots=True)
class Region:
    """A piece of a page with one label: siblings of one tag, with all that is below them.

    Scores are means over its text, by length: 0 content … 1 template, nan for no opinion.
    """

    node: int
    """The number of its first node; it reaches to `end`."""
    end: int
    """One behind its last node."""
    elements: int
    """How many siblings it is made of."""
    place: str
    """Where it stands, such as `div.menu > ul`."""
    label: Label
    score: float
    page_score: float
    """What the page alone said, where the method tells."""
    site_score: float
    """What the site's other pages said, where the method tells."""
    reason: str
    """Why most of its text is what it is, in the method's words where it has some."""
    characters: int
    """Of visible text."""
    text: str
    """The beginning of its text."""


def regions(
    tree: Tree, labels: Labels, explanation: Explanation | None = None
) -> tuple[Region, ...]:
    """The page's regions that hold visible text, in document order.

    A region is the largest piece whose text has one label; neighbours of one tag, label and reason
    under one parent are one region.
    """
    texts = np.flatnonzero(tree.is_text & tree.shown & (tree.text_length > 0)).astype(np.int32)
    if not len(texts):
        return ()
    roots = _roots(tree, texts, np.asarray(labels.labels[texts] == Label.TEMPLATE.value))
    first, last = np.searchsorted(texts, roots), np.searchsorted(texts, tree.end[roots])
    told = _Told(tree, labels, explanation, texts)
    reasons = [told.reason(a, b) for a, b in zip(first.tolist(), last.tolist(), strict=True)]
    starts = [0]
    for i in range(1, len(roots)):
        is_alike = (
            tree.parent[roots[i]] == tree.parent[roots[i - 1]]
            and tree.tag[roots[i]] == tree.tag[roots[i - 1]]
            and labels.labels[texts[first[i]]] == labels.labels[texts[first[i - 1]]]
            and reasons[i] == reasons[i - 1]
        )
        if not is_alike:
            starts.append(i)
    places = _Places(tree)
    return tuple(
        told.region(roots[a:b], int(first[a]), int(last[b - 1]), reasons[a], places)
        for a, b in pairwise([*starts, len(roots)])
    )


def _roots(tree: Tree, texts: Ints, is_template: NDArray[np.bool_]) -> Ints:
    """The nodes of text of one label whose parent has text of both, or that have no parent."""

    def counted(marked: Ints) -> NDArray[np.int64]:
        total = np.zeros(len(tree) + 1, np.int64)
        total[marked + 1] = 1
        total = np.cumsum(total)
        return np.asarray(total[tree.end] - total[:-1])

    template, content = counted(texts[is_template]), counted(texts[~is_template])
    is_mixed = (template > 0) & (content > 0)
    is_plain = (template > 0) ^ (content > 0)
    is_top = is_mixed[tree.parent] | (tree.parent < 0)
    return np.flatnonzero(is_plain & is_top).astype(np.int32)


class _Told:
    """What is told of the texts of a page: reasons in words, and scores."""

    def __init__(
        self, tree: Tree, labels: Labels, explanation: Explanation | None, texts: Ints
    ) -> None:
        unknown = np.full(len(tree), np.nan)
        self._tree = tree
        self._labels = labels
        self._texts = texts
        self._lengths = visible_lengths(tree)[texts].astype(np.float64)
        self._page = (unknown if explanation is None else explanation.page_score)[texts]
        self._site = (unknown if explanation is None else explanation.site_score)[texts]
        self._scores = labels.scores[texts]
        # Codes of Reason first, the method's own behind them.
        self._words = [reason.words for reason in Reason]
        self._codes: NDArray[Any] = labels.reasons[texts].astype(np.int64)
        if explanation is not None:
            own = explanation.reason[texts].astype(np.int64)
            # What the user has decided has no other reason, whatever the method thought of it.
            is_told = (own >= 0) & ~np.isin(self._codes, (Reason.KEPT, Reason.DROPPED))
            self._codes = np.where(is_told, own + len(self._words), self._codes)
            self._words += explanation.reasons

    def reason(self, first: int, last: int) -> str:
        """Why most of these texts have their label, by length."""
        weights = np.bincount(self._codes[first:last], self._lengths[first:last])
        return self._words[int(np.argmax(weights))]

    def region(self, roots: Ints, first: int, last: int, reason: str, places: _Places) -> Region:
        """The region of these siblings, which hold these texts."""
        tree, texts = self._tree, self._texts[first:last]
        return Region(
            node=int(roots[0]),
            end=int(tree.end[roots[-1]]),
            elements=len(roots),
            place=places.of(int(roots[0])),
            label=Label(int(self._labels.labels[texts[0]])),
            score=self._mean(self._scores, first, last),
            page_score=self._mean(self._page, first, last),
            site_score=self._mean(self._site, first, last),
            reason=reason,
            characters=int(self._lengths[first:last].sum()),
            text=excerpt(tree, texts),
        )

    def _mean(self, scores: Floats, first: int, last: int) -> float:
        """The mean of these texts' scores, by length; nan where none has one."""
        known = ~np.isnan(scores[first:last])
        if not known.any():
            return float("nan")
        return float(
            np.average(scores[first:last][known], weights=self._lengths[first:last][known])
        )


class _Places:
    """Where nodes stand, in the words of CSS; each name is made once, however long its tag is."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._names: dict[int, str] = {}

    def of(self, node: int) -> str:
        """The node and its parent, such as `div#main > p`; of a text node what it stands in."""
        if self._tree.tag[node] == tags.TEXT:
            return f"{self._name(int(self._tree.parent[node]))} > text"
        parent = int(self._tree.parent[node])
        name = self._name(node)
        return name if parent < 0 else f"{self._name(parent)} > {name}"

    def _name(self, node: int) -> str:
        """The element's tag, with its id or else its first class."""
        if node not in self._names:
            attributes = self._tree.attributes(node)
            name = self._tree.name(node)[:_NAME]
            words = attributes.get("class", "").split(None, 1)
            if attributes.get("id"):
                name += f"#{attributes['id'][:_NAME]}"
            elif words:
                name += f".{words[0][:_NAME]}"
            self._names[node] = name
        return self._names[node]


def excerpt(tree: Tree, texts: Ints) -> str:
    """The beginning of these texts, white space made single."""
    words: list[str] = []
    size = 0
    for node in texts.tolist():
        # A text may be long, and most of it is not wanted.
        found = tree.text(node).lstrip()[: 4 * _EXCERPT].split()
        words += found
        size += sum(map(len, found)) + len(found)
        if size > _EXCERPT:
            break
    text = " ".join(words)
    return text if len(text) <= _EXCERPT else text[: _EXCERPT - 1] + "…"
