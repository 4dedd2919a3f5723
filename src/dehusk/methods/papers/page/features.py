"""What the page model looks at: numbers for every node of a page, all at once.

Those that Chakrabarti, Kumar and Punera name (WWW 2007, section 5.2): closeness to the margins and
to the middle of the page, links per word, share of text in anchors, size of anchors, share of links
within the site, visible characters per HTML, words shared with the title. The others are ours. No
name of a class or an id is among them: a model would learn the page generators of its training
data by heart.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from dehusk.methods.papers.page.counts import (
    Texts,
    count_title_words,
    count_words,
    mark_links,
)
from dehusk.page import tags
from dehusk.page.tree import Flags, Floats, Layout, Tree

NAMES: Final = (
    # Place and size
    "log_area_share", "width_share", "height_share", "from_middle_x", "middle_y", "from_centre",
    "to_top", "to_bottom", "to_side", "text_before", "text_after",
    # Text
    "log_words", "word_share", "log_words_per_text", "visible_share", "punctuation", "title_share",
    # Links
    "anchor_share", "links_per_word", "log_anchor_words", "site_links", "page_links", "has_link",
    # Structure
    "depth", "log_nodes", "is_text", "paragraph_share", "item_share", "heading_share",
    "images_per_word", "controls_per_word", "in_nav", "in_header", "in_footer", "in_aside",
    "in_main", "in_form", "in_paragraph", "in_item", "in_heading", "in_table",
    # Surroundings
    "up1_anchor_share", "up2_anchor_share", "up4_anchor_share", "up7_anchor_share",
    "up1_word_share", "up2_word_share", "up4_word_share", "up7_word_share", "previous_anchor_share",
    "next_anchor_share", "previous_log_words", "next_log_words",
)  # fmt: skip
"""The features in the order of the columns. The model file names them too: order and meaning of a
name never change, a new meaning is a new name."""

_IMAGES: Final = tags.numbers("img", "image", "picture", "svg")
_CONTROLS: Final = tags.numbers("input", "button", "select", "textarea")
_INSIDE: Final = tuple(
    tags.numbers(*names.split())
    for names in (
        "nav", "header", "footer", "aside", "main article", "form", "p", "li dd dt",
        "h1 h2 h3 h4 h5 h6", "table",
    )
)  # fmt: skip
"""The columns in_nav … in_table."""
_MARGIN: Final = 1000.0
"""Pixels from the top or the bottom from which on it no longer matters how far."""
_STEPS_UP: Final = (1, 2, 4, 7)


def judged(tree: Tree) -> Flags:
    """Nodes that carry or hold shown text or an image."""
    images = tree.sums(_IMAGES[tree.tag] & tree.shown)
    return np.asarray(tree.shown & ((tree.text_length > 0) | (images > 0)))


def features(tree: Tree, layout: Layout) -> Floats:
    """A row for each node and a column for each of NAMES; finite, of the order of 1."""
    return np.stack(list(columns(tree, layout)), axis=1)


def columns(tree: Tree, layout: Layout) -> Iterator[Floats]:
    """The columns of `features` one after another: a page of many nodes never has all of them."""
    texts = Texts.of(tree)
    words, punctuation = count_words(texts)
    below = tree.sums(words)
    anchor_share = tree.link_length / np.maximum(tree.text_length, 1)
    yield from _place(tree, layout)
    yield from _text(tree, words, below, punctuation, count_title_words(tree, texts))
    yield from _links(tree, below, anchor_share, mark_links(tree))
    yield from _structure(tree, words, below)
    yield from _surroundings(tree, below, anchor_share)


def _place(tree: Tree, layout: Layout) -> list[Floats]:
    """The features of place and size."""
    page_width = max(float(layout.width[0]), 1.0)
    page_height = max(float(layout.height[0]), 1.0)
    middle_x = (layout.x + layout.width / 2) / page_width
    middle_y = np.clip((layout.y + layout.height / 2) / page_height, 0, 1)
    from_middle = np.clip(np.abs(middle_x - 0.5) * 2, 0, 1)
    to_bottom = page_height - layout.y - layout.height
    right = page_width - layout.x - layout.width
    total = max(int(tree.text_length[0]), 1)
    text = np.where(tree.is_text, tree.text_length, 0)
    before = np.cumsum(text) - text
    after = tree.text_length[0] - before - tree.text_length
    return [
        np.log10(np.clip(layout.area / (page_width * page_height), 1e-6, 1)),
        np.clip(layout.width / page_width, 0, 1),
        np.clip(layout.height / page_height, 0, 1),
        from_middle,
        middle_y,
        np.hypot(from_middle, middle_y * 2 - 1),
        np.clip(layout.y, 0, _MARGIN) / _MARGIN,
        np.clip(to_bottom, 0, _MARGIN) / _MARGIN,
        np.clip(np.minimum(layout.x, right) / page_width, 0, 1),
        before / total,
        after / total,
    ]


def _text(
    tree: Tree, words: Floats, below: Floats, punctuation: Floats, title_words: Floats
) -> list[Floats]:
    """The features of text."""
    texts = tree.sums((words > 0).astype(np.float64))
    per_word = 1 / np.maximum(below, 1)
    written = np.maximum(tree.close - tree.start, 1)
    return [
        np.log1p(below),
        below / max(float(below[0]), 1.0),
        np.log1p(below / np.maximum(texts, 1)),
        np.clip(tree.text_length / written, 0, 1),
        np.clip(tree.sums(punctuation) * per_word, 0, 1),
        np.clip(tree.sums(title_words) * per_word, 0, 1),
    ]


def _links(
    tree: Tree, below: Floats, anchor_share: Floats, marks: tuple[Flags, Flags, Flags]
) -> list[Floats]:
    """The features of links."""
    links, on_site, on_page = (tree.sums(flags.astype(np.float64)) for flags in marks)
    some = np.maximum(links, 1)
    anchor_words = anchor_share * below
    return [
        anchor_share,
        np.clip(links / np.maximum(below, 1), 0, 1),
        np.log1p(anchor_words / some),
        on_site / some,
        on_page / some,
        (links > 0).astype(np.float64),
    ]


def _structure(tree: Tree, words: Floats, below: Floats) -> list[Floats]:
    """The features of tags around and below."""
    inside = [_covered(tree, table[tree.tag]) for table in _INSIDE]
    paragraph, item, heading = inside[6:9]
    per_word = 1 / np.maximum(below, 1)
    images = tree.sums((_IMAGES[tree.tag] & tree.shown).astype(np.float64))
    controls = tree.sums((_CONTROLS[tree.tag] & tree.shown).astype(np.float64))
    return [
        tree.depth / 20,
        np.log1p(tree.end - np.arange(len(tree))),
        tree.is_text.astype(np.float64),
        *(tree.sums(words * flags) * per_word for flags in (paragraph, item, heading)),
        np.clip(images * per_word, 0, 1),
        np.clip(controls * per_word, 0, 1),
        *inside,
    ]


def _surroundings(tree: Tree, below: Floats, anchor_share: Floats) -> list[Floats]:
    """The features of what a node stands in and beside."""
    up = np.maximum(tree.parent, 0)
    share = below / max(float(below[0]), 1.0)
    anchors, shares = [], []
    node = np.arange(len(tree))
    for step in range(1, max(_STEPS_UP) + 1):
        node = up[node]
        if step in _STEPS_UP:
            anchors.append(anchor_share[node])
            shares.append(share[node])
    previous, following = _neighbours(tree)
    log_words = np.log1p(below)
    return [
        *anchors,
        *shares,
        *(np.where(side >= 0, anchor_share[side], 0.5) for side in (previous, following)),
        *(np.where(side >= 0, log_words[side], 0.0) for side in (previous, following)),
    ]


def _neighbours(tree: Tree) -> tuple[np.ndarray, np.ndarray]:
    """The sibling with text before each node, and the one behind it; -1 where there is none."""
    previous, following = np.full(len(tree), -1), np.full(len(tree), -1)
    filled = np.flatnonzero(tree.shown & (tree.text_length > 0))
    order = filled[np.argsort(tree.parent[filled], kind="stable")]
    is_pair = tree.parent[order[1:]] == tree.parent[order[:-1]]
    previous[order[1:][is_pair]] = order[:-1][is_pair]
    following[order[:-1][is_pair]] = order[1:][is_pair]
    return previous, following


def _covered(tree: Tree, marked: Flags) -> Floats:
    """1 for nodes that are marked, or have a marked one above them; else 0."""
    steps = marked.astype(np.int32) - np.bincount(tree.end[marked], minlength=len(tree) + 1)[:-1]
    return (np.cumsum(steps) > 0).astype(np.float64)
