"""Pages and memories as rows of a frame, in their order, held while they are used."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any, Final

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn
from pyspark.sql.types import BinaryType, BooleanType, StringType, StructType

from dehusk.errors import NotHtml, UsageError
from dehusk.output.formats import encode
from dehusk.page.page import Capture, Page
from dehusk.page.urls import site_of
from dehusk.pipeline import DEFAULT_SITE
from dehusk.settings import SourceSettings
from dehusk.sources import Failure

PAGE: Final = {
    "order": "bigint",
    "url": "string",
    "site": "string",
    "html": "binary",
    "is_text": "boolean",
    "charset": "string",
    "record_id": "string",
    "date": "string",
    "truncated": "string",
    "status": "bigint",
    "failure": "string",
}
"""A page, or in `failure` the JSON line of one that could not be read."""
_GIVEN: Final = ("order", "url", "site", "html", "charset")
"""What a frame of somebody else's is asked for: his `failure` or `date` may mean anything."""
_ARROW_TYPES: Final = {
    "bigint": pa.int64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "boolean": pa.bool_(),
}
_IN_MEMORY: Final = 8_000_000
"""Bytes up to which no file is made: what `write_rows` hands over at once."""


def written_schema(columns: Mapping[str, str]) -> str:
    """The columns and their types as Spark takes them."""
    return ", ".join(f"{name} {kind}" for name, kind in columns.items())


def arrow_schema(columns: Mapping[str, str]) -> Any:
    """The columns and their types as Arrow takes them."""
    return pa.schema([(name, _ARROW_TYPES[kind]) for name, kind in columns.items()])


Row = dict[str, Any]

MAX_SIZED_TASKS: Final = 1_000
"""Tasks at most whose number Spark finds by their size: it has to cut the rows into so many parts
first, for each task that writes them."""
_BATCH_ROWS: Final = 200
_BATCH_BYTES: Final = 8_000_000
"""What is handed over at once: enough that handing over costs nothing, and little to hold."""


def as_rows(pages: DataFrame) -> DataFrame:
    """The pages with all columns of a page: those that are not there are null.

    `url` and `html` must be there, `html` as text or bytes. Of what `read_pages` did not make,
    only the columns that are documented are looked at. Raises UsageError.
    """
    given: StructType = pages.schema
    types = {column.name: column.dataType for column in given}
    missing = [name for name in ("url", "html") if name not in types]
    if missing:
        raise UsageError(f"pages have no column {missing[0]!r}; they have: {', '.join(types)}")
    if not isinstance(types["html"], StringType | BinaryType):
        raise UsageError("the column 'html' is neither text nor bytes")
    is_text = fn.lit(isinstance(types["html"], StringType))
    # Whoever takes pages that failed out may take the column out with them.
    is_ours = "record_id" in types and isinstance(types.get("is_text"), BooleanType)
    known = PAGE if is_ours else _GIVEN
    chosen: list[Column] = []
    for name, kind in PAGE.items():
        if name == "is_text" and name not in known:
            value = is_text
        elif name in types and name in known:
            value = fn.col(name)
        else:
            value = fn.lit(0 if name == "order" else None)
        chosen.append(value.cast(kind).alias(name))
    return pages.select(*chosen)


def moved(frame: DataFrame, tasks: int | None, *columns: str) -> DataFrame:
    """The rows, those that are alike in the columns together, in so many tasks.

    With None Spark makes them of a size: it joins small ones by the bytes that it has moved.
    """
    return frame.repartition(*columns) if tasks is None else frame.repartition(tasks, *columns)


def tasks_for(pages: int) -> int | None:
    """How many tasks judge so many pages; None lets their size decide, in up to 1,000 tasks.

    Where there would be more, each has 20,000 pages: two minutes at 7 ms a page, and what is lost
    with a task that fails.
    """
    tasks = -(-pages // 20_000)
    return tasks if tasks > MAX_SIZED_TASKS else None


def read_rows(batches: Iterable[Any]) -> Iterator[Row]:
    """The rows of Arrow batches, one by one."""
    for batch in batches:
        yield from batch.to_pylist()


def write_rows(rows: Iterable[Row], columns: Mapping[str, str]) -> Iterator[Any]:
    """The rows as Arrow batches of a bounded size; the bytes and texts in them count."""
    schema = arrow_schema(columns)
    waiting: list[Row] = []
    size = 0
    for row in rows:
        waiting.append(row)
        size += sum(len(value) for value in row.values() if isinstance(value, bytes | str))
        if len(waiting) >= _BATCH_ROWS or size >= _BATCH_BYTES:
            yield pa.RecordBatch.from_pylist(waiting, schema)
            waiting, size = [], 0
    if waiting:
        yield pa.RecordBatch.from_pylist(waiting, schema)


def row_of(page: Page, order: int) -> Row:
    """The page as a row. Text that has no UTF-8 comes back as it was all the same."""
    html = page.html
    is_text = isinstance(html, str)
    capture = page.capture or Capture()
    return {
        "order": order,
        "url": plain(page.url),
        "site": plain(page.site),
        "html": html.encode("utf-8", "surrogatepass") if isinstance(html, str) else html,
        "is_text": is_text,
        "charset": page.charset,
        "record_id": plain(capture.record_id),
        "date": plain(capture.date),
        "truncated": plain(capture.truncated),
        "status": capture.status,
        "failure": None,
    }


def page_of(row: Row, settings: SourceSettings) -> Page | Failure:
    """The page that a row stands for, with its site; a Failure where its HTML is null."""
    site = site_of(row["url"], row["site"], DEFAULT_SITE, settings)
    if row["html"] is None:
        return Failure(row["url"], site, NotHtml(row["url"], "its `html` is null"))
    written = bytes(row["html"])
    html = written.decode("utf-8", "surrogatepass") if row["is_text"] else written
    told = (row["record_id"], row["date"], row["truncated"], row["status"])
    capture = Capture(*told) if any(told) else None
    return Page(html, row["url"], site, row["charset"], capture=capture)


def plain(text: str | None) -> str | None:
    """The text as UTF-8 has it."""
    return None if text is None else encode(text).decode("utf-8")


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


class Hold:
    """Says whether a frame is to be let go of when its block ends."""

    def __init__(self) -> None:
        self.is_kept = False

    def keep(self) -> None:
        """Hold the frame beyond the block."""
        self.is_kept = True


@contextmanager
def held(frame: DataFrame, level: StorageLevel) -> Iterator[Hold]:
    """Have the frame computed once, however often it is used in the block.

    One that the caller has cached, he and nobody else lets go of: Spark knows a cache by what is
    computed, so that letting go of ours would let go of his.
    """
    hold = Hold()
    its = frame.storageLevel
    if its.useMemory or its.useDisk:
        yield hold
        return
    frame.persist(level)
    try:
        yield hold
    finally:
        if not hold.is_kept:
            frame.unpersist()
