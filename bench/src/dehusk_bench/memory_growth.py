"""One site learned for long: what its memory takes, beside the pages that others would keep."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import dehusk
from dehusk.memory import Memory
from dehusk.memory.memory import KNOWN
from dehusk_bench.samples import sample_site
from dehusk_bench.tables import table

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
