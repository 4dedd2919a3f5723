"""Pages vote on the nodes of the key page: each for those that it has as well."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from dehusk.methods.papers.hyperlink.content import shown_text
from dehusk.methods.papers.hyperlink.mapping import Mapper
from dehusk.page.hashing import Hashes
from dehusk.page.tree import Flags, Floats, Ints, Tree

_MIN_MOVED_NODES: Final = 4
"""Nodes, white space aside, from which an equal subtree is the same wherever it stands; fewer
(`<li><a>Home</a></li>`) come back by chance."""
_MAX_MISSED_SHARE: Final = 0.5
"""A page that lacks more than this of what all others have follows another template."""
_MIN_JURY: Final = 3
"""Of two pages that differ nobody can say which is the atypical one."""


def mapped_nodes(mapper: Mapper, key: Tree, page: Tree, *, moved: bool) -> Flags:
    """The nodes of the key page that map to nodes of the page (Algorithm 3).

    With `moved` also the subtrees whose equal stands elsewhere on the page, mapped to nothing.
    """
    target = mapper.map(page)
    mapped = target >= 0
    if moved:
        free = np.ones(len(page), np.bool_)
        free[target[mapped]] = False
        mapped = mapped | _moved(key, ~mapped, page.subtree_hash[free])
    return np.asarray(mapped)


def _moved(key: Tree, left: Flags, free: Hashes) -> Flags:
    """The nodes of subtrees that are among the free ones, by hash."""
    size = key.sums(key.own_hash != 0)
    found = left & key.shown & (size >= _MIN_MOVED_NODES) & np.isin(key.subtree_hash, free)
    return _covered(key, found)


def _covered(tree: Tree, marked: Flags) -> Flags:
    """True for the marked nodes and all below them."""
    steps = np.zeros(len(tree) + 1, np.int32)
    steps[:-1] += marked
    np.add.at(steps, tree.end[marked], -1)
    return np.asarray(np.cumsum(steps[:-1]) > 0)


def same_nodes(key: Tree, page: Tree) -> Flags:
    """The nodes of the key page that the page has too, by what can be read.

    A subtree is the same wherever it stands if tags and text are; a wrapper also if all the text
    that it wraps stands on the page. The root always is.
    """
    same = key.shown & np.isin(key.subtree_hash, page.subtree_hash)
    leaf = shown_text(key)
    known = leaf & np.isin(key.own_hash, page.own_hash[shown_text(page)])
    count = key.sums(leaf)
    same |= (count > 0) & (key.sums(known) == count)
    same[0] = True
    return np.asarray(same)


def holds_any(tree: Tree, marked: Flags) -> Flags:
    """True for nodes that are marked, or have a marked one below them."""
    return np.asarray(tree.sums(marked) > 0)


def find_atypical(ballots: Sequence[Flags]) -> int | None:
    """The place of the page that lacks most of what all others have; None if none lacks much.

    'If there are several nodes that match with high probability in all webpages but one (always
    the same), this webpage will probably implement a different template' (thesis, chapter 8).
    """
    if len(ballots) < _MIN_JURY:
        return None
    votes = count_votes(ballots)
    missed = []
    for ballot in ballots:
        common = votes - ballot == len(ballots) - 1
        missed.append(np.count_nonzero(common & ~ballot) / max(1, int(np.count_nonzero(common))))
    worst = int(np.argmax(missed))
    return worst if missed[worst] > _MAX_MISSED_SHARE else None


def count_votes(ballots: Sequence[Flags]) -> Ints:
    """How many pages have each node."""
    return np.asarray(np.sum(ballots, axis=0, dtype=np.int32))


def make_scores(tree: Tree, votes: Ints, voters: int, is_template: Flags) -> Floats:
    """A score for each node: above 0.5 for template, and the farther from it the more votes say so.

    nan where nothing is shown.
    """
    share = votes / (1.0 + voters)
    scores = np.where(is_template, 0.5 + 0.5 * (share + 1.0 / (1.0 + voters)), 0.5 * share)
    return np.where(tree.shown, scores, np.nan)
