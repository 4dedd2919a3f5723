"""A real Spark for tests, and the pages that they clean."""

from __future__ import annotations

import gc
import json
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark import SparkContext
from pyspark.find_spark_home import _find_spark_home

from dehusk.doors import spark as husk
from dehusk.doors.cli import main
from dehusk.doors.spark.session import check_java, make_session
from dehusk.errors import UsageError
from dehusk_bench.samples import sample_site
from extras import missing

CONF = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.executor.memory": "512m",
    "spark.default.parallelism": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.shuffle.partitions": "2",
}
"""Few tasks, and nothing compiled or planned anew for so few pages."""
QUICK_JAVA = (
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    " -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)
"""Spark lives for seconds here: compiling it well takes longer than running it badly, and
verifying the code of its many classes a fifth of all its work."""
SKEWED = (("news", 80), ("docs", 40), ("shop", 40))
"""Sites and their pages: one has half of all."""


@contextmanager
def spark(master: str, **conf: str) -> Iterator[Any]:
    """A session as long as the block lasts; the test is skipped without Java, but fails in CI."""
    try:
        check_java()
    except UsageError as fault:
        missing(fault)
    os.environ.setdefault("JAVA_TOOL_OPTIONS", QUICK_JAVA)
    session = make_session(master, {**CONF, **conf})
    session.sparkContext.setLogLevel("OFF")
    # Executors of their own leave what they were sent in the folder of Spark itself.
    left = Path(_find_spark_home(), "work", session.sparkContext.applicationId)
    try:
        yield session
    finally:
        session.stop()
        gc.collect()
        shutil.rmtree(left, ignore_errors=True)


def end_java() -> None:
    """End the Java that sessions of this process have shared, and close what leads to it.

    Left to the end of Python, closing is logged to streams that are closed by then.
    """
    gateway: Any = SparkContext._gateway
    SparkContext._gateway = SparkContext._jvm = None
    if gateway is not None:
        gateway.shutdown()
        gateway.proc.stdin.close()  # Java ends with it.
        gateway.proc.wait(60)
    del gateway
    gc.collect()


def write_pages(path: Path, *, damaged: bool = True) -> list[dict[str, Any]]:
    """The records of the skewed sites, written as JSON lines, their sites mixed."""
    sites = [[sample.page for sample in sample_site(kind, pages=n)] for kind, n in SKEWED]
    mixed = [page for group in zip(sites[0][::2], *sites[1:], strict=True) for page in group]
    records = [{"url": page.url, "html": page.html} for page in (*mixed, *sites[0][1::2])]
    lines = [json.dumps(record) for record in records]
    if damaged:
        lines.insert(100, "{damaged")
        lines.insert(50, json.dumps({"url": "https://news-0.example/no", "html": None}))
        half = {"url": "https://news-0.example/half", "html": "<p>half a \ud800 pair</p>"}
        lines.append(json.dumps(half))
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return records


def on_one_machine(source: Path, *options: str) -> list[str]:
    """The lines that `dehusk clean --two-pass` writes."""
    target = source.parent / "one_machine.jsonl"
    main(["clean", "-q", "--two-pass", str(source), "-o", str(target), *options])
    lines = target.read_text("utf-8").split("\n")[:-1]
    shutil.move(target, target.with_suffix(".before"))
    return lines


def run_stream(session: Any, folder: Path, **settings: Any) -> None:
    """Answer on the files of `in`, one a micro-batch, into `out`.

    A Python process that does not call back within ten seconds, as happens on a busy machine, ends
    a query; as whoever runs one for long would do, it is started again.
    """
    from pyspark.errors import StreamingQueryException  # noqa: PLC0415 - an extra

    records = session.readStream.schema("order bigint, url string, html string")
    pages = records.option("maxFilesPerTrigger", 1).json(str(folder / "in"))
    writer = husk.stream(pages, **settings).select("order", "line").writeStream.format("parquet")
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    for tries_left in reversed(range(20)):
        try:
            writer.trigger(availableNow=True).start(str(folder / "out")).awaitTermination()
            return
        except StreamingQueryException as fault:
            if "failed to connect back" not in str(fault) or not tries_left:
                raise


if __name__ == "__main__":
    with spark("local[2,4]") as own:
        run_stream(own, Path(sys.argv[1]))
