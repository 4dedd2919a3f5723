"""Figures of pages, averaged over the pages of a site and then over sites."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Final

from dehusk_bench.quality.bootstrap import Interval, Share, SiteValue, interval, mean_of


class Place(StrEnum):
    """Where in its site a page stands, counted from 1 in the order of the corpus."""

    ALL = "all"
    EARLY = "1–5"
    MIDDLE = "6–19"
    LATE = "20+"


def place_of(number: int) -> Place:
    """The place of a site's page of this number."""
    if number <= 5:
        return Place.EARLY
    return Place.MIDDLE if number <= 19 else Place.LATE


class Figure(StrEnum):
    """What is measured on a page."""

    PRECISION = "precision"
    RECALL = "recall"
    F1 = "f1"
    KEPT = "kept"
    """The share of the values that must be kept that are."""
    LEFT = "left"
    """The share of the phrases that must be dropped that are still there."""
    SNIPPET_PRECISION = "snippet_precision"
    """Of the snippets of all pages that are in the answers, the share that must be kept."""
    SNIPPET_RECALL = "snippet_recall"
    """Of the snippets of all pages that must be kept, the share that are."""
    SNIPPET_F1 = "snippet_f1"
    COMMENTS = "comments"
    """The share of what readers wrote below the content that is in the answer."""
    WORDS = "words"
    """Words in the answer."""
    TEMPLATE_PRECISION = "template_precision"
    TEMPLATE_RECALL = "template_recall"
    TEMPLATE_F1 = "template_f1"
    TECO_PRECISION = "teco_precision"
    TECO_RECALL = "teco_recall"
    TECO_F1 = "teco_f1"
    CPU_MS = "cpu_ms"
    """CPU time to the text of the answer."""
    STATE_BYTES = "state_bytes"
    """What a method remembers of the site, per page seen."""
    WRONG = "wrong"
    """The share of elements called template on a page that has no template."""
    FAILED = "failed"
    """1 for a page without an answer, else 0."""


POOLED: Final = frozenset({Figure.SNIPPET_PRECISION, Figure.SNIPPET_RECALL, Figure.SNIPPET_F1})
"""Figures that are counted over all pages together, as a `Share` of each."""
COSTS: Final = frozenset({Figure.WORDS, Figure.CPU_MS, Figure.STATE_BYTES, Figure.FAILED})
"""Figures that need no gold."""
MAIN: Final = (Figure.F1, Figure.SNIPPET_F1, Figure.KEPT)
"""What contenders are compared by: the first of these that a corpus has gold for."""


class Averages:
    """Running means per site, by figure and place. A site's pages may lack a figure."""

    def __init__(self) -> None:
        self._sites: dict[str, dict[tuple[Figure, Place], Share]] = {}

    def add(self, site: str, number: int, figures: Mapping[Figure, SiteValue]) -> None:
        """Count one page: the site's page of this number, with its figures."""
        sums = self._sites.setdefault(site, {})
        for figure, value in figures.items():
            part, whole = value if isinstance(value, tuple) else (value, 1)
            for place in (Place.ALL, place_of(number)):
                total, count = sums.get((figure, place), (0.0, 0))
                sums[figure, place] = (total + part, count + whole)

    def mean(self, figure: Figure, place: Place = Place.ALL) -> float | None:
        """The mean over sites of the means over their pages; None if no page has the figure."""
        return mean_of(self.site_values(figure, place).values())

    def site_values(self, figure: Figure, place: Place = Place.ALL) -> dict[str, SiteValue]:
        """The mean over its pages of each site that has the figure; the sums of a pooled one."""
        key = (figure, place)
        return {
            site: _value(figure, sums[key]) for site, sums in self._sites.items() if key in sums
        }

    def interval(self, figure: Figure, place: Place = Place.ALL) -> Interval | None:
        """The mean, and where it lies in 95 % of draws of sites; None if no page has the figure."""
        return interval(list(self.site_values(figure, place).values()))

    def total(self, figure: Figure) -> float:
        """The sum over all pages."""
        return sum(total for total, _ in self._of(figure, Place.ALL))

    def pages(self, figure: Figure, place: Place = Place.ALL) -> int:
        """How many pages have the figure."""
        return sum(pages for _, pages in self._of(figure, place))

    def sites(self, figure: Figure, place: Place = Place.ALL) -> int:
        """How many sites have a page with the figure."""
        return sum(1 for _ in self._of(figure, place))

    def by_site(self) -> dict[str, dict[str, dict[str, SiteValue]]]:
        """Each site's means by figure and place, and how many pages stand behind them."""
        return {site: _site_figures(sums) for site, sums in self._sites.items()}

    def summary(self) -> dict[str, dict[str, float]]:
        """The means over sites by figure and place."""
        table: dict[str, dict[str, float]] = {}
        for figure, place in self._keys():
            mean = self.mean(figure, place)
            if mean is not None:
                table.setdefault(figure, {})[place] = mean
        return table

    def intervals(self) -> dict[str, dict[str, tuple[float, float]]]:
        """Where the means that gold stands behind lie in 95 % of draws of sites."""
        table: dict[str, dict[str, tuple[float, float]]] = {}
        for figure, place in self._keys():
            found = None if figure in COSTS else self.interval(figure, place)
            if found is not None:
                table.setdefault(figure, {})[place] = (found.low, found.high)
        return table

    def _keys(self) -> list[tuple[Figure, Place]]:
        return sorted({key for sums in self._sites.values() for key in sums})

    def _of(self, figure: Figure, place: Place) -> Iterator[Share]:
        """Each site's sum and number of pages."""
        for sums in self._sites.values():
            if (figure, place) in sums:
                yield sums[figure, place]


def _value(figure: Figure, share: Share) -> SiteValue:
    """A site's mean; of a pooled figure the sums themselves, which may be of nothing."""
    return share if figure in POOLED else share[0] / share[1]


def _site_figures(sums: Mapping[tuple[Figure, Place], Share]) -> dict[str, dict[str, SiteValue]]:
    """A site's means by figure and place, with the number of its pages."""
    pages: dict[str, int] = {}
    table: dict[str, dict[str, SiteValue]] = {}
    for (figure, place), share in sums.items():
        table.setdefault(figure, {})[place] = _value(figure, share)
        if figure not in POOLED:
            pages[place] = max(share[1], pages.get(place, 0))
    table["pages"] = {**pages}
    return table
