"""Text that never comes back, thrown at one site: what it takes, what honest pages suffer."""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import dehusk
from dehusk.methods import DEFAULT
from dehusk_bench.samples import sample_site
from dehusk_bench.samples.page import SamplePage
from dehusk_bench.scoring import bag_score, words
from dehusk_bench.tables import number, table

_HONEST: Final = 60
"""Pages of the site whose content is known."""
_SKIPPED: Final = 10
"""Honest pages that are not scored: the template is not learned yet."""


@dataclass(frozen=True, slots=True)
class Flood:
    """Segments that never come back, how many of them on a page, and the method that suffers."""

    segments: int
    page_segments: int = 50_000
    method: str = DEFAULT


@dataclass(slots=True)
class _Site:
    """A site in a file of its own, and how well its honest pages came out."""

    name: str
    file: Path
    scores: list[float] = field(default_factory=list)
    largest_bytes: int = 0
    """The most that the site ever held in memory."""
    segments: int = 0

    @property
    def f1(self) -> float:
        """The mean content F1 of the honest pages."""
        return sum(self.scores) / max(len(self.scores), 1)


def run_flood(flood: Flood, *, markdown: bool = False) -> int:
    """Flood a site and print what came of it beside the same site left alone.

    1 if its content F1 fell by 0.01 or more, or it went over a limit.
    """
    with tempfile.TemporaryDirectory() as folder:
        alone, flooded = (_Site(n, Path(folder) / f"{n}.husk") for n in ("alone", "flooded"))
        _run(alone, replace(flood, segments=0))
        _run(flooded, flood)
        sizes = [site.file.stat().st_size for site in (alone, flooded)]
    header = ("site", "content F1", "new segments", "memory, at most", "file")
    rows = [
        (site.name, number(site.f1), f"{site.segments:,}", f"{site.largest_bytes:,}", f"{size:,}")
        for site, size in zip((alone, flooded), sizes, strict=True)
    ]
    sys.stdout.write(table(header, rows, markdown=markdown))
    limit = dehusk.Keeping().max_site_bytes
    is_bad = alone.f1 - flooded.f1 >= 0.01 or max(flooded.largest_bytes, sizes[1]) > limit
    return int(is_bad)


def _run(site: _Site, flood: Flood) -> None:
    """Clean the honest pages, the flood's between them."""
    honest = list(sample_site("news", pages=_HONEST, seed=1))
    floods = _floods(flood, honest[0].page.site or "")
    each = -(-flood.segments // (flood.page_segments * _HONEST))
    limits = dehusk.Limits(timeout_s=1000.0)
    with dehusk.open(site.file, method=flood.method, limits=limits) as memory:
        for place, sample in enumerate(honest):
            for _, page in zip(range(each), floods, strict=False):
                site.segments += flood.page_segments
                memory.learn(page)
                _measure(site, memory, sample)
            result = memory.add(sample.page)
            _measure(site, memory, sample)
            if place >= _SKIPPED:
                gold = Counter(words(sample.content))
                site.scores.append(bag_score(gold, Counter(words(result.text))).f1)


def _measure(site: _Site, memory: dehusk.Memories, sample: SamplePage) -> None:
    size = memory.memory(sample.page.site or "").size_bytes
    site.largest_bytes = max(site.largest_bytes, size)


def _floods(flood: Flood, site: str) -> Iterator[dehusk.Page]:
    """Pages without the site's template and full of text that never comes back."""
    for start in range(0, flood.segments, flood.page_segments):
        lines = "".join(f"<p>new {start + line}</p>" for line in range(flood.page_segments))
        yield dehusk.Page(lines, f"https://{site}/flood/{start}", site)
