"""Facts about the nodes of a labelled tree that several ways of rendering need."""

from __future__ import annotations

import re
from functools import cache

import numpy as np

from dehusk.answer.labels import Label, LabelArray
from dehusk.page.tree import Flags, Ints, Tree


def written_ends(tree: Tree) -> Ints:
    """Of each node, one behind the last node written inside it in `tree.source`.

    The same as `tree.end`, but for elements so deep that the tree made siblings of what they hold.
    """
    return np.searchsorted(tree.start, tree.close).astype(np.int32)


def holds(ends: Ints, marked: Flags) -> Flags:
    """Is the node, or any node from it to its end, marked?"""
    total = np.concatenate(([0], np.cumsum(marked, dtype=np.int32)))
    return np.asarray(total[ends] > total[:-1])


def outermost(ends: Ints, marked: Flags) -> Ints:
    """The marked nodes that lie in no other marked node, in document order."""
    nodes = np.flatnonzero(marked).astype(np.int32)
    reach = np.maximum.accumulate(ends[nodes])
    return nodes[np.concatenate(([True], nodes[1:] >= reach[:-1]))[: len(nodes)]]


def inside(ends: Ints, marked: Flags) -> Flags:
    """Is the node a marked one, or in one?"""
    ended = np.bincount(ends[marked], minlength=len(ends) + 1)[: len(ends)]
    return np.asarray(np.cumsum(marked - ended, dtype=np.int32) > 0)


def spaces(tree: Tree) -> Flags:
    """Which nodes are shown text of nothing but white space."""
    return np.asarray(tree.is_text & tree.shown & (tree.text_length == 0))


def inked(tree: Tree, labels: LabelArray, label: Label) -> Flags:
    """Which nodes are shown text with this label that is more than white space."""
    return np.asarray(tree.is_text & (tree.text_length > 0) & (labels == label))


def unescaped(written: bytes) -> str:
    """The text that canonical HTML writes so."""
    if b"&" in written:
        written = written.replace(b"&nbsp;", b"\xc2\xa0").replace(b"&quot;", b'"')
        written = written.replace(b"&lt;", b"<").replace(b"&gt;", b">").replace(b"&amp;", b"&")
    return written.decode("utf-8", "surrogatepass")


def attribute(start_tag: bytes, name: bytes) -> str | None:
    """The value of one attribute in a canonical start tag, at a fraction of what all cost."""
    written = written_attribute(start_tag, name)
    return None if written is None else unescaped(written)


def written_attribute(start_tag: bytes, name: bytes) -> bytes | None:
    """The value of one attribute in a canonical start tag, as it is written there."""
    if b' %s="' % name not in start_tag:
        return None
    found = _attribute_pattern(name).match(start_tag)
    return found[1] if found else None


@cache
def _attribute_pattern(name: bytes) -> re.Pattern[bytes]:
    """What matches a canonical start tag up to the value of one attribute.

    Attribute names may hold quotes, and values what looks like attributes, so each step takes a
    whole attribute. A step is never taken back: one pass over the tag, and one way to read it.
    """
    return re.compile(rb'(?>[^ ]+)(?> [^ ]+?="[^"]*")*? %s="([^"]*)"' % re.escape(name))
