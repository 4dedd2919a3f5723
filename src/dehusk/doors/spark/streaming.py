"""Pages as they come: a stream in, a stream of answers out, and what sites teach kept by Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
from dehusk.memory import Memory, dump
from dehusk.memory.session import Session, SessionSettings, Snapshot
from dehusk.page.page import Page
from dehusk.settings import Keeping
from dehusk.sources import Failure
from dehusk.workers.answering import answer_or_refusal

_STATE: Final = "memory binary"


def stream(pages: DataFrame, settings: SparkSettings = DEFAULTS) -> DataFrame:
    """A stream of answers, as `clean` gives them, on a stream of pages.

    Each page is learned and answered on in one pass, in the order of `order` and `url` within each
    micro-batch; a page that its site knows by its URL is not learned again. What a site has taught
    is in Spark's state store, which must be RocksDB (`make_session` sets it): it goes on from the
    checkpoint of the query, and each page counts once, however often the query is killed.
    """
    settings.make_method()
    named = as_rows(pages).mapInArrow(_Namer(settings), written_schema(PAGE))
    return named.groupBy("site").transformWithStateInPandas(
        statefulProcessor=_Learner(settings),
        outputStructType=written_schema(ANSWER),
        outputMode="Append",
        timeMode="None",
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


class _Learner(StatefulProcessor):
    """Learns and answers on the pages of a site, with what it was taught before as its state."""

    def __init__(self, settings: SparkSettings) -> None:
        self._settings = settings

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Make ready in a task."""
        settings = self._settings
        judging = SessionSettings(
            settings.method, settings.settings, settings.limits, Keeping(),
            markdown=settings.markdown,
        )  # fmt: skip
        self._taught = handle.getValueState("memory", _STATE)
        self._session = Session.worker(judging)
        self._overrides = overrides(settings.keep, settings.drop)

    def handleInputRows(  # noqa: N802 - Spark's name
        self,
        key: Any,
        rows: Iterable[Any],
        timerValues: object,  # noqa: N803, ARG002
    ) -> Iterator[Any]:
        """The answers on a site's pages of a micro-batch; its state goes on from them."""
        import pandas as pd  # noqa: PLC0415 - slow, and only streams need it

        site = str(key[0])
        before = self._taught.get()
        empty = dump(Memory(), self._settings.method, site=site)
        state = empty if before is None else bytes(before[0])
        self._session.restore(Snapshot(site, state, self._overrides))
        answers = map(self._answer, in_order(row for frame in rows for row in _rows(frame)))
        # By the batch, each of a bounded size: a micro-batch may be a whole site.
        for batch in write_rows(answers, ANSWER):
            yield pd.DataFrame(batch.to_pylist(), columns=list(ANSWER))
        self._taught.update((self._session.state(site),))

    def close(self) -> None:
        """Nothing is held that would have to be let go."""

    def _answer(self, row: Row) -> Row:
        if row["failure"] is not None:
            return failed_row(row)
        page = page_of(row, self._settings.source)
        return answer_row(row, page, self._result(page))

    def _result(self, page: Page | Failure) -> Result | Refusal:
        """The answer on a page, which is learned. Nothing that a page does ends the query."""
        if isinstance(page, Failure):
            return Refusal(page.url, page.site, page.error)
        return answer_or_refusal(page, lambda: self._session.add(page, render=Result.to_json))


def _rows(frame: Any) -> Iterator[Row]:
    """The rows of a frame; pandas has other words for null, and for numbers beside them."""
    plain = frame.astype(object).where(frame.notna(), None)
    for row in plain.to_dict("records"):
        order = row["order"]
        yield {**row, "order": None if order is None else int(order)}
