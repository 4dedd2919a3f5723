"""Rows put into their order, however many there are: their HTML waits on the disk meanwhile."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator
from typing import IO, Final

from dehusk.doors.spark.rows import Row

_IN_MEMORY: Final = 8_000_000
"""Bytes up to which no file is made: what `write_rows` hands over at once."""


def in_order(rows: Iterable[Row]) -> Iterator[Row]:
    """The rows by `order` and `url`, those without a place first, as Spark sorts nulls.

    Rows of a place come as they came. Each takes some 350 bytes of memory and its size on the disk
    (`TMPDIR`) until the last one is given out.
    """
    with tempfile.SpooledTemporaryFile(_IN_MEMORY) as shelf:
        places = [(_place(row), *_put(shelf, row)) for row in rows]
        places.sort(key=lambda each: each[0])
        for _, start, told, size in places:
            yield _taken(shelf, start, told, size)


def _place(row: Row) -> tuple[bool, int, str]:
    """Where a row stands among the others."""
    return row["order"] is not None, row["order"] or 0, row["url"] or ""


def _put(shelf: IO[bytes], row: Row) -> tuple[int, int, int | None]:
    """Put the row behind the others; where it is, and the sizes of what is told and of its HTML."""
    told = json.dumps({name: value for name, value in row.items() if name != "html"}).encode()
    start = shelf.tell()
    shelf.write(told)
    if row["html"] is None:
        return start, len(told), None
    return start, len(told), shelf.write(row["html"])


def _taken(shelf: IO[bytes], start: int, told: int, size: int | None) -> Row:
    """The row that was put there."""
    shelf.seek(start)
    row: Row = json.loads(shelf.read(told))
    return {**row, "html": None if size is None else shelf.read(size)}
