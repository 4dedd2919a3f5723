"""The second pass: every page is answered on with all that its site has taught."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final
from zlib import crc32

import numpy as np
from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as fn

from dehusk.answer.result import Refusal, Result
from dehusk.doors.spark.learning import learn
from dehusk.doors.spark.rows import (
    PAGE,
    Row,
    as_rows,
    held,
    page_of,
    plain,
    read_rows,
    tasks,
    write_rows,
    written_schema,
)
from dehusk.doors.spark.session import DEFAULTS, SparkSettings
from dehusk.errors import UsageError
from dehusk.memory import load
from dehusk.output.formats import Format, render
from dehusk.page.page import Page
from dehusk.sources import Failure
from dehusk.workers.answering import answer_on

ANSWER: Final = {
    "order": "bigint",
    "url": "string",
    "site": "string",
    "error": "string",
    "line": "string",
}
"""`line` is the JSON line of the page, `error` the code of what went wrong."""
Taught = tuple[bytes, bytes]
"""The memory of a site, and the digests of what could not be learned."""
_HELD_BYTES: Final = 128_000_000
"""What the memories that a worker has read may take, as `Keeping.max_active_bytes` allows."""
_FIELDS: Final = (
    "url string, site string, title string, text string, markdown string, template_share double,"
    " pages_seen bigint, family bigint, revision bigint, template_changed boolean, type string,"
    " type_confidence double, lang string, author string, published string, modified string,"
    " summary string, image string, site_name string, tags array<string>, comments string,"
    " confidence double, fingerprint string,"
    " links array<struct<url string, text string, template boolean>>,"
    " error struct<code string, message string>, truncated string, needs_render boolean"
)
_ROW: Final = {**PAGE, "part": "bigint", "memory": "binary", "not_learned": "binary"}
"""A page, or what a site has taught, and the part of the site that it goes to."""


def clean(pages: DataFrame, settings: SparkSettings = DEFAULTS) -> DataFrame:
    """A row for each page: `order`, `url`, `site`, `error`, and `line`, its JSON line.

    `pages` has the columns `url` and `html` (text or bytes), and if there are any `site`,
    `charset` and `order`: where a page stands in the input, else pages are learned in the order
    of their URLs. They are read twice, and learned before this returns. Each line has the bytes
    that `dehusk clean --two-pass` writes for the same pages in the same order.
    """
    rows = as_rows(pages)
    memories = learn(rows, settings)
    with held(memories, StorageLevel.MEMORY_AND_DISK_DESER) as hold:
        size = memories.agg(fn.sum(fn.length("memory") + fn.length("not_learned"))).first()
        if size is None or (size[0] or 0) > settings.broadcast_bytes:
            hold.keep()  # Needed when the answers are asked for, and so until the session ends.
            return _joined(rows, memories, settings)
        taught = {
            row["site"]: (bytes(row["memory"]), bytes(row["not_learned"]))
            for row in memories.toLocalIterator()
        }
    shared = pages.sparkSession.sparkContext.broadcast(taught)
    return rows.mapInArrow(_Cleaner(settings, shared), written_schema(ANSWER))


def fields(answers: DataFrame) -> DataFrame:
    """The answers with a column for each field of their JSON lines, and `order`."""
    parsed = fn.from_json("line", _FIELDS).alias("answer")
    return answers.select("order", parsed).select("order", "answer.*")


def answer_row(row: Row, page: Page | Failure, answer: Result | Refusal) -> Row:
    """The row of an answer on the page of a row."""
    line = (render(answer, Format.JSONL) or "").rstrip("\n")
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


def _joined(rows: DataFrame, memories: DataFrame, settings: SparkSettings) -> DataFrame:
    """The answers, where every page is sent to a task that its site's memory is sent to as well.

    A site of many pages goes to several tasks, and its memory to each of them.
    """
    large = memories.where(memories.pages > settings.part_pages).select("site", "pages").collect()
    parts = {row["site"]: -(-row["pages"] // settings.part_pages) for row in large}
    dealt = rows.mapInArrow(_Dealer(settings, parts), written_schema(_ROW))
    taught = memories.mapInArrow(_Copier(parts), written_schema(_ROW))
    together = dealt.unionByName(taught).repartition(tasks(rows), "site", "part")
    # A memory has no HTML, and nulls come first.
    sorted_rows = together.sortWithinPartitions("site", "part", fn.col("is_text"), "order")
    return sorted_rows.mapInArrow(_JoinedCleaner(settings), written_schema(ANSWER))


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

    def __init__(self, settings: SparkSettings, shared: Any) -> None:
        self._settings = settings
        self._shared = shared

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The answers on the pages in the batches."""
        asker = _Asker(self._settings)
        taught: Mapping[str, Taught] = self._shared.value
        rows = (asker.answer(row, taught.get) for row in read_rows(batches))
        return write_rows(rows, ANSWER)


