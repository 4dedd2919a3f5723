"""Records of ARC files, the Internet Archive's format before WARC, read as WARC records.

Each record is a line, the bytes that the line counts, and a line end:

    https://mill.example/ 192.0.2.1 20051231235959 text/html 1234
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from dehusk.sources.warc.framing import Damage, Place, Record, Window, pass_newlines, short

ARC: Final = b"filedesc://"
"""What the first record of a file is called."""
_LINE: Final = re.compile(
    rb"(?P<url>[A-Za-z][A-Za-z0-9+.-]{0,20}:[^\n]{0,99999}?) [0-9A-Fa-f.:-]{1,45}"
    rb" (?P<date>[0-9]{8,17}) (?P<kind>[^ \n]{1,200})(?: [^ \n]{0,99999}){0,5}?"
    rb" (?P<length>[0-9]{1,18})\r?\n"
)
_MAX_LINE: Final = 1 << 17
_DAY: Final = len("20051231")
_SECOND: Final = len("20051231235959")
_START: Final = 1 << 16
"""Bytes of a record too large to be held that are given all the same."""


def read_arc(window: Window, max_block: int) -> Iterator[Record | Damage]:
    """Every record in order, but for the file's own, and a Damage for whatever is none."""
    is_lost = False
    while True:
        if not pass_newlines(window):
            if window.gap is None:
                return
            yield Damage(Place(window.gap.offset), window.gap.reason)
            window.pass_gap()
        elif found := _line(window):
            is_lost = False
            if (item := _next(window, found, max_block)) is not None:
                yield item
        else:
            if not is_lost:
                yield Damage(window.place(window.at), "no record begins here")
            is_lost = True
            _pass_line(window)


def _line(window: Window) -> re.Match[bytes] | None:
    """The line that begins here, if it is that of a record."""
    while window.data.find(b"\n", window.at, window.at + _MAX_LINE) < 0:
        there = len(window.data) - window.at
        if there >= _MAX_LINE or not window.has(there + 1):
            return None
    return _LINE.match(window.data, window.at)


def _pass_line(window: Window) -> None:
    """Go on behind the end of this line, or behind all that is there of it."""
    end = window.data.find(b"\n", window.at)
    window.at = end + 1 if end >= 0 else len(window.data)


def _next(window: Window, line: re.Match[bytes], max_block: int) -> Record | Damage | None:
    """The record of this line, or what is wrong with it; None for that of the file."""
    size, length = line.end() - line.start(), int(line["length"])
    header = _header(line)
    place = window.place(window.at)
    is_too_large = length > max_block
    window.has(size + (min(length, _START) if is_too_large else length))
    block = window.data[window.at + size : window.at + size + (_START if is_too_large else length)]
    passed = window.skip(size + length) if is_too_large else len(block) + size
    if passed < size + length:
        window.at = len(window.data)
        return Damage(place, short(length, passed - size), header)
    if not is_too_large:
        window.at += passed
    if line["url"].startswith(ARC):
        return None
    kind = b"response" if block.startswith(b"HTTP/") else b"resource"
    return Record(kind, header, memoryview(block), place, is_too_large)


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
