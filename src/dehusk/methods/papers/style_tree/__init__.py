"""The method `style-tree`: the Site Style Tree, and how much its styles and contents vary.

After Yi, Liu and Li, *Eliminating Noisy Information in Web Pages for Data Mining*, KDD 2003.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from dehusk.errors import SettingError
from dehusk.memory import Memory, Table
from dehusk.methods.papers.style_tree.importance import (
    composite_importance,
    leaf_importance,
    shared_elements,
)
from dehusk.methods.papers.style_tree.keys import (
    KIND_BITS,
    find,
    group_starts,
    place_in_group,
    ranges,
)
from dehusk.methods.papers.style_tree.places import features_of, place
from dehusk.page.tree import Floats, Tree

_TRIMMED: Final = 0.75
"""The share of `max_keys` that is kept where it is exceeded, so that this is rare."""
_EDGE: Final = 0.51
"""The score of what is just template."""


@dataclass(frozen=True, slots=True)
class StyleTree:
    """Where the site's pages look alike and say the same, they are template.

    The pages of a site are merged into one tree. An element of it holds style nodes: the sequences
    of children that pages have there, each with the number of its pages. An element is the same on
    two pages if it stands at the same place in the same style node. Its composite importance is
    near 0 where all pages have the same style and the same contents, 1 where each has its own (or
    there is but one). An element is template if its importance, and that of all below it, is at
    most `threshold`.

    Decided here, where the paper is open or speaks of a batch of pages:

    * A page is learned, then mapped onto the tree, so it always fits; what only it has is content.
    * Noise is what is at most t with *all* that is below it. Were an element enough, its content
      would go with it: content F1 0.42 instead of 0.91 on ten sites.
    * Hidden elements and white space are left out: else a script more or less would part two pages.
    * Elements are told apart by tags. The paper adds attributes of presentation; with `class` in
      their place neither measure gains (0.01 less for template elements).
    * A feature counts once a page, so that its entropy over the pages is log(pages) / log(m). Link
      targets are features of what is in the link, as written; images go by file name.
    * An element without any feature has importance 0, like a style without children.
    * Of a leaf's features a sample is kept, those with the lowest hashes. It stays a fair sample of
      all that were ever there, whatever comes, and two memories add up to the same sample.

    The memory holds two tables and no text: style nodes, 24 bytes each, and features, 16 each.
    Above `max_keys` the elements with the fewest pages go, the longest unseen first, with all that
    belongs to them; they count as new if they come back.
    """

    threshold: float = 0.2
    """t, which the paper finds by hand for each site. Here by `dehusk bench quality
    docs-dev.jsonl.xz --sites 20 --method style-tree:threshold=0.1` and so on from 0 to 0.9: content
    F1 is 0.926 at 0.1, 0.925 at 0.2, then falls slowly (0.917 at 0.5, 0.905 at 0.9), while the F1
    of template elements rises (0.43, 0.45, 0.48, 0.58)."""
    attenuation: float = 0.9
    """γ, from the paper: how fast an element's own styles outweigh what is in them."""
    link_targets: bool = True
    """False leaves link targets out. Links such as 'edit this page' or 'next' lead elsewhere on
    each page; without their targets the F1 of template elements is 0.63 instead of 0.45."""
    max_features: int = 32
    """Features kept for a leaf. From 16 to 1,000 no measure moves by 0.001."""
    max_keys: int = 400_000
    """Rows of both tables together."""

    name = "style-tree"

    def __post_init__(self) -> None:
        if not 0 <= self.threshold < 1:
            raise SettingError("style-tree: threshold must be from 0 to below 1")
        if not 0 <= self.attenuation <= 1:
            raise SettingError("style-tree: attenuation must be from 0 to 1")
        if self.max_features < 1 or self.max_keys < 1:
            raise SettingError("style-tree: max_features and max_keys must be at least 1")

    def learn(self, memory: Memory, tree: Tree) -> Memory:
        """The memory with this page merged into the style tree."""
        return self.limit(memory.then(self.lesson(tree)))

    def lesson(self, tree: Tree) -> Memory:
        """What this page alone teaches: its elements' styles and features, each counted once."""
        placed = place(tree)
        keys = features_of(tree, placed, link_targets=self.link_targets)
        styles = Table.of_page(placed.style, owner=placed.owner)
        return Memory.of_page(styles=styles, features=Table.of_page(keys))

    def limit(self, memory: Memory) -> Memory:
        """The memory with no more features of an element, and no more rows, than are allowed."""
        features = _sampled(memory.table("features"), self.max_features)
        styles, features = _trimmed(memory.table("styles"), features, self.max_keys)
        return memory.with_tables(styles=styles, features=features)

    def score(self, memory: Memory, tree: Tree) -> Floats:
        """1 for importance 0, above 0.5 up to `threshold`, 0 for importance 1.

        The importance of a node and all below it counts, the highest. nan for white space and for
        what is not shown.
        """
        highest, threshold = self.importance(memory, tree).highest, self.threshold
        below = 1 - (1 - _EDGE) * highest / max(threshold, np.finfo(float).tiny)
        above = 0.5 * (1 - highest) / (1 - threshold)
        return np.where(highest > threshold, above, below)

    def importance(self, memory: Memory, tree: Tree) -> Importance:
        """What the style tree says of each node of a page."""
        placed = place(tree)
        elements = shared_elements(memory.table("styles"))
        leaves = leaf_importance(elements, memory.table("features"))
        composite, highest = composite_importance(elements, leaves, self.attenuation)
        at, is_shared = find(elements.key, placed.style >> KIND_BITS)

        def spread(values: Floats) -> Floats:
            whole = np.full(len(tree), np.nan)
            whole[placed.node] = np.where(is_shared, np.append(values, 1.0)[at], 1.0)
            return whole

        return Importance(spread(elements.node_importance), spread(composite), spread(highest))


@dataclass(frozen=True, slots=True, eq=False)
class Importance:
    """How much the pages of a site differ at each node of one of them, 0 … 1.

    1 for what only this page has; nan for white space and for what is not shown.
    """

    node: Floats
    """Of the element's styles alone."""
    composite: Floats
    """Of its styles and what is in them; of a leaf, of its contents."""
    highest: Floats
    """The highest composite importance of the element and all below it, on any page."""


def _sampled(features: Table, max_features: int) -> Table:
    """The features with, for each element, only those of the lowest hashes."""
    starts = group_starts(features.keys >> KIND_BITS)
    return features.only(np.asarray(place_in_group(starts) < max_features))


def _trimmed(styles: Table, features: Table, max_keys: int) -> tuple[Table, Table]:
    """The tables without their least elements, where they have more rows than allowed.

    A style node is never on more pages than the one it stands in, nor later, so that what goes
    first is what stands lowest.
    """
    if len(styles) + len(features) <= max_keys:
        return styles, features
    low, high = ranges(features, styles.keys >> KIND_BITS)
    order = np.lexsort((styles.keys, ~styles.last, ~styles.count))
    rows = np.cumsum((1 + high - low)[order])
    kept = np.zeros(len(styles), np.bool_)
    kept[order[rows <= _TRIMMED * max_keys]] = True
    styles = styles.only(kept)
    _, is_held = find(styles.keys >> KIND_BITS, features.keys >> KIND_BITS)
    return styles, features.only(is_held)
