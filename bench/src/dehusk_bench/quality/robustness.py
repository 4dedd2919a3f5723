"""`dehusk bench robustness`: what pages that do not belong to a site do to it."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from enum import StrEnum
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Final

import numpy as np

from dehusk.errors import PageError, SourceError
from dehusk.methods import Method
from dehusk.methods.written import parse_method
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk_bench.corpora import Caps, Corpus, GoldPage, Watcher, open_corpus, watch_nothing
from dehusk_bench.options import add_corpora, add_extent, add_methods, add_report
from dehusk_bench.peers.contenders import for_site, learner, read_folds, unseen_note
from dehusk_bench.quality.bootstrap import difference
from dehusk_bench.quality.scoring import ContentGold, content_gold, words
from dehusk_bench.showing import Progress
from dehusk_bench.tables import number, table

DESCRIPTION: Final = (
    "Put pages among those of a site that have not its template, and score the site's own pages:"
    " pages of another site (foreign), pages of text that never comes back (noise), and copies of"
    " the next page at other URLs, as sessions and calendars make them (copies), each as a tenth, a"
    " quarter, half and three quarters of all pages; and pages that are made to mislead (planted),"
    " as a twentieth and a fifth."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options of the experiment."""
    add_corpora(parser)
    add_methods(parser, "auto, segments and site-hash")
    parser.add_argument(
        "--folds",
        type=Path,
        metavar="DIR",
        help="judge with `auto` each site by a model that has not seen it, as for `dehusk bench"
        " quality`",
    )
    add_extent(parser)
    add_report(parser)


_METHODS: Final = ("auto", "segments", "site-hash")
SHARES: Final = (0.1, 0.25, 0.5, 0.75)
PLANTED_SHARES: Final = (0.05, 0.2)
_NOISE_LINES: Final = 60
_NOISE_WORDS: Final = 12
LEGEND: Final = (
    "F1 of content words of the site's own pages, averaged over them, then over sites; share: those"
    " that do not\nbelong, of all pages; change: against none of them, site by site, with the range"
    " in 95 of 100 draws of sites.\n"
)


class Kind(StrEnum):
    """What is mixed in."""

    NONE = "none"
    FOREIGN = "foreign"
    NOISE = "noise"
    COPIES = "copies"
    PLANTED = "planted"
    """The texts of the next page in reverse order: what it says stands where menus and footers do,
    and these stand where it says something."""


Mix = tuple[Kind, float]
Scores = dict[tuple[str, Mix], dict[str, float]]
"""F1 by site, by method and mix."""
MIXES: Final[tuple[Mix, ...]] = (
    (Kind.NONE, 0.0),
    *((kind, share) for kind in (Kind.FOREIGN, Kind.NOISE, Kind.COPIES) for share in SHARES),
    *((Kind.PLANTED, share) for share in PLANTED_SHARES),
)


def run(arguments: argparse.Namespace) -> int:
    """Run the experiment and print its tables; 1 if a corpus could not be read to its end.

    Raises UsageError for a corpus or a method that does not exist.
    """
    caps = Caps(arguments.sites, arguments.pages)
    corpora = [open_corpus(name, caps) for name in arguments.corpora or ("samples",)]
    methods = {name: parse_method(name) for name in arguments.methods or _METHODS}
    unseen = {} if arguments.folds is None else read_folds(arguments.folds)
    progress = Progress(sys.stderr)
    is_cut = False
    saved = {}
    for corpus in corpora:
        scores, fault = measure(corpus, methods, unseen, progress.show)
        progress.clear()
        is_cut |= fault is not None
        saved[corpus.name] = {f"{n}, {k}, {s:g}": sites for (n, (k, s)), sites in scores.items()}
        names = {site for each in scores.values() for site in each}
        sites = len(names)
        mark = "## " if arguments.markdown else ""
        sys.stdout.write(f"{mark}{corpus.name}: {sites} sites\n\n")
        sys.stdout.write(table(_HEADER, _rows(scores), markdown=arguments.markdown) + "\n")
        if arguments.folds is not None:
            sys.stdout.write(unseen_note(unseen, names) + "\n")
        sys.stdout.write(f"{fault}; what came before it was measured\n" if fault else "")
        sys.stdout.flush()
    sys.stdout.write(LEGEND)
    if arguments.json is not None:
        text = json.dumps(saved, ensure_ascii=False, indent=1)
        Path(arguments.json).write_text(text + "\n", "utf-8")
    return int(is_cut)


_HEADER: Final = ("mixed in", "share", "method", "F1", "change", "95 %", "verdict")


