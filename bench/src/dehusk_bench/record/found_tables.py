"""The tables in what an experiment printed, as data."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_NUMBER: Final = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class FoundTable:
    """A table that was printed as Markdown, and the line that stood above it."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def csv(self) -> str:
        """The table as comma-separated values."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(self.header)
        writer.writerows(self.rows)
        return stream.getvalue()

    def column(self, name: str) -> list[str]:
        """The cells under a heading; none if there is no such heading."""
        if name not in self.header:
            return []
        place = self.header.index(name)
        return [row[place] for row in self.rows]

    def row(self, name: str) -> tuple[str, ...]:
        """The cells of the first row of that name, without the name; none if there is none."""
        return next((row[1:] for row in self.rows if row[0] == name), ())


def find_tables(text: str) -> list[FoundTable]:
    """The Markdown tables of a text, in order."""
    tables: list[FoundTable] = []
    title, lines = "", []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            lines.append(line)
            continue
        if len(lines) > 1:
            header, _, *rows = map(_cells, lines)
            tables.append(FoundTable(title, header, tuple(rows)))
        lines = []
        title = line.lstrip("# ").strip() or title
    return tables


def number_of(cell: str) -> float | None:
    """The first number in a cell; a share where it is in per cent; None where there is none.

    >>> [number_of(cell) for cell in ("0.91", "45.1 %", "+12.5%", "size 8", "1,204", "–")]
    [0.91, 0.451, 0.125, 8.0, 1204.0, None]
    """
    found = _NUMBER.search(cell)
    if found is None:
        return None
    value = float(found[0].replace(",", ""))
    return round(value / 100, 9) if cell[found.end() :].lstrip().startswith("%") else value


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in line.strip().strip("|").split("|"))


def as_markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table, the first column to the left and the others to the right."""
    rule = ["---", *("---:" for _ in header[1:])]
    return "".join(f"| {' | '.join(line)} |\n" for line in (header, rule, *rows))
