"""How much of a page is template."""

from __future__ import annotations

from dehusk import tags
from dehusk.model import Label, Tree
from dehusk.render.nodes import LabelArray


def template_share(tree: Tree, labels: LabelArray) -> float:
    """The share of visible characters that are template, 0 … 1; 0 for a page without text."""
    visible = int(tree.text_length[0]) if len(tree) else 0
    is_template = (tree.tag == tags.TEXT) & (labels == Label.TEMPLATE.value)
    return int(tree.text_length[is_template].sum()) / visible if visible else 0.0
