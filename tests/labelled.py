"""Labels for trees of tests."""

from __future__ import annotations

import numpy as np

from dehusk.answer.labels import Label, LabelArray
from dehusk.page.tree import Tree


def all_content(tree: Tree) -> LabelArray:
    """Labels by which all that is shown is content."""
    return np.where(tree.shown, Label.CONTENT, Label.HIDDEN).astype(np.int8)
