"""How well a page is cut into sections: groups of leaves, compared by the adjusted Rand index."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dehusk.page import tags
from dehusk.page.tree import Flags, Floats, Tree

Groups = NDArray[Any]
"""A number for each leaf: leaves of one group have the same."""
_IMAGES: Final = tags.numbers("img", "image", "picture", "svg")


def leaves_of(tree: Tree) -> NDArray[np.intp]:
    """The nodes that a reader sees: texts, and images without anything below them."""
    images = _IMAGES[tree.tag] & tree.shown & (tree.end == np.arange(len(tree)) + 1)
    return np.flatnonzero((tree.is_text & (tree.text_length > 0)) | images)


def gold_groups(tree: Tree, is_content: Flags) -> Groups:
    """The group of each leaf: the largest piece around it that is all content or all template.

    These pieces are what people marked for the paper: each as large as can be, together all of the
    page, none inside another.
    """
    leaf = np.zeros(len(tree), np.bool_)
    leaf[leaves_of(tree)] = True
    content, other = _below(tree, leaf & is_content), _below(tree, leaf & ~is_content)
    is_pure = (content == 0) | (other == 0)
    # Of a pure node all below is pure, so the outermost pure one is the piece.
    outermost = is_pure & ~(is_pure[np.maximum(tree.parent, 0)] & (tree.parent >= 0))
    return _nearest(tree, outermost)[leaves_of(tree)]


def section_groups(tree: Tree, sections: NDArray[Any]) -> Groups:
    """The group of each leaf: the section that it is in."""
    return np.asarray(sections[leaves_of(tree)])


def score_groups(tree: Tree, scores: Floats) -> Groups:
    """The group of each leaf without smoothing: pieces of the tree with one and the same score."""
    filled = np.nan_to_num(scores, nan=-1.0)
    begins = filled != filled[np.maximum(tree.parent, 0)]
    begins[0] = True
    return _nearest(tree, begins)[leaves_of(tree)]


def merged_groups(tree: Tree, scores: Floats, delta: float) -> Groups:
    """The group of each leaf if neighbours go together whose scores differ by less than `delta`."""
    own = np.nan_to_num(scores[leaves_of(tree)], nan=-1.0)
    begins = np.abs(np.diff(own, prepend=own[:1])) >= delta
    return np.cumsum(begins)


def adjusted_rand(one: Groups, other: Groups) -> float:
    """How alike two groupings are (Hubert and Arabie 1985): 1 for the same, about 0 by chance.

    Two groupings that leave nothing to chance, such as one group each, are alike if they are equal.
    """
    if len(one) < 2:
        return 1.0
    _, first = np.unique(one, return_inverse=True)
    _, second = np.unique(other, return_inverse=True)
    pairs = np.bincount(first * (int(second.max()) + 1) + second)
    together = float(_choose_two(pairs))
    rows, columns = (float(_choose_two(np.bincount(part))) for part in (first, second))
    expected = rows * columns / float(_choose_two(np.array([len(one)])))
    most = (rows + columns) / 2
    if most == expected:
        return float(together == most)
    return (together - expected) / (most - expected)


def _choose_two(counts: NDArray[Any]) -> Any:
    """How many pairs there are in groups of these sizes."""
    counts = counts.astype(np.float64)
    return (counts * (counts - 1) / 2).sum()


def _below(tree: Tree, marked: Flags) -> NDArray[Any]:
    """How many marked nodes each node has, itself included."""
    total = np.concatenate(([0], np.cumsum(marked)))
    return np.asarray(total[tree.end] - total[:-1])


def _nearest(tree: Tree, marked: Flags) -> NDArray[Any]:
    """Of each node, itself if it is marked, else its nearest marked ancestor, else node 0."""
    up = np.where(marked, np.arange(len(tree)), np.maximum(tree.parent, 0))
    while not np.array_equal(further := up[up], up):
        up = further
    return up
