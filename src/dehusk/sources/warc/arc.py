"""Records of ARC files, the Internet Archive's format before WARC, read as WARC records.

Each record is a line, the bytes that the line counts, and a line end:

    https://mill.example/ 192.0.2.1 20051231235959 text/html 1234
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from dehusk.sources.warc.framing import (
    Damage,
    Place,
    Record,
    Window,
    damaged,
    pass_newlines,
    short,
)

ARC: Final = b"filedesc://"
"""What the first record of a file is called."""
_LINE: Final = re.compile(
    rb"(?P<url>[A-Za-z][A-Za-z0-9+.-]{0,20}:[^\n]{0,99999}?) [0-9A-Fa-f.:-]{1,45}"
    rb" (?P<date>[0-9]{8,17}) (?P<kind>[^ \n]{1,200})(?: [^ \n]{0,99999}){0,5}?"
    rb" (?P<length>[0-9]{1,18})\r?\n"
)
_INNER_LINE: Final = re.compile(rb"\n" + _LINE.pattern)
"""The same behind a line end: what ends a record that claims to be far longer than it is."""
_USUAL_LINE: Final = 4096
"""Bytes in which the end of a line is looked for first."""
_MAX_LINE: Final = 1 << 17
_BEHIND: Final = 4
"""Bytes of the line ends behind a record."""
_HTTP: Final = b"HTTP/"
_DAY: Final = len("20051231")
_SECOND: Final = len("20051231235959")
_START: Final = 1 << 16
"""Bytes of a record too large to be held that are given all the same."""


def read_arc(window: Window, max_block: int) -> Iterator[Record | Damage]:
    """Every record in order, but for the file's own, and a Damage for whatever is none."""
    while True:
        if not pass_newlines(window):
            if window.gap is None:
                return
            yield Damage(Place(window.gap.offset), window.gap.reason)
            window.pass_gap()
        elif found := _line(window):
            if (item := _next(window, found, max_block)) is not None:
                yield item
        else:
            yield damaged(window, 0, "no record begins here", to_next=_to_next_line)


def _line(window: Window, ahead: int = 0) -> re.Match[bytes] | None:
    """The line that begins here, or so many bytes ahead, if it is that of a record."""
    while window.data.find(b"\n", window.at + ahead, window.at + ahead + _MAX_LINE) < 0:
        there = len(window.data) - window.at - ahead
        if there >= _MAX_LINE:
            return None
        window.has(ahead + max(2 * there, _USUAL_LINE))
        if len(window.data) - window.at - ahead == there:
            return None
    return _LINE.match(window.data, window.at + ahead)


def _to_next_line(window: Window) -> None:
    """Move to the next line that is that of a record. At a gap, to the gap."""
    while pass_newlines(window) and not _line(window):
        _pass_line(window)


def _pass_line(window: Window) -> None:
    """Go on behind the end of this line, or behind all that is there of it."""
    end = window.data.find(b"\n", window.at)
    window.at = end + 1 if end >= 0 else len(window.data)


def _next(window: Window, line: re.Match[bytes], max_block: int) -> Record | Damage | None:
    """The record of this line, or what is wrong with it; None for that of the file."""
    start, length = len(line[0]), int(line["length"])
    header, place = _header(line), window.place(window.at)
    is_too_large = length > max_block
    if is_too_large:
        window.has(start + _START)
        at = window.at + start
        block = memoryview(window.data)[at : at + _START]
        if (passed := window.skip(start + length, _INNER_LINE, _USUAL_LINE)) < start + length:
            return Damage(place, short(length, passed - start), header)
    else:
        window.has(start + length + _BEHIND)
        if reason := _fault(window, start, length):
            return damaged(window, start, reason, header, _to_next_line)
        at = window.at + start
        block = memoryview(window.data)[at : at + length]
        window.at = at + length
    if line["url"].startswith(ARC):
        return None
    kind = b"response" if bytes(block[: len(_HTTP)]) == _HTTP else b"resource"
    return Record(kind, header, block, place, is_too_large)


def _fault(window: Window, start: int, length: int) -> str:
    """What is wrong with a record whose block begins so far from here; nothing for a whole one.

    Behind it comes a line end, another record, or nothing. Pages have many line ends: where no
    record begins behind this one, none may begin in it.
    """
    size = start + length
    there = len(window.data) - window.at
    if there < size:
        return short(length, there - start)
    behind = window.data[window.at + size : window.at + size + _BEHIND]
    ahead = size + len(behind) - len(behind.lstrip(b"\r\n"))
    if not window.has(ahead + 1):
        return ""
    found, at = _line(window, ahead), window.at
    if found and (window.data[at + ahead - 1] in b"\n" or window.begins_member(at + ahead)):
        return ""
    if ahead > size and not _INNER_LINE.search(window.data, at + start - 1, at + ahead):
        return ""
    return "no record ends where its length says"


def _header(line: re.Match[bytes]) -> bytes:
    """The line as the header of a WARC record says it."""
    date = line["date"]
    stated = b""
    if len(date) >= _SECOND:
        parts = date[:4], date[4:6], date[6:8], date[8:10], date[10:12], date[12:14]
        stated = b"WARC-Date: %s-%s-%sT%s:%s:%sZ\n" % parts
    elif len(date) == _DAY:
        stated = b"WARC-Date: %s-%s-%s\n" % (date[:4], date[4:6], date[6:8])
    return b"ARC\nWARC-Target-URI: %s\nContent-Type: %s\n%s" % (line["url"], line["kind"], stated)
