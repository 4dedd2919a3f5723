"""What a page tells a crawler: where its links lead, what it asks for, which URL is its own."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final
from urllib.parse import urljoin

import turbohtml

from dehusk.sources.crawl.fetch import Response
from dehusk.sources.crawl.reservations import Asked, by_headers, by_meta

_MAX_LINKS: Final = 5000
"""Links that are taken from a page. Site maps for people have some thousand."""
_ANCESTORS: Final = 6
"""Tags above a link that say where on the page it stands."""
_UNUSABLE: Final = re.compile(r"\s*(?!https?:)[a-z][a-z0-9+.-]*:|\s*#|\s*\Z", re.IGNORECASE)
_PLAIN: Final = re.compile(r"https?://[\w.:-]+(?:/[\w~%-][\w~%.-]*)*/?(?:\?[\w~%.=&-]*)?", re.ASCII)
"""A link that needs no joining: most are written so by systems that write them."""
_HEADER_LINK: Final = re.compile(r'<([^<>]{1,2000})>\s*;\s*rel="?canonical"?', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PageLink:
    """One link as it leads from a page."""

    url: str
    place: str
    """The tags above it, innermost first: links that stand alike on pages lead to alike pages."""
    nofollow: bool


def pack_links(links: Iterable[PageLink]) -> bytes:
    """Links as bytes, to be kept for a visit at which the server only says 'unchanged'."""
    rows = [(link.url, link.place, link.nofollow) for link in links]
    return zlib.compress(json.dumps(rows).encode("ascii"), 1)


def unpack_links(packed: bytes) -> tuple[PageLink, ...]:
    """The links that `pack_links` packed; none out of nothing."""
    return tuple(PageLink(*row) for row in json.loads(zlib.decompress(packed))) if packed else ()


@dataclass(frozen=True, slots=True)
class Reading:
    """What a page tells a crawler."""

    links: tuple[PageLink, ...]
    canonical: str | None
    asked: Asked
    text_hash: int


def read(response: Response, url: str, token: str) -> Reading:
    """What the page and its headers tell the crawler of this name."""
    document = _parse(response)
    base = _base(document, url)
    asked = by_headers(response.values("x-robots-tag"), response.header("tdm-reservation"), token)
    for meta in document.iter_elements(("meta",)):
        asked |= by_meta(_text(meta, "name"), _text(meta, "content"), token)
    root = document.root
    assert root is not None, "an HTML parser always makes <html>"
    written = " ".join(root.text.split()).encode("utf-8", "surrogatepass")
    text_hash = int.from_bytes(blake2b(written, digest_size=8).digest(), "big", signed=True)
    return Reading(_links(document, base), _canonical(document, base, response), asked, text_hash)


def _parse(response: Response) -> turbohtml.Document:
    """The parser's document; a charset that nobody knows is passed over, as browsers do."""
    try:
        return turbohtml.parse(
            response.body,
            encoding=response.charset,
            positions=False,
            allow_declarative_shadow_roots=False,
        )
    except LookupError:
        return turbohtml.parse(response.body, positions=False, allow_declarative_shadow_roots=False)


def _base(document: turbohtml.Document, url: str) -> str:
    """What the page's links are relative to."""
    for element in document.iter_elements(("base",)):
        if written := _text(element, "href"):
            return _joined(url, written) or url
    return url


def _links(document: turbohtml.Document, base: str) -> tuple[PageLink, ...]:
    """Each link once, in document order, the meta refresh last."""
    found: dict[str, PageLink] = {}
    for element in document.iter_elements(("a", "area")):
        written = _text(element, "href")
        if _UNUSABLE.match(written[:60]) or not (url := _joined(base, written)):
            continue
        nofollow = "nofollow" in _text(element, "rel").lower().split()
        # Of two links to one page the one that may be followed counts.
        if url not in found or (found[url].nofollow and not nofollow):
            found[url] = PageLink(url, _place(element), nofollow)
        if len(found) >= _MAX_LINKS:
            break
    for meta in document.iter_elements(("meta",)):
        if _text(meta, "http-equiv").lower() == "refresh":
            _, _, written = _text(meta, "content")[:2000].partition("=")
            url = _joined(base, written.strip(" '\""))
            if url and written:
                found.setdefault(url, PageLink(url, "refresh", nofollow=False))
    return tuple(found.values())


def _canonical(document: turbohtml.Document, base: str, response: Response) -> str | None:
    """The URL that the page, or its Link header, names as its own."""
    for element in document.iter_elements(("link",)):
        if "canonical" in _text(element, "rel").lower().split() and _text(element, "href"):
            return _joined(base, _text(element, "href"))
    found = _HEADER_LINK.search(response.header("link")[:10_000])
    return _joined(base, found[1]) if found else None


def _place(element: turbohtml.Element) -> str:
    """The tags above an element, innermost first."""
    names: list[str] = []
    above = element.parent
    while isinstance(above, turbohtml.Element) and len(names) < _ANCESTORS:
        names.append(above.tag)
        above = above.parent
    return ">".join(names)


def _text(element: turbohtml.Element, name: str) -> str:
    """An attribute as it is written; empty where it is not there."""
    value = element.attrs.get(name)
    if value is None:
        return ""
    return value if isinstance(value, str) else " ".join(value)


def _joined(base: str, written: str) -> str | None:
    """The URL made absolute; None for what cannot be read."""
    if _PLAIN.fullmatch(written):
        return written
    try:
        return urljoin(base, written.strip())
    except ValueError:
        return None
