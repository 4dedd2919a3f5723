"""A page to its tree.

The kernel builds it while it reads the page. It cannot move what it has read: where browsers mend
the nesting of elements by moving them, in one page of twenty, the parser builds the whole tree and
writes it as canonical HTML, which the kernel reads.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from dehusk import _kernel
from dehusk.errors import NotHtml, PageTooLarge, TooManyNodes
from dehusk.page.kinds import PRESCANNED, UTF_8, as_html, is_utf_8_after_all, mended
from dehusk.page.page import Boxes, Page
from dehusk.page.tree import Floats, Layout, Tree
from dehusk.settings import Limits

if TYPE_CHECKING:
    import turbohtml

_SNIFFED: Final = 1445
"""How far the WHATWG's MIME sniffing looks into a resource."""
_MAX_BINARY_SHARE: Final = 0.05
_MAX_STRAY_BYTES: Final = 8
"""A page may hold stray control characters; real binary data has 10 % and more in its head (27 of
256 bytes are such, and zeros are common)."""
_STARTS_HTML: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?[\t\n\x0c\r ]*<(?:!--|(?:!doctype html|html|head|script|iframe|h1|div|font"
    rb"|table|a|style|title|b|body|br|p)[ >]|\?xml)",
    re.IGNORECASE,
)
"""What the WHATWG's MIME sniffing takes for HTML before it looks for binary bytes."""
_BINARY: Final = bytes(code for code in range(32) if code not in b"\t\n\x0c\r\x1b")
_MAGIC: Final = (
    b"%PDF-",
    b"PK\x03\x04",
    b"\x89PNG",
    b"GIF8",
    b"\xff\xd8\xff",
    b"\x1f\x8b",
    b"RIFF",
)
_WIDE: Final = (b"\xff\xfe", b"\xfe\xff")
_OTHER_CHARSET: Final = re.compile(rb"charset\s*+=\s*+[\"']?+\s*+(?!utf-?8\b)", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class ParsedPage:
    """A page's tree, and the page."""

    tree: Tree
    page: Page

    @cached_property
    def document(self) -> turbohtml.Document:
        """The parser's own document, whose elements come in the order of the tree's."""
        from dehusk.page.document import read  # noqa: PLC0415  few pages need the parser

        return read(self.page)[0]


def parse(page: Page, limits: Limits = Limits(), *, by_parser: bool = False) -> ParsedPage:
    """The tree of a page; bytes are decoded as browsers do. An empty page gives an empty tree.

    `by_parser` has the parser build it, so that its elements are those of the document for certain.

    Plain text keeps its lines, and bytes that cannot be in the charset that they state are read in
    another. A page that a browser showed gives a tree with its layout. Raises PageTooLarge, NotHtml
    or TooManyNodes.
    """
    _check_bytes(page, limits)
    page = as_html(page)
    if is_utf_8_after_all(page):
        page = replace(page, charset="utf-8")
    kernel = None if by_parser else _built(page, limits)
    if kernel is None:
        from dehusk.page.document import scanned  # noqa: PLC0415  few pages need the parser

        page = mended(page)
        kernel = scanned(page, limits)
    tree = Tree(kernel, page.url)
    if len(tree) > limits.max_nodes:
        raise TooManyNodes(page.url, f"{len(tree)} nodes, more than {limits.max_nodes}")
    if page.boxes is not None:
        tree = tree.laid_out(layout_of(tree, page.boxes))
    return ParsedPage(tree, page)


def _built(page: Page, limits: Limits) -> _kernel.Tree | None:
    """The tree that the kernel builds, if the page is UTF-8 and nothing in it has to be moved."""
    html = page.html
    is_decoded = isinstance(html, str) or (page.charset or "").lower() in UTF_8
    if not is_decoded:
        assert isinstance(html, bytes)
        if page.charset or _OTHER_CHARSET.search(html, 0, PRESCANNED):
            return None
    return _kernel.build(html, limits.max_depth, limits.max_nodes, is_decoded)


def _check_bytes(page: Page, limits: Limits) -> None:
    """Raise for a page that is too large, or that is no text at all."""
    size = len(page.html)
    if isinstance(page.html, str) and size <= limits.max_bytes < 4 * size:
        size = len(page.html.encode("utf-8", "surrogatepass"))
    if size > limits.max_bytes:
        raise PageTooLarge(page.url, f"{size} bytes, more than {limits.max_bytes}")
    head = page.html[:_SNIFFED]
    if isinstance(head, str):
        head = head.encode("utf-8", "replace")
    elif head.startswith(_WIDE) or (page.charset or "").lower().startswith("utf-16"):
        return
    binary = len(head) - len(head.translate(None, _BINARY))
    if binary and _STARTS_HTML.match(head):
        return
    if head.startswith(_MAGIC) or binary > _MAX_STRAY_BYTES + _MAX_BINARY_SHARE * len(head):
        raise NotHtml(page.url, "binary data, not HTML")


def layout_of(tree: Tree, boxes: Boxes) -> Layout | None:
    """The layout of the tree that the boxes belong to; None where its elements are others.

    The boxes were numbered on a tree with one more attribute on every element. A parser tells
    apart by it what it otherwise takes for one: from the fourth unclosed <b> on, for example. A
    text that the browser does not know has the box of what it stands in.
    """
    is_element = ~tree.is_text
    if int(is_element.sum()) != len(boxes.elements):
        return None
    rank = np.cumsum(is_element) - 1
    found = np.full((len(tree), 4), np.nan)
    found[is_element] = boxes.elements
    texts = np.flatnonzero(tree.is_text)
    element = rank[tree.parent[texts]]
    place = _places(element)
    count = np.bincount(element, minlength=len(boxes.elements))
    is_known = boxes.text_count[element] == count[element]
    found[texts[is_known]] = boxes.texts[(boxes.first_text[element] + place)[is_known]]
    x, y, width, height = _with_parents(found, tree).T
    return Layout(x, y, width, height, is_estimate=False)


def _places(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of each item: how many of its group come before it."""
    order = np.argsort(groups, kind="stable")
    counts = np.bincount(groups)
    first = np.cumsum(counts) - counts
    places = np.empty(len(groups), np.int64)
    places[order] = np.arange(len(groups)) - first[groups[order]]
    return places


def _with_parents(boxes: Floats, tree: Tree) -> Floats:
    """The boxes, those that are not known taken from the next known node above."""
    boxes = boxes.copy()
    boxes[0] = np.nan_to_num(boxes[0])
    while True:
        unknown = np.flatnonzero(np.isnan(boxes[:, 0]))
        if not len(unknown):
            return boxes
        boxes[unknown] = boxes[tree.parent[unknown]]