class _JoinedCleaner:
    """Answers on pages, as a task of Spark that is given each memory before its pages."""

    def __init__(self, settings: SparkSettings) -> None:
        self._settings = settings

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The answers on the pages in the batches."""
        return write_rows(self._rows(batches), ANSWER)

    def _rows(self, batches: Iterable[Any]) -> Iterator[Row]:
        asker = _Asker(self._settings)
        for _, rows in groupby(read_rows(batches), lambda row: row["site"]):
            taught: dict[str, Taught] = {}
            for row in rows:
                if row["memory"] is not None:
                    taught[row["site"]] = bytes(row["memory"]), bytes(row["not_learned"])
                else:
                    yield asker.answer(row, taught.get)


class _Asker:
    """Answers on rows; holds the memories that it was last asked for."""

    def __init__(self, settings: SparkSettings) -> None:
        self._settings = settings
        self._sites = settings.make_sites()
        self._held: OrderedDict[str, int] = OrderedDict()
        self._held_bytes = 0

    def answer(self, row: Row, taught: Any) -> Row:
        """The answer on a row; `taught` gives what a site has taught, or None."""
        if row["failure"] is not None:
            return failed_row(row)
        page = page_of(row, self._settings.source)
        if isinstance(page, Page):
            self._hold(page.site or "", taught)
        result = answer_on(page, self._sites, is_learned=True)
        return answer_row(row, page, result)

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


@dataclass(frozen=True, slots=True)
class Written:
    """How many pages were written, and how many of them are refusals."""

    pages: int
    failed: int


def write(answers: DataFrame, target: str, output_format: str = "jsonl") -> Written:
    """Write the answers in the order of the input, as JSON lines or Parquet; how many there were.

    The files of a folder, by name, are one long list. Raises UsageError for a folder that is
    there already, before anything is computed.
    """
    check_target(answers.sparkSession, target)
    in_order = answers.orderBy("order", "url")
    # Sorting looks at everything twice, counting once more: it must not be cleaned again.
    with held(answers, StorageLevel.DISK_ONLY):
        if output_format == "parquet":
            fields(in_order).drop("order").write.parquet(target)
        else:
            in_order.select("line").write.text(target)
        # Not by observing what is written: of no pages at all there is nothing to observe.
        pages, failed = answers.agg(fn.count(fn.lit(1)), fn.count("error")).collect()[0]
    return Written(pages, failed)


def check_target(session: SparkSession, target: str) -> None:
    """Raise UsageError for a folder that is there already, or where Spark knows none.

    Worth asking before `clean`, which learns all pages before it returns.
    """
    java: Any = session.sparkContext._jvm  # Spark offers Python no other way to its file systems.
    try:
        path = java.org.apache.hadoop.fs.Path(target)
        system = path.getFileSystem(session.sparkContext._jsc.hadoopConfiguration())
        is_there = system.exists(path)
    except Py4JJavaError as fault:
        raise UsageError(f"{target}: {fault.java_exception.getMessage()}") from fault
    if is_there:
        raise UsageError(f"{target}: already exists; name a new folder")
