"""The second pass: every page is answered on with all that its site has taught."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from itertools import groupby
from typing import Any, Final
from zlib import crc32

import numpy as np
from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from dehusk.answer.result import Refusal, Result
from dehusk.doors.spark.learning import LESSON, digest_of, learn
from dehusk.doors.spark.rows import (
    PAGE,
    Row,
    as_rows,
    held,
    moved,
    page_of,
    plain,
    read_rows,
    tasks_for,
    write_rows,
    written_schema,
)
from dehusk.doors.spark.session import DEFAULTS, SparkSettings
from dehusk.memory import load
from dehusk.output.formats import Shape
from dehusk.page.page import Page
from dehusk.sources import Failure
from dehusk.workers.answering import answer_on, answer_or_refusal

ANSWER: Final = {
    "order": "bigint",
    "url": "string",
    "site": "string",
    "error": "string",
    "line": "string",
}
"""`line` is the JSON line of the page, `error` the code of what went wrong."""
_TEACHING: Final = {**ANSWER, "digest": LESSON["digest"], "lesson": LESSON["lesson"]}
"""With what a page teaches that its site did not know."""
Taught = tuple[bytes, bytes]
"""The memory of a site, and the digests of what could not be learned."""
_HELD_BYTES: Final = 128_000_000
"""What the memories that a worker has read may take, as `Keeping.max_active_bytes` allows."""
_NO_LESSON: Final = {"digest": None, "lesson": None}
_ROW: Final = {**PAGE, "part": "bigint", "memory": "binary", "not_learned": "binary"}
"""A page, or what a site has taught, and the part of the site that it goes to."""


def clean(
    pages: DataFrame, settings: SparkSettings = DEFAULTS, memories: DataFrame | None = None
) -> DataFrame:
    """A row for each page: `order`, `url`, `site`, `error`, and `line`, its JSON line.

    `pages` has the columns `url` and `html` (text or bytes), and if there are any `site`,
    `charset` and `order`: where a page stands in the input, else pages are learned in the order
    of their URLs. They are read twice, and learned before this returns. Each line has the bytes
    that `dehusk clean --two-pass` writes for the same pages in the same order.

    With `memories`, as `read_memory` gives them, pages are read once and nothing is learned: each
    is answered on by what its site had taught. `lesson` is then what a page teaches that its site
    does not know; `learn` takes such answers in the place of pages.
    """
    rows = as_rows(pages)
    knows_pages = memories is not None
    taught = learn(rows, settings) if memories is None else memories
    level = StorageLevel.MEMORY_AND_DISK_DESER
    with nullcontext() if knows_pages else held(taught, level) as hold:
        count, size = taught.agg(fn.sum("pages"), fn.sum("size")).collect()[0]
        if (size or 0) > settings.broadcast_bytes:
            if hold is not None:
                hold.keep()  # Needed when the answers are asked for: until the session ends.
            return _joined(rows, taught, settings, count, knows_pages=knows_pages)
        found = {
            row["site"]: (bytes(row["memory"]), bytes(row["not_learned"]))
            for row in taught.toLocalIterator()
        }
    shared = pages.sparkSession.sparkContext.broadcast(found)
    cleaner = _Cleaner(settings, shared, knows_pages=knows_pages)
    return rows.mapInArrow(cleaner, written_schema(cleaner.columns))


def answer_row(row: Row, page: Page | Failure, answer: Result | Refusal) -> Row:
    """The row of an answer on the page of a row."""
    line = (Shape().data(answer) or b"").decode().rstrip("\n")
    error = None if answer.error is None else getattr(answer.error, "code", "source")
    return {
        "order": row["order"],
        "url": row["url"],
        "site": page.site,
        "error": error,
        "line": plain(line),
    }


def failed_row(row: Row) -> Row:
    """The row of the answer on what could not be read."""
    told = {name: row[name] for name in ("order", "url", "site")}
    code = json.loads(row["failure"])["error"]["code"]
    return {**told, "error": code, "line": row["failure"]}


def _joined(
    rows: DataFrame, memories: DataFrame, settings: SparkSettings, pages: int, *, knows_pages: bool
) -> DataFrame:
    """The answers, where every page is sent to a task that its site's memory is sent to as well.

    A site of many pages goes to several tasks, and its memory to each of them. How many pages there
    are, of a site and in all, is what the memories say: in one pass that is what was there before.
    """
    large = memories.where(memories.pages > settings.part_pages).select("site", "pages").collect()
    parts = {row["site"]: -(-row["pages"] // settings.part_pages) for row in large}
    dealt = rows.mapInArrow(_Dealer(settings, parts), written_schema(_ROW))
    taught = memories.mapInArrow(_Copier(parts), written_schema(_ROW))
    tasks = settings.tasks or tasks_for(pages)
    together = moved(dealt.unionByName(taught), tasks, "site", "part")
    # A memory has no HTML, and nulls come first.
    sorted_rows = together.sortWithinPartitions("site", "part", fn.col("is_text"), "order")
    cleaner = _JoinedCleaner(settings, knows_pages=knows_pages)
    return sorted_rows.mapInArrow(cleaner, written_schema(cleaner.columns))


class _Dealer:
    """Gives each page its site and a part of it, as a task of Spark."""

    def __init__(self, settings: SparkSettings, parts: Mapping[str, int]) -> None:
        self._settings = settings
        self._parts = parts

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The rows with site and part."""
        return write_rows(map(self._dealt, read_rows(batches)), _ROW)

    def _dealt(self, row: Row) -> Row:
        nothing = {"memory": None, "not_learned": None}
        if row["failure"] is not None:
            return {**row, **nothing, "part": row["order"], "is_text": False}
        site = page_of(row, self._settings.source).site
        parts = self._parts.get(site or "", 1)
        place = row["order"] or crc32((row["url"] or "").encode())
        return {**row, **nothing, "site": site, "part": place % parts}


