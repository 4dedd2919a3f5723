"""Markdown as a reader has it, in four parts, and how near those of two texts are.

The measures are those of WebMainBench (Apache-2.0, https://github.com/opendatalab/WebMainBench):
the edit distance of text, code, formulas and tables, each as a share of the longer one, and TEDS,
the tree edit distance of tables. Its package is not used: it needs numpy before 2. Where we differ:
Markdown is read by a CommonMark parser rather than by patterns, so that the style of writing it
does not count, nor does code that is parted at its links; all tables of a page count, and not its
first alone, their spans laid out, since GFM has none, and without empty columns; rows are put
beside rows and cells beside cells, so that no cell moves from row to row.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dehusk.page import tags

Row = tuple[str, ...]
COLUMNS: Final = ("text", "code", "formula", "table", "TEDS")
_FENCE: Final = re.compile(
    r"^([ >]*)(`{3,}|~{3,})[^\n]*\n.*?^[ >]*\2[`~]*[ ]*$", re.DOTALL | re.MULTILINE
)
_CODE_SPAN: Final = re.compile(r"(?<!`)(`+)(?!`)(?:.+?)(?<!`)\1(?!`)", re.DOTALL)
_FORMULA: Final = re.compile(
    r"(?<!\\)\$\$(?P<block>(?:(?!\n\n).)+?)(?<!\\)\$\$"
    r"|(?<![\\$])\$(?=\S)(?P<line>(?:\\.|[^$\\\n])+?)(?<=\S)\$(?!\d)"
    r"|\\{1,2}\((?P<round>.+?)\\{1,2}\)|\\\\\[(?P<square>.+?)\\\\\]",
    re.DOTALL,
)
_CALLOUT: Final = re.compile(r"^([ >]*> ?)\[!(\w+)\]\n", re.MULTILINE)
"""GitHub shows the kind of a callout as its title."""
_NOTE: Final = re.compile(r"([ >]*)\[\^\d+\]: ")
_APART: Final = frozenset((*tags.BLOCK, "br", "td", "th"))
_MAX_SPAN: Final = 50
_MAX_ROWS: Final = 150
"""Rows of a page that are compared; the time grows with the square."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What a reader finds in Markdown."""

    text: str
    code: str
    formula: str
    rows: tuple[Row, ...]


def read_parts(markdown: str) -> Parts:
    """The parts of a text in Markdown."""
    from markdown_it import MarkdownIt  # noqa: PLC0415  needs an extra

    formulas: list[str] = []
    plain = named_callouts(_without_formulas(footnotes_as_blocks(markdown), formulas))
    reader = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    reader.validateLink = lambda url: True  # type: ignore[method-assign]  # noqa: ARG005
    return parts_of_html(reader.render(plain), formulas)


def named_callouts(markdown: str) -> str:
    """The text with the kinds of callouts as words, as GitHub shows them."""
    return _CALLOUT.sub(r"\1\2\n", markdown)


def footnotes_as_blocks(markdown: str) -> str:
    """The text with its footnotes as blocks, as GitHub shows them: CommonMark knows none."""
    if "[^" not in markdown:
        return markdown
    lines: list[str] = []
    below: str | None = None  # What the further lines of a note begin with.
    for each in markdown.split("\n"):
        if found := _NOTE.match(each):
            below = found[1] + "    "
            lines.append(found[1] + each[found.end() :])
            continue
        if below is not None and each.strip() and not each.startswith(below):
            below = None
        lines.append(each if below is None else below[:-4] + each.removeprefix(below))
    return "\n".join(lines)


def parts_of_html(html: str, formulas: Sequence[str]) -> Parts:
    """The parts of HTML whose formulas are known, and taken out of it."""
    import lxml.html  # noqa: PLC0415  needs an extra

    body = lxml.html.fragment_fromstring(html, create_parent="div")
    code = [each.text_content() for each in body.iter("pre", "code") if _is_outer(each)]
    rows = tuple(row for table in body.iter("table") for row in _rows(table))
    return Parts(line(_spaced(body)), line("".join(code)), "\n".join(formulas), rows)


def _rows(table: Any) -> list[Row]:
    """The rows of a table, spans laid out, and without the rows and columns that are empty."""
    rows: list[list[str]] = []
    covered: set[tuple[int, int]] = set()
    for number, row in enumerate(each for each in table.iter("tr") if table_of(each) is table):
        cells: list[str] = []
        for cell in row:
            while (number, len(cells)) in covered:
                cells.append("")
            if cell.tag in ("td", "th"):
                wide, high = (_span(cell, name) for name in ("colspan", "rowspan"))
                for below in range(1, high):
                    covered |= {(number + below, len(cells) + i) for i in range(wide)}
                cells += [line(_spaced(cell)), *[""] * (wide - 1)]
        rows.append(cells)
    columns = {place for row in rows for place, said in enumerate(row) if said}
    filled = [row for row in rows if any(row)]
    return [tuple(row[i] for i in sorted(columns) if i < len(row)) for row in filled]


