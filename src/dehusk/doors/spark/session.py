"""A Spark session that is set up for pages."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from typing import Final

from pyspark.sql import SparkSession

from dehusk.errors import UsageError

BATCH_ROWS: Final = 200
"""Pages that Spark hands to Python at once. Its own 10,000 would be a gigabyte of HTML."""
_ROCKSDB: Final = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
CONF: Final = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(BATCH_ROWS),
    "spark.sql.streaming.stateStore.providerClass": _ROCKSDB,
    "spark.ui.showConsoleProgress": "false",
}
"""What `dehusk spark` sets, unless told otherwise; worth setting in sessions of your own."""


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
