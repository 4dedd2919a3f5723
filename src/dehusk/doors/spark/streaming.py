"""Pages as they come: a stream in, a stream of answers out, and what sites teach kept by Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from dehusk.answer.override import overrides
from dehusk.answer.result import Refusal, Result
from dehusk.doors.spark.cleaning import ANSWER, answer_row, failed_row
from dehusk.doors.spark.rows import (
    PAGE,
    Row,
    as_rows,
    in_order,
    page_of,
    read_rows,
    write_rows,
    written_schema,
)
from dehusk.doors.spark.session import DEFAULTS, SparkSettings
from dehusk.errors import SettingError
from dehusk.memory import Memory, dump
from dehusk.memory.session import Session, SessionSettings, Snapshot
from dehusk.page.page import Page
from dehusk.settings import Keeping
from dehusk.sources import Failure
from dehusk.workers.answering import answer_or_refusal

_STATE: Final = "memory binary, written_ms bigint"
_LESSON: Final = "lesson binary"
_MAX_LESSONS: Final = 100
"""Lessons that wait behind a memory: to learn them again takes 30 ms, each time the site comes."""


def stream(
    pages: DataFrame, settings: SparkSettings = DEFAULTS, *, forget_after_s: float | None = None
) -> DataFrame:
    """A stream of answers, as `clean` gives them, on a stream of pages.

    Each page is learned and answered on in one pass, in the order of `order` and `url` within each
    micro-batch; a page that its site knows by its URL is not learned again. What a site has taught
    is in Spark's state store, which must be RocksDB (`make_session` sets it): it goes on from the
    checkpoint of the query, and each page counts once, however often the query is killed.

    A site that sends nothing for `forget_after_s` is forgotten, at the latest after twice as long.
    """
    settings.make_method()
    if forget_after_s is not None and forget_after_s <= 0:
        raise SettingError("spark: forget_after_s must be above 0")
    named = as_rows(pages).mapInArrow(_Namer(settings), written_schema(PAGE))
    return named.groupBy("site").transformWithStateInPandas(
        statefulProcessor=_Learner(settings, forget_after_s),
        outputStructType=written_schema(ANSWER),
        outputMode="Append",
        timeMode="None" if forget_after_s is None else "ProcessingTime",
    )


class _Namer:
    """Gives each page its site, as a task of Spark."""

    def __init__(self, settings: SparkSettings) -> None:
        self._settings = settings

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The rows with their sites."""
        return write_rows(map(self._named, read_rows(batches)), PAGE)

    def _named(self, row: Row) -> Row:
        return {**row, "site": page_of(row, self._settings.source).site}


@dataclass(slots=True)
class _Change:
    """What a micro-batch adds to the state of a site: its lessons, as long as they are few."""

    max_bytes: int
    waiting: int
    """Lessons that are behind the memory already."""
    lessons: list[bytes] = field(default_factory=list)
    is_small: bool = True

    def add(self, lesson: bytes) -> None:
        """One more; where they come to more than the memory, that is to be written instead."""
        self.lessons.append(lesson)
        self.max_bytes -= len(lesson)
        self.waiting += 1
        if self.max_bytes < 0 or self.waiting > _MAX_LESSONS:
            self.is_small = False
            self.lessons.clear()


class _Learner(StatefulProcessor):
    """Learns and answers on the pages of a site, with what it was taught before as its state.

    The state is a memory, and the lessons of the pages that came after it: what a page adds is
    written, and the whole memory only when the lessons have become as large.
    """

    def __init__(self, settings: SparkSettings, forget_after_s: float | None = None) -> None:
        self._settings = settings
        self._life_ms = None if forget_after_s is None else int(1000 * forget_after_s)

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Make ready in a task."""
        settings = self._settings
        judging = SessionSettings(
            settings.method, settings.settings, settings.limits, Keeping(),
            markdown=settings.markdown,
        )  # fmt: skip
        # A memory is written anew when it is half as old, so that a site that comes back stays.
        ttl_ms = None if self._life_ms is None else 2 * self._life_ms
        self._taught = handle.getValueState("memory", _STATE, ttl_ms)
        self._behind = handle.getListState("lessons", _LESSON, ttl_ms)
        self._session = Session.worker(judging)
        self._overrides = overrides(settings.keep, settings.drop)

    def handleInputRows(  # noqa: N802 - Spark's name
        self,
        key: Any,
        rows: Iterable[Any],
        timerValues: Any,  # noqa: N803
    ) -> Iterator[Any]:
        """The answers on a site's pages of a micro-batch; its state goes on from them."""
        import pandas as pd  # noqa: PLC0415 - slow, and only streams need it

        site = str(key[0])
        now_ms = 0 if self._life_ms is None else timerValues.getCurrentProcessingTimeInMs()
        change = self._restore(site, now_ms)
        in_turn = in_order(row for frame in rows for row in _rows(frame))
        answers = (self._answer(row, change) for row in in_turn)
        # By the batch, each of a bounded size: a micro-batch may be a whole site.
        for batch in write_rows(answers, ANSWER):
            yield pd.DataFrame(batch.to_pylist(), columns=list(ANSWER))
        if not change.is_small:
            self._taught.update((self._session.state(site), now_ms))
            self._behind.clear()
        elif change.lessons:
            self._behind.appendList([(lesson,) for lesson in change.lessons])

    def _restore(self, site: str, now_ms: int) -> _Change:
        """Have the site at hand as it was left; what is to be written of it."""
        before = self._taught.get()
        if before is None:  # New, or forgotten: lessons live longer than the memory before them.
            empty = dump(Memory(), self._settings.method, site=site)
            self._session.restore(Snapshot(site, empty, self._overrides))
            return _Change(0, 0, is_small=False)
        state, written_ms = bytes(before[0]), before[1]
        lessons = [bytes(row[0]) for row in self._behind.get()]
        self._session.restore(Snapshot(site, state, self._overrides, lessons))
        is_old = self._life_ms is not None and now_ms - written_ms > self._life_ms
        left = len(state) - sum(map(len, lessons))
        return _Change(left, len(lessons), is_small=not is_old)

    def close(self) -> None:
        """Nothing is held that would have to be let go."""

    def _answer(self, row: Row, change: _Change) -> Row:
        if row["failure"] is not None:
            return failed_row(row)
        page = page_of(row, self._settings.source)
        return answer_row(row, page, self._result(page, change))

    def _result(self, page: Page | Failure, change: _Change) -> Result | Refusal:
        """The answer on a page, which is learned. Nothing that a page does ends the query."""
        if isinstance(page, Failure):
            return Refusal(page.url, page.site, page.error)
        found = answer_or_refusal(page, lambda: self._session.add_page(page, Result.to_json))
        if isinstance(found, Refusal):
            return found
        result, lesson = found
        if lesson is not None and change.is_small:
            change.add(lesson)
        return result


def _rows(frame: Any) -> Iterator[Row]:
    """The rows of a frame; pandas has other words for null, and for numbers beside them."""
    plain = frame.astype(object).where(frame.notna(), None)
    for row in plain.to_dict("records"):
        order = row["order"]
        yield {**row, "order": None if order is None else int(order)}
