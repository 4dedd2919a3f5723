"""How pages are learned and cleaned on a cluster, and a session that is set up for them."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pyspark.sql import SparkSession

from dehusk.answer.override import overrides
from dehusk.doors.spark.rows import MAX_SIZED_TASKS
from dehusk.errors import SettingError, UsageError
from dehusk.memory.kept import Held
from dehusk.memory.lessons import Lessons
from dehusk.memory.session import Session
from dehusk.methods import DEFAULT, AdditiveMethod, make_method
from dehusk.settings import Limits, MarkdownSettings, SourceSettings

BATCH_ROWS: Final = 200
"""Pages that Spark hands to Python at once. Its own 10,000 would be a gigabyte of HTML."""
_ROCKSDB: Final = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
CONF: Final = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(BATCH_ROWS),
    "spark.sql.streaming.stateStore.providerClass": _ROCKSDB,
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "16m",
    "spark.sql.adaptive.coalescePartitions.initialPartitionNum": str(MAX_SIZED_TASKS),
    "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning": "true",
    "spark.ui.showConsoleProgress": "false",
}
"""What `dehusk spark` sets, unless told otherwise; worth setting in sessions of your own.

Without the one about micro-batches a stream that forgets would run without an end, pages or not.
The two about partitions say how large a task is whose number is left to Spark: 16 MB, packed, are
the HTML of some thousands of pages, and there are 1,000 of them at most. Without the one about
cached plans there are always 1,000 where rows are held, however few these are."""


@dataclass(frozen=True, slots=True)
class SparkSettings:
    """How pages are learned and cleaned on a cluster."""

    method: str = DEFAULT
    """One whose memories add up."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """The method's own."""
    limits: Limits = Limits()
    source: SourceSettings = SourceSettings()
    """How the site of a page is known, and what the fields of records are called."""
    keep: tuple[str, ...] = ()
    """CSS: what it selects is content, whatever the method says."""
    drop: tuple[str, ...] = ()
    markdown: MarkdownSettings = MarkdownSettings()
    """What Markdown has of links, images and tables."""
    broadcast_bytes: int = 64_000_000
    """The memories of all sites together, up to which each worker process is given all of them.
    Beyond it pages and memories are brought together by site instead. Chosen, not swept: every
    worker process of a cluster holds that much."""
    part_pages: int = 2_000
    """Pages of one site that go to one task at most, where pages are brought together by site:
    a quarter of a minute's work at 7 ms a page."""

    tasks: int | None = None
    """Tasks that work is cut into wherever rows are moved; None lets their size decide."""

    def __post_init__(self) -> None:
        if self.broadcast_bytes < 0 or self.part_pages < 1:
            raise SettingError("spark: broadcast_bytes must be 0 or above, part_pages 1 or above")
        if self.tasks is not None and self.tasks < 1:
            raise SettingError("spark: tasks must be 1 or above")

    def make_method(self) -> AdditiveMethod:
        """The method. Raises UsageError for one whose memories do not add up."""
        method = make_method(self.method, **self.settings)
        if not isinstance(method, AdditiveMethod):
            raise UsageError(
                f"memories of {self.method} do not add up, so it cannot be learned in parts"
            )
        return method

    def make_sites(self, *, knows_pages: bool = False) -> Session:
        """Sites that answer as these settings say; with a memory that lasts they know pages."""
        lessons = Lessons(self.make_method(), knows_pages=knows_pages)
        chosen = overrides(self.keep, self.drop)
        return Session.of(lessons, self.limits, chosen, Held(), markdown=self.markdown)


DEFAULTS: Final = SparkSettings()


def make_session(master: str | None = None, conf: Mapping[str, str] | None = None) -> SparkSession:
    """A session, as `spark-submit` set it up, or on `master`, on this machine without either.

    Raises UsageError where there is no Java.
    """
    check_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("dehusk")
    if master is not None:
        builder = builder.master(master)
    for name, value in {**CONF, **(conf or {})}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def check_java() -> None:
    """Raise UsageError where there is no Java."""
    home = os.environ.get("JAVA_HOME")
    if not (shutil.which("java") or (home and shutil.which("java", path=f"{home}/bin"))):
        raise UsageError(
            "Spark needs Java 17 or 21, and there is none (Debian: openjdk-17-jre-headless)"
        )
