"""Scores to labels: what each node is, content, template or hidden, and why."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dehusk import _kernel
from dehusk.page import tags
from dehusk.page.tree import Choices, Flags, Floats, Ints, Tree

LabelArray = NDArray[np.int8]
"""Of each node the number of its `Label`."""


class Label(IntEnum):
    """What a node is. The numbers are those of the label arrays.

    Arrays are compared with a member's `value`: of a member itself numpy asks for attributes, and
    a Ctrl-C that comes while it asks is lost.
    """

    CONTENT = 0
    TEMPLATE = 1
    HIDDEN = 2
    """Never shown, so neither."""


class Reason(IntEnum):
    """Why a node has its label."""

    SCORED_CONTENT = 0
    """Its score is 0.5 or less."""
    SCORED_TEMPLATE = 1
    """Its score is above 0.5."""
    FOLLOWS_ANCESTOR = 2
    """Nothing about it was judged; it goes with what it stands in."""
    NO_OPINION = 3
    """Nothing on the page was judged: kept."""
    HOLDS_CONTENT = 4
    """Something below it is content."""
    HOLDS_TEMPLATE = 5
    """All that can be seen below it is template."""
    NEVER_SHOWN = 6
    """A browser does not show it."""
    KEPT = 7
    """The user keeps it."""
    DROPPED = 8
    """The user drops it."""

    @property
    def words(self) -> str:
        """The reason for people to read."""
        by_user = {Reason.KEPT: "your rule keeps it", Reason.DROPPED: "your rule drops it"}
        return by_user.get(self) or self.name.lower().replace("_", " ")


class Labels(Struct, frozen=True, eq=False):
    """The verdict on every node of a tree: score, label and reason, in document order."""

    scores: Floats
    """0 content … 1 template, nan for no opinion."""
    labels: NDArray[np.int8]
    """Numbers of `Label`."""
    reasons: NDArray[np.int8]
    """Numbers of `Reason`."""
    sections: Ints | None = None
    """Of each node the node that its section begins with; None from a method without smoothing."""


_IMAGES: Final = tags.numbers(*tags.IMAGE)


def label(tree: Tree, scores: Floats, sections: Ints | None = None) -> Labels:
    """The label and the reason of every node.

    Text and images are labelled by their score, template above 0.5. What holds some of these is
    labelled by them: content if any is content. Anything else (rules, empty elements, images that
    the method has no opinion on) goes with what it stands in. A page without a single scored text
    or image is kept whole.
    """
    labels, reasons = _kernel.label(tree.kernel, np.ascontiguousarray(scores))
    return Labels(scores, np.frombuffer(labels, np.int8), np.frombuffer(reasons, np.int8), sections)


def overrule(tree: Tree, labels: Labels, choices: Choices) -> Labels:
    """The labels with what the user chose in their place, down to each text and image.

    What holds some of these is labelled by them again: content if any is content. What is never
    shown stays hidden.
    """
    leaf = _leaves(tree)
    chosen = choices >= 0
    verdict = np.where(chosen, choices, labels.labels)
    holds_content = _any_below(tree, leaf & (verdict == Label.CONTENT.value))
    inner = _any_below(tree, leaf) & ~leaf
    judged = leaf | inner | chosen
    verdict = np.where(
        inner, np.where(holds_content, Label.CONTENT.value, Label.TEMPLATE.value), verdict
    )
    after = np.where(judged, verdict, verdict[_nearest(tree, judged)]).astype(np.int8)
    after[~tree.shown] = Label.HIDDEN.value

    reasons = labels.reasons.copy()
    turned = inner & (after != labels.labels)
    reasons[turned] = np.where(
        holds_content, Reason.HOLDS_CONTENT.value, Reason.HOLDS_TEMPLATE.value
    )[turned]
    for label, reason in (
        (Label.CONTENT.value, Reason.KEPT.value),
        (Label.TEMPLATE.value, Reason.DROPPED.value),
    ):
        reasons[(choices == label) & (after == label)] = reason
    against = chosen & (after != choices)
    reasons[against] = np.where(
        holds_content, Reason.HOLDS_CONTENT.value, Reason.HOLDS_TEMPLATE.value
    )[against]
    reasons[~tree.shown] = Reason.NEVER_SHOWN.value
    return Labels(labels.scores, after, reasons, labels.sections)


def _leaves(tree: Tree) -> Flags:
    """What a reader sees: shown text that is not white space, and images."""
    text = tree.is_text & (tree.text_length > 0)
    return np.asarray((text | _IMAGES[tree.tag]) & tree.shown)


def _any_below(tree: Tree, marked: Flags) -> Flags:
    """True for nodes that are marked, or have a marked one below them."""
    return np.asarray(tree.sums(marked) > 0)


def _nearest(tree: Tree, judged: Flags) -> Ints:
    """Of each node, itself if it is judged, else its nearest judged ancestor, else node 0."""
    own = np.arange(len(tree), dtype=np.int32)
    up = np.where(judged, own, np.maximum(tree.parent, 0))
    # Each round looks twice as far up, so nine rounds reach the top of a tree 512 deep.
    while not np.array_equal(further := up[up], up):
        up = further
    return up
