"""The restricted top-down mapping of two trees: what of the one is found in the other."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dehusk.page.hashing import PATH_INVERSES, PATH_POWERS, TREE_INVERSES, TREE_POWERS, Hashes, mix
from dehusk.page.page import check_time
from dehusk.page.tree import Flags

Nodes = NDArray[np.int64]
Pair = tuple[int, int]

_EDIT: Final = 1 << 24
"""What an edit costs, in kept nodes: more than any tree has, so that edits always decide first."""


@dataclass(frozen=True, slots=True, eq=False)
class Outline:
    """A tree as a label for each node, in document order, and how many nodes it has below it."""

    label: Hashes
    size: Nodes
    """The nodes of the subtree, the node itself included."""

    def is_tree(self) -> bool:
        """True where every subtree ends in the one that it stands in: others' data may not."""
        if len(self.label) != len(self.size):
            return False
        open_ends = [len(self.size)]
        for place, size in enumerate(self.size.tolist()):
            while open_ends[-1] == place:
                open_ends.pop()
            if not 1 <= size <= open_ends[-1] - place:
                return False
            open_ends.append(place + size)
        return True

    def only(self, kept: Flags) -> Outline:
        """The tree of the kept nodes; whoever keeps a node keeps its parent."""
        before = np.append(0, np.cumsum(kept))
        own = np.flatnonzero(kept)
        return Outline(self.label[own], before[own + self.size[own]] - before[own])

    def first(self, count: int) -> Outline:
        """The tree of the first `count` nodes."""
        count = min(count, len(self.label))
        left = count - np.arange(count)
        return Outline(self.label[:count], np.minimum(self.size[:count], left))

    def kinds(self) -> Hashes:
        """A number for each subtree, the same for equal ones.

        As in `Tree.subtree_hash`, a sum over the subtree's nodes, relative to its root.
        """
        place = np.arange(len(self.label))
        closed = np.bincount(place + self.size, minlength=len(place) + 1)
        depth = place - np.cumsum(closed)[:-1]
        places, depths = len(place) + 1, int(depth.max(initial=0)) + 1
        weight = TREE_POWERS.up_to(places)[place] * PATH_POWERS.up_to(depths)[depth]
        total = np.append(np.uint64(0), np.cumsum(self.label * weight, dtype=np.uint64))
        inverse = TREE_INVERSES.up_to(places)[place] * PATH_INVERSES.up_to(depths)[depth]
        return mix((total[place + self.size] - total[:-1]) * inverse)


@dataclass(frozen=True, slots=True, eq=False)
class Mapping:
    """A mapping from one tree to another: its cost, and its identical nodes."""

    cost: int
    """Nodes inserted, deleted or replaced; a guess where `max_cells` was used up."""
    nodes: Nodes
    """Of each node of the first tree, the identical one that it is mapped to, or -1."""


