"""An HTTP response, as an archive holds it: its status, its type, and where its body begins."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from dehusk.sources.warc.framing import Fields, parse_fields

_STATUS: Final = re.compile(rb"HTTP/[0-9](?:\.[0-9])? +([0-9]{3})")
_EMPTY_LINE: Final = re.compile(rb"\n\r?\n")
_MAX_HEADER: Final = 1 << 18
_CHARSET: Final = re.compile(rb"""charset\s{0,9}=\s{0,9}["']?([^\s"';,]{1,40})""", re.IGNORECASE)
_HTML: Final = frozenset((b"text/html", b"application/xhtml+xml"))
_HTML_START: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?\s{0,999}<(?:!doctype\s+html|html|head|body|title|meta)[\s>]", re.IGNORECASE
)


class Response(NamedTuple):
    """An HTTP response: its status, its header's fields, and where in the block its body begins."""

    status: int
    fields: Fields
    start: int


def parse_response(block: memoryview) -> Response | None:
    """The response that a record's block begins with; None where it begins with none."""
    status = _STATUS.match(block)
    end = _EMPTY_LINE.search(block, 0, _MAX_HEADER)
    if not status or not end:
        return None
    return Response(int(status[1]), parse_fields(bytes(block[: end.end()])), end.end())


@lru_cache(maxsize=256)
def is_html(stated: bytes) -> bool | None:
    """Does a `Content-Type` say HTML? None where it says nothing."""
    kind = stated.partition(b";")[0].strip().lower()
    return kind in _HTML if kind else None


def looks_like_html(body: bytes) -> bool:
    """Does a body that nobody named a type for begin as a page does?"""
    return _HTML_START.match(body) is not None


@lru_cache(maxsize=256)
def charset_of(stated: bytes) -> str | None:
    """The charset in a `Content-Type`."""
    found = _CHARSET.search(stated)
    return found[1].decode("ascii", "replace") if found else None
