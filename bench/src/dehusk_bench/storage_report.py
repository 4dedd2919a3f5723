"""What `dehusk bench storage` prints."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from statistics import fmean, median
from typing import Final

from dehusk.errors import SourceError
from dehusk_bench.commands import Progress
from dehusk_bench.corpora import Caps, Corpus, Watcher, open_corpus
from dehusk_bench.storage_sites import SiteCosts, Way, measure_site
from dehusk_bench.tables import number, table

LEGEND: Final = (
    "kB: what is kept on average, the table of segments or the pages of a batch; saved: of what the"
    " batches keep.\nRecall and precision of template blocks, all pages of a site together. First"
    " useful answer: the page from\nwhich on five pages together have the recall; a batch must be"
    " full before its first page is answered.\n"
)


def run_storage(arguments: argparse.Namespace) -> int:
    """Measure each corpus and print its tables; 1 if one could not be read to its end."""
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
    """Table 1 of 002: a row for each site, then the means of the sites."""
    rows, kept = [], []
    for place, costs in enumerate(sites, 1):
        recall = costs.common_recall(wanted)
        best = {way: costs.cheapest(way, recall) for way in Way}
        sizes = [point.average_bytes / 1000 if point else 0.0 for point in best.values()]
        kept.append(sizes)
        settings = [point.setting if point else "–" for point in best.values()]
        rows.append([f"site {place}", number(recall, 2), *_sizes(sizes), *settings, *_saved(sizes)])
    means = [fmean(column) for column in zip(*kept, strict=True)]
    blank = [""] * len(Way)
    return [*rows, ["mean", "", *_sizes(means), *blank, *_saved(means)]]


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
