"""Pages that are read more than once, each time from the start."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO, Final

from dehusk.errors import UsageError
from dehusk.page.page import Page
from dehusk.settings import SourceSettings
from dehusk.sources import read_pages
from dehusk.sources.settings import DEFAULTS, Failure

Read = Callable[[Counter[str] | None], Iterator[Page | Failure]]
"""Gives all pages in order, and counts what there is beside them, as `read_pages` does."""

_STDIN: Final = "-"
_BLOCK_BYTES: Final = 1 << 18


@contextmanager
def rereadable(
    sources: Sequence[str], settings: SourceSettings = DEFAULTS, stdin: BinaryIO | None = None
) -> Iterator[Read]:
    """A function that reads the pages of all sources, as often as it is called.

    Standard input is first read to its end, into a temporary file that goes with the block. Raises
    UsageError for another pipe, which can be read only once, and as `read_pages` does.
    """
    read_pages(sources, settings)  # Refuses at once what is no source.
    for source in sources:
        path = Path(source)
        if source != _STDIN and path.exists() and not (path.is_file() or path.is_dir()):
            raise UsageError(
                f"{source}: a pipe can be read only once; send it to standard input (-), or save it"
            )
    if _STDIN not in sources:
        yield lambda left_out: read_pages(sources, settings, None, left_out)
        return
    if stdin is None and sys.stdin is None:
        raise UsageError("standard input is closed")
    with TemporaryFile() as spool:
        given = stdin or sys.stdin.buffer
        # `read` waits for a whole block, and hears Ctrl-C only then.
        some = getattr(given, "read1", given.read)
        while block := some(_BLOCK_BYTES):
            spool.write(block)

        def read(left_out: Counter[str] | None = None) -> Iterator[Page | Failure]:
            spool.seek(0)
            yield from read_pages(sources, settings, spool, left_out)

        yield read
