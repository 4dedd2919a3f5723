"""Sites of unequal size spread over many processors, simulated from what a page costs."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from heapq import heapreplace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dehusk_bench.scale.pages import Workload

HEADER: Final = ("processors", "--jobs", "reader busy", "by site", "by site, large ones cut")
_PARTS: Final = 8
"""Parts for each processor where pages are spread by site: as many as hide that they are unequal,
as for the partitions of a shuffle."""


@dataclass(frozen=True, slots=True)
class Costs:
    """What a page costs."""

    page_ms: float
    """CPU time in all."""
    reader_ms: float
    """Of that, in the process that reads and writes."""
    ahead_pages: int = 5_000
    """Pages that may be read ahead: 64 MB of 12 kB each."""


@dataclass(frozen=True, slots=True)
class Spread:
    """How much faster so many processors are than one."""

    cores: int
    jobs: float
    """With `--jobs`, pages in the order they come."""
    reader_share: float
    """How much of that time the process that reads is busy."""
    by_site: float
    """Pages sorted by site first, each site on one processor."""
    cut: float
    """The same, with sites that are larger than a part cut into parts: two passes, and memories
    that add up."""

    def cells(self) -> list[str]:
        """A row of the table."""
        return [
            f"{self.cores:,}", f"{self.jobs:.1f}", f"{self.reader_share:.0%}",
            f"{self.by_site:.1f}", f"{self.cut:.1f}",
        ]  # fmt: skip

    def to_json(self) -> dict[str, object]:
        """All figures."""
        return asdict(self)


def simulate(workload: Workload, costs: Costs, cores: Sequence[int]) -> list[Spread]:
    """How much faster each number of processors is."""
    order, sizes = workload.order().tolist(), workload.sizes()
    total_ms = costs.page_ms * workload.pages
    spreads = []
    for count in cores:
        end_ms = _in_order(order, costs, count) if count > 1 else total_ms
        spreads.append(
            Spread(
                count,
                total_ms / end_ms,
                costs.reader_ms * workload.pages / end_ms,
                workload.pages / _busiest(sizes, count),
                workload.pages / _busiest(_cut(sizes, count), count),
            )
        )
    return spreads


def _in_order(order: Sequence[int], costs: Costs, cores: int) -> float:
    """The end of a run with as many jobs as processors.

    As `dehusk.workers.jobs` does it: a page goes where its site is worked on, else where there is
    least to do; reading waits for the answers that it is too far ahead of.
    """
    # The reader's part too: it has no processor of its own, and takes it from the workers.
    work_ms = costs.page_ms
    free = _Free(cores)
    busy: dict[int, tuple[float, int]] = {}
    given: deque[float] = deque()
    read = last = 0.0
    for site in order:
        if len(given) >= costs.ahead_pages:
            read = max(read, given.popleft())
        read += costs.reader_ms
        done, place = busy.get(site, (0.0, 0))
        if done <= read:
            place = free.first()
        end = max(free.at[place], read) + work_ms
        free.at[place] = end
        busy[site] = end, place
        last = max(last, end)
        given.append(last)
    return last


class _Free:
    """When each processor is free, and which is first."""

    def __init__(self, cores: int) -> None:
        self.at = [0.0] * cores
        self._order = [(0.0, place) for place in range(cores)]

    def first(self) -> int:
        """The processor that is free first."""
        # What the heap knows of a processor may be too early, and is put right when it comes up.
        while self._order[0][0] < self.at[self._order[0][1]]:
            place = self._order[0][1]
            heapreplace(self._order, (self.at[place], place))
        return self._order[0][1]


def _busiest(sizes: NDArray[np.int64], cores: int) -> float:
    """The pages of the processor that has most, where sites are spread over parts by their hash.

    Parts go to whoever is free, the largest first.
    """
    if cores == 1:
        return float(sizes.sum())
    dice = np.random.default_rng(1)
    parts = dice.integers(0, _PARTS * cores, len(sizes))
    loads = np.sort(np.bincount(parts, weights=sizes, minlength=_PARTS * cores))[::-1]
    free = [0.0] * cores
    for load in loads.tolist():
        heapreplace(free, free[0] + load)
    return max(free)


def _cut(sizes: NDArray[np.int64], cores: int) -> NDArray[np.int64]:
    """The sizes, where a site that is larger than a part is cut into pieces as large."""
    largest = max(1, int(sizes.sum()) // (_PARTS * cores))
    large = sizes[sizes > largest]
    pieces = [np.full(int(size) // largest, largest, np.int64) for size in large]
    rests = large % largest
    return np.concatenate([sizes[sizes <= largest], *pieces, rests[rests > 0]])