def map_trees(old: Outline, new: Outline, max_cells: int) -> Mapping:
    """A restricted top-down mapping of least cost; of these, one that keeps the most nodes.

    The roots are mapped if their labels are equal; if not, nothing is.
    """
    costs = _Costs(_Shape.of(old), _Shape.of(new))
    nodes = np.full(len(old.label), -1, np.int64)
    if not (len(old.label) and len(new.label)) or old.label[0] != new.label[0]:
        return Mapping(len(old.label) + len(new.label), nodes)
    windows = _open_windows(costs, max_cells)
    for pair, window in reversed(windows.items()):
        window.rows.extend(_align(costs, window))
        costs.known[pair] = window.rows[-1][-1] - window.equal_nodes - 1
    _trace(costs, windows, nodes)
    return Mapping(-(-costs.of(0, 0) // _EDIT), nodes)


@dataclass(frozen=True, slots=True, eq=False)
class _Shape:
    """A tree as plain lists, which Python reads faster than arrays one at a time."""

    label: list[int]
    size: list[int]
    kind: list[int]
    _children: dict[int, list[int]] = field(default_factory=dict)

    @staticmethod
    def of(outline: Outline) -> _Shape:
        return _Shape(outline.label.tolist(), outline.size.tolist(), outline.kinds().tolist())

    def children(self, node: int) -> list[int]:
        """The node's children in order, walked to once."""
        found = self._children.get(node)
        if found is None:
            found = self._children[node] = []
            child, end = node + 1, node + self.size[node]
            while child < end:
                found.append(child)
                child += self.size[child]
        return found


@dataclass(frozen=True, slots=True, eq=False)
class _Costs:
    """What it costs to map a subtree of one tree onto one of the other.

    A cost is edits · `_EDIT` - kept nodes: fewer edits first, then more nodes kept.
    """

    old: _Shape
    new: _Shape
    known: dict[Pair, int] = field(default_factory=dict)

    def of(self, i: int, j: int) -> int:
        """The cost of a pair."""
        return self.row(i, [j])[0]

    def row(self, i: int, others: list[int]) -> list[int]:
        """The cost of i with each of the others."""
        size, label, kind = self.old.size[i], self.old.label[i], self.old.kind[i]
        sizes, labels, kinds = self.new.size, self.new.label, self.new.kind
        return [
            -size
            if kinds[j] == kind
            else self._of_alike(i, j)
            if labels[j] == label
            else (size + sizes[j] - 1) * _EDIT
            for j in others
        ]

    def _of_alike(self, i: int, j: int) -> int:
        """The cost of a pair with the same label; the least it can be where it was not aligned."""
        size, other = self.old.size[i], self.new.size[j]
        if size == 1 or other == 1:
            return abs(size - other) * _EDIT - 1
        known = self.known.get((i, j))
        return max(1, abs(size - other)) * _EDIT - 1 if known is None else known


@dataclass(frozen=True, slots=True, eq=False)
class _Window:
    """The children of two mapped nodes, without the equal ones at both ends."""

    equal: list[Pair]
    """The equal ones at both ends."""
    equal_nodes: int
    """How many nodes these have."""
    old: list[int]
    new: list[int]
    rows: list[list[int]] = field(default_factory=list)
    """The least cost of aligning the first so many of the old with the first so many of the new."""


def _window(costs: _Costs, i: int, j: int) -> _Window:
    """The window of the children of i and j.

    Equal children at the ends belong together in a mapping of least cost: whatever else they were
    mapped to could take the other's place at no higher cost.
    """
    old, new = costs.old.children(i), costs.new.children(j)
    kind, other = costs.old.kind, costs.new.kind
    shorter = min(len(old), len(new))
    head = 0
    while head < shorter and kind[old[head]] == other[new[head]]:
        head += 1
    tail = 0
    while tail < shorter - head and kind[old[-1 - tail]] == other[new[-1 - tail]]:
        tail += 1
    ends = len(old) - tail, len(new) - tail
    equal = [*zip(old[:head], new[:head], strict=True)]
    equal += zip(old[ends[0] :], new[ends[1] :], strict=True)
    count = sum(costs.old.size[child] for child, _ in equal)
    return _Window(equal, count, old[head : ends[0]], new[head : ends[1]])


def _open_windows(costs: _Costs, max_cells: int) -> dict[Pair, _Window]:
    """The windows whose alignment can matter, those of a higher level first, up to the limit."""
    windows: dict[Pair, _Window] = {}
    queue = [(0, 0)] if costs.old.size[0] > 1 and costs.new.size[0] > 1 else []
    left = max_cells
    for pair in queue:
        window = _window(costs, *pair)
        left -= len(window.old) + len(window.new) + len(window.equal) + 1
        if left < 0:
            break
        cells = len(window.old) * len(window.new)
        if cells <= left:
            left -= cells
            windows[pair] = window
            queue.extend(_open_pairs(costs, window))
    return windows


def _open_pairs(costs: _Costs, window: _Window) -> Iterator[Pair]:
    """The pairs of a window that are alike but not equal, so that their children decide."""
    old, new = costs.old, costs.new
    inner = [j for j in window.new if new.size[j] > 1]
    for i in window.old:
        if old.size[i] > 1:
            label, kind = old.label[i], old.kind[i]
            yield from ((i, j) for j in inner if new.label[j] == label and new.kind[j] != kind)


def _align(costs: _Costs, window: _Window) -> list[list[int]]:
    """The rows of the edit distance between the window's children."""
    inserts = [costs.new.size[j] * _EDIT for j in window.new]
    rows = [[0, *accumulate(inserts)]]
    for i in window.old:
        check_time("mapping")
        delete = costs.old.size[i] * _EDIT
        above, last = rows[-1], rows[-1][0] + delete
        row = [last]
        steps = zip(above, above[1:], costs.row(i, window.new), inserts, strict=False)
        for before, up, cost, insert in steps:
            last = min(before + cost, up + delete, last + insert)
            row.append(last)
        rows.append(row)
    return rows


def _trace(costs: _Costs, windows: dict[Pair, _Window], nodes: Nodes) -> None:
    """Enter into `nodes` what the identical nodes are mapped to, from the roots down."""
    stack = [(0, 0)]
    while stack:
        i, j = stack.pop()
        if costs.old.kind[i] == costs.new.kind[j]:
            nodes[i : i + costs.old.size[i]] = np.arange(j, j + costs.old.size[i])
            continue
        nodes[i] = j
        window = windows.get((i, j))
        if window is None:
            window = _window(costs, i, j)
            stack.extend(_linear_pairs(costs, window))
        else:
            stack.extend(_exact_pairs(costs, window))
        stack.extend(window.equal)


def _exact_pairs(costs: _Costs, window: _Window) -> Iterator[Pair]:
    """The identical pairs of an aligned window, last first."""
    rows, a, b = window.rows, len(window.old), len(window.new)
    while a and b:
        i, j = window.old[a - 1], window.new[b - 1]
        if rows[a][b] == rows[a - 1][b - 1] + costs.of(i, j):
            if costs.old.label[i] == costs.new.label[j]:
                yield i, j
            a, b = a - 1, b - 1
        elif rows[a][b] == rows[a - 1][b] + costs.old.size[i] * _EDIT:
            a -= 1
        else:
            b -= 1


def _linear_pairs(costs: _Costs, window: _Window) -> Iterator[Pair]:
    """Identical pairs of a window in about linear time: equal unique ones, then those between."""
    anchors = _anchors(costs, window)
    for i, j in anchors:
        yield window.old[i], window.new[j]
    ends = [(-1, -1), *anchors, (len(window.old), len(window.new))]
    for (i, j), (i_next, j_next) in pairwise(ends):
        between = zip(window.old[i + 1 : i_next], window.new[j + 1 : j_next], strict=False)
        yield from (
            pair for pair in between if costs.old.label[pair[0]] == costs.new.label[pair[1]]
        )


def _anchors(costs: _Costs, window: _Window) -> list[Pair]:
    """The places of children that are equal, and unique on both sides: most that are in order."""
    old, new = (
        _unique_places([shape.kind[child] for child in children])
        for shape, children in ((costs.old, window.old), (costs.new, window.new))
    )
    common = [(place, new[kind]) for kind, place in old.items() if kind in new]
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(common):
        length = bisect_left(ends, place)
        ends[length : length + 1] = [place]
        last[length : length + 1] = [number]
        before.append(last[length - 1] if length else -1)
    chain = []
    number = last[-1] if last else -1
    while number >= 0:
        chain.append(common[number])
        number = before[number]
    return chain[::-1]


def _unique_places(kinds: list[int]) -> dict[int, int]:
    """Where each kind stands that stands there once, in order."""
    places: dict[int, int] = {}
    for place, kind in enumerate(kinds):
        places[kind] = -1 if kind in places else place
    return {kind: place for kind, place in places.items() if place >= 0}
