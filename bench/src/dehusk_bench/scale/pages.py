"""Pages of any number of sites, in the order in which a wide crawl meets them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dehusk.page.page import Page
from dehusk_bench.samples import KINDS, sample_site

_VARIETY: Final = 28
"""Sites that are made up, four of each kind; the others are these under other names. To make up a
page takes longer than to clean it, and no site knows of another."""
_REMEMBERED: Final = 40_000
"""Pages that are kept, 11 kB each: 100 of each of them where sites are alike, which are 2,800, and
more of the largest where they are not."""


@dataclass(frozen=True, slots=True)
class Workload:
    """So many pages of so many sites, the larger ones first in number, in a fixed random order."""

    pages: int
    sites: int
    skew: float = 0.0
    seed: int = 1

    def sizes(self) -> NDArray[np.int64]:
        """The pages of each site, the largest first; every site has one at least."""
        weights = np.arange(1, self.sites + 1, dtype=np.float64) ** -self.skew
        spare = max(0, self.pages - self.sites)
        sizes: NDArray[np.int64]
        sizes = 1 + np.floor(spare * weights / weights.sum()).astype(np.int64)
        sizes[: max(0, self.pages - int(sizes.sum()))] += 1
        return sizes

    def order(self) -> NDArray[np.int64]:
        """The site of each page, in the order in which the pages come."""
        order = np.repeat(np.arange(self.sites), self.sizes())
        np.random.default_rng(self.seed).shuffle(order)
        return order[: self.pages]

    def __iter__(self) -> Iterator[Page]:
        met = np.zeros(self.sites, np.int64)
        for site in self.order().tolist():
            yield _page(site, int(met[site]))
            met[site] += 1

    def write(self, path: Path) -> None:
        """Write the pages as JSON lines."""
        with path.open("w", encoding="utf-8") as file:
            for page in self:
                file.write(json.dumps({"url": page.url, "html": page.html}) + "\n")


def _page(site: int, number: int) -> Page:
    """A page of a site, under the site's own name."""
    page = _sample(site % _VARIETY, number)
    host = f"site-{site}.example"
    assert page.url is not None
    address = page.url.partition("://")[2].partition("/")[2]
    return replace(page, url=f"https://{host}/{address}", site=host)


@lru_cache(maxsize=_REMEMBERED)
def _sample(site: int, number: int) -> Page:
    """A page of one of the sites that are made up."""
    kind = KINDS[site % len(KINDS)]
    return next(sample_site(kind, pages=1, seed=site, first=number)).page
