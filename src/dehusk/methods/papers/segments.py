"""The method `segments`: an incremental table of text segments.

After Wang, Fang, Cheng, Guo and Xu, *Incremental Web Page Template Detection*, WWW 2008.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from dehusk.errors import SettingError
from dehusk.memory import Counts, Memory, Table, life_time, limited
from dehusk.page import tags
from dehusk.page.hashing import Hashes, mix
from dehusk.page.tree import Floats, Ints, Tree

SEPARATORS: Final = (
    "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "dialog",
    "div", "dl", "dt", "fieldset", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6",
    "header", "hr", "iframe", "li", "main", "menu", "nav", "ol", "p", "pre", "search", "section",
    "select", "table", "td", "th", "tr", "ul",
)  # fmt: skip
"""Tags that cut a page into blocks. The paper names TABLE, DIV, 'etc.'."""


@dataclass(frozen=True, slots=True)
class Segments:
    """Text that stands at the same path on many pages is template; its block decides.

    A segment is a text node: the same text at the same path. A block is what stands between two
    separating tags. Each page first adds its segments to the table (once each), then is judged by
    it; segments that do not come back leave after a life time that grows with their count.
    """

    base_life: float = 10.0
    """Tb: pages for which a segment seen once is kept. The paper does not print it. Found with
    `dehusk bench sweep-segments` on docs-dev and sample sites of 400 pages: from 10 up, recall is
    within 0.01 of never forgetting; 5 loses up to 0.017, 2 up to 0.04; 50 stores three times as
    much."""
    life_factor: float = 20.0
    """N: how many times longer the most frequent segments are kept. Not printed either; the same
    sweep, flat: 20 and 100 give the same."""
    min_count: int = 5
    """Pages from which a segment is template (section 2.3)."""
    ratio_threshold: float = 0.7
    """A block is template above this share of template text (section 2.3)."""
    separators: tuple[str, ...] = SEPARATORS
    ages: bool = True
    """False keeps every segment for ever, so that memories add up exactly."""
    max_keys: int = 100_000
    """Segments that are remembered, 16 bytes each, whatever a site sends: beyond it those go that
    were seen once, of the pages with most of them, then those with the least life left. The paper
    has no such limit; a site of docs-dev has some 4,000 of them (1,652 bytes for each of 38 pages,
    by `dehusk bench quality`)."""

    name = "segments"

    def __post_init__(self) -> None:
        if not (0 < self.base_life < math.inf and 1 <= self.life_factor < math.inf):
            raise SettingError("segments: base_life must be above 0 and life_factor at least 1")
        if self.min_count < 1:
            raise SettingError("segments: min_count must be at least 1")
        if not 0 <= self.ratio_threshold < 1:
            raise SettingError("segments: ratio_threshold must be from 0 to below 1")
        if self.max_keys < 4:
            raise SettingError("segments: max_keys must be at least 4")
        unknown = [name for name in self.separators if name not in tags.NUMBERS]
        if unknown:
            raise SettingError(f"segments: separators: no HTML tag is called {unknown[0]!r}")

    def learn(self, memory: Memory, tree: Tree) -> Memory:
        """The memory with this page added, and without what has not come back in its life time."""
        return self.limit(memory.then(self.lesson(tree)))

    def lesson(self, tree: Tree) -> Memory:
        """What this page alone teaches: its segments, each counted once."""
        return Memory.of_page(segments=Table.of_page(_keys(tree, _segments_of(tree))))

    def limit(self, memory: Memory) -> Memory:
        """The memory without the segments that have not come back in their life time."""
        table, lives = memory.table("segments"), (self.base_life, self.life_factor)
        table = limited(table, memory.pages, self.max_keys, *lives, ages=self.ages)
        return memory.with_tables(segments=table)

    def score(self, memory: Memory, tree: Tree) -> Floats:
        """The score of each node from a memory that has learned this page.

        A text node has its block's template ratio, stretched so that `ratio_threshold` becomes 0.5;
        an element the mean of the text below it, by length; nan where there is no shown text.
        """
        segments = _segments_of(tree)
        counts = memory.table("segments").counts_of(_keys(tree, segments))
        ratio, threshold = self._ratios(tree, segments, counts), self.ratio_threshold
        low = 0.5 * ratio / threshold if threshold else ratio
        high = 0.5 + 0.5 * (ratio - threshold) / (1 - threshold)
        return _spread_up(tree, segments, np.where(ratio > threshold, high, low))

    def life_time(self, count: Counts) -> Floats:
        """Pages for which a segment of that count is kept: Tb·N / (1 + (N - 1)·e^-(df - 1))."""
        return life_time(count, self.base_life, self.life_factor)

    def _ratios(self, tree: Tree, segments: Ints, counts: Counts) -> Floats:
        """The share of template text in each segment's block."""
        block = _blocks(tree, self.separators)[segments]
        length = tree.text_length[segments].astype(np.float64)
        known = np.bincount(block, np.where(counts >= self.min_count, length, 0.0))
        whole = np.bincount(block, length)
        return np.asarray(known[block] / whole[block])


def _segments_of(tree: Tree) -> Ints:
    """The text nodes that a reader can see."""
    return np.flatnonzero(tree.is_text & tree.shown & (tree.text_length > 0)).astype(np.int32)


def _keys(tree: Tree, segments: Ints) -> Hashes:
    """One key per segment: its text at its path."""
    return mix(tree.own_hash[segments] + mix(tree.path_hash[segments]))


def _blocks(tree: Tree, separators: tuple[str, ...]) -> Ints:
    """The number of each node's block: how many separating tags, start and end, stand before it."""
    separates = tags.numbers(*separators)[tree.tag]
    closed = np.bincount(tree.end[separates], minlength=len(tree) + 1)
    return np.asarray(np.cumsum(separates + closed[: len(tree)]))


def _spread_up(tree: Tree, segments: Ints, scores: Floats) -> Floats:
    """The segments' scores, and for each element the mean of the segments below it, by length."""
    own = np.zeros(len(tree) + 1)
    own[segments + 1] = scores * tree.text_length[segments]
    total = np.cumsum(own)
    with np.errstate(invalid="ignore"):
        means = (total[tree.end] - total[:-1]) / tree.text_length
    means = np.clip(means, 0.0, 1.0)
    means[~tree.shown | (tree.text_length == 0)] = np.nan
    means[segments] = scores
    return np.asarray(means)