def _rows(scores: Scores) -> list[list[str]]:
    """A row for each mix and method."""
    rows = []
    for (name, mix), sites in sorted(scores.items(), key=lambda each: MIXES.index(each[0][1])):
        cells = [mix[0], f"{mix[1]:.0%}", name, number(fmean(sites.values()) if sites else None)]
        lost = difference(sites, scores[name, MIXES[0]])
        if mix[0] is Kind.NONE or lost is None:
            rows.append([*cells, "", "", ""])
        else:
            rows.append([*cells, f"{lost.mean:+.3f}", lost.range_text(), str(lost.verdict)])
    return rows


def measure(
    corpus: Corpus,
    methods: Mapping[str, Method],
    unseen: Mapping[str, Path],
    on_page: Watcher = watch_nothing,
    mixes: Sequence[Mix] = MIXES,
) -> tuple[Scores, SourceError | None]:
    """F1 of each site's own pages by method and mix, and what ended the corpus early, if it did."""
    scores: Scores = {}
    done = 0
    try:
        for golds, others in _sites(corpus):
            contents = {gold.number: content_gold(gold) for gold in golds}
            for name, written in methods.items():
                method = for_site(written, [gold.page for gold in golds], unseen.get(golds[0].site))
                for mix in mixes:
                    f1 = _site_f1(golds, contents, others, method, mix)
                    if f1 is not None:
                        scores.setdefault((name, mix), {})[golds[0].site] = f1
            done += len(golds)
            on_page(corpus.name, done)
    except SourceError as fault:
        return scores, fault
    return scores, None


def _sites(corpus: Corpus) -> Iterator[tuple[list[GoldPage], list[GoldPage]]]:
    """The pages of each site, and those of the one before it; of the second for the first."""
    first: list[GoldPage] = []
    before: list[GoldPage] = []
    for _, group in groupby(corpus.pages(), attrgetter("site")):
        golds = list(group)
        if first:
            yield first, golds
        if before:
            yield golds, before
        first, before = ([] if before else golds), golds
    if first:
        yield first, first


def _site_f1(
    golds: Sequence[GoldPage],
    contents: Mapping[int, ContentGold | None],
    others: Sequence[GoldPage],
    method: Method,
    mix: Mix,
) -> float | None:
    """The mean F1 of the site's own pages; None where nobody knows their content.

    `contents` has what they are scored against, by number of the page.
    """
    add = learner(method)
    scores = []
    for page, gold in mixed(golds, others, mix):
        answer: list[str] = []
        with suppress(PageError):
            answer = words(add(page)[0].text)
        content = None if gold is None else contents[gold.number]
        if content is not None:
            scores.append(content.score(answer).f1)
    return fmean(scores) if scores else None


def mixed(
    golds: Sequence[GoldPage], others: Sequence[GoldPage], mix: Mix
) -> Iterator[tuple[Page, GoldPage | None]]:
    """The site's pages with others before them, so many that these have their share of all so far,
    rounded."""
    kind, share = mix
    make = _makers(others)[kind] if kind is not Kind.NONE else None
    due = 0.5
    number = 0
    for gold in golds:
        due += share / (1 - share)
        while make is not None and due >= 1:
            due -= 1
            number += 1
            html = make(gold, number)
            url = f"https://{gold.site}/?number={number}"
            yield replace(gold.page, html=html, url=url), None
        yield gold.page, gold


def _makers(others: Sequence[GoldPage]) -> dict[Kind, Callable[[GoldPage, int], str]]:
    """What gives the HTML of a page that does not belong, by kind."""
    dice = Random(5)  # noqa: S311  nothing secret

    def noise(_: GoldPage, __: int) -> str:
        lines = (
            " ".join(f"{dice.getrandbits(40):x}" for _ in range(_NOISE_WORDS))
            for _ in range(_NOISE_LINES)
        )
        return "<!doctype html><title>x</title><p>" + "<p>".join(lines)

    return {
        Kind.FOREIGN: lambda _, number: others[number % len(others)].html,
        Kind.NOISE: noise,
        Kind.COPIES: lambda gold, _: gold.html,
        Kind.PLANTED: lambda gold, _: _reversed(gold.page),
    }


def _reversed(page: Page) -> str:
    """The page with its texts in reverse order."""
    try:
        tree = parse(page).tree
    except PageError:
        return ""
    texts = np.flatnonzero(tree.is_text & tree.shown & (tree.text_length > 0) & ~tree.raw)
    pieces, at = [], 0
    for place, text in zip(texts.tolist(), reversed(texts.tolist()), strict=True):
        pieces += [
            tree.source[at : tree.start[place]],
            tree.source[tree.start[text] : tree.stop[text]],
        ]
        at = tree.stop[place]
    return b"".join([*pieces, tree.source[at:]]).decode()
