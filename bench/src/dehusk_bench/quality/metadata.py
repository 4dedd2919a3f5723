"""`dehusk bench metadata`: how often title, author and date are right."""

from __future__ import annotations

import argparse
import logging
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from statistics import fmean
from typing import Final

from dehusk.errors import PageError, SourceError
from dehusk.methods import DEFAULT, Method
from dehusk.methods.written import parse_method
from dehusk.page.page import Page
from dehusk_bench.corpora import Caps, Corpus, GoldPage, Watcher, open_corpus, watch_nothing
from dehusk_bench.options import add_corpora, add_extent, add_folds, add_report
from dehusk_bench.peers.contenders import for_site, learner, read_folds
from dehusk_bench.peers.pages import load_all
from dehusk_bench.quality.facts import (
    FIELDS,
    Facts,
    Outcome,
    gold_facts,
    outcome,
    stated_facts,
    without_stated,
)
from dehusk_bench.quality.metadata_fit import fit_weights
from dehusk_bench.showing import Progress, check_file, save, show, warn
from dehusk_bench.tables import number, table

DESCRIPTION: Final = (
    "Compare title, author and date of publication with what is known of the pages, each site"
    " learned from nothing, in order: the shares that are right, wrong and missing. trafilatura and"
    " htmldate answer beside dehusk where they are installed."
)
ALL: Final = "all"
LEGEND: Final = (
    "right, wrong, missing: shares of the pages whose fact is known; by site: right, averaged over"
    " the pages of a\nsite, then over sites; 1-5, 6+: right on the first five pages of a site, and"
    " from the sixth on.\ntitle: the same words in the same order; author: the same set of names,"
    " whatever their order, case and accents;\npublished: the same day, as written or in UTC.\n"
)
Answer = Callable[[Page], Mapping[str, str | None]]
"""Answers on the pages of one site, in order; a field that is not there is not asked for."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options of the experiment."""
    add_corpora(parser)
    add_folds(parser)
    parser.add_argument(
        "--no-peers", action="store_true", help="measure dehusk alone, which is far quicker"
    )
    parser.add_argument(
        "--fit",
        action="store_true",
        help="fit the weights of what speaks for a date or an author, and show by folds of sites"
        " what they come to",
    )
    parser.add_argument(
        "--hide-stated",
        action="store_true",
        help="hide what pages state of date and author for machines alone, and take that for what"
        " is known: shows what the places are worth that sites have taught",
    )
    add_extent(parser)
    add_report(parser)


def run(arguments: argparse.Namespace) -> int:
    """Measure and print the tables; 1 if a corpus could not be read to its end.

    Raises UsageError for a corpus that does not exist.
    """
    check_file(arguments.json)
    caps = Caps(arguments.sites, arguments.pages)
    corpora = [open_corpus(name, caps) for name in arguments.corpora or ("samples",)]
    progress = Progress(sys.stderr)
    if arguments.fit:
        show(fit_weights(corpora, progress.show))
        return 0
    peers: Mapping[str, Answer] = {}
    if not arguments.no_peers:
        peers, notes = load_all(PEERS)
        warn(notes)
    unseen = {} if arguments.folds is None else read_folds(arguments.folds)
    tallies = []
    for corpus in corpora:
        hides = arguments.hide_stated
        tallies.append(measure(corpus, peers, unseen, progress.show, hides_stated=hides))
        progress.clear()
        show(_table(tallies[-1], markdown=arguments.markdown))
    if len(tallies) > 1:
        show(_table(_together(tallies), markdown=arguments.markdown))
    show(LEGEND)
    save(arguments.json, [tally.figures() for tally in tallies])
    return int(any(tally.fault is not None for tally in tallies))


def _load_trafilatura() -> Answer:
    """trafilatura's metadata, as its own command gives them."""
    module = import_module("trafilatura.metadata")
    _hush()

    def answer(page: Page) -> Mapping[str, str | None]:
        found = module.extract_metadata(str(page.html), default_url=page.url)
        return {"title": found.title, "author": found.author, "published": found.date}

    return answer


def _load_htmldate() -> Answer:
    """The original date that htmldate finds."""
    module = import_module("htmldate")
    _hush()

    def answer(page: Page) -> Mapping[str, str | None]:
        found = module.find_date(str(page.html), original_date=True, url=page.url)
        return {"published": found}

    return answer


