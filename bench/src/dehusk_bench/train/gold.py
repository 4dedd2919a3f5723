"""How much of each block is content, by the gold of a page."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dehusk import _kernel
from dehusk.doors.service.gold import nodes_inside
from dehusk.errors import UsageError
from dehusk.page.tree import Flags, Floats, Tree
from dehusk_bench.corpora import GoldPage
from dehusk_bench.quality.scoring import words
from dehusk_bench.train.conventions import (  # fmt: skip
    HEADINGS,
    Blocks,
    Verdict,
    comment_targets,
    made_alike,
)

Holders = tuple[NDArray[np.intp], ...]
"""Of each phrase that the page shows in one block, the blocks that hold it."""


class BlockGold(NamedTuple):
    """What the gold says of the blocks of a page, in words."""

    words: Floats
    hits: Floats
    """How many of a block's words are content; where only phrases are known, of those with one."""
    content_words: float
    """All words of the content that count; nan where only phrases are known."""
    values: Holders
    """Who holds the phrases that must survive."""
    dropped: Holders
    """Who holds those that must go."""
    known: Flags
    """False for blocks that golds differ on, such as a byline: neither content nor template."""
    counted: Flags
    """False also for what is content by convention though this gold lacks it, as its headline."""
    comments: Floats
    """1 for what readers wrote below the content, 0 for all else, nan where nobody can say."""

    def right(self, kept: Flags) -> float | None:
        """How good it is to keep these blocks: F1 of the words that count.

        Where only phrases are known, F1 of those kept; None for a page that shows none of them.
        """
        if np.isnan(self.content_words):
            found = sum(bool(kept[holders].any()) for holders in self.values)
            wrong = sum(bool(kept[holders].any()) for holders in self.dropped)
            if not self.values:
                return 1.0 - wrong / len(self.dropped) if self.dropped else None
            # Without phrases to drop, this is the share of those to keep.
            if not self.dropped:
                return found / len(self.values)
            return 2 * found / (found + wrong + len(self.values))
        kept = kept & self.counted
        found_words = float(self.hits[kept].sum())
        either = self.content_words + float(self.words[kept].sum())
        return 2 * found_words / either if either else 1.0

    def best(self, logits: Floats) -> float:
        """F1 of the best cut that logits allow; 1 where only phrases are known."""
        if np.isnan(self.content_words):
            return 1.0
        order = np.argsort(-logits)
        found, kept = (
            np.cumsum(np.where(self.counted, each, 0)[order]) for each in (self.hits, self.words)
        )
        return float(np.max(2 * found / np.maximum(self.content_words + kept, 1)))


def block_gold(gold: GoldPage, tree: Tree, reading: _kernel.Reading) -> BlockGold | None:
    """The gold of each block; None where the page has none that fits its tree."""
    segments, owner, count = np.asarray(reading.segments), np.asarray(reading.owners), len(reading)
    texts: list[list[str]] = [[] for _ in range(count)]
    lengths = np.zeros(len(segments))
    for place, (segment, block) in enumerate(zip(segments.tolist(), owner.tolist(), strict=True)):
        found = words(tree.text(segment))
        texts[block] += found
        lengths[place] = len(found)
    blocks = Blocks(texts, tree, np.asarray(reading.container))
    values = _holding(blocks, gold.must_keep)
    dropped = _holding(blocks, (*(gold.must_drop or ()), *gold.comments_snippets))
    missing = 0.0
    if gold.content_nodes is not None:
        inside = nodes_inside(tree, gold.content_nodes, gold.excluded_nodes)
        if inside is None:
            return None
        inner = np.bincount(owner, lengths * inside[segments], count)
        verdict = Verdict.of_hits(inner.astype(np.float64))
    elif gold.content is not None:
        content = words(gold.content)
        verdict, missing = _cleaned(blocks, _aligned(texts, content))
    elif gold.must_keep:
        verdict, missing = _by_phrases(blocks, values, dropped), np.nan
    else:
        return None
    hits, known, counted = made_alike(gold, blocks, verdict)
    content_words = float(hits[counted].sum()) + missing
    comments = comment_targets(gold, blocks, Verdict(hits, known, counted))
    return BlockGold(blocks.counts, hits, content_words, values, dropped, known, counted, comments)


