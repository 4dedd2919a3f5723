"""Training the page model: pages of many sites in, four logistic regressions out, no labels needed.

Sections 5.1 and 5.2 of Chakrabarti, Kumar and Punera, *Page-level Template Detection via Isotonic
Smoothing*, WWW 2007.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dehusk.errors import PageError, UsageError
from dehusk.memory import Memory
from dehusk.methods.papers.page import hidden_nodes
from dehusk.methods.papers.page.classifier import Model
from dehusk.methods.papers.page.features import features
from dehusk.page.layout import layout_of
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Flags, Floats, Tree
from dehusk.pipeline import site_of
from dehusk.settings import Limits
from dehusk_bench.train.logistic import fit
from dehusk_bench.train.site_labels import SITE_LEVEL, site_labels

Read = Callable[[], Iterable[Page]]
"""Reads all pages; it is called twice, since a page's labels depend on all pages of its site."""
Watcher = Callable[[str, int], None]
"""Is told what is being done, and how many pages are behind."""
BANDS: Final = 4
"""Regressions, by area: the paper's number. It does not say where it cuts; here each has a quarter
of the training nodes."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How much of the pages is used, and how."""

    min_pages: int = 30
    """Smaller sites are left out: what stands on a tenth of few pages may be chance."""
    pages_per_site: int = 15
    """Pages whose nodes are taken, evenly spread; all pages count for the labels."""
    nodes_per_page: int = 150
    """Nodes that are taken of a page, drawn at random."""
    ridge: float = 0.001
    """See `fit`. Not tuned: it is there to keep weights finite, and small beside the data."""
    folds: int = 5
    seed: int = 0


DEFAULTS: Final = Settings()


@dataclass(frozen=True, slots=True)
class Figures:
    """How well sites are judged that the model has not seen."""

    nodes: int
    template_share: float
    accuracy: float
    f1: float
    """Of template."""
    auc: float
    """The chance that a template node scores above another node."""


@dataclass(frozen=True, slots=True, eq=False)
class Training:
    """A trained model, and what is to be known of it."""

    model: Model
    sites: int
    pages: int
    """Pages of these sites, all of which counted for the labels."""
    left_out: int
    """Sites with too few pages."""
    failed: int
    """Pages that could not be used."""
    bands: tuple[Figures, ...]
    """Held-out figures of each regression; none with a single site."""
    overall: Figures | None


@dataclass(frozen=True, slots=True, eq=False)
class _Nodes:
    """The nodes to train on, a row each."""

    rows: Floats
    labels: Flags
    areas: Floats
    sites: NDArray[Any]
    """Numbers of sites, from 0."""
    bounds: tuple[float, ...]
    """The areas at which the second and further regressions take over."""

    @property
    def bands(self) -> NDArray[Any]:
        """The regression that each row goes to."""
        return np.searchsorted(self.bounds, self.areas, side="right")

    @property
    def weights(self) -> Floats:
        """Of each row, such that all sites count alike."""
        weights: Floats = 1 / np.bincount(self.sites)[self.sites]
        return weights


def train_page(
    read: Read,
    settings: Settings = DEFAULTS,
    limits: Limits = Limits(),
    on_page: Watcher = lambda _, __: None,
) -> Training:
    """The page model that the pages teach. Raises UsageError if no site has enough of them."""
    memories, failed = _learn(read, limits, on_page)
    chosen = {s: memory for s, memory in memories.items() if memory.pages >= settings.min_pages}
    if not chosen:
        most = max((memory.pages for memory in memories.values()), default=0)
        raise UsageError(
            f"no site has {settings.min_pages} pages to learn from; the largest has {most}"
        )
    nodes = _collect(read, chosen, settings, limits, on_page)
    fits = _fit_bands(nodes, np.ones(len(nodes.labels), np.bool_), settings.ridge)
    bands, overall = _figures(nodes, _held_out(nodes, settings))
    pages = sum(memory.pages for memory in chosen.values())
    origin: dict[str, object] = {"sites": len(chosen), "pages": pages, "nodes": len(nodes.labels)}
    if overall is not None:
        origin["held_out_accuracy"] = round(overall.accuracy, 4)
    weights, biases = (np.array(part) for part in zip(*fits, strict=True))
    model = Model(nodes.bounds, weights, biases, origin)
    left_out = len(memories) - len(chosen)
    return Training(model, len(chosen), pages, left_out, failed, bands, overall)


