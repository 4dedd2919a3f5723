"""What of a page goes into its Markdown, and what stands between its texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dehusk.answer.labels import Label
from dehusk.answer.render.nodes import (
    BLOCK,
    CELL,
    TEXT_KINDS,
    LabelArray,
    Places,
    Run,
    block_numbers,
    holds,
    inked,
    inside,
    outermost,
    run,
    spaces,
    written_ends,
)
from dehusk.kernel import KERNEL
from dehusk.page import tags
from dehusk.page.tree import TREE_PACKING, Flags, Ints, Tree

_RULE: Final = tags.numbers("hr")
_SMALL: Final = tags.numbers("wbr", "input")
_BREAK: Final = tags.numbers("br")
_PLANNED: Final = TREE_PACKING.wanted(
    "tag", "parent", "end", "start", "stop", "close", "text_length", "shown",
)  # fmt: skip
_NBSP: Final = re.compile(rb"&nbsp;")
PLAN_KINDS: Final = np.zeros(len(tags.NAMES), np.uint8)
"""By tag number, what the kernel asks of tags, from the lowest bit on (`src/kernel/draft.c`)."""
for _place, _table in enumerate((_RULE, _SMALL, CELL, _BREAK, BLOCK | CELL)):
    PLAN_KINDS[_table] |= np.uint8(1 << _place)


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What is kept of a page."""

    ends: Ints
    """Of each node, one behind the last node written inside it."""
    kept: Flags
    inked: Flags
    """Which nodes are or hold a kept text or image."""
    texts: Run
    """The kept texts, in order."""
    dropped: list[int]
    """The nodes that go, without those in others that go."""
    spaced: list[int]
    """Kept texts with spaces that may not break."""


def plan_of(
    tree: Tree, labels: LabelArray, permalinks: Sequence[int], images: Sequence[int]
) -> Plan:
    """What is kept of a page with these permalinks, which go, and images, which stay."""
    if KERNEL is not None:
        return _compiled(KERNEL, tree, labels, permalinks, images)
    ends, content = written_ends(tree), inked(tree, labels, Label.CONTENT)
    if len(permalinks):
        is_permalink = np.zeros(len(tree), np.bool_)
        is_permalink[permalinks] = True
        content &= ~inside(ends, is_permalink)
    ink = content.copy()
    ink[images] = True
    kept = _kept(tree, labels, ends, ink)
    return Plan(
        ends,
        kept,
        inked=holds(ends, ink),
        texts=run(tree, content, inked(tree, labels, Label.TEMPLATE)),
        dropped=outermost(ends, ~kept).tolist(),
        spaced=_spaced(tree, content),
    )


def _compiled(
    kernel: Any, tree: Tree, labels: LabelArray, permalinks: Sequence[int], images: Sequence[int]
) -> Plan:
    """The same by the kernel."""
    memory, texts, drops, spaced = kernel.draft(
        tree.source, TEXT_KINDS, PLAN_KINDS, tree.cut(_PLANNED), np.ascontiguousarray(labels),
        np.array(permalinks, np.int32), np.array(images, np.int32),
    )  # fmt: skip
    count = len(tree)
    ends, nodes, cells, gone, holders = np.frombuffer(memory, np.int32, 5 * count).reshape(5, count)
    kept, has_ink, is_line, is_spaced, is_cut = np.frombuffer(
        memory, np.bool_, 5 * count, ends.nbytes * 5
    ).reshape(5, count)
    return Plan(
        ends,
        kept,
        has_ink,
        Run(nodes[:texts], is_line[:texts], cells[:texts], is_spaced[:texts], is_cut[:texts]),
        gone[:drops].tolist(),
        holders[:spaced].tolist(),
    )


def _kept(tree: Tree, labels: LabelArray, ends: Ints, ink: Flags) -> Flags:
    """Which nodes stay: those that hold ink, white space, and what lies between ink.

    Cells of a kept row stay even if they are empty, so that columns stay columns.
    """
    is_content = tree.shown & (labels == Label.CONTENT.value)
    rules = np.flatnonzero(is_content & _RULE[tree.tag])
    if len(rules):
        # A rule parts ink from ink; one at an end, or behind another, parts nothing.
        before = np.cumsum(ink)[rules]
        after = np.append(before[1:], ink.sum())
        ink = ink.copy()
        ink[rules] = (before > 0) & (after > before)
    kept = holds(ends, ink) | spaces(tree) | (is_content & _SMALL[tree.tag])
    cells = np.flatnonzero(CELL[tree.tag])
    kept[cells] = kept[tree.parent[cells]]
    breaks = np.flatnonzero(is_content & _BREAK[tree.tag])
    if len(breaks) and kept[0]:
        kept[breaks] = _parts_lines(tree, breaks, np.flatnonzero(ink))
    return np.asarray(kept)


def _parts_lines(tree: Tree, breaks: Places, ink: Places) -> Flags:
    """Which breaks stand between ink and ink of one block; at its ends they part nothing."""
    block = block_numbers(tree)
    place = np.searchsorted(ink, breaks)
    before, behind = ink[place - 1], ink.take(place, mode="clip")
    is_between = (place > 0) & (place < len(ink))
    is_between &= (block[before] == block[breaks]) & (block[behind] == block[breaks])
    return np.asarray(is_between)


def _spaced(tree: Tree, content: Flags) -> list[int]:
    """The content texts with spaces that may not break."""
    places = [found.start() for found in _NBSP.finditer(tree.source)]
    holders = np.unique(np.searchsorted(tree.start, places, "right") - 1)
    is_held = [
        content[node] and b"&nbsp;" in tree.source[tree.start[node] : tree.stop[node]]
        for node in holders.tolist()
    ]
    found: list[int] = holders[is_held].tolist()
    return found
