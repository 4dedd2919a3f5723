"""The links of a page, absolute, each with the label of its element."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dehusk import _kernel
from dehusk.answer.render.nodes import LabelArray
from dehusk.page.tree import Tree
from dehusk.page.urls import base_of


@dataclass(frozen=True, slots=True)
class Link:
    """One link of a page: where it leads, what it says, and whether it belongs to the template."""

    url: str
    text: str
    template: bool


def links(tree: Tree, labels: LabelArray, base_url: str | None) -> tuple[Link, ...]:
    """Every shown link that leads somewhere, in document order.

    The text of a link without words is the alternative text of its images. Where links are nested,
    which HTML forbids, text belongs to the innermost.
    """
    base = base_of(tree, base_url)
    # The base is asked about addresses that are not simple.
    return tuple(
        _kernel.links(tree.kernel, np.ascontiguousarray(labels), base.begins(), base.absolute, Link)
    )