def table_of(part: Any) -> Any:
    """The table that a row or a cell belongs to."""
    return next(part.iterancestors("table"), None)


def _span(cell: Any, name: str) -> int:
    written = cell.get(name, "1")
    return max(1, min(int(written), _MAX_SPAN)) if written.isdecimal() else 1


def _is_outer(element: Any) -> bool:
    return not any(above.tag in ("pre", "code") for above in element.iterancestors())


def _spaced(element: Any) -> str:
    """The text of an element, its breaks and blocks parted."""
    from lxml.etree import iterwalk  # noqa: PLC0415

    said: list[str] = []
    for event, each in iterwalk(element, events=("start", "end", "comment")):
        if event == "start":
            said += [" " if each.tag in _APART else "", each.text or ""]
        if event == "end":
            said.append(" " if each.tag in _APART else "")
        if event != "start" and each is not element:
            said.append(each.tail or "")
    return "".join(said)


def html_text(html: str) -> str:
    """The text of a fragment of HTML."""
    import lxml.html  # noqa: PLC0415  needs an extra

    return _spaced(lxml.html.fragment_fromstring(html, create_parent="div"))


def line(text: str) -> str:
    """A text on one line."""
    return " ".join(text.split())


def _code_spans(markdown: str) -> list[tuple[int, int]]:
    """Where code begins and ends, in order."""
    return sorted(
        [found.span() for pattern in (_FENCE, _CODE_SPAN) for found in pattern.finditer(markdown)]
    )


def outside_code(
    pattern: re.Pattern[str], change: Callable[[re.Match[str]], str], written: str
) -> str:
    """The text with what matches changed, but for code."""
    if not pattern.search(written):
        return written
    spans = _code_spans(written)
    ends = np.maximum.accumulate([0, *(stop for _, stop in spans)])
    starts = [start for start, _ in spans]

    def guarded(found: re.Match[str]) -> str:
        is_code = ends[bisect_left(starts, found.end())] > found.start()
        return found[0] if is_code else change(found)

    return pattern.sub(guarded, written)


def _without_formulas(markdown: str, formulas: list[str]) -> str:
    """The text without its formulas, which are put into the list; what is in code is none."""

    def take(found: re.Match[str]) -> str:
        formulas.append(line(next(each for each in found.groups() if each is not None)))
        return " "

    return outside_code(_FORMULA, take, markdown)


def compare(gold: Parts, found: Parts) -> dict[str, float | None]:
    """How near the parts are, 0 … 1, by the names of `COLUMNS`; None where both have none."""
    return {
        "text": nearness(gold.text.lower(), found.text.lower()),
        "code": nearness(gold.code, found.code),
        "formula": nearness(squeezed(gold.formula), squeezed(found.formula)),
        "table": nearness(_written(gold.rows), _written(found.rows)),
        "TEDS": teds(gold.rows, found.rows) if gold.rows or found.rows else None,
    }


def squeezed(latex: str) -> str:
    """LaTeX without white space and braces around single characters, which mean nothing in it."""
    return re.sub(r"\{(\w)\}", r"\1", re.sub(r"\s+", "", latex))


def _written(rows: Sequence[Row]) -> str:
    return "\n".join(" | ".join(row) for row in rows)


def nearness(one: str, other: str) -> float | None:
    """1 less the edit distance as a share of the longer text; None for two empty ones."""
    from rapidfuzz.distance import Levenshtein  # noqa: PLC0415  needs an extra

    return Levenshtein.normalized_similarity(one, other) if one or other else None


def teds(gold: Sequence[Row], found: Sequence[Row]) -> float:
    """1 less what it costs to make one table of the other, as a share of the larger one's nodes.

    A node is a table, a row or a cell. To add or to leave out a node costs 1, another text in a
    cell its edit distance as a share.
    """
    gold, found = gold[:_MAX_ROWS], found[:_MAX_ROWS]
    if not gold or not found:
        return 0.0
    cost = _alignment(gold, found, lambda row: 1 + len(row), _row_cost)
    return 1 - cost / max(1 + sum(1 + len(row) for row in rows) for rows in (gold, found))


def _row_cost(one: Row, other: Row) -> float:
    return 0.0 if one == other else _alignment(one, other, lambda _: 1, _cell_cost)


def _cell_cost(one: str, other: str) -> float:
    near = nearness(one, other)
    return 0.0 if near is None else 1 - near


def _alignment(
    one: Sequence[Any],
    other: Sequence[Any],
    size: Callable[[Any], float],
    change: Callable[[Any, Any], float],
) -> float:
    """What it costs to make one sequence of the other, in order."""
    last = [0.0]
    for each in other:
        last.append(last[-1] + size(each))
    for mine in one:
        row = [last[0] + size(mine)]
        for place, theirs in enumerate(other):
            row.append(
                min(
                    last[place + 1] + size(mine),
                    row[place] + size(theirs),
                    last[place] + change(mine, theirs),
                )
            )
        last = row
    return last[-1]
