"""What a run shows: how far it has come, notes, tables, and figures in a file."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final, TextIO

from dehusk.errors import UsageError

_REFRESH_S: Final = 0.2


class Progress:
    """One line on a terminal that says how far a run has come; nothing in a pipe."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._is_live = stream.isatty()
        self._shown = 0.0

    def show(self, corpus: str, pages: int) -> None:
        """Say where the run is, not too often."""
        if self._is_live and time.monotonic() - self._shown > _REFRESH_S:
            self._shown = time.monotonic()
            self._stream.write(f"\r\x1b[K{corpus}: {pages:,} pages")
            self._stream.flush()

    def say(self, what: str) -> None:
        """Say what the run does now."""
        if self._is_live:
            self._stream.write(f"\r\x1b[K{what}")
            self._stream.flush()

    def clear(self) -> None:
        """Take the line away."""
        if self._is_live:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


def warn(notes: Iterable[str]) -> None:
    """Write notes to standard error."""
    for note in notes:
        sys.stderr.write(f"dehusk: {note}\n")


def show(text: str) -> None:
    """Write to standard output at once: the next corpus may take minutes."""
    sys.stdout.write(text)
    sys.stdout.flush()


def check_file(name: str | None) -> None:
    """Raise UsageError if `--json` names a file that cannot be."""
    if name is not None and not Path(name).absolute().parent.is_dir():
        raise UsageError(f"--json {name}: there is no such folder")


def save(name: str | None, figures: object) -> None:
    """Write the figures to the file, if one is named."""
    if name is not None:
        Path(name).write_text(json.dumps(figures, ensure_ascii=False, indent=1) + "\n", "utf-8")
