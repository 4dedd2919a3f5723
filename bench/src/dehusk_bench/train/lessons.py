"""Pages with gold, read once, as the rows that the networks of `auto` are fitted to."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from dehusk import _kernel
from dehusk.errors import PageError, UsageError
from dehusk.memory import Memory
from dehusk.methods.auto import Auto, copies_of
from dehusk.methods.auto.features import (  # fmt: skip
    PAGE_FEATURES,
    SITE_FEATURES,
    columns_by_name,
    width,
)
from dehusk.methods.auto.model import Lexicon, Matrix
from dehusk.page.parse import parse
from dehusk.page.tree import Floats, Tree
from dehusk_bench.corpora import Corpus, GoldPage, Watcher
from dehusk_bench.train.fit import Numbers
from dehusk_bench.train.gold import BlockGold, block_gold

PAGE_COLUMNS: Final = columns_by_name(PAGE_FEATURES)
SITE_COLUMNS: Final = columns_by_name(SITE_FEATURES)


@dataclass(frozen=True, slots=True, eq=False)
class GoldReading:
    """A page as `auto` reads it, and its gold."""

    corpus: str
    site: str
    group: str
    """What stays together in a fold: the pages of one site, or of all sites of one generator."""
    number: int
    tree: Tree
    reading: _kernel.Reading
    gold: BlockGold
    type: str | None
    kind: str
    """What kind of page it is, by which pages are balanced: a key of `KINDS`."""
    lang: str | None

    @property
    def features(self) -> Matrix:
        """What the page network reads."""
        return np.asarray(self.reading.page_features)


def read_corpora(corpora: Sequence[Corpus], on_page: Watcher, max_pages: int) -> list[GoldReading]:
    """The first pages of each site that can be read and have gold, in order."""
    found: list[GoldReading] = []
    for corpus in corpora:
        name = corpus.name.partition(":")[0]
        for done, page in enumerate(corpus.pages(), 1):
            reading = _gold_reading(name, page) if page.number <= max_pages else None
            if reading is not None:
                found.append(reading)
            on_page(corpus.name, done)
    return _with_generators(found)


def _with_generators(pages: list[GoldReading]) -> list[GoldReading]:
    """The pages with one group per site, also where one corpus says its generator and another not,
    or has another name for it.

    Else a network could be tested on a site that it was fitted to.
    """
    groups = {_bare(page.site): page.group for page in pages if page.group != page.site}
    return [replace(page, group=groups.get(_bare(page.site), _bare(page.group))) for page in pages]


def _bare(site: str) -> str:
    return site.removeprefix("www.")


_SILENT_WORDS: Final = Lexicon({}, {})


def read_plain(tree: Tree) -> _kernel.Reading:
    """The page as `auto` reads it if no word tells anything."""
    return _kernel.read(tree.kernel, _SILENT_WORDS.kernel)


def _gold_reading(corpus: str, page: GoldPage) -> GoldReading | None:
    """The page as `auto` reads it; None for one without blocks or gold."""
    try:
        tree = parse(page.page).tree
    except PageError:
        return None
    reading = read_plain(tree)
    gold = block_gold(page, tree, reading) if len(reading) else None
    if gold is None:
        return None
    group = f"generator {page.generator}" if page.generator else page.site
    kind = kind_of(corpus, page)
    type_ = page.type or _TYPES.get(kind)
    return GoldReading(
        corpus, page.site, group, page.number, tree, reading, gold, type_, kind, page.lang
    )


KINDS: Final = {
    "article": 3.0,
    "news": 2.0,
    "blog": 1.0,
    "documentation": 2.5,
    "reference": 2.5,
    "facts": 1.5,
    "forum": 1.5,
    "product": 1.5,
    "listing": 1.0,
    "collection": 1.0,
    "service": 1.0,
    "organisation": 1.5,
    "wiki": 0.5,
    "record": 3.5,
}
"""How much the pages of each kind count together."""
CORPORA: Final = {"samples": 0.3}
"""How much a site of these counts, beside one of another corpus: made ones are much alike."""
_REFERENCES: Final = (
    "Doxygen", "Javadoc", "Groovydoc", "gtk-doc", "rustdoc", "Haddock", "fpdoc", "Nim docgen",
    "odoc", "ocamldoc", "pydoctor", "PasDoc",
)  # fmt: skip
"""Generators that make pages of a program's parts, out of its source."""
_GENRES: Final = {
    "lifestyle": "blog", "shop": "product", "event": "organisation", "museum": "organisation",
    "education": "organisation", "company": "service",
}  # fmt: skip
_TYPES: Final = {"documentation": "documentation", "reference": "documentation", "forum": "forum"}


