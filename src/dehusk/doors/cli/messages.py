"""Standard error whose reader may go away: messages are lost then, the run is not."""

from __future__ import annotations

import io
import os
from typing import TextIO


class Messages(io.TextIOBase):
    """A stream of messages that goes on without them once nobody reads them, or nobody ever did."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write the text, or drop it where nobody reads."""
        try:
            if self._stream is not None:
                self._stream.write(text)
        except BrokenPipeError:
            self._drop()
        return len(text)

    def flush(self) -> None:
        """Push on what was written."""
        try:
            if self._stream is not None:
                self._stream.flush()
        except BrokenPipeError:
            self._drop()

    def isatty(self) -> bool:
        """True for a terminal."""
        return self._stream is not None and self._stream.isatty()

    def fileno(self) -> int:
        """The stream's own number."""
        return io.TextIOBase.fileno(self) if self._stream is None else self._stream.fileno()

    def _drop(self) -> None:
        """Lead what is held, and all that comes, to nowhere: it must not fail again at exit."""
        assert self._stream is not None
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)
