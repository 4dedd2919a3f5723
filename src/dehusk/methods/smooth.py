"""Scores to smoothed scores and sections: what stands in a page together is judged together.

Regularised tree isotonic regression, solved exactly: problem 2 of Chakrabarti, Kumar and Punera,
*Page-level Template Detection via Isotonic Smoothing*, WWW 2007. Their programme lets a node take
the score of any of the n nodes (lemma 3) and so costs O(n² log n); here scores have at most 256
levels, and it costs O(256 n).
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dehusk import _kernel
from dehusk.methods.contract import Smoothed, Smoothing
from dehusk.page.tree import Flags, Floats, Ints, Tree

MAX_LEVELS: Final = 256
_STEPS: Final = MAX_LEVELS - 1
_ROUNDER: Final = 1.5 * 2**52
"""So many units, added to a cost and taken away again, round it to a multiple of the unit."""


def smooth(tree: Tree, scores: Floats, smoothing: Smoothing) -> Smoothed:
    """The scores nearest to these that rise from a node to its children and rarely change.

    The distance is L1, solved exactly. No node scores below its parent. A node whose smoothed score
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


class Forest(Struct, frozen=True, eq=False):
    """A tree in document order, parents before children, and what its nodes' scores may cost."""

    parent: NDArray[Any]
    """-1 for node 0, the only root."""
    depth: NDArray[Any]
    """Every node's is one more than its parent's."""
    level: NDArray[Any]
    """The place of the node's score in `values`."""
    weight: Floats
    """What a distance of 1 from the node's score costs; 0 where it has none."""
    penalty: Floats
    """What it costs to begin a section at the node."""
    values: Floats
    """The scores that nodes may have, ascending, at most 256."""


def solve(forest: Forest) -> Ints:
    """The level of each node in a solution of least cost.

    No node's level is below its parent's. The cost is the weighted distance of all nodes from their
    scores, and the penalty of each node whose level is not its parent's. Of solutions that cost the
    same, one that keeps to the parent's level.
    """
    unit = unit_of(forest.weight)
    parent, depth, level = (
        np.ascontiguousarray(of_node, np.int32)
        for of_node in (forest.parent, forest.depth, forest.level)
    )
    penalty = _rounded(forest.penalty, unit)
    levels = _kernel.smooth(unit, parent, depth, level, forest.weight, penalty, forest.values)
    return np.frombuffer(levels, np.int32)


def unit_of(weight: Floats) -> float:
    """The power of two that all costs are rounded to multiples of.

    Sums of such costs are exact, and so the same in whatever order they are added up. The unit is
    so small that 2**50 of them are more than all distances can come to.
    """
    _, exponent = math.frexp(max(float(weight.sum()), 1.0))
    return math.ldexp(1.0, exponent - 50)


def _rounded(costs: Floats, unit: float) -> Floats:
    """The costs as multiples of the unit; those that nobody would ever pay stay as they are."""
    rounder = unit * _ROUNDER
    return np.where(costs < rounder / 2, (costs + rounder) - rounder, costs)
