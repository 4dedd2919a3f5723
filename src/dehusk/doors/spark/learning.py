"""The first pass: what each page teaches is found where the page is, and added up by site."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import groupby
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from dehusk import pipeline
from dehusk.doors.spark.rows import (
    Row,
    as_rows,
    moved,
    page_of,
    plain,
    read_rows,
    write_rows,
    written_schema,
)
from dehusk.doors.spark.session import DEFAULTS, SparkSettings
from dehusk.errors import PageError, StateError, UsageError
from dehusk.memory import Memory, dump, load
from dehusk.memory.lessons import Lessons, page_digest
from dehusk.memory.session import Session
from dehusk.methods import AdditiveMethod, learned_with
from dehusk.page.page import Page
from dehusk.page.tree import Tree
from dehusk.sources import Failure

MEMORY: Final = {
    "site": "string",
    "pages": "bigint",
    "size": "bigint",
    "memory": "binary",
    "not_learned": "binary",
}
LESSON: Final = {
    "site": "string",
    "order": "bigint",
    "url": "string",
    "digest": "binary",
    "lesson": "binary",
}
_DIGEST_BYTES: Final = 8


def learn(
    pages: DataFrame, settings: SparkSettings = DEFAULTS, memories: DataFrame | None = None
) -> DataFrame:
    """A row for each site: `site`, `pages`, and `memory`, what `pages` have taught, as bytes.

    What a page teaches, a memory of one page, is found by whatever task has the page; only these
    few kilobytes are moved. One task adds up those of a site in the order of `order`, `url` and
    HTML, as one machine would have learned them, limits and ageing included. `not_learned` has the
    digests of the pages that could not be learned. `size` is what a row takes, in bytes.

    With `memories`, as `read_memory` gives them, it goes on from these. Sites then know their pages
    by URL, and learn none twice; `pages` may be what `clean` has answered with memories.
    """
    settings.make_method()  # One that cannot be learned in parts is refused before anything runs.
    if "lesson" in pages.columns:
        lessons = pages.select(*LESSON)
    else:
        teacher = _Teacher(settings, knows_pages=memories is not None)
        lessons = as_rows(pages).mapInArrow(teacher, written_schema(LESSON))
    if memories is None:
        adder: _Adder | _Continuer = _Adder(settings)
    else:
        adder = _Continuer(settings)
        lessons = lessons.where("lesson is not null")
        lessons = lessons.unionByName(memories.select("site", "memory"), allowMissingColumns=True)
    by_site = moved(lessons, settings.tasks, "site")
    first = [] if memories is None else [fn.col("memory").isNull()]
    by_site = by_site.sortWithinPartitions("site", *first, "order", "url", "digest")
    return by_site.mapInArrow(adder, written_schema(MEMORY))


def digest_of(page: Page) -> bytes:
    """What tells pages of one place and URL apart."""
    return int(page_digest(page, with_html=True)).to_bytes(_DIGEST_BYTES, "big")


class _Teacher:
    """Finds what pages teach, as a task of Spark."""

    def __init__(self, settings: SparkSettings, *, knows_pages: bool) -> None:
        self._settings = settings
        self._knows_pages = knows_pages

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The lessons of the pages in the batches."""
        return write_rows(self._rows(batches), LESSON)

    def _rows(self, batches: Iterable[Any]) -> Iterator[Row]:
        method = self._settings.make_method()
        sites = self._settings.make_sites(knows_pages=True) if self._knows_pages else None
        for row in read_rows(batches):
            if row["failure"] is not None:
                continue
            page = page_of(row, self._settings.source)
            if isinstance(page, Failure):
                continue  # The second pass says so.
            yield {
                "site": page.site,
                "order": row["order"],
                "url": plain(page.url),
                "digest": digest_of(page),
                "lesson": self._lesson(page, method, sites),
            }

    def _lesson(self, page: Page, method: AdditiveMethod, sites: Session | None) -> bytes | None:
        """What the page teaches; None where it cannot be learned."""

        def learn(memory: Memory, tree: Tree) -> pipeline.Learned:
            return pipeline.Learned(memory, pipeline.lesson_of(method, tree))

        try:
            if sites is not None:
                return sites.lesson(page)
            setup = pipeline.Setup(method, self._settings.limits)
            lesson = pipeline.learn(page, Memory(), setup, learn).lesson
            return None if lesson is None else dump(lesson, method.name)
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
        return write_rows(self._rows(batches), MEMORY)

    def _rows(self, batches: Iterable[Any]) -> Iterator[Row]:
        method = self._settings.make_method()
        for site, rows in groupby(read_rows(batches), lambda row: row["site"]):
            not_learned: list[bytes] = []
            memory = added_up(_lessons(rows, method.name, not_learned), method)
            state = dump(memory, method.name, site=site)
            yield _row(site, memory.pages, state, b"".join(not_learned))


class _Continuer:
    """Adds lessons to what sites had taught, as a task of Spark that is given that before them."""

    def __init__(self, settings: SparkSettings) -> None:
        self._settings = settings

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The memories of the sites in the batches."""
        return write_rows(self._rows(batches), MEMORY)

    def _rows(self, batches: Iterable[Any]) -> Iterator[Row]:
        lessons = Lessons(self._settings.make_method(), knows_pages=True)
        for site, rows in groupby(read_rows(batches), lambda row: row["site"]):
            yield self._after(site, rows, lessons)

    def _after(self, site: str, rows: Iterable[Row], lessons: Lessons) -> Row:
        """What the site has taught after the lessons of the pages that it did not know."""
        memory, state = Memory(), b""
        for row in rows:
            if row["memory"] is not None:
                state = bytes(row["memory"])
                memory = lessons.read(state, site)
                continue
            lesson = lessons.read(bytes(row["lesson"]), site)
            with suppress(PageError):  # Too large for the site: whoever asks about it is told.
                after = lessons.after_told(memory, lesson, row["url"])
                if after is not None:
                    memory, state = after, b""
        if not state:
            settings = learned_with(lessons.method)
            state = dump(memory, lessons.method.name, settings=settings, site=site)
        return _row(site, memory.pages, state)


def _row(site: str, pages: int, memory: bytes, not_learned: bytes = b"") -> Row:
    size = len(memory) + len(not_learned)
    return dict(zip(MEMORY, (site, pages, size, memory, not_learned), strict=True))


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
