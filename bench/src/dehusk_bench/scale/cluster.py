"""Two months of pages cleaned by Spark's own executors on this machine, as a cluster does it.

    python -m dehusk_bench.scale.cluster FIGURES FOLDER EXECUTORS

cleans the first month in FOLDER in two passes and leaves a memory, then the second from it in one,
and writes what each step took to FIGURES, as JSON. Pages and memories always meet by site, as they
do where memories are too many to be sent to everyone. The figures come from /proc, so Linux is
needed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from threading import Event, Thread
from typing import Any, Final

from dehusk.errors import DehuskError
from dehusk_bench.scale.pages import Workload, largest_site
from dehusk_bench.scale.spark import CONF, below, cpu_s, most_bytes

HEADER: Final = (
    "step", "pages", "tasks", "wall s", "pages/s", "Java ms", "Python ms", "moved kB", "longest s",
    "disk MB",
)  # fmt: skip
_FILES: Final = 8
"""Of each month."""
_MEMORY_MB: Final = 1024
"""Of each executor, besides its Python."""
_EVERY_S: Final = 2.0
"""How often disk and memory are looked at."""
_EXECUTOR: Final = "CoarseGrainedExecutorBackend"
_WORKER: Final = "pyspark.daemon"


@dataclass(frozen=True, slots=True)
class ClusterStep:
    """What one step took."""

    name: str
    pages: int
    tasks: int
    wall_s: float
    java_s: float
    """CPU time of the driver and of the executors."""
    python_s: float
    moved_bytes: int
    """Written by tasks for tasks of the next stage, packed."""
    longest_s: float
    """Of its tasks, waiting included."""
    disk_bytes: int
    """The most that executors kept on their disks meanwhile, for each other and for later."""

    def cells(self) -> list[str]:
        """A row of the table; of times and bytes what a page takes."""
        ms, kb = 1000 / self.pages, 1 / self.pages / 1000
        return [
            self.name, f"{self.pages:,}", str(self.tasks), f"{self.wall_s:.0f}",
            f"{self.pages / self.wall_s:.0f}", f"{self.java_s * ms:.2f}",
            f"{self.python_s * ms:.2f}", f"{self.moved_bytes * kb:.2f}", f"{self.longest_s:.1f}",
            f"{self.disk_bytes / 1e6:.0f}",
        ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class ClusterRun:
    """All steps, and the most that was taken of memory and disk."""

    steps: list[ClusterStep]
    executor_bytes: int
    """Of the Java of one executor."""
    worker_bytes: int
    """Of one Python process."""
    memory_bytes: int
    """Of the memory that the second month left, on disk."""
    sites: int
    largest: list[list[int]]
    """Of each month, the pages of the largest site in each file that a task wrote."""

    def told(self) -> str:
        """What is not of one step, as a sentence."""
        mb = [
            f"{size / 1e6:,.0f} MB"
            for size in (self.executor_bytes, self.worker_bytes, self.memory_bytes)
        ]
        return (
            f"At most: an executor's Java {mb[0]}, a Python process {mb[1]}. The memory of"
            f" {self.sites:,} sites: {mb[2]}. The largest site: {'; then '.join(self._split())}."
        )

    def _split(self) -> Iterator[str]:
        """How the largest site was answered on, of each month."""
        for counts in self.largest:
            with_it = [count for count in counts if count]
            yield (
                f"{sum(counts):,} pages in {len(with_it)} of {len(counts)} tasks,"
                f" at most {max(counts, default=0):,} in one"
            )

    def to_json(self) -> dict[str, object]:
        """All figures."""
        return asdict(self)


def measure_cluster(workload: Workload, executors: int) -> ClusterRun:
    """What two months take, each of half of the pages."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write_months(workload, folder)
        figures = folder / "figures.json"
        command = ["-m", "dehusk_bench.scale.cluster", str(figures), name, str(executors)]
        local = {
            "SPARK_LOCAL_DIRS": f"{name}/local", "SPARK_LOCAL_IP": "127.0.0.1",
            "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1",
        }  # fmt: skip
        done = subprocess.run(  # noqa: S603 - our own command
            [sys.executable, *command], env=os.environ | local, check=False
        )
        if done.returncode != 0:
            raise DehuskError(f"Spark with {executors} executors ended with {done.returncode}")
        told = json.loads(figures.read_text("utf-8"))
    return ClusterRun(**{**told, "steps": [ClusterStep(**step) for step in told["steps"]]})


