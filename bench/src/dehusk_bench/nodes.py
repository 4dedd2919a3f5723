"""Template quality per node: which elements are template by the gold, and by the labels.

Only elements count, and of these only such as carry or enclose shown text or an image. The gold
says nothing of others: were they counted, a line break that a menu takes with it would be an error
in a labelling without errors.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dehusk.answer.labels import Label
from dehusk.page import tags
from dehusk.page.tree import Flags, Ints, Tree
from dehusk_bench.scoring import Score, score

Path = Sequence[int]
"""Child positions among elements, from `<html>` down. The empty path is `<html>` itself."""

_IMAGE: Final = tags.numbers("img", "image", "picture", "svg")


@dataclass(frozen=True, slots=True, eq=False)
class NodeGold:
    """The gold of a page's nodes, in document order."""

    judged: Flags
    """Elements that carry or enclose shown text or an image."""
    template: Flags
    """Judged elements neither inside nor above the content, and those left out of it."""
    above: Flags
    """Judged elements that hold content and are not in it."""


def node_gold(tree: Tree, content: Iterable[Path], excluded: Iterable[Path]) -> NodeGold | None:
    """The gold of every node; None where a path leads nowhere in the tree.

    `content` are the paths of the content's roots, `excluded` those of elements inside that are
    template, with all that is below them.
    """
    content, excluded = list(content), list(excluded)
    found = _resolve(tree, content + excluded)
    if found is None:
        return None
    roots, dropped = found[: len(content)], found[len(content) :]
    judged = _judged(tree)
    inside = _inside(tree, roots) & ~_inside(tree, dropped)
    above = _holds(tree, _marks(tree, roots)) & ~_inside(tree, roots)
    return NodeGold(judged, judged & ~inside & ~above, judged & above)


def nodes_inside(tree: Tree, content: Iterable[Path], excluded: Iterable[Path]) -> Flags | None:
    """True for the content's roots and all below them; None where a path leads nowhere.

    What is `excluded` is not inside, nor what is below it.
    """
    content, excluded = list(content), list(excluded)
    found = _resolve(tree, content + excluded)
    if found is None:
        return None
    roots, dropped = found[: len(content)], found[len(content) :]
    return np.asarray(_inside(tree, roots) & ~_inside(tree, dropped))


def template_score(gold: NodeGold, tree: Tree, labels: NDArray[np.int8]) -> Score:
    """The score of the elements that are called template."""
    return _score(gold.template, gold.judged & _called(tree, labels))


def teco_score(gold: NodeGold, tree: Tree, labels: NDArray[np.int8]) -> Score:
    """The score by the rule of the TECO suite, by which what stands above the content is template.

    Labels call such an element content, because it holds some. Here it counts as called template
    if it holds both.
    """
    holds_template = _holds(tree, gold.judged & _called(tree, labels))
    return _score(gold.template | gold.above, gold.judged & holds_template)


def wrong_share(gold: NodeGold, tree: Tree, labels: NDArray[np.int8]) -> float:
    """The share of the judged elements that are called template; 0 if there are none.

    For pages without template, where it is the share of errors.
    """
    called = _count(gold.judged & _called(tree, labels))
    return called / max(_count(gold.judged), 1)


def _score(gold: Flags, called: Flags) -> Score:
    """The score of what is called template against what is."""
    return score(_count(gold & called), _count(gold), _count(called))


def _count(flags: Flags) -> int:
    """How many are true."""
    return int(np.count_nonzero(flags))


def _called(tree: Tree, labels: NDArray[np.int8]) -> Flags:
    """The elements that are called template."""
    return np.asarray(~tree.is_text & (labels == Label.TEMPLATE.value))


def _judged(tree: Tree) -> Flags:
    """Elements that carry or enclose shown text or an image."""
    images = _holds(tree, _IMAGE[tree.tag] & tree.shown)
    return np.asarray(~tree.is_text & tree.shown & ((tree.text_length > 0) | images))


def _resolve(tree: Tree, paths: Sequence[Path]) -> Ints | None:
    """The node that each path leads to; None if one leads nowhere."""
    elements = np.flatnonzero(~tree.is_text)
    by_parent = elements[np.argsort(tree.parent[elements], kind="stable")]
    bounds = np.searchsorted(tree.parent[by_parent], np.arange(len(tree) + 1))
    found = np.zeros(len(paths), np.int32)
    for number, path in enumerate(paths):
        node = 0
        for position in path:
            place = int(bounds[node]) + position
            if position < 0 or place >= bounds[node + 1]:
                return None
            node = int(by_parent[place])
        found[number] = node
    return found


def _marks(tree: Tree, nodes: Ints) -> Flags:
    """True for these nodes."""
    marks = np.zeros(len(tree), np.bool_)
    marks[nodes] = True
    return marks


def _inside(tree: Tree, nodes: Ints) -> Flags:
    """True for these nodes and all below them."""
    steps = np.zeros(len(tree) + 1, np.int32)
    np.add.at(steps, nodes, 1)
    np.add.at(steps, tree.end[nodes], -1)
    return np.asarray(np.cumsum(steps[:-1]) > 0)


def _holds(tree: Tree, marked: Flags) -> Flags:
    """True for nodes that are marked, or have a marked one below them."""
    total = np.concatenate(([0], np.cumsum(marked)))
    return np.asarray(total[tree.end] > total[:-1])
