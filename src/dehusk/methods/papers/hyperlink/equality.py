"""How likely two nodes of two pages are the same one: definitions 3.2.1 and 3.2.2 of the thesis."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

import numpy as np

from dehusk.page.tree import Ints, Tree

_NONE: Final[frozenset[str]] = frozenset()
_OWN: Final = "data-dehusk-node"
"""What a browser's page is numbered with when it is sent to us: no other page has it."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What each trait of two nodes counts, and what a trait counts that neither of them has."""

    classes: float
    position: float
    attributes: float
    children: float
    not_classes: float
    not_attributes: float
    not_children: float


@dataclass(frozen=True, slots=True)
class Kind:
    """What a node's start tag says of it: tag, classes, and the names of its other attributes."""

    tag: str
    classes: frozenset[str] = _NONE
    attributes: frozenset[str] = _NONE
    """Without `class` and `id`."""


def overlap(one: Collection[str], other: Collection[str], if_none: float) -> float:
    """The share of their members that two sets have in common; `if_none` where both are empty."""
    if not one and not other:
        return if_none
    shared = len(set(one) & set(other))
    return shared / (len(one) + len(other) - shared)


def children_probability(count: int, other: int, not_children: float) -> float:
    """How alike two numbers of children are."""
    if not count and not other:
        return not_children
    return min(count, other) / max(count, other)


def position_probability(place: int, count: int, other_place: int, other_count: int) -> float:
    """How likely a child is another one by its place among `count`, the first of which is 1.

    1 where the nodes that only one of the parents has could all stand on one side, so that the
    places agree from the left or from the right, or lie between (examples 3.2.3 and 3.2.4).
    """
    left = place - other_place
    right = (count - place) - (other_count - other_place)
    if count == other_count:
        off = abs(left)
    elif other_count > count:
        off = max(0, left, right)
    else:
        off = max(0, -left, -right)
    return 1.0 - off / min(count, other_count)


def kind_probability(one: Kind, other: Kind, weights: Weights) -> float:
    """The part of the equality probability that the start tags give; below 0 for other tags."""
    if one.tag != other.tag:
        return -1.0
    classes = overlap(one.classes, other.classes, weights.not_classes)
    attributes = overlap(one.attributes, other.attributes, weights.not_attributes)
    return weights.classes * classes + weights.attributes * attributes


@dataclass(frozen=True, slots=True, eq=False)
class Traits:
    """What the equality probability looks at, of every node of a page."""

    kind: Ints
    """The node's number in the list of kinds."""
    id: Ints
    """The number of the node's `id`; 0 for none, which equals no other."""
    children: Ints
    """All nodes but the first, those of one parent together, in document order."""
    first: Ints
    """Where a node's children begin in `children`; one more entry for where the last end."""

    def children_of(self, node: int) -> Ints:
        """The node's children in document order."""
        return self.children[self.first[node] : self.first[node + 1]]


class Register:
    """Numbers for the kinds and ids of several pages, so that equal ones have equal numbers."""

    def __init__(self) -> None:
        self.kinds: list[Kind] = []
        self._kind_numbers: dict[Kind, int] = {}
        self._id_numbers: dict[str, int] = {"": 0}
        self._tags: dict[bytes, tuple[int, int]] = {}

    def traits(self, tree: Tree) -> Traits:
        """The traits of every node of a page."""
        kind, number = np.zeros(len(tree), np.int32), np.zeros(len(tree), np.int32)
        starts, stops = tree.start.tolist(), tree.stop.tolist()
        text = self._number(Kind("#text"))
        for node, is_text in enumerate(tree.is_text.tolist()):
            if is_text:
                kind[node] = text
                continue
            written = tree.source[starts[node] : stops[node]]
            if written not in self._tags:
                self._tags[written] = self._read(tree, node)
            kind[node], number[node] = self._tags[written]
        order = np.argsort(tree.parent, kind="stable")[1:].astype(np.int32)
        first = np.searchsorted(tree.parent[order], np.arange(len(tree) + 1)).astype(np.int32)
        return Traits(kind, number, order, first)

    def _read(self, tree: Tree, node: int) -> tuple[int, int]:
        """The numbers of an element's kind and id."""
        attributes = tree.attributes(node)
        name = attributes.pop("id", "")
        classes = frozenset(attributes.pop("class", "").split())
        attributes.pop(_OWN, None)
        kind = Kind(tree.name(node), classes, frozenset(attributes))
        return self._number(kind), self._id_numbers.setdefault(name, len(self._id_numbers))

    def _number(self, kind: Kind) -> int:
        """The kind's number, a new one for a new kind."""
        if kind not in self._kind_numbers:
            self._kind_numbers[kind] = len(self.kinds)
            self.kinds.append(kind)
        return self._kind_numbers[kind]
