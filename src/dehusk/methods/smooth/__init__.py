"""Scores to smoothed scores and sections: what stands in a page together is judged together."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dehusk.methods.contract import Smoothed, Smoothing
from dehusk.methods.smooth.isotonic import MAX_LEVELS, Forest, solve
from dehusk.page.tree import Flags, Floats, Tree

_STEPS: Final = MAX_LEVELS - 1


def smooth(tree: Tree, scores: Floats, smoothing: Smoothing) -> Smoothed:
    """The scores nearest to these that rise from a node to its children and rarely change.

    The regularised tree isotonic regression of Chakrabarti, Kumar and Punera (WWW 2007, section 4)
    with L1 distance, solved exactly. No node scores below its parent. A node whose smoothed score
    is not its parent's begins a section and costs its penalty. Every shown node has a smoothed
    score, those without an opinion too; all are nan if none has one. Scores of more than 256
    different values are first rounded to 256 levels.

    Hidden nodes are in the section of the nearest node above that is not hidden, and their weight
    is added to its: with weights of 1 a node with k of them weighs k + 1, the paper's rule.
    """
    kept = _kept(smoothing, len(tree))
    owner = _owners(tree, kept)
    weight = np.bincount(owner, smoothing.weight, len(tree)).astype(np.float64)
    nodes = np.flatnonzero(kept)
    has_score = ~np.isnan(scores[nodes])
    if not has_score.any():
        return Smoothed(np.full(len(tree), np.nan), np.zeros(len(tree), np.int32))
    values, level = _levels(scores[nodes][has_score])
    levels = np.zeros(len(nodes), np.intp)
    levels[has_score] = level
    rank = np.cumsum(kept) - 1
    parent = rank[owner[np.maximum(tree.parent[nodes], 0)]]
    parent[0] = -1
    solved = solve(
        Forest(
            parent=parent,
            depth=_depths(tree, kept)[nodes],
            level=levels,
            weight=np.where(has_score, weight[nodes], 0.0),
            penalty=smoothing.penalty[nodes],
            values=values,
        )
    )
    begins = np.zeros(len(tree), np.bool_)
    begins[nodes] = solved != solved[np.maximum(parent, 0)]
    begins[0] = True
    smoothed = np.where(tree.shown, values[solved][rank[owner]], np.nan)
    return Smoothed(smoothed, _owners(tree, begins))


def _kept(smoothing: Smoothing, size: int) -> Flags:
    """The nodes that are smoothed: those not hidden, and always node 0."""
    kept = np.ones(size, np.bool_) if smoothing.hidden is None else ~smoothing.hidden
    kept[0] = True
    return kept


def _owners(tree: Tree, marked: Flags) -> NDArray[np.int32]:
    """Of each node, itself if it is marked, else its nearest marked ancestor; node 0 is marked."""
    own = np.arange(len(tree), dtype=np.int32)
    up = np.where(marked, own, np.maximum(tree.parent, 0)).astype(np.int32)
    # Each round looks twice as far up.
    while not np.array_equal(further := up[up], up):
        up = further
    return up


def _depths(tree: Tree, kept: Flags) -> NDArray[Any]:
    """How many kept nodes stand above each node."""
    steps = np.zeros(len(tree) + 1, np.int32)
    steps[:-1] += kept
    np.subtract.at(steps, tree.end[kept], 1)
    return np.cumsum(steps[:-1]) - 1


def _levels(scores: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """At most 256 different scores, ascending, and the place of each node's among them.

    Where there are more, they are rounded to 256 levels, halves down: a score of 0.5 stays content.
    """
    values, level = np.unique(scores, return_inverse=True)
    if len(values) > MAX_LEVELS:
        rounded = np.ceil(scores * _STEPS - 0.5) + 0.0  # without it, 0 becomes -0
        values, level = np.unique(rounded, return_inverse=True)
        values = values / _STEPS
    return values, level.reshape(-1)
