"""Trains the networks of `auto`, and says how good they are on sites they have not seen."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from dehusk import _kernel
from dehusk.errors import UsageError
from dehusk.methods.auto.confidence import Judged, confidence_features, site_removed
from dehusk.methods.auto.features import PAGE_FEATURES, SITE_FEATURES
from dehusk.methods.auto.model import (  # fmt: skip
    Lexicon,
    Matrix,
    Model,
    Network,
    capped,
    load_model,
    save_model,
)
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Floats
from dehusk.settings import PageType
from dehusk_bench.corpora import Corpus, Watcher, watch_nothing
from dehusk_bench.peers.contenders import FOLDS_FILE
from dehusk_bench.train.context import fit_context, held_out
from dehusk_bench.train.fit import Example, Fitting, Numbers, fit
from dehusk_bench.train.harder import harder_pages
from dehusk_bench.train.lessons import (  # fmt: skip
    PAGE_COLUMNS,
    SITE_COLUMNS,
    GoldReading,
    block_targets,
    folds_of,
    lied,
    page_weights,
    read_corpora,
    read_plain,
    site_features,
)
from dehusk_bench.train.lexicon import Words, fit_with_words
from dehusk_bench.train.repeats import repeated_pages

TYPES: Final = tuple(map(str, PageType))


@dataclass(frozen=True, slots=True)
class Settings:
    """How `auto` is trained."""

    folds: int = 5
    hidden_names: float = 0.3
    """The share of pages on which words in names are hidden."""
    hidden_evidence: float = 0.25
    """The share of pages that are read as if they were the only ones of their site."""
    harder: float = 0.5
    """How much pages that were made harder count beside those they are made of; 0 for none."""
    repeats: float = 0.5
    """The same for pages of sites made so that content comes back; 0 for none."""
    max_pages: int = 30
    """Pages of a site that are read."""
    first_pages: int = 3
    """Of a site the first pages are trained on, then every third: they are much alike."""
    least_best: float = 0.5
    """The best cut that the page network allows has at least this F1 on pages that the networks
    behind it are fitted to. On 354 of 13,522 pages it has less: golds of another version of a page,
    or with the comments. By blocks, without them: articles +0.001, snippets +0.006, wcxb-dev
    +0.004, sites-dev -0.003."""
    fitting: Fitting = field(default_factory=Fitting)
    factors: tuple[tuple[str, float], ...] = ()
    """How much more, or less, a corpus counts than the others of its kind; instead of `CORPORA`."""
    without: tuple[str, ...] = ()
    """Parts left out, for an ablation: names of `PARTS`."""


Made = TypeVar("Made")
_NAMES: Final = tuple(f"{feature.group}.{feature.name}" for feature in SITE_FEATURES)
_OF_OTHERS: Final = ("opinion.content_before", "opinion.content_before_around")
_SITE: Final = (*(name for name in _NAMES if name.startswith("evidence.")), *_OF_OTHERS)
_OF_SITE: Final = np.concatenate([np.r_[SITE_COLUMNS[name]] for name in _SITE])
"""The columns that differ where a page is alone."""
PARTS: Final = {
    "page": (*(name for name in _NAMES if name not in _SITE), *_OF_OTHERS),
    "memory": _SITE,
    "regions": tuple(name for name in _NAMES if name.endswith("_around")),
    "families": (
        *(
            f"evidence.{name}"
            for name in (
                "family_pages", "family_share", "given_place", "place_share", "repeats",
                "place_known", "segments", "segments_a_page", "length", "variety", "family_place",
                "page_family_place", "given_place_around", "place_new_around", "repeats_around",
                "variety_around",
            )
        ),
        *_OF_OTHERS,
    ),
}  # fmt: skip
"""What the site network reads, by what it would be without. Most evidence of families
is that of places: without both, a text counts by all pages of the site."""

DEFAULTS: Final = Settings()


@dataclass(frozen=True, slots=True)
class Training:
    """What came out."""

    model: Model
    pages: int
    sites: int
    figures: dict[str, float]
    """By corpus, on held-out sites: F1 of words; the values kept where only those are known."""
    right_types: dict[str, float]
    """By corpus, on held-out sites: the share of pages whose type is told rightly."""


def train_auto(
    corpora: Sequence[Corpus],
    settings: Settings = DEFAULTS,
    folds_folder: Path | None = None,
    on_page: Watcher = watch_nothing,
    on_step: Callable[[str], None] = lambda _: None,
) -> Training:
    """The model fitted to all pages, and figures of models fitted without a fifth of the sites.

    With `folds_folder` these models are written there, beside a list of which sites each has not
    seen.
    """
    names = {corpus.name.partition(":")[0] for corpus in corpora}
    for name, _ in settings.factors:
        if name not in names:
            raise UsageError(f"no corpus {name} to weigh; there is {', '.join(sorted(names))}")
    pages = read_corpora(corpora, on_page, settings.max_pages)
    if not pages:
        raise UsageError("no page with gold to train on")
    folds = folds_of(pages, settings.folds, settings.fitting.seed)
    fold = np.array([folds[page.group] for page in pages])
    trainer = _Trainer(pages, fold, settings, on_step)
    models = trainer.run()
    figures = trainer.figures()
    real = pages[: trainer.count]
    if folds_folder is not None:
        _write_folds(folds_folder, models[:-1], real, fold)
    sites = len({(page.corpus, page.site) for page in real})
    return Training(models[-1], len(real), sites, figures, trainer.right_types())


class _Trainer:
    """The steps of training over all folds; the last model is the one without a fold left out."""

    def __init__(
        self,
        pages: list[GoldReading],
        fold: NDArray[np.int64],
        settings: Settings,
        on_step: Callable[[str], None],
    ) -> None:
        """The list is the trainer's from now on: made pages come behind, each is read anew."""
        self.settings, self.on_step = settings, on_step
        self.on_step("harder pages")
        self.count, self.pages, self.fold = len(pages), pages, fold
        self.weights = page_weights(pages, factors := dict(settings.factors))
        for make, share in (harder_pages, settings.harder), (repeated_pages, settings.repeats):
            real = pages[: self.count]
            made = make(real, fold.tolist(), settings.fitting.seed) if share else []
            if made:
                new, own = zip(*made, strict=True)
                self.pages += new
                self.fold = np.concatenate([self.fold, own])
                self.weights = np.concatenate([self.weights, share * page_weights(new, factors)])
        self.parts = [*range(settings.folds), -1]
        first = settings.first_pages
        self.used = np.array([p.number <= first or (p.number - 1) % 3 == 0 for p in self.pages])

    def run(self) -> list[Model]:
        """A model for each fold, fitted without it, and at last one fitted to all."""
        no_types = np.zeros((len(self.pages), len(TYPES)))
        self.examples = self._examples(
            rows for rows, _ in site_features(self.pages, self._blank(), no_types)
        )
        self.on_step("words")
        self.words = Words.of_pages(self.pages, self.count, self.used.tolist())
        page_nets, self.lexicons = zip(*self._each(self._fit_page), strict=True)
        self.logits = self._page_logits([capped(each, PAGE_FEATURES) for each in page_nets])
        # What no cut comes near to, by networks that were not fitted to it, may be wrong gold.
        self.used &= [
            page.gold.best(own) >= self.settings.least_best
            for page, own in zip(self.pages, self.logits, strict=True)
        ]
        type_nets = [self._fit_types(part) for part in self.parts]
        self.types = self._held_out_types(type_nets)
        self._read_site()
        site_nets, context_nets = zip(*self._each(self._fit_context), strict=True)
        self.judged = self._judged(site_nets, context_nets)
        self.alone = self._judged(site_nets, context_nets, are_alone=True)
        confidence_nets = [self._fit_confidence(part) for part in self.parts]
        return [
            Model(
                lexicon=self.lexicons[place],
                page=page_nets[place],
                type=type_nets[place],
                site=site_nets[place],
                context=context_nets[place],
                confidence=confidence_nets[place],
                types=TYPES,
            )
            for place in range(len(self.parts))
        ]

    def _read_site(self) -> None:
        """What the site network reads of the pages, which are then let go: they take 8 GB.

        What is alone is known to nobody: a network that rests on the memory would be lost there.
        """
        self.rows, self.rows_alone, self.chars = list[Matrix](), list[Matrix](), list[Floats]()
        for together, alone in site_features(self._leaving(), self.logits, self.types):
            self.rows.append(self._without(together).astype(np.float16))
            self.rows_alone.append(self._without(alone)[:, _OF_SITE].astype(np.float16))

    def _leaving(self) -> Iterator[GoldReading]:
        """The pages, one after another; of those behind, gold and lengths are kept."""
        nothing = parse(Page("")).tree
        silent = read_plain(nothing)
        for place, page in enumerate(self.pages):
            self.chars.append(np.array(page.reading.chars))
            yield page
            self.pages[place] = replace(page, tree=nothing, reading=silent)

    def _blank(self) -> list[Floats]:
        return [np.zeros(len(page.reading)) for page in self.pages]

    def _examples(self, rows: Iterable[Matrix]) -> list[Example]:
        """What the networks are fitted to: the evidence tells which values are meant."""
        found = []
        for page, own, weight in zip(self.pages, rows, self.weights.tolist(), strict=True):
            gold, (share, costs) = page.gold, block_targets(page, own)
            found.append(
                Example(
                    np.stack((share, gold.comments), axis=1).astype(np.float32),
                    costs * weight,
                    np.where(gold.counted, gold.words, 0),
                    np.where(gold.counted, gold.hits, 0),
                    gold.content_words,
                    weight,
                )
            )
        return found

    def _fit_page(self, part: int) -> tuple[Network, Lexicon]:
        """The page network, and what words tell, by all pages but those of a fold."""
        self.on_step(f"page network {part}")
        places, fitting = self._places(part), self.settings.fitting
        return fit_with_words(
            [
                replace(self.examples[place], wanted=self.examples[place].wanted[:, :1])
                for place in places
            ],
            lambda number, random: self._page_rows(places[number], random),
            self.words,
            [self.words.said[place] for place in places],
            replace(fitting, by_page=0.5, epochs=min(fitting.epochs, 6)),
            self.settings.hidden_names,
        )

    def _reading(self, place: int, part: int) -> _kernel.Reading:
        """The page as a model of this part reads it."""
        return _kernel.read(self.pages[place].tree.kernel, self.lexicons[part].kernel)

    def _page_rows(self, place: int, random: np.random.Generator | None) -> Numbers:
        """What the page network reads, but for words."""
        rows = self.pages[place].features
        return rows if random is None else lied(rows, PAGE_COLUMNS, random)

    def _site_rows(self, place: int, random: np.random.Generator | None) -> Numbers:
        """What the site network reads; now and then as if the page were alone."""
        if random is None:
            return self.rows[place]
        is_alone = random.random() < self.settings.hidden_evidence
        rows = self._alone_rows(place) if is_alone else self.rows[place]
        return lied(rows, SITE_COLUMNS, random)

    def _alone_rows(self, place: int) -> Numbers:
        """What the site network reads of a page that is the only one of its site."""
        rows = self.rows[place].copy()
        rows[:, _OF_SITE] = self.rows_alone[place]
        return rows

    def _fit_context(self, part: int) -> tuple[Network, Network]:
        """The site and the context network, by all pages but those of a fold."""
        self.on_step(f"site network {part}")
        places, fitting = self._places(part), self.settings.fitting
        return fit_context(
            [self.examples[place] for place in places],
            lambda number, random: self._site_rows(places[number], random),
            replace(fitting, by_page=2.0, by_block=0.5, epochs=min(fitting.epochs, 6)),
        )

    def _judged(
        self, site: Sequence[Network], context: Sequence[Network], *, are_alone: bool = False
    ) -> list[Judged]:
        """What the networks that have not seen a page come to; of pages that were not made."""
        capped_site = [capped(network, SITE_FEATURES) for network in site]
        found = []
        for place in range(self.count):
            fold = int(self.fold[place])
            rows = (self._alone_rows(place) if are_alone else self.rows[place]).astype(np.float32)
            logits = held_out(capped_site[fold], context[fold], rows)
            likely = 1 / (1 + np.exp(-np.clip(logits, -30, 30)))
            least = min(0.5, float(likely[:, 0].max()))
            content, comments = np.ascontiguousarray(likely.T)
            found.append(Judged(content, comments, self.types[place].tolist(), least))
        return found

    def _fit_confidence(self, part: int) -> Network:
        """The network that tells how good an answer is, fitted to all pages but those of a fold."""
        self.on_step(f"confidence network {part}")
        places = [
            place
            for place in range(self.count)
            if self.fold[place] != part and not np.isnan(self.pages[place].gold.content_words)
        ]
        nothing = np.zeros(1)
        features, examples = [], []
        for place in places:
            gold, judged = self.pages[place].gold, self.judged[place]
            removed = site_removed(judged, self.alone[place], self.chars[place])
            row = confidence_features(judged, self.chars[place], removed)
            features.append(np.frombuffer(row, np.float32)[np.newaxis])
            right = gold.right(judged.content >= judged.threshold)
            wanted, weight = np.array([[right]], np.float32), self.weights[[place]]
            examples.append(Example(wanted, weight, nothing, nothing, np.nan, 0.0))
        settings = replace(self.settings.fitting, width=12, epochs=30, batch=192, decay=1e-2)
        if not examples:
            return load_model().confidence
        return fit(examples, lambda number, _: features[number], settings)

    def _places(self, part: int) -> list[int]:
        """The pages that a part is fitted to."""
        return np.flatnonzero(self.used & (self.fold != part)).tolist()

    def _each(self, make: Callable[[int], Made]) -> list[Made]:
        """What is made of each part."""
        # More threads than cores only wait for each other.
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            return list(threads.map(make, self.parts))

    def _page_logits(self, networks: list[Network]) -> list[Floats]:
        """What the page network that has not seen a page says of it, as its model reads it."""
        for place, fold in enumerate(self.fold.tolist()):
            reading = self._reading(place, fold)
            self.pages[place] = replace(self.pages[place], reading=reading)
        return [
            np.ascontiguousarray(networks[fold](page.features)[:, 0])
            for page, fold in zip(self.pages, self.fold.tolist(), strict=True)
        ]

    def _without(self, rows: Matrix) -> Matrix:
        """The rows with the columns of the parts that are left out set to 0."""
        if not self.settings.without:
            return rows
        rows = rows.copy()
        for part in self.settings.without:
            for name in PARTS[part]:
                rows[:, SITE_COLUMNS[name]] = 0
        return rows

    def _fit_types(self, part: int) -> Network:
        """The network that tells the type of a page, fitted to all pages but those of a fold.

        The shipped one if no type is known.
        """
        self.on_step(f"type network {part}")
        places = [
            place
            for place, page in enumerate(self.pages)
            if page.type in TYPES and self.fold[place] != part and self.used[place]
        ]
        if not places:
            return load_model().type
        nothing = np.zeros(1)
        examples = [
            Example(
                np.eye(len(TYPES), dtype=np.float32)[[TYPES.index(str(self.pages[place].type))]],
                self.weights[[place]], nothing, nothing, np.nan, 0.0,
            )
            for place in places
        ]  # fmt: skip
        settings = replace(self.settings.fitting, width=16, epochs=30, batch=192, decay=1e-2)
        features = {place: self._type_features(place, part) for place in places}
        return fit(examples, lambda number, _: features[places[number]], settings, is_choice=True)

    def _type_features(self, place: int, part: int) -> Matrix:
        """What the type network of a part reads of a page."""
        reading = self._reading(place, part)
        opinion = _kernel.opinion_of_logits(reading, self.logits[place])
        return np.frombuffer(_kernel.type_features(reading, opinion), np.float32)[None]

    def _held_out_types(self, networks: list[Network]) -> Floats:
        """How likely each page is of each type, by the network that has not seen it."""
        found = []
        for place, fold in enumerate(self.fold.tolist()):
            logits = networks[fold](self._type_features(place, fold))[0]
            likely = np.exp(logits - logits.max())
            found.append(likely / likely.sum())
        return np.array(found)

    def right_types(self) -> dict[str, float]:
        """By corpus, the share of held-out pages whose type is told rightly."""
        right: dict[str, list[bool]] = {}
        for page, types in zip(self.pages[: self.count], self.types, strict=False):
            if page.type in TYPES:
                right.setdefault(page.corpus, []).append(TYPES[types.argmax()] == page.type)
        return {corpus: float(np.mean(right[corpus])) for corpus in sorted(right)}

    def figures(self) -> dict[str, float]:
        """By corpus, the mean over sites of what is right on held-out pages."""
        sites: dict[tuple[str, str], list[float]] = {}
        for page, judged in zip(self.pages[: self.count], self.judged, strict=True):
            if (figure := page.gold.right(judged.content >= judged.threshold)) is not None:
                sites.setdefault((page.corpus, page.site), []).append(figure)
        corpora = sorted({corpus for corpus, _ in sites})
        return {
            corpus: float(np.mean([np.mean(v) for (name, _), v in sites.items() if name == corpus]))
            for corpus in corpora
        }


def _write_folds(
    folder: Path, models: list[Model], pages: Sequence[GoldReading], fold: NDArray[np.int64]
) -> None:
    """Write the models of the folds, and which sites each has not seen."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, model in enumerate(models):
        save_model(model, folder / f"fold-{number}.json")
    sites = {page.site: number for page, number in zip(pages, fold.tolist(), strict=True)}
    (folder / FOLDS_FILE).write_text(json.dumps(sites, indent=0) + "\n", "utf-8")
