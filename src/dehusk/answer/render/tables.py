"""Tables made fit for Markdown: data as an even grid, layout as blocks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from turbohtml import Element

from dehusk.answer.render.draft import Draft
from dehusk.answer.render.nodes import inside, with_attributes
from dehusk.page import tags
from dehusk.page.tree import Flags, Tree

_TABLE: Final = tags.numbers("table")
_PART: Final = tags.numbers("caption", "thead", "tbody", "tfoot", "tr", "td", "th")
_PARTS: Final = tags.listed(
    "table", "caption", "thead", "tbody", "tfoot", "tr", "td", "th",
)  # fmt: skip
_ROW: Final = tags.NUMBERS["tr"]
_HEAD: Final = tags.NUMBERS["thead"]
_HEADER_CELL: Final = tags.NUMBERS["th"]
_CELL: Final = tags.numbers("td", "th")
_CELLS: Final = tags.listed("td", "th")
_BLOCK: Final = tags.numbers(*tags.BLOCK)
_INNER_BLOCK: Final = _BLOCK & ~(_TABLE | _PART)
_BREAK: Final = tags.numbers("br")
STRUCTURE: Final = (
    "article", "blockquote", "form", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "listing", "main",
    "nav", "plaintext", "pre", "section", "table", "textarea", "xmp",
)  # fmt: skip
"""What no cell of a Markdown table can hold, and cells of data seldom do."""
_STRUCTURE: Final = tags.numbers(*STRUCTURE)

_MAX_CELL_LENGTH: Final = 1000
"""Characters of a cell beyond which a row is no longer read as a row."""
_MAX_FILL: Final = 8
"""Cells of the even grid per cell of the page; a ragged table of a hostile page has no end."""


@dataclass(slots=True)
class _Table:
    """One table: its rows, each with its cells, as nodes of the tree."""

    node: int
    parts: list[int] = field(default_factory=list)
    rows: dict[int, list[int]] = field(default_factory=dict)


def shape_tables(draft: Draft) -> Flags:
    """Turn tables of data into even grids of inline text, all others into blocks.

    Gives back which nodes are in tables of data.
    """
    is_data = np.zeros(len(draft.tree), np.bool_)
    tables = _tables(draft)
    if not tables:
        return is_data
    structure = np.cumsum(draft.kept & _STRUCTURE[draft.tree.tag])
    marked = _spanning(draft.tree, draft.kept_nodes(_CELLS))
    for table in tables.values():
        inner = structure[draft.ends[table.node] - 1] - structure[table.node]
        grid = None if inner else _grid(draft, table, marked)
        if grid is None:
            _unfold(draft, table)
        else:
            is_data[table.node] = True
            _write(draft, table, grid, marked)
    in_data = inside(draft.ends, is_data)
    _flatten_cells(draft, in_data)
    return in_data


def _spanning(tree: Tree, cells: list[int]) -> frozenset[int]:
    """Those of the cells that may span rows or columns."""
    cells = with_attributes(tree, cells)
    places = zip(cells, tree.start[cells].tolist(), tree.stop[cells].tolist(), strict=True)
    return frozenset(cell for cell, start, stop in places if b"span=" in tree.source[start:stop])


def _tables(draft: Draft) -> dict[int, _Table]:
    """Every kept table by its node; parts without a table are given to table -1."""
    tree, nodes = draft.tree, draft.kept_nodes(_PARTS)
    tables: dict[int, _Table] = {}
    owner: dict[int, int] = {}
    for node, tag, parent in zip(
        nodes, tree.tag[nodes].tolist(), tree.parent[nodes].tolist(), strict=True
    ):
        if _TABLE[tag]:
            tables[node] = _Table(node)
            owner[node] = node
            continue
        table = owner[node] = owner.get(parent, -1)
        if table < 0:
            draft.element(node).tag = "div"
            continue
        tables[table].parts.append(node)
        if tag == _ROW:
            tables[table].rows[node] = []
        elif _CELL[tag] and parent in tables[table].rows:
            tables[table].rows[parent].append(node)
    return tables


def _grid(draft: Draft, table: _Table, marked: frozenset[int]) -> list[list[int]] | None:
    """The table's cells by row and column, -1 where there is none; None if it is not data."""
    cells = [cell for row in table.rows.values() for cell in row]
    if len(table.rows) < 2 or len(cells) < 3:
        return None
    if draft.tree.text_length[cells].max() > _MAX_CELL_LENGTH:
        return None
    if draft.element(table.node).attr("role") in ("presentation", "none"):
        return None
    rows = _placed(draft, list(table.rows.values()), marked, _MAX_FILL * len(cells))
    if rows is None:
        return None
    inked = draft.inked.tobytes()
    filled = sorted(
        {column for row in rows for column, cell in enumerate(row) if cell >= 0 and inked[cell]}
    )
    if len(filled) < 2:
        return None
    return [[row[column] if column < len(row) else -1 for column in filled] for row in rows]


