"""The compiled kernel and its twins: the same bytes, whatever the page."""

from __future__ import annotations

import numpy as np
import pytest

import dehusk.page.parse as parsing
from dehusk.page.page import Page
from twins import the_kernel


def test_the_kernel_refuses_arrays_that_do_not_fit() -> None:
    kernel = the_kernel()
    tree = parsing.parse(Page("<p>x")).tree
    labels = np.zeros(len(tree), np.int8)
    nodes = (tree.parent, tree.end, tree.start, tree.stop, tree.close, tree.text_length)
    none = np.zeros(0, np.int32)
    for source, pointed in ((tree.source[:9], none), (tree.source, np.array([99], np.int32))):
        with pytest.raises(ValueError, match="draft"):
            kernel.draft(source, b"", b"", tree.tag, *nodes, tree.shown, labels, none, pointed)
    with pytest.raises(ValueError, match="draft"):
        kernel.draft(*[b""] * 11, b"1", none, none)
    with pytest.raises(ValueError, match="groups"):
        kernel.groups(b"", tree.tag, tree.end, tree.shown[1:])
    with pytest.raises(ValueError, match="marks"):
        kernel.marks(8, b"", tree.tag, tree.end, tree.text_length, tree.shown[1:], labels)
    for source, node in ((tree.source[:9], 1), (tree.source, 99)):
        place = np.array([node], np.int32)
        with pytest.raises(ValueError, match="addresses"):
            kernel.addresses(str, b"", b"", b"", source, tree.start, tree.stop, place)
