"""`dehusk bench chunks-tables`: the tables and figures of 004, and the two measures it defines."""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from statistics import fmean
from typing import Final

import numpy as np

from dehusk.doors.service.gold import node_gold
from dehusk.errors import PageError, SourceError
from dehusk.memory import Memory
from dehusk.methods.papers.chunks import Chunks
from dehusk.methods.papers.chunks.cutting import Cut
from dehusk.methods.papers.chunks.look import distances, look_of
from dehusk.page import tags
from dehusk.page.hashing import Hashes
from dehusk.page.parse import parse
from dehusk.page.tree import Flags, Ints, Tree
from dehusk_bench.corpora import Caps, Corpus, GoldPage, Watcher, open_corpus
from dehusk_bench.options import add_corpora, add_extent, positive
from dehusk_bench.showing import Progress
from dehusk_bench.tables import number, table

DESCRIPTION: Final = (
    "Run the method `chunks` on collections of pages as its paper does: of each site the largest"
    " group of pages that look alike. Table 1 and 2: size, time, average template fraction and"
    " template table discovery ratio; figure 3: the ratio by threshold; figure 4: the ratio and the"
    " time by number of pages picked."
)


def atf(template_tokens: int, page_tokens: Sequence[int]) -> float:
    """The average template fraction t / p (definition 4.1.1); 0 for pages without tokens.

    t: tokens of the template, each of its chunks counted once; p: the mean of the pages' tokens.
    """
    mean = fmean(page_tokens) if page_tokens else 0.0
    return template_tokens / mean if mean else 0.0


def ttdr(found: int, counted: int) -> float | None:
    """The template table discovery ratio nd / nt (definition 4.1.2); None if there is no table.

    Above 1, more was called template than there is; it says nothing of which tables were found.
    """
    return found / counted if counted else None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options of the experiment."""
    add_corpora(parser, "samples:tables", "; only sites whose gold names nodes are of use")
    parser.add_argument(
        "--threshold",
        type=positive,
        default=4,
        metavar="N",
        help="pages from which a chunk is template (default: %(default)s)",
    )
    parser.add_argument(
        "--separators",
        choices=("tables", "blocks"),
        default="tables",
        help="what cuts a page into chunks (default: %(default)s)",
    )
    parser.add_argument(
        "--tag-path", action="store_true", help="the same text at another path is another chunk"
    )
    parser.add_argument(
        "--group",
        choices=("look", "none"),
        default="look",
        help="take the largest group of each site, or all its pages (default: %(default)s)",
    )
    add_extent(parser)
    parser.add_argument("--markdown", action="store_true", help="write the tables as Markdown")


_TABLE: Final = tags.NUMBERS["table"]
_DRAWS: Final = 20
"""Random picks that a figure by number of pages is the mean of."""


@dataclass(frozen=True, slots=True, eq=False)
class ChunkedPage:
    """What the experiments need of a page: its chunks, and its tables that hold any."""

    look: int
    keys: Hashes
    tokens: Ints
    """Of each chunk."""
    in_table: Flags
    """Does the chunk stand in a table?"""
    first: Ints
    """Of each table, its first chunk."""
    behind: Ints
    """One behind its last chunk."""
    is_template: Flags
    """Of each table: template by the gold?"""
    size_bytes: int
    cpu_ms: float
    """To learn the page and to score it."""


def chunk_page(gold: GoldPage, method: Chunks) -> ChunkedPage | None:
    """The page's chunks and tables; None where the gold names no nodes. Raises PageError."""
    tree = parse(gold.page).tree
    if gold.content_nodes is None:
        return None
    nodes = node_gold(tree, gold.content_nodes, gold.excluded_nodes)
    if nodes is None:
        return None
    began = time.process_time()
    method.score(method.learn(Memory(), tree), tree)
    cpu_ms = 1000 * (time.process_time() - began)
    page = method.cut(tree)
    tables, first, behind = _tables(tree, page)
    starts = page.nodes[page.first]
    return ChunkedPage(
        look=int(look_of(tree)),
        keys=method.chunk_keys(tree, page),
        tokens=np.array([text.count(" ") + bool(text) for text in page.texts], np.int32),
        in_table=_in_table(tree, starts),
        first=first,
        behind=behind,
        is_template=nodes.template[tables],
        size_bytes=len(gold.html.encode("utf-8", "surrogatepass")),
        cpu_ms=cpu_ms,
    )


