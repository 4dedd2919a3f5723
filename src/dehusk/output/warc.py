"""A page's content as a WARC record of the type `conversion`."""

from __future__ import annotations

import os
import re
import time
from base64 import b32encode
from hashlib import blake2b, sha1
from typing import TYPE_CHECKING, Final, Protocol
from uuid import UUID

if TYPE_CHECKING:
    from dehusk.page.page import Capture

_DATE: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z")
_RECORD_ID: Final = re.compile(r"<[!-;=?-~]{1,200}>")
_UNSAFE: Final = re.compile(r"[\x00-\x20\x7f-\x9f<>\u2028\u2029\ud800-\udfff]")


class Source(Protocol):
    """What is said of a page in its record."""

    @property
    def url(self) -> str | None:
        """The page's URL."""

    @property
    def capture(self) -> Capture | None:
        """How an archive came to the page."""


def conversion(source: Source, text: str) -> str:
    """The record with a page's text, as WARC 1.1 has it, the empty lines behind it included.

    It refers to the record of the page, and has its date; a page from elsewhere has the time of
    writing, or that of SOURCE_DATE_EPOCH. The same page gets the same name on every run.
    """
    block = text.encode("utf-8")
    record_id, date = "", ""
    if source.capture:
        record_id, date = source.capture.record_id or "", source.capture.date or ""
    url = _UNSAFE.sub(lambda found: _percent(found[0]), source.url or "")
    name = blake2b(f"{url}\n{record_id}\n".encode() + block, digest_size=16).digest()
    digest = b32encode(sha1(block, usedforsecurity=False).digest()).decode("ascii")
    fields = {
        "WARC-Type": "conversion",
        "WARC-Record-ID": f"<urn:uuid:{UUID(bytes=name, version=4)}>",
        "WARC-Date": _date(date),
        "WARC-Target-URI": url,
        "WARC-Refers-To": record_id if _RECORD_ID.fullmatch(record_id) else "",
        "WARC-Block-Digest": f"sha1:{digest}",
        "Content-Type": "text/plain; charset=utf-8",
        "Content-Length": str(len(block)),
    }
    header = "".join(f"{field}: {value}\r\n" for field, value in fields.items() if value)
    return f"WARC/1.1\r\n{header}\r\n{text}\r\n\r\n"


def _date(captured: str) -> str:
    """The date of a record: that of the page, if there is one."""
    if _DATE.fullmatch(captured):
        return captured
    stated = os.environ.get("SOURCE_DATE_EPOCH", "")
    seconds = int(stated) if stated.isdecimal() and len(stated) < 11 else time.time()
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def _percent(character: str) -> str:
    """A character as a URL writes it."""
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "replace"))
