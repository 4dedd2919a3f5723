"""`dehusk bench confidence`: does `auto` know how good it is, and are comments found apart?"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from statistics import fmean
from typing import Final

import numpy as np

from dehusk.answer.result import Result
from dehusk.errors import PageError, SourceError
from dehusk.methods import DEFAULT
from dehusk.methods.written import parse_method
from dehusk_bench.corpora import Caps, Corpus, GoldPage, Watcher, open_corpus, watch_nothing
from dehusk_bench.options import add_corpora, add_extent, add_folds, add_report
from dehusk_bench.peers.contenders import for_site, learner, read_folds
from dehusk_bench.quality.scoring import content_gold, words
from dehusk_bench.showing import Progress, check_file, save, show
from dehusk_bench.tables import number, table

DESCRIPTION: Final = (
    "Compare the confidence of `auto` with the F1 that a page came to, by tenths of the pages, the"
    " least sure first; and what it gives as comments with the comments that are known. Each site"
    " is learned from nothing, in order."
)
LEGEND: Final = (
    "confidence, F1: means of the pages of a tenth; of the loss: the tenth's share of all that is"
    " missing to an F1 of 1.\ncomments: F1 of words, mean over the pages whose gold has comments"
    " of 20 words or more, and is not a forum's; found:\nshare of these pages on"
    " which some of them were found.\n"
)
_TENTHS: Final = 10
_LEAST: Final = 20


@dataclass(slots=True)
class Tally:
    """What was found on the pages of a corpus."""

    corpus: str
    pages: list[tuple[float, float]] = field(default_factory=list)
    """The confidence of each page, and its F1."""
    comments: list[float] = field(default_factory=list)
    """F1 of the comments of each page that has some."""
    fault: SourceError | None = None

    def add(self, gold: GoldPage, result: Result) -> None:
        """Count a page."""
        content = content_gold(gold)
        if content is not None and result.confidence is not None:
            self.pages.append((result.confidence, content.score(words(result.text)).f1))
        wanted = Counter(words(gold.comments or ""))
        if wanted.total() >= _LEAST and gold.genre != "forum":
            found = Counter(words(result.comments or ""))
            common = (found & wanted).total()
            self.comments.append(2 * common / (found.total() + wanted.total()))

    def tenths(self) -> list[dict[str, float]]:
        """Means by tenths of the pages, the least sure first."""
        ordered = sorted(self.pages)
        loss = sum(1 - f1 for _, f1 in ordered) or 1.0
        parts = np.array_split(np.arange(len(ordered)), min(_TENTHS, len(ordered)) or 1)
        found = [[ordered[place] for place in part] for part in parts if len(part)]
        return [
            {
                "pages": len(part),
                "confidence": fmean(sure for sure, _ in part),
                "F1": fmean(f1 for _, f1 in part),
                "of the loss": sum(1 - f1 for _, f1 in part) / loss,
            }
            for part in found
        ]

    def figures(self) -> dict[str, object]:
        """All of it as plain numbers."""
        found = sum(f1 > 0 for f1 in self.comments)
        comments = {"pages": len(self.comments), "found": found, "F1": _mean(self.comments)}
        return {"corpus": self.corpus, "tenths": self.tenths(), "comments": comments}


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options of the experiment."""
    add_corpora(parser)
    add_folds(parser)
    add_extent(parser)
    add_report(parser)


def run(arguments: argparse.Namespace) -> int:
    """Measure and print the tables; 1 if a corpus could not be read to its end."""
    check_file(arguments.json)
    caps = Caps(arguments.sites, arguments.pages)
    corpora = [open_corpus(name, caps) for name in arguments.corpora or ("samples",)]
    unseen = {} if arguments.folds is None else read_folds(arguments.folds)
    progress = Progress(sys.stderr)
    tallies = []
    for corpus in corpora:
        tallies.append(measure(corpus, unseen, progress.show))
        progress.clear()
        show(_tables(tallies[-1], markdown=arguments.markdown))
    if len(tallies) > 1:
        tallies.append(_together(tallies))
        show(_tables(tallies[-1], markdown=arguments.markdown))
    show(LEGEND)
    save(arguments.json, [tally.figures() for tally in tallies])
    return int(any(tally.fault is not None for tally in tallies))


def measure(corpus: Corpus, unseen: Mapping[str, Path], on_page: Watcher = watch_nothing) -> Tally:
    """What `auto` says of the pages of a corpus."""
    tally, done = Tally(corpus.name), 0
    try:
        for site, golds in groupby(corpus.pages(), attrgetter("site")):
            add = learner(for_site(parse_method(DEFAULT), [], unseen.get(site)))
            for gold in golds:
                done += 1
                try:
                    tally.add(gold, add(gold.page)[0])
                except PageError:
                    continue  # A page that is refused states no confidence.
                on_page(corpus.name, done)
    except SourceError as fault:
        tally.fault = fault
    return tally


def _together(tallies: Sequence[Tally]) -> Tally:
    """The tallies of several corpora as one."""
    return Tally(
        "all",
        [page for tally in tallies for page in tally.pages],
        [f1 for tally in tallies for f1 in tally.comments],
    )


def _tables(tally: Tally, *, markdown: bool) -> str:
    heads = ("pages", "confidence", "F1", "of the loss")
    rows = [
        [str(row["pages"]), *(number(row[head]) for head in heads[1:])] for row in tally.tenths()
    ]
    shown = f"{tally.corpus}\n{table(heads, rows, markdown=markdown)}\n"
    if tally.comments:
        found = fmean(f1 > 0 for f1 in tally.comments)
        row = [str(len(tally.comments)), number(found), number(_mean(tally.comments))]
        shown += f"{table(('pages with comments', 'found', 'F1'), [row], markdown=markdown)}\n"
    return shown
