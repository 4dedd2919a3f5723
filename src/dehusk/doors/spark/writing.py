"""Answers into files: in the order of the input or as they come, in folders by field or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as fn

from dehusk.doors.spark.rows import held
from dehusk.errors import UsageError

_FIELDS: Final = (
    "url string, site string, title string, text string, markdown string, template_share double,"
    " pages_seen bigint, family bigint, revision bigint, template_changed boolean, type string,"
    " type_confidence double, lang string, author string, published string, modified string,"
    " summary string, image string, site_name string, tags array<string>, structured string,"
    " comments string, confidence double, problem string, site_removed double, fingerprint string,"
    " links array<struct<url string, text string, template boolean>>,"
    " error struct<code string, message string>, truncated string, needs_render boolean"
)
_COUNTS: Final = {"pages": "count(1)", "failed": "count(error)"}
FOLDERS: Final = ("site", "lang", "type")
"""Fields that answers may be put into folders by."""


def fields(answers: DataFrame) -> DataFrame:
    """The answers with a column for each field of their JSON lines, and `order`."""
    parsed = fn.from_json("line", _FIELDS).alias("answer")
    return answers.select("order", parsed).select("order", "answer.*")


@dataclass(frozen=True, slots=True)
class Written:
    """How many pages were written, and how many of them are refusals."""

    pages: int
    failed: int


def write(
    answers: DataFrame,
    target: str,
    output_format: str = "jsonl",
    *,
    in_order: bool = True,
    by: Sequence[str] = (),
) -> Written:
    """Write the answers as JSON lines or Parquet; how many there were.

    The files of a folder, by name, are one long list in the order of the input. Without `in_order`
    each task writes what it has: nothing is sorted, moved or held. `by` gives each value of these
    `FOLDERS` a folder of its own (`lang=en/`). Raises UsageError for a folder that is there
    already, before anything is computed.
    """
    by = tuple(dict.fromkeys(by))
    unknown = [name for name in by if name not in FOLDERS]
    if unknown:
        raise UsageError(f"no folders by {unknown[0]}; there are: {', '.join(FOLDERS)}")
    check_target(answers.sparkSession, target)
    if not in_order:
        return _write_as_they_come(answers, target, output_format, by)
    # Spark wants the rows of a folder together: sorted so, it does not sort once more.
    ordered = answers.orderBy(*map(_field, by), "order", "url")
    # Sorting looks at everything twice, counting once more: it must not be cleaned again.
    with held(answers, StorageLevel.DISK_ONLY):
        _save(ordered, target, output_format, by)
        # Not by observing what is written: of no pages at all there is nothing to observe.
        pages, failed = answers.agg(*map(fn.expr, _COUNTS.values())).collect()[0]
    return Written(pages, failed)


def _write_as_they_come(
    answers: DataFrame, target: str, output_format: str, by: Sequence[str]
) -> Written:
    """Write what each task has, and count on the way."""
    seen = Observation()
    counts = [fn.expr(counted).alias(name) for name, counted in _COUNTS.items()]
    _save(answers.observe(seen, *counts), target, output_format, by)
    found = seen.get
    return Written(found.get("pages", 0), found.get("failed", 0))


def _save(answers: DataFrame, target: str, output_format: str, by: Sequence[str]) -> None:
    """Write the answers as they are sorted."""
    if output_format == "parquet":
        fields(answers).drop("order").write.partitionBy(*by).parquet(target)
    else:
        folders = [_field(name).alias(name) for name in by]
        answers.select("line", *folders).write.partitionBy(*by).text(target)


def _field(name: str) -> Column:
    """A field of the JSON line."""
    return fn.get_json_object("line", f"$.{name}")


def check_target(session: SparkSession, target: str) -> None:
    """Raise UsageError for a folder that is there already, or where Spark knows none.

    Worth asking before `clean`, which learns all pages before it returns.
    """
    system, path = file_system(session, target)
    if system.exists(path):
        raise UsageError(f"{target}: already exists; name a new folder")


def file_system(session: SparkSession, place: str) -> tuple[Any, Any]:
    """Hadoop's file system of a place, and the path there. Raises UsageError for an unknown one."""
    java: Any = session.sparkContext._jvm  # Spark offers Python no other way to its file systems.
    try:
        path = java.org.apache.hadoop.fs.Path(place)
        system = path.getFileSystem(session.sparkContext._jsc.hadoopConfiguration())
        system.exists(path)  # Only now some of them are asked.
    except Py4JJavaError as fault:
        raise UsageError(f"{place}: {fault.java_exception.getMessage()}") from fault
    return system, path
