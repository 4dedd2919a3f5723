"""Learning curves: how good the answers are, over the pages of a site that were seen."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from dehusk_bench.plots import line_plot

MIN_PAGES: Final = 20
"""Pages a site must have to count: all points of a curve are of the same sites."""
_BINS: Final = ((1, 1), (2, 2), (3, 3), (4, 5), (6, 8), (9, 12), (13, 20), (21, 28), (29, 40))
"""The first and the last page of each point; single pages scatter."""

SiteFigures = Mapping[str, Mapping[int, float]]
"""By site and number of the page, one figure."""


def learning_curve(figures: SiteFigures) -> list[tuple[float, float]]:
    """The mean over sites by number of the page, counted from 1; empty without a long site.

    A point is drawn where half of the sites have pages, in the middle of its pages.
    """
    sites = [pages for pages in figures.values() if len(pages) >= MIN_PAGES]
    curve = []
    for first, last in _BINS:
        means = []
        for pages in sites:
            inside = [pages[number] for number in range(first, last + 1) if number in pages]
            if inside:
                means.append(sum(inside) / len(inside))
        if sites and 2 * len(means) >= len(sites):
            curve.append(((first + last) / 2, sum(means) / len(means)))
    return curve


def write_curves(folder: Path, corpus: str, figures: Mapping[str, SiteFigures]) -> Path | None:
    """Write the plot of all contenders on a corpus; None where no site has enough pages."""
    curves = {name: learning_curve(sites) for name, sites in figures.items()}
    curves = {name: curve for name, curve in curves.items() if curve}
    if not curves:
        return None
    sites = max(_long_sites(each) for each in figures.values())
    title = f"{Path(corpus).name.partition('.')[0]}: {sites} sites of {MIN_PAGES} pages or more"
    path = folder / f"{Path(corpus).name.partition('.')[0].replace(':', '-')}-curve.svg"
    path.write_text(line_plot(title, ("pages seen", "F1 of content words"), curves), "utf-8")
    return path


def _long_sites(figures: SiteFigures) -> int:
    return sum(len(pages) >= MIN_PAGES for pages in figures.values())
