"""Which of its tasks a worker is at: a number that it and the process that reads share.

A worker gathers answers before it sends them. Where it ends, this tells the page that it ended on
from those before it, whose answers went with it. It costs nobody a message: a few bytes of a file
without a name, which the worker has in its memory.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence
from struct import Struct
from tempfile import TemporaryFile
from typing import Final

_NUMBER: Final = Struct("=Q")


class Place:
    """The number as the process that reads has it. Where none can be shared it stays 0."""

    def __init__(self) -> None:
        self._file = TemporaryFile() if os.name == "posix" else None  # noqa: SIM115 - see close
        if self._file is not None:
            self._file.truncate(_NUMBER.size)

    @property
    def descriptors(self) -> tuple[int, ...]:
        """What the worker is to inherit."""
        return () if self._file is None else (self._file.fileno(),)

    def close(self) -> int:
        """The number as the worker left it. It is let go of."""
        if self._file is None or self._file.closed:
            return 0
        with self._file as file:
            file.seek(0)
            number: int = _NUMBER.unpack(file.read(_NUMBER.size))[0]
            return number


class Mark:
    """The number as the worker has it."""

    def __init__(self, descriptors: Sequence[int]) -> None:
        self._shared = mmap.mmap(descriptors[0], _NUMBER.size) if descriptors else None
        self._number = 0
        for descriptor in descriptors:
            os.close(descriptor)

    @property
    def is_shared(self) -> bool:
        """Does anybody see it?"""
        return self._shared is not None

    def move(self) -> None:
        """Go on to the next task."""
        self._number += 1
        if self._shared is not None:
            _NUMBER.pack_into(self._shared, 0, self._number)
