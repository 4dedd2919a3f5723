"""The methods `page` and `page-basic`: a page judged by itself, by a model that learned from sites.

PageLevel of Chakrabarti, Kumar and Punera, *Page-level Template Detection via Isotonic Smoothing*,
WWW 2007: with smoothing (`page`, their Smooth) and without (`page-basic`, their Basic).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from dehusk.errors import SettingError
from dehusk.memory import Memory
from dehusk.methods.contract import Smoothing
from dehusk.methods.papers.page.classifier import read_model
from dehusk.methods.papers.page.features import columns, judged
from dehusk.page.layout import layout_of
from dehusk.page.tree import Flags, Floats, Layout, Tree

MIN_AREA: Final = 2000.0
"""Square pixels below which a node is not judged by itself: the paper's value (section 5.3)."""
PENALTIES: Final = ("area", "nodes", "parent")
"""What the cost of a section goes by: the page's area by the node's, which the paper settles on,
the same with numbers of nodes, and the parent's area by the node's."""


@dataclass(frozen=True, slots=True)
class PageBasic:
    """A trained model scores every node of the page by itself; nothing is learned from the site.

    A node under `min_area` has the score of what it stands in.
    """

    model: str = ""
    """A file that `dehusk train page` wrote; empty for the model that ships with dehusk."""
    min_area: float = MIN_AREA

    name = "page-basic"

    def __post_init__(self) -> None:
        _check(self.name, self.model, self.min_area)

    def learn(self, memory: Memory, tree: Tree) -> Memory:  # noqa: ARG002
        """The memory with one page more: no page teaches anything about the next."""
        return memory.after_page()

    def score(self, memory: Memory, tree: Tree) -> Floats:  # noqa: ARG002
        """The probability of each node to be template; nan for what shows no text and no image."""
        return model_scores(tree, self.model, self.min_area)


@dataclass(frozen=True, slots=True)
class PageSmooth:
    """A trained model scores the page's nodes, and smoothing on the tree makes sections of them."""

    model: str = ""
    """A file that `dehusk train page` wrote; empty for the model that ships with dehusk."""
    min_area: float = MIN_AREA
    penalty: float = 0.001
    """The constant c in the cost of a section. The paper has 0.01, found by eye on a few pages. By
    `dehusk bench quality` on four corpora F1 is above that of `page-basic` on each of them from
    0.0002 to 0.001, and best in sum at 0.001; at 0.01 documentation gains and news lose. It moves
    with the length of pages: the ratio of areas grows with it."""
    penalty_by: str = "area"

    name = "page"

    def __post_init__(self) -> None:
        _check(self.name, self.model, self.min_area)
        if not self.penalty >= 0:
            raise SettingError("page: penalty must be at least 0")
        if self.penalty_by not in PENALTIES:
            raise SettingError(f"page: penalty_by is one of {', '.join(PENALTIES)}")

    def learn(self, memory: Memory, tree: Tree) -> Memory:  # noqa: ARG002
        """The memory with one page more: no page teaches anything about the next."""
        return memory.after_page()

    def score(self, memory: Memory, tree: Tree) -> Floats:  # noqa: ARG002
        """The probability of each node to be template; nan for what shows no text and no image."""
        return model_scores(tree, self.model, self.min_area)

    def smoothing(self, memory: Memory, tree: Tree) -> Smoothing:  # noqa: ARG002
        """What a section costs at each node, and which nodes are too small for one."""
        layout = layout_of(tree)
        hidden = hidden_nodes(tree, layout, self.min_area)
        # A node with k hidden children weighs k + 1; what is hidden in these counts no more.
        counts = judged(tree) & ~(hidden & hidden[np.maximum(tree.parent, 0)])
        penalty = self.penalty * _ratios(self.penalty_by, tree, layout)
        return Smoothing(penalty, counts.astype(np.float64), hidden)


def model_scores(tree: Tree, model: str = "", min_area: float = MIN_AREA) -> Floats:
    """The probability of each node to be template, by the page model in this file.

    A node under `min_area` has the score of the nearest node above that is larger; nan for what
    shows neither text nor image.
    """
    layout = layout_of(tree)
    scores = np.full(len(tree), np.nan)
    hidden = hidden_nodes(tree, layout, min_area)
    nodes = np.flatnonzero(~hidden)
    of_nodes = (column[nodes] for column in columns(tree, layout))
    scores[nodes] = read_model(model).scores(of_nodes, layout.area[nodes])
    owner = np.where(hidden, np.maximum(tree.parent, 0), np.arange(len(tree)))
    while not np.array_equal(further := owner[owner], owner):
        owner = further
    return np.where(judged(tree), scores[owner], np.nan)


def hidden_nodes(tree: Tree, layout: Layout, min_area: float = MIN_AREA) -> Flags:
    """The nodes that are too small to be judged by themselves, or show nothing; never node 0."""
    hidden = ~judged(tree) | (layout.area < min_area)
    hidden[0] = False
    return hidden


def _ratios(by: str, tree: Tree, layout: Layout) -> Floats:
    """What the constant is multiplied by: at least 1, large for small nodes."""
    if by == "nodes":
        return len(tree) / (tree.end - np.arange(len(tree)))
    area = np.maximum(layout.area, 1.0)
    whole = area[0] if by == "area" else area[np.maximum(tree.parent, 0)]
    return np.maximum(whole / area, 1.0)


def _check(name: str, model: str, min_area: float) -> None:
    """Raise SettingError for a model that cannot be read, or an impossible area."""
    if not min_area >= 0:
        raise SettingError(f"{name}: min_area must be at least 0")
    if model:
        read_model(model)
