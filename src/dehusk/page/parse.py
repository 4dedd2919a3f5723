"""A page to its tree.

The kernel builds it while it reads the page. It cannot move what it has read: where browsers mend
the nesting of elements by moving them, in one page of twenty, the parser builds the whole tree and
writes it as canonical HTML, which the kernel reads.
"""

from __future__ import annotations

import codecs
import io
import re
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Final

import numpy as np
import turbohtml
from numpy.typing import NDArray

from dehusk import _kernel
from dehusk.errors import NotHtml, PageTooLarge, TooManyNodes
from dehusk.page import tags
from dehusk.page.page import Boxes, Page
from dehusk.page.tree import Floats, Layout, Tree
from dehusk.settings import Limits

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
_MIN_ELEMENT_BYTES: Final = len("<p>")
_MAX_PLACE: Final = 2**31 - 1
"""Places in a page are 32-bit numbers."""
_WIDE: Final = (b"\xff\xfe", b"\xfe\xff")
_UTF_8: Final = frozenset({"utf-8", "utf8"})
_PRESCANNED: Final = 1024
"""How far browsers look for the charset of a page before they read it."""
_OTHER_CHARSET: Final = re.compile(rb"charset\s*=\s*[\"']?\s*(?!utf-?8\b)", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class ParsedPage:
    """A page's tree, and the page."""

    tree: Tree
    page: Page

    @cached_property
    def document(self) -> turbohtml.Document:
        """The parser's own document, whose elements come in the order of the tree's."""
        return _read(self.page)[0]


def parse(page: Page, limits: Limits = Limits()) -> ParsedPage:
    """The tree of a page; bytes are decoded as browsers do. An empty page gives an empty tree.

    A page that a browser showed gives a tree with its layout. Raises PageTooLarge, NotHtml or
    TooManyNodes.
    """
    _check_bytes(page, limits)
    tree = Tree(_built(page, limits) or _scanned(page, limits), page.url)
    if len(tree) > limits.max_nodes:
        raise TooManyNodes(page.url, f"{len(tree)} nodes, more than {limits.max_nodes}")
    if page.boxes is not None:
        tree = tree.laid_out(layout_of(tree, page.boxes))
    return ParsedPage(tree, page)


def _built(page: Page, limits: Limits) -> _kernel.Tree | None:
    """The tree that the kernel builds, if the page is UTF-8 and nothing in it has to be moved."""
    html = page.html
    try:
        if isinstance(html, str):
            return _kernel.build(
                html.removeprefix("\ufeff").encode(), limits.max_depth, limits.max_nodes, True
            )
        is_decoded = (page.charset or "").lower() in _UTF_8
        if not is_decoded and (page.charset or _OTHER_CHARSET.search(html, 0, _PRESCANNED)):
            return None
        html.decode()
        html = html.removeprefix(codecs.BOM_UTF8)
        return _kernel.build(html, limits.max_depth, limits.max_nodes, is_decoded)
    except UnicodeError:
        return None


def _scanned(page: Page, limits: Limits) -> _kernel.Tree:
    """The tree of the parser's document."""
    document, source = _read(page)
    if len(source) > _MAX_PLACE:
        raise PageTooLarge(page.url, f"{len(source)} bytes when written out: no limit allows that")
    _check_nodes(page, limits, document, source)
    return _kernel.scan(source, limits.max_depth, partial(_foreign, document))


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


def _read(page: Page) -> tuple[turbohtml.Document, bytes]:
    """The parser's document and the page as canonical HTML."""
    html = page.html
    if isinstance(html, str):
        html = html.removeprefix("\ufeff")
    document = _parse_html(html, page.charset)
    try:
        return document, _canonical(document)
    except UnicodeEncodeError:
        # Half a surrogate pair is no character: it becomes U+FFFD, as in a decoder.
        assert isinstance(html, str), "decoded bytes hold no surrogates"
        html = html.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        document = _parse_html(html, None)
        return document, _canonical(document)


def _parse_html(html: str | bytes, charset: str | None) -> turbohtml.Document:
    """The parser's document. A charset that nobody knows is passed over, as browsers do."""
    try:
        return turbohtml.parse(
            html, encoding=charset, positions=False, allow_declarative_shadow_roots=False
        )
    except LookupError:
        return _parse_html(html, None)


def _canonical(document: turbohtml.Document) -> bytes:
    """The page from `<html>` on, every tag explicit, every attribute quoted."""
    root = document.root
    assert root is not None, "an HTML parser always makes <html>"
    # Piece by piece: what has plain ASCII alone is copied, and no piece leaves the nearest caches.
    # `join` would hold all pieces beside the whole.
    whole = io.BytesIO()
    whole.writelines(map(str.encode, root.serialize_iter()))
    return whole.getvalue()


def _check_nodes(page: Page, limits: Limits, document: turbohtml.Document, source: bytes) -> None:
    """Raise before memory is spent on a page with too many elements."""
    if len(source) < _MIN_ELEMENT_BYTES * limits.max_nodes:
        return
    elements = sum(1 for _ in document.iter_elements())
    if elements > limits.max_nodes:
        raise TooManyNodes(page.url, f"{elements} elements, more than {limits.max_nodes} nodes")


def _foreign(document: turbohtml.Document) -> tuple[bytes, bytes, bytes, bytes]:
    """What the canonical HTML does not say of its tags, for the kernel's `scan`, which seldom asks.

    Flags of the elements that are named as raw ones are, as void ones, and as those that eat a
    newline, in document order: is it SVG or MathML, so that it is none? And of the raw ones, the
    bytes of their text.
    """
    raws, voids, eaters = (
        bytes(
            element.namespace is not turbohtml.Namespace.HTML
            for element in document.iter_elements(names)
        )
        for names in (tags.RAW, tags.VOID, tags.NEWLINE_EATERS)
    )
    # <plaintext> may hold elements, of links and the like that are still open: no raw text.
    lengths = [
        sum(len(child.data.encode()) for child in raw.children if isinstance(child, turbohtml.Text))
        for raw in document.iter_elements(tags.RAW)
    ]
    return raws, voids, eaters, np.array(lengths, np.int64).tobytes()


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
