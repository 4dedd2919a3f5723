"""The links of a page, absolute, each with the label of its element."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dehusk.answer.labels import Label
from dehusk.answer.render.nodes import (
    ANCHOR,
    BREAKS,
    CELL,
    LabelArray,
    attribute,
    inside,
    run,
    unescaped,
    written_attribute,
)
from dehusk.kernel import KERNEL
from dehusk.page import tags
from dehusk.page.tree import TREE_PACKING, Tree
from dehusk.page.urls import Base, base_of

_LINK: Final = tags.numbers("a", "area")
_IMAGE: Final = tags.numbers("img", "area")
LINK_KINDS: Final = np.zeros(len(tags.NAMES), np.uint8)
"""By tag number, what the kernel asks of tags, from the lowest bit on (`src/kernel/links.c`)."""
for _place, _table in enumerate((BREAKS, CELL, ANCHOR, _LINK, _IMAGE)):
    LINK_KINDS[_table] |= np.uint8(1 << _place)


_WALKED: Final = TREE_PACKING.wanted(
    "tag", "end", "text_length", "start", "stop", "close", "shown",
)  # fmt: skip


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
    if KERNEL is not None:
        return _compiled(KERNEL, tree, labels, base)
    found: dict[int, str] = {}
    texts: dict[int, bytes] = {}
    source, nodes = tree.source, np.flatnonzero(_LINK[tree.tag] & tree.shown)
    starts, stops = tree.start[nodes].tolist(), tree.stop[nodes].tolist()
    closes = tree.close[nodes].tolist()
    for node, start, stop, close in zip(nodes.tolist(), starts, stops, closes, strict=True):
        url = base.absolute(attribute(source[start:stop], b"href") or "")
        if url:
            found[node] = url
        if stop < source.find(b"<", stop, close) == close - len("</a>"):
            texts[node] = source[stop : close - len("</a>")]
    if len(texts) < len(nodes):
        texts.update(_inner_texts(tree, [node for node in nodes.tolist() if node not in texts]))
    is_template = (labels == Label.TEMPLATE.value).tolist()
    return tuple(
        Link(url, " ".join(unescaped(texts[node]).split()), is_template[node])
        for node, url in found.items()
    )


def _compiled(kernel: Any, tree: Tree, labels: LabelArray, base: Base) -> tuple[Link, ...]:
    """The same by the kernel, which asks the base only about what is not simple."""
    found = kernel.links(
        base.absolute, Link, *base.begins(), tree.source, LINK_KINDS,
        tree.cut(_WALKED), np.ascontiguousarray(labels),
    )  # fmt: skip
    return tuple(found)


def _inner_texts(tree: Tree, link_nodes: list[int]) -> dict[int, bytes]:
    """What each of the links says, as it is written, where it is more than one text node."""
    is_link = np.zeros(len(tree), np.bool_)
    is_link[link_nodes] = True
    covered = inside(tree.end, is_link)
    is_link = covered & _LINK[tree.tag] & tree.shown
    ink = run(tree, tree.is_text & (tree.text_length > 0) & covered, is_link)
    before = np.zeros(len(tree), np.bool_)
    before[ink.nodes] = ink.spaced | ink.new_line | (ink.new_cells > 0)
    relevant = is_link | (_IMAGE[tree.tag] & tree.shown & covered)
    relevant[ink.nodes] = True
    nodes = np.flatnonzero(relevant)
    rows = zip(
        nodes.tolist(), tree.tag[nodes].tolist(), tree.start[nodes].tolist(),
        tree.stop[nodes].tolist(), tree.end[nodes].tolist(), before[nodes].tolist(), strict=True,
    )  # fmt: skip
    words: dict[int, list[bytes]] = {}
    pictures: dict[int, list[bytes]] = {}
    open_links: list[tuple[int, int]] = []
    for node, tag, start, stop, end, is_apart in rows:
        while open_links and open_links[-1][1] <= node:
            open_links.pop()
        if tag == tags.TEXT:
            words[open_links[-1][0]] += (b" " if is_apart else b"", tree.source[start:stop])
            continue
        if is_link[node]:
            open_links.append((node, end))
            words[node], pictures[node] = [], []
        if _IMAGE[tag]:
            alt = written_attribute(tree.source[start:stop], b"alt")
            pictures[open_links[-1][0]].append(alt or b"")
    return {node: b"".join(words[node]) or b" ".join(alts) for node, alts in pictures.items()}
