"""What the table of `segments` costs and finds under different settings: the experiment of 002.

All settings see a page before the next one comes, so that a page is parsed once. A site is learned
from nothing by each of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from statistics import fmean
from typing import Final

import numpy as np

from dehusk.answer.labels import Label, label
from dehusk.answer.text import text
from dehusk.doors.service.gold import node_gold
from dehusk.errors import PageError, SourceError
from dehusk.memory import Memory
from dehusk.methods.papers.chunks.cutting import block_numbers
from dehusk.methods.papers.segments import SEPARATORS, Segments
from dehusk.page import tags
from dehusk.page.parse import parse
from dehusk.page.tree import Flags, Ints, Tree
from dehusk_bench.corpora import Corpus, GoldPage, Watcher, watch_nothing
from dehusk_bench.quality.scoring import bag_score, words

BATCH: Final = 24
"""Pages that the batch methods of 002 had to cache, on average (section 3)."""

SEPARATOR_LISTS: Final[dict[str, tuple[str, ...]]] = {
    "default": SEPARATORS,
    "named": ("div", "table"),
    "layout": (
        "article", "aside", "body", "center", "details", "dialog", "div", "fieldset", "footer",
        "form", "header", "hr", "iframe", "main", "nav", "search", "section", "table", "td", "th",
    ),
    "lists": (
        "article", "aside", "body", "center", "details", "dialog", "div", "dl", "fieldset",
        "footer", "form", "header", "hr", "iframe", "main", "menu", "nav", "ol", "pre", "search",
        "section", "select", "table", "td", "th", "ul",
    ),
    "block": (*tags.BLOCK, "td", "th"),
}  # fmt: skip
"""Separating tags by name: the default ones; the two that 002 names; layout alone; layout and whole
lists; all that stands on lines of its own."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A method with settings, under the name of its list of separating tags."""

    separators: str
    method: Segments


def make_variants(
    base_lives: Sequence[float], life_factors: Sequence[float], separators: Sequence[str]
) -> list[Variant]:
    """All combinations, behind one without ageing for each list of separating tags."""
    variants = []
    for name in separators:
        tag_names = SEPARATOR_LISTS[name]
        variants.append(Variant(name, Segments(separators=tag_names, ages=False)))
        variants += [
            Variant(name, Segments(base_life=life, life_factor=factor, separators=tag_names))
            for life in base_lives
            for factor in life_factors
        ]
    return variants


@dataclass(slots=True)
class Hits:
    """What is template by the gold, what was called so, and where both agree."""

    template: int = 0
    called: int = 0
    found: int = 0

    def add(self, is_template: Flags, is_called: Flags, weight: Ints | None = None) -> None:
        """Count these, each as much as it weighs."""
        weights = np.ones(len(is_template), np.int32) if weight is None else weight
        self.template += int(weights[is_template].sum())
        self.called += int(weights[is_called].sum())
        self.found += int(weights[is_template & is_called].sum())

    @property
    def recall(self) -> float | None:
        """The share of template that was found; None where there is none."""
        return self.found / self.template if self.template else None

    @property
    def precision(self) -> float | None:
        """The share of template in what was called so; None where nothing was."""
        return self.found / self.called if self.called else None


@dataclass(slots=True)
class Tally:
    """What one variant did on one site."""

    sizes: list[int] = field(default_factory=list)
    """Bytes of the table after each page: the s_i of section 3."""
    page_bytes: list[int] = field(default_factory=list)
    f1: list[float] = field(default_factory=list)
    blocks: Hits = field(default_factory=Hits)
    """By block, as people labelled them for 002; a block is what most of its text is."""
    text: Hits = field(default_factory=Hits)
    """By character."""

    @property
    def average_size(self) -> float:
        """AverageSize = Σ s_i / Σ 1, in bytes (section 3)."""
        return fmean(self.sizes)

    @property
    def batch_share(self) -> float:
        """The average size as a share of what a batch of 24 pages would cache."""
        return self.average_size / (BATCH * fmean(self.page_bytes))

    @property
    def content_f1(self) -> float | None:
        """The mean of the pages' F1 of content words; None where there is no gold."""
        return fmean(self.f1) if self.f1 else None


SiteTallies = dict[str, list[Tally]]
"""By site, a tally for each variant."""


def measure(
    corpus: Corpus, variants: Sequence[Variant], on_page: Watcher = watch_nothing
) -> tuple[SiteTallies, SourceError | None]:
    """The tallies of all sites of a corpus, and what ended it early, if anything did.

    Pages that cannot be used are passed over.
    """
    sites: SiteTallies = {}
    memories: list[Memory] = []
    try:
        for done, gold in enumerate(corpus.pages(), 1):
            if gold.site not in sites:
                sites[gold.site] = [Tally() for _ in variants]
                memories = [Memory() for _ in variants]
            with suppress(PageError):
                tree = parse(gold.page).tree
                memories = _add_page(gold, tree, variants, memories, sites[gold.site])
            on_page(corpus.name, done)
    except SourceError as fault:
        return _measured(sites), fault
    return _measured(sites), None