def _tables(tree: Tree, page: Cut) -> tuple[Ints, Ints, Ints]:
    """The tables that hold a chunk, and which ones: the first, and one behind the last."""
    tables = np.flatnonzero((tree.tag == _TABLE) & tree.shown)
    starts = page.nodes[page.first]
    first = np.searchsorted(starts, tables).astype(np.int32)
    behind = np.searchsorted(starts, tree.end[tables]).astype(np.int32)
    filled = behind > first
    return tables[filled].astype(np.int32), first[filled], behind[filled]


def _in_table(tree: Tree, nodes: Ints) -> Flags:
    """True for the nodes that stand in a table."""
    tables = np.flatnonzero(tree.tag == _TABLE)
    steps = np.zeros(len(tree) + 1, np.int32)
    np.add.at(steps, tables, 1)
    np.add.at(steps, tree.end[tables], -1)
    return np.asarray(np.cumsum(steps)[nodes] > 0)


def largest_group(pages: Sequence[ChunkedPage], max_distance: int) -> list[ChunkedPage]:
    """The pages around the look that has the most pages near it; of equal looks the smallest."""
    looks = np.array([page.look for page in pages], np.uint64)
    best = np.zeros(len(pages), np.bool_)
    for look in np.unique(looks):
        near = distances(look, looks) <= max_distance
        if near.sum() > best.sum():
            best = near
    return [page for page, is_near in zip(pages, best.tolist(), strict=True) if is_near]


@dataclass(frozen=True, slots=True)
class Findings:
    """What a threshold gives on a collection."""

    atf: float
    ttdr: float | None
    """None where the pages have no template table."""
    table_recall: float | None
    """Of the template tables on all pages, the share all of whose chunks were called template."""
    table_precision: float | None


def count_pages(pages: Sequence[ChunkedPage]) -> tuple[Hashes, Ints]:
    """Every chunk of the pages, and on how many of them it is: the first pass."""
    own = [np.unique(page.keys) for page in pages]
    keys, counts = np.unique(np.concatenate(own), return_counts=True)
    return keys, counts.astype(np.int32)


def find(
    pages: Sequence[ChunkedPage], threshold: int, learned: Sequence[ChunkedPage] | None = None
) -> Findings:
    """The measures on a collection whose template was learned from it, or from some of its pages.

    nd: different chunks in tables that are on `threshold` pages and more; nt: the most template
    tables that a page has, since all pages are taken to have the same template.
    """
    keys, counts = count_pages(pages if learned is None else learned)
    template = keys[counts >= threshold]
    found: set[int] = set()
    tokens: dict[int, int] = {}
    hits = called = gold = 0
    for page in pages:
        is_known = np.isin(page.keys, template)
        found.update(page.keys[is_known & page.in_table].tolist())
        tokens.update(zip(page.keys[is_known].tolist(), page.tokens[is_known], strict=True))
        unknown = np.concatenate(([0], np.cumsum(~is_known)))
        is_called = unknown[page.behind] == unknown[page.first]
        hits += int((is_called & page.is_template).sum())
        called += int(is_called.sum())
        gold += int(page.is_template.sum())
    return Findings(
        atf=atf(sum(map(int, tokens.values())), [int(page.tokens.sum()) for page in pages]),
        ttdr=ttdr(len(found), max(int(page.is_template.sum()) for page in pages)),
        table_recall=hits / gold if gold else None,
        table_precision=hits / called if called else None,
    )


def find_by_size(
    pages: Sequence[ChunkedPage], size: int, threshold: int, seed: int
) -> tuple[float | None, float]:
    """The ratio found by so many pages picked at random, and the CPU time in ms that they take.

    Means over several picks. The template tables are counted on all pages (section 4.2).
    """
    dice = random.Random(seed)  # noqa: S311  an experiment, not a secret
    picks = [dice.sample(list(pages), size) for _ in range(_DRAWS)]
    ratios = [find(pages, threshold, pick).ttdr for pick in picks]
    known = [ratio for ratio in ratios if ratio is not None]
    cpu_ms = fmean(sum(page.cpu_ms for page in pick) for pick in picks)
    return (fmean(known) if known else None), cpu_ms


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


def run(arguments: argparse.Namespace) -> int:
    """Run the experiment and print its tables; 1 if a corpus could not be read to its end.

    Raises UsageError for a corpus that does not exist.
    """
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
        parts += _shown_tables(collections, method, markdown=arguments.markdown)
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


def _shown_tables(collections: Collections, method: Chunks, *, markdown: bool) -> list[str]:
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
