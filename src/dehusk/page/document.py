"""The parser's document of a page, and the tree that the kernel makes of it."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np
import turbohtml

from dehusk import _kernel
from dehusk.errors import PageTooLarge, TooManyNodes
from dehusk.page import tags
from dehusk.page.page import Page
from dehusk.page.patterns import pattern
from dehusk.settings import Limits

_MIN_ELEMENT_BYTES: Final = len("<p>")
_MAX_PLACE: Final = 2**31 - 1
"""Places in a page are 32-bit numbers."""
_MIN_LARGE: Final = 1_000_000
"""Characters of a page for which memory counts more than the time to look for scripts."""
_LONG_SCRIPT: Final = pattern(r"<script(?:\s[^<>]*+)?>([^<\0\r]{100000,}+)</script>")
_NAME: Final = "dehusk-script-"
_NAMED: Final = pattern(rb"(dehusk-script-\d+)(?=<)")


def scanned(page: Page, limits: Limits) -> _kernel.Tree:
    """The tree of the parser's document."""
    document, source, sizes = _read_short(page) or (*read(page), {})
    if len(source) > _MAX_PLACE:
        raise PageTooLarge(page.url, f"{len(source)} bytes when written out: no limit allows that")
    _check_nodes(page, limits, document, source)
    return _kernel.scan(source, limits.max_depth, partial(_foreign, document, sizes))


def _read_short(page: Page) -> tuple[turbohtml.Document, bytes, Mapping[str, int]] | None:
    """As `read`, but with names in the place of long scripts, and how long those are; or None.

    The parser takes eight bytes for each character of a script. It gets a name for each that has
    nothing in it which could end it, and that is all that is left for it to find there.
    """
    html = page.html
    if not isinstance(html, str) or len(html) < _MIN_LARGE or _NAME in html:
        return None
    places = {
        f"{_NAME}{number}": slice(*found.span(1))
        for number, found in enumerate(_LONG_SCRIPT.finditer(html))
        if html.find("-->", *found.span(1)) < 0  # It could end a comment that began before.
    }
    if not places:
        return None
    document, short = read(replace(page, html=_named(html, places)))
    found = [raw.text for raw in document.iter_elements("script") if _is_html(raw)]
    if sorted(text for text in found if text in places) != sorted(places):
        return None  # Some script stands in a comment, a title, or in SVG, where it is markup.
    whole, sizes = io.BytesIO(), {}
    try:
        for part in _NAMED.split(short):
            name = part.decode() if part.startswith(_NAME.encode()) else ""
            text = html[places[name]].encode() if name in places else part
            sizes[name] = whole.write(text)
    except UnicodeEncodeError:
        return None  # Half a surrogate pair: see `read`.
    return document, whole.getvalue(), sizes


def _named(html: str, places: Mapping[str, slice]) -> str:
    """The page with names in the place of what stands there."""
    parts, done = [], 0
    for name, place in places.items():
        parts += [html[done : place.start], name]
        done = place.stop
    return "".join((*parts, html[done:]))


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
    except (LookupError, UnicodeEncodeError):
        if charset is None:
            raise
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


def _is_html(element: turbohtml.Element) -> bool:
    """False for SVG and MathML."""
    return element.namespace is turbohtml.Namespace.HTML


def _foreign(
    document: turbohtml.Document, sizes: Mapping[str, int]
) -> tuple[bytes, bytes, bytes, bytes]:
    """What the canonical HTML does not say of its tags, for the kernel's `scan`, which seldom asks.

    Flags of the elements that are named as raw ones are, as void ones, and as those that eat a
    newline, in document order: is it SVG or MathML, so that it is none? And of the raw ones, the
    bytes of their text; `sizes` are those of texts that have only a name here.
    """
    raws, voids, eaters = (
        bytes(not _is_html(element) for element in document.iter_elements(names))
        for names in (tags.RAW, tags.VOID, tags.NEWLINE_EATERS)
    )
    # <plaintext> may hold elements, of links and the like that are still open: no raw text.
    lengths = [
        sum(
            sizes.get(child.data, len(child.data.encode()))
            for child in raw.children
            if isinstance(child, turbohtml.Text)
        )
        for raw in document.iter_elements(tags.RAW)
    ]
    return raws, voids, eaters, np.array(lengths, np.int64).tobytes()
