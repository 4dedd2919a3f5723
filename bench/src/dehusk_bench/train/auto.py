"""Trains the networks of `auto`, and says how good they are on sites they have not seen."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dehusk import _kernel
from dehusk.errors import UsageError
from dehusk.methods.auto.features import SITE_FEATURES
from dehusk.methods.auto.model import Matrix, Model, Network, capped, load_model, save_model
from dehusk.page.tree import Floats
from dehusk_bench.corpora import Corpus, Watcher, watch_nothing
from dehusk_bench.peers.contenders import FOLDS_FILE
from dehusk_bench.train.fit import Fitting, fit
from dehusk_bench.train.lessons import (  # fmt: skip
    SITE_COLUMNS,
    GoldReading,
    block_targets,
    folds_of,
    hide_names,
    network_logits,
    page_weights,
    read_corpora,
    site_features,
)

TYPES = ("article", "listing", "collection", "forum", "product", "documentation", "service")


@dataclass(frozen=True, slots=True)
class Settings:
    """How `auto` is trained."""

    folds: int = 5
    hidden_names: float = 0.3
    """The share of pages on which words in names are hidden."""
    first_pages: int = 3
    """Of a site the first pages are trained on, then every third: they are much alike."""
    fitting: Fitting = field(default_factory=Fitting)
    factors: tuple[tuple[str, float], ...] = ()
    """How much more, or less, a corpus counts than by its number of sites."""
    without: tuple[str, ...] = ()
    """Parts left out, for an ablation: names of `PARTS`."""


_NAMES: Final = tuple(f"{feature.group}.{feature.name}" for feature in SITE_FEATURES)
_OF_OTHERS: Final = ("opinion.content_before", "opinion.content_before_around")
_SITE: Final = (*(name for name in _NAMES if name.startswith("evidence.")), *_OF_OTHERS)
PARTS: Final = {
    "page": (*(name for name in _NAMES if name not in _SITE), *_OF_OTHERS),
    "memory": _SITE,
    "regions": tuple(name for name in _NAMES if name.endswith("_around")),
    "families": (
        *(
            f"evidence.{name}"
            for name in (
                "family_pages", "family_share", "given_place", "place_share", "repeats",
                "place_known", "segments", "segments_a_page", "length", "given_place_around",
                "place_new_around", "repeats_around",
            )
        ),
        *_OF_OTHERS,
    ),
}  # fmt: skip
"""What the site network reads, by what it would be without. Families have no evidence of their
own beside that of places: without both, a text counts by all pages of the site."""

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
    pages = read_corpora(corpora, on_page)
    if not pages:
        raise UsageError("no page with gold to train on")
    folds = folds_of(pages, settings.folds, settings.fitting.seed)
    fold = np.array([folds[page.group] for page in pages])
    trainer = _Trainer(pages, fold, settings, on_step)
    models = trainer.run()
    figures = trainer.figures(models[:-1])
    if folds_folder is not None:
        _write_folds(folds_folder, models[:-1], pages, fold)
    sites = len({(page.corpus, page.site) for page in pages})
    return Training(models[-1], len(pages), sites, figures, trainer.right_types(models[:-1]))


class _Trainer:
    """The steps of training over all folds; the last model is the one without a fold left out."""

    def __init__(
        self,
        pages: Sequence[GoldReading],
        fold: NDArray[np.int64],
        settings: Settings,
        on_step: Callable[[str], None],
    ) -> None:
        self.pages, self.fold, self.settings, self.on_step = pages, fold, settings, on_step
        self.typed = np.array([page.type in TYPES for page in pages])
        self.lengths = [len(page.reading) for page in pages]
        self.weights = page_weights(pages, dict(settings.factors))
        first = settings.first_pages
        self.used = np.array([p.number <= first or (p.number - 1) % 3 == 0 for p in pages])

    def run(self) -> list[Model]:
        """A model for each fold, fitted without it, and at last one fitted to all."""
        parts = [*range(self.settings.folds), -1]
        features = np.concatenate([page.features for page in self.pages])
        blank = [np.zeros(length) for length in self.lengths]
        targets = self._targets(site_features(self.pages, blank))
        hidden = hide_names(features, self.settings.hidden_names, self.lengths, 5)
        page_nets = [self._fit(hidden, targets, part, f"page network {part}") for part in parts]
        self.logits = self._held_out_logits(page_nets)
        rows_of_pages = site_features(self.pages, self.logits)
        self.rows = [_without(rows, self.settings.without) for rows in rows_of_pages]
        rows = np.concatenate(self.rows)
        site_nets = [self._fit(rows, targets, part, f"site network {part}") for part in parts]
        type_nets = [self._fit_types(part) for part in parts]
        return [
            Model(*networks, cut=load_model().cut, types=TYPES)
            for networks in zip(page_nets, site_nets, type_nets, strict=True)
        ]

    def _targets(self, rows: list[Matrix]) -> tuple[Floats, Floats]:
        """What each block should be, and how much it counts."""
        found = [block_targets(page, row) for page, row in zip(self.pages, rows, strict=True)]
        share = np.concatenate([share for share, _ in found])
        weight = np.concatenate(
            [weight * own for (_, weight), own in zip(found, self.weights, strict=True)]
        )
        return share, weight

    def _fit(self, rows: Matrix, targets: tuple[Floats, Floats], part: int, what: str) -> Network:
        """A network fitted to all pages but those of a fold."""
        self.on_step(what)
        share, weight = targets
        kept = np.repeat(self.used & (self.fold != part), self.lengths) & ~np.isnan(share)
        return fit(rows[kept], _column(share[kept]), _flat(weight[kept]), self.settings.fitting)

    def _held_out_logits(self, networks: list[Network]) -> list[Floats]:
        """What the page network that has not seen a page says of it."""
        logits = [network_logits(network, self.pages) for network in networks[:-1]]
        return [logits[fold][place] for place, fold in enumerate(self.fold.tolist())]

    def _fit_types(self, part: int) -> Network:
        """The network that tells the type of a page, fitted to all pages but those of a fold.

        The shipped one if no type is known.
        """
        self.on_step(f"type network {part}")
        known = self.typed & (self.fold != part)
        if not known.any():
            return load_model().type
        rows = np.stack([self._type_features(place) for place in np.flatnonzero(known).tolist()])
        kinds = [
            TYPES.index(str(self.pages[place].type)) for place in np.flatnonzero(known).tolist()
        ]
        settings = replace(self.settings.fitting, width=16, epochs=60, batch=256, decay=1e-2)
        wanted = np.eye(len(TYPES), dtype=np.float32)[kinds]
        return fit(rows, wanted, _flat(self.weights[known]), settings, is_choice=True)

    def _type_features(self, place: int) -> Matrix:
        """What the type network reads of a page."""
        reading = self.pages[place].reading
        opinion = _kernel.opinion_of_logits(reading, np.ascontiguousarray(self.logits[place]))
        return np.frombuffer(_kernel.type_features(reading, opinion), np.float32)

    def right_types(self, models: list[Model]) -> dict[str, float]:
        """By corpus, the share of held-out pages whose type is told rightly."""
        right: dict[str, list[bool]] = {}
        for place in np.flatnonzero(self.typed).tolist():
            page = self.pages[place]
            found = models[self.fold[place]].type(self._type_features(place)[None])[0].argmax()
            right.setdefault(page.corpus, []).append(TYPES[found] == page.type)
        return {corpus: float(np.mean(right[corpus])) for corpus in sorted(right)}

    def figures(self, models: list[Model]) -> dict[str, float]:
        """By corpus, the mean over sites of what is right on held-out pages."""
        networks = [capped(model.site, SITE_FEATURES) for model in models]
        sites: dict[tuple[str, str], list[float]] = {}
        for page, fold, rows in zip(self.pages, self.fold.tolist(), self.rows, strict=True):
            if (figure := page.gold.right(networks[fold](rows)[:, 0] >= 0)) is not None:
                sites.setdefault((page.corpus, page.site), []).append(figure)
        corpora = sorted({corpus for corpus, _ in sites})
        return {
            corpus: float(np.mean([np.mean(v) for (name, _), v in sites.items() if name == corpus]))
            for corpus in corpora
        }


def _without(rows: Matrix, parts: tuple[str, ...]) -> Matrix:
    """The rows with the columns of these parts set to 0."""
    if not parts:
        return rows
    rows = rows.copy()
    for part in parts:
        for name in PARTS[part]:
            rows[:, SITE_COLUMNS[name]] = 0
    return rows


def _column(values: Floats) -> Matrix:
    return values.astype(np.float32)[:, None]


def _flat(values: Floats) -> Matrix:
    return values.astype(np.float32)


def _write_folds(
    folder: Path, models: list[Model], pages: Sequence[GoldReading], fold: NDArray[np.int64]
) -> None:
    """Write the models of the folds, and which sites each has not seen."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, model in enumerate(models):
        save_model(model, folder / f"fold-{number}.json")
    sites = {page.site: number for page, number in zip(pages, fold.tolist(), strict=True)}
    (folder / FOLDS_FILE).write_text(json.dumps(sites, indent=0) + "\n", "utf-8")
