"""The same pages cleaned by Spark on this machine, in a process of its own.

    python -m dehusk_bench.scale.spark FILE SOURCE TARGET CORES

writes what it took to FILE, as a line of JSON. The figures come from /proc, so Linux is needed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from dehusk.errors import DehuskError, UsageError
from dehusk_bench.scale.jobs import Runner

CONF: Final = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
_TICKS: Final = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


def spark_runner(cores: int, steps: list[Step] | None = None) -> Runner:
    """A run of Spark on so many cores; `steps` becomes what the steps of the last one took."""

    def run(source: Path, target: Path, written_as: str) -> dict[str, float]:
        if written_as != "jsonl":
            raise UsageError("Spark writes JSON lines: --format jsonl")
        figures = target.with_suffix(".json")
        command = [figures, source, target, cores]
        done = subprocess.run(  # noqa: S603 - our own command
            [sys.executable, "-m", "dehusk_bench.scale.spark", *map(str, command)],
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
            check=False,
        )
        if done.returncode != 0:
            raise DehuskError(f"Spark on {cores} cores ended with {done.returncode}")
        told = json.loads(figures.read_text("utf-8"))
        if steps is not None:
            steps[:] = [Step(**each) for each in told["steps"]]
        taken: dict[str, float] = told["taken"]
        return taken

    return Runner(f"Spark local[{cores}]", cores, run)


def _clean(figures: Path, source: Path, target: Path, cores: int) -> None:
    """Clean the file, and write down what it took."""
    from pyspark import StorageLevel  # noqa: PLC0415 - needs an extra

    from dehusk.doors import spark  # noqa: PLC0415 - needs an extra

    began = time.monotonic()
    session = spark.make_session(f"local[{cores}]", CONF)
    context = session.sparkContext
    context.setLogLevel("ERROR")
    with tempfile.TemporaryDirectory() as folder:
        pages = spark.read_pages(session, [str(source)])
        context.setJobGroup(LEARNING, LEARNING)
        # As `write` holds them, but longer.
        answers = spark.clean(pages).persist(StorageLevel.DISK_ONLY)
        context.setJobGroup(ANSWERING, ANSWERING)
        spark.write(answers, f"{folder}/out")
        with target.open("wb") as whole:
            for part in sorted(Path(folder, "out").glob("part-*")):
                with part.open("rb") as opened:
                    shutil.copyfileobj(opened, whole)
    taken = {"wall_s": time.monotonic() - began, **_taken(os.getpid())}
    steps = [step.to_json() for step in measured_steps(pages, answers)]
    figures.write_text(json.dumps({"taken": taken, "steps": steps}), "utf-8")
    session.stop()


def _taken(own: int) -> dict[str, float]:
    """CPU time and memory of this process with its Java, and of the Python workers below that."""
    others = dict(below(own))
    workers = [pid for pid, command in others.items() if "pyspark.daemon" in command]
    readers = [own, *(pid for pid in others if pid not in workers)]
    return {
        "reader_s": sum(map(cpu_s, readers)),
        "workers_s": sum(map(cpu_s, workers)),
        "reader_bytes": sum(map(most_bytes, readers)),
        "worker_bytes": max(map(most_bytes, workers), default=0),
    }


def below(own: int) -> Iterator[tuple[int, str]]:
    """The processes that this one has started, and those that they have, with their commands."""
    parents: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            fields = _read(folder / "stat").rpartition(")")[2].split()
            if fields:
                parents.setdefault(int(fields[1]), []).append(int(folder.name))
    waiting = [own]
    while waiting:
        for pid in parents.get(waiting.pop(), []):
            waiting.append(pid)
            yield pid, _read(Path(f"/proc/{pid}/cmdline"))


def cpu_s(pid: int, *, with_ended: bool = True) -> float:
    """The CPU time of a process, and of those below it that have ended."""
    fields = _read(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()
    return sum(map(int, fields[11 : 15 if with_ended else 13])) / _TICKS


def most_bytes(pid: int) -> int:
    """The most memory that a process had."""
    found = re.search(r"VmHWM:\s+(\d+) kB", _read(Path(f"/proc/{pid}/status")))
    return 1024 * int(found[1]) if found else 0


def _read(path: Path) -> str:
    """A file of /proc; empty for a process that has gone."""
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


if __name__ == "__main__":
    _clean(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))


HEADER: Final = (
    "step", "tasks", "with the site", "its most in one", "longest s", "all tasks s",
)  # fmt: skip
LEARNING: Final = "learning"
ANSWERING: Final = "answering"


@dataclass(frozen=True, slots=True)
class Step:
    """What the tasks of one step took, and how the pages of the largest site lay in them."""

    name: str
    tasks_s: list[float]
    """How long each task ran, waiting included."""
    site_pages: list[int]
    """Pages of the site in each task that had any."""

    def cells(self) -> list[str]:
        """A row of the table."""
        most = max(self.site_pages, default=0) / max(1, sum(self.site_pages))
        return [
            self.name, str(len(self.tasks_s)), str(len(self.site_pages)), f"{most:.0%}",
            f"{max(self.tasks_s, default=0):.1f}", f"{sum(self.tasks_s):.1f}",
        ]  # fmt: skip

    def to_json(self) -> dict[str, object]:
        """All figures."""
        return asdict(self)


def measured_steps(pages: Any, answers: Any) -> list[Step]:
    """The three steps that judge pages, after a run whose jobs were of these two groups.

    `answers` must be cached: the tasks that its rows lie in are then those that made them. The
    site of a page is its host.
    """
    from pyspark.sql import functions as fn  # noqa: PLC0415 - an extra

    counts = answers.groupBy("site").count().orderBy(fn.desc("count"), "site").first()
    if counts is None:
        return []
    site, size = counts
    context = answers.sparkSession.sparkContext
    # In the order of Spark's numbers: read, find the lessons, add them up; read again, answer.
    _, lessons, added, *_ = _stages(context, LEARNING)
    _, answered, *_ = _stages(context, ANSWERING)
    return [
        Step("lessons", lessons, _per_task(pages.where(fn.expr("parse_url(url, 'HOST')") == site))),
        Step("adding up", added, [size]),
        Step("answers", answered, _per_task(answers.where(answers.site == site))),
    ]


def _per_task(rows: Any) -> list[int]:
    """How many rows each task has that has any."""
    from pyspark.sql import functions as fn  # noqa: PLC0415 - an extra

    return sorted(row["count"] for row in rows.groupBy(fn.spark_partition_id()).count().collect())


def _stages(context: Any, group: str) -> Iterator[list[float]]:
    """How long each task ran, for each stage of the group that was not found done already."""
    tracker = context.statusTracker()
    jobs = (tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group))
    store = context._jsc.sc().statusStore()  # Spark offers Python no other way to it.
    for stage in sorted({stage for job in jobs if job is not None for stage in job.stageIds}):
        tasks = store.taskList(stage, 0, 1_000_000).iterator()
        ran: list[float] = []
        while tasks.hasNext():
            metrics = tasks.next().taskMetrics()
            if metrics.isDefined():
                ran.append(metrics.get().executorRunTime() / 1000)
        if ran:
            yield ran
