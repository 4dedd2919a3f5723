"""What sites have taught, in a folder or a table: read before a run, left for the next."""

from __future__ import annotations

from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as fn

from dehusk.doors.spark.learning import MEMORY
from dehusk.doors.spark.rows import written_schema
from dehusk.doors.spark.session import DEFAULTS, SparkSettings
from dehusk.doors.spark.writing import file_system
from dehusk.errors import StateError, UsageError, WrongMemory
from dehusk.memory import load
from dehusk.methods import learned_with

_TABLE: Final = "table:"
_SAVED: Final = ("site", "pages", "size", "memory")
"""Pages that could not be learned are not known, and so need not be told apart."""


def read_memory(session: SparkSession, place: str, settings: SparkSettings = DEFAULTS) -> DataFrame:
    """What the last run left in a folder, or in `table:NAME`; no rows where nothing is yet.

    Raises UsageError for what is no such folder, WrongMemory for one of another method or with
    other settings, StateError for a damaged one.
    """
    run = _last_run(session, place)
    if run == 0:
        return session.createDataFrame([], written_schema(MEMORY))
    if place.startswith(_TABLE):
        rows = session.table(place.removeprefix(_TABLE)).where(fn.col("run") == run)
    else:
        rows = session.read.parquet(_folder(place, run))
    _check(rows, place, settings)
    return rows.select(*_SAVED, fn.lit(b"").alias("not_learned"))


def write_memory(memories: DataFrame, place: str) -> None:
    """Leave what `learn` gave, beside what earlier runs left: a run that fails changes nothing."""
    session = memories.sparkSession
    run = _last_run(session, place) + 1
    rows = memories.select(*_SAVED)
    if place.startswith(_TABLE):
        table = rows.withColumn("run", fn.lit(run)).write.mode("append").partitionBy("run")
        table.saveAsTable(place.removeprefix(_TABLE))
    else:
        rows.write.mode("overwrite").parquet(_folder(place, run))


def _folder(place: str, run: int) -> str:
    return f"{place.rstrip('/')}/run={run}"


def _last_run(session: SparkSession, place: str) -> int:
    """The number of the last run that has left a memory; 0 where none has. Raises UsageError."""
    if place.startswith(_TABLE):
        name = place.removeprefix(_TABLE)
        if not session.catalog.tableExists(name):
            return 0
        table = session.table(name)
        if not {*_SAVED, "run"} <= {*table.columns}:
            raise UsageError(f"{place}: a table of something else; name a new one")
        return int(table.agg(fn.max("run")).collect()[0][0] or 0)
    system, path = file_system(session, place)
    if not system.exists(path):
        return 0
    java: Any = session.sparkContext._jvm
    # Spark marks what is complete.
    done = system.globStatus(java.org.apache.hadoop.fs.Path(f"{place.rstrip('/')}/run=*/_SUCCESS"))
    names = [found.getPath().getParent().getName() for found in done or ()]
    runs = [int(name[4:]) for name in names if name[4:].isdecimal()]
    if not runs and any(
        not each.getPath().getName().startswith("run=") for each in system.listStatus(path)
    ):
        raise UsageError(f"{place}: no memory that `dehusk spark` left; name a new folder")
    return max(runs, default=0)


def _check(rows: DataFrame, place: str, settings: SparkSettings) -> None:
    """Raise StateError if the first memory is not one that these settings can go on from."""
    method = settings.make_method()
    first = rows.first()
    if first is None:
        return
    used = learned_with(method)
    try:
        load(bytes(first["memory"]), method.name, settings=used, site=first["site"])
    except WrongMemory as fault:
        raise WrongMemory(f"{place}: {fault}") from fault
    except StateError as fault:
        raise StateError(f"{place}: {fault}") from fault
