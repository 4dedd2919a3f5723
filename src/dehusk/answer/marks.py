"""Verdicts by address, for whoever holds the page as a browser does.

A browser's tree and the tree of its HTML need not be the same: what scripts have built may be read
otherwise when it is written and read again. So whoever sends a page numbers its elements, in an
attribute, and gets every verdict back under that number:

    element    the number in its `data-dehusk-node`
    text       the number of the element it stands in, and its place among the texts of that
               element; texts that touch are one, comments part them

An element that is written twice when it is read again has the verdict of both: content if either
is. One that is gone has none, and goes with what it stands in.
"""

from __future__ import annotations

from math import isnan
from typing import Any, Final

import numpy as np

from dehusk.answer.labels import Label
from dehusk.answer.result import Result
from dehusk.answer.view import piece_marks
from dehusk.page.tree import Tree

NUMBER: Final = "data-dehusk-node"


def marks_of(result: Result) -> dict[str, Any]:
    """The verdict on every numbered element, and on the texts in them.

    `elements` are [number, tag, label, score, piece]: `piece` says that all it shows is template,
    or content, and that this is not so of what it stands in. `texts` are [number of the element,
    place, label, score, piece, length]: the length, in UTF-16 as browsers count, tells a text that
    stands elsewhere when it is read again.
    """
    tree = result.tree
    numbers = element_numbers(tree)
    pieces = piece_marks(tree, result.labels)
    labels, scores = result.labels.labels.tolist(), result.labels.scores.tolist()
    elements: dict[int, list[Any]] = {}
    texts: list[list[Any]] = []
    places: dict[int, int] = {}
    for node, parent in enumerate(tree.parent.tolist()):
        label, score = Label(labels[node]).name.lower(), scores[node]
        facts = [label, None if isnan(score) else round(score, 4), pieces[node] or None]
        if tree.is_text[node]:
            place = places.get(parent, 0)
            places[parent] = place + 1
            if parent in numbers:
                length = len(tree.text(node).encode("utf-16-le", "surrogatepass")) // 2
                texts.append([numbers[parent], place, *facts, length])
        elif node in numbers:
            number = numbers[node]
            known = elements.get(number)
            if known is None or known[2] != "content":
                elements[number] = [number, tree.name(node), *facts]
    return {"elements": list(elements.values()), "texts": texts}


def element_numbers(tree: Tree) -> dict[int, int]:
    """By node: the number that the page gives it; nodes without a number are not in it."""
    numbers: dict[int, int] = {}
    for node in np.flatnonzero(~tree.is_text).tolist():
        written = tree.attributes(node).get(NUMBER, "")
        if written.isascii() and written.isdecimal() and len(written) <= 9:
            numbers[node] = int(written)
    return numbers