def kind_of(corpus: str, page: GoldPage) -> str:
    """The kind of a page: by its type and its site's genre or generator, else by its corpus."""
    if page.genre:
        return _GENRES.get(page.genre, page.genre) if page.genre not in KINDS else page.genre
    if page.type:
        return "news" if page.source == "fundus" else page.type
    if corpus in _CORPORA:
        return _CORPORA[corpus]
    if page.generator:
        return "reference" if page.generator.startswith(_REFERENCES) else "documentation"
    return "article"


_CORPORA: Final = {"news-dev": "news", "swde-dev": "record", "facts-dev": "facts"}


def folds_of(pages: Iterable[GoldReading], count: int, seed: int) -> dict[str, int]:
    """The fold of each group: as many pages of each corpus in every fold.

    UsageError where there are fewer groups than folds.
    """
    sizes: dict[str, Counter[str]] = {}
    for page in pages:
        sizes.setdefault(page.group, Counter())[page.corpus] += 1
    if len(sizes) < count:
        raise UsageError(f"{len(sizes)} sites: for {count} folds there must be as many at least")
    groups = sorted(sizes)
    random.Random(seed).shuffle(groups)  # noqa: S311  the same folds on every run, no secret
    load: Counter[tuple[str, int]] = Counter()
    pages_of: Counter[int] = Counter()
    folds: dict[str, int] = {}
    for group in sorted(groups, key=lambda group: -sizes[group].total()):
        fold = min(
            range(count),
            key=lambda number: (
                sum(load[corpus, number] for corpus in sizes[group]), pages_of[number], number,
            ),
        )  # fmt: skip
        folds[group] = fold
        pages_of[fold] += sizes[group].total()
        for corpus, size in sizes[group].items():
            load[corpus, fold] += size
    return folds


def page_weights(pages: Sequence[GoldReading], factors: Mapping[str, float]) -> Floats:
    """How much each page counts: less where its site, its corpus or its kind has many.

    A kind counts by its factor in `KINDS`, whatever number of pages it has. Within it a corpus
    counts by the square root of its sites times its factor, and a site by that of its pages: many
    of a kind teach more than few, but not in proportion.
    """
    cells = [(page.kind, page.corpus, page.site) for page in pages]
    per_site = Counter(cells)
    sites = Counter((kind, corpus) for kind, corpus, _ in per_site)
    sums: Counter[str] = Counter()
    weight = np.zeros(len(pages))
    for place, (kind, corpus, site) in enumerate(cells):
        count = per_site[kind, corpus, site]
        factor = factors.get(corpus, CORPORA.get(corpus, 1.0))
        weight[place] = factor * sites[kind, corpus] ** -0.5 * count**-0.5
        sums[kind] += weight[place]
    weight *= [KINDS.get(page.kind, 1.0) / sums[page.kind] for page in pages]
    return np.asarray(weight / weight.mean())


def site_features(
    pages: Iterable[GoldReading], logits: Sequence[Floats], types: Floats
) -> Iterator[tuple[Matrix, Matrix]]:
    """What the site network reads of each page, the pages of a site learned in order; and what it
    would read if no other page were known.
    """
    method = Auto()
    site, memory = ("", ""), Memory()
    for page, logit, own_types in zip(pages, logits, types, strict=True):
        if (page.corpus, page.site) != site:
            site, memory = (page.corpus, page.site), Memory()
        opinion = _kernel.opinion_of_logits(page.reading, np.ascontiguousarray(logit))
        own = Memory(1, opinion.lesson)
        if (news := method.news(memory, own)) is not None:
            memory = method.limit(memory.then(news))
        copies = max(copies_of(memory, own), 1)
        together, alone = (
            _kernel.site_features(page.reading, opinion, known.tables, known.pages, own_types, each)
            for known, each in ((memory, copies), (own, 1))
        )
        yield _rows_of(together), _rows_of(alone)


