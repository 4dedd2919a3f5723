"""`dehusk bench memory`: what it costs to keep memories, and what they survive."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import dehusk
from dehusk.errors import UsageError
from dehusk.memory import Memory
from dehusk.memory.memory import KNOWN
from dehusk.methods import DEFAULT
from dehusk_bench.options import positive
from dehusk_bench.quality.scoring import bag_score, words
from dehusk_bench.samples import sample_site
from dehusk_bench.samples.page import SamplePage
from dehusk_bench.speed.memory_costs import run_costs
from dehusk_bench.tables import number, table

DESCRIPTION: Final = (
    "Clean pages of many sites with their memories in a file, at each durability, side by side with"
    " no file at all: CPU and pages a second, bytes, time to read back, resident memory. --flood"
    " throws new text at one site instead, --growth learns one site for long."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options of the experiment."""
    figures = {
        "--sites": (70, "sites whose pages come in turn"),
        "--pages": (20, "pages of each site"),
        "--many": (10_000, "sites that are held in memory to see what they take"),
    }
    for option, (default, meaning) in figures.items():
        parser.add_argument(
            option,
            type=positive,
            default=default,
            metavar="N",
            help=f"{meaning} (default: %(default)s)",
        )
    parser.add_argument(
        "--postgres",
        metavar="ADDRESS",
        help="measure an empty database too (postgresql://…); dehusk makes its tables there",
    )
    parser.add_argument(
        "--flood",
        type=positive,
        metavar="N",
        help="throw so many segments that never come back at one site, and measure its pages",
    )
    parser.add_argument(
        "--flood-page",
        type=positive,
        default=50_000,
        metavar="N",
        help="new segments on each page of the flood (default: %(default)s)",
    )
    parser.add_argument(
        "--growth",
        type=positive,
        metavar="N",
        help="learn one site of so many pages, and measure its memory beside its HTML",
    )
    parser.add_argument(
        "--method",
        dest="methods",
        action="append",
        default=[],
        metavar="NAME",
        help="the method that learns (default: the default method); may be repeated for --growth",
    )
    parser.add_argument("--markdown", action="store_true", help="write the tables as Markdown")


def run(arguments: argparse.Namespace) -> int:
    """Run the experiment and print its tables; 1 if a flood has spoilt a site."""

    methods = arguments.methods or [DEFAULT]
    if arguments.growth:
        return run_growth(arguments.growth, methods, markdown=arguments.markdown)
    if len(methods) > 1:
        raise UsageError("one --method at a time, but for --growth")
    if arguments.flood:
        flood = Flood(arguments.flood, arguments.flood_page, methods[0])
        return run_flood(flood, markdown=arguments.markdown)

    return run_costs(arguments, methods[0])


_KIND: Final = "news"
_HEADER: Final = (
    "method", "pages", "segments", "bytes in memory", "a segment", "bytes stored", "bytes of HTML",
    "share",
)  # fmt: skip
_LIMITS: Final = dehusk.Limits(timeout_s=1000.0)
"""A busy machine must not end the experiment."""


def run_growth(pages: int, methods: Sequence[str], *, markdown: bool = False) -> int:
    """Learn a site of so many pages by each method, and print what it takes on the way."""
    with tempfile.TemporaryDirectory() as folder:
        rows = [
            row
            for method in methods
            for row in _grow(pages, method, Path(folder) / f"{method}.husk")
        ]
    sys.stdout.write(table(_HEADER, rows, markdown=markdown))
    return 0


def _grow(pages: int, method: str, file: Path) -> Iterator[tuple[str, ...]]:
    """A row at 10, 100 … pages and at the end."""
    html_bytes = 0
    stops = {10**power for power in range(1, 9)} | {pages}
    with dehusk.open(file, method=method, limits=_LIMITS) as memory:
        for number, sample in enumerate(sample_site(_KIND, pages=pages, seed=1), 1):
            html = sample.page.html
            html_bytes += len(html.encode() if isinstance(html, str) else html)
            memory.learn(sample.page)
            if number in stops:
                memory.commit()
                site = sample.page.site or ""
                row = memory.site(site)
                assert row is not None, "it was committed"
                yield _row(method, memory.memory(site), row.size_bytes, html_bytes)


def _row(method: str, memory: Memory, stored: int, html_bytes: int) -> tuple[str, ...]:
    """What is held in memory counts all; by segment, all but the pages that are known."""
    segments = len(memory.table("segments"))
    learned = memory.size_bytes - memory.table(KNOWN).size_bytes
    return (
        method,
        f"{memory.pages:,}",
        f"{segments:,}" if segments else "–",
        f"{memory.size_bytes:,}",
        f"{learned / segments:.0f}" if segments else "–",
        f"{stored:,}",
        f"{html_bytes:,}",
        f"{memory.size_bytes / html_bytes:.2%}",
    )


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


def _measure(site: _Site, memory: dehusk.Session, sample: SamplePage) -> None:
    size = memory.memory(sample.page.site or "").size_bytes
    site.largest_bytes = max(site.largest_bytes, size)


def _floods(flood: Flood, site: str) -> Iterator[dehusk.Page]:
    """Pages without the site's template and full of text that never comes back."""
    for start in range(0, flood.segments, flood.page_segments):
        lines = "".join(f"<p>new {start + line}</p>" for line in range(flood.page_segments))
        yield dehusk.Page(lines, f"https://{site}/flood/{start}", site)
