"""Collections of pages as 004 measures them: chunks, tables and tokens, without the pages."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

import numpy as np

from dehusk.doors.service.gold import node_gold
from dehusk.memory import Memory
from dehusk.methods.papers.chunks import Chunks
from dehusk.methods.papers.chunks.cutting import Cut
from dehusk.methods.papers.chunks.look import distances, look_of
from dehusk.page import tags
from dehusk.page.hashing import Hashes
from dehusk.page.parse import parse
from dehusk.page.tree import Flags, Ints, Tree
from dehusk_bench.chunks_tables import atf, ttdr
from dehusk_bench.corpora import GoldPage

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
