"""`dehusk bench ablation`: what the parts of a method are worth, without training it anew."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from dehusk.errors import PageError
from dehusk.memory import Memory
from dehusk.methods import Method
from dehusk.methods.written import parse_method
from dehusk.page.page import Page
from dehusk.pipeline import Setup, as_learned, clean, learn
from dehusk_bench.corpora import Caps, open_corpus
from dehusk_bench.options import add_corpora, add_extent, add_folds, add_report
from dehusk_bench.peers.contenders import (
    Answer,
    Ask,
    Contender,
    for_site,
    learner,
    read_folds,
    unseen_note,
)
from dehusk_bench.quality.averages import Place
from dehusk_bench.quality.bootstrap import Interval, difference
from dehusk_bench.quality.measure import Report, run_quality
from dehusk_bench.quality.report import LEGEND, NAMES, quality_json, render_report
from dehusk_bench.showing import Progress
from dehusk_bench.tables import number, table

DESCRIPTION: Final = (
    "Take parts of `auto` away and see what is lost: the site (each page judged alone), the order"
    " (two passes: all pages learned before the first is asked about), most of the memory, ageing;"
    " and what its presets change. `dehusk train auto --without` leaves out inputs of the networks."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options of the experiment."""
    add_corpora(parser)
    add_folds(parser)
    add_extent(parser)
    add_report(parser)


_OURS: Final = "auto"
_ALONE: Final = "each page alone"
_SETTINGS: Final = {
    "no ageing": "auto:ages=false",
    "a twentieth of the memory": "auto:max_segments=1000,max_places=300",
    "favour precision": "auto:favour=precision",
    "favour recall": "auto:favour=recall",
}
"""What only takes a setting."""


def run(arguments: argparse.Namespace) -> int:
    """Run the experiment and print its tables; 1 if a corpus could not be read to its end.

    Raises UsageError for a corpus that does not exist.
    """
    caps = Caps(arguments.sites, arguments.pages)
    corpora = [open_corpus(name, caps) for name in arguments.corpora or ("samples",)]
    reports: list[Report] = []
    progress = Progress(sys.stderr)
    for report in run_quality(corpora, variants(arguments.folds), on_page=progress.show):
        progress.clear()
        if arguments.folds is not None:
            report.notes.append(unseen_note(read_folds(arguments.folds), report.site_names))
        reports.append(report)
        sys.stdout.write(render_report(report, markdown=arguments.markdown) + "\n")
        sys.stdout.flush()
    sys.stdout.write(memory_table(reports, markdown=arguments.markdown) + LEGEND)
    if arguments.json is not None:
        text = json.dumps(quality_json(reports), ensure_ascii=False, indent=1)
        Path(arguments.json).write_text(text + "\n", "utf-8")
    return int(any(report.is_cut for report in reports))


def memory_table(reports: Sequence[Report], *, markdown: bool = False) -> str:
    """What the memory of a site is worth on each corpus, and where it is worth least.

    Pages judged together against each page alone; and the pages from the 20th on against the first
    five, on the sites that have both.
    """
    rows: list[list[str]] = []
    worst: list[tuple[float, str]] = []
    for report in reports:
        if not report.pages:
            continue
        figure, ours = report.main_figure, report.averages[_OURS]
        alone = report.averages[_ALONE]
        won = difference(ours.site_values(figure), alone.site_values(figure))
        later = difference(
            ours.site_values(figure, Place.LATE), ours.site_values(figure, Place.EARLY)
        )
        means = (number(each.mean(figure)) for each in (ours, alone))
        rows.append([report.corpus, NAMES[figure], *means, *_cells(won), *_cells(later)])
        if won is not None:
            worst.append((won.mean, report.corpus))
    header = ["corpus", "figure", "together", "alone", "together − alone", "95 %", "verdict",
              "sites", "20+ − 1–5", "its 95 %", "its verdict", "sites with 20+"]  # fmt: skip
    mark = "## " if markdown else ""
    title = f"{mark}Pages together against each page alone\n\n"
    least = "Least on {1}: {0:+.3f}\n\n".format(*min(worst)) if worst else ""
    return f"{title}{table(header, rows, markdown=markdown)}\n{least}"


def _cells(found: Interval | None) -> list[str]:
    """A difference with its range and verdict; dashes where there is none."""
    if found is None:
        return [number(None)] * 4
    return [f"{found.mean:+.3f}", found.range_text(), str(found.verdict), str(found.sites)]


def variants(folds: Path | None = None) -> list[Contender]:
    """`auto` as it is, then with parts of it taken away."""
    unseen = {} if folds is None else read_folds(folds)

    def contender(
        name: str, written: str, start: Callable[[Method, Sequence[Page]], Ask]
    ) -> Contender:
        method = parse_method(written)

        def begin(pages: Sequence[Page]) -> Ask:
            model = unseen.get(pages[0].site or "") if pages else None
            return start(for_site(method, pages, model), pages)

        return Contender(name, begin, needs_pages=True)

    return [
        contender(_OURS, "auto", _one_pass),
        contender(_ALONE, "auto", _alone),
        contender("two passes", "auto", _two_passes),
        *(contender(name, written, _one_pass) for name, written in _SETTINGS.items()),
    ]


def _one_pass(method: Method, _: Sequence[Page]) -> Ask:
    """Page by page, each learned as it comes."""
    add = learner(method)

    def ask(page: Page) -> Answer:
        result, memory = add(page)
        state = memory.size_bytes / memory.pages
        return Answer(result.text, result.tree, result.labels.labels, state)

    return ask


def _alone(method: Method, _: Sequence[Page]) -> Ask:
    """Each page as if it were the first of its site."""

    def ask(page: Page) -> Answer:
        result, _ = learner(method)(page)
        return Answer(result.text, result.tree, result.labels.labels, 0.0)

    return ask


def _two_passes(method: Method, pages: Sequence[Page]) -> Ask:
    """All pages are learned before the first is asked about; on the first, so that it counts."""
    setup = Setup(method)
    known: list[Memory] = []

    def ask(page: Page) -> Answer:
        if not known:
            memory = Memory()
            for each in pages:
                with suppress(PageError):
                    memory = learn(each, memory, setup).memory
            known.append(memory)
        result, (memory, _) = clean(page, known[0], setup, as_learned)
        state = memory.size_bytes / max(memory.pages, 1)
        return Answer(result.text, result.tree, result.labels.labels, state)

    return ask
