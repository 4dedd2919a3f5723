"""What sites have taught, in a folder or a table: read before a run, left for the next."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

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
    run = _runs(session, place).complete
    if run == 0:
        return session.createDataFrame([], written_schema(MEMORY))
    if place.startswith(_TABLE):
        rows = session.table(place.removeprefix(_TABLE)).where(fn.col("run") == run)
    else:
        rows = session.read.parquet(_folder(place, run))
    _check(rows, place, settings)
    return rows.select(*_SAVED, fn.lit(b"").alias("not_learned"))


def write_memory(memories: DataFrame, place: str) -> None:
    """Leave what `learn` gave, beside what earlier runs left: a run that fails changes nothing.

    One run at a time: two would leave memories of which only one counts.
    """
    session = memories.sparkSession
    run = _runs(session, place).last + 1
    rows = memories.select(*_SAVED)
    if place.startswith(_TABLE):
        table = rows.withColumn("run", fn.lit(run)).write.mode("append").partitionBy("run")
        table.saveAsTable(place.removeprefix(_TABLE))
    else:
        rows.write.mode("errorifexists").parquet(_folder(place, run))


def check_lasting(session: SparkSession, place: str) -> None:
    """Raise UsageError for a table that nobody finds once the session has ended.

    Spark's own catalog is in memory unless it is told otherwise: the next run would begin anew.
    """
    if not place.startswith(_TABLE):
        return
    catalog = place.removeprefix(_TABLE).partition(".")[0]
    others = [f"spark.sql.catalog.{name}" for name in (catalog, "spark_catalog")]
    others.append("spark.sql.defaultCatalog")
    has_other = any(session.conf.get(name, "spark_catalog") != "spark_catalog" for name in others)
    if session.conf.get("spark.sql.catalogImplementation") == "in-memory" and not has_other:
        raise UsageError(f"{place}: this Spark forgets its tables when it ends; name a folder")


def _folder(place: str, run: int) -> str:
    return f"{place.rstrip('/')}/run={run}"


class _Runs(NamedTuple):
    """Numbers of runs; 0 where there is none."""

    complete: int
    """Of the last that has left a memory."""
    last: int
    """Of the last that began to."""


def _runs(session: SparkSession, place: str) -> _Runs:
    """Which runs there were. Raises UsageError for a place that holds something else."""
    if place.startswith(_TABLE):
        name = place.removeprefix(_TABLE)
        if not session.catalog.tableExists(name):
            return _Runs(0, 0)
        table = session.table(name)
        if not {*_SAVED, "run"} <= {*table.columns}:
            raise UsageError(f"{place}: a table of something else; name a new one")
        last = int(table.agg(fn.max("run")).collect()[0][0] or 0)
        return _Runs(last, last)
    system, path = file_system(session, place)
    if not system.exists(path):
        return _Runs(0, 0)
    java: Any = session.sparkContext._jvm
    found: dict[int, bool] = {}
    listed = [each.getPath() for each in system.listStatus(path)]
    for each in listed:
        name = each.getName()
        if name.startswith("run=") and name[4:].isdecimal():
            # Spark marks what is complete.
            found[int(name[4:])] = system.exists(java.org.apache.hadoop.fs.Path(each, "_SUCCESS"))
    if listed and not found:
        raise UsageError(f"{place}: no memory that `dehusk spark` left; name a new folder")
    complete = max((run for run, is_complete in found.items() if is_complete), default=0)
    return _Runs(complete, max(found, default=0))


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
