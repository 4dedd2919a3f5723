"""Records found in a stream of bytes, behind damage too."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from operator import itemgetter
from typing import Final, NamedTuple

from dehusk.sources.warc.pieces import Gap, Piece, Source

WORD: Final = b"WARC/"
"""What every record begins with."""
HEADER: Final = re.compile(rb"WARC/[01]\.[0-9]{1,2}\r?\n(?=(?:WARC|Content)-)")
"""The first line of a record, and what the second begins with."""
_INNER_HEADER: Final = re.compile(rb"\n\r?\nWARC/[01]\.[0-9]{1,2}\r?\n(?=(?:WARC|Content)-)")
"""The same behind an empty line: what ends a record that claims to be far longer than it is."""
_LARGE: Final = 1 << 20
"""Bytes of a record from which on it matters how often its data is put together again."""
_OVERLAP: Final = 32
"""Bytes that are looked at again with the next piece: more than the start of a header has."""
_EMPTY_LINE: Final = re.compile(rb"\n\r?\n")
_FOLD: Final = re.compile(rb"\r?\n[ \t]+")
_MAX_HEADER: Final = 1 << 18
"""Bytes of a record's header: a URL of 100 kB still fits."""
_USUAL_HEADER: Final = 4096
"""Bytes in which the end of a header is looked for first, the quick way."""
_MAX_DIGITS: Final = 18
"""Digits of a length: no disk holds a record that needs more."""
_START: Final = 1 << 16
"""Bytes of a record too large to be held that are given all the same: they show what it is."""
_TRAILER: Final = 4
"""Bytes of the two empty lines behind a record."""

Fields = dict[bytes, bytes]
"""The fields of a header, by their names in lower case."""


class Place(NamedTuple):
    """A place in a file: a byte of it, and how many plain bytes behind what begins there."""

    offset: int
    into: int = 0

    def __str__(self) -> str:
        return f"byte {self.offset}" + (f", unpacked {self.into} behind it" if self.into else "")


