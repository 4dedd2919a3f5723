"""`dehusk bench robustness`: what pages that do not belong to a site do to it."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from statistics import fmean
from typing import Final, NamedTuple

from dehusk.errors import PageError, SourceError
from dehusk.methods import Method
from dehusk.methods.written import parse_method
from dehusk_bench.corpora import Caps, Corpus, GoldPage, Watcher, open_corpus, watch_nothing
from dehusk_bench.options import add_corpora, add_extent, add_folds, add_methods, add_report
from dehusk_bench.peers.contenders import for_site, learner, read_folds, unseen_note
from dehusk_bench.quality.bootstrap import difference
from dehusk_bench.quality.disturbances import MIXES, Kind, Mix, MixedPage, mixed
from dehusk_bench.quality.redesigns import alarms
from dehusk_bench.quality.scoring import ContentGold, bag_score, content_gold, words
from dehusk_bench.showing import Progress
from dehusk_bench.tables import number, table

DESCRIPTION: Final = (
    "Disturb the crawl of a site, and score the site's own pages. Put among them pages of another"
    " site (foreign), pages of text that never comes back (noise), pages that are made to mislead"
    " (planted), copies of pages at the same and other URLs, with a counter, a date or a tenth of"
    " the words changed (copies), pages that share three quarters of what they say (variants), and"
    " pages under /v1/, /v2/ and so on (versions), as shares of all pages; or put each of"
    " six sections of content into a share of the pages (sections). With `auto`, count how often"
    " `template_changed` is true on the sites as they are, and once they are redesigned."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options of the experiment."""
    add_corpora(parser)
    add_methods(parser, "auto, segments and site-hash")
    add_folds(parser)
    add_extent(parser)
    add_report(parser)


_METHODS: Final = ("auto", "segments", "site-hash")
_MUCH: Final = 0.3
LEGEND: Final = (
    "F1 of content words of the site's own pages, averaged over them, then over sites; share: those"
    " that do not\nbelong, of all pages; or own pages that have a section; change: against none of"
    " them, site by site, with the range in\n95 of 100 draws of sites. Against the same crawl"
    " without them, in means of pages, then of sites, on copies, variants\nand versions too: lost:"
    " share of the content's words in the answers that is gone; emptied: share of answers that"
    " lost\nmore than 30 % of them; agreement: F1 of the words in the answers on the site's own"
    " pages.\n"
)


class Effect(NamedTuple):
    """What a mix does to a site, in means over its pages."""

    f1: float
    lost: float
    """The share of the content's words in the undisturbed answers that is gone."""
    emptied: float
    """The share of answers that lost more than 30 % of them."""
    agreement: float
    """F1 of the words of the answers on own pages against the undisturbed answers."""


Scores = dict[tuple[str, Mix], dict[str, Effect]]
"""What became of each site, by method and mix."""


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
        saved[corpus.name] = {
            f"{n}, {k}, {s:g}": _json(sites) for (n, (k, s)), sites in scores.items()
        }
        names = {site for each in scores.values() for site in each}
        sites = len(names)
        mark = "## " if arguments.markdown else ""
        sys.stdout.write(f"{mark}{corpus.name}: {sites} sites\n\n")
        sys.stdout.write(table(_HEADER, _rows(scores), markdown=arguments.markdown) + "\n")
        if arguments.folds is not None:
            sys.stdout.write(unseen_note(unseen, names) + "\n")
        sys.stdout.write(f"{fault}; what came before it was measured\n" if fault else "")
        if "auto" in methods and fault is None:
            sys.stdout.write(f"{alarms(corpus, methods['auto'])}\n\n")
        sys.stdout.flush()
    sys.stdout.write(LEGEND)
    if arguments.json is not None:
        text = json.dumps(saved, ensure_ascii=False, indent=1)
        Path(arguments.json).write_text(text + "\n", "utf-8")
    return int(is_cut)


_HEADER: Final = (
    "mixed in", "share", "method", "F1", "change", "95 %", "verdict", *Effect._fields[1:],
)  # fmt: skip


def _json(sites: Mapping[str, Effect]) -> dict[str, dict[str, float]]:
    return {site: effect._asdict() for site, effect in sites.items()}


def _rows(scores: Scores) -> list[list[str]]:
    """A row for each mix and method."""
    rows = []
    for (name, mix), sites in sorted(scores.items(), key=lambda each: MIXES.index(each[0][1])):
        f1, before = (
            {site: effect.f1 for site, effect in scores[name, each].items()}
            for each in (mix, MIXES[0])
        )
        cells = [mix[0], f"{mix[1]:.0%}", name, number(fmean(f1.values()))]
        change = difference(f1, before)
        if mix[0] is Kind.NONE or change is None:
            rows.append([*cells, *[""] * (len(_HEADER) - 4)])
            continue
        means = map(fmean, list(zip(*sites.values(), strict=True))[1:])
        range_text = change.range_text()
        rows.append(
            [*cells, f"{change.mean:+.3f}", range_text, change.verdict, *map(number, means)]
        )
    return rows


def measure(
    corpus: Corpus,
    methods: Mapping[str, Method],
    unseen: Mapping[str, Path],
    on_page: Watcher = watch_nothing,
    mixes: Sequence[Mix] = MIXES,
) -> tuple[Scores, SourceError | None]:
    """What mixes do to each site, by method, and what ended the corpus early, if something did."""
    scores: Scores = {}
    done = 0
    try:
        for golds, others in _sites(corpus):
            contents = {gold.number: content_gold(gold) for gold in golds}
            for name, written in methods.items():
                method = for_site(written, [gold.page for gold in golds], unseen.get(golds[0].site))
                undisturbed: dict[int, list[str]] = {}
                for mix in (MIXES[0], *(mix for mix in mixes if mix != MIXES[0])):
                    pages = mixed(golds, others, mix)
                    effect = _effect(pages, contents, method, undisturbed)
                    if effect is not None:
                        scores.setdefault((name, mix), {})[golds[0].site] = effect
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


def _effect(
    pages: Iterable[MixedPage],
    contents: Mapping[int, ContentGold | None],
    method: Method,
    undisturbed: dict[int, list[str]],
) -> Effect | None:
    """What became of a site's pages; None where nobody knows the content of any.

    `contents` has what they are scored against, and `undisturbed` the answers of the crawl that
    has nothing mixed in, by number of the page: that crawl comes first and fills it.
    """
    add = learner(method)
    f1, lost, agreement = [], [], []
    for page, gold, is_own, changed, added in pages:
        answer: list[str] = []
        with suppress(PageError):
            answer = words(add(page)[0].text)
        content = None if gold is None else contents[gold.number]
        if gold is None or content is None:
            continue
        before = undisturbed.setdefault(gold.number, answer)
        kept = (content.bag(before) & content.words).elements()
        wanted = Counter(changed.get(word, word) for word in kept) + Counter(added)
        lost.append((wanted - Counter(answer)).total() / max(wanted.total(), 1))
        if is_own:
            agreement.append(bag_score(Counter((*before, *added)), Counter(answer)).f1)
            content = replace(content, words=content.words + Counter(added))
            f1.append(content.score(answer).f1)
    if not f1:
        return None
    return Effect(fmean(f1), fmean(lost), fmean(each > _MUCH for each in lost), fmean(agreement))
