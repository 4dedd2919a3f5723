"""Running the experiments one after the other, each in a process of its own, and keeping count."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, Final

from dehusk.errors import SourceError
from dehusk_bench.record.code_versions import code_version
from dehusk_bench.record.drawing import draw, write_png
from dehusk_bench.record.experiments import Experiment
from dehusk_bench.record.found_tables import find_tables
from dehusk_bench.record.machine import describe_machine

RUNS_FILE: Final = "runs.json"
_ENDINGS: Final = (".jsonl.xz", ".jsonl.gz", ".jsonl.zst", ".jsonl")
_POLL_S: Final = 0.2
_TAIL: Final = 300
"""Characters of what went wrong that a note has."""


class Status(StrEnum):
    """What became of an experiment."""

    DONE = "done"
    KEPT = "kept"
    """It was done in an earlier run, and nothing it depends on has changed."""
    FAILED = "failed"
    SKIPPED = "skipped"
    """The data it needs is not there."""


@dataclass(frozen=True, slots=True)
class Setup:
    """Where results go, what they are made from, and how much is run."""

    output: Path
    data: Path
    """The folder with the corpora; it may be empty."""
    folds: Path | None = None
    is_quick: bool = False
    only: tuple[str, ...] = ()
    timeout_s: float = 4 * 3600


@dataclass(frozen=True, slots=True)
class Run:
    """An experiment that was run, or was not."""

    name: str
    status: Status
    command: str = ""
    seconds: float = 0.0
    key: str = ""
    """Changes when the command, its input, its code or the version of a package does."""
    note: str = ""
    tables: tuple[str, ...] = ()
    plots: tuple[str, ...] = ()
    is_quick: bool = False
    cpu_seconds: float = 0.0
    """CPU time of its processes; 0 where the system does not tell."""
    machine: Mapping[str, str] = field(default_factory=dict)


Watcher = Callable[[str, float], None]
"""Is told what runs now, and for how many seconds it has."""


def run_all(
    setup: Setup, experiments: Sequence[Experiment], on_wait: Watcher
) -> Iterator[tuple[int, Run]]:
    """Each run with its number, from 1, as it ends. What was done before is kept.

    After each the list of runs is written, so that one that is cut off goes on where it was.
    """
    setup.output.mkdir(parents=True, exist_ok=True)
    done = read_runs(setup.output)
    machine = describe_machine()
    chosen = [each for each in experiments if not setup.only or each.name in setup.only]
    for number, experiment in enumerate(chosen, 1):
        run = _run_one(setup, experiment, done.get(experiment.name), machine, on_wait)
        if run.status is not Status.KEPT:
            done[run.name] = run
            _write_runs(setup.output, done.values())
        yield number, run


def _run_one(
    setup: Setup,
    experiment: Experiment,
    before: Run | None,
    machine: Mapping[str, str],
    on_wait: Watcher,
) -> Run:
    """Run an experiment, unless it was run before as it would be now."""
    arguments = arguments_of(setup, experiment)
    if arguments is None:
        needed = ", ".join(part[1:] for part in experiment.command if part.startswith("@"))
        return Run(experiment.name, Status.SKIPPED, note=f"there is no {needed}")
    command = shlex.join(("dehusk", "bench", *arguments))
    if _folds_of(setup, experiment, arguments) is not None:
        command += " --folds folds/"
    key = _key(setup, experiment, arguments, machine)
    if before is not None and before.key == key and before.status is Status.DONE:
        return Run(**{**asdict(before), "status": Status.KEPT})
    _remove_old(setup.output, experiment.name)
    started, cpu = time.monotonic(), _children_cpu()
    note = _run_process(setup, experiment, arguments, lambda s: on_wait(experiment.name, s))
    run = Run(
        experiment.name, Status.FAILED if note else Status.DONE, command,
        round(time.monotonic() - started, 1), key, note, is_quick=setup.is_quick,
        cpu_seconds=round(_children_cpu() - cpu, 1), machine=machine,
    )  # fmt: skip
    return run if note else _with_pictures(setup.output, experiment, run)


def _children_cpu() -> float:
    """CPU seconds of all processes that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def arguments_of(setup: Setup, experiment: Experiment) -> list[str] | None:
    """The arguments of `dehusk bench`, files by their names; None if the data is not there."""
    given = (*experiment.command, *(experiment.quick if setup.is_quick else experiment.full))
    wanted = [part for part in given if part.startswith("@")]
    found = {part: find_corpus(setup.data, part[1:]) for part in wanted}
    if wanted and not any(found.values()):
        if not experiment.instead:
            return None
        place = given.index(wanted[0])
        given = (*given[:place], *experiment.instead, *given[place:])
    return [str(found.get(part, part)) for part in given if found.get(part, part) is not None]


def find_corpus(folder: Path, name: str) -> str | None:
    """The name of the file that holds a corpus; None if there is none."""
    names = (f"{name}{ending}" for ending in _ENDINGS)
    return next((each for each in names if (folder / each).is_file()), None)


def _folds_of(setup: Setup, experiment: Experiment, arguments: Sequence[str]) -> Path | None:
    """The models that the experiment judges by; none know sample sites, taken for want of data."""
    has_samples = any(each.startswith("samples:") for each in arguments)
    return setup.folds if experiment.has_folds and not has_samples else None


