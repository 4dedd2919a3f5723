"""The parser's document of a page, and the tree that the kernel makes of it."""

from __future__ import annotations

import io
from functools import partial
from typing import Final

import numpy as np
import turbohtml

from dehusk import _kernel
from dehusk.errors import PageTooLarge, TooManyNodes
from dehusk.page import tags
from dehusk.page.page import Page
from dehusk.settings import Limits

_MIN_ELEMENT_BYTES: Final = len("<p>")
_MAX_PLACE: Final = 2**31 - 1
"""Places in a page are 32-bit numbers."""


def scanned(page: Page, limits: Limits) -> _kernel.Tree:
    """The tree of the parser's document."""
    document, source = read(page)
    if len(source) > _MAX_PLACE:
        raise PageTooLarge(page.url, f"{len(source)} bytes when written out: no limit allows that")
    _check_nodes(page, limits, document, source)
    return _kernel.scan(source, limits.max_depth, partial(_foreign, document))


def read(page: Page) -> tuple[turbohtml.Document, bytes]:
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
