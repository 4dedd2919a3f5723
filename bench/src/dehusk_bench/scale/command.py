"""`dehusk bench scale`: what more pages, more sites and more processes cost and gain."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any, Final

from dehusk.errors import UsageError
from dehusk.output import Format
from dehusk_bench.options import positive
from dehusk_bench.scale.cluster import HEADER as CLUSTER_STEPS
from dehusk_bench.scale.cluster import measure_cluster
from dehusk_bench.scale.growth import HEADER as GROWTH
from dehusk_bench.scale.growth import measure_growth
from dehusk_bench.scale.jobs import HEADER as JOBS
from dehusk_bench.scale.jobs import Run, job_runners, measure_runs
from dehusk_bench.scale.pages import Workload
from dehusk_bench.scale.simulation import HEADER as SIMULATION
from dehusk_bench.scale.simulation import Costs, simulate
from dehusk_bench.scale.spark import HEADER as STEPS
from dehusk_bench.scale.spark import Step, spark_runner
from dehusk_bench.showing import Progress
from dehusk_bench.tables import table

DESCRIPTION: Final = (
    "Clean sample pages of more and more sites, and show whether a page costs more then (growth);"
    " clean the same pages with one and with more processes, and show what is gained (jobs);"
    " simulate how sites of unequal size spread over many processors (simulation)."
)
PARTS: Final = ("growth", "jobs", "simulation")
SPARK: Final = "spark"
CLUSTER: Final = "cluster"
"""Parts that are run when they are asked for: they need an extra, and Java."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options of the experiment."""
    parser.add_argument(
        "--only",
        action="append",
        choices=(*PARTS, SPARK, CLUSTER),
        help="run this part; may be repeated (default: all but the last two: spark cleans the same"
        " pages in two passes by jobs and by Spark on as many cores, cluster half of them in two"
        " passes and half in one, with as many executors; install extra: spark)",
    )
    parser.add_argument(
        "--pages",
        type=_several,
        default=(1000, 10_000),
        metavar="N,…",
        help="pages in all, for growth one run for each; the other parts take the first"
        " (default: 1000,10000)",
    )
    parser.add_argument(
        "--sites",
        type=positive,
        metavar="N",
        help="sites that the pages are of (default: one for every 100 pages)",
    )
    parser.add_argument(
        "--skew",
        type=_skew,
        default=0.0,
        metavar="S",
        help="the n-th largest site has n to the power of -S times the pages of the largest; 0 for"
        " sites of equal size (default: %(default)s)",
    )
    parser.add_argument(
        "--jobs",
        type=_several,
        default=(1, 2),
        metavar="N,…",
        help="numbers of processes to measure (default: 1,2)",
    )
    parser.add_argument(
        "--format",
        choices=("jsonl", "markdown", "text"),
        default="jsonl",
        help="what is written (default: %(default)s)",
    )
    parser.add_argument(
        "--no-file",
        action="store_true",
        help="for growth: keep what is learned in memory only, as without --memory",
    )
    parser.add_argument(
        "--cores",
        type=_several,
        default=(1, 2, 4, 8, 16, 32, 64, 1024),
        metavar="N,…",
        help="processors to simulate (default: 1,2,4,8,16,32,64,1024)",
    )
    figures = {
        "--page-ms": (6.0, "CPU time of a page that the simulation goes by"),
        "--reader-ms": (0.5, "of which the reading process has so much to do"),
    }
    for option, (default, meaning) in figures.items():
        parser.add_argument(
            option,
            type=_above_0,
            default=default,
            metavar="MS",
            help=f"{meaning}; without this it is that of the jobs, if they were measured, else"
            " %(default)s",
        )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the pages' order")
    parser.add_argument("--markdown", action="store_true", help="write the tables as Markdown")
    parser.add_argument("--json", metavar="FILE", help="write all figures to this file as well")


def _several(text: str) -> tuple[int, ...]:
    return tuple(positive(each) for each in text.split(","))


def _skew(text: str) -> float:
    if not 0 <= (value := _number(text)) <= 5:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 5")
    return value


def _above_0(text: str) -> float:
    if not 0 < (value := _number(text)) < 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return value


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return -1.0


def run(arguments: argparse.Namespace) -> int:
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
    if CLUSTER in parts:
        figures["cluster"] = _cluster(arguments)
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


def _cluster(arguments: argparse.Namespace) -> dict[str, object]:
    """Two months, with as many executors as there are jobs at most."""
    executors = max(arguments.jobs)
    workload = _workload(arguments)
    taken = measure_cluster(workload, executors)
    _print(
        f"Two months on {executors} executors of one core, {os.cpu_count()} processors in all; the"
        f" largest site has {int(workload.sizes().max()):,} pages of {workload.pages:,}:",
        table(CLUSTER_STEPS, [step.cells() for step in taken.steps], markdown=arguments.markdown),
    )
    sys.stdout.write(f"{taken.told()}\n")
    return taken.to_json()


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
