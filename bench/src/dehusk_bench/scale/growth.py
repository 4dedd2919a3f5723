"""What a page costs as pages and sites become more, and what the process takes."""

from __future__ import annotations

import gc
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import turbohtml

from dehusk.answer.result import Result
from dehusk.memory.opening import open as open_session
from dehusk.memory.session import Session
from dehusk.output import Format, Shape
from dehusk.settings import Limits
from dehusk_bench.scale.pages import Workload

_LIMITS: Final = Limits(timeout_s=1000.0)
"""A busy machine must not end the experiment."""
HEADER: Final = (
    "pages", "sites", "largest", "ms a page", "× bare parse", "growth", "added MB", "file MB",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Growth:
    """What one run measured."""

    pages: int
    sites: int
    largest: int
    """Pages of the largest site."""
    clean_s: float
    parse_s: float
    """For the bare parse of the same pages, each just before it was cleaned."""
    added_bytes: int
    """What the process took at most, besides what it took before: the bench's own pages, and all
    that is loaded."""
    file_bytes: int

    @property
    def ratio(self) -> float:
        """How many times the bare parse cleaning took."""
        return self.clean_s / self.parse_s

    def cells(self, first: Growth) -> list[str]:
        """A row of the table; growth is that of the cost of a page since the first run."""
        return [
            f"{self.pages:,}", f"{self.sites:,}", f"{self.largest:,}",
            f"{self.clean_s / self.pages * 1000:.2f}", f"{self.ratio:.1f}",
            f"{self.ratio / first.ratio:.3f}", f"{self.added_bytes / 1e6:.0f}",
            f"{self.file_bytes / 1e6:.1f}",
        ]  # fmt: skip

    def to_json(self) -> dict[str, object]:
        """All figures."""
        return asdict(self) | {"ratio": self.ratio}


def measure_growth(
    workloads: Sequence[Workload],
    written_as: Format,
    on_page: Callable[[int], object],
    *,
    has_file: bool = True,
) -> Iterator[Growth]:
    """What each workload costs, with a new memory each, in a file or not.

    A page is measured against the bare parse of the same page, which both bear the load of the
    machine at that moment. What is done first is not timed, and neither are pages made up between
    others: that would cost the parse behind it more than the rest.
    """
    largest_run = max(workloads, key=lambda workload: workload.pages)
    for _ in largest_run:
        pass  # Made up, and kept.
    before = _resident_bytes()
    for workload in (Workload(200, 10), *workloads):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "scale.husk"
            if has_file:
                with open_session(file, limits=_LIMITS) as memory:
                    spent = _clean(workload, memory, written_as, on_page)
            else:
                spent = _clean(workload, Session(limits=_LIMITS), written_as, on_page)
            file_bytes = file.stat().st_size if has_file else 0
        gc.collect()
        if workload in workloads:
            largest = int(workload.sizes().max())
            clean_s, parse_s, resident = spent
            added = max(0, resident - before)
            sites = workload.sites
            yield Growth(workload.pages, sites, largest, clean_s, parse_s, added, file_bytes)


def _clean(
    workload: Workload,
    sites: Session,
    written_as: Format,
    on_page: Callable[[int], object],
) -> tuple[float, float, int]:
    """Seconds for cleaning and for the bare parse, and what the process took at most."""
    shape = Shape(written_as)
    clean_s = parse_s = 0.0
    resident = 0

    def render(result: Result) -> None:
        _ = result.text
        shape.data(result)

    for number, page in enumerate(workload, 1):
        began = time.process_time()
        turbohtml.parse(page.html)
        parsed = time.process_time()
        result = sites.add(page, render=render)
        if sites.is_lasting:
            sites.note(page, result)
            if number == workload.pages:
                sites.commit()
        clean_s += time.process_time() - parsed
        parse_s += parsed - began
        if number % 500 == 0 or number == workload.pages:
            on_page(number)
            resident = max(resident, _resident_bytes())
    return clean_s, parse_s, resident


def _resident_bytes() -> int:
    """What this process takes now; where the system does not say, the most that it ever took."""
    with suppress(OSError):
        return int(Path("/proc/self/statm").read_bytes().split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
