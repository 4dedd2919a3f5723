"""The plain data that the stages hand to each other: pages, trees, labels and limits."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from dehusk import tags
from dehusk.errors import SettingError, UsageError
from dehusk.hashing import PATH_INVERSES, PATH_POWERS, TREE_INVERSES, TREE_POWERS, Hashes, mix
from dehusk.packing import Column, Cut, Packed, Packing

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Flags = NDArray[np.bool_]
Choices = NDArray[np.int8]
"""Of each node the number of a `Label`, or -1 for none."""


@dataclass(frozen=True, slots=True, eq=False)
class Boxes:
    """Where a browser put the nodes of a page: x, y, width, height, in pixels of CSS.

    Without a box, width and height are 0; an element that no browser knows of is nan.
    """

    elements: Floats
    """A row for each element, in document order."""
    texts: Floats
    """A row for each text, ordered by the element it stands in, then by its place there."""
    first_text: NDArray[np.int64]
    """By element: the row of its first text. What it has not does not count."""
    text_count: NDArray[np.int64]
    """By element: the texts that stand in it."""


@dataclass(frozen=True, slots=True)
class Capture:
    """How an archive or a crawl came to a page."""

    record_id: str | None = None
    """The name of the archive's record, as `<urn:uuid:…>`."""
    date: str | None = None
    """When the page was fetched, in ISO 8601."""
    truncated: str | None = None
    """Why the page is not whole, in a word: `length`, `time`, `disconnect`, `segment`, or `short`
    where it has fewer bytes than its server said."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page as it came: HTML as text or as bytes, and where it came from.

    `charset` is what the transport says of bytes; a byte order mark outranks it. `site` names the
    site the page belongs to where the source knows it.
    """

    html: str | bytes
    url: str | None = None
    site: str | None = None
    charset: str | None = None
    boxes: Boxes | None = field(default=None, repr=False, compare=False)
    """Where a browser put its nodes, if one showed it."""
    capture: Capture | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.html, str | bytes):
            raise UsageError(f"a page's HTML is str or bytes, not {type(self.html).__name__}")


MAX_DEPTH: Final = 512
"""Where browsers and the parser stop nesting elements: what comes deeper become siblings there."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one page may cost before it is refused with a `PageError`.

    Depth is not refused: elements below `max_depth` become siblings, as in browsers.
    """

    max_bytes: int = 20_000_000
    max_nodes: int = 500_000
    max_depth: int = MAX_DEPTH
    timeout_s: float = 10.0

    def __post_init__(self) -> None:
        if self.max_depth > MAX_DEPTH:
            raise SettingError(f"limits: max_depth is at most {MAX_DEPTH}, as in browsers")
        for name in ("max_bytes", "max_nodes", "max_depth", "timeout_s"):
            if not getattr(self, name) > 0:
                raise SettingError(f"limits: {name} must be above 0")


ATTRIBUTE: Final = re.compile(rb'[ ]([^ ]+?)="([^"]*)"')
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


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
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


TREE_PACKING: Final = Packing(
    Column("own_hash", np.uint64),
    Column("path_hash", np.uint64),
    Column("parent", np.int32),
    Column("end", np.int32),
    Column("depth", np.int32),
    Column("start", np.int32),
    Column("stop", np.int32),
    Column("close", np.int32),
    Column("text_length", np.int32),
    Column("link_length", np.int32),
    Column("tag", np.int16),
    Column("shown", np.bool_),
    Column("raw", np.bool_),
)
"""The arrays of a tree in memory, as the kernel lays them out (`src/kernel/tree.c`)."""