class Window:
    """The plain bytes around the place that is read: `data` from `at` on.

    It ends at a gap (`gap` says which) until `pass_gap`, and, while a record is read, before a
    member that begins with another record.
    """

    def __init__(self, source: Source, *, is_packed: bool) -> None:
        self._source = source
        self._is_packed = is_packed
        self._held: Piece | None = None
        """A piece that has been taken but does not belong to the record that is read."""
        self.data = b""
        self.at = 0
        self.gap: Gap | None = None
        self._passed = 0
        """How many plain bytes stand before `data`."""
        self._marks = [(0, 0)]
        """The member that `data` begins in and all behind it: before how many plain bytes each
        begins, and where in the file."""
        self.is_distrusted = False
        """A header has lied: what it asks for is read in larger steps, and looked at again."""

    def has(self, size: int, *, in_record: bool = False) -> bool:
        """True where so many bytes can be read from here."""
        if len(self.data) - self.at >= size:
            return True
        wanted = size + (size >> 2 if self.is_distrusted and size > _LARGE else 0)
        have, parts = len(self.data) - self.at, []
        while have < wanted and (piece := self._next(wanted - have if have else 0)):
            if piece.starts:
                if in_record and piece.data.startswith(WORD):
                    self._held = piece
                    break
                self._marks.append((self._passed + self.at + have, piece.offset))
            parts.append(piece.data)
            have += len(piece.data)
        if parts:
            rest = [self.data[self.at :]] if self.at < len(self.data) else []
            self._move(self.at)
            self.data = b"".join(rest + parts)
        return have >= size

    def place(self, at: int) -> Place:
        """Where in the file the byte at this index of `data` is."""
        mark, offset = self._marks[self._member(at)]
        into = self._passed + at - mark
        return Place(offset, into) if self._is_packed else Place(into)

    def member(self) -> int:
        """Where in the file the member begins that is read."""
        return self._marks[self._member(self.at)][1]

    def begins_member(self, at: int) -> bool:
        """True where the byte at this index of `data` is the first of a member."""
        return self._marks[self._member(at)][0] == self._passed + at

    def _member(self, at: int) -> int:
        """Which of the members has the byte at this index of `data`."""
        return bisect_right(self._marks, self._passed + at, key=itemgetter(0)) - 1

    def pass_gap(self) -> None:
        """Go on behind the gap; what stands before it and was not read is dropped."""
        self.at = len(self.data)
        self.gap = None

    def to_next_record(self) -> int:
        """Move to where a record seems to begin; the bytes passed over. At a gap, to the gap."""
        return self._search(HEADER, None, _OVERLAP)

    def skip(
        self, size: int, inner: re.Pattern[bytes] = _INNER_HEADER, overlap: int = _OVERLAP
    ) -> int:
        """Move so many bytes on; how many it were where the data, or the record, ends before.

        A record ends where `inner` finds the next, in `overlap` bytes and behind line ends.
        """
        return self._search(inner, size, overlap)

    def _search(self, header: re.Pattern[bytes], size: int | None, most: int) -> int:
        """Move on to the next header, at most `size` bytes; the bytes passed over."""
        passed = 0
        while True:
            rest = len(self.data) - self.at
            found = header.search(self.data, self.at)
            step = found.end() - len(found[0].lstrip()) - self.at if found else rest
            if size is not None and passed + step >= size:
                self.at += size - passed
                return size
            if found:
                self.at += step
                return passed + step
            overlap = min(rest, most)
            self.at += rest - overlap
            passed += rest - overlap
            self.has(2 * most, in_record=True)
            if len(self.data) - self.at == overlap:
                self.at = len(self.data)
                return passed + overlap

    def _move(self, at: int) -> None:
        """Let `data` begin at what is index `at` of it now."""
        del self._marks[: self._member(at)]
        self._passed += at
        self.at = 0

    def _next(self, missing: int) -> Piece | None:
        """The next piece; None at a gap and at the end."""
        if self.gap:
            return None
        if self._held:
            piece, self._held = self._held, None
            return piece
        item = self._source(missing)
        if isinstance(item, Gap):
            self.gap = item
            return None
        return item


class Record(NamedTuple):
    """One whole record."""

    kind: bytes
    """Its type, in lower case."""
    header: bytes
    block: memoryview
    """What the record holds; only the start of it where `is_too_large`."""
    place: Place
    is_too_large: bool = False

    @property
    def fields(self) -> Fields:
        """The fields of its header."""
        return parse_fields(self.header)


class Damage(NamedTuple):
    """A place in the file that holds no whole record, and why; the URL where its header says."""

    place: Place
    reason: str
    header: bytes = b""

    @property
    def fields(self) -> Fields:
        """The fields of its header, where it has one."""
        return parse_fields(self.header)


def read_records(window: Window, max_block: int) -> Iterator[Record | Damage]:
    """Every record in order, and a Damage for whatever is none.

    Behind damage reading goes on where the next record begins: at a member that begins with one,
    or wherever the first line of a header stands.
    """
    while True:
        if window.at == len(window.data):
            window.has(1)
        if window.data.startswith(WORD, window.at):
            yield _next_record(window, max_block)
        elif not pass_newlines(window):
            if window.gap is None:
                return
            yield Damage(Place(window.gap.offset), window.gap.reason)
            window.pass_gap()
        elif window.has(len(WORD)) and window.data.startswith(WORD, window.at):
            yield _next_record(window, max_block)
        else:
            yield damaged(window, 0, "no record begins here")


def parse_fields(header: bytes) -> Fields:
    """The fields of a header, its first line left out; of a name that comes twice the first.

    A line that begins with white space belongs to the one before it.
    """
    if b"\n " in header or b"\n\t" in header:
        header = _FOLD.sub(b" ", header)
    fields: Fields = {}
    for line in header.split(b"\n")[1:]:
        name, _, value = line.partition(b":")
        fields.setdefault(name.strip().lower(), value.strip())
    return fields


