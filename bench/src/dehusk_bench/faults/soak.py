"""Many pages of many sites into one memory: does a page cost the same at the end?"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

import dehusk
from dehusk_bench.tables import table

_PARTS: Final = 10
_MOST: Final = 1.1
"""How many times as much the last pages may cost as the second tenth, which is warm."""
_LINES: Final = 8


def run_soak(sites: int, pages: int) -> int:
    """Learn so many pages, site after site in turn, and print what each tenth cost.

    1 where the last tenth cost more than 1.1 times the second.
    """
    rows, costs = [], []
    with (
        tempfile.TemporaryDirectory() as folder,
        dehusk.open(Path(folder) / "soak.husk", limits=dehusk.Limits(timeout_s=1000.0)) as memory,
    ):
        for part in range(_PARTS):
            began, cpu = time.perf_counter(), time.process_time()
            numbers = range(pages * part // _PARTS, pages * (part + 1) // _PARTS)
            for number in numbers:
                memory.learn(_html(number, sites), f"https://s{number % sites}.example/{number}")
            costs.append((time.process_time() - cpu) / len(numbers))
            wall = (time.perf_counter() - began) / len(numbers)
            resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            figures = (f"{costs[-1] * 1e3:.3f}", f"{wall * 1e3:.3f}", f"{memory.active_sites:,}")
            rows.append((f"{numbers[-1] + 1:,}", *figures, f"{resident:.0f}"))
    header = ("pages", "CPU ms a page", "ms a page", "sites in memory", "most resident MB")
    sys.stdout.write(table(header, rows))
    return int(costs[-1] > _MOST * costs[1])


def _html(number: int, sites: int) -> str:
    lines = "".join(f"<p>page {number // sites} line {line}</p>" for line in range(_LINES))
    return f"<nav>Home News of {number % sites}</nav>{lines}"
