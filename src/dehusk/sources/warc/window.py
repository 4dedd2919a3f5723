"""A window that moves over the plain bytes of a web archive, and finds records in them."""

from __future__ import annotations

import re
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
        self._origin = 0
        """Where in the file the member begins that `data` begins in."""
        self._into = 0
        """How many plain bytes of that member stand before `data`."""
        self._marks: list[tuple[int, int]] = []
        """The members that begin inside `data`: where there, and where in the file."""
        self._is_distrusted = False
        """A header has lied: what it asks for is read in larger steps, and looked at again."""

    def has(self, size: int, *, in_record: bool = False) -> bool:
        """True where so many bytes can be read from here."""
        if len(self.data) - self.at >= size:
            return True
        wanted = size + (size >> 2 if self._is_distrusted and size > _LARGE else 0)
        parts = [self.data[self.at :]] if self.at < len(self.data) else []
        self._move(self.at)
        have = sum(map(len, parts))
        while have < wanted and (piece := self._next(wanted - have if have else 0)):
            if piece.starts:
                if in_record and piece.data.startswith(WORD):
                    self._held = piece
                    break
                self._marks.append((have, piece.offset))
            parts.append(piece.data)
            have += len(piece.data)
        self.data = b"".join(parts)
        return have >= size

    def place(self, at: int) -> Place:
        """Where in the file the byte at this index of `data` is."""
        origin, into = self._origin, self._into + at
        for mark, offset in self._marks:
            if mark <= at:
                origin, into = offset, at - mark
        return Place(origin, into) if self._is_packed else Place(into)

    def member(self) -> int:
        """Where in the file the member begins that is read."""
        return max(
            (offset for mark, offset in self._marks if mark <= self.at), default=self._origin
        )

    def pass_gap(self) -> None:
        """Go on behind the gap; what stands before it and was not read is dropped."""
        self.at = len(self.data)
        self.gap = None

    def to_next_record(self) -> int:
        """Move to where a record seems to begin; the bytes passed over. At a gap, to the gap."""
        self._is_distrusted = True
        return self._search(HEADER, None)

    def skip(self, size: int) -> int:
        """Move so many bytes on; how many it were where the data, or the record, ends before."""
        return self._search(_INNER_HEADER, size)

    def _search(self, header: re.Pattern[bytes], size: int | None) -> int:
        """Move on to the next header, at most `size` bytes; the bytes passed over."""
        passed = 0
        while True:
            rest = len(self.data) - self.at
            found = header.search(self.data, self.at)
            step = self.data.index(WORD, found.start()) - self.at if found else rest
            if size is not None and passed + step >= size:
                self.at += size - passed
                return size
            if found:
                self.at += step
                return passed + step
            overlap = min(rest, _OVERLAP)
            self.at += rest - overlap
            passed += rest - overlap
            if not self.has(overlap + 1, in_record=True):
                self.at = len(self.data)
                return passed + overlap

    def _move(self, at: int) -> None:
        """Let `data` begin at what is index `at` of it now."""
        for mark, offset in self._marks:
            if mark <= at:
                self._origin, self._into = offset, -mark
        self._marks = [(mark - at, offset) for mark, offset in self._marks if mark > at]
        self._into += at
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
