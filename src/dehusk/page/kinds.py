"""What is not HTML, and what its charset cannot be: told by how the bytes are."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from typing import Final

from dehusk.errors import IsFeed, IsJson
from dehusk.page.page import Page
from dehusk.page.patterns import pattern

_START: Final = 4096
"""Bytes in which the first element of a feed stands."""
_FEED: Final = pattern(
    rb"(?:\xef\xbb\xbf)?\s*+(?:<\?[^>]*+>\s*+|(?><!--.*?-->)\s*+)*+"
    rb"<(?:(?:[\w-]+:)?(rss|RDF)[\s>]|(feed)\s[^>]*http://www\.w3\.org/2005/Atom)",
    re.DOTALL,
)
_TAG: Final = (
    r"<(?:[A-Za-z][A-Za-z0-9-]*[\s/>]|/[A-Za-z]|!(?:--|[A-Za-z\[])|\?)|&(?:[A-Za-z]+|#\w+);"
)
_HTML: Final = pattern(_TAG)
_HTML_BYTES: Final = pattern(_TAG.encode())
"""What text that is no HTML does not have."""
_PAGE: Final = pattern(rb"<(?:!doctype\s+html|html|head|title|body)[\s>]", re.IGNORECASE)
"""What stands at the start of a page, and hardly in that of a text."""
_MARKS: Final = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_NOT_ASCII: Final = ("utf-16", "iso-2022", "csiso2022")
"""How the charsets are called in which a byte of ASCII may be half a character."""
_WITH_KANA: Final = dict.fromkeys(("iso-2022-jp", "csiso2022jp"), "iso2022_jp_ext")
"""Browsers read more of these than Python does by that name."""
PRESCANNED: Final = 1024
"""How far browsers look for the charset of a page before they read it."""
_STATED: Final = pattern(rb"charset\s*+=\s*+[\"']?+\s*+([\w:.-]++)", re.IGNORECASE)
UTF_8: Final = frozenset(("utf-8", "utf8"))
_LATIN: Final = frozenset((
    "iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "latin-1", "l1", "windows-1252", "cp1252",
    "us-ascii", "ascii",
))  # fmt: skip
_STRAYS: Final = pattern("[\udc80-\udcff]+")
"""Bytes beyond ASCII that are no UTF-8, as Python decodes them."""
_MAX_CUT: Final = 3
"""Bytes that are left of a character where a page was cut off."""
_MAX_RUN: Final = 1.5
"""Letters beyond ASCII that stand together in languages of the West; Greek and Russian write whole
words of them."""


def as_html(page: Page) -> Page:
    """The page, as it is if it is HTML; plain text of several lines as one that keeps them.

    Raises IsFeed and IsJson.
    """
    _check_feed(page)
    _check_json(page)
    text = _readable(page)
    if isinstance(text, str):
        is_plain = not _HTML.search(text) and "\n" in text.strip()
    else:
        is_plain = not _HTML_BYTES.search(text) and b"\n" in text.strip()
    return replace(page, html=_kept_lines(text)) if is_plain else page


def text_as_html(page: Page) -> Page:
    """Plain text as a page that shows it as it is; a page that was saved as text stays one."""
    text = _readable(page)
    is_page = _PAGE.search(_head(text), 0, PRESCANNED)
    return page if is_page else replace(page, html=_kept_lines(text))


def _readable(page: Page) -> str | bytes:
    """The text, decoded where bytes of ASCII may be parts of other characters."""
    html, charset = page.html, (page.charset or "").lower()
    if isinstance(html, str) or html.startswith(_MARKS[0]):
        return html
    if html.startswith(_MARKS):
        charset = "utf-16"
    if not charset.startswith(_NOT_ASCII):
        return html
    try:
        return html.decode(_WITH_KANA.get(charset, charset), "replace")
    except (LookupError, ValueError):
        return html  # Nobody knows such a charset.


def _kept_lines(text: str | bytes) -> str | bytes:
    if isinstance(text, str):
        escaped = text.removeprefix("\ufeff").replace("&", "&amp;").replace("<", "&lt;")
        return f"<pre>\n{escaped}"
    mark = _MARKS[0] if text.startswith(_MARKS[0]) else b""
    return (
        mark + b"<pre>\n" + text.removeprefix(mark).replace(b"&", b"&amp;").replace(b"<", b"&lt;")
    )


def _head(html: str | bytes) -> bytes:
    head = html[:_START]
    return head.encode("utf-8", "replace") if isinstance(head, str) else head


def _check_feed(page: Page) -> None:
    found = _FEED.match(_head(page.html))
    if found:
        kind = "an Atom feed" if found[2] else "an RSS feed"
        raise IsFeed(page.url, f"{kind}, not a page: clean the pages that it links to")


def _check_json(page: Page) -> None:
    """Raise IsJson for an object or a list of JSON."""
    html = page.html
    html = html.removeprefix("\ufeff") if isinstance(html, str) else html.removeprefix(_MARKS[0])
    if html[:_START].lstrip()[:1] not in ("{", "[", b"{", b"["):
        return
    from msgspec import DecodeError, Raw, json  # noqa: PLC0415  few pages begin so

    with suppress(DecodeError, UnicodeError, RecursionError):
        json.decode(html, type=Raw)  # It is read, but not built.
        raise IsJson(
            page.url,
            "JSON, not a page: clean JSON lines (an object a line, with the page in `html`) as a"
            " .jsonl file, or name the field with --html-field",
        )


def stated_charset(page: Page) -> str | None:
    """The charset that the transport or the start of the page states, in small letters."""
    if page.charset or isinstance(page.html, str) or page.html.startswith(_MARKS):
        return (page.charset or "").lower() or None
    found = _STATED.search(page.html, 0, PRESCANNED)
    return found[1].decode("ascii", "replace").lower() if found else None


def is_utf_8_after_all(page: Page) -> bool:
    """Is it UTF-8, though it states Latin-1 or the like?"""
    html = page.html
    if isinstance(html, str) or html.isascii() or stated_charset(page) not in _LATIN:
        return False
    try:
        html.decode()
    except UnicodeDecodeError:
        return False
    return True


def mended(page: Page) -> Page:
    """The page with the charset that its bytes have, where it states UTF-8 and cannot be that."""
    html, stated = page.html, stated_charset(page)
    if isinstance(html, str) or html.startswith(_MARKS):
        return page
    if stated is not None and stated not in UTF_8:
        return page
    text = html.decode("utf-8", "surrogateescape")[:-_MAX_CUT]
    strays = runs = 0
    for found in _STRAYS.finditer(text):
        strays += found.end() - found.start()
        runs += 1
    if not strays:
        return page
    if len(text) - len(text.encode("ascii", "ignore")) > 2 * strays:
        return replace(page, charset="utf-8")
    is_western = strays <= _MAX_RUN * runs
    return replace(page, charset="windows-1252") if is_western else page
