"""Many pages of many sites into one memory: does a page cost the same at the end?"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

import dehusk
from dehusk_bench.tables import table

_PARTS: Final = 10
_MOST: Final = 1.1
"""How many times as much the last tenth may cost as the second, which is warm, and take in memory
as the fifth, when all is held that may be."""
_FEW: Final = 2000
_MOST_MANY: Final = 1.3
"""How many times as much a page may cost among many sites as among these few."""
_LINES: Final = 8


def run_soak(sites: int, pages: int) -> int:
    """Learn so many pages, site after site in turn, and print what each tenth cost.

    1 where the last tenth cost or took too much, or many sites cost more than a few do.
    """
    rows, costs, resident = [], [], []
    few = _cost_of_few() if sites > _FEW else None
    with tempfile.TemporaryDirectory() as folder, _opened(folder) as memory:
        for part in range(_PARTS):
            began, cpu = time.perf_counter(), time.process_time()
            numbers = range(pages * part // _PARTS, pages * (part + 1) // _PARTS)
            _learn(memory, numbers, sites)
            costs.append((time.process_time() - cpu) / len(numbers))
            wall = (time.perf_counter() - began) / len(numbers)
            resident.append(_resident_bytes())
            figures = (f"{costs[-1] * 1e3:.3f}", f"{wall * 1e3:.3f}", f"{memory.active_sites:,}")
            rows.append((f"{numbers[-1] + 1:,}", *figures, f"{resident[-1] / 1e6:.0f}"))
    header = ("pages", "CPU ms a page", "ms a page", "sites in memory", "resident MB")
    sys.stdout.write(table(header, rows))
    is_flat = costs[-1] <= _MOST * costs[1] and resident[-1] <= _MOST * resident[_PARTS // 2 - 1]
    if few is not None:
        times = sum(costs) / _PARTS / few
        sys.stdout.write(
            f"{_FEW:,} sites in a memory of their own: {few * 1e3:.3f} CPU ms a page;"
            f" {sites:,} sites: x {times:.2f}\n"
        )
        is_flat = is_flat and times <= _MOST_MANY
    return int(not is_flat)


def _opened(folder: str) -> dehusk.Session:
    limits = dehusk.Limits(timeout_s=1000.0)  # A busy machine must not end the experiment.
    return dehusk.open(Path(folder) / "soak.husk", limits=limits)


def _cost_of_few() -> float:
    """CPU seconds a page of a few sites in a memory of their own, the second time: warm."""
    for _ in range(2):
        with tempfile.TemporaryDirectory() as folder, _opened(folder) as memory:
            began = time.process_time()
            _learn(memory, range(_FEW), _FEW)
            memory.commit()
            cost = (time.process_time() - began) / _FEW
    return cost


def _learn(memory: dehusk.Session, numbers: range, sites: int) -> None:
    for number in numbers:
        memory.learn(_html(number, sites), f"https://s{number % sites}.example/{number}")


def _resident_bytes() -> int:
    """What the process takes now; the most that it took, where the system says only that."""
    with suppress(OSError):
        pages = int(Path("/proc/self/statm").read_bytes().split()[1])
        return pages * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _html(number: int, sites: int) -> str:
    lines = "".join(f"<p>page {number // sites} line {line}</p>" for line in range(_LINES))
    return f"<nav>Home News of {number % sites}</nav>{lines}"