def _run_process(
    setup: Setup,
    experiment: Experiment,
    arguments: Sequence[str],
    on_wait: Callable[[float], None],
) -> str:
    """Run the command in the folder of the data; what went wrong, or nothing."""
    output = setup.output.absolute()
    more = ["--markdown"]
    if experiment.has_json:
        more += ["--json", str(output / f"{experiment.name}.json")]
    if experiment.plots_option:
        folder = output / experiment.name
        folder.mkdir(exist_ok=True)
        more += [experiment.plots_option, str(folder)]
    if (folds := _folds_of(setup, experiment, arguments)) is not None:
        more += ["--folds", str(folds.absolute())]
    log = output / f"{experiment.name}.log"
    text = output / f"{experiment.name}.md"
    with text.open("wb") as out, log.open("wb") as err:
        child = subprocess.Popen(  # noqa: S603  our own command
            [sys.executable, "-m", "dehusk", "bench", *arguments, *more],
            stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=setup.data,
            env={**os.environ, "PYTHONUTF8": "1"},
        )  # fmt: skip
        status = _wait(child, setup.timeout_s, on_wait)
    if status is None:
        return f"it took over {setup.timeout_s:g} s and was stopped"
    if status != 0:
        said = log.read_text("utf-8", "replace").strip()[-_TAIL:]
        return f"exit status {status}: {said or 'nothing was said'}"
    return ""


def _wait(
    child: subprocess.Popen[bytes], timeout_s: float, on_wait: Callable[[float], None]
) -> int | None:
    """The exit status of the process; None if it took too long. It never outlives this call."""
    started = time.monotonic()
    try:
        while (spent := time.monotonic() - started) < timeout_s:
            on_wait(spent)
            try:
                return child.wait(_POLL_S)
            except subprocess.TimeoutExpired:
                continue
        return None
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()


def _with_pictures(output: Path, experiment: Experiment, run: Run) -> Run:
    """The run with the tables and plots that were made of its output."""
    found = find_tables((output / f"{run.name}.md").read_text("utf-8"))
    tables = []
    for number, each in enumerate(found, 1):
        tables.append(f"{run.name}-{number}.csv")
        (output / tables[-1]).write_text(each.csv(), "utf-8")
    plots = [f"{run.name}/{path.name}" for path in sorted((output / run.name).glob("*.svg"))]
    for number, plot in enumerate(experiment.plots, 1):
        svg = draw(plot, found)
        if svg is not None:
            plots.append(f"{run.name}-plot-{number}.svg")
            (output / plots[-1]).write_text(svg, "utf-8")
    if (output / run.name).is_dir() and not any((output / run.name).iterdir()):
        (output / run.name).rmdir()
    notes = {note for name in plots if (note := write_png(output / name))}
    return Run(
        **{**asdict(run), "tables": tuple(tables), "plots": tuple(plots), "note": "".join(notes)}
    )


def _remove_old(output: Path, name: str) -> None:
    """Take away what an earlier run of the experiment left."""
    old = [output / f"{name}{ending}" for ending in (".md", ".json", ".log")]
    old += [*output.glob(f"{name}-[0-9]*.csv"), *output.glob(f"{name}-plot-*")]
    for path in [*old, *(output / name).glob("*.svg"), *(output / name).glob("*.png")]:
        path.unlink(missing_ok=True)


def _key(
    setup: Setup, experiment: Experiment, arguments: Sequence[str], machine: Mapping[str, str]
) -> str:
    """What must be the same for an old result to be good."""
    files = [setup.data / each for each in arguments if (setup.data / each).is_file()]
    if (folds := _folds_of(setup, experiment, arguments)) is not None:
        files += sorted(folds.glob("fold*.json"))
    parts = [
        list(arguments),
        [_file_hash(path) for path in files],
        code_version(experiment.modules, experiment.without),
        dict(machine),
        [asdict(plot) for plot in experiment.plots],
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


@cache
def _file_hash(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read_runs(output: Path) -> dict[str, Run]:
    """The runs that a folder holds, by name; none if it holds none. Raises SourceError."""
    path = output / RUNS_FILE
    if not path.is_file():
        return {}
    try:
        written = json.loads(path.read_text("utf-8"))["runs"]
        return {name: _read_run(name, each) for name, each in written.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as fault:
        raise SourceError(f"{path}: not what `dehusk bench all` writes ({fault})") from fault


def _read_run(name: str, written: Mapping[str, Any]) -> Run:
    return Run(
        name,
        Status(written["status"]),
        str(written["command"]),
        float(written["seconds"]),
        str(written["key"]),
        str(written["note"]),
        tuple(written["tables"]),
        tuple(written["plots"]),
        bool(written["is_quick"]),
        float(written["cpu_seconds"]),
        dict(written["machine"]),
    )


def _write_runs(output: Path, runs: Iterable[Run]) -> None:
    """Write the list of runs; it is whole at any moment."""
    text = json.dumps({"runs": {run.name: asdict(run) for run in runs}}, indent=1)
    new = output / f"{RUNS_FILE}.new"
    new.write_text(text + "\n", "utf-8")
    new.replace(output / RUNS_FILE)
