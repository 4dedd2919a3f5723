"""How long a page takes where nothing else runs: each contender in a process of its own.

Between others a contender finds its caches cold, and the one that needs most of them loses most.
Users run one tool, over all of their pages.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np

from dehusk.errors import UsageError
from dehusk_bench.corpora import Caps, open_corpus
from dehusk_bench.speed.pages import Runner, SpeedReport, Timing, make_runners, run_speed

_OTHER: Final = """
import json, sys, time, dehusk
pages = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
site, name, spent = None, None, []
for turn in range(2):
    name = None
    for html, url, of in pages if turn else pages[:3]:
        if of != name:
            site, name = dehusk.Site(), of
        began = time.process_time_ns()
        site.add(html, url).text
        spent.append((time.process_time_ns() - began) / 1e6)
print(json.dumps(spent[-len(pages):]))
"""
"""Times another dehusk to text, as an installation of any version can. The first pages warm up."""


@dataclass(frozen=True, slots=True)
class Contest:
    """Who is timed, on which pages."""

    corpus: str
    caps: Caps
    methods: tuple[str, ...]
    with_peers: bool


def run_alone(
    contest: Contest,
    *,
    rounds: int = 3,
    beside: Sequence[Path] = (),
    on_turn: Callable[[str], None] = lambda _: None,
) -> SpeedReport:
    """The times of every contender in processes of its own, one for each round, turns alternating.

    Of each page the quickest round of a contender counts: what else the machine does falls on some
    pages of each. `beside` are interpreters with another dehusk. Raises UsageError for a corpus
    without pages, or an interpreter without dehusk.
    """
    versions = {python: _version(python) for python in beside}
    names = [runner.name for runner in _runners(contest)]
    best: dict[str, Timing] = {}
    for turn in range(rounds):
        for name in names if turn % 2 == 0 else reversed(names):
            on_turn(name)
            report = _in_a_process(contest, name)
            (timing,) = report.timings
            quickest = np.minimum(best[name].ms, timing.ms) if name in best else timing.ms
            best[name] = replace(timing, ms=quickest)
    timings = [best[name] for name in names]
    if beside:
        timings += _other_timings(contest, versions, rounds, on_turn)
    return SpeedReport(report.corpus, rounds, report.kb, tuple(timings), report.fault)


def _runners(contest: Contest) -> list[Runner]:
    """Those that go the whole way: a part of an answer is never alone."""
    runners, _ = make_runners(contest.methods, with_peers=contest.with_peers)
    return [runner for runner in runners if runner.prepare is None]


def _in_a_process(contest: Contest, name: str) -> SpeedReport:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(time_one, contest, name).result()


def time_one(contest: Contest, name: str) -> SpeedReport:
    """The times of one contender, its garbage collected as everywhere."""
    runner = next(runner for runner in _runners(contest) if runner.name == name)
    corpus = open_corpus(contest.corpus, contest.caps)
    (report,) = run_speed([corpus], [runner], rounds=1, is_alone=True)
    return report


def _other_timings(
    contest: Contest, versions: Mapping[Path, str], rounds: int, on_turn: Callable[[str], None]
) -> Iterator[Timing]:
    """The times to text of the dehusks of other interpreters."""
    with TemporaryDirectory() as folder:
        pages = Path(folder) / "pages.jsonl"
        with pages.open("w", encoding="utf-8") as file:
            for gold in open_corpus(contest.corpus, contest.caps).pages():
                file.write(json.dumps([gold.html, gold.page.url, gold.site]) + "\n")
        for python, version in versions.items():
            on_turn(str(python))
            turns = [_time_other(python, pages) for _ in range(rounds)]
            yield Timing(f"{version} to text", np.min(turns, axis=0))


def _time_other(python: Path, pages: Path) -> list[float]:
    times: list[float] = json.loads(_said(python, _OTHER, str(pages)))
    return times


def _version(python: Path) -> str:
    return f"dehusk {_said(python, 'import dehusk; print(dehusk.__version__)').strip()}"


def _said(python: Path, program: str, *arguments: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603  the user names it
            [str(python), "-c", program, *arguments], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError) as fault:
        said = getattr(fault, "stderr", "") or str(fault)
        raise UsageError(f"{python}: no Python with dehusk: {said.strip()[-200:]}") from fault
    return done.stdout
