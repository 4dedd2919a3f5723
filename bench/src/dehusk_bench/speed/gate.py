"""Whether dehusk has become slower: CPU time to text against the bare parse, on sample sites."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from dehusk_bench.corpora import open_corpus
from dehusk_bench.speed.pages import PARSE, make_runners, run_speed

METHOD: Final = "auto"
PAGES: Final = "samples::1:6"
ROUNDS: Final = 9
MARGIN: Final = 0.15
"""How much above what is pinned is too slow. Ten runs gave 4.6 to 5.6."""
ATTEMPTS: Final = 3
"""A busy machine makes a run slow, never fast: the best of so many counts."""
PINNED: Final = 5.9
"""CPU time of `auto` to text as a multiple of the bare parse, as `measure` gives it. Raising it is
a commit of its own, with the reason."""


@dataclass(frozen=True, slots=True)
class Gate:
    """What was measured, and how much is allowed."""

    ratio: float
    """CPU time to text as a multiple of the bare parse."""
    pinned: float

    @property
    def is_passed(self) -> bool:
        """Is it no more than the margin above what is pinned?"""
        return self.ratio <= self.pinned * (1 + MARGIN)

    def __str__(self) -> str:
        said = "passed" if self.is_passed else "FAILED"
        return (
            f"{said}: {METHOD} to text takes {self.ratio:.2f} times the bare parse; pinned are"
            f" {self.pinned:.2f}, allowed {self.pinned * (1 + MARGIN):.2f}"
        )


def run_gate(measured: Callable[[], float] | None = None) -> Gate:
    """The first measurement that passes, else the best of `ATTEMPTS`."""
    best = np.inf
    for _ in range(ATTEMPTS):
        best = min(best, (measured or measure)())
        if Gate(best, PINNED).is_passed:
            break
    return Gate(float(best), PINNED)


def measure(pages: str = PAGES, rounds: int = ROUNDS) -> float:
    """CPU time to text as a multiple of the bare parse: of each page the least of all rounds."""
    runners = [
        runner
        for runner in make_runners([METHOD], with_peers=False)[0]
        if runner.name in (PARSE, f"{METHOD} to text")
    ]
    least: dict[str, Sequence[float]] = {}
    for _ in range(rounds):
        (report,) = run_speed([open_corpus(pages)], runners, rounds=1)
        for timing in report.timings:
            before = least.get(timing.name, np.full(len(timing.ms), np.inf))
            least[timing.name] = np.fmin(before, timing.ms).tolist()
    return float(np.sum(least[f"{METHOD} to text"]) / np.sum(least[PARSE]))
