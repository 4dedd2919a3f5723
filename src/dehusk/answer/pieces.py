"""A page's content in pieces of about one size, for retrieval."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from dehusk.answer.labels import LabelArray
from dehusk.answer.nodes import inside
from dehusk.answer.text import lines
from dehusk.errors import SettingError
from dehusk.page import tags
from dehusk.page.tree import Ints, Tree

CHARACTERS_PER_TOKEN: Final = 4
"""What a token is taken for, here and wherever dehusk counts tokens."""
_MIN_SHARE: Final = 4
"""A heading begins a new piece once the one before it has this part of its size. A rule of thumb:
with none a page of short sections falls into crumbs, with all headings end up at ends."""
_HEADINGS: Final = tuple(tags.numbers(f"h{level}") for level in range(1, 7))
_PLAIN_NAME: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9-]*")


@dataclass(frozen=True, slots=True)
class ContentPiece:
    """A part of a page's content: its text, the headings that it stands under, and its place."""

    text: str
    headings: tuple[str, ...]
    """The headings above its first line, the highest first; one that begins it included."""
    address: str
    """A CSS selector of the element in which it begins."""
    node: int
    """The number of the node with which it begins, in document order."""
    tokens: int
    """Its characters / 4, rounded up."""


@dataclass(frozen=True, slots=True)
class _Block:
    """One line of text with the headings that lead to it."""

    text: str
    headings: tuple[str, ...]
    node: int
    begins_section: bool


def pieces(tree: Tree, labels: LabelArray, max_tokens: int) -> list[ContentPiece]:
    """The content in pieces of at most so many tokens, cut at headings and between blocks.

    Only a block that is longer is cut inside, between words. A heading stays with what follows.
    Raises SettingError for a size that is no whole number of at least 1.
    """
    if type(max_tokens) is not int or max_tokens < 1:
        raise SettingError(
            f"the tokens of a piece must be a whole number of at least 1, not {max_tokens!r}"
        )
    limit = max_tokens * CHARACTERS_PER_TOKEN
    positions = _positions(tree)
    groups: list[list[_Block]] = []
    size = 0
    for block in _blocks(tree, labels, limit):
        is_new = size + len(block.text) > limit
        is_new |= block.begins_section and size * _MIN_SHARE >= limit
        if is_new or not groups:
            groups.append([])
            size = 0
        groups[-1].append(block)
        size += len(block.text) + 1
    return [_piece(tree, positions, group) for group in groups]


def _piece(tree: Tree, positions: Ints, group: list[_Block]) -> ContentPiece:
    """The piece that holds these blocks."""
    text = "\n".join(block.text for block in group)
    node = group[0].node
    tokens = -(-len(text) // CHARACTERS_PER_TOKEN)
    return ContentPiece(text, group[0].headings, _address(tree, positions, node), node, tokens)


def _blocks(tree: Tree, labels: LabelArray, limit: int) -> Iterator[_Block]:
    """The lines of the content, none longer than the limit, headings put to what follows them."""
    levels = np.zeros(len(tree), np.int8)
    for level, is_heading in enumerate(_HEADINGS, 1):
        levels[inside(tree.end, is_heading[tree.tag])] = level
    path: list[tuple[int, str]] = []
    above: list[str] = []
    first, size = -1, 0
    for node, line in lines(tree, labels):
        level = int(levels[node])
        if level:
            path = [(depth, text) for depth, text in path if depth < level]
            path.append((level, line))
        first = node if first < 0 else first
        above.append(line)
        size += len(line)
        if not level or size > limit:
            yield from _cut(above, path, first, limit, begins_section=len(above) > 1)
            above, first, size = [], -1, 0
    if above:
        yield from _cut(above, path, first, limit, begins_section=True)


def _cut(
    above: list[str], path: list[tuple[int, str]], node: int, limit: int, *, begins_section: bool
) -> Iterator[_Block]:
    """A line with the headings before it, in parts no longer than the limit."""
    headings = tuple(text for _, text in path)
    rest = "\n".join(above)
    at = 0
    while len(rest) - at > limit:
        end = max(rest.rfind(" ", at + limit // 2, at + limit), rest.rfind("\n", at, at + limit))
        end = end + 1 if end > at else at + limit
        yield _Block(rest[at:end].rstrip(), headings, node, begins_section)
        at, begins_section = end, False
    yield _Block(rest[at:], headings, node, begins_section)


def _positions(tree: Tree) -> Ints:
    """Of each element, its place among the elements of its parent, from 1."""
    elements = np.flatnonzero(~tree.is_text)
    order = elements[np.argsort(tree.parent[elements], kind="stable")]
    parents = tree.parent[order]
    is_first = np.concatenate(([True], parents[1:] != parents[:-1]))
    places = np.arange(len(order))
    first = np.maximum.accumulate(np.where(is_first, places, 0))
    positions = np.zeros(len(tree), np.int32)
    positions[order] = places - first + 1
    return positions


def _address(tree: Tree, positions: Ints, node: int) -> str:
    """A CSS selector of the element that the node is, or stands in."""
    steps = []
    while node >= 0:
        if not tree.is_text[node]:
            name = tree.name(node)
            step = name if _PLAIN_NAME.fullmatch(name) else "*"
            steps.append(
                step if name in ("html", "body") else f"{step}:nth-child({positions[node]})"
            )
        node = int(tree.parent[node])
    return " > ".join(reversed(steps))
