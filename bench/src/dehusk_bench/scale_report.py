"""What `dehusk bench scale` runs and prints."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from dehusk.errors import UsageError
from dehusk.output import Format
from dehusk_bench.commands import Progress
from dehusk_bench.scale import PARTS, SPARK
from dehusk_bench.scale_growth import HEADER as GROWTH
from dehusk_bench.scale_growth import measure_growth
from dehusk_bench.scale_jobs import HEADER as JOBS
from dehusk_bench.scale_jobs import Run, job_runners, measure_runs
from dehusk_bench.scale_pages import Workload
from dehusk_bench.scale_simulation import HEADER as SIMULATION
from dehusk_bench.scale_simulation import Costs, simulate
from dehusk_bench.scale_spark import spark_runner
from dehusk_bench.scale_tasks import HEADER as STEPS
from dehusk_bench.scale_tasks import Step
from dehusk_bench.tables import table


def report(arguments: argparse.Namespace) -> int:
    """Run the parts and print their tables; 1 if two runs did not write the same."""
    if arguments.json is not None and not Path(arguments.json).absolute().parent.is_dir():
        raise UsageError(f"--json {arguments.json}: there is no such folder")
    parts = arguments.only or PARTS
    figures: dict[str, Any] = {}
    runs: list[Run] = []
    spark_runs: list[Run] = []
    if "growth" in parts:
        figures["growth"] = _growth(arguments)
    if "jobs" in parts:
        runs = measure_runs(_workload(arguments), job_runners(arguments.jobs), arguments.format)
        figures["jobs"] = [run.to_json() for run in runs]
        _print(
            f"The same pages as {arguments.format}, on {os.cpu_count()} processors:",
            table(JOBS, [run.cells(runs[0]) for run in runs], markdown=arguments.markdown),
        )
    if SPARK in parts:
        steps: dict[int, list[Step]] = {jobs: [] for jobs in arguments.jobs}
        spark_runs = _spark(arguments, steps)
        figures["spark"] = [run.to_json() for run in spark_runs]
        figures["spark steps"] = {
            jobs: [step.to_json() for step in its] for jobs, its in steps.items()
        }
    if "simulation" in parts:
        figures["simulation"] = _simulation(arguments, runs)
    if arguments.json is not None:
        Path(arguments.json).write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    return int(not all(run.is_same for run in (*runs, *spark_runs)))


def _spark(arguments: argparse.Namespace, steps: dict[int, list[Step]]) -> list[Run]:
    """The same pages in two passes, by jobs and by Spark on as many cores."""
    runners = [
        runner
        for jobs in arguments.jobs
        for runner in (*job_runners([jobs], "--two-pass"), spark_runner(jobs, steps[jobs]))
    ]
    workload = _workload(arguments)
    runs = measure_runs(workload, runners, arguments.format)
    _print(
        f"Two passes, on {os.cpu_count()} processors; Java is counted with the reader:",
        table(JOBS, [run.cells(runs[0]) for run in runs], markdown=arguments.markdown),
    )
    largest = int(workload.sizes().max())
    for jobs, its in steps.items():
        _print(
            f"The tasks of Spark local[{jobs}]; the largest site has {largest:,} pages of"
            f" {workload.pages:,}:",
            table(STEPS, [step.cells() for step in its], markdown=arguments.markdown),
        )
    return runs


def _workload(arguments: argparse.Namespace, pages: int | None = None) -> Workload:
    """The pages of a run: so many, or the first number that was named."""
    count = pages or arguments.pages[0]
    sites = min(count, arguments.sites or max(1, count // 100))
    return Workload(count, sites, arguments.skew, arguments.seed)


def _growth(arguments: argparse.Namespace) -> list[dict[str, object]]:
    workloads = [_workload(arguments, pages) for pages in arguments.pages]
    progress = Progress(sys.stderr)
    rows = []
    for row in measure_growth(
        workloads,
        Format(arguments.format),
        lambda pages: progress.show("growth", pages),
        has_file=not arguments.no_file,
    ):
        progress.clear()
        sys.stderr.write(f"{row.pages:,} pages: {row.ratio:.1f} × the bare parse\n")
        rows.append(row)
    cells = [row.cells(rows[0]) for row in rows]
    _print(
        f"One process, {'no file' if arguments.no_file else 'a memory in a file'},"
        f" to {arguments.format}:",
        table(GROWTH, cells, markdown=arguments.markdown),
    )
    return [row.to_json() for row in rows]


def _simulation(arguments: argparse.Namespace, runs: list[Run]) -> dict[str, object]:
    """What more processors would gain, by the costs that were measured or named."""
    costs = Costs(arguments.page_ms, arguments.reader_ms)
    shared = [run for run in runs if run.jobs > 1]
    if shared:
        run = shared[0]
        ms = 1000 / run.pages
        costs = Costs((run.reader_s + run.workers_s) * ms, run.reader_s * ms)
    if costs.reader_ms >= costs.page_ms:
        raise UsageError("--reader-ms is a part of --page-ms, and smaller")
    workload = _workload(arguments)
    spreads = simulate(workload, costs, arguments.cores)
    largest = int(workload.sizes().max())
    _print(
        f"Simulated speed-up: {workload.pages:,} pages of {workload.sites:,} sites, the largest"
        f" with {largest:,}; {costs.page_ms:.2f} ms a page, {costs.reader_ms:.2f} of them reading:",
        table(SIMULATION, [each.cells() for each in spreads], markdown=arguments.markdown),
    )
    return {
        "pages": workload.pages,
        "sites": workload.sites,
        "largest": largest,
        "page_ms": costs.page_ms,
        "reader_ms": costs.reader_ms,
        "spread": [each.to_json() for each in spreads],
    }


def _print(title: str, rows: str) -> None:
    """Write to standard output at once: the next part may take minutes."""
    sys.stdout.write(f"{title}\n\n{rows}\n")
    sys.stdout.flush()
