"""Where the links that Markdown keeps lead."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dehusk.answer.render.nodes import attribute
from dehusk.kernel import KERNEL
from dehusk.page.tree import Tree
from dehusk.page.urls import Base


class Addresses(NamedTuple):
    """Where links lead."""

    leads: list[str | bool | None]
    """To an address; None for nowhere, True for what is written in the link."""
    titled: list[int]
    """Those that lead somewhere and have a title."""


def addresses(tree: Tree, nodes: list[int], base: Base) -> Addresses:
    """Where each of these links leads."""
    if KERNEL is not None:
        return _compiled(KERNEL, tree, nodes, base)
    found = Addresses([], [])
    places = zip(nodes, tree.start[nodes].tolist(), tree.stop[nodes].tolist(), strict=True)
    for node, start, stop in places:
        start_tag = tree.source[start:stop]
        written = attribute(start_tag, b"href") or ""
        address = base.absolute(written)
        found.leads.append(address == written or address)
        if address is not None and attribute(start_tag, b"title") is not None:
            found.titled.append(node)
    return found


def _compiled(kernel: Any, tree: Tree, nodes: list[int], base: Base) -> Addresses:
    """The same by the kernel, which asks the base only about what is not simple."""
    places = np.array(nodes, np.int32)
    found = kernel.addresses(
        base.absolute, *base.begins(), tree.source, tree.start, tree.stop, places
    )
    return Addresses(*found)
