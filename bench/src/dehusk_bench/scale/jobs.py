"""The same pages cleaned by one process and by more, each in a run of its own."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Final

from dehusk.errors import DehuskError
from dehusk_bench.scale.pages import Workload

HEADER: Final = (
    "run", "pages", "start s", "wall s", "speed-up", "reader ms", "workers ms", "possible",
    "reader MB", "worker MB", "same output",
)  # fmt: skip
_LEAST_S: Final = 1e-6
"""What is left of a run that is too short to be measured: less than nothing makes no sense."""


@dataclass(frozen=True, slots=True)
class Runner:
    """Something that cleans a file of pages into another file, and tells what it took."""

    name: str
    jobs: int
    run: Callable[[Path, Path, str], dict[str, float]]
    """Given source, target and format: `wall_s`, the CPU time of the process that reads and of
    those that judge (`reader_s`, `workers_s`), and the most that one of each took (`reader_bytes`,
    `worker_bytes`)."""


@dataclass(frozen=True, slots=True)
class Run:
    """What one runner took."""

    name: str
    jobs: int
    pages: int
    start_s: float
    """CPU time for the first pages, starting included: one page for each process that is started by
    any run. It is taken off the other figures."""
    wall_s: float
    reader_s: float
    workers_s: float
    reader_bytes: float
    worker_bytes: float
    is_same: bool
    """Did it write what the first one did?"""

    def possible(self, first: Run) -> float:
        """The speed-up that its CPU time allows on as many idle processors as there are jobs."""
        cpu_s = self.reader_s + self.workers_s
        return (first.reader_s + first.workers_s) / max(cpu_s / self.jobs, self.reader_s)

    def cells(self, first: Run) -> list[str]:
        """A row of the table."""
        reader_ms, workers_ms = (s / self.pages * 1000 for s in (self.reader_s, self.workers_s))
        return [
            self.name, f"{self.pages:,}", f"{self.start_s:.1f}", f"{self.wall_s:.1f}",
            f"{first.wall_s / self.wall_s:.2f}", f"{reader_ms:.2f}", f"{workers_ms:.2f}",
            f"{self.possible(first):.2f}", f"{self.reader_bytes / 1e6:.0f}",
            f"{self.worker_bytes / 1e6:.0f}", "yes" if self.is_same else "NO",
        ]  # fmt: skip

    def to_json(self) -> dict[str, object]:
        """All figures."""
        return asdict(self)


def job_runners(jobs: Sequence[int], *options: str) -> list[Runner]:
    """Runs of `dehusk clean` with so many jobs each."""
    return [
        Runner(" ".join((*options, f"--jobs {count}")), count, _clean(count, options))
        for count in jobs
    ]


def measure_runs(workload: Workload, runners: Sequence[Runner], written_as: str) -> list[Run]:
    """What each runner took for the same pages, one after another."""
    runs: list[Run] = []
    digests: list[bytes] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        workload.write(folder / "pages.jsonl")
        first = max(runner.jobs for runner in runners)
        replace(workload, pages=first, sites=first).write(folder / "first.jsonl")
        for runner in runners:
            start = runner.run(folder / "first.jsonl", folder / "first.out", written_as)
            taken = runner.run(folder / "pages.jsonl", folder / "out", written_as)
            digests.append(blake2b((folder / "out").read_bytes()).digest())
            net = {
                each: max(taken[each] - start[each], _LEAST_S)
                for each in ("wall_s", "reader_s", "workers_s")
            }
            is_same = digests[-1] == digests[0]
            figures = {**taken, **net, "start_s": start["reader_s"] + start["workers_s"]}
            pages = workload.pages - first
            runs.append(Run(runner.name, runner.jobs, pages, is_same=is_same, **figures))
    return runs


def _clean(jobs: int, options: Sequence[str]) -> Callable[[Path, Path, str], dict[str, float]]:
    """A run of the command line, in a process of its own."""

    def run(source: Path, target: Path, written_as: str) -> dict[str, float]:
        figures = target.with_suffix(".json")
        written = ["clean", source, "-o", target, "--format", written_as, "-q", "--jobs", jobs]
        command = [*written, *options]
        done = subprocess.run(  # noqa: S603 - our own command
            [sys.executable, "-m", "dehusk_bench.scale.jobs", figures, *map(str, command)],
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
            check=False,
        )
        if done.returncode != 0:
            raise DehuskError(f"`dehusk clean --jobs {jobs}` ended with {done.returncode}")
        taken: dict[str, float] = json.loads(figures.read_text("utf-8"))
        return taken

    return run


def _figures(who: int) -> tuple[float, int]:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def run(arguments: list[str]) -> int:
    """Run the command, and write down what it took."""
    # As the workers have it, so that both are measured alike.
    from dehusk.doors.cli import main  # noqa: PLC0415

    began = time.monotonic()
    status = main(arguments[1:])
    own, others = _figures(resource.RUSAGE_SELF), _figures(resource.RUSAGE_CHILDREN)
    taken = {
        "wall_s": time.monotonic() - began,
        "reader_s": own[0],
        "workers_s": others[0],
        "reader_bytes": own[1],
        "worker_bytes": others[1],
    }
    Path(arguments[0]).write_text(json.dumps(taken), "utf-8")
    return status


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
