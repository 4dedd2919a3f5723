"""How well the template and the main content of key pages are found: the figures of `bench teco`.

Nodes are counted in two ways. By ours they are elements that carry or enclose shown text or an
image: the gold says nothing of others. By the papers' they are `<html>` and all that the DOM has as
`childNodes`: every element, `<head>`, scripts and styles too (section 1.3 of the thesis), and every
text, white space as well (definition 3.2.1 takes a node's place from `childNodes`). What stands
above the content is template: in table 6.2 template and main content make up all nodes of many a
page. The DOM's comments are left out, as no tree of dehusk's has them.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from statistics import fmean
from typing import Any, Final, TypeAlias

import numpy as np

from dehusk.answer.labels import Label
from dehusk.doors.service.gold import Score, score
from dehusk.memory import Memory
from dehusk.methods import Method
from dehusk.methods.auto import Auto
from dehusk.methods.papers.hyperlink import (
    BEST,
    Equality,
    Hyperlink,
    PageVerdict,
    detect,
    normal_url,
)
from dehusk.methods.papers.hyperlink.addresses import Addresses
from dehusk.methods.papers.hyperlink.links import find_links, sort_links
from dehusk.methods.papers.hyperlink.vote import holds_any
from dehusk.page.tree import Flags, Tree
from dehusk_bench.corpora import Watcher, watch_nothing
from dehusk_bench.papers.site_texts import labels_of
from dehusk_bench.papers.teco_pages import KeyPage
from dehusk_bench.quality.scoring import bag_score, words

SIZES: Final = range(1, 9)
"""The sizes of tables 5.2 and 5.3 of the thesis, and of table 2 of 001."""

_PRINTED: Final = ("printed_nodes", "printed_template", "printed_content")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of table 1 of 001, and of the tables beside it.

    Elements above the content count as template in `teco_f1` and `dom_…` only.
    """

    site: str
    type: str
    url: str
    nodes: int
    """Those of the next figures are elements that carry or enclose shown text or an image."""
    template: int
    retrieved: int
    hits: int
    recall: float
    precision: float
    f1: float
    teco_f1: float
    loads: int
    requests: int
    """Loads, and links that led nowhere or to a page that was known."""
    ms: float
    dom_nodes: int
    """By the papers' count, as are the next six."""
    dom_template: int
    dom_retrieved: int
    dom_hits: int
    dom_recall: float
    dom_precision: float
    dom_f1: float
    content: int | None = None
    """Elements of the main content; None, as all that follows, where it is not known."""
    content_retrieved: int | None = None
    """Elements neither called template nor above what is."""
    content_hits: int | None = None
    content_recall: float | None = None
    content_precision: float | None = None
    content_f1: float | None = None
    words_recall: float | None = None
    """Of the words of the main content, as bags, against those of texts not called template."""
    words_precision: float | None = None
    words_f1: float | None = None
    dom_content: int | None = None
    """Nodes of the main content by the papers' count."""
    printed_nodes: int | None = None
    """What table 6.2 of the thesis has for `dom_nodes`; the next two alike. None for its others."""
    printed_template: int | None = None
    printed_content: int | None = None


@dataclass(frozen=True, slots=True)
class FewLoads:
    """A method that learns only the pages that the search of `hyperlink.BEST` loads.

    What `BEST` gains over `auto` with the same pages is what its votes are worth.
    """

    method: Method


@dataclass(frozen=True, slots=True, eq=False)
class _Answer:
    """Which nodes are called template, after how many loads, and how long it took.

    What is never shown is called template, as `hyperlink` calls it: it is nobody's content.
    """

    called: Flags
    loads: int
    requests: int
    ms: float


_Load: TypeAlias = Callable[[str], Tree | None]


class _Clock:
    """CPU time since its start, without the time that loading takes."""

    def __init__(self, load: _Load) -> None:
        self._load = load
        self._start = time.process_time()

    def load(self, url: str) -> Tree | None:
        """Load a page while the clock stands."""
        before = time.process_time()
        page = self._load(url)
        self._start += time.process_time() - before
        return page

    @property
    def ms(self) -> float:
        """What the clock shows."""
        return 1000 * (time.process_time() - self._start)


def run_teco(
    keys: Iterable[KeyPage], method: Method | FewLoads, *, on_page: Watcher = watch_nothing
) -> list[Row]:
    """A row for each key page that has template. Hyperlink is given each page's loader.

    Any other method first learns the pages that the key page links, each once, in the order of
    Algorithm 1, then the key page.
    """
    rows = []
    for done, key in enumerate(keys, 1):
        if key.gold.template.any():
            answer = _ask(method, key)
            content = {} if key.content is None else _content_figures(key, key.content, answer)
            rows.append(replace(_row(key, answer), **content))
        on_page(key.site, done)
    return rows


def _ask(method: Method | FewLoads, key: KeyPage) -> _Answer:
    """The method's answer on one key page."""
    clock, find = _Clock(key.load), _linked
    if isinstance(method, FewLoads):
        method, find = method.method, _searched
    if isinstance(method, Auto | Hyperlink) and key.model is not None:
        method = replace(method, model=str(key.model))
    if isinstance(method, Hyperlink):
        found = detect(replace(method, loader=clock.load), key.tree)
        return _Answer(found.is_template, found.loads, found.requests, clock.ms)
    pages, requests = find(key, clock.load)
    memory = Memory()
    for page in (*pages, key.tree):
        memory = method.learn(memory, page)
    called = labels_of(method, memory, key.tree).labels != Label.CONTENT.value
    return _Answer(np.asarray(called), 1 + len(pages), requests, clock.ms)


