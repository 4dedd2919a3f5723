"""What the paper of `page` measures: things inside template, and sections, by corpus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dehusk.answer.labels import Label, label
from dehusk.doors.service.gold import nodes_inside, score
from dehusk.errors import PageError, SourceError
from dehusk.memory import Memory
from dehusk.methods.papers.page import PageSmooth
from dehusk.methods.smooth import smooth
from dehusk.page import tags
from dehusk.page.parse import parse
from dehusk.page.tree import Flags, Floats, Tree
from dehusk_bench.corpora import Corpus, GoldPage, Watcher
from dehusk_bench.quality.scoring import words

DELTAS: Final = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
"""What neighbours may differ by to be merged; the best one counts, as in the paper."""
_LINK: Final = tags.NUMBERS["a"]


class Thing(StrEnum):
    """What may be inside template."""

    TEXT = "text"
    ANCHOR_TEXT = "anchor text"
    LINKS = "links"


@dataclass(slots=True)
class Tally:
    """The figures of every page, by site."""

    f1s: dict[Thing, dict[str, list[float]]] = field(
        default_factory=lambda: {thing: {} for thing in Thing}
    )
    """Of things called template; pages with none in template are left out."""
    sums: dict[Thing, NDArray[np.int64]] = field(
        default_factory=lambda: {thing: np.zeros(3, np.int64) for thing in Thing}
    )
    """Of all pages together: things in template and called so, in template, called so."""
    rands: dict[str, list[float]] = field(default_factory=dict)
    """The adjusted Rand index of each page."""

    def f1(self, thing: Thing) -> float:
        """F of a page, averaged over the pages of a site, then over sites."""
        return _mean(self.f1s[thing])

    def pooled_f1(self, thing: Thing) -> float:
        """F of all things of all pages taken together, where the longest pages decide."""
        hits, gold, called = map(int, self.sums[thing])
        return score(hits, gold, called).f1

    @property
    def rand(self) -> float:
        """The adjusted Rand index of a page, averaged in the same way."""
        return _mean(self.rands)


def _mean(by_site: dict[str, list[float]]) -> float:
    """The mean over sites of the mean over pages; 0 without any."""
    return float(np.mean([np.mean(values) for values in by_site.values()])) if by_site else 0.0


@dataclass(slots=True)
class PageFigures:
    """What was measured on one corpus."""

    corpus: str
    pages: int = 0
    passed_over: int = 0
    """Pages that could not be read, or whose gold names no nodes."""
    basic: Tally = field(default_factory=Tally)
    smooth: Tally = field(default_factory=Tally)
    merged: dict[float, Tally] = field(default_factory=dict)
    """By the difference that is merged."""
    by_factor: dict[float, Tally] = field(default_factory=dict)
    """By what the penalty was multiplied by."""
    fault: str | None = None
    """Why the corpus was not read to its end."""

    @property
    def best_delta(self) -> float:
        """The difference with which merging comes nearest to the gold."""
        return max(self.merged, key=lambda delta: self.merged[delta].rand)


def measure(
    corpus: Corpus, method: PageSmooth, factors: Sequence[float], on_page: Watcher
) -> PageFigures:
    """The figures of a corpus: without smoothing, with it, and with other penalties."""
    figures = PageFigures(corpus.name)
    figures.merged = {delta: Tally() for delta in DELTAS}
    figures.by_factor = {factor: Tally() for factor in factors}
    try:
        for gold in corpus.pages():
            _measure_page(gold, method, figures)
            on_page(corpus.name, figures.pages)
    except SourceError as fault:
        figures.fault = str(fault)
    return figures


def _measure_page(gold: GoldPage, method: PageSmooth, figures: PageFigures) -> None:
    """Add one page."""
    try:
        tree = parse(gold.page).tree
    except PageError:
        figures.passed_over += 1
        return
    paths = gold.content_nodes
    inside = None if paths is None else nodes_inside(tree, paths, gold.excluded_nodes)
    if inside is None:
        figures.passed_over += 1
        return
    figures.pages += 1
    truth = _Truth(tree, inside, gold.site)
    scores = method.score(Memory(), tree)
    truth.add(figures.basic, scores, score_groups(tree, scores))
    for delta, tally in figures.merged.items():
        truth.compare(tally, merged_groups(tree, scores, delta))
    _smoothed(truth, method, scores, figures.smooth)
    for factor, tally in figures.by_factor.items():
        _smoothed(truth, replace(method, penalty=method.penalty * factor), scores, tally)


class _Truth:
    """What is true of a page, and how answers are compared with it."""

    def __init__(self, tree: Tree, inside: Flags, site: str) -> None:
        self.tree = tree
        self._site = site
        self._groups = gold_groups(tree, inside)
        self._in_template = ~inside
        self._amounts = _amounts(tree)

    def add(self, tally: Tally, scores: Floats, groups: NDArray[Any]) -> None:
        """Count what the scores call template, and compare the groups with the true ones."""
        called = label(self.tree, scores).labels == Label.TEMPLATE.value
        for thing, amount in self._amounts.items():
            gold, said = int(amount[self._in_template].sum()), int(amount[called].sum())
            hits = int(amount[called & self._in_template].sum())
            tally.sums[thing] += (hits, gold, said)
            if gold:
                f1 = score(hits, gold, said).f1
                tally.f1s[thing].setdefault(self._site, []).append(f1)
        self.compare(tally, groups)

    def compare(self, tally: Tally, groups: NDArray[Any]) -> None:
        """Compare the groups with the true ones."""
        rand = adjusted_rand(self._groups, groups)
        tally.rands.setdefault(self._site, []).append(rand)


def _smoothed(truth: _Truth, method: PageSmooth, scores: Floats, tally: Tally) -> None:
    """Count the answer that the method gives with smoothing."""
    answer = smooth(truth.tree, scores, method.smoothing(Memory(), truth.tree))
    truth.add(tally, answer.scores, section_groups(truth.tree, answer.sections))


def _amounts(tree: Tree) -> dict[Thing, NDArray[np.int64]]:
    """How many words, words in anchors, and links are at each node."""
    count = np.zeros(len(tree), np.int64)
    for node in np.flatnonzero(tree.is_text & (tree.text_length > 0)).tolist():
        count[node] = len(words(tree.text(node)))
    in_anchor = tree.link_length == tree.text_length
    links = (tree.tag == _LINK) & tree.shown & (tree.text_length > 0)
    return {
        Thing.TEXT: count,
        Thing.ANCHOR_TEXT: np.where(in_anchor, count, 0),
        Thing.LINKS: links.astype(np.int64),
    }


Groups = NDArray[Any]
"""A number for each leaf: leaves of one group have the same."""
_IMAGES: Final = tags.numbers("img", "image", "picture", "svg")


def leaves_of(tree: Tree) -> NDArray[np.intp]:
    """The nodes that a reader sees: texts, and images without anything below them."""
    images = _IMAGES[tree.tag] & tree.shown & (tree.end == np.arange(len(tree)) + 1)
    return np.flatnonzero((tree.is_text & (tree.text_length > 0)) | images)


def gold_groups(tree: Tree, is_content: Flags) -> Groups:
    """The group of each leaf: the largest piece around it that is all content or all template.

    These pieces are what people marked for the paper: each as large as can be, together all of the
    page, none inside another.
    """
    leaf = np.zeros(len(tree), np.bool_)
    leaf[leaves_of(tree)] = True
    content, other = tree.sums(leaf & is_content), tree.sums(leaf & ~is_content)
    is_pure = (content == 0) | (other == 0)
    # Of a pure node all below is pure, so the outermost pure one is the piece.
    outermost = is_pure & ~(is_pure[np.maximum(tree.parent, 0)] & (tree.parent >= 0))
    return _nearest(tree, outermost)[leaves_of(tree)]


def section_groups(tree: Tree, sections: NDArray[Any]) -> Groups:
    """The group of each leaf: the section that it is in."""
    return np.asarray(sections[leaves_of(tree)])


def score_groups(tree: Tree, scores: Floats) -> Groups:
    """The group of each leaf without smoothing: pieces of the tree with one and the same score."""
    filled = np.nan_to_num(scores, nan=-1.0)
    begins = filled != filled[np.maximum(tree.parent, 0)]
    begins[0] = True
    return _nearest(tree, begins)[leaves_of(tree)]


def merged_groups(tree: Tree, scores: Floats, delta: float) -> Groups:
    """The group of each leaf if neighbours go together whose scores differ by less than `delta`."""
    own = np.nan_to_num(scores[leaves_of(tree)], nan=-1.0)
    begins = np.abs(np.diff(own, prepend=own[:1])) >= delta
    return np.cumsum(begins)


def adjusted_rand(one: Groups, other: Groups) -> float:
    """How alike two groupings are (Hubert and Arabie 1985): 1 for the same, about 0 by chance.

    Two groupings that leave nothing to chance, such as one group each, are alike if they are equal.
    """
    if len(one) < 2:
        return 1.0
    _, first = np.unique(one, return_inverse=True)
    _, second = np.unique(other, return_inverse=True)
    pairs = np.bincount(first * (int(second.max()) + 1) + second)
    together = float(_choose_two(pairs))
    rows, columns = (float(_choose_two(np.bincount(part))) for part in (first, second))
    expected = rows * columns / float(_choose_two(np.array([len(one)])))
    most = (rows + columns) / 2
    if most == expected:
        return float(together == most)
    return (together - expected) / (most - expected)


def _choose_two(counts: NDArray[Any]) -> Any:
    """How many pairs there are in groups of these sizes."""
    counts = counts.astype(np.float64)
    return (counts * (counts - 1) / 2).sum()


def _nearest(tree: Tree, marked: Flags) -> NDArray[Any]:
    """Of each node, itself if it is marked, else its nearest marked ancestor, else node 0."""
    up = np.where(marked, np.arange(len(tree)), np.maximum(tree.parent, 0))
    while not np.array_equal(further := up[up], up):
        up = further
    return up
