"""`dehusk explain`: one page in, what was found of its regions and why out."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Sequence
from typing import Final

from dehusk import pipeline
from dehusk.answer.labels import Label
from dehusk.answer.override import overrides
from dehusk.answer.regions import Region
from dehusk.answer.result import Result
from dehusk.doors.cli.progress import plain
from dehusk.doors.cli.template import find_page, read_site
from dehusk.doors.options import chosen_method, make_limits, plural
from dehusk.errors import PageError
from dehusk.memory import Memory
from dehusk.memory.lessons import is_known, page_digest
from dehusk.memory.opening import open as open_session
from dehusk.methods import Method, make_method
from dehusk.methods.papers.hyperlink import Hyperlink
from dehusk.page.page import Page
from dehusk.settings import Limits
from dehusk.template.templates import PageLoader, redirected

_TEXT_WIDTH: Final = 60
"""Characters of text in a table."""
_MAX_CELL: Final = 40
_VERDICTS: Final = {Label.TEMPLATE: "dropped", Label.CONTENT: "kept"}


def run(arguments: argparse.Namespace) -> int:
    """Explain the page by what its site has taught; 1 if some page of that failed."""
    limits = make_limits(arguments)
    redirects: dict[str, str] = {}
    pages, failures = read_site(arguments, arguments.against, redirects)
    names = redirected(pages, redirects)
    key = find_page(arguments, pages, names)
    site = pipeline.site_of(key)
    others = [page for page in pages if page is not key and pipeline.site_of(page) == site]
    name, settings = chosen_method(arguments)
    chosen = overrides(arguments.keep, arguments.drop)
    if name == Hyperlink.name:
        settings["loader"] = PageLoader([key, *others], limits, names=names)
    method, memory = make_method(name, **settings), Memory()
    if arguments.memory:
        with open_session(
            arguments.memory,
            reads_only=True,
            method=arguments.method,
            keep=arguments.keep,
            drop=arguments.drop,
            **settings,
        ) as memories:
            method, memory = memories.method, memories.memory(site)
            chosen = memories.decided(site)
    memory, refusals = _learn(others, memory, method, limits)
    learn = pipeline.as_learned if _is_known(key, memory) else None
    result = pipeline.explain(key, memory, pipeline.Setup(method, limits, chosen), learn)
    written = _as_json(result, method) if arguments.format == "json" else _as_table(result, method)
    sys.stdout.buffer.write((written + "\n").encode("utf-8", "replace"))
    sys.stdout.buffer.flush()
    return 1 if failures or refusals else 0


def _learn(
    others: Sequence[Page], memory: Memory, method: Method, limits: Limits
) -> tuple[Memory, int]:
    """The memory after the pages that it does not know yet, and how many could not be learned."""
    refusals = 0
    for page in others:
        if _is_known(page, memory):
            continue
        try:
            memory = pipeline.learn(page, memory, pipeline.Setup(method, limits)).memory
        except PageError as error:
            refusals += 1
            sys.stderr.write(f"dehusk: {plain(str(error))}\n")
    return memory, refusals


def _is_known(page: Page, memory: Memory) -> bool:
    """True where a durable memory has learned the page, as it is or as it was."""
    return any(
        is_known(memory, page_digest(page, with_html=with_html)) for with_html in (False, True)
    )


def _as_json(result: Result, method: Method) -> str:
    """The regions for programs."""
    regions = [
        {
            "node": region.node,
            "end": region.end,
            "elements": region.elements,
            "place": region.place,
            "label": region.label.name.lower(),
            "score": _number(region.score),
            "page_score": _number(region.page_score),
            "site_score": _number(region.site_score),
            "reason": region.reason,
            "characters": region.characters,
            "text": region.text,
        }
        for region in result.regions
    ]
    answer = {
        "url": result.url,
        "site": result.site,
        "method": method.name,
        "pages_seen": result.pages_seen,
        "template_share": round(result.template_share, 4),
        "needs_render": result.needs_render,
        "regions": regions,
    }
    return json.dumps(answer, ensure_ascii=False, indent=1)


def _number(score: float) -> float | None:
    return None if math.isnan(score) else round(score, 4)


def _as_table(result: Result, method: Method) -> str:
    """The regions for people: a line about the page, and one for each region."""
    pages = plural(result.pages_seen, "page")
    share = f"{result.template_share:.0%} of the text is template"
    lines = [
        plain(result.url or "a page without a URL"),
        f"{method.name}, {pages} of {plain(result.site)} learned: {share}",
    ]
    if result.needs_render:
        lines.append("the page is empty without its scripts: needs --render")
    if not result.regions:
        return "\n".join([*lines, "no visible text"])
    is_explained = result.explanation is not None
    header = ["verdict", "score", "page", "site", "characters", "where", "why", "text"]
    rows = [_row(region) for region in result.regions]
    columns = [
        column
        for column in range(len(header))
        if is_explained or header[column] not in {"page", "site"}
    ]
    table = [[row[column] for column in columns] for row in (header, *rows)]
    return "\n".join([*lines, "", *_aligned(table)])


def _row(region: Region) -> list[str]:
    """One region's cells."""
    where = region.place + (f" × {region.elements}" if region.elements > 1 else "")
    return [
        _VERDICTS[region.label],
        _score(region.score),
        _score(region.page_score),
        _score(region.site_score),
        f"{region.characters:,}",
        _cut(plain(where), _MAX_CELL),
        plain(region.reason),
        plain(region.text),
    ]


def _score(score: float) -> str:
    return "-" if math.isnan(score) else f"{score:.2f}"


def _aligned(table: Sequence[Sequence[str]]) -> list[str]:
    """The rows with columns side by side, numbers to the right, as much text as there is room."""
    header = table[0]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)][:-1]
    is_number = [name in {"score", "page", "site", "characters"} for name in header]
    lines = []
    for number, row in enumerate(table):
        cells = [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, is_number, strict=False)
        ]
        lines.append("  ".join([*cells, _cut(row[-1], _TEXT_WIDTH)]).rstrip())
        if number == 0:
            lines.append("  ".join("-" * width for width in [*widths, len(header[-1])]))
    return lines


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
