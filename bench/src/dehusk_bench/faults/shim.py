"""What stands between a process and its disk (shim.c), from Python."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path
from typing import Final

from dehusk.errors import UsageError

_SOURCE: Final = Path(__file__).with_name("shim.c")


class Action(IntEnum):
    """What happens at the call that is chosen; numbered as in shim.c."""

    NOTHING = 0
    KILL = 1
    TEAR = 2
    """As a kill, but in the middle of a write."""
    FAIL = 3


def is_loaded() -> bool:
    """True in a process that runs with the shim."""
    return hasattr(ctypes.CDLL(None), "faults_begin")


def run_with_shim(words: Sequence[str]) -> int:
    """Run dehusk with these words and the shim; its exit status. Raises UsageError."""
    compiler = shutil.which("cc")
    if not sys.platform.startswith("linux") or compiler is None:
        raise UsageError("this experiment needs Linux and a C compiler (cc)")
    with tempfile.TemporaryDirectory() as folder:
        library = str(Path(folder) / "shim.so")
        build = [compiler, "-O1", "-fPIC", "-shared", "-o", library, str(_SOURCE), "-ldl"]
        subprocess.run(build, check=True)  # noqa: S603  our own source
        environment = {**os.environ, "LD_PRELOAD": library, "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "dehusk", *words]
        return subprocess.run(command, env=environment, check=False).returncode  # noqa: S603  us


def begin(
    folder: Path,
    call: int = 0,
    action: Action = Action.NOTHING,
    error: int = 0,
    log: int = -1,
) -> None:
    """Count what is done to the files of a folder from now on, and act at that call."""
    shim = ctypes.CDLL(None)
    shim.faults_begin(os.fsencode(folder), ctypes.c_long(call), int(action), error, log)


def refuse_memory(number: int) -> None:
    """Refuse that allocation, counted from now on; count only, where it is far away."""
    ctypes.CDLL(None).faults_refuse(ctypes.c_long(number))


def end() -> None:
    """Do and count nothing any more."""
    if is_loaded():
        ctypes.CDLL(None).faults_end()


def counted() -> tuple[int, int]:
    """How many calls and allocations there were."""
    shim = ctypes.CDLL(None)
    shim.faults_calls.restype = shim.faults_allocations.restype = ctypes.c_long
    return shim.faults_calls(), shim.faults_allocations()
