"""What `auto` says of the key page, and how its word and the votes make one verdict.

Not in the papers, which have no answer where a page links nothing that can be loaded. Votes tell
where the content stands, and know nothing of what stands in it; `auto` knows the look of both.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

import numpy as np

from dehusk import _kernel
from dehusk.memory import Memory
from dehusk.methods.auto import Auto
from dehusk.methods.papers.hyperlink.content import shown_text
from dehusk.page.tree import Flags, Floats, Tree

_TEMPLATE: Final = 1
"""What the kernel labels template."""


class PageVerdict(StrEnum):
    """When `auto` has a say."""

    OFF = "off"
    """Never: the papers' method."""
    FEW = "few"
    """Where fewer pages vote than a node needs."""
    ALWAYS = "always"

    def counts(self, voters: int, votes: int) -> bool:
        """Has `auto` a say where so many pages vote, of which so many must have a node?"""
        return self == self.ALWAYS or (self == self.FEW and voters < votes)


def _judge(tree: Tree, pages: Iterable[Tree], model: str | None) -> Floats:
    """The scores of `auto` for a page, once it has learned these pages and the page itself."""
    auto, memory = Auto(model=model), Memory()
    for page in (*pages, tree):
        memory = auto.learn(memory, page)
    return auto.score(memory, tree)


def template_alone(tree: Tree, model: str | None) -> Flags:
    """Which nodes are template by `auto` and the page alone; what is hidden is."""
    return ~tree.shown | _labelled(tree, _judge(tree, (), model))


def template_together(
    tree: Tree, voted: Flags, pages: Iterable[Tree], sure_score: float, model: str | None
) -> Flags:
    """Which nodes are template by the votes, and by `auto` that has learned these pages.

    What was voted for stays template unless `auto` calls it content both with these pages and
    without them; all else stays content unless `auto`, taught, gives it `sure_score` or more.
    What it says nothing of, such as an image without text beside it, stays as voted.
    """
    alone, taught = _judge(tree, (), model), _judge(tree, pages, model)
    is_template = np.where(voted, np.maximum(alone, taught) > 0.5, taught >= sure_score)
    known = np.where(~tree.is_text & np.isnan(taught), voted, np.nan)
    labelled = _labelled(tree, np.where(shown_text(tree), is_template, known))
    # Blank nodes beside the content go with what holds it, which is no reason to call them content.
    labelled |= voted & (tree.text_length == 0)
    return np.asarray(np.where(tree.shown, labelled, voted))


def _labelled(tree: Tree, scores: Floats) -> Flags:
    """What is labelled template where texts and images have these scores."""
    labels, _ = _kernel.label(tree.kernel, np.ascontiguousarray(scores, np.float64))
    return np.asarray(np.frombuffer(labels, np.int8) == _TEMPLATE)
