"""How good the answers are: every contender on every page of a corpus, in one pass, in order."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from dehusk.answer.labels import Label
from dehusk.doors.service.gold import NodeGold, node_gold, teco_score, template_score
from dehusk.errors import SourceError
from dehusk.page.page import Page
from dehusk.page.tree import Tree
from dehusk_bench.corpora import Corpus, GoldPage, Watcher, watch_nothing
from dehusk_bench.peers.contenders import Answer, Ask, Contender
from dehusk_bench.quality.averages import MAIN, Averages, Figure, place_of
from dehusk_bench.quality.bootstrap import SiteValue
from dehusk_bench.quality.scoring import (
    ContentGold,
    Phrases,
    comment_lines,
    content_gold,
    find_phrases,
    words,
)

GOLD = "gold"
"""The row of the gold itself, for its number of words."""


class By(StrEnum):
    """What figures can be broken down by."""

    SITE = "site"
    LANG = "lang"
    TYPE = "type"
    GENERATOR = "generator"
    GENRE = "genre"
    SOURCE = "source"
    PLACE = "place"


@dataclass(slots=True)
class Report:
    """What was measured on one corpus."""

    corpus: str
    pages: int = 0
    sites: int = 0
    averages: dict[str, Averages] = field(default_factory=dict)
    """By contender."""
    groups: dict[str, dict[str, Averages]] = field(default_factory=dict)
    """By group and contender, where figures were to be broken down."""
    curves: dict[str, dict[str, dict[int, float]]] = field(default_factory=dict)
    """F1 of each page, by contender, site and number of the page."""
    failures: dict[tuple[str, str], int] = field(default_factory=dict)
    """How often a contender gave no answer, by its name and the error's."""
    notes: list[str] = field(default_factory=list)
    is_cut: bool = False
    """Did the corpus end in an error?"""

    @property
    def main_figure(self) -> Figure:
        """What the contenders are compared by."""
        found = (each for each in MAIN if any(a.sites(each) for a in self.averages.values()))
        return next(found, MAIN[0])

    @property
    def site_names(self) -> set[str]:
        """The sites that a contender was measured on."""
        return {site for found in self.averages.values() for site in found.by_site()}


def run_quality(
    corpora: Sequence[Corpus],
    contenders: Sequence[Contender],
    *,
    by: By | None = None,
    on_page: Watcher = watch_nothing,
) -> Iterator[Report]:
    """A report on each corpus in turn.

    On each page every contender answers before the next page comes. What a contender learns is
    forgotten at the end of a site. `on_page` is told the corpus and the pages done so far.
    """
    for corpus in corpora:
        report = Report(corpus.name)
        try:
            _measure(corpus, contenders, report, by, on_page)
        except SourceError as fault:
            report.is_cut = True
            report.notes.append(f"{fault}; what came before it was measured")
        yield report


def _measure(
    corpus: Corpus,
    contenders: Sequence[Contender],
    report: Report,
    by: By | None,
    on_page: Watcher,
) -> None:
    """Put every page of the corpus to every contender."""
    needs_pages = any(contender.needs_pages for contender in contenders)
    for _, group in groupby(corpus.pages(), attrgetter("site")):
        golds: Iterable[GoldPage] = group
        pages: list[Page] = []
        if needs_pages:
            golds = list(golds)
            pages = [gold.page for gold in golds]
        asks = {contender.name: contender.start(pages) for contender in contenders}
        report.sites += 1
        for gold in golds:
            _measure_page(gold, asks, report, by)
            on_page(corpus.name, report.pages)


def _measure_page(gold: GoldPage, asks: Mapping[str, Ask], report: Report, by: By | None) -> None:
    """Put one page to every contender."""
    costs: dict[str, float] = {}
    answers = {name: _answer(ask, gold, name, report, costs) for name, ask in asks.items()}
    for name, figures in _page_figures(gold, answers, report).items():
        if name in costs:
            figures[Figure.CPU_MS] = costs[name]
        _add(report, by, name, gold, figures)
    report.pages += 1


def _answer(
    ask: Ask, gold: GoldPage, name: str, report: Report, costs: dict[str, float]
) -> Answer | None:
    """The contender's answer, its CPU time noted; None, and counted, where it fails."""
    before = time.process_time()
    try:
        answer = ask(gold.page)
        if answer.is_timed:
            costs[name] = 1000 * (time.process_time() - before)
        return answer
    except Exception as fault:  # noqa: BLE001  whatever a peer raises is a page without an answer
        key = (name, type(fault).__name__)
        report.failures[key] = report.failures.get(key, 0) + 1
        return None


