"""Naive Bayes across sites: two topics, each learned from one site and tried on all the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dehusk.page.tree import Floats
from dehusk_bench.scoring import words
from dehusk_bench.site_texts import SiteTexts


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
