"""What a store costs: the same pages cleaned without one and with one, side by side."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

import dehusk
from dehusk.answer.result import Result
from dehusk.errors import UsageError
from dehusk.memory.session import Session
from dehusk_bench.samples import KINDS, sample_site
from dehusk_bench.tables import table

_HEADER: Final = (
    "memory", "durable", "CPU ms", "+ ms", "% of text", "% of JSON", "pages/s", "bytes/page",
    "bytes/site", "read ms/site",
)  # fmt: skip
_LIMITS: Final = dehusk.Limits(timeout_s=1000.0)
"""A busy machine must not end the experiment."""
_MANY_PAGES: Final = 3
"""Pages of each of the many sites."""


@dataclass(slots=True)
class _Runner:
    """One way to keep memories, and what it has taken so far."""

    name: str
    add: Callable[..., object]
    render: Callable[[Result], object]
    address: str = ""
    memory: dehusk.Session | None = None
    cpu: list[float] = field(default_factory=list)
    wall_s: float = 0.0

    def take(self, act: Callable[[], object]) -> None:
        """Do something and count what it takes."""
        cpu, wall = time.process_time(), time.perf_counter()
        act()
        self.cpu.append(time.process_time() - cpu)
        self.wall_s += time.perf_counter() - wall


def run_costs(arguments: argparse.Namespace, method: str) -> int:
    """Measure, and print the tables."""
    with tempfile.TemporaryDirectory() as folder:
        runners = _make_runners(Path(folder), arguments.postgres, method)
        pages = _pages(arguments.sites, arguments.pages)
        _run_all(runners, pages)
        rows = _rows(runners, len(pages), arguments.sites)
        sys.stdout.write(table(_HEADER, rows, markdown=arguments.markdown))
        sys.stdout.write(_many_sites(Path(folder), arguments.many, method))
    return 0


def _text(result: Result) -> object:
    return result.text


def _make_runners(folder: Path, postgres: str | None, method: str) -> list[_Runner]:
    """No store, to the text and to the JSON line; and stores, all to the text."""
    runners = [
        _Runner("none", Session(method=method, limits=_LIMITS).add, _text),
        _Runner("JSON", Session(method=method, limits=_LIMITS).add, Result.to_json),
    ]
    runners += [
        _stored("SQLite", str(folder / f"{way}.husk"), way, method) for way in dehusk.Durable
    ]
    if postgres:
        with dehusk.open(postgres, method=method) as memory:
            if memory.sites():
                raise UsageError(f"--postgres {postgres}: not empty")
        # One database holds one store, so it is measured at what many workers use.
        runners.append(_stored("PostgreSQL", postgres, dehusk.Durable.BATCH, method))
    return runners


def _stored(name: str, address: str, durable: str, method: str) -> _Runner:
    memory = dehusk.open(address, durable=durable, method=method, limits=_LIMITS)
    return _Runner(f"{name} {durable}", memory.add, _text, address, memory)


def _pages(sites: int, pages: int) -> list[dehusk.Page]:
    """The pages of sample sites under so many names, the first of each site, then the second …"""
    samples = [[s.page for s in sample_site(kind, pages=pages, seed=1)] for kind in KINDS]
    return [
        replace(
            samples[site % len(samples)][number],
            url=f"https://s{site}.example/{number}",
            site=f"s{site}.example",
        )
        for number in range(pages)
        for site in range(sites)
    ]


def _run_all(runners: Sequence[_Runner], pages: Sequence[dehusk.Page]) -> None:
    """All take their turn on a page before the next comes, and the turns rotate."""
    for place, page in enumerate(pages):
        for turn in range(len(runners)):
            runner = runners[(place + turn) % len(runners)]
            runner.take(partial(runner.add, page, render=runner.render))
    for runner in runners:
        if runner.memory is not None:
            runner.take(runner.memory.commit)


def _rows(runners: Sequence[_Runner], pages: int, sites: int) -> list[tuple[str, ...]]:
    """A row for each runner."""
    text, json = (1000 * sum(runner.cpu) / pages for runner in runners[:2])
    rows = [
        ("none, to text", "–", f"{text:.2f}", "–", "–", "–", _rate(runners[0], pages), *"–––"),
        ("none, to JSON", "–", f"{json:.2f}", "–", "–", "–", _rate(runners[1], pages), *"–––"),
    ]
    for runner in runners[2:]:
        assert runner.memory is not None
        ms = 1000 * sum(runner.cpu) / pages
        runner.memory.close()
        size, read_ms = _read_back(runner.address)
        name, durable = runner.name.split()
        rows.append(
            (
                name,
                durable,
                f"{ms:.2f}",
                f"{ms - text:.2f}",
                f"{(ms - text) / text:.0%}",
                f"{(ms - text) / json:.0%}",
                _rate(runner, pages),
                f"{size / pages:,.0f}",
                f"{size / sites:,.0f}",
                f"{read_ms:.2f}",
            )
        )
    return rows


def _rate(runner: _Runner, pages: int) -> str:
    return f"{pages / runner.wall_s:,.0f}"


def _read_back(address: str) -> tuple[int, float]:
    """What the store takes on its disk, and in how many CPU milliseconds a site is read."""
    with dehusk.open(address, reads_only=True) as memory:
        names = [row.name for row in memory.sites()]
        began = time.process_time()
        for name in names:
            memory.memory(name)
        return memory.size_bytes, 1000 * (time.process_time() - began) / len(names)


def _many_sites(folder: Path, sites: int, method: str) -> str:
    """What the process grows by when it has learned many sites, and what limits that."""
    samples = [s.page for s in sample_site("docs", pages=_MANY_PAGES, seed=1)]
    before = _resident_bytes()
    with dehusk.open(folder / "many.husk", method=method, limits=_LIMITS) as memory:
        for page, site in _each(samples, sites):
            memory.learn(replace(page, url=f"https://{site}/{page.url}", site=site))
        after, held = _resident_bytes(), memory.active_sites
        file_bytes = memory.size_bytes
    if before is None or after is None:
        return "resident memory: not known on this system\n"
    return (
        f"{sites:,} sites of {_MANY_PAGES} pages: resident memory grew by"
        f" {(after - before) / 1e6:,.0f} MB, {held:,} sites held; file {file_bytes / 1e6:,.0f} MB\n"
    )


def _each(samples: Sequence[dehusk.Page], sites: int) -> Iterator[tuple[dehusk.Page, str]]:
    for page in samples:
        for site in range(sites):
            yield page, f"s{site}.example"


def _resident_bytes() -> int | None:
    """What the process holds in memory; None where the system does not say."""
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    lines = (line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
    return 1024 * int(next(lines).split()[1])
