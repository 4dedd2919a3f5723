"""A page to the keys of a style tree: where its nodes stand in it, and what its leaves hold."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

import numpy as np

from dehusk.methods.papers.style_tree.keys import KIND, Places, group_starts, place_in_group
from dehusk.page import tags
from dehusk.page.hashing import PATH_POWERS, TEXT_POWERS, TREE_POWERS, Hashes, mix
from dehusk.page.tree import Tree

_TEXT: Final = np.uint64(0x9E3779B97F4A7C15)
"""The label of every text node among the children of an element."""
_LINK: Final = tags.numbers("a")
_IMAGE: Final = tags.numbers("img")
_MAX_WORD: Final = 1024
"""Bytes of a word that have a weight of their own; a longer one is no word."""

_IN_WORD: Final = np.zeros(256, np.bool_)
_IN_WORD[[*b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"]] = True
_IN_WORD[0x80:] = True
_STARTS_WORD: Final = np.zeros(256, np.bool_)
_STARTS_WORD[0xE3:0xEE] = True
"""First bytes of UTF-8 from U+3000 to U+DFFF: scripts that are read by character."""


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """The shown nodes of a page, white space left out, and where they stand in the style tree."""

    node: Places
    """Their numbers in the page's tree."""
    end: Places
    """One behind the last node below each, counted among the shown nodes."""
    style: Hashes
    """The key of the style node that each has its children in."""
    owner: Hashes
    """The key of the style node that each stands in; 0 for the root."""


def place(tree: Tree) -> Placed:
    """Where the nodes of a page stand in the style tree of any site."""
    shown = tree.shown & (~tree.is_text | (tree.text_length > 0))
    node = np.flatnonzero(shown)
    before = np.append(0, np.cumsum(shown))
    end, parent = before[tree.end[node]], before[np.maximum(tree.parent[node], 0)]
    rank = _ranks(parent)
    label = np.where(tree.is_text[node], _TEXT, tree.own_hash[node])
    weight = TREE_POWERS.up_to(int(rank.max(initial=0)) + 1)[rank]
    sequence = np.zeros(len(node), np.uint64)
    np.add.at(sequence, parent[1:], (label * weight)[1:])
    sequence = mix(sequence)

    # An element's key is a sum over its ancestors: the style and the place in it of each step down.
    step = mix(sequence[parent] + rank.astype(np.uint64))
    step[:1] = 1
    step *= PATH_POWERS.up_to(int(tree.depth.max()) + 1)[tree.depth[node]]
    change = np.append(step, np.uint64(0))
    np.subtract.at(change, end, step)
    element = mix(np.cumsum(change, dtype=np.uint64)[:-1]) & ~KIND
    kind = np.maximum(sequence & KIND, np.uint64(1))
    style = np.where(end > np.arange(len(node)) + 1, element | kind, element)
    owner = style[parent]
    owner[:1] = 0
    return Placed(node, end, style, owner)


def _ranks(parent: Places) -> Places:
    """The place of each node among the children of its parent; 0 for the root, node 0."""
    order = np.argsort(parent[1:], kind="stable") + 1
    rank = np.zeros(len(parent), np.int64)
    rank[order] = place_in_group(group_starts(parent[order]))
    return rank


def features_of(tree: Tree, placed: Placed, *, link_targets: bool) -> Hashes:
    """The keys of what the leaves of a page hold: words, names of images, targets of links."""
    element, tag = placed.style & ~KIND, tree.tag[placed.node]
    leaf = np.flatnonzero(placed.end == np.arange(len(tag)) + 1)
    text, image = leaf[tag[leaf] == tags.TEXT], leaf[_IMAGE[tag[leaf]]]
    which, words = _words(tree, placed.node[text])
    names = [_file_name(tree, node) for node in placed.node[image].tolist()]
    owners, hashes = [element[text[which]], element[image]], [words, _hashes(names)]
    if link_targets:
        linked, targets = _link_targets(tree, placed, leaf)
        owners.append(element[linked])
        hashes.append(targets)
    return np.asarray(np.concatenate(owners) | (np.concatenate(hashes) & KIND))


def _link_targets(tree: Tree, placed: Placed, leaf: Places) -> tuple[Places, Hashes]:
    """The leaves that are in links or are such, and a hash of where each leads, as written."""
    link = np.flatnonzero(_LINK[tree.tag[placed.node]])
    targets = [tree.attributes(node).get("href") for node in placed.node[link].tolist()]
    link = link[np.array([target is not None for target in targets], np.bool_)]
    around = np.searchsorted(link, leaf, "right") - 1
    inside = np.append(placed.end[link], 0)[around] > leaf
    hashes = _hashes([f"href {target}" for target in targets if target is not None])
    return leaf[inside], hashes[around[inside]]


def _file_name(tree: Tree, node: int) -> str:
    """The name of an image's file, without its folder."""
    return "src " + tree.attributes(node).get("src", "").rpartition("/")[2]


def _hashes(texts: list[str]) -> Hashes:
    """A hash for each text."""
    digests = (blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8) for text in texts)
    return np.frombuffer(b"".join(digest.digest() for digest in digests), "<u8").astype(np.uint64)


def _words(tree: Tree, nodes: Places) -> tuple[Places, Hashes]:
    """The words of text nodes: of each, which of the nodes it is in, and its hash.

    A word is a run of letters, digits and all that is not ASCII; Han, kana and Hangul go by
    character. Escapes count as words too; they are the same on every page.
    """
    length = (tree.stop[nodes] - tree.start[nodes]).astype(np.int64)
    first = np.cumsum(length) - length
    at = np.repeat(tree.start[nodes] - first, length) + np.arange(int(length.sum()))
    codes = np.frombuffer(tree.source, np.uint8)[at]
    inside = _IN_WORD[codes]
    starts = inside.copy()
    starts[1:] &= ~inside[:-1]
    starts[first] = inside[first]
    starts |= _STARTS_WORD[codes]

    begin = np.flatnonzero(starts[inside])
    if not len(begin):
        return np.empty(0, np.int64), np.empty(0, np.uint64)
    offset = place_in_group(starts[inside]) % _MAX_WORD
    values = (codes[inside].astype(np.uint64) + np.uint64(1)) * TEXT_POWERS.up_to(_MAX_WORD)[offset]
    which = np.searchsorted(first, np.flatnonzero(starts), "right") - 1
    return which, mix(np.add.reduceat(values, begin))