def _placed(
    draft: Draft, rows: list[list[int]], marked: frozenset[int], max_places: int
) -> list[list[int]] | None:
    """Each row with its cells in their columns: cells that span leave -1 where they reach.

    `marked` are the cells that may span; others do not. None if the even grid would have
    more places than allowed.
    """
    widest = max(map(len, rows))
    reach: dict[int, int] = {}
    placed: list[list[int]] = []
    for number, cells in enumerate(rows):
        line: list[int] = []
        for cell in cells:
            while reach.get(len(line), 0) > number:
                line.append(-1)
            if cell not in marked:
                line.append(cell)
                continue
            element = draft.element(cell)
            deep = _span(element, "rowspan")
            wide = min(_span(element, "colspan"), max(widest - len(line), 1))
            if deep > 1:
                reach.update(dict.fromkeys(range(len(line), len(line) + wide), number + deep))
            line.append(cell)
            line.extend([-1] * (wide - 1))
        placed.append(line)
        widest = max(widest, len(line))
        if widest * len(rows) > max_places:
            return None
    return placed


def _span(cell: Element, name: str) -> int:
    """How many rows or columns a cell takes."""
    written = cell.attr(name) or ""
    is_number = written.isascii() and written.isdigit() and len(written) <= 4
    return max(int(written), 1) if is_number else 1


def _write(draft: Draft, table: _Table, grid: list[list[int]], marked: frozenset[int]) -> None:
    """Make the parser's table as even as the grid, with a row of headers at its top."""
    for (row, cells), places in zip(table.rows.items(), grid, strict=True):
        for cell in marked.intersection(cells):
            attributes = draft.element(cell).attrs
            attributes.pop("colspan", None)
            attributes.pop("rowspan", None)
        if places == cells:
            continue
        line = draft.element(row)
        for cell in set(cells).difference(places):
            draft.element(cell).decompose()
        for cell in places:
            line.append(Element("td") if cell < 0 else draft.element(cell))
    first = next(iter(table.rows))
    if not _is_header(draft, first, grid[0]):
        empty = Element("tr", children=[Element("th") for _ in grid[0]])
        draft.element(first).insert_before(empty)


def _is_header(draft: Draft, row: int, cells: list[int]) -> bool:
    """Does the row name the columns?"""
    tree = draft.tree
    if tree.tag[tree.parent[row]] == _HEAD:
        return True
    places = np.array(cells)
    places = places[places >= 0]
    return bool((tree.tag[places[draft.inked[places]]] == _HEADER_CELL).all())


def _unfold(draft: Draft, table: _Table) -> None:
    """Make blocks of a table's parts."""
    for node in (table.node, *table.parts):
        draft.element(node).tag = "div"


def _flatten_cells(draft: Draft, in_data: Flags) -> None:
    """Leave nothing but inline elements in the cells of data, and a break where a line began."""
    tree, texts = draft.tree, draft.texts
    for node in np.flatnonzero(in_data & draft.kept & _INNER_BLOCK[tree.tag]).tolist():
        draft.element(node).tag = "span"
    # In cells, and no cell or break begun since the text before: a break is missing.
    is_missing = texts.new_line & (in_data & inside(draft.ends, _CELL[tree.tag]))[texts.nodes]
    begun = np.cumsum(_CELL[tree.tag] | _BREAK[tree.tag])[texts.nodes]
    is_missing[1:] &= begun[1:] == begun[:-1]
    for place in np.flatnonzero(is_missing).tolist():
        before, node = int(texts.nodes[place - 1]), int(texts.nodes[place])
        while (parent := int(tree.parent[node])) > before and not _BLOCK[tree.tag[parent]]:
            node = parent
        draft.nodes[node].insert_before(Element("br"))
