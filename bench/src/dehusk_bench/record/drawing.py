"""Plots of an experiment's tables, as SVG and as PNG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Final

from dehusk_bench.plots import line_plot
from dehusk_bench.record.found_tables import FoundTable, number_of

NO_PNG: Final = "no PNG: pip install 'dehusk-bench[peers]'"
_ZOOM: Final = 2


@dataclass(frozen=True, slots=True)
class Plot:
    """What is drawn of a table: lines over a column, or over the headings.

    `x` names the column of the x values and `lines` those of the y values. Without `x` the lines
    are rows, and the numbers in the headings are the x values.
    """

    title: str
    table: str
    """A part of the heading of the table's first column, or of the line above it."""
    labels: tuple[str, str]
    lines: tuple[str, ...]
    x: str = ""
    log_x: bool = False
    by: str = ""
    """A column by whose values each of `lines` is split into several."""
    only: tuple[str, str] = ("", "")
    """A column, and what must stand in it for a row to be drawn; none for all rows."""


Curves = dict[str, list[tuple[float, float]]]


def draw(plot: Plot, tables: Sequence[FoundTable]) -> str | None:
    """The plot as SVG; None where no table has what it shows.

    Of several such tables each has its own lines, named after what stands above it.
    """
    fit = [each for each in tables if plot.table in each.header[0] or plot.table in each.title]
    by_table = [(each.title, _columns(plot, each) if plot.x else _rows(plot, each)) for each in fit]
    by_table = [(title, found) for title, found in by_table if found]
    curves: Curves = {}
    for title, found in by_table:
        above = f"{title.rpartition(':')[0]}, " if len(by_table) > 1 else ""
        curves |= {f"{above}{name}": points for name, points in found.items()}
    return line_plot(plot.title, plot.labels, curves, log_x=plot.log_x) if curves else None


def _columns(plot: Plot, table: FoundTable) -> Curves:
    """Lines over the numbers in a column."""
    curves: Curves = {}
    column, wanted = plot.only
    if column:
        cells = table.column(column)
        rows = tuple(r for r, cell in zip(table.rows, cells, strict=True) if cell == wanted)
        table = replace(table, rows=rows)
    places = [number_of(cell) for cell in table.column(plot.x)]
    groups = table.column(plot.by) if plot.by else [""] * len(places)
    for line in plot.lines:
        for x, group, cell in zip(places, groups, table.column(line), strict=False):
            y = number_of(cell)
            if x is not None and y is not None and (x > 0 or not plot.log_x):
                name = " ".join(filter(None, (group, line if len(plot.lines) > 1 else "")))
                curves.setdefault(name or line, []).append((x, y))
    return curves


def _rows(plot: Plot, table: FoundTable) -> Curves:
    """Lines over the numbers in the headings."""
    curves: Curves = {}
    for line in plot.lines:
        for heading, cell in zip(table.header[1:], table.row(line), strict=False):
            x, y = number_of(heading), number_of(cell)
            if x is not None and y is not None:
                curves.setdefault(line, []).append((x, y))
    return curves


def write_png(svg: Path) -> str | None:
    """Write the picture beside its SVG; a note where that cannot be done."""
    try:
        module = import_module("resvg_py")
    except ImportError:
        return NO_PNG
    picture = module.svg_to_bytes(svg_string=svg.read_text("utf-8"), zoom=_ZOOM)
    svg.with_suffix(".png").write_bytes(bytes(picture))
    return None
