"""The method `cetr`: lines of HTML with much text and few tags are content.

Weninger, Hsu and Han, *CETR: Content Extraction via Tag Ratios*, WWW 2010.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from dehusk.errors import SettingError
from dehusk.memory import Memory
from dehusk.page import tags
from dehusk.page.tree import Flags, Floats, Ints, Tree

_LINE_FEED: Final = 10
_BLOCK: Final = tags.numbers(*tags.BLOCK)
_MAX_ROUNDS: Final = 100
"""K-means on the few hundred lines of a page settles in about ten rounds."""


@dataclass(frozen=True, slots=True)
class Cetr:
    """Lines of HTML that have much text for each tag are content, found by clustering the lines.

    The page alone is looked at. A line has two numbers: its tag ratio, smoothed over the lines
    around it, and how much the ratio is about to change there. K-means with one cluster held at
    the origin divides the lines; those at the origin are template. Lines are those of the page as
    the parser writes it: what the author wrote between tags, without scripts, styles and comments.
    """

    clusters: int = 3
    """How many clusters of lines there are, with the one at the origin. The paper's value."""
    radius: int = 1
    """Over how many lines to each side ratios are smoothed. The paper's value."""
    ahead: int = 3
    """α: over how many lines the change of the ratio is taken. The paper's value."""
    breaks_blocks: bool = True
    """A block begins a line of its own, however the page is written. Without that, as in the paper,
    a page in one line cannot be divided; the thesis on `hyperlink` calls CETR useless there."""

    name = "cetr"

    def __post_init__(self) -> None:
        if self.clusters < 2 or self.radius < 1 or self.ahead < 1:
            raise SettingError("cetr: clusters must be at least 2, radius and ahead at least 1")

    def learn(self, memory: Memory, tree: Tree) -> Memory:  # noqa: ARG002  the page alone is asked
        """The memory with the page counted: it teaches nothing about others."""
        return memory.after_page()

    def score(self, memory: Memory, tree: Tree) -> Floats:  # noqa: ARG002
        """Of each text the share of its characters on lines of template; nan for elements."""
        scores = np.full(len(tree), np.nan)
        texts = np.flatnonzero(tree.is_text & tree.shown & (tree.text_length > 0)).astype(np.int32)
        if not len(texts):
            return scores
        line, characters = self._lines(tree, texts)
        count = int(line[-1]) + 1
        length = np.bincount(line, characters, count)
        tag_count = np.bincount(line[_tag_places(tree)], minlength=count)
        ratio = length / np.maximum(tag_count, 1)
        is_used = (length > 0) | (tag_count > 0)
        is_content = np.zeros(count, np.bool_)
        is_content[is_used] = self._is_content(ratio[is_used])
        kept = np.concatenate(([0], np.cumsum(characters & is_content[line])))
        total = np.concatenate(([0], np.cumsum(characters)))
        start, stop = tree.start[texts], tree.stop[texts]
        scores[texts] = 1 - (kept[stop] - kept[start]) / np.maximum(total[stop] - total[start], 1)
        return scores

    def _lines(self, tree: Tree, texts: Ints) -> tuple[Ints, Ints]:
        """By byte of the source: the number of its line, and 1 where a shown character begins."""
        source = np.frombuffer(tree.source, np.uint8)
        edges = np.zeros(len(source) + 1, np.int32)
        np.add.at(edges, tree.start[texts], 1)
        np.add.at(edges, tree.stop[texts], -1)
        is_character = (source & 0xC0) != 0x80  # UTF-8: not one of the bytes behind the first.
        characters = (np.cumsum(edges[:-1]) > 0) & is_character & (source > 0x20)
        ends = source == _LINE_FEED
        line = np.cumsum(ends) - ends
        if self.breaks_blocks:
            begins = np.zeros(len(source), np.int32)
            begins[tree.start[_BLOCK[tree.tag]]] = 1
            line += np.cumsum(begins)
        return np.asarray(line, np.int32), np.asarray(characters, np.int32)

    def _is_content(self, ratio: Floats) -> Flags:
        """True for the lines that are not in the cluster at the origin."""
        smooth = self._smoothed(ratio)
        padded = np.concatenate((smooth, np.zeros(self.ahead)))
        total = np.concatenate(([0.0], np.cumsum(padded)))
        ahead = (total[self.ahead + 1 :] - total[: -self.ahead - 1])[: len(smooth)] / self.ahead
        change = np.abs(self._smoothed(ahead - smooth))
        return np.asarray(_clusters(np.stack((smooth, change), axis=1), self.clusters) != 0)

    def _smoothed(self, values: Floats) -> Floats:
        """Each value and its neighbours, weighed by a bell of the radius."""
        weights = np.exp(-(np.arange(-self.radius, self.radius + 1) ** 2) / (2 * self.radius**2))
        wide = np.convolve(values, weights / weights.sum())
        return np.asarray(wide[self.radius : self.radius + len(values)])


def _tag_places(tree: Tree) -> Ints:
    """Where the start and end tags of shown elements stand in the source."""
    elements = ~tree.is_text & tree.shown
    has_end = elements & (tree.close > tree.stop)
    return np.concatenate((tree.start[elements], tree.close[has_end] - 1))


def _clusters(points: Floats, count: int) -> Ints:
    """The cluster of each point by k-means; the first one's centre stays at the origin.

    The others begin evenly spaced on the way to the outermost point: no chance is involved.
    """
    outermost = points[np.argmax(points.sum(axis=1))]
    centres = outermost * (np.arange(count) / max(count - 1, 1))[:, None]
    nearest = np.full(len(points), -1)
    for _ in range(_MAX_ROUNDS):
        distance = ((points[:, None, :] - centres[None]) ** 2).sum(axis=2)
        before, nearest = nearest, np.argmin(distance, axis=1)
        if np.array_equal(before, nearest):
            break
        for number in range(1, count):
            members = points[nearest == number]
            if len(members):
                centres[number] = members.mean(axis=0)
    return np.asarray(nearest, np.int32)
