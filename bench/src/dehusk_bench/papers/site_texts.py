"""What methods make of whole sites: each is learned first, then every page is asked about.

Site-level methods are run so in 003: on all the pages of a site, before any is used.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

import numpy as np

from dehusk.answer.labels import Labels, label
from dehusk.answer.text import text
from dehusk.errors import PageError, SourceError, UsageError
from dehusk.memory import Memory
from dehusk.methods import METHODS, Method, Smooths
from dehusk.methods.papers.hyperlink import Hyperlink
from dehusk.methods.smooth import smooth
from dehusk.methods.written import parse_method
from dehusk.page.parse import parse
from dehusk.page.tree import Tree
from dehusk.template.templates import PageLoader
from dehusk_bench.corpora import Caps, Corpus, GoldPage, Watcher, open_corpus, watch_nothing
from dehusk_bench.options import positive
from dehusk_bench.showing import Progress

FULL_TEXT: Final = "full text"
GOLD: Final = "gold"


@dataclass(frozen=True, slots=True)
class SiteTexts:
    """A site's pages that have a subject, and their texts by contender."""

    site: str
    subjects: tuple[str, ...]
    """What each page is about."""
    texts: dict[str, tuple[str, ...]]
    """By contender: the text of each page."""


@dataclass(slots=True)
class Reading:
    """What happened while corpora were read."""

    notes: list[str]
    is_cut: bool = False


def read_sites(
    corpora: Sequence[Corpus],
    methods: Sequence[str],
    reading: Reading,
    on_page: Watcher = watch_nothing,
) -> Iterator[SiteTexts]:
    """The sites of all corpora, cleaned by every method; `reading` says what could not be used.

    A page's subject is that of its record; if no page of a site has one, it is the site's genre,
    or else the part of the site's name before the first hyphen. Full text comes first, and gold,
    where all pages have it, last.
    """
    contenders = {name: parse_method(name) for name in methods}
    for corpus in corpora:
        done = 0
        try:
            for site, group in groupby(corpus.pages(), attrgetter("site")):
                golds = list(group)
                done += len(golds)
                yield _texts(site, golds, contenders, reading)
                on_page(corpus.name, done)
        except SourceError as fault:
            reading.is_cut = True
            reading.notes.append(f"{fault}; what came before it was used")


def _texts(
    site: str, golds: Sequence[GoldPage], methods: dict[str, Method], reading: Reading
) -> SiteTexts:
    """The texts of one site."""
    pages: list[tuple[GoldPage, Tree]] = []
    for gold in golds:
        try:
            pages.append((gold, parse(gold.page).tree))
        except PageError as fault:
            reading.notes.append(f"{fault}: left out")
    trees = [tree for _, tree in pages]
    named = golds[0].genre or site.partition("-")[0]
    own = named if all(gold.subject is None for gold in golds) else None
    chosen = [n for n, (gold, _) in enumerate(pages) if own or gold.subject]
    everything = [np.zeros(len(tree), np.int8) for tree in trees]
    texts = {FULL_TEXT: tuple(text(trees[n], everything[n]) for n in chosen)}
    for name, method in methods.items():
        follower = method
        if isinstance(method, Hyperlink):
            follower = replace(method, loader=PageLoader(gold.page for gold in golds))
        texts[name] = _answers(follower, trees, chosen)
    contents = [pages[n][0].content for n in chosen]
    if all(content is not None for content in contents):
        texts[GOLD] = tuple(content or "" for content in contents)
    subjects = tuple(own or str(pages[n][0].subject) for n in chosen)
    return SiteTexts(site, subjects, texts)


def _answers(method: Method, trees: Sequence[Tree], chosen: Sequence[int]) -> tuple[str, ...]:
    """The content of the chosen pages, by a memory that has learned them all."""
    memory = Memory()
    for tree in trees:
        memory = method.learn(memory, tree)
    return tuple(_content(method, memory, trees[n]) for n in chosen)


def _content(method: Method, memory: Memory, tree: Tree) -> str:
    """The content of a page that the memory knows already."""
    return text(tree, labels_of(method, memory, tree).labels)


def labels_of(method: Method, memory: Memory, tree: Tree) -> Labels:
    """What a method calls the nodes of a page that the memory knows already, as `dehusk.clean`."""
    scores, sections = method.score(memory, tree), None
    if isinstance(method, Smooths):
        smoothed = smooth(tree, scores, method.smoothing(memory, tree))
        scores, sections = smoothed.scores, smoothed.sections
    return label(tree, scores, sections)


def add_dressing(parser: argparse.ArgumentParser, about: str) -> None:
    """Give the parser `--dressed` and `--lang`; `about` says what becomes of the sites."""
    parser.add_argument(
        "--dressed",
        type=positive,
        metavar="N",
        help=f"{about}; of a corpus whose gold says where content stands (default: as they are)",
    )
    parser.add_argument("--lang", metavar="LANG", help="use pages in this language only")


def open_all(
    arguments: argparse.Namespace, default: Sequence[str], dress: Callable[[Corpus, int], Corpus]
) -> tuple[list[Corpus], list[str], Reading, Progress]:
    """The corpora and methods that the options name, and where what happens is noted.

    Raises UsageError for one that does not exist.
    """
    caps = Caps(arguments.sites, arguments.pages)
    corpora = [open_corpus(name, caps) for name in arguments.corpora or default]
    if arguments.lang is not None:
        corpora = [_in_language(corpus, arguments.lang) for corpus in corpora]
    if arguments.dressed is not None:
        corpora = [dress(corpus, arguments.dressed) for corpus in corpora]
    if arguments.json is not None and not Path(arguments.json).absolute().parent.is_dir():
        raise UsageError(f"--json {arguments.json}: there is no such folder")
    methods = list(dict.fromkeys(arguments.methods)) or list(METHODS)
    return corpora, methods, Reading([]), Progress(sys.stderr)


def _in_language(corpus: Corpus, lang: str) -> Corpus:
    """The pages of a corpus that are in the language."""

    def records() -> Iterator[dict[str, Any]]:
        return (record for record in corpus.records() if record.get("lang") == lang)

    return replace(corpus, records=records)


def show(text: str) -> None:
    """Write a table to standard output at once."""
    sys.stdout.write(text)
    sys.stdout.flush()


def percent(share: float) -> str:
    """The share in per cent, with one digit behind the point."""
    return f"{share:.1%}"


def finish(file: str | None, figures: object, reading: Reading) -> int:
    """Write the figures and the notes; the exit status of the experiment."""
    for note in reading.notes:
        sys.stderr.write(f"dehusk: {note}\n")
    if file is not None:
        Path(file).write_text(json.dumps(figures, ensure_ascii=False, indent=1) + "\n", "utf-8")
    return int(reading.is_cut)
