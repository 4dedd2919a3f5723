"""Every node and every section of a page with what was found of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dehusk.answer.labels import Label, Labels, Reason
from dehusk.page.tree import Tree


@dataclass(frozen=True, slots=True)
class Node:
    """One node of a page with its verdict."""

    number: int
    """Its place in document order."""
    parent: int
    """Its parent's number; -1 for `<html>`."""
    tag: str
    """'#text' for a text node."""
    text: str | None
    """A text node's text; None for an element."""
    score: float
    """0 content … 1 template, nan for no opinion."""
    label: Label
    reason: Reason


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page that got one score by smoothing; it may contain other sections."""

    node: int
    """The number of the node that it begins with."""
    inside: int | None
    """The node that the section around it begins with; None for the outermost."""
    tag: str
    score: float
    """0 content … 1 template."""
    label: Label
    text: str
    """What is shown in it and in no section inside it, on one line."""


def nodes_of(tree: Tree, found: Labels) -> tuple[Node, ...]:
    """Every node with its score, label and reason, in document order."""
    rows = zip(
        tree.parent.tolist(),
        tree.is_text.tolist(),
        found.scores.tolist(),
        found.labels.tolist(),
        found.reasons.tolist(),
        strict=True,
    )
    return tuple(
        Node(
            number=i,
            parent=parent,
            tag=tree.name(i),
            text=tree.text(i) if is_text else None,
            score=score,
            label=Label(label),
            reason=Reason(reason),
        )
        for i, (parent, is_text, score, label, reason) in enumerate(rows)
    )


def sections_of(tree: Tree, found: Labels) -> tuple[Section, ...] | None:
    """The sections that show a text of their own, in document order; None without smoothing."""
    begins = found.sections
    if begins is None:
        return None
    texts: dict[int, list[str]] = {}
    for node in np.flatnonzero(tree.is_text & (tree.text_length > 0)).tolist():
        texts.setdefault(int(begins[node]), []).extend(tree.text(node).split())
    return tuple(
        Section(
            node=node,
            inside=int(begins[tree.parent[node]]) if node else None,
            tag=tree.name(node),
            score=float(found.scores[node]),
            label=Label.TEMPLATE if found.scores[node] > 0.5 else Label.CONTENT,
            text=" ".join(texts[node]),
        )
        for node in sorted(texts)
    )
