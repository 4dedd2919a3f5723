"""The content as text, the links of the page, and how much of it is template."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from msgspec import json

from dehusk import _kernel
from dehusk.answer.formulas import formulas
from dehusk.answer.labels import LabelArray
from dehusk.page.patterns import pattern
from dehusk.page.tree import Ints, Tree
from dehusk.page.urls import base_of

_CUT_IN_WORD: Final = pattern(r"(?<=\w)\0+(?=\w)")
"""What was left out between two texts has the sign U+0000, which no parser lets through."""


def text(tree: Tree, labels: LabelArray) -> str:
    """The content's visible text: blocks on their own lines, cells of a table row between tabs.

    White space is collapsed, except where the page is preformatted; formulas are LaTeX. Empty
    without content.
    """
    written, is_finished = _kernel.text(tree.kernel, np.ascontiguousarray(labels), *formulas(tree))
    return written if is_finished else _finish(written)


def lines(tree: Tree, labels: LabelArray) -> list[tuple[int, str]]:
    """The lines of `text`, each with the node that it begins with."""
    written = _kernel.lines(tree.kernel, np.ascontiguousarray(labels), *formulas(tree))
    return [(node, line) for node, each in written if (line := _finish(each))]


def _finish(written: str) -> str:
    """The text without the signs of cuts, which become spaces inside of words."""
    if "\0" in written:
        written = _CUT_IN_WORD.sub(" ", written).replace("\0", "")
    if "\u3000" in written:
        # East Asian pages space their paragraphs with lines of nothing else.
        written = "\n".join(line for line in written.split("\n") if line.strip() or not line)
        written = written.strip("\n")
    return written


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
    return json.decode(links_json(tree, labels, base_url), type=tuple[Link, ...])


def links_json(tree: Tree, labels: LabelArray, base_url: str | None) -> bytes:
    """The same links as an array of JSON: as most are wanted, and made without an object each."""
    base, labels = base_of(tree, base_url), np.ascontiguousarray(labels)
    # The base is asked about addresses that are not simple.
    return _kernel.links(tree.kernel, labels, base.begins(), base.absolute)


def characters(tree: Tree, labels: LabelArray) -> tuple[int, int]:
    """The visible characters of a page, and how many of them are template."""
    return _kernel.characters(tree.kernel, np.ascontiguousarray(labels))


def visible_lengths(tree: Tree) -> Ints:
    """How many characters of each text are seen, 0 for all other nodes.

    A run of white space counts as one character, except where the page is preformatted.
    """
    return tree.once(_visible_lengths)


def _visible_lengths(tree: Tree) -> Ints:
    return np.frombuffer(_kernel.visible(tree.kernel), np.int32)
