"""How much the pages of a site differ at each element of their style tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from dehusk.memory import Table
from dehusk.methods.papers.style_tree.keys import (
    KIND,
    KIND_BITS,
    Places,
    find,
    group_starts,
    ranges,
)
from dehusk.page.hashing import Hashes
from dehusk.page.tree import Flags, Floats

_ROUNDS: Final = 10
"""Each round looks twice as far up, so that ten reach the top of a tree 512 deep."""


@dataclass(frozen=True, slots=True, eq=False)
class Elements:
    """The elements of a style tree that are on more than one page, by key.

    What is on one page has importance 1, with all below it, and need not be looked at.
    """

    key: Hashes
    pages: Floats
    """m."""
    styles: Floats
    """l."""
    node_importance: Floats
    is_leaf: Flags
    lone: Floats
    """The share of the pages that have a style of their own, and children in it."""
    parent: Places
    """The element above, or -1."""
    weight: Floats
    """What the element's importance counts for in its parent's: p / children, of its style."""


def shared_elements(styles: Table) -> Elements:
    """The elements that more than one page has: -Σ p·log p / log m over the styles of each."""
    starts = group_starts(styles.keys >> KIND_BITS)
    is_single = starts & np.append(starts[1:], np.True_)[: len(starts)] & (styles.count == 1)
    row = np.flatnonzero(~is_single)
    starts, keys, count = starts[row], styles.keys[row], styles.count[row].astype(np.float64)
    first, element = np.flatnonzero(starts), np.cumsum(starts) - 1
    own = np.diff(np.append(first, len(row))).astype(np.float64)
    pages = np.bincount(element, count).astype(np.float64)
    certain = np.bincount(element, count * np.log(count)) / (pages * np.log(pages))
    has_children = (keys & KIND) != 0
    lone = np.bincount(element, (count == 1) & has_children) / pages

    owner = np.empty(0, np.uint64) if styles.owner is None else styles.owner[row[first]]
    above, is_below = find(keys, owner)
    children = np.bincount(above[is_below], minlength=len(keys) + 1)
    parent = np.where(is_below, np.append(element, -1)[above], -1)
    share = np.append(count, 0.0)[above] / np.append(pages, 1.0)[parent]
    return Elements(
        keys[first] >> KIND_BITS, pages, own, np.clip(1 - certain, 0, 1),
        is_leaf=np.bincount(element, has_children) == 0,
        lone=lone,
        parent=parent,
        weight=share / np.maximum(children[above], 1),
    )  # fmt: skip


def leaf_importance(elements: Elements, features: Table) -> Floats:
    """1 - Σ H(a) / l over the features a of each element, with H(a) = log(pages of a) / log m.

    0 for an element that has none.
    """
    low, high = ranges(features, elements.key)
    total = np.append(0.0, np.cumsum(np.log(features.count)))
    entropy = (total[high] - total[low]) / np.log(elements.pages)
    mean = entropy / np.maximum(high - low, 1)
    # A difference of running sums is not exact, and contents that never vary must come out as 0.
    return np.where(high > low, np.round(np.clip(1 - mean, 0, 1), 6), 0.0)


def composite_importance(
    elements: Elements, leaves: Floats, attenuation: float
) -> tuple[Floats, Floats]:
    """Of each element: (1 - γ^l)·node importance + γ^l·Σ p·(mean of a style's children).

    And the highest such value of the element and all below it.
    """
    own = attenuation**elements.styles
    below, highest = elements.lone.copy(), (elements.lone > 0).astype(np.float64)
    composite = np.zeros(len(leaves))
    for level in _levels(elements.parent):
        inner = (1 - own[level]) * elements.node_importance[level] + own[level] * below[level]
        composite[level] = np.clip(np.where(elements.is_leaf[level], leaves[level], inner), 0, 1)
        highest[level] = np.maximum(highest[level], composite[level])
        child = level[elements.parent[level] >= 0]
        above = elements.parent[child]
        np.add.at(below, above, composite[child] * elements.weight[child])
        np.maximum.at(highest, above, highest[child])
    return composite, highest


def _levels(parent: Places) -> Iterator[Places]:
    """The elements of each depth, the deepest first."""
    up = np.where(parent < 0, np.arange(len(parent)), parent)
    depth = (parent >= 0).astype(np.int64)
    for _ in range(_ROUNDS):
        depth, up = depth + depth[up], up[up]
    order = np.argsort(-depth, kind="stable")
    yield from np.split(order, np.flatnonzero(np.diff(depth[order])) + 1)
