"""Answers into a folder: what is there when Spark says it is done is whole, and nothing twice."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark import StorageLevel
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from dehusk.errors import UsageError
from dehusk.spark.cleaning import fields


@dataclass(frozen=True, slots=True)
class Written:
    """How many pages were written, and how many of them are refusals."""

    pages: int
    failed: int


def write(answers: DataFrame, target: str, output_format: str = "jsonl") -> Written:
    """Write the answers in the order of the input, as JSON lines or Parquet; how many there were.

    The files of a folder, by name, are one long list. Raises UsageError for a folder that is
    there already.
    """
    # Sorting looks at everything twice, counting once more: it must not be cleaned again.
    held = answers.persist(StorageLevel.DISK_ONLY)
    in_order = held.orderBy("order", "url")
    try:
        if output_format == "parquet":
            fields(in_order).drop("order").write.parquet(target)
        else:
            in_order.select("line").write.text(target)
        # Not by observing what is written: of no pages at all there is nothing to observe.
        pages, failed = held.agg(fn.count(fn.lit(1)), fn.count("error")).collect()[0]
    except AnalysisException as error:
        if error.getCondition() == "PATH_ALREADY_EXISTS":
            raise UsageError(f"{target}: there already; name a new folder") from error
        raise
    finally:
        held.unpersist()
    return Written(pages, failed)
