"""How much of each block is content, by the gold of a page."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dehusk import _kernel
from dehusk.doors.service.gold import nodes_inside
from dehusk.errors import MissingExtra
from dehusk.page.tree import Floats, Ints, Tree
from dehusk_bench.corpora import GoldPage
from dehusk_bench.quality.scoring import words


class BlockGold(NamedTuple):
    """What the gold says of the blocks of a page, in words."""

    words: Floats
    hits: Floats
    """How many of a block's words are content; where only values are known, of those with one."""
    content_words: float
    """All words of the content; nan where only values that must survive are known."""
    values: tuple[NDArray[np.intp], ...] = ()
    """Of each value that must survive, the blocks that hold it."""


def block_gold(gold: GoldPage, tree: Tree, reading: _kernel.Reading) -> BlockGold | None:
    """The gold of each block; None where the page has none that fits its tree."""
    segments, owner, count = np.asarray(reading.segments), np.asarray(reading.owners), len(reading)
    texts = [words(tree.text(segment)) for segment in segments.tolist()]
    lengths = np.array([len(text) for text in texts], np.float64)
    counts = _sums(owner, lengths, count)
    if gold.content_nodes is not None:
        inside = nodes_inside(tree, gold.content_nodes, gold.excluded_nodes)
        if inside is None:
            return None
        hits = _sums(owner, lengths * inside[segments], count)
        return BlockGold(counts, hits, float(hits.sum()))
    owners = owner.tolist()
    if gold.content is not None:
        content = words(gold.content)
        return BlockGold(counts, _aligned(texts, owners, content, count), float(len(content)))
    if not gold.must_keep:
        return None
    values = _holding(texts, owners, gold.must_keep, count)
    hits = np.zeros(count)
    for holders in values:
        hits[holders] = counts[holders]
    return BlockGold(counts, hits, np.nan, values)


def _sums(owner: Ints, values: Floats, count: int) -> Floats:
    """The sum of a number per segment over each block."""
    return np.asarray(np.bincount(owner, values, count), np.float64)


def _aligned(texts: list[list[str]], owners: list[int], content: list[str], count: int) -> Floats:
    """How many words of each block stand in the content, by the longest common subsequence."""
    try:
        from rapidfuzz.distance import LCSseq  # noqa: PLC0415  only training needs it
    except ImportError as fault:
        raise MissingExtra("training on texts", "bench") from fault
    numbers: dict[str, int] = {}
    page = [numbers.setdefault(word, len(numbers)) for text in texts for word in text]
    owner = np.repeat(owners, [len(text) for text in texts])
    wanted = [numbers.setdefault(word, len(numbers)) for word in content]
    hits = np.zeros(count)
    if page and wanted:
        for step in LCSseq.opcodes(page, wanted):
            if step.tag == "equal":
                np.add.at(hits, owner[step.src_start : step.src_end], 1)
    return hits


def _holding(
    texts: list[list[str]], owners: list[int], values: tuple[str, ...], count: int
) -> tuple[NDArray[np.intp], ...]:
    """Of each value that the page shows in one block, the blocks that hold it."""
    lines = [" "] * count
    for text, owner in zip(texts, owners, strict=True):
        lines[owner] += "".join(f"{word} " for word in text)
    wanted = [f" {' '.join(found)} " for value in values if (found := words(value))]
    holding = [[place for place, line in enumerate(lines) if value in line] for value in wanted]
    return tuple(np.array(holders) for holders in holding if holders)
