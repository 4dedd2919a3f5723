"""What a site costs and gives under each setting: an incremental table, and batches of pages."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean
from typing import Final

from dehusk.answer.label import label
from dehusk.answer.labels import Label
from dehusk.errors import PageError
from dehusk.memory import Memory
from dehusk.methods import METHODS, Method
from dehusk.methods.papers.chunks import Chunks
from dehusk.methods.papers.segments import SEPARATORS, Segments
from dehusk.methods.papers.style_tree import StyleTree
from dehusk.page.parse import parse
from dehusk.page.tree import Flags, Tree
from dehusk_bench.corpora import GoldPage
from dehusk_bench.table_sizes import Hits, add_blocks, template_text

BATCHES: Final = (4, 6, 8, 12, 16, 24, 32, 48)
"""Pages of a batch; 002 needed 24 on average."""
LIVES: Final = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
"""Tb, with the usual N."""
_WINDOW: Final = 5
"""Pages whose recall counts for an answer to be useful: single pages scatter."""


class Way(StrEnum):
    """The three ways of 002."""

    SEGMENTS = "segments"
    CHUNKS = "chunks"
    STYLE_TREE = "style-tree"


@dataclass(frozen=True, slots=True)
class Point:
    """What one setting keeps, and what it finds."""

    setting: str
    average_bytes: float
    recall: float
    precision: float


@dataclass(frozen=True, slots=True)
class SiteCosts:
    """The points of each way on one site, cheapest setting first, and the delays."""

    site: str
    points: dict[Way, list[Point]]
    delays: dict[str, int | None]
    """By method, pages until the first useful answer; None if it never comes."""

    def cheapest(self, way: Way, recall: float) -> Point | None:
        """The setting that keeps least of those that reach the recall."""
        fit = [point for point in self.points[way] if point.recall >= recall - 1e-9]
        return min(fit, key=lambda point: point.average_bytes, default=None)

    def common_recall(self, wanted: float) -> float:
        """The recall that is wanted, or the best that all ways reach."""
        return min(wanted, *(max(p.recall for p in points) for points in self.points.values()))


@dataclass(frozen=True, slots=True, eq=False)
class _Page:
    tree: Tree
    is_template: Flags
    size_bytes: int


def measure_site(golds: Sequence[GoldPage], wanted: float) -> SiteCosts | None:
    """The costs of a site; None where no gold names its template."""
    pages = [page for gold in golds if (page := _read(gold)) is not None]
    if not pages:
        return None
    points = {
        Way.SEGMENTS: [_table(pages, Segments(base_life=life)) for life in LIVES],
        Way.CHUNKS: _batches(pages, Chunks(separators="blocks", group="none")),
        Way.STYLE_TREE: _batches(pages, StyleTree()),
    }
    points[Way.SEGMENTS].append(_table(pages, Segments(ages=False)))
    costs = SiteCosts(golds[0].site, points, {})
    useful = costs.common_recall(wanted)
    for name in ("segments", "auto"):
        costs.delays[name] = _delay(pages, METHODS[name](), useful)
    return costs


def _read(gold: GoldPage) -> _Page | None:
    """A page whose template is known; None for another, and for one that cannot be used."""
    with suppress(PageError):
        tree = parse(gold.page).tree
        is_template = template_text(gold, tree)
        if is_template is not None:
            return _Page(tree, is_template, len(gold.html.encode("utf-8", "surrogatepass")))
    return None


def _count(hits: Hits, page: _Page, method: Method, memory: Memory) -> None:
    """Compare what is called template on a page with the gold, by block."""
    labels = label(page.tree, method.score(memory, page.tree)).labels
    called = labels == Label.TEMPLATE.value
    add_blocks(hits, page.tree, SEPARATORS, page.is_template, called)


def _table(pages: Sequence[_Page], method: Segments) -> Point:
    """One pass with a table: AverageSize = Σ s_i / Σ 1 (section 3 of 002)."""
    memory, hits, sizes = Memory(), Hits(), []
    for page in pages:
        memory = method.learn(memory, page.tree)
        sizes.append(memory.size_bytes)
        _count(hits, page, method, memory)
    name = f"Tb {method.base_life:g}" if method.ages else "no ageing"
    return _point(name, fmean(sizes), hits)


def _batches(pages: Sequence[_Page], method: Method) -> list[Point]:
    """Batches of each size: what is kept is the pages of a batch."""
    points = []
    for size in (size for size in BATCHES if size <= len(pages)):
        hits, kept = Hits(), []
        for start in range(0, len(pages) - size + 1, size):
            batch = pages[start : start + size]
            kept.append(sum(page.size_bytes for page in batch))
            memory = Memory()
            for page in batch:
                memory = method.learn(memory, page.tree)
            for page in batch:
                _count(hits, page, method, memory)
        points.append(_point(f"{size} pages", fmean(kept), hits))
    return points or [Point("too few pages", 0.0, 0.0, 0.0)]


def _point(setting: str, average_bytes: float, hits: Hits) -> Point:
    return Point(setting, average_bytes, hits.recall or 0.0, hits.precision or 0.0)


def _delay(pages: Sequence[_Page], method: Method, useful: float) -> int | None:
    """The first page from which on five pages together have a useful recall."""
    memory, found = Memory(), []
    for page in pages:
        memory = method.learn(memory, page.tree)
        found.append(Hits())
        _count(found[-1], page, method, memory)
    for start in range(max(len(found) - _WINDOW + 1, 0)):
        window = found[start : start + _WINDOW]
        template = sum(hits.template for hits in window)
        if template and sum(hits.found for hits in window) / template >= useful - 1e-9:
            return start + 1
    return None