def _linked(key: KeyPage, load: _Load) -> tuple[Sequence[Tree], int]:
    """The pages that the key page links, and how many were asked for, the key page included.

    Links may lead to a page that is known, or back to the key page: these are not loaded twice.
    """
    pages = {normal_url(key.tree.url or ""): key.tree}
    links = find_links(key.tree, Addresses()).inside
    for link in sort_links(key.tree, links, key.tree.url or ""):
        page = load(link.url)
        if page is not None:
            pages.setdefault(normal_url(page.url or link.url), page)
    return list(pages.values())[1:], 1 + len(links)


def _searched(key: KeyPage, load: _Load) -> tuple[Sequence[Tree], int]:
    """The same of the pages that the search of `hyperlink.BEST` loads. Its votes cost time too."""
    pages: dict[str, Tree | None] = {}

    def keep(url: str) -> Tree | None:
        pages[url] = load(url)
        return pages[url]

    settings = {**BEST, "page_verdict": PageVerdict.OFF}
    found = detect(Hyperlink(**settings, loader=keep), key.tree)
    loaded = [page for url, page in pages.items() if page is not None and url not in found.failed]
    return loaded, found.requests


def _row(key: KeyPage, answer: _Answer) -> Row:
    """The figures of one key page, those of the main content aside."""
    gold, judged = key.gold, key.gold.judged
    called = judged & answer.called
    return Row(
        key.site,
        key.type,
        key.tree.url or "",
        nodes=_count(judged),
        template=_count(gold.template),
        **_figures(gold.template, called),
        teco_f1=_score(gold.template | gold.above, called).f1,
        loads=answer.loads,
        requests=answer.requests,
        ms=answer.ms,
        dom_nodes=len(key.tree),
        dom_template=_count(~key.not_template),
        **_figures(~key.not_template, answer.called, "dom_"),
        **dict(zip(_PRINTED, key.printed.nodes if key.printed else (), strict=False)),
    )


def _content_figures(key: KeyPage, content: Flags, answer: _Answer) -> dict[str, Any]:
    """How well what is not called template is the main content, by elements and by words."""
    tree, judged, called = key.tree, key.gold.judged, answer.called
    gold, kept = judged & content, judged & ~holds_any(tree, judged & called)
    texts = tree.is_text & tree.shown & (tree.text_length > 0)
    by_words = bag_score(_words(tree, texts & content), _words(tree, texts & ~called))
    return {
        "content": _count(gold),
        "dom_content": _count(content),
        **_figures(gold, kept, "content_"),
        **{f"words_{name}": value for name, value in by_words._asdict().items()},
    }


def _words(tree: Tree, texts: Flags) -> Counter[str]:
    return Counter(
        word for node in np.flatnonzero(texts).tolist() for word in words(tree.text(node))
    )


def _figures(gold: Flags, called: Flags, prefix: str = "") -> dict[str, Any]:
    """The nodes retrieved, those of them that are right, and the score, by the names of `Row`."""
    figures = {"retrieved": _count(called), "hits": _count(gold & called)}
    return {
        prefix + name: value for name, value in (figures | _score(gold, called)._asdict()).items()
    }


def _score(gold: Flags, called: Flags) -> Score:
    return score(_count(gold & called), _count(gold), _count(called))


def _count(flags: Flags) -> int:
    return int(np.count_nonzero(flags))


def run_sweep(
    keys: Sequence[KeyPage], method: Hyperlink, *, on_page: Watcher = watch_nothing
) -> dict[tuple[int, int], list[Row]]:
    """The rows for every size and number of votes."""
    swept: dict[tuple[int, int], list[Row]] = {}
    for size in SIZES:
        sized = replace(method, size=size, votes=1)
        by_votes = run_votes(keys, sized, range(1, size + 1), on_page=on_page)
        swept |= {(size, votes): rows for votes, rows in by_votes.items()}
    return swept


def run_votes(
    keys: Iterable[KeyPage],
    method: Hyperlink,
    votes: Iterable[int],
    *,
    on_page: Watcher = watch_nothing,
) -> dict[int, list[Row]]:
    """The rows of `run_teco` for each number of votes, without figures of the main content.

    By the paper a page's votes do not depend on how many are needed, so that they are counted once;
    the time is that of the count.
    """
    methods = [replace(method, votes=number) for number in votes]
    is_own = method.menu or method.content_first or method.page_verdict != PageVerdict.OFF
    by_count = method.equality == Equality.PAPER and not is_own
    found: dict[int, list[Row]] = {each.votes: [] for each in methods}
    for done, key in enumerate((key for key in keys if key.gold.template.any()), 1):
        answers = _count_once(key, methods) if by_count else (_ask(each, key) for each in methods)
        for rows, answer in zip(found.values(), answers, strict=True):
            rows.append(_row(key, answer))
        on_page(key.site, done)
    return found


def _count_once(key: KeyPage, methods: Sequence[Hyperlink]) -> Iterator[_Answer]:
    """The answers of methods that differ in the votes they need, out of one count."""
    clock = _Clock(key.load)
    found = detect(replace(methods[0], loader=clock.load), key.tree)
    ms = clock.ms
    for method in methods:
        needed = min(method.votes, len(found.pages)) or 1
        yield _Answer(np.asarray(found.votes >= needed), found.loads, found.requests, ms)


def means(rows: Sequence[Row]) -> dict[str, float]:
    """Each figure's mean over the key pages that have it, as 001 has it; empty without rows."""
    found: dict[str, float] = {}
    for field in fields(Row):
        values = [getattr(row, field.name) for row in rows]
        numbers = [float(value) for value in values if isinstance(value, int | float)]
        if numbers:
            found[field.name] = fmean(numbers)
    return found
