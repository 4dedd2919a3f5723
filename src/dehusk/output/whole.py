"""Files that are whole once they are there."""

from __future__ import annotations

import errno
import os
import platform
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from threading import get_ident
from typing import Final

from dehusk.errors import UsageError

_AT_FAULT: Final = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
"""Faults of the disk: another name would not help."""
_PART: Final = (".dehusk-", ".part")
"""How the name of a file begins and ends that is not whole yet."""
_LEFT_S: Final = 86_400.0


@contextmanager
def naming(path: Path | str) -> Iterator[None]:
    """Have an OSError of what is done inside, such as a full disk, say which file it met."""
    try:
        yield
    except OSError as fault:
        if fault.filename is None:
            fault.filename = str(path)
        raise


def unwritable(
    path: Path | str, fault: OSError | ValueError, then: str = "name another place with -o"
) -> Exception:
    """The error of a file that cannot be written: wrong use, unless the disk is at fault.

    `then` says what to do.
    """
    if isinstance(fault, OSError) and fault.errno in _AT_FAULT:
        return OSError(fault.errno, fault.strerror or str(fault), str(path))
    reason = getattr(fault, "strerror", None) or fault
    return UsageError(f"cannot write to {path}: {reason}; {then}")


def check_replaceable(path: Path) -> None:
    """Raise OSError for what a file must not be renamed onto: a device, a pipe, a folder."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return  # Not there, or writing says why not.
    if not stat.S_ISREG(mode) and not stat.S_ISLNK(mode):
        raise FileExistsError(errno.EEXIST, "not a regular file", str(path))


def write_whole(path: Path, data: bytes, folder: Path | None = None) -> None:
    """Write a file under another name first (`part_of`), so that it is whole once it is there.

    Raises OSError, also where a device or a pipe has the name. A link gives way to the file: where
    pages go is for the user to say, not for what lies in the folder.
    """
    check_replaceable(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with part_of(path, folder) as part, naming(path):
            part.write_bytes(data)
    except OSError as fault:
        if fault.errno != errno.EXDEV or folder is None:
            raise
        write_whole(path, data)  # A folder in it is on another disk.


@contextmanager
def part_of(path: Path, folder: Path | None = None) -> Iterator[Path]:
    """Another name for what is written inside, which gets its own name once it is whole.

    It stands in the folder, if one is given, else beside the file: where a killed run's can be
    found. Names are this thread's own, so that two runs into one folder never meet.
    """
    name = f"{_PART[0]}{_here()}-{os.getpid()}-{get_ident()}{_PART[1]}"
    part = (folder or path.parent) / name
    try:
        yield part
        part.replace(path)
    except BaseException:  # Ctrl-C too: leave no part behind
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise


def clear_parts(folder: Path) -> None:
    """Take away what runs that were killed have left in a folder, where the system can tell.

    Of another machine that writes to the same disk, or another container, nobody can tell here:
    what it has left goes a day after it was last written to.
    """
    for part in folder.glob("*".join(_PART)):
        place, _, process = part.name.removeprefix(_PART[0]).partition("-")
        process = process.partition("-")[0]
        with suppress(OSError):
            if os.name == "posix" and place == _here() and process.isdecimal():
                is_left = not _is_running(int(process))
            else:
                is_left = time.time() - part.stat().st_mtime > _LEFT_S
            if is_left:
                part.unlink()


@cache
def _here() -> str:
    """Names the machine, or the container, in which the numbers of processes mean something."""
    place = platform.node()
    with suppress(OSError):
        place += f" {Path('/proc/self/ns/pid').stat().st_ino}"
    from hashlib import blake2b  # noqa: PLC0415  only files of a folder need it

    return blake2b(place.encode(), digest_size=4).hexdigest()


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def sync(path: Path) -> None:
    """Have the disk write down a file, or a folder where the system can do that."""
    with suppress(OSError):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
