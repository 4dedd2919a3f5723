"""`dehusk bench storage`: table 1 of 002, what methods must keep to find the same template."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from operator import attrgetter
from statistics import fmean, median
from typing import Final

from dehusk.answer.labels import Label, label
from dehusk.errors import PageError, SourceError
from dehusk.memory import Memory
from dehusk.methods import METHODS, Method
from dehusk.methods.papers.chunks import Chunks
from dehusk.methods.papers.segments import SEPARATORS, Segments
from dehusk.methods.papers.style_tree import StyleTree
from dehusk.page.parse import parse
from dehusk.page.tree import Flags, Tree
from dehusk_bench.corpora import Caps, Corpus, GoldPage, Watcher, open_corpus
from dehusk_bench.options import add_corpora, add_extent
from dehusk_bench.papers.table_sizes import Hits, add_blocks, template_text
from dehusk_bench.showing import Progress
from dehusk_bench.tables import number, table

DESCRIPTION: Final = (
    "What must be kept to reach the same recall of template blocks: the table of `segments` by its"
    " life time, against the pages that `chunks` and `style-tree` must cache to work in batches, by"
    " size of the batch. Also how many pages pass before the first useful answer, and recall by"
    " storage. Corpora need gold that names nodes."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options of the experiment."""
    add_corpora(parser)
    parser.add_argument(
        "--recall",
        type=_share,
        default=0.8,
        metavar="X",
        help="the recall to reach; where a method cannot on a site, the best that all three reach"
        " there (default: %(default)s, as in the paper)",
    )
    add_extent(parser)
    parser.add_argument("--markdown", action="store_true", help="write the tables as Markdown")


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 < share <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0 and up to 1")
    return share


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


LEGEND: Final = (
    "kB: what is kept on average, the table of segments or the pages of a batch; saved: of what the"
    " batches keep.\nRecall and precision of template blocks, all pages of a site together. First"
    " useful answer: the page from\nwhich on five pages together have the recall; a batch must be"
    " full before its first page is answered.\n"
)


def run(arguments: argparse.Namespace) -> int:
    """Run the experiment and print its tables; 1 if a corpus could not be read to its end.

    Raises UsageError for a corpus that does not exist.
    """
    caps = Caps(arguments.sites, arguments.pages)
    corpora = [open_corpus(name, caps) for name in arguments.corpora or ("samples",)]
    progress = Progress(sys.stderr)
    is_cut = False
    for corpus in corpora:
        sites, fault = _measure(corpus, arguments.recall, progress.show)
        progress.clear()
        is_cut |= fault is not None
        mark = "## " if arguments.markdown else ""
        parts = [f"{mark}{corpus.name}: {len(sites)} sites\n"]
        parts += render(sites, arguments.recall, markdown=arguments.markdown)
        parts += [f"{fault}; what came before it was measured\n"] if fault else []
        sys.stdout.write("\n".join(parts) + "\n")
        sys.stdout.flush()
    sys.stdout.write(LEGEND)
    return int(is_cut)


def _measure(
    corpus: Corpus, wanted: float, on_page: Watcher
) -> tuple[list[SiteCosts], SourceError | None]:
    """The costs of each site, and what ended the corpus early, if anything did."""
    sites: list[SiteCosts] = []
    done = 0
    try:
        for _, group in groupby(corpus.pages(), attrgetter("site")):
            golds = list(group)
            costs = measure_site(golds, wanted)
            if costs is not None:
                sites.append(costs)
            done += len(golds)
            on_page(corpus.name, done)
    except SourceError as fault:
        return sites, fault
    return sites, None


def render(sites: Sequence[SiteCosts], wanted: float, *, markdown: bool) -> list[str]:
    """Storage at equal recall, delay, and recall by storage."""
    if not sites:
        return ["No gold names the template here: nothing to measure.\n"]
    return [
        table(_EQUAL, _equal(sites, wanted), markdown=markdown),
        table(_DELAY, _delays(sites, wanted), markdown=markdown),
        table(_CURVE, _curve(sites), markdown=markdown),
    ]


_EQUAL: Final = (
    "at equal recall", "recall", *(f"{way} kB" for way in Way), *(f"{way} by" for way in Way),
    "saved of chunks", "saved of style-tree",
)  # fmt: skip
_DELAY: Final = ("first useful answer", "pages, median", "pages, most", "sites without")
_CURVE: Final = ("way", "setting", "kB", "recall", "precision")


def _equal(sites: Sequence[SiteCosts], wanted: float) -> list[list[str]]:
    """Table 1 of 002: a row for each site, then the means of all and of those that can be compared.

    What is kept for less than the wanted recall says little, for none of it nothing.
    """
    rows, kept = [], []
    for place, costs in enumerate(sites, 1):
        recall = costs.common_recall(wanted)
        best = {way: costs.cheapest(way, recall) for way in Way}
        sizes = [point.average_bytes / 1000 if point else 0.0 for point in best.values()]
        kept.append((recall, *sizes))
        settings = [point.setting if point else "–" for point in best.values()]
        rows.append([f"site {place}", number(recall, 2), *_sizes(sizes), *settings, *_saved(sizes)])
    reached = [each for each in kept if each[0] >= wanted]
    return [*rows, _means("mean", kept), _means(f"mean of {len(reached)} at {wanted:g}", reached)]


def _means(name: str, kept: Sequence[Sequence[float]]) -> list[str]:
    """The row of the means of recalls and sizes; dashes where there is no site."""
    blank = [""] * len(Way)
    if not kept:
        return [name, *["–"] * (len(Way) + 1), *blank, *["–"] * (len(Way) - 1)]
    recall, *sizes = (fmean(column) for column in zip(*kept, strict=True))
    return [name, number(recall, 2), *_sizes(sizes), *blank, *_saved(sizes)]


def _sizes(sizes: Sequence[float]) -> list[str]:
    return [number(size, 1) for size in sizes]


def _saved(sizes: Sequence[float]) -> list[str]:
    """What the table of segments saves of each of the batches."""
    own, *batches = sizes
    return [f"{1 - own / size:.1%}" if size else "–" for size in batches]


def _delays(sites: Sequence[SiteCosts], wanted: float) -> list[list[str]]:
    """How long one waits: by method, and for the batches that the recall takes."""
    waits: dict[str, list[int | None]] = {}
    for costs in sites:
        for name, delay in costs.delays.items():
            waits.setdefault(name, []).append(delay)
        for way in (Way.CHUNKS, Way.STYLE_TREE):
            point = costs.cheapest(way, costs.common_recall(wanted))
            pages = int(point.setting.split()[0]) if point and point.average_bytes else None
            waits.setdefault(f"{way}, in batches", []).append(pages)
    rows = []
    for name, delays in waits.items():
        known = [delay for delay in delays if delay is not None]
        most = str(max(known)) if known else "–"
        middle = number(median(known) if known else None, 0)
        rows.append([name, middle, most, str(len(delays) - len(known))])
    return rows


def _curve(sites: Sequence[SiteCosts]) -> list[list[str]]:
    """Means over the sites that have the setting."""
    rows = []
    for way in Way:
        settings = dict.fromkeys(p.setting for costs in sites for p in costs.points[way])
        for setting in settings:
            points = [p for costs in sites for p in costs.points[way] if p.setting == setting]
            figures = [fmean(p.average_bytes for p in points) / 1000]
            figures += [fmean(p.recall for p in points), fmean(p.precision for p in points)]
            rows.append([way, setting, number(figures[0], 1), *map(number, figures[1:])])
    return rows
