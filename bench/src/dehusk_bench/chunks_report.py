"""What `dehusk bench chunks-tables` prints."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import suppress
from statistics import fmean
from typing import Final

from dehusk.errors import PageError, SourceError
from dehusk.methods.papers.chunks import Chunks
from dehusk_bench.chunks_collections import (
    ChunkedPage,
    Findings,
    chunk_page,
    find,
    find_by_size,
    largest_group,
)
from dehusk_bench.commands import Progress
from dehusk_bench.corpora import Caps, Corpus, Watcher, open_corpus
from dehusk_bench.tables import number, table

_SEED: Final = 4
_MIN_PAGES: Final = 5
"""A smaller collection says nothing about a threshold of 4."""
_THRESHOLDS: Final = (2, 3, 4, 5, 6, 8, 10)
_SHARES: Final = (0.3, 0.5, 0.7, 0.85, 1.0)
"""Of the pages of a collection, for figure 4."""
LEGEND: Final = (
    "atf: tokens of the template over tokens of a page; ttdr: template chunks in tables over"
    " template tables of a page (1 is right);\ntable R, P: recall and precision of the tables whose"
    " chunks are all called template.\n"
)

Collections = dict[str, list[ChunkedPage]]
"""The pages of a collection, by site."""


def run_chunks(arguments: argparse.Namespace) -> int:
    """Print the tables of each corpus; 1 if one could not be read to its end."""
    caps = Caps(arguments.sites, arguments.pages)
    corpora = [open_corpus(name, caps) for name in arguments.corpora or ("samples:tables",)]
    method = Chunks(
        threshold=arguments.threshold,
        separators=arguments.separators,
        tag_path=arguments.tag_path,
        group=arguments.group,
    )
    progress = Progress(sys.stderr)
    is_cut = False
    for corpus in corpora:
        collections, fault = _collect(corpus, method, progress.show)
        progress.clear()
        is_cut |= fault is not None
        mark = "## " if arguments.markdown else ""
        parts = [f"{mark}{corpus.name}: {len(collections)} collections\n"]
        parts += _tables(collections, method, markdown=arguments.markdown)
        parts += [f"{fault}; what came before it was measured\n"] if fault else []
        sys.stdout.write("\n".join(parts) + "\n")
        sys.stdout.flush()
    sys.stdout.write(LEGEND)
    return int(is_cut)


def _collect(
    corpus: Corpus, method: Chunks, on_page: Watcher
) -> tuple[Collections, SourceError | None]:
    """Each site's collection, and what ended the corpus early, if anything did."""
    sites: Collections = {}
    fault = None
    try:
        for done, gold in enumerate(corpus.pages(), 1):
            with suppress(PageError):
                page = chunk_page(gold, method)
                if page is not None:
                    sites.setdefault(gold.site, []).append(page)
            on_page(corpus.name, done)
    except SourceError as caught:
        fault = caught
    if method.group == "look":
        sites = {site: largest_group(p, method.max_distance) for site, p in sites.items()}
    return {site: pages for site, pages in sites.items() if len(pages) >= _MIN_PAGES}, fault


def _tables(collections: Collections, method: Chunks, *, markdown: bool) -> list[str]:
    """Tables 1 and 2, then figures 3 and 4 over the collections that have template tables."""
    header = ("collection", "pages", "kB", "ms/kB", "atf", "ttdr", "table R", "table P")
    found = {site: find(pages, method.threshold) for site, pages in collections.items()}
    rows = [[site, *_extent(pages), *_cells([found[site]])] for site, pages in collections.items()]
    if len(rows) > 1:
        rows.append(["mean", "", "", "", *_cells(list(found.values()))])
    parts = [table(header, rows, markdown=markdown)]
    tabled = [pages for pages in collections.values() if _has_tables(pages)]
    if tabled:
        parts.append(table(("threshold", "ttdr", "atf"), _by_threshold(tabled), markdown=markdown))
        by_size = _by_size(tabled, method.threshold)
        parts.append(table(("pages picked", "ttdr", "CPU ms"), by_size, markdown=markdown))
    return parts


def _extent(pages: Sequence[ChunkedPage]) -> list[str]:
    """How many pages and kilobytes, and the time for one of these (table 1)."""
    size_kb = sum(page.size_bytes for page in pages) / 1000
    cpu_ms = sum(page.cpu_ms for page in pages)
    return [str(len(pages)), number(size_kb, 0), number(cpu_ms / size_kb)]


def _cells(found: Sequence[Findings]) -> list[str]:
    """The means of the measures (table 2, and two of ours)."""
    return [
        f"{fmean(each.atf for each in found):.1%}",
        number(_mean([each.ttdr for each in found]), 2),
        number(_mean([each.table_recall for each in found]), 2),
        number(_mean([each.table_precision for each in found]), 2),
    ]


def _mean(values: Sequence[float | None]) -> float | None:
    """The mean of those that are known; None if none is."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _has_tables(pages: Sequence[ChunkedPage]) -> bool:
    """Does a page of the collection have a template table?"""
    return any(page.is_template.any() for page in pages)


def _by_threshold(collections: Sequence[Sequence[ChunkedPage]]) -> list[list[str]]:
    """Figure 3: the mean ratio, and the mean template fraction, by threshold."""
    rows = []
    for threshold in _THRESHOLDS:
        fraction, ratio, *_ = _cells([find(pages, threshold) for pages in collections])
        rows.append([str(threshold), ratio, fraction])
    return rows


def _by_size(collections: Sequence[Sequence[ChunkedPage]], threshold: int) -> list[list[str]]:
    """Figure 4: the mean ratio and time by share of the pages picked."""
    rows = []
    for share in _SHARES:
        picked = [
            find_by_size(pages, max(1, round(share * len(pages))), threshold, _SEED)
            for pages in collections
        ]
        ratio = _mean([ratio for ratio, _ in picked])
        cpu_ms = fmean(cpu_ms for _, cpu_ms in picked)
        rows.append([f"{share:.0%}", number(ratio, 2), number(cpu_ms, 1)])
    return rows
