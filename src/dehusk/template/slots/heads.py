"""What in a page's `<head>` is the page's own, and not its family's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import takewhile
from typing import Final

import numpy as np

from dehusk.page import tags
from dehusk.page.tree import Tree

_HEAD, _TITLE = tags.NUMBERS["head"], tags.NUMBERS["title"]
_OWN: Final = ("canonical", "alternate", "prev", "next", "shortlink", "author", "description")
_OWN_STARTS: Final = ("og:title", "og:url", "og:desc", "og:image", "article:", "twitter:")
_OWN_SCRIPT: Final = "application/ld+json"
_SEPARATORS: Final = " -–—|·•»«:/~"
"""What stands between a page's title and its site's name."""


def own_head(trees: Sequence[Tree]) -> list[int]:
    """The nodes in the first page's `<head>` that are not on half of its family's other pages.

    A page without a family is judged by what elements are for: a canonical URL is always its own.
    Its `<title>` is always among them.
    """
    page, *others = trees
    heads = Counter(written for tree in others for written in set(_head(tree).values()))
    return [
        node
        for node, written in _head(page).items()
        if page.tag[node] == _TITLE
        or (2 * heads[written] < len(others) if others else _is_own(page, node))
    ]


def shared_title(trees: Sequence[Tree]) -> str:
    """The words that all titles of a family begin or end with: its site's name, or nothing."""
    titles = [title for tree in trees if (title := _title(tree))]
    if len(set(titles)) < 2:
        return ""
    words = [title.split() for title in titles]
    first = _common_start(words)
    last = _common_start([row[::-1] for row in words])[::-1]
    return " ".join(first if len(first) >= len(last) else last).strip(_SEPARATORS)


def _common_start(rows: Sequence[Sequence[str]]) -> Sequence[str]:
    """What all rows begin with."""
    columns = takewhile(lambda column: len(set(column)) == 1, zip(*rows, strict=False))
    return [column[0] for column in columns]


def _head(tree: Tree) -> dict[int, bytes]:
    """The elements right below `<head>`, each as it is written."""
    is_below = (tree.tag[tree.parent] == _HEAD) & ~tree.is_text
    return {
        node: tree.source[tree.start[node] : tree.close[node]]
        for node in np.flatnonzero(is_below).tolist()
    }


def _title(tree: Tree) -> str:
    for node in _head(tree):
        if tree.tag[node] == _TITLE:
            return " ".join("".join(map(tree.text, range(node + 1, int(tree.end[node])))).split())
    return ""


def _is_own(tree: Tree, node: int) -> bool:
    """True for what describes one page only, by what it is for."""
    attributes = tree.attributes(node)
    said = [attributes.get(key, "").lower() for key in ("rel", "name", "property", "type")]
    return any(
        value in _OWN or value.startswith(_OWN_STARTS) or value == _OWN_SCRIPT for value in said
    )
