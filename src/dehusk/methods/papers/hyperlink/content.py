"""The main content of a page: where the text stands that other pages do not repeat.

Not in the thesis, which leaves it to future work to take the main content out. Here what other
pages repeat is taken out first, and the content is looked for in what is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dehusk.page.tree import Flags, Ints, Tree

Longs = NDArray[np.int64]

_TEXT_WEIGHT: Final = 5
"""What new text counts for each character, against 1 in links, which are seldom content. Whole
numbers, so that sums are exact."""
_MAX_OWN_SHARE: Final = 0.5
"""The share of an element's new text that may stand in it directly."""
_MIN_FRAME_SHARE: Final = 0.95
"""The share of repeated text and links from which a block at the border of the main content is
not part of it."""
_MIN_REPEATED_SHARE: Final = 0.2
"""What of that must be repeated: a list of links alone may be content."""


@dataclass(frozen=True, slots=True)
class Shares:
    """The share of a page's new text that an element must hold to hold the main content."""

    content: float
    """Where other pages agree. Above 0.5, so that the elements with such a share stand in each
    other."""
    sure: float
    """Whatever other pages look like."""


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """The shown text of a page: what of it other pages repeat, and what is new."""

    tree: Tree
    leaf: Flags
    """Shown text nodes that are not white space."""
    repeated: Flags
    """Those of them whose text stands on enough other pages."""

    @property
    def new(self) -> Longs:
        """How much new text there is in each node: its length, links counting less."""
        weight = np.where(self.tree.link_length > 0, 1, _TEXT_WEIGHT)
        is_new = self.leaf & ~self.repeated
        return self.tree.sums(np.where(is_new, weight * self.tree.text_length, 0))


def shown_text(tree: Tree) -> Flags:
    """True for text nodes that a reader can see."""
    return np.asarray(tree.is_text & tree.shown & (tree.text_length > 0))


def compare_texts(pages: Sequence[Tree], votes: int) -> list[Text]:
    """The text of each page, compared with that of all others."""
    leaves = [shown_text(tree) for tree in pages]
    hashes = [np.unique(tree.own_hash[leaf]) for tree, leaf in zip(pages, leaves, strict=True)]
    found = []
    for place, (tree, leaf) in enumerate(zip(pages, leaves, strict=True)):
        others = hashes[:place] + hashes[place + 1 :]
        count = np.zeros(len(tree), np.int32)
        for other in others:
            count += np.isin(tree.own_hash, other)
        needed = max(min(votes, len(others)), 1)
        found.append(Text(tree, leaf, np.asarray(leaf & (count >= needed))))
    return found


def text_alone(tree: Tree) -> Text:
    """The text of a page that is compared with no other: links are taken for what repeats."""
    leaf = shown_text(tree)
    return Text(tree, leaf, np.asarray(leaf & (tree.link_length > 0)))


def main_content(key: Text, others: Sequence[Text], votes: int, shares: Shares) -> Flags:
    """True for the nodes of the key page's main content.

    The deepest element that holds most of the page's new text, as long as other pages, `votes` of
    them, hold theirs in the same way; without the blocks at its borders that repeat or link.
    Nothing on a page without new text.
    """
    inside = np.zeros(len(key.tree), np.bool_)
    new = key.new
    spine = _spine(key.tree, new, shares.content)
    if not len(spine):
        return inside
    spines = [(other.tree, _spine(other.tree, other.new, shares.content)) for other in others]
    alike = sorted((_count_alike(key.tree, spine, *other) for other in spines), reverse=True)
    agreed = alike[min(votes, len(alike)) - 1] if alike else len(spine)
    sure = int(np.count_nonzero(new[spine] >= shares.sure * new[0]))
    region = int(spine[max(agreed, sure) - 1])
    inside[region : key.tree.end[region]] = True
    for block in _frame(key, region).tolist():
        inside[block : key.tree.end[block]] = False
    return inside


def _spine(tree: Tree, new: Longs, share: float) -> Ints:
    """The elements that hold that share of the new text, from `<html>` down, one in another.

    Without those whose own text is most of it: a paragraph is part of the content, not its place.
    """
    if not new[0]:
        return np.empty(0, np.int32)
    spine = np.flatnonzero(~tree.is_text & (new >= share * new[0]))
    own = np.bincount(tree.parent[1:], np.where(tree.is_text, new, 0)[1:], minlength=len(tree))
    is_place = np.logical_and.accumulate(own[spine] <= _MAX_OWN_SHARE * new[spine])
    return spine[is_place].astype(np.int32)


def _count_alike(tree: Tree, spine: Ints, other: Tree, other_spine: Ints) -> int:
    """How many elements of two pages' spines are alike, from the top on.

    Tags are compared, not classes: those of `body` often name the page.
    """
    count = 0
    for one, another in zip(spine.tolist(), other_spine.tolist(), strict=False):
        if tree.name(one) != other.name(another):
            break
        count += 1
    return count


def _frame(text: Text, region: int) -> Ints:
    """The children at the start and at the end of the region that repeat or link, or are empty."""
    tree = text.tree
    children = np.flatnonzero(tree.parent == region).astype(np.int32)
    length = np.where(text.leaf, tree.text_length, 0).astype(np.int64)
    whole = tree.sums(length)[children]
    repeated = tree.sums(np.where(text.repeated, length, 0))[children]
    frame = tree.sums(np.where(text.repeated | (tree.link_length > 0), length, 0))[children]
    is_frame = (frame >= _MIN_FRAME_SHARE * whole) & (repeated >= _MIN_REPEATED_SHARE * whole)
    at_start = np.logical_and.accumulate(is_frame)
    at_end = np.logical_and.accumulate(is_frame[::-1])[::-1]
    return children[at_start | at_end]
