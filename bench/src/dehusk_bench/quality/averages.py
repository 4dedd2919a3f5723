"""Figures of pages, averaged over the pages of a site and then over sites."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum


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


class Averages:
    """Running means per site, by figure and place. A site's pages may lack a figure."""

    def __init__(self) -> None:
        self._sites: dict[str, dict[tuple[Figure, Place], tuple[float, int]]] = {}

    def add(self, site: str, number: int, figures: Mapping[Figure, float]) -> None:
        """Count one page: the site's page of this number, with its figures."""
        sums = self._sites.setdefault(site, {})
        for figure, value in figures.items():
            for place in (Place.ALL, place_of(number)):
                total, pages = sums.get((figure, place), (0.0, 0))
                sums[figure, place] = (total + value, pages + 1)

    def mean(self, figure: Figure, place: Place = Place.ALL) -> float | None:
        """The mean over sites of the means over their pages; None if no page has the figure."""
        means = self.site_means(figure, place).values()
        return sum(means) / len(means) if means else None

    def site_means(self, figure: Figure, place: Place = Place.ALL) -> dict[str, float]:
        """The mean over its pages of each site that has the figure."""
        key = (figure, place)
        return {
            site: sums[key][0] / sums[key][1] for site, sums in self._sites.items() if key in sums
        }

    def total(self, figure: Figure) -> float:
        """The sum over all pages."""
        return sum(total for total, _ in self._of(figure, Place.ALL))

    def pages(self, figure: Figure, place: Place = Place.ALL) -> int:
        """How many pages have the figure."""
        return sum(pages for _, pages in self._of(figure, place))

    def sites(self, figure: Figure, place: Place = Place.ALL) -> int:
        """How many sites have a page with the figure."""
        return sum(1 for _ in self._of(figure, place))

    def by_site(self) -> dict[str, dict[str, dict[str, float]]]:
        """Each site's means by figure and place, and how many pages stand behind them."""
        return {site: _site_figures(sums) for site, sums in self._sites.items()}

    def summary(self) -> dict[str, dict[str, float]]:
        """The means over sites by figure and place."""
        keys = {key for sums in self._sites.values() for key in sums}
        table: dict[str, dict[str, float]] = {}
        for figure, place in sorted(keys):
            mean = self.mean(figure, place)
            if mean is not None:
                table.setdefault(figure, {})[place] = mean
        return table

    def _of(self, figure: Figure, place: Place) -> Iterator[tuple[float, int]]:
        """Each site's sum and number of pages."""
        for sums in self._sites.values():
            if (figure, place) in sums:
                yield sums[figure, place]


def _site_figures(
    sums: Mapping[tuple[Figure, Place], tuple[float, int]],
) -> dict[str, dict[str, float]]:
    """A site's means by figure and place, with the number of its pages."""
    table: dict[str, dict[str, float]] = {"pages": {}}
    for (figure, place), (total, pages) in sums.items():
        table.setdefault(figure, {})[place] = total / pages
        table["pages"][place] = max(pages, table["pages"].get(place, 0))
    return table