def _value(lowered: bytes, name: bytes) -> bytes:
    """The value of one field in a header in lower case, without parsing the others.

    Most records are passed over, by their type and their length.
    """
    at = lowered.find(b"\n%s:" % name)
    if at < 0:
        return parse_fields(lowered).get(name, b"")
    start = at + len(name) + 2
    return lowered[start : lowered.find(b"\n", start)].strip()


def pass_newlines(window: Window) -> bool:
    """True where something stands behind the empty lines that part records."""
    while window.has(1):
        data, at = window.data, window.at
        while data[at : at + 1] in (b"\r", b"\n"):
            at += 1
        window.at = at
        if at < len(data):
            return True
    return False


def _next_record(window: Window, max_block: int) -> Record | Damage:
    """The record that begins here, or what is wrong with it."""
    header_size = _header_size(window)
    if not header_size:
        return damaged(window, len(WORD), "its header has no end")
    header = window.data[window.at : window.at + header_size]
    if header.find(WORD, len(WORD)) > 0 and HEADER.search(header, len(WORD)):
        return damaged(window, len(WORD), "its header is cut off")
    lowered = header.lower()
    stated = _value(lowered, b"content-length")
    if not stated.isdigit() or len(stated) > _MAX_DIGITS:
        return damaged(window, header_size, "its header states no length", header)
    length = int(stated)
    size = header_size + length
    if length > max_block:
        return _pass_large(window, header, size)
    if len(window.data) - window.at < size + _TRAILER:
        window.has(size + _TRAILER, in_record=True)
    data, at = window.data, window.at
    there = len(data) - at - header_size
    if there < length:
        return damaged(window, header_size, short(length, there), header)
    # Behind it come empty lines, another record, or nothing.
    behind = data[at + size : at + size + _TRAILER]
    if behind != b"\r\n\r\n" and not WORD.startswith(behind.lstrip(b"\r\n")):
        return damaged(window, header_size, "no record ends where its length says", header)
    window.at = at + size + (_TRAILER if behind == b"\r\n\r\n" else 0)
    block = memoryview(data)[at + header_size : at + size]
    return Record(_value(lowered, b"warc-type"), header, block, window.place(at))


def _header_size(window: Window) -> int:
    """The bytes of the header that begins here, its empty line included; 0 where it has no end."""
    end = window.data.find(b"\r\n\r\n", window.at, window.at + _USUAL_HEADER)
    if end > 0 and window.data.find(b"\n\n", window.at, end) < 0:
        return end + 4 - window.at
    while True:
        found = _EMPTY_LINE.search(window.data, window.at, window.at + _MAX_HEADER)
        if found:
            return found.end() - window.at
        there = len(window.data) - window.at
        if there >= _MAX_HEADER:
            return 0
        window.has(max(2 * there, _USUAL_HEADER), in_record=True)
        if len(window.data) - window.at == there:
            return 0


def short(claimed: int, there: int) -> str:
    """What is wrong with a record of fewer bytes than it says."""
    return f"{claimed} bytes are claimed, {there} are there"


def _pass_large(window: Window, header: bytes, size: int) -> Record | Damage:
    """A record that is too large to be held, or what is wrong with it; it has been passed over."""
    header_size = len(header)
    window.has(min(size, header_size + _START), in_record=True)
    at, place = window.at, window.place(window.at)
    start = memoryview(window.data)[at + header_size : at + header_size + _START]
    passed = window.skip(size)
    if passed < size:
        return Damage(place, short(size - header_size, passed - header_size), header)
    kind = _value(header.lower(), b"warc-type")
    return Record(kind, header, start, place, is_too_large=True)


def damaged(
    window: Window,
    step: int,
    reason: str,
    header: bytes = b"",
    to_next: Callable[[Window], object] = Window.to_next_record,
) -> Damage:
    """The damage that begins here; the window has been moved to where the next record begins."""
    place, member = window.place(window.at), window.member()
    window.is_distrusted = True
    window.at += step
    to_next(window)
    if window.gap and window.gap.offset == member and not window.has(1):
        reason = window.gap.reason
        window.pass_gap()
    return Damage(place, reason, header)
