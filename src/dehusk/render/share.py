"""How much of a page is template."""

from __future__ import annotations

from dehusk.model import Label, Tree
from dehusk.render.nodes import LabelArray


def template_share(tree: Tree, labels: LabelArray) -> float:
    """The share of visible characters that are template, 0 … 1; 0 for a page without text."""
    lengths = tree.text_length * tree.is_text
    visible = int(lengths.sum())
    template = int(lengths @ (labels == Label.TEMPLATE.value))
    return template / visible if visible else 0.0
