"""What Markdown must know of a page before it is planned: its images, and links to headings."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from dehusk.answer.labels import Label
from dehusk.answer.render.nodes import LabelArray
from dehusk.kernel import KERNEL
from dehusk.page import tags
from dehusk.page.tree import TREE_PACKING, Tree

_IMAGE: Final = tags.numbers("img")
_HEADING: Final = tags.numbers("h1", "h2", "h3", "h4", "h5", "h6")
_LINK: Final = tags.numbers("a")
_MAX_PERMALINK: Final = 8
"""Characters beyond which a link says something."""
MARK_KINDS: Final = np.zeros(len(tags.NAMES), np.uint8)
"""By tag number, what the kernel asks of tags, from the lowest bit on (`src/kernel/marks.c`)."""
for _place, _table in enumerate((_IMAGE, _HEADING, _LINK)):
    MARK_KINDS[_table] |= np.uint8(1 << _place)


_MARKED: Final = TREE_PACKING.wanted("tag", "end", "text_length", "shown")


class Marks(NamedTuple):
    """Nodes in document order."""

    images: list[int]
    """The shown images that are content."""
    short_links: list[int]
    """Links in headings of a few characters."""


def marks_of(tree: Tree, labels: LabelArray) -> Marks:
    """The images and short links of a page."""
    if KERNEL is not None:
        return _compiled(KERNEL, tree, labels)
    images = _IMAGE[tree.tag] & tree.shown & (labels == Label.CONTENT.value)
    headings = np.flatnonzero(_HEADING[tree.tag])
    links = np.flatnonzero(_LINK[tree.tag] & (tree.text_length <= _MAX_PERMALINK))
    reach = np.append(np.maximum.accumulate(tree.end[headings]), 0)
    in_heading = reach[np.searchsorted(headings, links) - 1] > links
    return Marks(np.flatnonzero(images).tolist(), links[in_heading].tolist())


def _compiled(kernel: Any, tree: Tree, labels: LabelArray) -> Marks:
    """The same by the kernel."""
    return Marks(
        *kernel.marks(_MAX_PERMALINK, MARK_KINDS, tree.cut(_MARKED), np.ascontiguousarray(labels))
    )
