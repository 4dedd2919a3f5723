"""Records of WARC 1.1: a page's content (`conversion`), and what servers answered (`response`)."""

from __future__ import annotations

import os
import re
import time
from base64 import b32encode
from collections.abc import Mapping, Sequence
from hashlib import blake2b, sha1
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, Protocol
from uuid import UUID, uuid4

from dehusk.settings import USER_AGENT

if TYPE_CHECKING:
    from dehusk.page.page import Capture

_SOFTWARE: Final = USER_AGENT.partition(" ")[0]
_PHRASES: Final = {status.value: status.phrase for status in HTTPStatus}
_OF_THE_WAY: Final = ("content-encoding", "transfer-encoding", "content-length", "connection")
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


def conversion(source: Source, block: bytes) -> bytes:
    """The record with a page's text (UTF-8), as WARC 1.1 has it, with the empty lines behind it.

    It refers to the record of the page, and has its date; a page from elsewhere has the time of
    writing, or that of SOURCE_DATE_EPOCH. The same page gets the same name on every run.
    """
    record_id, date = "", ""
    if source.capture:
        record_id, date = source.capture.record_id or "", source.capture.date or ""
    url = _UNSAFE.sub(lambda found: _percent(found[0]), source.url or "")
    name = blake2b(f"{url}\n{record_id}\n".encode() + block, digest_size=16).digest()
    fields = {
        "WARC-Type": "conversion",
        "WARC-Record-ID": f"<urn:uuid:{UUID(bytes=name, version=4)}>",
        "WARC-Date": _date(date),
        "WARC-Target-URI": url,
        "WARC-Refers-To": record_id if _RECORD_ID.fullmatch(record_id) else "",
        "WARC-Block-Digest": _digest(block),
        "Content-Type": "text/plain; charset=utf-8",
    }
    return _record(fields, block)


class Exchange(Protocol):
    """What a server answered; the body is unpacked."""

    @property
    def url(self) -> str:
        """What was asked for."""

    @property
    def status(self) -> int:
        """The status."""

    @property
    def headers(self) -> Sequence[tuple[str, str]]:
        """The headers."""

    @property
    def body(self) -> bytes:
        """The body."""

    @property
    def answered_at(self) -> float:
        """When it came, in seconds since 1970; 0 where nobody knows."""


def response(answer: Exchange) -> bytes:
    """The record of an answer, the empty lines behind it included. It is new on every call.

    Its headers are those of the server, but for how the body was packed and sent: it is plain. The
    body of a redirect is not fetched; where there was one, the record says that it is cut.
    """
    stated = [value.strip() for name, value in answer.headers if name == "content-length"]
    is_cut = 300 <= answer.status < 400 and not answer.body and stated != ["0"]
    phrase = _PHRASES.get(answer.status, "")
    lines = [f"HTTP/1.1 {answer.status} {phrase}"]
    lines += [f"{name}: {value}" for name, value in answer.headers if name not in _OF_THE_WAY]
    lines += [f"content-length: {len(answer.body)}", "", ""]
    block = "\r\n".join(lines).encode("latin-1", "replace") + answer.body
    fields = {
        "WARC-Type": "response",
        "WARC-Record-ID": new_record_id(),
        "WARC-Date": _written(answer.answered_at) if answer.answered_at else _date(""),
        "WARC-Target-URI": _UNSAFE.sub(lambda found: _percent(found[0]), answer.url),
        "WARC-Truncated": "unspecified" if is_cut else "",
        "WARC-Payload-Digest": _digest(answer.body),
        "WARC-Block-Digest": _digest(block),
        "Content-Type": "application/http;msgtype=response",
    }
    return _record(fields, block)


def new_record_id() -> str:
    """A name for a record that no other has."""
    return f"<urn:uuid:{uuid4()}>"


def warcinfo(name: str, user_agent: str, record_id: str) -> bytes:
    """The first record of an archive: who wrote it, and under what name it came to servers."""
    said = {
        "software": _SOFTWARE,
        "format": "WARC File Format 1.1",
        "conformsTo": "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
        "http-header-user-agent": user_agent,
    }
    block = "".join(f"{field}: {value}\r\n" for field, value in said.items()).encode("utf-8")
    fields = {
        "WARC-Type": "warcinfo",
        "WARC-Record-ID": record_id,
        "WARC-Date": _date(""),
        "WARC-Filename": _UNSAFE.sub(lambda found: _percent(found[0]), name),
        "WARC-Block-Digest": _digest(block),
        "Content-Type": "application/warc-fields",
    }
    return _record(fields, block)


def _record(fields: Mapping[str, str], block: bytes) -> bytes:
    """A record with what its block needs; fields without a value are left out."""
    whole = {**fields, "Content-Length": str(len(block))}
    header = "".join(f"{field}: {value}\r\n" for field, value in whole.items() if value)
    return f"WARC/1.1\r\n{header}\r\n".encode() + block + b"\r\n\r\n"


def _digest(data: bytes) -> str:
    return f"sha1:{b32encode(sha1(data, usedforsecurity=False).digest()).decode('ascii')}"


def _date(captured: str) -> str:
    """The date of a record: that of the page, if there is one."""
    if _DATE.fullmatch(captured):
        return captured
    stated = os.environ.get("SOURCE_DATE_EPOCH", "")
    seconds = int(stated) if stated.isdecimal() and len(stated) < 11 else time.time()
    return _written(seconds)


def _written(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def _percent(character: str) -> str:
    """A character as a URL writes it."""
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "replace"))
