"""How much of a page is template."""

from __future__ import annotations

from typing import Final

import numpy as np

from dehusk.answer.labels import Label
from dehusk.answer.render.nodes import LabelArray
from dehusk.kernel import KERNEL
from dehusk.page import tags
from dehusk.page.tree import TREE_PACKING, Tree

_COUNTED: Final = TREE_PACKING.wanted("tag", "text_length")


def template_share(tree: Tree, labels: LabelArray) -> float:
    """The share of visible characters that are template, 0 … 1; 0 for a page without text."""
    if KERNEL is not None:
        template, shown = KERNEL.share(tree.cut(_COUNTED), np.ascontiguousarray(labels))
        return template / shown if shown else 0.0
    visible = int(tree.text_length[0]) if len(tree) else 0
    is_template = (tree.tag == tags.TEXT) & (labels == Label.TEMPLATE.value)
    return int(tree.text_length[is_template].sum()) / visible if visible else 0.0
