"""A page cut into chunks: the words between one separating tag and the next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from typing import Final

import numpy as np

from dehusk.methods.papers.chunks.images import image_words
from dehusk.methods.papers.segments import SEPARATORS as BLOCKS
from dehusk.page import tags
from dehusk.page.hashing import Hashes, mix
from dehusk.page.tree import Flags, Ints, Tree

SEPARATORS: Final[dict[str, tuple[str, ...]]] = {"tables": ("table",), "blocks": BLOCKS}
"""By setting: the tag of the paper, and the tags that cut pages today.

Of five lists, from layout elements alone to all that `segments` cuts at, the longest gave the best
content F1 on docs-dev, news-dev and the sample sites; they differ by less than 0.02.
"""

_IMAGES: Final = tags.numbers("img", "area", "input")
_INPUT: Final = tags.NUMBERS["input"]
_ESCAPES: Final = (("&nbsp;", " "), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&"))
"""How canonical HTML writes characters; the last one must stay last."""


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """A page's chunks in document order, each with at least one node."""

    nodes: Ints
    """The text nodes and images with words."""
    chunk: Ints
    """The number of each node's chunk, from 0."""
    first: Ints
    """Where each chunk begins in `nodes`."""
    texts: tuple[str, ...]
    """The terms of each chunk, one space between two."""

    def keys(self, tree: Tree, *, with_path: bool) -> Hashes:
        """One key per chunk: its text, or its text at its path (section 4.2).

        The path is that of the chunk's first node: the tags from `<html>` down, without positions.
        """
        digests = b"".join(
            blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
            for text in self.texts
        )
        keys = np.frombuffer(digests, "<u8").astype(np.uint64)
        return mix(keys + mix(tree.path_hash[self.nodes[self.first]])) if with_path else keys


def cut(tree: Tree, separators: tuple[str, ...]) -> Cut:
    """The chunks of a page: what can be seen, cut where a separating element begins or ends.

    Figure 2 of the paper leaves the buffer full when it meets a known chunk, and forgets it at the
    end of the page. Here each chunk ends where the next one begins, and the last one counts too.
    """
    is_text = tree.is_text & tree.shown & (tree.text_length > 0)
    is_image = _IMAGES[tree.tag] & tree.shown
    nodes = np.flatnonzero(is_text | is_image).astype(np.int32)
    words = list(_words(tree, nodes, is_image[nodes]))
    spoken = np.array([bool(piece) for piece in words], np.bool_)
    nodes = nodes[spoken]
    block = block_numbers(tree, separators)[nodes]
    is_first = np.diff(block, prepend=-1) > 0
    first = np.flatnonzero(is_first).astype(np.int32)
    pieces = [piece for piece in words if piece]
    texts = tuple(
        _terms(b" ".join(pieces[start:stop]))
        for start, stop in pairwise((*first.tolist(), len(pieces)))
    )
    return Cut(nodes, (np.cumsum(is_first) - 1).astype(np.int32), first, texts)


def block_numbers(tree: Tree, separators: tuple[str, ...]) -> Ints:
    """Of each node, how many separating elements begin or end before it, itself included."""
    separates: Flags = tags.numbers(*separators)[tree.tag]
    closed = np.bincount(tree.end[separates], minlength=len(tree) + 1)
    return np.asarray(np.cumsum(separates + closed[: len(tree)]), np.int32)


def _words(tree: Tree, nodes: Ints, is_image: Flags) -> Iterator[bytes]:
    """The words of each node as canonical HTML writes them; b'' for an image that says nothing."""
    spans = zip(tree.start[nodes].tolist(), tree.stop[nodes].tolist(), strict=True)
    for (start, stop), image, node in zip(spans, is_image.tolist(), nodes.tolist(), strict=True):
        yield _image_bytes(tree, node) if image else tree.source[start:stop]


def _image_bytes(tree: Tree, node: int) -> bytes:
    """The words of an image; an input is one only if it says so."""
    attributes = tree.attributes(node)
    if tree.tag[node] == _INPUT and attributes.get("type", "").lower() != "image":
        return b""
    return image_words(attributes).replace("&", "&amp;").encode("utf-8", "surrogatepass")


def _terms(written: bytes) -> str:
    """The text with its entities decoded (section 3.3) and one space between two terms."""
    text = written.decode("utf-8", "surrogatepass")
    if "&" in text:
        for escape, character in _ESCAPES:
            text = text.replace(escape, character)
    return " ".join(text.split())
