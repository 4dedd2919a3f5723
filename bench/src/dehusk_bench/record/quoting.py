"""Figures of the record in other pages of the docs: each says which cell it is, and is kept true.

In a sentence or a cell of a table, the figure stands before a comment with file, row and
column; it keeps the digits that it is written with, and whether it is in per cent:

    On documentation it has 0.90<!-- docs-dev.csv; all-text; F1 -->.

A table stands between two comments, with the rows and columns that the first one names, or all:

    <!-- table docs-dev.csv; rows: page | page-basic; columns: P | R | F1 -->
    …
    <!-- end of table -->

A row is known by its first cell, or by its first cells with commas between them; signs of emphasis
and code are passed over. A column is known by its heading, or by its number: `column 3`.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from dehusk.errors import UsageError
from dehusk_bench.record.found_tables import as_markdown, number_of

_FIGURE: Final = re.compile(
    r"(?P<sign>[-+−]?)(?P<number>\d[\d,]*(?:\.\d+)?|\.\d+)(?P<percent> ?%)?(?P<after>\**)"
    r"(?P<comment><!-- (?P<file>[\w-]+\.csv); (?P<row>[^;]+?); (?P<column>[^;]+?) -->)"
)
_TABLE: Final = re.compile(
    r"(?P<start><!-- table (?P<file>[\w-]+\.csv)(?:; rows: (?P<rows>[^;]+?))?"
    r"(?:; columns: (?P<columns>[^;]+?))? -->\n).*?(?P<end><!-- end of table -->)",
    re.DOTALL,
)
_COLUMN: Final = re.compile(r"column (\d+)")


def fill_files(path: Path, record: Path) -> None:
    """Bring the figures of a Markdown file, or of all below a folder, up to date.

    `record` is the folder of the tables. Raises UsageError for what does not exist.
    """
    if not path.exists():
        raise UsageError(f"--quoted-in {path}: there is no such file")
    for each in sorted(path.rglob("*.md")) if path.is_dir() else [path]:
        text = each.read_text("utf-8")
        new = fill(text, record)
        if new != text:
            each.write_text(new, "utf-8")


def fill(text: str, record: Path) -> str:
    """The text with every figure and table that says where it is from as the record has it.

    Raises UsageError for a file, row or column that the record does not have.
    """
    text = _TABLE.sub(lambda found: _table(found, record), text)
    return _FIGURE.sub(lambda found: _figure(found, record), text)


def _figure(found: re.Match[str], record: Path) -> str:
    """The figure as the record has it, written as it was."""
    rows = _read(record, found["file"])
    row = _row(rows, found["row"], found["file"])
    cell = row[_column(rows[0], found["column"], found["file"])]
    value = number_of(cell.replace("−", "-"))
    if value is None:
        raise UsageError(f"{found['comment']}: there is no figure, but {cell!r}")
    written = found["number"]
    digits = len(written.partition(".")[2])
    shown = f"{value * 100 if found['percent'] else value:,.{digits}f}"
    is_signed = bool(found["sign"]) or value < 0
    sign = ("−" if value < 0 else "+") if is_signed else ""
    number = shown.lstrip("-")
    if written.startswith("."):
        number = number.removeprefix("0")
    return f"{sign}{number}{found['percent'] or ''}{found['after']}{found['comment']}"


def _table(found: re.Match[str], record: Path) -> str:
    """The table that the comments are about."""
    header, *rows = _read(record, found["file"])
    if found["rows"]:
        rows = [_row([header, *rows], name, found["file"]) for name in _names(found["rows"])]
    names = _names(found["columns"]) if found["columns"] else []
    places = [_column(header, name, found["file"]) for name in names] or range(1, len(header))
    shown = [[each[place] for place in (0, *places)] for each in (header, *rows)]
    return f"{found['start']}\n{as_markdown(shown[0], shown[1:])}\n{found['end']}"


def _plain(cell: str) -> str:
    """The cell without signs of emphasis and code."""
    return cell.replace("*", "").replace("`", "")


def _names(written: str) -> list[str]:
    return [name.strip() for name in written.split("|")]


def _read(record: Path, file: str) -> list[list[str]]:
    """The rows of a table of the record, its header first. Raises UsageError if it has none."""
    path = record / file
    if not path.is_file():
        raise UsageError(f"the record has no {file}")
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))


def _row(rows: Sequence[Sequence[str]], name: str, file: str) -> list[str]:
    """The row of that name. Raises UsageError if there is none."""
    parts = name.split(", ")
    for row in rows[1:]:
        cells = [_plain(cell) for cell in row]
        if cells[0] == name or cells[: len(parts)] == parts:
            return list(row)
    raise UsageError(f"{file} of the record has no row {name!r}")


def _column(header: Sequence[str], name: str, file: str) -> int:
    """The place of the column of that name or number. Raises UsageError if there is none."""
    numbered = _COLUMN.fullmatch(name)
    if numbered and 1 <= int(numbered[1]) <= len(header):
        return int(numbered[1]) - 1
    names = [_plain(head) for head in header]
    if names.count(name) == 1:
        return names.index(name)
    raise UsageError(f"{file} of the record has not one column {name!r}; it has {', '.join(names)}")
