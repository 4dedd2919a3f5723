"""How sure a figure is: intervals and paired comparisons, by drawing sites anew.

Pages of a site are alike, so a site is what is drawn, never a page. Two contenders are compared on
the sites that both were measured on, each site's difference going with the site.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

_DRAWS: Final = 4000
"""The ends of an interval then move by less than 0.05 of its width from seed to seed."""
_SEED: Final = 11
_PERCENTILES: Final = (2.5, 97.5)
MIN_SITES: Final = 6
"""Below this nothing is claimed: of six sites without any difference, all lie on the same side in
3 % of cases, of five in 6 %; and draws from so few give intervals that are too narrow."""


Share = tuple[float, int]
"""A sum, and of how many it is: what the sites of a pooled figure are added up by."""
SiteValue = float | Share
"""What a site contributes: its mean, which weighs as that of any other site, or its share."""

_NOTHING: Final = 0.0005
"""A difference that tables show as 0 is none."""


class Verdict(StrEnum):
    """What may be said of two contenders."""

    BETTER = "better"
    WORSE = "worse"
    NOISE = "within noise"
    """Also where there are too few sites to say anything."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over sites, and the range in which it lies in 95 % of draws of sites."""

    mean: float
    low: float
    high: float
    sites: int

    @property
    def verdict(self) -> Verdict:
        """What the interval says where it is one of differences."""
        if self.sites < MIN_SITES or self.low <= 0 <= self.high or abs(self.mean) < _NOTHING:
            return Verdict.NOISE
        return Verdict.BETTER if self.low > 0 else Verdict.WORSE

    def range_text(self, digits: int = 3) -> str:
        """The ends, for a table; a dash where one site leaves nothing to draw."""
        if self.sites < 2:
            return "–"
        return f"{self.low:.{digits}f} … {self.high:.{digits}f}"


def mean_of(values: Iterable[SiteValue]) -> float | None:
    """The mean over sites, or the share of all sites together; None where there is nothing."""
    parts, wholes = _sums(list(values))
    count = wholes.sum()
    return float(parts.sum() / count) if count else None


def interval(values: Sequence[SiteValue]) -> Interval | None:
    """The mean of the sites' values and its interval; None without any site."""
    mean = mean_of(values)
    if mean is None:
        return None
    low, high = np.percentile(_drawn_means(values), _PERCENTILES)
    return Interval(mean, float(low), float(high), len(values))


def difference(one: Mapping[str, SiteValue], other: Mapping[str, SiteValue]) -> Interval | None:
    """By how much `one` is above `other`, each a value by site; None if they share no site."""
    sites = [site for site in one if site in other]
    ours, theirs = [one[site] for site in sites], [other[site] for site in sites]
    means = mean_of(ours), mean_of(theirs)
    if means[0] is None or means[1] is None:
        return None
    drawn = _drawn_means(ours) - _drawn_means(theirs)
    low, high = np.percentile(drawn, _PERCENTILES)
    return Interval(means[0] - means[1], float(low), float(high), len(sites))


def _sums(values: Sequence[SiteValue]) -> NDArray[np.float64]:
    """The parts of the sites and the wholes that they are of, as two rows."""
    pairs = [value if isinstance(value, tuple | list) else (value, 1) for value in values]
    return np.array(pairs, np.float64).reshape(-1, 2).T


def _drawn_means(values: Sequence[SiteValue]) -> NDArray[np.float64]:
    """The means of as many sites as there are, drawn with replacement, again and again."""
    parts, wholes = _sums(values) @ _draws(len(values)).T
    # A draw may leave out the only site that has anything to count.
    return np.asarray(parts / np.maximum(wholes, 1), np.float64)


@lru_cache(maxsize=4)
def _draws(sites: int) -> NDArray[np.float64]:
    """How often each site is drawn, in each draw: all that a mean depends on.

    All figures of a table are of the same draws, so that two of them may be compared.
    """
    dice = np.random.default_rng(_SEED)
    return dice.multinomial(sites, np.full(sites, 1 / sites), size=_DRAWS).astype(np.float64)