def _hush() -> None:
    for name in ("trafilatura", "htmldate"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


PEERS: Final = {"trafilatura": _load_trafilatura, "htmldate": _load_htmldate}
"""Those that tell a page's title, author or date, and how to load them."""


class Tally:
    """Outcomes of a corpus by contender and field."""

    def __init__(self, corpus: str) -> None:
        self.corpus = corpus
        self.pages = 0
        self.fault: SourceError | None = None
        self.rows: dict[tuple[str, str], list[tuple[str, int, Outcome]]] = {}
        """Of each contender and field, the site, the place in it, and the outcome of each page."""

    def add(self, gold: GoldPage, name: str, said: Mapping[str, str | None], known: Facts) -> None:
        """Count what a contender says of a page; what it is not asked for does not count."""
        for field in FIELDS:
            if field in known and field in said:
                row = (gold.site, gold.number, outcome(field, said[field], known[field]))
                self.rows.setdefault((name, field), []).append(row)

    def figures(self) -> dict[str, object]:
        """The shares by contender and field."""
        shares = {f"{name}, {field}": _shares(rows) for (name, field), rows in self.rows.items()}
        return {"corpus": self.corpus, "pages": self.pages, "figures": shares}


def _shares(rows: Sequence[tuple[str, int, Outcome]]) -> dict[str, float | None]:
    """The shares of each outcome, over pages, over sites, and late in a site."""
    counts = Counter(each for _, _, each in rows)
    ordered = sorted(rows, key=lambda row: row[0])
    sites = [_right(list(group)) for _, group in groupby(ordered, lambda row: row[0])]
    early, late = ([row for row in rows if (row[1] > 5) is is_late] for is_late in (False, True))
    shares: dict[str, float | None] = {each: counts[each] / len(rows) for each in Outcome}
    return {
        "pages": len(rows), **shares, "by site": fmean(sites),
        "1-5": _right(early) if early else None, "6+": _right(late) if late else None,
    }  # fmt: skip


def _right(rows: Sequence[tuple[str, int, Outcome]]) -> float:
    return fmean(row[2] is Outcome.RIGHT for row in rows)


def measure(
    corpus: Corpus,
    peers: Mapping[str, Answer],
    unseen: Mapping[str, Path],
    on_page: Watcher = watch_nothing,
    *,
    hides_stated: bool = False,
) -> Tally:
    """What dehusk and its peers say of the pages of a corpus whose facts are known.

    With `hides_stated` what they state of date and author is known, and they come without it; each
    page alone is a contender then.
    """
    tally = Tally(corpus.name)
    try:
        for golds in _sites(corpus):
            site = for_site(parse_method(DEFAULT), [], unseen.get(golds[0].site))
            contenders = {"dehusk": _dehusk(learner(site)), **peers}
            if hides_stated:
                contenders["each page alone"] = _alone(site)
            for gold in golds:
                known = stated_facts(gold.page) if hides_stated else gold_facts(gold)
                page = without_stated(gold.page) if hides_stated else gold.page
                for name, answer in contenders.items():
                    tally.add(gold, name, _said(answer, page), known)
                tally.pages += 1
            on_page(corpus.name, tally.pages)
    except SourceError as fault:
        tally.fault = fault
    return tally


def _sites(corpus: Corpus) -> Iterator[list[GoldPage]]:
    for _, group in groupby(corpus.pages(), attrgetter("site")):
        yield list(group)


def _dehusk(add: Callable[[Page], tuple[object, object]]) -> Answer:
    """What dehusk says, each page learned first."""

    def answer(page: Page) -> Mapping[str, str | None]:
        result, _ = add(page)
        return {field: getattr(result, field) for field in FIELDS}

    return answer


def _alone(method: Method) -> Answer:
    """What dehusk says of each page as if it were its site's first."""

    def answer(page: Page) -> Mapping[str, str | None]:
        return _dehusk(learner(method))(page)

    return answer


def _said(answer: Answer, page: Page) -> Mapping[str, str | None]:
    """The answer on a page; nothing is said on one that breaks the contender."""
    try:
        return answer(page)
    except PageError:
        return dict.fromkeys(FIELDS)
    except Exception as fault:  # noqa: BLE001  a peer that breaks has no answer
        warn([f"{page.url}: {type(fault).__name__}: {fault}"])
        return dict.fromkeys(FIELDS)


def _together(tallies: Sequence[Tally]) -> Tally:
    """The tallies of several corpora as one."""
    whole = Tally(ALL)
    for tally in tallies:
        whole.pages += tally.pages
        for key, rows in tally.rows.items():
            whole.rows.setdefault(key, []).extend(rows)
    return whole


def _table(tally: Tally, *, markdown: bool) -> str:
    """The figures of a corpus as a table."""
    mark = "## " if markdown else ""
    header = ("", "pages", *Outcome, "by site", "1-5", "6+")
    rows = []
    for field in FIELDS:
        for (name, of), found in tally.rows.items():
            if of == field:
                shares = _shares(found)
                cells = [number(shares[each]) for each in (*Outcome, "by site", "1-5", "6+")]
                rows.append([f"{field}, {name}", f"{len(found):,}", *cells])
    fault = f"{tally.fault}; what came before it was measured\n" if tally.fault else ""
    body = table(header, rows, markdown=markdown) if rows else "nothing is known of its pages\n"
    return f"{mark}{tally.corpus}: {tally.pages:,} pages\n\n{body}\n{fault}"
