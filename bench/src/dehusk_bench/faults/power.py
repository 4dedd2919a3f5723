"""Power cuts, simulated: what a disk may hold when writes were on their way to it.

A scene is played once with every change of its files written down (shim.c). A round cuts that log
anywhere and makes the folder as a disk might have it then: what was synced is there; of what was
not, each sector of 512 bytes is there or not, whatever came before or behind it. Names follow a
file system with a journal: a sync makes all changes of names before it lasting, later ones are
there up to some moment.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from dehusk_bench.faults import shim
from dehusk_bench.faults.disturbed import Stage, run_child, staged
from dehusk_bench.faults.rounds import Outcome, Rounds
from dehusk_bench.faults.scenes import SCENES, fresh, verify

_SECTOR: Final = 512


@dataclass(frozen=True, slots=True)
class Change:
    """A line of the log; see shim.c. `A` is what the process said."""

    kind: str
    path: str
    number: int
    data: bytes = b""


@dataclass(slots=True, eq=False)
class _File:
    """A file as the disk has it, and what is on its way."""

    lasting: bytearray = field(default_factory=bytearray)
    waiting: list[Change] = field(default_factory=list)

    def sync(self) -> None:
        """All that was written is on the disk."""
        for change in self.waiting:
            _apply(self.lasting, change)
        self.waiting.clear()

    def cut(self, dice: random.Random) -> bytes:
        """What there is when the power goes: of what is on its way, any part."""
        data = bytearray(self.lasting)
        share = dice.random()
        for change in self.waiting:
            if change.kind == "T":
                if dice.random() < share:
                    _apply(data, change)
                continue
            for start in range(0, len(change.data), _SECTOR):
                if dice.random() < share:
                    piece = change.data[start : start + _SECTOR]
                    _apply(data, Change("W", change.path, change.number + start, piece))
        return bytes(data)


def _apply(data: bytearray, change: Change) -> None:
    """Do to the bytes what the change did."""
    end = change.number + len(change.data)
    if len(data) < end:
        data.extend(bytes(end - len(data)))
    if change.kind == "T":
        del data[change.number :]
    else:
        data[change.number : end] = change.data


class Disk:
    """The files of a folder, by name, with what is lasting of them."""

    def __init__(self, folder: Path) -> None:
        self._names = {
            str(path): _File(bytearray(path.read_bytes()))
            for path in folder.rglob("*")
            if path.is_file()
        }
        self._states = [dict(self._names)]
        """The names as they were after each change that is not lasting yet."""
        self.said = 0

    def do(self, change: Change) -> None:
        """Take a change in."""
        if change.kind == "A":
            self.said = change.number
        elif change.kind == "S":
            if change.path in self._names:
                self._names[change.path].sync()
            self._states = [dict(self._names)]
        elif change.kind in "WT":
            self._names.setdefault(change.path, _File()).waiting.append(change)
        else:
            self._rename(change)
            self._states.append(dict(self._names))

    def _rename(self, change: Change) -> None:
        if change.kind == "C":
            self._names[change.path] = _File()
        elif change.kind == "R":
            self._names[change.data.decode()] = self._names.pop(change.path)
        else:
            self._names.pop(change.path, None)

    def cut(self, dice: random.Random) -> dict[str, bytes]:
        """What the disk holds, by name, when the power goes now."""
        names = dice.choice(self._states)
        return {name: file.cut(dice) for name, file in names.items()}


def read_log(data: bytes) -> Iterator[Change]:
    """The changes that the shim has written down."""
    at = 0
    while at < len(data):
        end = data.index(b"\n", at)
        kind, *numbers = data[at:end].split()
        path_bytes, number, _, data_bytes = map(int, numbers)
        start = end + 1 + path_bytes
        path = os.fsdecode(data[end + 1 : start])
        yield Change(kind.decode(), path, number, data[start : start + data_bytes])
        at = start + data_bytes


def run_power(rounds: Rounds, count: int, names: Sequence[str]) -> int:
    """Cut the power so often while each scene is played; how many rounds went wrong."""
    wrong = 0
    for name in names:
        if not SCENES[name].is_synced:
            continue  # Its output is not promised to outlast a power cut.
        with staged(name) as stage:
            changes = _logged(stage)

            def one(
                dice: random.Random,
                _: int,
                stage: Stage = stage,
                changes: Sequence[Change] = changes,
            ) -> Outcome:
                fresh(stage.prepared, stage.folder)
                disk = Disk(stage.folder)
                last = dice.randint(0, len(changes))
                for change in changes[:last]:
                    disk.do(change)
                _make(stage.folder, disk.cut(dice))
                fault = verify(stage.scene, stage.folder, disk.said, stage.whole)
                return "cut", f"behind change {last} of {len(changes)}: {fault}" if fault else ""

            wrong += rounds.run(f"power {name}", count, one).wrong
    return wrong


def _logged(stage: Stage) -> list[Change]:
    """All changes of an undisturbed run."""
    fresh(stage.prepared, stage.folder)
    path = stage.folder.with_name("log")
    log = os.open(path, os.O_CREAT | os.O_RDWR | os.O_TRUNC)
    ended = run_child(stage.scene, stage.folder, lambda: shim.begin(stage.folder, log=log), log=log)
    assert ended.how == "ended", ended.how
    os.close(log)
    return list(read_log(path.read_bytes()))


def _make(folder: Path, files: dict[str, bytes]) -> None:
    """Make the folder hold these files."""
    shutil.rmtree(folder)
    folder.mkdir()
    for name, data in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(data)
