"""The mapping of two pages onto each other, top down: definition 3.3.1 and Algorithm 3.

The key page is mapped onto another one: of two mapped parents, the best pair of children is
mapped, then the best pair of those before it, and of those behind it. That is the same as to go
through all pairs from the best on and to take each that crosses none taken before.
"""

from __future__ import annotations

from bisect import bisect
from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dehusk.methods.papers.hyperlink.equality import (
    Kind,
    Register,
    Traits,
    Weights,
    children_probability,
    kind_probability,
    position_probability,
)
from dehusk.page.page import check_time
from dehusk.page.tree import Flags, Floats, Ints, Tree

_FEW: Final = 128
"""Pairs up to which plain Python is faster than arrays."""
_MAX_LIST_PAIRS: Final = 1 << 20
"""Pairs of children of two parents that are all looked at: a thousand children on both pages.
Of more, only pairs whose places are near from the left or from the right."""
_MAX_PAIRS: Final = 1 << 22
"""Pairs in all, after which only a few per child are looked at."""
_MIN_PER_CHILD: Final = 8
_KIND_COST: Final = 16
"""What a pair of kinds costs, in pairs of children: kinds are compared one pair at a time."""
_MAX_KIND_PAIRS: Final = 1 << 16
"""Pairs of kinds that are remembered; then the memory of them starts anew."""
_CHUNK: Final = 1 << 10
_MAX_CHUNK: Final = 1 << 16
_ALONE: Final = (1, 1, 1, 1)
"""The places of two nodes that have no siblings: the first of one, twice."""

Longs = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Rules:
    """When two nodes are mapped."""

    weights: Weights
    similarity_threshold: float
    """Pt: a pair must be more likely than this."""
    activate_position: bool
    """Mapped children keep their order."""


class Mapper:
    """Maps one page, the key page, onto others."""

    def __init__(self, tree: Tree, rules: Rules) -> None:
        self._rules = rules
        self._register = Register()
        self._tree = tree
        self._key = self._register.traits(tree)
        self._known: dict[tuple[int, int], float] = {}

    def map(self, tree: Tree) -> Ints:
        """Of each node of the key page the node of the other page that it maps to, -1 for none."""
        mapped = np.full(len(self._tree), -1, np.int32)
        other = self._register.traits(tree)
        pairs = _Pairs(self._key, other, self._register.kinds, self._rules, self._known)
        if not pairs.root_maps():
            return mapped
        mapped[0] = 0
        stack = [(0, 0)]
        while stack:
            check_time("mapping")
            for node, target in pairs.map_children(*stack.pop()):
                mapped[node] = target
                stack.append((node, target))
        return mapped


