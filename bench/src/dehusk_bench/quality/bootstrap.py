"""How sure a figure is: intervals and paired comparisons, by drawing sites anew.

Pages of a site are alike, so a site is what is drawn, never a page. Two contenders are compared on
the sites that both were measured on, each site's difference going with the site.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
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


def interval(values: Sequence[float]) -> Interval | None:
    """The mean of the sites' values and its interval; None without any site."""
    if not values:
        return None
    known = np.asarray(values, np.float64)
    low, high = np.percentile(_drawn_means(known), _PERCENTILES)
    return Interval(float(known.mean()), float(low), float(high), len(known))


def difference(one: Mapping[str, float], other: Mapping[str, float]) -> Interval | None:
    """By how much `one` is above `other`, each a value by site; None if they share no site."""
    return interval([value - other[site] for site, value in one.items() if site in other])


def _drawn_means(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The means of as many sites as there are, drawn with replacement, again and again."""
    dice = np.random.default_rng(_SEED)
    shares = np.full(len(values), 1 / len(values))
    # How often each site is drawn is all that a mean depends on, and holds less than the draws.
    counts = dice.multinomial(len(values), shares, size=_DRAWS)
    return np.asarray(counts @ values / len(values), np.float64)