def _measured(sites: SiteTallies) -> SiteTallies:
    """The sites of which a page could be used."""
    return {site: tallies for site, tallies in sites.items() if tallies[0].sizes}


def _add_page(
    gold: GoldPage,
    tree: Tree,
    variants: Sequence[Variant],
    memories: Sequence[Memory],
    tallies: Sequence[Tally],
) -> list[Memory]:
    """The memories after a page; what was found on it is added to the tallies."""
    is_template = template_text(gold, tree)
    content = None if gold.content is None else Counter(words(gold.content))
    page_bytes = len(gold.html.encode("utf-8", "surrogatepass"))
    after = []
    for variant, memory, tally in zip(variants, memories, tallies, strict=True):
        learned = variant.method.learn(memory, tree)
        labels = label(tree, variant.method.score(learned, tree)).labels
        tally.sizes.append(learned.size_bytes)
        tally.page_bytes.append(page_bytes)
        if content is not None:
            answer = Counter(words(text(tree, labels)))
            tally.f1.append(bag_score(content, answer).f1)
        if is_template is not None:
            _count(tally, variant, tree, is_template, labels == Label.TEMPLATE.value)
        after.append(learned)
    return after


def _count(
    tally: Tally, variant: Variant, tree: Tree, is_template: Flags, is_called: Flags
) -> None:
    """Compare what was called template with the gold, by block and by character."""
    text = np.flatnonzero(tree.is_text & tree.shown & (tree.text_length > 0))
    length = tree.text_length[text]
    tally.text.add(is_template[text], is_called[text], length)
    add_blocks(tally.blocks, tree, variant.method.separators, is_template, is_called)


def add_blocks(
    hits: Hits, tree: Tree, separators: Sequence[str], is_template: Flags, is_called: Flags
) -> None:
    """Count the page's blocks, each of which is what most of its text is."""
    text = np.flatnonzero(tree.is_text & tree.shown & (tree.text_length > 0))
    length = tree.text_length[text]
    block = block_numbers(tree, tuple(separators))[text]
    whole = np.bincount(block, length)
    template = np.bincount(block, length * is_template[text])
    called = np.bincount(block, length * is_called[text])
    hits.add((whole > 0) & (2 * template > whole), (whole > 0) & (2 * called > whole))


def template_text(gold: GoldPage, tree: Tree) -> Flags | None:
    """True for what stands outside the content by the gold; None where nobody says."""
    if gold.content_nodes is None:
        return None
    nodes = node_gold(tree, gold.content_nodes, gold.excluded_nodes)
    return None if nodes is None else (nodes.template | nodes.above)[tree.parent]


@dataclass(frozen=True, slots=True)
class Row:
    """One variant's figures, each the mean over sites."""

    variant: Variant
    recall: float | None
    """Of blocks, as in 002."""
    precision: float | None
    text_recall: float | None
    content_f1: float | None
    average_size: float
    batch_share: float
    max_share: float
    """The largest share of a site."""


def mean_rows(sites: Sequence[Sequence[Tally]], variants: Sequence[Variant]) -> list[Row]:
    """The means over these sites, variant by variant; nothing without sites."""
    if not sites:
        return []
    return [_row(variant, [of[place] for of in sites]) for place, variant in enumerate(variants)]


def _row(variant: Variant, tallies: Sequence[Tally]) -> Row:
    """One variant's means."""
    shares = [tally.batch_share for tally in tallies]
    return Row(
        variant=variant,
        recall=_mean([tally.blocks.recall for tally in tallies]),
        precision=_mean([tally.blocks.precision for tally in tallies]),
        text_recall=_mean([tally.text.recall for tally in tallies]),
        content_f1=_mean([tally.content_f1 for tally in tallies]),
        average_size=fmean(tally.average_size for tally in tallies),
        batch_share=fmean(shares),
        max_share=max(shares),
    )


def choose(candidates: Sequence[Row], max_loss: float) -> Row | None:
    """The smallest table whose recall is at most so much below the best without ageing.

    None where recall is not known. Of equal tables the one with the better recall.
    """
    free = [row.recall for row in candidates if not row.variant.method.ages and row.recall]
    if not free:
        return None
    fit = [row for row in candidates if row.recall and row.recall >= max(free) - max_loss]
    return min(fit, key=lambda row: (row.batch_share, -(row.recall or 0.0)))


def _mean(values: Sequence[float | None]) -> float | None:
    """The mean of those that are known; None if none is."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
