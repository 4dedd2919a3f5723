"""The method `chunks`: how many pages a chunk of text between two tables is on.

After Ma, Goharian, Chowdhury and Chung, *Extracting Unstructured Data from Template Generated Web
Documents*, CIKM 2003.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from dehusk.errors import SettingError
from dehusk.memory import Memory, Table
from dehusk.methods.papers.chunks.cutting import SEPARATORS, Cut, cut
from dehusk.methods.papers.chunks.look import alike, look_of
from dehusk.methods.papers.forget import trim
from dehusk.page.hashing import Hashes, mix
from dehusk.page.tree import Floats, Tree

_MAX_LOOKS: Final = 4096
_MAX_ASKED: Final = 64
"""Looks whose counts are added up for one page."""
_PAGES_PER_COUNT: Final = 100.0
"""What a page that a key was on is worth, in pages since it was seen, once the table is full."""
_GROUPS: Final = ("look", "none")


@dataclass(frozen=True, slots=True)
class Chunks:
    """A chunk of text that is on several pages of the same look is template.

    A chunk is what stands between two separating tags: words of texts, names and ALT texts of
    images. The first pass of the paper is learning, the second is asking.
    """

    threshold: int = 4
    """Pages from which a chunk is template (figure 4)."""
    separators: str = "tables"
    """`tables` as in the paper, or `blocks`: what lays out pages today."""
    tag_path: bool = False
    """Is the same text at another path another chunk (section 4.2)?"""
    group: str = "look"
    """`look` counts pages that look alike, `none` all pages of the site."""
    max_distance: int = 7
    """How far two looks of a group may be apart.

    On sample sites 92 % of the pairs within 7 are of one family, and 85 % of a family's pairs are
    within it; 0.94 and 0.81 at 6, 0.89 and 0.88 at 8.
    """
    min_group: int = 20
    """Pages that a group has at least: the next looks are taken in until there are so many.

    Without it each look starts anew: template F1 per element with `blocks` on 20 sites of docs-dev
    falls from 0.52 to 0.33. On sample sites 10, 20 and 40 differ by less than 0.02.
    """
    max_keys: int = 100_000
    """Chunks that are remembered, 16 bytes each; beyond it rare ones that have not come back go."""

    name = "chunks"

    def __post_init__(self) -> None:
        if min(self.threshold, self.min_group) < 1 or self.max_distance < 0:
            raise SettingError("chunks: threshold and min_group start at 1, max_distance at 0")
        if self.max_keys < 4:
            raise SettingError("chunks: max_keys must be at least 4")
        if self.separators not in SEPARATORS:
            raise SettingError(f"chunks: separators must be one of: {', '.join(SEPARATORS)}")
        if self.group not in _GROUPS:
            raise SettingError(f"chunks: group must be one of: {', '.join(_GROUPS)}")

    def learn(self, memory: Memory, tree: Tree) -> Memory:
        """The memory with this page's chunks added, each counted once: the first pass."""
        return self.limit(memory.then(self.lesson(tree)))

    def lesson(self, tree: Tree) -> Memory:
        """What this page alone teaches: its look, and its chunks, each counted once."""
        look = self._look(tree)
        keys = _at_look(self.chunk_keys(tree, self.cut(tree)), look)
        looks = Table.of_page(np.array([look], np.uint64))
        return Memory.of_page(chunks=Table.of_page(keys), looks=looks)

    def limit(self, memory: Memory) -> Memory:
        """The memory with no more chunks and looks than are allowed."""
        return memory.with_tables(
            chunks=trim(memory.table("chunks"), self.max_keys, _PAGES_PER_COUNT),
            looks=trim(memory.table("looks"), _MAX_LOOKS, _PAGES_PER_COUNT),
        )

    def score(self, memory: Memory, tree: Tree) -> Floats:
        """The score of each node from its chunk's number of pages: the second pass.

        Above 0.5 from `threshold` pages on, 1 if the chunk is on all pages of that look; an element
        has the mean of what is below it; nan where there are no words. A page that the memory has
        not learned is judged by the pages that it has.
        """
        page = self.cut(tree)
        counts, pages = self.page_counts(memory, tree, page)
        need = self.threshold
        # A look that was forgotten and came back counts fewer pages than its chunks.
        pages = max(pages, int(counts.max(initial=0)))
        high = 0.5 + 0.5 * (counts - need + 1) / max(pages - need + 1, 1)
        scores = np.where(counts >= need, high, 0.5 * counts / need)
        return _spread_up(tree, page, scores)

    def cut(self, tree: Tree) -> Cut:
        """The chunks of a page."""
        return cut(tree, SEPARATORS[self.separators])

    def chunk_keys(self, tree: Tree, page: Cut) -> Hashes:
        """The key of each chunk, the same on pages of every look."""
        return page.keys(tree, with_path=self.tag_path)

    def page_counts(self, memory: Memory, tree: Tree, page: Cut) -> tuple[Floats, int]:
        """On how many pages like this one each chunk is, and how many there are."""
        looks = memory.table("looks")
        near = alike(self._look(tree), looks, self.max_distance, _MAX_ASKED, self.min_group)
        keys = self.chunk_keys(tree, page)
        table = memory.table("chunks")
        counts = np.zeros(len(keys))
        for look in near:
            counts += table.counts_of(_at_look(keys, look))
        return counts, int(looks.counts_of(near).sum())

    def _look(self, tree: Tree) -> np.uint64:
        """The look of a page; the same for all where pages are not grouped."""
        return look_of(tree) if self.group == "look" else np.uint64(0)


def _at_look(keys: Hashes, look: np.uint64) -> Hashes:
    """The keys of these chunks on pages of that look."""
    return mix(keys + mix(np.full(1, look, np.uint64)))


def _spread_up(tree: Tree, page: Cut, scores: Floats) -> Floats:
    """The chunks' scores on their nodes, and on each element the mean of what is below it.

    A text weighs its length, an image as much as one character: it counts where nothing else does.
    """
    of_node = scores[page.chunk]
    weight = np.zeros(len(tree) + 1)
    weight[page.nodes + 1] = np.maximum(tree.text_length[page.nodes], 1)
    sums = np.zeros(len(tree) + 1)
    sums[page.nodes + 1] = of_node * weight[page.nodes + 1]
    weight, sums = np.cumsum(weight), np.cumsum(sums)
    below = weight[tree.end] - weight[:-1]
    means = np.full(len(tree), np.nan)
    judged = tree.shown & (below > 0)
    means[judged] = np.clip((sums[tree.end] - sums[:-1])[judged] / below[judged], 0.0, 1.0)
    means[page.nodes] = of_node
    return means
