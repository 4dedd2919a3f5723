"""Tables for a terminal and for Markdown."""

from __future__ import annotations

from collections.abc import Sequence


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, markdown: bool = False) -> str:
    """The rows under their header, aligned: the first column to the left, figures to the right."""
    columns = list(zip(header, *rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    if markdown:
        rule = ["-" * widths[0], *("-" * (max(width, 2) - 1) + ":" for width in widths[1:])]
        lines = (f"| {' | '.join(_aligned(row, widths))} |" for row in (header, rule, *rows))
    else:
        lines = ("  ".join(_aligned(row, widths)).rstrip() for row in (header, *rows))
    return "".join(f"{line}\n" for line in lines)


def number(value: float | None, digits: int = 3) -> str:
    """The number with so many digits behind the point; a dash for None."""
    return "–" if value is None else f"{value:.{digits}f}"


def _aligned(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    """The cells, each as wide as its column."""
    first = row[0].ljust(widths[0])
    return [first, *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
