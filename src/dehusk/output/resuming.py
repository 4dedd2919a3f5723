"""What an earlier run has written, stepped through while the same pages come again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from dehusk.errors import UsageError

_BLOCK: Final = 1 << 16


class WrittenLines:
    """The JSON lines of an earlier run over the same sources; none where there is no file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.size = _whole_size(path)
        """Bytes of whole lines; what stands behind them is half a page, and goes."""
        self._left = self.size
        self._file = path.open("rb") if self.size else None

    def holds_next(self, url: str | None) -> bool:
        """True while there are lines, and the next one is on this page.

        Raises UsageError where it is on another one: the file is of another run.
        """
        if self._file is None:
            return False
        line = self._file.readline()
        self._left -= len(line)
        try:
            record = json.loads(line)
            is_own = isinstance(record, dict) and record["url"] == url
        except (ValueError, KeyError):
            is_own = False
        if not is_own:
            raise UsageError(f"cannot go on with {self._path}: it is not of a run over these pages")
        if self._left <= 0:
            self.close()
        return True

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()
        self._file = None


def _whole_size(path: Path) -> int:
    """The bytes of a file up to the end of its last whole line; 0 where there is none."""
    if not path.is_file():
        return 0
    with path.open("rb") as file:
        end = file.seek(0, 2)
        while end:
            start = max(0, end - _BLOCK)
            file.seek(start)
            cut = file.read(end - start).rfind(b"\n")
            if cut >= 0:
                return start + cut + 1
            end = start
    return 0
