"""The boxes that a browser measured, node by node of a tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dehusk.page.page import Boxes
from dehusk.page.tree import Floats, Layout, Tree


def layout_of(tree: Tree, boxes: Boxes) -> Layout | None:
    """The layout of the tree that the boxes belong to; None where its elements are others.

    The boxes were numbered on a tree with one more attribute on every element. A parser tells
    apart by it what it otherwise takes for one: from the fourth unclosed <b> on, for example. A
    text that the browser does not know has the box of what it stands in.
    """
    is_element = ~tree.is_text
    if int(is_element.sum()) != len(boxes.elements):
        return None
    rank = np.cumsum(is_element) - 1
    found = np.full((len(tree), 4), np.nan)
    found[is_element] = boxes.elements
    texts = np.flatnonzero(tree.is_text)
    element = rank[tree.parent[texts]]
    place = _places(element)
    count = np.bincount(element, minlength=len(boxes.elements))
    is_known = boxes.text_count[element] == count[element]
    found[texts[is_known]] = boxes.texts[(boxes.first_text[element] + place)[is_known]]
    x, y, width, height = _with_parents(found, tree).T
    return Layout(x, y, width, height, is_estimate=False)


def _places(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of each item: how many of its group come before it."""
    order = np.argsort(groups, kind="stable")
    counts = np.bincount(groups)
    first = np.cumsum(counts) - counts
    places = np.empty(len(groups), np.int64)
    places[order] = np.arange(len(groups)) - first[groups[order]]
    return places


def _with_parents(boxes: Floats, tree: Tree) -> Floats:
    """The boxes, those that are not known taken from the next known node above."""
    boxes = boxes.copy()
    boxes[0] = np.nan_to_num(boxes[0])
    while True:
        unknown = np.flatnonzero(np.isnan(boxes[:, 0]))
        if not len(unknown):
            return boxes
        boxes[unknown] = boxes[tree.parent[unknown]]