def _add(
    report: Report, by: By | None, name: str, gold: GoldPage, figures: Mapping[Figure, SiteValue]
) -> None:
    """Count a page's figures for the corpus, and for its group."""
    tables = [report.averages]
    if by is not None:
        group = place_of(gold.number) if by is By.PLACE else getattr(gold, by)
        tables.append(report.groups.setdefault(str(group), {}))
    for table in tables:
        table.setdefault(name, Averages()).add(gold.site, gold.number, figures)
    f1 = figures.get(Figure.F1)
    if isinstance(f1, float):
        report.curves.setdefault(name, {}).setdefault(gold.site, {})[gold.number] = f1


def _page_figures(
    gold: GoldPage, answers: Mapping[str, Answer | None], report: Report
) -> dict[str, dict[Figure, SiteValue]]:
    """What is measured on one page, by contender."""
    content = content_gold(gold)
    nodes = _nodes(gold, answers, report)
    figures: dict[str, dict[Figure, SiteValue]] = {}
    for name, answer in answers.items():
        figures[name] = _text_figures(gold, content, words(answer.text if answer else ""))
        figures[name][Figure.FAILED] = float(answer is None)
        if answer is not None and answer.state_bytes is not None:
            figures[name][Figure.STATE_BYTES] = answer.state_bytes
        if nodes is not None and answer is not None:
            figures[name] |= _node_figures(nodes, answer)
    if content is not None:
        figures[GOLD] = {Figure.WORDS: float(content.words.total())}
    return figures


def _text_figures(
    gold: GoldPage, content: ContentGold | None, answer: list[str]
) -> dict[Figure, SiteValue]:
    """What is measured on the text of an answer."""
    figures: dict[Figure, SiteValue] = {Figure.WORDS: float(len(answer))}
    if content is not None:
        result = content.score(answer)
        figures |= {
            Figure.PRECISION: result.precision,
            Figure.RECALL: result.recall,
            Figure.F1: result.f1,
        }
    kept, left = (find_phrases(each, answer) for each in (gold.must_keep, gold.must_drop or ()))
    comments = find_phrases(gold.comments_snippets or comment_lines(gold), answer)
    shares = {Figure.KEPT: kept.share, Figure.LEFT: left.share, Figure.COMMENTS: comments.share}
    figures |= {figure: share for figure, share in shares.items() if share is not None}
    if kept.count and gold.must_drop is not None:
        figures |= _snippet_figures(kept, left.found)
    return figures


def _snippet_figures(kept: Phrases, left: int) -> dict[Figure, SiteValue]:
    """What a page adds to precision, recall and F1 of the snippets of all pages."""
    return {
        Figure.SNIPPET_PRECISION: (kept.found, kept.found + left),
        Figure.SNIPPET_RECALL: (kept.found, kept.count),
        Figure.SNIPPET_F1: (2 * kept.found, kept.found + left + kept.count),
    }


def _nodes(gold: GoldPage, answers: Mapping[str, Answer | None], report: Report) -> NodeGold | None:
    """The gold of the page's nodes. One tree serves all: the parser is the same for all methods."""
    if gold.content_nodes is None:
        return None
    for answer in answers.values():
        if answer is not None and answer.tree is not None:
            nodes = node_gold(answer.tree, gold.content_nodes, gold.excluded_nodes)
            if nodes is None:
                report.notes.append(f"{gold.page.url}: a path of its gold leads nowhere")
            return nodes
    return None


def _node_figures(gold: NodeGold, answer: Answer) -> dict[Figure, SiteValue]:
    """What is measured on the labels of an answer; nothing where it has none."""
    tree, labels = answer.tree, answer.labels
    if tree is None or labels is None:
        return {}
    if not gold.template.any():
        return {Figure.WRONG: wrong_share(gold, tree, labels)}
    result, teco = template_score(gold, tree, labels), teco_score(gold, tree, labels)
    return {
        Figure.TEMPLATE_PRECISION: result.precision,
        Figure.TEMPLATE_RECALL: result.recall,
        Figure.TEMPLATE_F1: result.f1,
        Figure.TECO_PRECISION: teco.precision,
        Figure.TECO_RECALL: teco.recall,
        Figure.TECO_F1: teco.f1,
    }


def wrong_share(gold: NodeGold, tree: Tree, labels: NDArray[np.int8]) -> float:
    """The share of the judged elements that are called template; 0 if there are none.

    For pages without template, where it is the share of errors.
    """
    called = gold.judged & ~tree.is_text & (labels == Label.TEMPLATE.value)
    return int(np.count_nonzero(called)) / max(int(np.count_nonzero(gold.judged)), 1)
