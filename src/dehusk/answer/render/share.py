"""How much of a page is template."""

from __future__ import annotations

import numpy as np

from dehusk import _kernel
from dehusk.answer.render.nodes import LabelArray
from dehusk.page.tree import Tree


def template_share(tree: Tree, labels: LabelArray) -> float:
    """The share of visible characters that are template, 0 … 1; 0 for a page without text."""
    return _kernel.share(tree.kernel, np.ascontiguousarray(labels))
