"""Scenes whose process is killed, or whose disk or memory fails, at a call that is chosen."""

from __future__ import annotations

import errno
import os
import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dehusk.errors import DehuskError
from dehusk_bench.faults import shim
from dehusk_bench.faults.rounds import Outcome, Rounds
from dehusk_bench.faults.scenes import SCENES, Scene, contents, fresh, verify

_FAR: Final = 1 << 60
_ERRORS: Final = (errno.EIO, errno.ENOSPC)
_TYPED: Final = (DehuskError, OSError, MemoryError)


@dataclass(frozen=True, slots=True)
class Stage:
    """A scene with the folder it plays in, and what an undisturbed run makes of it."""

    scene: Scene
    prepared: Path
    folder: Path
    whole: object
    calls: int
    """What an undisturbed run does to files."""
    allocations: int


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended: what it last said was lasting, and by what."""

    said: int
    how: str
    """`killed`, `ended`, `raised NAME` for an error of ours or the system's, `fault NAME` else."""


@contextmanager
def staged(name: str) -> Iterator[Stage]:
    """The scene of that name, prepared."""
    scene = SCENES[name]
    with tempfile.TemporaryDirectory() as place:
        prepared, folder = Path(place) / "prepared", Path(place) / "work"
        folder.mkdir()
        scene.prepare(folder)
        folder.rename(prepared)
        fresh(prepared, folder)
        scene.act(folder, lambda _: None)
        whole = contents(folder / "a.husk")
        fresh(prepared, folder)
        numbers = os.pipe()
        counted = run_child(scene, folder, lambda: _count(folder), numbers)
        assert counted.how == "ended", counted.how
        with os.fdopen(numbers[0], "rb") as pipe:
            calls, allocations = map(int, pipe.read().split())
        yield Stage(scene, prepared, folder, whole, calls, allocations)


def _count(folder: Path) -> None:
    shim.begin(folder)
    shim.refuse_memory(_FAR)


def run_child(
    scene: Scene,
    folder: Path,
    begin: Callable[[], None],
    numbers: tuple[int, int] | None = None,
    log: int | None = None,
) -> Ended:
    """How a process ended that played the scene from `begin` on.

    It writes into `numbers` how many calls and allocations there were, and what it says into the
    `log` too.
    """
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(read_end)
            status = _play(scene, folder, begin, write_end, log)
            if numbers is not None:
                os.write(numbers[1], b"%d %d" % shim.counted())
        finally:
            os._exit(status)
    os.close(write_end)
    if numbers is not None:
        os.close(numbers[1])
    with os.fdopen(read_end, "rb") as pipe:
        lines = pipe.read().decode("utf-8", "replace").splitlines()
    _, status = os.waitpid(child, 0)
    said = max((int(line) for line in lines if line.isdecimal()), default=0)
    words = [line for line in lines if not line.isdecimal()]
    how = "killed" if os.WIFSIGNALED(status) else words[-1] if words else "ended"
    return Ended(said, how)


def _play(scene: Scene, folder: Path, begin: Callable[[], None], pipe: int, log: int | None) -> int:
    """Play the scene in this process, and tell what comes of it."""

    def say(pages: int) -> None:
        if log is not None:
            os.write(log, b"A 0 %d 0 0\n" % pages)
        os.write(pipe, b"%d\n" % pages)

    begin()
    try:
        scene.act(folder, say)
    except _TYPED as fault:
        shim.end()
        os.write(pipe, f"raised {type(fault).__name__}\n".encode())
    except BaseException as fault:  # noqa: BLE001  what nobody foresaw is what is looked for
        shim.end()
        os.write(pipe, f"fault {type(fault).__name__}: {fault}\n".encode())
    return 0


def _judged(stage: Stage, ended: Ended, where: str) -> Outcome:
    """What a disturbance came to."""
    wrong = f"{where}: {ended.how}" if ended.how.startswith("fault") else ""
    fault = verify(stage.scene, stage.folder, ended.said, stage.whole)
    return ended.how.partition(":")[0], wrong or (f"{where}: {fault}" if fault else "")


def run_kills(rounds: Rounds, count: int, names: Sequence[str]) -> int:
    """Kill the scenes at any of their calls, a write torn or not; how many rounds went wrong."""
    wrong = 0
    for name in names:
        with staged(name) as stage:

            def one(dice: random.Random, _: int, stage: Stage = stage) -> Outcome:
                call = dice.randint(1, stage.calls)
                action = dice.choice((shim.Action.KILL, shim.Action.TEAR))
                fresh(stage.prepared, stage.folder)
                ended = run_child(
                    stage.scene, stage.folder, lambda: shim.begin(stage.folder, call, action)
                )
                return _judged(stage, ended, f"killed at call {call} of {stage.calls}")

            wrong += rounds.run(f"kills {name}", count, one).wrong
    return wrong


def run_errors(rounds: Rounds, count: int, names: Sequence[str]) -> int:
    """Have each call of the scenes fail in turn, as on a bad or a full disk."""
    wrong = 0
    for name in names:
        with staged(name) as stage:

            def one(dice: random.Random, number: int, stage: Stage = stage) -> Outcome:
                del dice
                call, error = number // len(_ERRORS) + 1, _ERRORS[number % len(_ERRORS)]
                fresh(stage.prepared, stage.folder)
                action = shim.Action.FAIL
                ended = run_child(
                    stage.scene, stage.folder, lambda: shim.begin(stage.folder, call, action, error)
                )
                return _judged(stage, ended, f"{errno.errorcode[error]} at call {call}")

            every = stage.calls * len(_ERRORS)
            wrong += rounds.run(f"errors {name}", min(count, every), one).wrong
    return wrong


def run_memory(rounds: Rounds, count: int, names: Sequence[str]) -> int:
    """Refuse the scenes one allocation of memory."""
    wrong = 0
    for name in names:
        with staged(name) as stage:

            def one(dice: random.Random, _: int, stage: Stage = stage) -> Outcome:
                number = dice.randint(1, stage.allocations)
                fresh(stage.prepared, stage.folder)
                ended = run_child(stage.scene, stage.folder, lambda: shim.refuse_memory(number))
                return _judged(stage, ended, f"no memory at allocation {number}")

            wrong += rounds.run(f"memory {name}", count, one).wrong
    return wrong
