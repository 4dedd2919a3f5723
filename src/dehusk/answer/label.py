"""Scores to labels: each node is content, template or hidden, and knows why."""

from __future__ import annotations

from typing import Final

import numpy as np

from dehusk.answer.labels import Label, Labels, Reason
from dehusk.kernel import KERNEL
from dehusk.page import tags
from dehusk.page.tree import TREE_PACKING, Choices, Flags, Floats, Ints, Tree

_IMAGES: Final = tags.numbers("img", "svg", "picture", "object", "embed", "input", "image")
_IMAGE_BYTES: Final = _IMAGES.tobytes()
_LABELLED: Final = TREE_PACKING.wanted("parent", "text_length", "tag", "shown")


def label(tree: Tree, scores: Floats, sections: Ints | None = None) -> Labels:
    """The label and the reason of every node.

    Text and images are labelled by their score, template above 0.5. What holds some of these is
    labelled by them: content if any is content. Anything else (rules, empty elements, images that
    the method has no opinion on) goes with what it stands in. A page without a single scored text
    or image is kept whole.
    """
    if KERNEL is not None:
        return _compiled(tree, scores, sections)
    leaf = _leaves(tree) & ~np.isnan(scores)
    is_high = leaf & (scores > 0.5)
    holds_content = _any_below(tree, leaf & ~is_high)
    inner = _any_below(tree, leaf) & ~leaf
    judged = leaf | inner
    source = _nearest(tree, judged)
    is_template = np.where(inner, ~holds_content, is_high)[source]
    labels = np.where(is_template, Label.TEMPLATE.value, Label.CONTENT.value).astype(np.int8)
    labels[~tree.shown] = Label.HIDDEN.value

    reasons = np.where(is_high, Reason.SCORED_TEMPLATE.value, Reason.SCORED_CONTENT.value).astype(
        np.int8
    )
    reasons[inner] = np.where(
        holds_content, Reason.HOLDS_CONTENT.value, Reason.HOLDS_TEMPLATE.value
    )[inner]
    reasons[~judged] = Reason.FOLLOWS_ANCESTOR.value
    reasons[~judged[source]] = Reason.NO_OPINION.value
    reasons[~tree.shown] = Reason.NEVER_SHOWN.value
    return Labels(scores, labels, reasons, sections)


def _compiled(tree: Tree, scores: Floats, sections: Ints | None) -> Labels:
    """The same by the kernel."""
    assert KERNEL is not None
    memory = KERNEL.label(_IMAGE_BYTES, tree.cut(_LABELLED), np.ascontiguousarray(scores))
    nodes = len(memory) // 2
    labels = np.frombuffer(memory, np.int8, nodes)
    return Labels(scores, labels, np.frombuffer(memory, np.int8, nodes, nodes), sections)


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
    total = np.concatenate(([0], np.cumsum(marked)))
    return np.asarray(total[tree.end] > total[:-1])


def _nearest(tree: Tree, judged: Flags) -> Ints:
    """Of each node, itself if it is judged, else its nearest judged ancestor, else node 0."""
    own = np.arange(len(tree), dtype=np.int32)
    up = np.where(judged, own, np.maximum(tree.parent, 0))
    # Each round looks twice as far up, so nine rounds reach the top of a tree 512 deep.
    while not np.array_equal(further := up[up], up):
        up = further
    return up
