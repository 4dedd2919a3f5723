"""Answers into a folder: what is there when Spark says it is done is whole, and nothing twice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as fn

from dehusk.doors.spark.cleaning import fields
from dehusk.doors.spark.holding import held
from dehusk.errors import UsageError


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
        raise UsageError(f"{target}: there already; name a new folder")