class _Pairs:
    """The pairs of children of two pages, judged and taken."""

    def __init__(
        self,
        key: Traits,
        other: Traits,
        kinds: list[Kind],
        rules: Rules,
        known: dict[tuple[int, int], float],
    ) -> None:
        self._key, self._other, self._kinds, self._rules = key, other, kinds, rules
        self._known = known
        self._budget = _MAX_PAIRS
        # Most lists of children are short, and for these lists are faster than arrays.
        self._key_kind, self._other_kind = key.kind.tolist(), other.kind.tolist()
        self._key_id, self._other_id = key.id.tolist(), other.id.tolist()
        self._key_first, self._other_first = key.first.tolist(), other.first.tolist()
        self._key_children, self._other_children = key.children.tolist(), other.children.tolist()

    def root_maps(self) -> bool:
        """Are the two roots equal?"""
        return self._probability(0, 0, _ALONE) > self._rules.similarity_threshold

    def map_children(self, node: int, target: int) -> list[tuple[int, int]]:
        """The children of two mapped nodes that map, in pairs."""
        first, last = self._key_first[node], self._key_first[node + 1]
        other_first, other_last = self._other_first[target], self._other_first[target + 1]
        if first == last or other_first == other_last:
            return []
        ours = self._key_children[first:last]
        theirs = self._other_children[other_first:other_last]
        if len(ours) == len(theirs) == 1:
            maps = self._probability(ours[0], theirs[0], _ALONE) > self._rules.similarity_threshold
            return [(ours[0], theirs[0])] if maps else []
        if len(ours) * len(theirs) <= _FEW:
            places = self._best_of_few(ours, theirs)
        else:
            places = self._best_of_many(np.array(ours), np.array(theirs))
        return [(ours[place], theirs[other]) for place, other in places]

    def _best_of_few(self, ours: list[int], theirs: list[int]) -> list[tuple[int, int]]:
        """The places of the pairs that map, pair by pair."""
        count, other_count = len(ours), len(theirs)
        threshold = self._rules.similarity_threshold
        likely = []
        for place, other in product(range(count), range(other_count)):
            places = (place + 1, count, other + 1, other_count)
            probability = self._probability(ours[place], theirs[other], places)
            if probability > threshold:
                likely.append((-probability, place, other))
        likely.sort()
        taken = _Taken(ordered=self._rules.activate_position)
        for _, place, other in likely:
            taken.take(place, other)
        return taken.pairs

    def _best_of_many(self, ours: Longs, theirs: Longs) -> list[tuple[int, int]]:
        """The same with arrays."""
        kinds = len(np.unique(self._key.kind[ours])) * len(np.unique(self._other.kind[theirs]))
        place, other = self._candidates(len(ours), len(theirs), kinds)
        probability = self._probabilities(ours, theirs, place, other)
        likely = np.flatnonzero(probability > self._rules.similarity_threshold)
        # A stable sort keeps equal ones in the order of the key page, then of the other page.
        likely = likely[np.argsort(-probability[likely], kind="stable")]
        taken = _Taken(ordered=self._rules.activate_position)
        taken.take_all(place[likely], other[likely])
        return taken.pairs

    def _candidates(self, count: int, other_count: int, kinds: int) -> tuple[Longs, Longs]:
        """The places of the pairs that are looked at: all, unless they are too many."""
        pairs, least = count * other_count, _MIN_PER_CHILD * count
        limit = min(_MAX_LIST_PAIRS, max(self._budget, least))
        allowed = max(limit - _KIND_COST * kinds, limit // (1 + _KIND_COST), min(limit, least))
        self._budget -= min(pairs, allowed) + _KIND_COST * min(pairs, allowed, kinds)
        if pairs <= allowed:
            return np.divmod(np.arange(pairs), other_count)
        reach = allowed // count // 4
        from_left = np.arange(-reach, reach + 1)
        offsets = np.union1d(from_left, from_left + (other_count - count))
        other = np.arange(count)[:, None] + offsets
        place, column = np.nonzero((other >= 0) & (other < other_count))
        return place, other[place, column]

    def _probability(self, node: int, target: int, places: tuple[int, int, int, int]) -> float:
        """The equality probability of two nodes in their places; below 0 for other tags."""
        by_kind = self._kind_probability(self._key_kind[node], self._other_kind[target])
        if by_kind < 0:
            return by_kind
        if self._key_id[node] and self._key_id[node] == self._other_id[target]:
            return 1.0
        weights = self._rules.weights
        children = children_probability(
            self._key_first[node + 1] - self._key_first[node],
            self._other_first[target + 1] - self._other_first[target],
            weights.not_children,
        )
        position = position_probability(*places)
        return by_kind + weights.children * children + weights.position * position

    def _probabilities(self, ours: Longs, theirs: Longs, place: Longs, other: Longs) -> Floats:
        """The same for pairs of places."""
        weights = self._rules.weights
        by_kind = self._kind_parts(self._key.kind[ours], self._other.kind[theirs], place, other)
        count = (self._key.first[ours + 1] - self._key.first[ours])[place]
        other_count = (self._other.first[theirs + 1] - self._other.first[theirs])[other]
        more = np.maximum(count, other_count)
        children = np.where(
            more == 0, weights.not_children, np.minimum(count, other_count) / np.maximum(more, 1)
        )
        position = _positions(place, len(ours), other, len(theirs))
        whole = by_kind + weights.children * children + weights.position * position
        own_id, other_id = self._key.id[ours][place], self._other.id[theirs][other]
        whole = np.where((own_id == other_id) & (own_id > 0), 1.0, whole)
        return np.where(by_kind < 0, -1.0, whole)

    def _kind_parts(self, ours: Ints, theirs: Ints, place: Longs, other: Longs) -> Floats:
        """The part of each pair's probability that the start tags give; most pairs are alike."""
        kinds, number = np.unique(ours, return_inverse=True)
        others, other_number = np.unique(theirs, return_inverse=True)
        codes = number[place] * len(others) + other_number[other]
        if len(kinds) * len(others) <= len(codes):
            seen = np.arange(len(kinds) * len(others))
        else:
            # Each child may be of its own kind, and not all pairs of them are looked at.
            seen, codes = np.unique(codes, return_inverse=True)
        at, other_at = np.divmod(seen, len(others))
        found = zip(kinds[at].tolist(), others[other_at].tolist(), strict=True)
        return np.asarray(np.array([self._kind_probability(*pair) for pair in found])[codes])

    def _kind_probability(self, kind: int, other: int) -> float:
        """The part of the probability that two start tags give, computed once."""
        if self._kinds[kind].tag != self._kinds[other].tag:
            return -1.0
        found = self._known.get((kind, other))
        if found is None:
            if len(self._known) > _MAX_KIND_PAIRS:
                self._known.clear()
            found = kind_probability(self._kinds[kind], self._kinds[other], self._rules.weights)
            self._known[kind, other] = found
        return found


def _positions(place: Longs, count: int, other: Longs, other_count: int) -> Floats:
    """The position probability of pairs of places, which count from 0 here."""
    left = place - other
    right = left * -1 + (count - other_count)
    if count == other_count:
        off = np.abs(left)
    elif other_count > count:
        off = np.maximum(0, np.maximum(left, right))
    else:
        off = np.maximum(0, np.maximum(-left, -right))
    return np.asarray(1.0 - off / min(count, other_count))


class _Taken:
    """Pairs of places, taken from the best on; each place at most once, and in order if asked."""

    def __init__(self, *, ordered: bool) -> None:
        self._ordered = ordered
        self._places: list[int] = []
        self._others: list[int] = []
        self._used: set[int] = set()
        self._used_others: set[int] = set()
        self.pairs: list[tuple[int, int]] = []

    def take(self, place: int, other: int) -> bool:
        """Take the pair if nothing taken before is in its way."""
        if place in self._used or other in self._used_others:
            return False
        if self._ordered:
            at = bisect(self._places, place)
            if (at and self._others[at - 1] > other) or (
                at < len(self._others) and self._others[at] < other
            ):
                return False
            self._places.insert(at, place)
            self._others.insert(at, other)
        self._used.add(place)
        self._used_others.add(other)
        self.pairs.append((place, other))
        return True

    def take_all(self, place: Longs, other: Longs) -> None:
        """Take of many pairs, the best first, those that can be taken.

        What taken pairs rule out is dropped for whole chunks at once: of equal siblings that is
        nearly all.
        """
        start, size = 0, _CHUNK
        while start < len(place):
            chunk = slice(start, start + size)
            for at in (start + np.flatnonzero(self._may_take(place[chunk], other[chunk]))).tolist():
                self.take(int(place[at]), int(other[at]))
            start, size = start + size, min(2 * size, _MAX_CHUNK)

    def _may_take(self, place: Longs, other: Longs) -> Flags:
        """Which of the pairs nothing taken before is in the way of."""
        if not self._ordered:
            used, used_others = np.array([*self._used]), np.array([*self._used_others])
            return ~np.isin(place, used) & ~np.isin(other, used_others)
        others = np.array([-1, *self._others, np.iinfo(np.int64).max])
        at = np.searchsorted(np.array(self._places, np.int64), place)
        behind = np.searchsorted(np.array(self._places, np.int64), place, "right")
        return np.asarray((at == behind) & (others[at] < other) & (other < others[at + 1]))
