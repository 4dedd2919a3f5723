"""Pages of any number of sites, in the order in which a wide crawl meets them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from html import unescape
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dehusk.page.page import Page
from dehusk_bench.samples import KINDS, sample_site

_VARIETY: Final = 28
"""Sites that are made up, four of each kind; the others are these under other names. To make up a
page takes longer than to clean it, and no site knows of another."""
_DIFFERENT: Final = 1000
"""Pages of each of them that are made up, and then kept, 11 kB each. Those that follow are these
again, under other URLs and with a new word in each text of their content."""
_LETTERS: Final = str.maketrans("0123456789", "abcdefghij")
_NEWS: Final = re.compile(r">[^<>]*[^\W\d_]{3,} [^<>]{12,}(?=<)")
"""A text that may be content: some words."""


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


def largest_site() -> str:
    """The name of the site with the most pages."""
    return _host(0)


def _host(site: int) -> str:
    return f"site-{site}.example"


def _page(site: int, number: int) -> Page:
    """A page of a site, under the site's own name."""
    turn, number = divmod(number, _DIFFERENT)
    page, pieces = _sample(site % _VARIETY, number)
    host = _host(site)
    assert page.url is not None
    address = page.url.partition("://")[2].partition("/")[2]
    if turn == 0:
        return replace(page, url=f"https://{host}/{address}", site=host)
    word = str(turn).translate(_LETTERS)  # In keys of a memory all numbers may be alike.
    return Page(f" {word}".join(pieces), f"https://{host}/{word}/{address}", host)


@cache
def _sample(site: int, number: int) -> tuple[Page, list[str]]:
    """A page of one of the sites that are made up, and its HTML cut where a new word may stand."""
    kind = KINDS[site % len(KINDS)]
    sample = next(sample_site(kind, pages=1, seed=site, first=number))
    html = sample.page.html
    assert isinstance(html, str)
    told = " ".join(sample.content.split())
    ends = [
        found.end()
        for found in _NEWS.finditer(html)
        if " ".join(unescape(found[0][1:]).split()) in told
    ]
    return sample.page, [html[start:end] for start, end in pairwise([0, *ends, len(html)])]
