"""The first pass: what each page teaches is found where the page is, and added up by site."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, Final

from pyspark.sql import DataFrame

from dehusk import pipeline
from dehusk.doors.spark.rows import (
    Row,
    as_rows,
    page_of,
    plain,
    read_rows,
    tasks,
    write_rows,
    written_schema,
)
from dehusk.doors.spark.session import DEFAULTS, SparkSettings
from dehusk.errors import PageError, StateError, UsageError
from dehusk.memory import Memory, dump, load
from dehusk.memory.lessons import page_digest
from dehusk.methods import AdditiveMethod
from dehusk.page.page import Page
from dehusk.page.tree import Tree
from dehusk.sources import Failure

_MEMORY: Final = {
    "site": "string",
    "pages": "bigint",
    "memory": "binary",
    "not_learned": "binary",
}
_LESSON: Final = {
    "site": "string",
    "order": "bigint",
    "url": "string",
    "digest": "binary",
    "lesson": "binary",
}
_DIGEST_BYTES: Final = 8


def learn(pages: DataFrame, settings: SparkSettings = DEFAULTS) -> DataFrame:
    """A row for each site: `site`, `pages`, and `memory`, what `pages` have taught, as bytes.

    What a page teaches, a memory of one page, is found by whatever task has the page; only these
    few kilobytes are moved. One task adds up those of a site in the order of `order`, `url` and
    HTML, as one machine would have learned them, limits and ageing included. `not_learned` has the
    digests of the pages that could not be learned.
    """
    settings.make_method()  # One that cannot be learned in parts is refused before anything runs.
    lessons = as_rows(pages).mapInArrow(_Teacher(settings), written_schema(_LESSON))
    by_site = lessons.repartition(tasks(pages), "site")
    by_site = by_site.sortWithinPartitions("site", "order", "url", "digest")
    return by_site.mapInArrow(_Adder(settings), written_schema(_MEMORY))


class _Teacher:
    """Finds what pages teach, as a task of Spark."""

    def __init__(self, settings: SparkSettings) -> None:
        self._settings = settings

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The lessons of the pages in the batches."""
        return write_rows(self._rows(batches), _LESSON)

    def _rows(self, batches: Iterable[Any]) -> Iterator[Row]:
        method = self._settings.make_method()
        for row in read_rows(batches):
            if row["failure"] is not None:
                continue
            page = page_of(row, self._settings.source)
            if isinstance(page, Failure):
                continue  # The second pass says so.
            lesson = self._lesson(page, method)
            yield {
                "site": page.site,
                "order": row["order"],
                "url": plain(page.url),
                "digest": int(page_digest(page, with_html=True)).to_bytes(_DIGEST_BYTES, "big"),
                "lesson": None if lesson is None else dump(lesson, method.name),
            }

    def _lesson(self, page: Page, method: AdditiveMethod) -> Memory | None:
        """What the page teaches; None where it cannot be learned."""

        def learn(memory: Memory, tree: Tree) -> pipeline.Learned:
            return pipeline.Learned(memory, pipeline.lesson_of(method, tree))

        setup = pipeline.Setup(method, self._settings.limits)
        try:
            return pipeline.learn(page, Memory(), setup, learn).lesson
        except PageError:
            return None
        except (StateError, UsageError):
            raise  # No model to read: the next page would meet that too.
        except Exception:  # noqa: BLE001 - the outermost loop: named in the second pass
            return None


class _Adder:
    """Adds up the lessons of sites, as a task of Spark that is given them site by site."""

    def __init__(self, settings: SparkSettings) -> None:
        self._settings = settings

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The memories of the sites in the batches."""
        return write_rows(self._rows(batches), _MEMORY)

    def _rows(self, batches: Iterable[Any]) -> Iterator[Row]:
        method = self._settings.make_method()
        for site, rows in groupby(read_rows(batches), lambda row: row["site"]):
            not_learned: list[bytes] = []
            memory = added_up(_lessons(rows, method.name, not_learned), method)
            yield {
                "site": site,
                "pages": memory.pages,
                "memory": dump(memory, method.name, site=site),
                "not_learned": b"".join(not_learned),
            }


def _lessons(rows: Iterable[Row], method: str, not_learned: list[bytes]) -> Iterator[Memory]:
    """The lessons of a site; the digests of pages without one are put down."""
    for row in rows:
        if row["lesson"] is None:
            not_learned.append(bytes(row["digest"]))
        else:
            yield load(bytes(row["lesson"]), method)


def added_up(lessons: Iterable[Memory], method: AdditiveMethod) -> Memory:
    """The memory after these lessons, in this order: what one machine would have learned.

    A tenth of a millisecond or two a page. To sum lessons among themselves first, where no limit
    is reached, would save a third of that (measured), which is not worth the trouble.
    """
    memory = Memory()
    for lesson in lessons:
        memory = pipeline.with_lesson(method, memory, lesson)
    return memory
