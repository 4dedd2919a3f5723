"""What stands behind `dehusk bench classify`: sites are read, pages classified, tables shown."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from dehusk.errors import UsageError
from dehusk.page.tree import Floats
from dehusk_bench.classify import CORPORA
from dehusk_bench.naive_bayes import accuracies, topic_pairs, try_all
from dehusk_bench.paper_tables import finish, open_all, percent, show
from dehusk_bench.site_texts import FULL_TEXT, SiteTexts, read_sites
from dehusk_bench.tables import table

_PAPER: Final = (
    ("the paper: full text", 0.3822, None),
    ("the paper: SiteLevel", 0.4345, 0.137),
    ("the paper: PageLevel, basic", 0.4360, 0.141),
    ("the paper: PageLevel", 0.4513, 0.181),
)
"""Table 3 of 003, averages over five topics on four sites; gains computed from them."""
_SEED: Final = 3
_INTERVAL: Final = (2.5, 97.5)


@dataclass(frozen=True, slots=True, eq=False)
class Accuracy:
    """How well pages were classified by one contender's text."""

    by_pair: Floats
    """Per pair of topics."""
    mean: float
    interval: tuple[float, float]
    """95 % of draws of sites lie in it."""
    gain: float
    """Over full text, relative."""
    gain_interval: tuple[float, float]


def run_classify(arguments: argparse.Namespace) -> int:
    """Classify all pages by every contender and print the tables."""
    corpora, methods, reading, progress = open_all(arguments, CORPORA)
    sites = [site for site in read_sites(corpora, methods, reading, progress.show) if site.subjects]
    progress.clear()
    pairs = topic_pairs(sites)
    results = classify(sites, draws=arguments.draws)
    show(render_classify(results, pairs, sites, markdown=arguments.markdown))
    figures = {
        name: {"accuracy": result.mean, "interval": result.interval, "gain": result.gain,
               "gain_interval": result.gain_interval,
               "pairs": {" ".join(p): float(a) for p, a in zip(pairs, result.by_pair, strict=True)}}
        for name, result in results.items()
    }  # fmt: skip
    return finish(arguments.json, figures, reading)


def classify(sites: Sequence[SiteTexts], *, draws: int) -> dict[str, Accuracy]:
    """The accuracy by contender, full text first.

    Raises UsageError if no two topics can be learned from different sites and tried on others.
    """
    pairs = len(topic_pairs(sites))
    names = [name for name in sites[0].texts if all(name in site.texts for site in sites)]
    trials = {name: try_all(sites, name) for name in names}
    if not pairs or not len(trials[FULL_TEXT].pair):
        raise UsageError("classify needs two topics, and sites besides those they are learned from")
    once = np.ones(len(sites), np.int64)
    by_pair = {name: accuracies(each, once, pairs) for name, each in trials.items()}
    dice = np.random.default_rng(_SEED)
    drawn = {name: np.empty(draws) for name in names}
    for draw in range(draws):
        chosen = dice.integers(len(sites), size=len(sites))
        weights = np.bincount(chosen, minlength=len(sites))
        for name, each in trials.items():
            drawn[name][draw] = _mean(accuracies(each, weights, pairs))
    return {name: _accuracy(name, by_pair, drawn) for name in names}


def _accuracy(name: str, by_pair: dict[str, Floats], drawn: dict[str, Floats]) -> Accuracy:
    """The figures of one contender."""
    mean, full = _mean(by_pair[name]), _mean(by_pair[FULL_TEXT])
    gains = drawn[name] / drawn[FULL_TEXT] - 1
    low, high = np.nanpercentile(drawn[name], _INTERVAL)
    low_gain, high_gain = np.nanpercentile(gains, _INTERVAL)
    return Accuracy(
        by_pair[name],
        mean,
        (float(low), float(high)),
        mean / full - 1,
        (float(low_gain), float(high_gain)),
    )


def _mean(by_pair: Floats) -> float:
    """The mean over the pairs that could be tried; nan if none could."""
    known = by_pair[~np.isnan(by_pair)]
    return float(known.mean()) if len(known) else float("nan")


def render_classify(
    results: dict[str, Accuracy],
    pairs: Sequence[tuple[str, str]],
    sites: Sequence[SiteTexts],
    *,
    markdown: bool,
) -> str:
    """A table of averages with the paper's below ours, and one by pair of topics."""
    rows = [
        (name, percent(r.mean), _range(r.interval), f"{r.gain:+.1%}", _range(r.gain_interval))
        for name, r in results.items()
    ]
    rows += [
        (name, percent(mean), "", "" if gain is None else f"{gain:+.1%}", "")
        for name, mean, gain in _PAPER
    ]
    header = ("", "accuracy", "95 %", "gain", "95 %")
    pages = sum(len(site.subjects) for site in sites)
    title = f"{pages:,} pages of {len(sites)} sites, {len(pairs)} pairs of topics\n\n"
    by_pair = [
        (" / ".join(pair), *(percent(float(r.by_pair[n])) for r in results.values()))
        for n, pair in enumerate(pairs)
    ]
    detail = table(("topics", *results), by_pair, markdown=markdown)
    return title + table(header, rows, markdown=markdown) + "\n" + detail


def _range(interval: tuple[float, float]) -> str:
    return " … ".join(map(percent, interval))
