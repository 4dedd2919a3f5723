"""A table for people: columns side by side, numbers to the right."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import Final

_COMMANDS: Final = re.compile("[\x00-\x1f\x7f-\x9f]")
"""Control characters: a site's name could give a terminal orders with them."""


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write the rows under their header to standard output; the first column to the left."""
    clean = [[_COMMANDS.sub("\ufffd", cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(header, *clean, strict=True)]
    for row in (header, ["-" * width for width in widths], *clean):
        first, *rest = (
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        line = "  ".join((first, *rest)).rstrip()
        sys.stdout.write(line.encode("utf-8", "replace").decode() + "\n")
