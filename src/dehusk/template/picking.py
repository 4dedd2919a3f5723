"""Selectors of an element that somebody points at: for a rule of its site, or for it alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from dehusk.memory.rules import MAX_SELECTOR
from dehusk.page.tree import Tree
from dehusk.template.slots.selectors import css_name

_MAX_CLASSES: Final = 3
_MAX_UP: Final = 4
"""Ancestors that are looked at for a name."""
_FRAME: Final = frozenset(("html", "head", "body"))


def element_of(tree: Tree, node: int) -> int:
    """The node, or of a text the element it stands in."""
    return int(tree.parent[node]) if tree.is_text[node] else node


def named_selectors(tree: Tree, element: int) -> list[str]:
    """Selectors by names that other pages of the site may share, the nearest element first.

    Each is of the element itself or of an ancestor that has a name; empty where none has.
    """
    found: list[str] = []
    for place in _upwards(tree, element):
        if tree.name(place) in _FRAME:
            break
        own = _own_name(tree, place)
        if own and len(own) <= MAX_SELECTOR and own not in found:
            found.append(own)
    return found


def exact_selector(tree: Tree, element: int) -> str:
    """The selector of this element on this page, by its place among its siblings all the way."""
    steps = [f":nth-child({position + 1})" for position in element_path(tree, element)]
    return " > ".join(["html", *steps])


def element_path(tree: Tree, element: int) -> list[int]:
    """The element's place: child positions among elements, from `<html>` down."""
    path: list[int] = []
    while element > 0:
        parent = int(tree.parent[element])
        before = (tree.parent[:element] == parent) & ~tree.is_text[:element]
        path.append(int(np.count_nonzero(before)))
        element = parent
    return path[::-1]


def _upwards(tree: Tree, element: int) -> Iterator[int]:
    for _ in range(_MAX_UP):
        if element <= 0:
            return
        yield element
        element = int(tree.parent[element])


def _own_name(tree: Tree, element: int) -> str | None:
    """The element by its id, else by its classes, else by a tag that says what it is for."""
    attributes, name = tree.attributes(element), tree.name(element)
    if attributes.get("id"):
        return f"#{css_name(attributes['id'])}"
    classes = attributes.get("class", "").split()[:_MAX_CLASSES]
    tag = name if name.isalnum() and name.isascii() else ""
    if classes:
        return tag + "".join(f".{css_name(one)}" for one in classes)
    return name if name in _MEANING else None


_MEANING: Final = frozenset(("article", "aside", "footer", "form", "h1", "header", "main", "nav"))
"""Tags that say by themselves what an element is for."""