def _rows_of(found: bytearray) -> Matrix:
    return np.frombuffer(found, np.float32).reshape(-1, width(SITE_FEATURES))


def block_targets(page: GoldReading, rows: Matrix) -> tuple[Floats, Floats]:
    """What share of each block is content (nan: unknown), and how much the block counts.

    Words count by what they cost in F1: the fewer words the content has, the more each. Where only
    phrases are known, a block with one counts more. Where these are values that must survive, the
    block that is newest of those with a value is content, what stands at its place on most pages is
    template, what no other page has is content as well, with less weight.
    """
    gold = page.gold
    total = gold.words.sum()
    size = total / 2 if np.isnan(gold.content_words) else gold.content_words
    weight = np.maximum(gold.words, 0.3) / max(size, total / 4, 30)
    if np.isnan(gold.content_words):
        if not gold.dropped:
            return _value_targets(page, rows, weight)
        weight *= _VALUE_WEIGHT
    is_known = gold.known & (gold.words > 0)
    return np.where(is_known, gold.hits / np.maximum(gold.words, 1), np.nan), weight


_VALUE_WEIGHT, _NEW_WEIGHT = 6.0, 0.75
"""9 instead of 6 kept 0.010 more of the values of swde-dev, and lost 0.002 to 0.004 on held-out
sites of the other corpora."""
_AS_NEW = 0.05


def _value_targets(page: GoldReading, rows: Matrix, weight: Floats) -> tuple[Floats, Floats]:
    """Targets of a page of which only some values are known to be content."""
    pages, known, given_place, anywhere = (
        rows[:, SITE_COLUMNS[f"evidence.{name}"].start]
        for name in ("pages", "known", "given_place", "anywhere")
    )
    count, hits, values = page.gold.words, page.gold.hits, page.gold.values
    # A value may stand in a menu too: where it differs most from page to page, it is meant.
    has_value = np.zeros(len(count), np.bool_)
    for holders in values:
        has_value[holders[given_place[holders] <= given_place[holders].min() + _AS_NEW]] = True
    is_fixed = ~has_value & (given_place > 0.8) & (pages >= np.log1p(5))
    linked = page.features[:, PAGE_COLUMNS["text.link_share"].start]
    is_new = (known < 0.05) & (anywhere < 0.3) & (linked < 0.6) & (pages >= np.log1p(4))
    is_new &= (hits == 0) & (count > 0)
    share = np.full(len(count), np.nan)
    share[is_fixed], share[is_new], share[has_value] = 0.0, 1.0, 1.0
    factor = np.where(has_value, _VALUE_WEIGHT, np.where(is_new, _NEW_WEIGHT, 1.0))
    return share, weight * factor


_SILENT, _LIE, _CLAIM = 0.4, 0.15, 0.03


def lied(rows: Numbers, columns: Mapping[str, slice], random: np.random.Generator) -> Numbers:
    """The rows as if the page stated another `articleBody`, or none: now and then.

    Few pages state one and hardly any of these lies; but what a page states of itself must not
    decide, or whoever writes it would.
    """
    in_body, body_share, has_body = (
        columns[f"stated.{name}"].start for name in ("in_body", "body_share", "has_body")
    )
    has_stated = bool(rows[0, has_body])
    chance = random.random()
    if chance >= (_SILENT + _LIE if has_stated else _CLAIM):
        return rows
    rows = rows.copy()
    if has_stated and chance < _SILENT:
        rows[:, [in_body, body_share, has_body]] = 0
    elif has_stated:
        rows[:, in_body] = 1 - rows[:, in_body]
        rows[:, body_share] = 1 - rows[:, body_share]
    else:
        first, last = np.sort(random.integers(0, len(rows) + 1, 2))
        rows[first:last, in_body] = 1
        rows[:, body_share], rows[:, has_body] = (last - first) / len(rows), 1
    return rows