def _learn(read: Read, limits: Limits, on_page: Watcher) -> tuple[dict[str, Memory], int]:
    """What SiteLevel knows of each site, and how many pages could not be used."""
    memories: dict[str, Memory] = {}
    failed = 0
    for number, page in enumerate(read(), 1):
        try:
            tree = parse(page, limits).tree
        except PageError:
            failed += 1
            continue
        site = site_of(page)
        memories[site] = SITE_LEVEL.learn(memories.get(site, Memory()), tree)
        on_page("learning sites", number)
    return memories, failed


def _collect(
    read: Read, memories: dict[str, Memory], settings: Settings, limits: Limits, on_page: Watcher
) -> _Nodes:
    """Nodes of the sites, drawn at random, with features and labels."""
    rng = np.random.default_rng(settings.seed)
    numbers = {site: number for number, site in enumerate(memories)}
    met = dict.fromkeys(memories, 0)
    parts: list[tuple[Floats, Flags, Floats, NDArray[Any]]] = []
    for count, page in enumerate(read(), 1):
        site = site_of(page)
        if site not in memories:
            continue
        step = max(memories[site].pages // settings.pages_per_site, 1)
        met[site] += 1
        if met[site] % step or met[site] > step * settings.pages_per_site:
            continue
        try:
            tree = parse(page, limits).tree
        except PageError:
            continue
        rows, labels, areas = _draw(tree, memories[site], settings.nodes_per_page, rng)
        parts.append((rows, labels, areas, np.full(len(rows), numbers[site])))
        on_page("reading nodes", count)
    rows, labels, areas, sites = (np.concatenate(part) for part in zip(*parts, strict=True))
    bounds = np.unique(np.quantile(areas, np.arange(1, BANDS) / BANDS))
    return _Nodes(rows, labels, areas, sites, tuple(bounds.tolist()))


def _draw(
    tree: Tree, memory: Memory, limit: int, rng: np.random.Generator
) -> tuple[Floats, Flags, Floats]:
    """Features, labels and areas of some nodes of a page."""
    layout = layout_of(tree)
    drawn = np.flatnonzero(~hidden_nodes(tree, layout))
    if len(drawn) > limit:
        drawn = np.sort(rng.choice(drawn, limit, replace=False))
    return features(tree, layout)[drawn], site_labels(memory, tree)[drawn], layout.area[drawn]


def _fit_bands(nodes: _Nodes, used: Flags, ridge: float) -> list[tuple[Floats, float]]:
    """A regression for each range of areas, on the rows that are used."""
    fits, bands, weights = [], nodes.bands, nodes.weights
    for number in range(len(nodes.bounds) + 1):
        part = used & (bands == number)
        if part.any():
            scale = weights[part] / weights[part].mean()
            fits.append(fit(nodes.rows[part], nodes.labels[part], scale, ridge))
        else:
            fits.append((np.zeros(nodes.rows.shape[1]), 0.0))
    return fits


def _held_out(nodes: _Nodes, settings: Settings) -> Floats | None:
    """Each row's odds by regressions that saw nothing of its site; None for a single site."""
    folds = min(settings.folds, int(nodes.sites.max()) + 1)
    if folds < 2:
        return None
    odds = np.zeros(len(nodes.labels))
    for fold in range(folds):
        out = nodes.sites % folds == fold
        for number, (slopes, bias) in enumerate(_fit_bands(nodes, ~out, settings.ridge)):
            part = out & (nodes.bands == number)
            odds[part] = nodes.rows[part] @ slopes + bias
    return odds


def _figures(nodes: _Nodes, odds: Floats | None) -> tuple[tuple[Figures, ...], Figures | None]:
    """The figures of each range of areas, and of all nodes."""
    if odds is None:
        return (), None
    parts = [nodes.bands == number for number in range(len(nodes.bounds) + 1)]
    bands = tuple(_score(nodes.labels[part], odds[part]) for part in parts)
    return bands, _score(nodes.labels, odds)


def _score(labels: Flags, odds: Floats) -> Figures:
    """How well the scores tell the labels apart."""
    called = odds > 0
    hits, positives = int((called & labels).sum()), int(labels.sum())
    negatives = len(labels) - positives
    rank = np.argsort(np.argsort(odds, kind="stable"), kind="stable")
    below = float(rank[labels].sum()) - positives * (positives - 1) / 2
    return Figures(
        nodes=len(labels),
        template_share=positives / max(len(labels), 1),
        accuracy=float((called == labels).mean()) if len(labels) else 0.0,
        f1=2 * hits / max(positives + int(called.sum()), 1),
        auc=below / max(positives * negatives, 1),
    )
