"""One page as parallel arrays over its nodes: what every stage reads."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dehusk import _kernel
from dehusk.page import tags
from dehusk.page.hashing import PATH_INVERSES, PATH_POWERS, TREE_INVERSES, TREE_POWERS, Hashes, mix
from dehusk.page.patterns import pattern

Made = TypeVar("Made")

Floats = NDArray[np.float64]


Ints = NDArray[np.int32]


Flags = NDArray[np.bool_]


Choices = NDArray[np.int8]
"""Of each node the number of a `Label`, or -1 for none."""


ATTRIBUTE: Final = pattern(rb'[ ]([^ ]+?)="([^"]*)"')
"""One attribute in canonical HTML. Names may hold quotes, so counting quotes would not do."""


_ESCAPES: Final = (
    ("&nbsp;", "\xa0"),
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", '"'),
    ("&amp;", "&"),
)


def _decode(escaped: bytes) -> str:
    """The text that canonical HTML writes as `escaped`."""
    text = escaped.decode("utf-8", "surrogatepass")
    if "&" in text:
        for escape, character in _ESCAPES:
            text = text.replace(escape, character)
    return text


class Layout(Struct, frozen=True, eq=False):
    """Where each node stands on the laid out page: its box, in CSS pixels, in document order.

    What takes no room (never shown, or empty) has width and height 0. Node 0 is the whole page.
    """

    x: Floats
    """The left edge of the box."""
    y: Floats
    """The upper edge of the box."""
    width: Floats
    height: Floats
    is_estimate: bool
    """False for what a browser measured."""

    @property
    def area(self) -> Floats:
        """Square pixels of each box."""
        return self.width * self.height


class Tree:
    """One page as parallel arrays over its nodes, elements and text nodes alike, in document order.

    The arrays point into `source`, the page as canonical HTML (UTF-8, every tag explicit, every
    attribute quoted). Node 0 is `<html>`. Below node i are the nodes i + 1 … end[i] - 1:

        source   <html><body><p>Hi <b>you</b></p></body></html>
        node     0     1     2  3  4  5
        tag      html  body  p  #  b  #           # is a text node
        parent   -1    0     1  2  2  4
        end      6     6     6  4  6  6

    Lengths count characters of shown text, white space at a text node's ends left out. A path is
    the tags from `<html>` down to the node, without positions. Hashes are the same on every run
    and machine. The kernel owns the arrays, which nobody can write to.
    """

    kernel: _kernel.Tree
    """The tree as the kernel's functions take it."""
    url: str | None
    """Where the page came from; what its links are relative to."""
    layout: Layout | None
    """What a browser measured, where one was asked."""
    parent: Ints
    """The node's parent; -1 for node 0."""
    end: Ints
    """One behind the last node below this one."""
    depth: Ints
    tag: NDArray[np.int16]
    """The node's number in `tags.NAMES`."""
    start: Ints
    """Where the node's start tag, or its text, begins in `source`."""
    stop: Ints
    """One behind the end of the node's start tag, or of its text, in `source`."""
    close: Ints
    """One behind the last byte of all that belongs to the node in `source`."""
    shown: Flags
    """False for what a browser never shows: head, script, style, `hidden` and the like."""
    raw: Flags
    """True for text that is written without escapes, as in script and style."""
    text_length: Ints
    link_length: Ints
    """The part of `text_length` that is inside links."""
    own_hash: Hashes
    """Of a text node's text without white space at its ends (0 for none), of an element's tag."""
    path_hash: Hashes

    def __init__(
        self, kernel: _kernel.Tree, url: str | None = None, layout: Layout | None = None
    ) -> None:
        self.kernel, self.url, self.layout = kernel, url, layout

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NDArray[Any]:
            # Most pages are read by the kernel alone, so a view is made when it is asked for.
            column = getattr(self.kernel, name)
            # Twice as fast as np.asarray.
            view = self.__dict__[name] = np.frombuffer(column, column.format)
            return view

    @cached_property
    def source(self) -> bytes:
        """The page as canonical HTML. Copied when it is asked for: text alone needs none."""
        return self.kernel.source

    def __len__(self) -> int:
        return len(self.kernel)

    def laid_out(self, layout: Layout | None) -> Tree:
        """The same tree with what a browser measured."""
        return Tree(self.kernel, self.url, layout)

    def once(self, make: Callable[[Tree], Made]) -> Made:
        """What `make` makes of this tree: made on first asking, and kept as long as the tree."""
        kept: dict[Callable[[Tree], Any], Any] = self.__dict__.setdefault("_kept", {})
        if make not in kept:
            kept.setdefault(make, make(self))  # Of two threads that make it, both get the first.
        made: Made = kept[make]
        return made

    @cached_property
    def is_text(self) -> Flags:
        """True for text nodes."""
        return np.asarray(self.tag == tags.TEXT)

    @cached_property
    def subtree_hash(self) -> Hashes:
        """Of each node: its tag or text and all that is below it; attributes do not count.

        Text of white space does not count.
        """
        return self.subtree_hashes(self.own_hash)

    def subtree_hashes(self, own_hash: Hashes) -> Hashes:
        """Of each node, a hash of what these say of it and of all that is below it; 0 says nothing.

        The sum over the nodes of own_hash · P**(place in order) · Q**depth, taken relative to the
        node's own place and depth.
        """
        counts = own_hash != 0
        place = np.cumsum(counts) - counts
        size = int(place[-1]) + 2
        deep = int(self.depth.max()) + 1
        weight = TREE_POWERS.up_to(size)[place] * PATH_POWERS.up_to(deep)[self.depth]
        total = np.zeros(len(self) + 1, np.uint64)
        np.cumsum(own_hash * weight, dtype=np.uint64, out=total[1:])
        inverse = TREE_INVERSES.up_to(size)[place] * PATH_INVERSES.up_to(deep)[self.depth]
        return mix((total[self.end] - total[:-1]) * inverse)

    def sums(self, values: NDArray[Any]) -> NDArray[Any]:
        """Of each node the sum over it and all below it; of flags how many are True."""
        total = np.concatenate(([0], np.cumsum(values)))
        return np.asarray(total[self.end] - total[:-1])

    def text(self, node: int) -> str:
        """The text of a text node as the page means it, white space included."""
        written = self.source[self.start[node] : self.stop[node]]
        return written.decode("utf-8", "surrogatepass") if self.raw[node] else _decode(written)

    def name(self, node: int) -> str:
        """The element's tag as written in canonical HTML; '#text' for a text node."""
        number = int(self.tag[node])
        if number != tags.OTHER:
            return tags.NAMES[number]
        start_tag = self.source[self.start[node] + 1 : self.stop[node] - 1]
        return start_tag.split(b" ", 1)[0].decode("utf-8", "surrogatepass")

    def attributes(self, node: int) -> dict[str, str]:
        """The element's attributes by name; empty for a text node."""
        if self.tag[node] == tags.TEXT:
            return {}
        start_tag = self.source[self.start[node] : self.stop[node]]
        return {
            name.decode("utf-8", "surrogatepass"): _decode(value)
            for name, value in ATTRIBUTE.findall(start_tag)
        }