def _write_months(workload: Workload, folder: Path) -> None:
    """Write the pages in turn to the files of two months, each under a URL of its own."""
    pages = iter(workload)
    for month, count in enumerate((workload.pages // 2, workload.pages - workload.pages // 2)):
        (folder / f"month-{month}").mkdir()
        files = [
            (folder / f"month-{month}" / f"{number}.jsonl").open("w", encoding="utf-8")
            for number in range(_FILES)
        ]
        for number, page in enumerate(islice(pages, count)):
            record = {"url": page.url, "html": page.html}
            files[number % _FILES].write(json.dumps(record) + "\n")
        for file in files:
            file.close()


class _Watch:
    """Looks at processes and disk as long as it runs; the most that it saw.

    Spark ends Python processes that have nothing to do, and nobody adds up what they took.
    """

    def __init__(self, disk: Path) -> None:
        self.executor_bytes = self.worker_bytes = self.disk_bytes = 0
        self._java_s: dict[int, float] = {}
        self._python_s: dict[int, float] = {}
        self._disk = disk
        self._is_over = Event()
        self._thread = Thread(target=self._look, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Look no more."""
        self._is_over.set()
        self._thread.join()

    def take_disk_bytes(self) -> int:
        """The most that was on the disks since this was last asked."""
        most, self.disk_bytes = max(self.disk_bytes, _size(self._disk)), 0
        return most

    def cpu_s(self) -> tuple[float, float]:
        """The CPU time of Java, this process included, and of the Python workers, up to now."""
        self._look_at_processes()
        return sum([*self._java_s.values()]), sum([*self._python_s.values()])

    def _look(self) -> None:
        while not self._is_over.wait(_EVERY_S):
            self._look_at_processes()
            self.disk_bytes = max(self.disk_bytes, _size(self._disk))

    def _look_at_processes(self) -> None:
        for pid, command in [(os.getpid(), ""), *below(os.getpid())]:
            taken_s = cpu_s(pid, with_ended=False)
            if _WORKER in command:
                self.worker_bytes = max(self.worker_bytes, most_bytes(pid))
                self._python_s[pid] = max(taken_s, self._python_s.get(pid, 0.0))
                continue
            self._java_s[pid] = max(taken_s, self._java_s.get(pid, 0.0))
            if _EXECUTOR in command:
                self.executor_bytes = max(self.executor_bytes, most_bytes(pid))


def _size(folder: Path) -> int:
    """The bytes of all files below; of those that go in between, none."""
    sizes = 0
    for root, _, names in os.walk(folder):
        for name in names:
            try:
                sizes += os.lstat(os.path.join(root, name)).st_size  # noqa: PTH118
            except OSError:
                continue
    return sizes


class _Steps:
    """Notes what steps take, each in a group of Spark's jobs."""

    def __init__(self, context: Any, watch: _Watch) -> None:
        self._context = context
        self._watch = watch
        self.taken: list[ClusterStep] = []

    @contextmanager
    def step(self, name: str, pages: int) -> Iterator[None]:
        """What is done inside is one step."""
        self._context.setJobGroup(name, name)
        self._watch.take_disk_bytes()
        began, before = time.monotonic(), self._watch.cpu_s()
        yield
        after = self._watch.cpu_s()
        java_s, python_s = (now - then for now, then in zip(after, before, strict=True))
        wall_s = time.monotonic() - began
        tasks, moved_bytes, longest_s = self._tasks(name)
        self.taken.append(
            ClusterStep(
                name, pages, tasks, wall_s, java_s, python_s, moved_bytes, longest_s,
                self._watch.take_disk_bytes(),
            )
        )  # fmt: skip
        sys.stderr.write(f"{name}: {wall_s:.0f} s\n")

    def _tasks(self, group: str) -> tuple[int, int, float]:
        """Of the group: its tasks, what they wrote for others, and how long the longest ran."""
        tracker = self._context.statusTracker()
        jobs = (tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group))
        store = self._context._jsc.sc().statusStore()  # Spark offers Python no other way to it.
        ran, moved_bytes = [], 0
        for stage in {stage for job in jobs if job is not None for stage in job.stageIds}:
            tasks = store.taskList(stage, 0, 1_000_000).iterator()
            while tasks.hasNext():
                metrics = tasks.next().taskMetrics()
                if metrics.isDefined():
                    ran.append(metrics.get().executorRunTime() / 1000)
                    moved_bytes += metrics.get().shuffleWriteMetrics().bytesWritten()
        return len(ran), moved_bytes, max(ran, default=0.0)


def _run(figures: Path, folder: Path, executors: int) -> None:
    """Clean both months, and write down what it took."""
    from pyspark.find_spark_home import _find_spark_home  # noqa: PLC0415 - needs an extra

    from dehusk.doors import spark  # noqa: PLC0415 - needs an extra

    os.environ.setdefault("SPARK_HOME", _find_spark_home())
    paths = {"spark.executorEnv.PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    memory = {"spark.executor.memory": f"{_MEMORY_MB}m"}
    master = f"local-cluster[{executors},1,{_MEMORY_MB}]"
    session = spark.make_session(master, {**CONF, **paths, **memory})
    session.sparkContext.setLogLevel("ERROR")
    watch = _Watch(folder / "local")
    steps = _Steps(session.sparkContext, watch)
    _first_month(spark, session, folder, steps)
    _second_month(spark, session, folder, steps)
    watch.end()
    left = spark.read_memory(session, f"{folder}/memory")
    taken = ClusterRun(
        steps.taken, watch.executor_bytes, watch.worker_bytes, _size(folder / "memory" / "run=2"),
        left.count(), [_of_largest(folder / name) for name in ("first", "second")],
    )  # fmt: skip
    # Executors of their own leave what they were sent in the folder of Spark itself.
    sent = Path(os.environ["SPARK_HOME"], "work", session.sparkContext.applicationId)
    session.stop()
    shutil.rmtree(sent, ignore_errors=True)
    figures.write_text(json.dumps(taken.to_json()), "utf-8")


def _of_largest(folder: Path) -> list[int]:
    """The answers on pages of the largest site in each file: without an order one for a task."""
    said = f'"site": "{largest_site()}"'.encode()
    return [file.read_bytes().count(said) for file in sorted(folder.glob("part-*"))]


def _first_month(spark: Any, session: Any, folder: Path, steps: _Steps) -> None:
    """In two passes, as `dehusk spark clean --memory --unordered` does it."""
    settings, place = spark.SparkSettings(broadcast_bytes=0), f"{folder}/memory"
    pages, count = _month(spark, session, folder / "month-0")
    with steps.step("first month, learn", count):
        memories = spark.read_memory(session, place, settings)
        spark.write_memory(spark.learn(pages, settings, memories), place)
    with steps.step("first month, answer", count):
        answers = spark.clean(pages, settings, spark.read_memory(session, place, settings))
        spark.write(answers, f"{folder}/first", in_order=False)


def _second_month(spark: Any, session: Any, folder: Path, steps: _Steps) -> None:
    """In one pass, as `dehusk spark clean --memory --one-pass --unordered` does it."""
    from pyspark import StorageLevel  # noqa: PLC0415 - needs an extra

    settings, place = spark.SparkSettings(broadcast_bytes=0), f"{folder}/memory"
    pages, count = _month(spark, session, folder / "month-1")
    memories = spark.read_memory(session, place, settings)
    answers = spark.clean(pages, settings, memories).persist(StorageLevel.DISK_ONLY)
    with steps.step("second month, one pass", count):
        spark.write(answers, f"{folder}/second", in_order=False)
    with steps.step("second month, add up", count):
        spark.write_memory(spark.learn(answers, settings, memories), place)


def _month(spark: Any, session: Any, folder: Path) -> tuple[Any, int]:
    """The pages of a month, and how many they are."""
    files = sorted(folder.iterdir())
    count = sum(sum(1 for _ in file.open("rb")) for file in files)
    return spark.read_pages(session, [str(file) for file in files]), count


if __name__ == "__main__":
    _run(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
