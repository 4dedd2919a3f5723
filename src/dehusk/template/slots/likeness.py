"""Which pages of a site share a template with a page."""

from __future__ import annotations

from typing import Final

import numpy as np

from dehusk.page.tree import Tree

_MIN_LIKENESS: Final = 0.6
"""On sample sites nine in ten pairs of one family have 0.85 and more, nine in ten of two families
0.77 and less. Lower than between them, since pages of the web vary more, and since families that
are taken for one cost little."""

Shape = frozenset[str]
"""The kinds of elements of a page: tag and classes, of each element and of what it stands in."""


def shape_of(tree: Tree) -> Shape:
    """The kinds of elements that show text on a page."""
    kinds: dict[int, str] = {}
    for node in np.flatnonzero(~tree.is_text & tree.shown & (tree.text_length > 0)).tolist():
        kinds[node] = f"{tree.name(node)} {tree.attributes(node).get('class', '')}"
    return frozenset(
        f"{kinds.get(int(tree.parent[node]), '')}/{kind}" for node, kind in kinds.items()
    )


def is_alike(one: Shape, other: Shape) -> bool:
    """Are pages of these shapes of one family? By the share of kinds that both have."""
    return len(one & other) >= _MIN_LIKENESS * len(one | other)
