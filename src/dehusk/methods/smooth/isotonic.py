"""Regularised tree isotonic regression, solved exactly by a dynamic programme over score levels.

Problem 2 of Chakrabarti, Kumar and Punera, *Page-level Template Detection via Isotonic Smoothing*,
WWW 2007. Their programme lets a node take the score of any of the n nodes (lemma 3) and so costs
O(n² log n); here scores have at most 256 levels, and it costs O(256 n).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dehusk.kernel import KERNEL
from dehusk.page.tree import Floats, Ints

MAX_LEVELS: Final = 256
_CHUNK: Final = 1024
"""Nodes whose costs are held at once, 2 kB each. 2,000 nodes take 17, 12, 10, 9, 9 ms of CPU with
128, 256, 512, 1024, 2048."""
_ROUNDER: Final = 1.5 * 2**52
"""So many units, added to a cost and taken away again, round it to a multiple of the unit."""

Moves = NDArray[np.uint8]
"""By node and level of its parent: two bits that say what the node does."""
_IS_BEST: Final = 1
"""No higher level costs less, whatever the parent's is."""
_KEEPS: Final = 2
"""The node has its parent's level."""


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
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
    forest = replace(forest, penalty=_rounded(forest.penalty, unit))
    if KERNEL is not None:
        return _compiled(forest, unit)
    moves, root = _hand_up(forest, unit)
    level = np.empty(len(forest.parent), np.int32)
    level[0] = root
    levels = np.arange(len(forest.values))
    order, bounds = _by_depth(forest.depth)
    for first, last in pairwise(bounds[1:]):
        nodes = order[first:last]
        above = level[forest.parent[nodes]]
        level[nodes] = above
        leaving = (moves[nodes, above] & _KEEPS) == 0
        nodes, above = nodes[leaving], above[leaving, None]
        # The best level from j on is the first one from j on that nothing above it beats.
        level[nodes] = np.argmax((moves[nodes] & _IS_BEST != 0) & (levels >= above), axis=1)
    return level


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


def _compiled(forest: Forest, unit: float) -> Ints:
    """The same by the kernel."""
    assert KERNEL is not None
    parent, depth, level = (
        np.ascontiguousarray(of_node, np.int32)
        for of_node in (forest.parent, forest.depth, forest.level)
    )
    memory = KERNEL.smooth(unit, parent, depth, level, forest.weight, forest.penalty, forest.values)
    return np.frombuffer(memory, np.int32)


def _hand_up(forest: Forest, unit: float) -> tuple[Moves, int]:
    """What every node does for each level of its parent, and the root's best level.

    Chunks of the document are taken from its end. What a chunk hands up to nodes before it waits
    in `pending`; these are all ancestors of the chunk's first node, so there are few of them.
    """
    size = len(forest.parent)
    moves = np.empty((size, len(forest.values)), np.uint8)
    pending: dict[int, Floats] = {}
    cost = np.empty(0)
    for stop in range(size, 0, -_CHUNK):
        start = max(0, stop - _CHUNK)
        cost = _own_costs(forest, unit, start, stop)
        for node in [node for node in pending if node >= start]:
            cost[node - start] += pending.pop(node)
        order, bounds = _by_depth(forest.depth[start:stop])
        for first, last in zip(reversed(bounds[:-1]), reversed(bounds[1:]), strict=True):
            nodes = order[first:last] + start
            moves[nodes], handed = _best(cost[nodes - start], forest.penalty[nodes])
            parents = forest.parent[nodes]
            siblings = np.flatnonzero(np.concatenate(([True], parents[1:] != parents[:-1])))
            handed, parents = np.add.reduceat(handed, siblings, axis=0), parents[siblings]
            waiting = int(np.searchsorted(parents, start))
            cost[parents[waiting:] - start] += handed[waiting:]
            for node, row in zip(parents[:waiting].tolist(), handed, strict=False):
                pending[node] = pending.get(node, 0.0) + row
    return moves, int(np.argmin(cost[0]))


def _own_costs(forest: Forest, unit: float, start: int, stop: int) -> Floats:
    """What each level costs each of the nodes by its distance from the node's score."""
    own = forest.values[forest.level[start:stop]]
    cost: Floats = np.abs(forest.values - own[:, None])
    cost *= forest.weight[start:stop, None]
    cost += unit * _ROUNDER
    cost -= unit * _ROUNDER
    return cost


def _best(cost: Floats, penalty: Floats) -> tuple[Moves, Floats]:
    """For each level of the parent: what the node does, and what that costs with all below it.

    `cost` is what each level of the node costs with all below it. The node has the parent's level,
    or for its penalty the best one above.
    """
    best = np.minimum.accumulate(cost[:, ::-1], axis=1)[:, ::-1]
    moves = (cost == best).view(np.uint8)
    best = best + penalty[:, None]
    moves |= (cost <= best).view(np.uint8) << 1
    return moves, np.minimum(cost, best, out=best)


def _by_depth(depth: NDArray[Any]) -> tuple[NDArray[np.intp], list[int]]:
    """The nodes by depth, from the top, those of a depth in document order; where each begins."""
    order = np.argsort(depth, kind="stable")
    sorted_depth = depth[order]
    bounds = np.flatnonzero(sorted_depth[1:] != sorted_depth[:-1]) + 1
    return order, [0, *bounds.tolist(), len(depth)]
