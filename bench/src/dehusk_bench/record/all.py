"""`dehusk bench all`: every experiment of the record, one after the other."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from dehusk.errors import UsageError
from dehusk_bench.options import positive
from dehusk_bench.record.experiments import EXPERIMENTS
from dehusk_bench.record.running import Run, Setup, Status, run_all
from dehusk_bench.showing import Progress
from dehusk_bench.tables import table

DESCRIPTION: Final = (
    "Run every experiment of the record, each in a process of its own, and write tables (Markdown"
    " and CSV) and plots (SVG and PNG) to a folder. What was done is not done again unless its"
    " input, its options, its code or the version of a package changed; a run that was cut off goes"
    " on where it was. `dehusk bench report` makes a report of it."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options of the command."""
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("results"),
        metavar="DIR",
        help="the folder to write to (default: %(default)s)",
    )
    parser.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        help="the folder with the corpora, as `dehusk bench data` tells; experiments whose corpora"
        " are not there use sample sites, or are skipped (default: data, if there is one)",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="a few sites and pages of each corpus: minutes instead of hours, and figures that say"
        " little",
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="NAME",
        help="run this experiment; may be repeated (default: all)",
    )
    parser.add_argument(
        "--folds",
        type=Path,
        metavar="DIR",
        help="judge with `auto` each site by a model that has not seen it, out of a folder that"
        " `dehusk train auto --folds` wrote",
    )
    parser.add_argument(
        "--timeout",
        type=positive,
        default=4 * 3600,
        metavar="SECONDS",
        help="stop an experiment after so long (default: %(default)s)",
    )
    parser.add_argument("--list", action="store_true", help="name the experiments and run none")


_REFRESH_S: Final = 1.0
_USUAL_DATA: Final = Path("data")


def run(arguments: argparse.Namespace) -> int:
    """Run the experiments; 1 if one failed. Raises UsageError for one that does not exist."""
    if arguments.list:
        rows = [(each.name, each.section, each.title) for each in EXPERIMENTS]
        _print(table(("experiment", "section", "what it shows"), rows))
        return 0
    setup = _setup(arguments)
    total = len(setup.only or EXPERIMENTS)
    progress = Progress(sys.stderr)
    shown, ended = 0.0, 0

    def end(number: int, _: object) -> None:
        nonlocal ended
        ended = number

    def on_wait(name: str, seconds: float) -> None:
        nonlocal shown
        if ended:
            # Here, and not at once: whoever waits for an experiment ends it first.
            sys.exit(128 + ended)
        if time.monotonic() - shown > _REFRESH_S:
            shown = time.monotonic()
            progress.say(f"{name}: {seconds:.0f} s")

    before = signal.signal(signal.SIGTERM, end)
    runs = []
    try:
        for number, run in run_all(setup, EXPERIMENTS, on_wait):
            progress.clear()
            runs.append(run)
            _print(f"{number}/{total}  {run.name}: {_words(run)}\n")
            on_wait(run.name, 0)
    finally:
        signal.signal(signal.SIGTERM, before)
    _print(_summary(runs, setup))
    return int(any(run.status is Status.FAILED for run in runs))


def _setup(arguments: argparse.Namespace) -> Setup:
    """What the options ask for. Raises UsageError."""
    known = {each.name for each in EXPERIMENTS}
    for name in arguments.only:
        if name not in known:
            raise UsageError(f"--only {name}: no such experiment; --list names them")
    if arguments.folds is not None and not arguments.folds.is_dir():
        raise UsageError(f"--folds {arguments.folds}: there is no such folder")
    if arguments.output.exists() and not arguments.output.is_dir():
        raise UsageError(f"-o {arguments.output}: not a folder")
    return Setup(
        arguments.output,
        _data(arguments),
        arguments.folds,
        arguments.quick,
        tuple(dict.fromkeys(arguments.only)),
        arguments.timeout,
    )


def _data(arguments: argparse.Namespace) -> Path:
    """The folder with the corpora; where none is named and none is there, one without any."""
    if arguments.data is None:
        return _USUAL_DATA if _USUAL_DATA.is_dir() else Path(arguments.output)
    if not arguments.data.is_dir():
        raise UsageError(f"--data {arguments.data}: there is no such folder")
    return Path(arguments.data)


def _words(run: Run) -> str:
    """What became of a run."""
    note = f" ({run.note})" if run.note else ""
    if run.status is Status.DONE:
        spent = f"{run.seconds:.0f} s ({run.cpu_seconds:.0f} s of CPU)"
        return f"{spent}, {len(run.tables)} tables, {len(run.plots)} plots{note}"
    return f"{run.status}{note}"


def _summary(runs: Sequence[Run], setup: Setup) -> str:
    """How many of each kind, and what failed."""
    counts = {status: sum(run.status is status for run in runs) for status in Status}
    parts = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
    ran = [run for run in runs if run.status is not Status.KEPT]
    spent, cpu = (sum(run.seconds for run in ran), sum(run.cpu_seconds for run in ran))
    took = f"{spent / 60:.1f} minutes, {cpu / 60:.1f} of CPU"
    lines = [f"{len(runs)} experiments: {parts or 'none'}; {took}"]
    lines += [f"failed: {run.name}: {run.note}" for run in runs if run.status is Status.FAILED]
    return "\n".join([*lines, f"tables and plots are in {setup.output}", ""])


def _print(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