class _Aligned(NamedTuple):
    """The words of the blocks that stand in the content, by the longest common subsequence."""

    hits: Floats
    """How many of each block."""
    longest: Floats
    """The longest run of these, one behind another."""
    left: str
    """The words of the content that are in none."""


def _aligned(texts: list[list[str]], content: list[str]) -> _Aligned:
    try:
        from rapidfuzz.distance import LCSseq  # noqa: PLC0415  only training needs it
    except ImportError as fault:
        raise UsageError(
            "training on texts needs an extra: pip install 'dehusk-bench[train]'"
        ) from fault
    numbers: dict[str, int] = {}
    page = [numbers.setdefault(word, len(numbers)) for text in texts for word in text]
    owner = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    wanted = [numbers.setdefault(word, len(numbers)) for word in content]
    hits, longest, left = np.zeros(len(texts)), np.zeros(len(texts)), []
    for step in LCSseq.opcodes(page, wanted):
        if step.tag == "equal":
            own, runs = np.unique(owner[step.src_start : step.src_end], return_counts=True)
            hits[own] += runs
            longest[own] = np.maximum(longest[own], runs)
        else:
            left += content[step.dest_start : step.dest_end]
    return _Aligned(hits, longest, f" {' '.join(left)} ")


_FEW, _PART, _MOST = 3, 0.3, 0.8
_NEAR: Final = 3
"""Blocks beside one of few words, of which one at least must be content for it to be."""
_PHRASE, _COPY = 5, 20


def _cleaned(blocks: Blocks, aligned: _Aligned) -> tuple[Verdict, float]:
    """The alignment without its mistakes, and how many words of the content are in no block.

    Words of a menu that the content has somewhere as well may have been aligned with it. A block
    that is aligned for the most part is content whole, and so is one that stands in the content in
    another order. Of a long text that the page shows twice, nobody knows which is meant.
    """
    counts, lines = blocks.counts, blocks.lines
    share = aligned.hits / np.maximum(counts, 1)
    scattered = (share < _PART) | ((share < 0.7) & (aligned.longest < _FEW))
    hits = np.where(share > _MOST, counts, np.where(scattered, 0, aligned.hits))
    near = np.convolve(hits > 0, np.ones(2 * _NEAR + 1), "full")[_NEAR : len(hits) + _NEAR]
    for place in np.flatnonzero((hits > 0) & (counts <= _FEW) & (near <= 1)).tolist():
        hits[place] *= blocks.is_in(place, HEADINGS, 1)
    verdict, left = Verdict.of_hits(hits), aligned.left
    content = {lines[place] for place in np.flatnonzero((hits > 0) & (counts >= _COPY)).tolist()}
    for place in np.flatnonzero((hits == 0) & (counts >= _PHRASE)).tolist():
        if lines[place] in left:
            hits[place] = counts[place]
            left = left.replace(lines[place], " ", 1)
        elif lines[place] in content:
            verdict.known[place] = verdict.counted[place] = False
    return verdict, float(len(left.split()))


def _holding(blocks: Blocks, phrases: tuple[str, ...]) -> Holders:
    """Of each phrase that the page shows in one block, the blocks that hold it."""
    wanted = [f" {' '.join(found)} " for phrase in phrases if (found := words(phrase))]
    # A phrase may begin or end within a word, if it is not one word alone.
    wanted = [phrase.strip() if phrase.count(" ") > _FEW else phrase for phrase in wanted]
    holding = [
        [place for place, line in enumerate(blocks.lines) if phrase in line] for phrase in wanted
    ]
    return tuple(np.array(holders) for holders in holding if holders)


def _by_phrases(blocks: Blocks, values: Holders, dropped: Holders) -> Verdict:
    """What is known where only phrases are: of the blocks with one, the longest holds it."""
    count = len(blocks.texts)
    keeps, drops = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    for holders in values:
        keeps[holders[blocks.counts[holders].argmax()]] = True
    for holders in dropped:
        drops[holders] = True
    known = keeps ^ drops
    return Verdict(np.where(keeps, blocks.counts, 0), known, known.copy())
