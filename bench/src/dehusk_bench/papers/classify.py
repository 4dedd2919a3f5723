"""`dehusk bench classify`: table 3 of 003, pages classified with and without the template."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dehusk.errors import UsageError
from dehusk.page.tree import Floats
from dehusk_bench.options import add_corpora, add_extent, add_methods, add_report, positive
from dehusk_bench.papers.dressed import dress_topics
from dehusk_bench.papers.site_texts import (
    FULL_TEXT,
    SiteTexts,
    add_dressing,
    finish,
    open_all,
    percent,
    read_sites,
    show,
)
from dehusk_bench.quality.scoring import words
from dehusk_bench.tables import table

CORPORA: Final = tuple(f"samples:topics:{seed}:90" for seed in range(4))
"""Four sites that write of five topics."""
DESCRIPTION: Final = (
    "Tell pages of two topics apart by naive Bayes, trained on the pages of one site for each topic"
    " and tried on all other sites, with the template left in and taken out by each method;"
    " averaged over all pairs of topics and of sites. The topic of a page is its `subject`, or the"
    " site's `genre`, or the part of its name before the first hyphen. Intervals come from"
    " drawing the sites anew."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options of the experiment."""
    add_corpora(parser, "four sample sites, samples:topics:0:90 to :3:90")
    parser.add_argument(
        "--draws",
        type=positive,
        default=1000,
        metavar="N",
        help="how often sites are drawn anew for the intervals (default: %(default)s)",
    )
    add_methods(parser, "all")
    add_extent(parser)
    add_dressing(parser, "N sites, each with the content of sites of genres that are the topics")
    add_report(parser)


@dataclass(frozen=True, slots=True, eq=False)
class Trials:
    """How the pages of each site were classified in each problem, one row a problem and site."""

    pair: NDArray[np.int64]
    """The pair of topics."""
    first: NDArray[np.int64]
    """The site that the first topic was learned from."""
    second: NDArray[np.int64]
    """The site that the second topic was learned from."""
    site: NDArray[np.int64]
    """The site that was tried."""
    right: NDArray[np.int64]
    pages: NDArray[np.int64]


def topic_pairs(sites: Sequence[SiteTexts]) -> list[tuple[str, str]]:
    """All pairs of topics, in the order of their names."""
    return list(combinations(sorted({topic for site in sites for topic in site.subjects}), 2))


def try_all(sites: Sequence[SiteTexts], contender: str) -> Trials:
    """Every problem: topics C1 and C2, learned from two different sites A and B.

    Tried on C1's pages of all sites but A and on C2's of all sites but B, as in 003. Multinomial,
    every word counted once more than it occurs, both topics as likely.
    """
    taught, likely, owner, topic_of = _likelihoods(sites, contender)
    places = {key: place for place, key in enumerate(taught)}
    topics = sorted({topic for _, topic in taught})
    rows: list[tuple[int, int, int, int, int, int]] = []
    for pair, (one, two) in enumerate(combinations(topics, 2)):
        homes = [[site for site, topic in taught if topic == name] for name in (one, two)]
        for a in homes[0]:
            for b in homes[1]:
                if a == b:
                    continue
                margin = likely[:, places[a, one]] - likely[:, places[b, two]]
                is_one = (topic_of == one) & (owner != a)
                is_two = (topic_of == two) & (owner != b)
                # A page that tells nothing is counted as wrong for either topic.
                right = (is_one & (margin > 0)) | (is_two & (margin < 0))
                tried = np.bincount(owner[is_one | is_two], minlength=len(sites))
                hits = np.bincount(owner[right], minlength=len(sites))
                met = np.flatnonzero(tried).tolist()
                rows += [(pair, a, b, site, int(hits[site]), int(tried[site])) for site in met]
    columns = np.array(rows, np.int64).reshape(-1, 6).T
    return Trials(*columns)


def accuracies(trials: Trials, weights: NDArray[np.int64], pairs: int) -> Floats:
    """The accuracy by pair of topics, averaged over its problems; nan where there is none.

    `weights` says how often each site counts, as one that a topic is learned from and as one that
    is tried. Sites that a problem was learned from keep their part among those tried, however often
    they are drawn: on them the rival's template misleads, and their part is that of the design. A
    problem that lacks either sort of site in a draw is left out of it.
    """
    count = len(weights)
    problem = (trials.pair * count + trials.first) * count + trials.second
    is_rival = (trials.site == trials.first) | (trials.site == trials.second)
    cell = 2 * problem + is_rival
    size = pairs * count * count
    shape = (size, 2)
    pages = np.bincount(cell, trials.pages, 2 * size).reshape(shape)
    drawn = weights[trials.site]
    tried = np.bincount(cell, drawn * trials.pages, 2 * size).reshape(shape)
    right = np.bincount(cell, drawn * trials.right, 2 * size).reshape(shape)
    part = pages / np.maximum(pages.sum(1, keepdims=True), 1)
    accuracy = (part * right / np.maximum(tried, 1)).sum(1)
    is_whole = ((tried > 0) | (pages == 0)).all(1) & (pages.sum(1) > 0)
    numbers = np.arange(size)
    weight = is_whole * weights[numbers // count % count] * weights[numbers % count]
    total = np.bincount(numbers // count**2, weight, pairs)
    result = np.bincount(numbers // count**2, weight * accuracy, pairs)
    result[total == 0] = np.nan
    return result / np.maximum(total, 1)


def _likelihoods(
    sites: Sequence[SiteTexts], contender: str
) -> tuple[list[tuple[int, str]], Floats, NDArray[np.int64], NDArray[np.str_]]:
    """Per page and (site, topic): the log-likelihood of the page by what that site says of it."""
    bags = [Counter(words(text)) for site in sites for text in site.texts[contender]]
    owner = np.repeat(np.arange(len(sites)), [len(site.subjects) for site in sites])
    topic_of = np.array([topic for site in sites for topic in site.subjects])
    index: dict[str, int] = {}
    for bag in bags:
        for word in bag:
            index.setdefault(word, len(index))
    page = np.repeat(np.arange(len(bags)), [len(bag) for bag in bags])
    which = np.fromiter((index[each] for bag in bags for each in bag), np.int64, len(page))
    count = np.fromiter((n for bag in bags for n in bag.values()), np.float64, len(page))
    taught = sorted({(int(s), str(t)) for s, t in zip(owner, topic_of, strict=True)})
    likely = np.zeros((len(bags), len(taught)))
    for place, (home, topic) in enumerate(taught):
        own = ((owner == home) & (topic_of == topic))[page]
        seen = 1 + np.bincount(which[own], count[own], len(index))
        logs = np.log(seen / seen.sum())
        likely[:, place] = np.bincount(page, count * logs[which], len(bags))
    return taught, likely, owner, topic_of


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


def run(arguments: argparse.Namespace) -> int:
    """Run the experiment and print its tables; 1 if a corpus could not be read to its end.

    Raises UsageError for a corpus or a method that does not exist, or topics on too few sites.
    """
    corpora, methods, reading, progress = open_all(arguments, CORPORA, dress_topics)
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
