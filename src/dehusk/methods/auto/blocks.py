"""A page cut into blocks, and where each block stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from dehusk.page import tags
from dehusk.page.tree import Floats, Ints, Tree

LEVELS: Final = (1, 2, 3, 4, 6, 8)
"""How far up a block's surroundings are looked at: its container is 1, what that stands in 2."""

CUTS: Final = tags.numbers(*tags.BLOCK, "td", "th", "br")
HOLDS: Final = CUTS & ~tags.numbers("br")


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """The blocks of a page in document order: runs of text that no block tag interrupts.

    An element covers a run of blocks, so that what is asked about the surroundings of a block is a
    difference of two running sums: `low` and `high` are the runs of its ancestors, one column for
    each of `LEVELS`.
    """

    segments: Ints
    """The shown text nodes."""
    owner: Ints
    """Of each segment, its block."""
    first: Ints
    """Of each block, its first segment's place in `segments`."""
    container: Ints
    """Of each block, the nearest element around it that holds blocks."""
    levels: Ints
    """Of each block, the nodes at `LEVELS`; `<html>` where the tree ends before."""
    low: Ints
    high: Ints
    chars: Floats
    link_chars: Floats

    def __len__(self) -> int:
        return len(self.first)

    def sums(self, values: Floats) -> Floats:
        """The sum of a number per segment over each block."""
        return np.asarray(np.bincount(self.owner, values, len(self)), np.float64)

    def around(self, values: Floats) -> Floats:
        """The sum of a number per block over its surroundings, one column for each level."""
        total = np.concatenate(([0.0], np.cumsum(values)))
        return np.asarray(total[self.high] - total[self.low])


def cut(tree: Tree) -> Blocks:
    """The blocks of the page."""
    cuts = CUTS[tree.tag]
    closed = np.bincount(tree.end[cuts], minlength=len(tree) + 1)
    number = np.cumsum(cuts + closed[: len(tree)])
    segments = np.flatnonzero(tree.is_text & tree.shown & (tree.text_length > 0)).astype(np.int32)
    run = number[segments]
    begins = np.ones(len(run), np.bool_)
    begins[1:] = run[1:] != run[:-1]
    first = np.flatnonzero(begins).astype(np.int32)
    owner = (np.cumsum(begins) - 1).astype(np.int32)
    starts = segments[first]
    container = _containers(tree, starts)
    levels = _ancestors(tree, container)
    lengths = tree.text_length[segments].astype(np.float64)
    linked = tree.link_length[segments].astype(np.float64)
    return Blocks(
        segments=segments,
        owner=owner,
        first=first,
        container=container,
        levels=levels,
        low=np.searchsorted(starts, levels).astype(np.int32),
        high=np.searchsorted(starts, tree.end[levels]).astype(np.int32),
        chars=np.add.reduceat(lengths, first) if len(first) else np.zeros(0),
        link_chars=np.add.reduceat(linked, first) if len(first) else np.zeros(0),
    )


def _containers(tree: Tree, nodes: Ints) -> Ints:
    """The nearest element above each node that holds blocks."""
    up = tree.parent[nodes]
    while len(climbing := np.flatnonzero(~HOLDS[tree.tag[up]] & (up > 0))):
        up[climbing] = tree.parent[up[climbing]]
    return np.asarray(np.maximum(up, 0), np.int32)


def _ancestors(tree: Tree, container: Ints) -> Ints:
    """The nodes at `LEVELS` above each block, one column for each."""
    columns, node = [], container
    for level in range(1, LEVELS[-1] + 1):
        if level in LEVELS:
            columns.append(node)
        node = np.maximum(tree.parent[node], 0)
    return np.stack(columns, axis=1)