class _Copier:
    """Gives each memory to every part of its site, as a task of Spark."""

    def __init__(self, parts: Mapping[str, int]) -> None:
        self._parts = parts

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """A row for each part."""
        return write_rows(self._rows(batches), _ROW)

    def _rows(self, batches: Iterable[Any]) -> Iterator[Row]:
        for row in read_rows(batches):
            for part in range(self._parts.get(row["site"], 1)):
                told = {name: row[name] for name in ("site", "memory", "not_learned")}
                yield {**dict.fromkeys(_ROW), **told, "part": part}


class _Cleaner:
    """Answers on pages, as a task of Spark that has been given all memories."""

    def __init__(self, settings: SparkSettings, shared: Any, *, knows_pages: bool) -> None:
        self._settings = settings
        self._shared = shared
        self._knows_pages = knows_pages
        self.columns = _TEACHING if knows_pages else ANSWER

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The answers on the pages in the batches."""
        asker = _Asker(self._settings, knows_pages=self._knows_pages)
        taught: Mapping[str, Taught] = self._shared.value
        rows = (asker.answer(row, taught.get) for row in read_rows(batches))
        return write_rows(rows, self.columns)


class _JoinedCleaner:
    """Answers on pages, as a task of Spark that is given each memory before its pages."""

    def __init__(self, settings: SparkSettings, *, knows_pages: bool) -> None:
        self._settings = settings
        self._knows_pages = knows_pages
        self.columns = _TEACHING if knows_pages else ANSWER

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The answers on the pages in the batches."""
        return write_rows(self._rows(batches), self.columns)

    def _rows(self, batches: Iterable[Any]) -> Iterator[Row]:
        asker = _Asker(self._settings, knows_pages=self._knows_pages)
        for _, rows in groupby(read_rows(batches), lambda row: row["site"]):
            taught: dict[str, Taught] = {}
            for row in rows:
                if row["memory"] is not None:
                    taught[row["site"]] = bytes(row["memory"]), bytes(row["not_learned"])
                else:
                    yield asker.answer(row, taught.get)


class _Asker:
    """Answers on rows; holds the memories that it was last asked for."""

    def __init__(self, settings: SparkSettings, *, knows_pages: bool = False) -> None:
        self._settings = settings
        self._knows_pages = knows_pages
        self._sites = settings.make_sites(knows_pages=knows_pages)
        self._held: OrderedDict[str, int] = OrderedDict()
        self._held_bytes = 0

    def answer(self, row: Row, taught: Any) -> Row:
        """The answer on a row; `taught` gives what a site has taught, or None."""
        if row["failure"] is not None:
            return {**_NO_LESSON, **failed_row(row)}
        page = page_of(row, self._settings.source)
        if not isinstance(page, Page):
            return {**_NO_LESSON, **answer_row(row, page, Refusal(page.url, page.site, page.error))}
        self._hold(page.site or "", taught)
        if not self._knows_pages:
            return answer_row(row, page, answer_on(page, self._sites, is_learned=True))
        found = answer_or_refusal(page, lambda: self._sites.ask_page(page, Result.to_json))
        answer, lesson = (found, None) if isinstance(found, Refusal) else found
        digest = None if lesson is None else digest_of(page)
        return {**answer_row(row, page, answer), "digest": digest, "lesson": lesson}

    def _hold(self, site: str, taught: Any) -> None:
        """Have the site's memory at hand, and let go of others where there is no room."""
        if site in self._held:
            self._held.move_to_end(site)
            return
        found: Taught | None = taught(site)
        if found is None:
            return
        memory = load(found[0], self._sites.method.name, site=site)
        self._sites.hold(site, memory, unlearned=np.frombuffer(found[1], ">u8").tolist())
        self._held[site] = memory.size_bytes
        self._held_bytes += memory.size_bytes
        while self._held_bytes > _HELD_BYTES and len(self._held) > 1:
            gone, size_bytes = self._held.popitem(last=False)
            self._held_bytes -= size_bytes
            self._sites.drop(gone)