@dataclass(frozen=True, eq=False)
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
    and machine.
    """

    source: bytes
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
    url: str | None = None
    """Where the page came from; what its links are relative to."""
    layout: Layout | None = None
    """What a browser measured, where one was asked."""

    @staticmethod
    def of_memory(memory: bytearray, source: bytes, url: str | None) -> Tree:
        """The tree whose arrays the kernel made; views of them are made when asked for."""
        tree = object.__new__(Tree)
        tree.__dict__.update(source=source, url=url, layout=None, packed=memory)
        return tree

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NDArray[Any]:
            memory = self.__dict__.get("packed")
            if memory is None or name not in TREE_PACKING:
                raise AttributeError(name)
            counts = (len(memory) // TREE_PACKING.row_bytes,)
            view = self.__dict__[name] = TREE_PACKING.view(memory, counts, name)
            return view

    def __len__(self) -> int:
        memory = self.__dict__.get("packed")  # Without a view where there is none yet.
        return len(self.parent) if memory is None else len(memory) // TREE_PACKING.row_bytes

    @cached_property
    def packed(self) -> Packed:
        """All arrays in one piece of memory."""
        return TREE_PACKING.pack([getattr(self, name) for name in TREE_PACKING.names])

    def cut(self, wanted: bytes) -> Cut:
        """Some of the arrays, as the kernel takes them."""
        memory = self.packed
        counts = (len(memory) // TREE_PACKING.row_bytes,)
        return memory, counts, TREE_PACKING.sizes, wanted

    @cached_property
    def is_text(self) -> Flags:
        """True for text nodes."""
        return np.asarray(self.tag == tags.TEXT)

    @cached_property
    def subtree_hash(self) -> Hashes:
        """Of each node: its tag or text and all that is below it; attributes do not count.

        The sum over the nodes of own_hash · P**(place in order) · Q**depth, taken relative to the
        node's own place and depth. Text of white space does not count.
        """
        counts = self.own_hash != 0
        place = np.cumsum(counts) - counts
        size = int(place[-1]) + 2
        deep = int(self.depth.max()) + 1
        weight = TREE_POWERS.up_to(size)[place] * PATH_POWERS.up_to(deep)[self.depth]
        total = np.zeros(len(self) + 1, np.uint64)
        np.cumsum(self.own_hash * weight, dtype=np.uint64, out=total[1:])
        inverse = TREE_INVERSES.up_to(size)[place] * PATH_INVERSES.up_to(deep)[self.depth]
        return mix((total[self.end] - total[:-1]) * inverse)

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


@dataclass(frozen=True, slots=True, eq=False)
class Smoothing:
    """What smoothing is told of every node, in document order."""

    penalty: Floats
    """What it costs to begin a section at the node, where a distance of 1 between the score of one
    node and its smoothed score costs 1. At least 0; infinite where no section may begin."""
    weight: Floats | None = None
    """How much the node's own score counts, and of a hidden one what it adds to the node that it
    goes with; None for 1 each."""
    hidden: Flags | None = None
    """True for nodes too small to be smoothed: they go with what they stand in. None for none."""


@dataclass(frozen=True, slots=True, eq=False)
class Smoothed:
    """What smoothing makes of scores, in document order."""

    scores: Floats
    """0 content … 1 template, never below the parent's; nan for what is never shown."""
    sections: Ints
    """Of each node the node that its section begins with: the maximal piece of one score."""


class Label(IntEnum):
    """What a node is. The numbers are those of the label arrays.

    Arrays are compared with a member's `value`: of a member itself numpy asks for attributes, and
    a Ctrl-C that comes while it asks is lost.
    """

    CONTENT = 0
    TEMPLATE = 1
    HIDDEN = 2
    """Never shown, so neither."""


class Reason(IntEnum):
    """Why a node has its label."""

    SCORED_CONTENT = 0
    """Its score is 0.5 or less."""
    SCORED_TEMPLATE = 1
    """Its score is above 0.5."""
    FOLLOWS_ANCESTOR = 2
    """Nothing about it was judged; it goes with what it stands in."""
    NO_OPINION = 3
    """Nothing on the page was judged: kept."""
    HOLDS_CONTENT = 4
    """Something below it is content."""
    HOLDS_TEMPLATE = 5
    """All that can be seen below it is template."""
    NEVER_SHOWN = 6
    """A browser does not show it."""
    KEPT = 7
    """The user keeps it."""
    DROPPED = 8
    """The user drops it."""

    @property
    def words(self) -> str:
        """The reason for people to read."""
        by_user = {Reason.KEPT: "your rule keeps it", Reason.DROPPED: "your rule drops it"}
        return by_user.get(self) or self.name.lower().replace("_", " ")


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """The verdict on every node of a tree: score, label and reason, in document order."""

    scores: Floats
    """0 content … 1 template, nan for no opinion."""
    labels: NDArray[np.int8]
    """Numbers of `Label`."""
    reasons: NDArray[np.int8]
    """Numbers of `Reason`."""
    sections: Ints | None = None
    """Of each node the node that its section begins with; None from a method without smoothing."""


@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """What a method's scores are made of, in document order; nan where it has no opinion."""

    page_score: Floats
    """What the page alone says, 0 content … 1 template."""
    site_score: Floats
    """What the other pages of the site say."""
    score: Floats
    """What the two come to: as `score` gives it, before any smoothing."""
    reason: NDArray[np.int16]
    """Of each node the place in `reasons` of why it has its score; -1 for none."""
    reasons: tuple[str, ...] = ()
    """The method's reasons in words, such as `seen at this place on most pages`."""


@dataclass(frozen=True, slots=True)
class FamilySeen:
    """Pages of a site that share a template, as the site's memory knows them."""

    number: int
    """What `Verdict.family` calls it."""
    pages: int
    last_page: int
    """The number of the last page of it, among all pages of the site."""
    example: str | None = None
    """The URL of its first page that was answered on, where that is known."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a method says of a page as a whole; None where it does not know."""

    family: int | None = None
    """Names, within its site, the pages that share a template with this one."""
    type: str | None = None
    type_confidence: float | None = None
    template_changed: bool | None = None
    """True on the page that shows that the site's template has changed."""
