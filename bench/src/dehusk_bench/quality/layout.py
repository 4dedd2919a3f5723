"""`dehusk bench layout`: how far the estimated layout is from what a browser measures."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Final

import numpy as np

from dehusk.errors import PageError, SourceError, UsageError
from dehusk.page.browser import Browser
from dehusk.page.layout import estimate
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Flags, Floats, Layout
from dehusk.settings import Limits
from dehusk_bench.corpora import Caps, Corpus, GoldPage, open_corpus
from dehusk_bench.options import add_corpora, add_extent, add_report
from dehusk_bench.papers.site_texts import Reading, finish, percent, show
from dehusk_bench.showing import Progress
from dehusk_bench.tables import table

CORPORA: Final = ("samples:::6",)
DESCRIPTION: Final = (
    "Show pages in Chromium (install extra: render) and compare the boxes of their nodes with those"
    " that dehusk estimates without one. Nodes count that the browser gives an area; figures are"
    " medians over nodes, then means over pages."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options of the experiment."""
    add_corpora(parser, " ".join(CORPORA))
    add_extent(parser)
    add_report(parser)


_SMALL: Final = 2000.0
"""Square pixels below which 003 takes a node for a part of what it stands in."""

_PATIENT: Final = Limits(timeout_s=60)
"""Nobody waits for these pages: a busy machine must not drop any."""


@dataclass(frozen=True, slots=True)
class Errors:
    """How far one layout is from another, over the nodes that the other gives an area."""

    nodes: float
    factor: float
    """The median factor between the areas, at least 1."""
    within_two: float
    """The share of nodes whose areas differ by a factor of 2 at most."""
    order: float
    """The rank correlation of the areas, -1 … 1."""
    small_agree: float
    """The share of nodes that both find small, or both not: below 2000 square pixels."""
    left: float
    """The median distance of the left edges, in widths of the page."""
    upper: float
    """The median distance of the upper edges, in heights of the page, each in its own."""
    page_height: float
    """The factor between the heights of the page, at least 1."""


def compare(guess: Layout, measured: Layout) -> Errors | None:
    """The errors of a guess; None where nothing was measured to have an area."""
    chosen = (measured.area > 0) & (np.arange(len(measured.area)) > 0)
    if not chosen.any() or not measured.area[0] or not guess.area[0]:
        return None
    own, other = np.maximum(guess.area[chosen], 1.0), np.maximum(measured.area[chosen], 1.0)
    factor = np.exp(np.abs(np.log(own / other)))
    height = guess.height[0] / measured.height[0]
    return Errors(
        nodes=float(chosen.sum()),
        factor=float(np.median(factor)),
        within_two=float((factor <= 2).mean()),
        order=_rank_correlation(own, other),
        small_agree=float(((own < _SMALL) == (other < _SMALL)).mean()),
        left=_distance(guess.x / guess.width[0], measured.x / measured.width[0], chosen),
        upper=_distance(guess.y / guess.height[0], measured.y / measured.height[0], chosen),
        page_height=float(max(height, 1 / height)),
    )


def _distance(one: Floats, other: Floats, chosen: Flags) -> float:
    return float(np.median(np.abs(one - other)[chosen]))


def _rank_correlation(one: Floats, other: Floats) -> float:
    """Spearman's, equal values sharing their mean rank; 1 where one side is all equal."""
    own, its = _ranks(one), _ranks(other)
    if not own.std() or not its.std():
        return 1.0
    return float(np.corrcoef(own, its)[0, 1])


def _ranks(values: Floats) -> Floats:
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    means: Floats = (last - (counts - 1) / 2)[inverse]
    return means


def measure(browser: Browser, page: Page) -> Errors | None:
    """The errors of the estimate on one page; None for an empty page. Raises PageError."""
    tree = parse(browser.render(page, _PATIENT)).tree
    return None if tree.layout is None else compare(estimate(tree), tree.layout)


def mean_errors(errors: Sequence[Errors]) -> Errors:
    """The mean of each figure."""
    return Errors(*(
        float(np.mean([getattr(each, field.name) for each in errors])) for field in fields(Errors)
    ))  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Run the experiment and print its table; 1 if a corpus could not be read to its end.

    Raises UsageError for a corpus that does not exist, or without a browser.
    """
    caps = Caps(arguments.sites, arguments.pages)
    corpora = [open_corpus(name, caps) for name in arguments.corpora or CORPORA]
    if arguments.json is not None and not Path(arguments.json).absolute().parent.is_dir():
        raise UsageError(f"--json {arguments.json}: there is no such folder")
    reading = Reading([])
    found: dict[str, list[Errors]] = {}
    with Browser() as browser:
        for corpus in corpora:
            _measure_corpus(browser, corpus, found, reading)
    rows = {site: mean_errors(errors) for site, errors in found.items() if errors}
    if not rows:
        raise UsageError("no page that a browser gives an area")
    rows["all"] = mean_errors(list(rows.values()))
    show(render_layout(rows, markdown=arguments.markdown))
    return finish(arguments.json, {site: asdict(row) for site, row in rows.items()}, reading)


def _measure_corpus(
    browser: Browser, corpus: Corpus, found: dict[str, list[Errors]], reading: Reading
) -> None:
    """Add the errors of every page of the corpus to those of its site."""
    progress = Progress(sys.stderr)
    done = 0
    try:
        for site, golds in groupby(corpus.pages(), attrgetter("site")):
            found[site] = []
            for gold in golds:
                done += 1
                progress.show(corpus.name, done)
                _measure_page(browser, gold, found[site], reading)
    except SourceError as fault:
        reading.is_cut = True
        reading.notes.append(f"{fault}; what came before it was measured")
    progress.clear()


def _measure_page(browser: Browser, gold: GoldPage, errors: list[Errors], reading: Reading) -> None:
    """Add the errors of one page; a note where it cannot be shown."""
    try:
        figures = measure(browser, gold.page)
    except PageError as fault:
        reading.notes.append(f"{fault}: left out")
        return
    if figures is not None:
        errors.append(figures)


def render_layout(rows: dict[str, Errors], *, markdown: bool) -> str:
    """The table, one row a site."""
    header = ("site", "nodes", "area: factor", "within 2", "order", "small agree", "left", "upper",
              "page height: factor")  # fmt: skip
    cells = [
        (site, f"{row.nodes:.0f}", f"{row.factor:.2f}", percent(row.within_two),
         f"{row.order:.2f}", percent(row.small_agree), percent(row.left), percent(row.upper),
         f"{row.page_height:.2f}")
        for site, row in rows.items()
    ]  # fmt: skip
    return table(header, cells, markdown=markdown)
