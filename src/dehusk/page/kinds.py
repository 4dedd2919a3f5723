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
PRESCANNED: Final = 1024
"""How far browsers look for the charset of a page before they read it."""
_STATED: Final = pattern(rb"charset\s*+=\s*+[\"']?+\s*+([\w:.-]++)", re.IGNORECASE)
UTF_8: Final = frozenset(("utf-8", "utf8"))
_LATIN: Final = frozenset((
    "iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "latin-1", "l1", "windows-1252", "cp1252",
    "us-ascii", "ascii",
))  # fmt: skip
_CHARACTERS: Final = pattern(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
"""Characters beyond ASCII in UTF-8."""
_RUNS: Final = pattern(rb"[\x80-\xff]+")
_MAX_CUT: Final = 3
"""Bytes that are left of a character where a page was cut off."""
_MAX_RUN: Final = 1.5
"""Letters beyond ASCII that stand together in languages of the West; Greek and Russian write whole
words of them."""


def as_html(page: Page) -> Page:
    """The page, as it is if it is HTML; plain text of several lines as one that keeps them.

    Raises IsFeed and IsJson.
    """
    html = page.html
    _check_feed(page)
    _check_json(page)
    if isinstance(html, str):
        is_plain = not _HTML.search(html) and "\n" in html.strip()
        return replace(page, html=_kept_lines(html)) if is_plain else page
    is_wide = html.startswith(_MARKS[1:]) or (page.charset or "").lower().startswith("utf-16")
    if is_wide or _HTML_BYTES.search(html) or b"\n" not in html.strip():
        return page
    return replace(page, html=text_as_html(html))


def text_as_html(data: bytes) -> bytes:
    """Plain text as a page that shows it as it is; a page that was saved as text stays one."""
    if _PAGE.search(data, 0, PRESCANNED):
        return data
    mark = _MARKS[0] if data.startswith(_MARKS[0]) else b""
    escaped = data.removeprefix(mark).replace(b"&", b"&amp;").replace(b"<", b"&lt;")
    return mark + b"<pre>\n" + escaped


def _kept_lines(written: str) -> str:
    escaped = written.replace("&", "&amp;").replace("<", "&lt;")
    return f"<pre>\n{escaped}"


def _head(page: Page) -> bytes:
    head = page.html[:_START]
    return head.encode("utf-8", "replace") if isinstance(head, str) else head


def _check_feed(page: Page) -> None:
    found = _FEED.match(_head(page))
    if found:
        kind = "an Atom feed" if found[2] else "an RSS feed"
        raise IsFeed(page.url, f"{kind}, not a page: clean the pages that it links to")


def _check_json(page: Page) -> None:
    """Raise IsJson for an object or a list of JSON."""
    start = page.html[:_START].lstrip()
    if start[:1] not in ("{", "[", b"{", b"["):
        return
    from msgspec import DecodeError, json  # noqa: PLC0415  few pages begin so

    with suppress(DecodeError, UnicodeError, RecursionError):
        json.decode(page.html)
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
    characters = _CHARACTERS.findall(html)
    rest = _CHARACTERS.sub(b"", html)
    strays = sum(map(len, _RUNS.findall(rest[:-_MAX_CUT])))
    if not strays:
        return page
    if len(characters) > strays:
        return replace(page, charset="utf-8")
    is_western = strays <= _MAX_RUN * len(_RUNS.findall(rest))
    return replace(page, charset="windows-1252") if is_western else page
