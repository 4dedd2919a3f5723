"""How long a page takes: CPU time of every contender on every page, interleaved."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

import numpy as np
import turbohtml
from numpy.typing import NDArray

from dehusk.answer.result import Result
from dehusk.errors import SourceError, UsageError
from dehusk.methods import DEFAULT, Method
from dehusk.methods.written import parse_method
from dehusk.output.formats import Shape
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk_bench.corpora import Corpus, GoldPage, Watcher, watch_nothing
from dehusk_bench.peers.contenders import learner
from dehusk_bench.peers.pages import Peer, load_peers
from dehusk_bench.tables import number, table

Milliseconds = NDArray[np.float64]
Work = Callable[[Page], object]

PARSE: Final = "bare parse"
PEER: Final = "resiliparse"
RIVAL: Final = "trafilatura"
_WARM_UP: Final = 3
"""Pages that every contender works through untimed: imports, caches and tables fill up."""
_COLLECT_EVERY: Final = 16
"""Pages after which garbage is collected, outside the clock."""


@dataclass(frozen=True, slots=True)
class Runner:
    """Something to be timed. `start` gives what works on the pages of one site, in order.

    Where there is `prepare`, it gives what makes of each page, off the clock, what the work gets.
    """

    name: str
    start: Callable[[], Callable[[Any], object]]
    prepare: Callable[[], Callable[[Page], object]] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Timing:
    """A contender's CPU time on each page: the median of the rounds."""

    name: str
    ms: Milliseconds
    """`nan` for a page that it failed on in any round: a crash is quick."""

    @property
    def failures(self) -> int:
        """How many pages it failed on."""
        return int(np.isnan(self.ms).sum())


@dataclass(frozen=True, slots=True, eq=False)
class SpeedReport:
    """The times of all contenders on the same pages."""

    corpus: str
    rounds: int
    kb: NDArray[np.float64]
    """The size of each page."""
    timings: tuple[Timing, ...]
    fault: str | None = None
    """Why the corpus could not be read to its end."""

    @property
    def is_cut(self) -> bool:
        """Did the corpus end in an error?"""
        return self.fault is not None


def run_speed(
    corpora: Sequence[Corpus],
    runners: Sequence[Runner],
    *,
    rounds: int = 3,
    is_alone: bool = False,
    on_page: Watcher = watch_nothing,
) -> Iterator[SpeedReport]:
    """The times of all runners on each corpus. Raises UsageError for a corpus without pages.

    A round is a pass over the corpus; on each page all runners work one after another, in an order
    that changes from page to page, so that neither the machine's moods nor warm caches favour one.
    Garbage is collected off the clock, but of one that is alone: it is its own.
    """
    for corpus in corpora:
        _warm_up(corpus, runners)
        clock = _Clock(runners, collects=not is_alone)
        for turn in range(rounds):
            clock.run_round(corpus, turn, on_page)
        if not clock.sizes:
            raise UsageError(f"{corpus.name}: there are no pages in it")
        yield clock.report(corpus.name, rounds)


def make_runners(
    methods: Sequence[str], *, with_peers: bool
) -> tuple[Sequence[Runner], Sequence[str]]:
    """The parser alone, dehusk's tree, each method to text and to JSON, the peers; and notes."""
    runners = [Runner(PARSE, lambda: _bare_parse), Runner("tree", lambda: parse)]
    for name in dict.fromkeys(methods) or {DEFAULT: None}:
        method = parse_method(name)
        runners += _method_runners(name, method)
    if not with_peers:
        return runners, ()
    peers, notes = load_peers()
    return [*runners, *(_peer_runner(name, peer) for name, peer in peers.items())], notes


def _bare_parse(page: Page) -> object:
    """What the parser makes of the page, with nothing done to it."""
    return turbohtml.parse(page.html)


def _method_runners(name: str, method: Method) -> list[Runner]:
    """A method to text, with its site and without; what is only made when asked for; all of it."""
    parts: dict[str, Callable[[Result], object]] = {
        "links": lambda result: result.links,
        "metadata": lambda result: (result.description, result.verdict),
        "Markdown": lambda result: result.markdown,
    }
    return [
        _learning_runner(f"{name} to text", method, lambda result: result.text),
        Runner(f"{name}, page alone", lambda: _page_alone(method)),
        *(_part_runner(f"{name}: {part}", method, ask) for part, ask in parts.items()),
        _learning_runner(f"{name} to Markdown", method, lambda result: result.markdown),
        _learning_runner(f"{name} to JSON", method, lambda result: Shape().data(result)),
    ]


def _learning_runner(name: str, method: Method, ask: Callable[[Result], object]) -> Runner:
    """A method from page to answer: parsed, learned, scored, labelled, rendered."""

    def start() -> Work:
        add = learner(method)
        return lambda page: ask(add(page)[0])

    return Runner(name, start)


def _page_alone(method: Method) -> Work:
    """A page to its text with nothing learned before, as `dehusk.extract` does."""
    return lambda page: learner(method)(page)[0].text


def _part_runner(name: str, method: Method, ask: Callable[[Result], object]) -> Runner:
    """One part of an answer alone; the page is cleaned off the clock."""

    def prepare() -> Callable[[Page], Result]:
        add = learner(method)
        return lambda page: add(page)[0]

    return Runner(name, lambda: ask, prepare)


def _peer_runner(name: str, peer: Peer) -> Runner:
    """A peer from page to text."""

    def work(page: Page) -> object:
        assert isinstance(page.html, str)
        return peer(page.html, page.url)

    return Runner(name, lambda: work)


def _warm_up(corpus: Corpus, runners: Sequence[Runner]) -> None:
    """Let every runner work on the first pages, off the clock."""
    clock = _Clock(runners)
    with suppress(SourceError):  # It comes again when the clock runs.
        for gold in islice(corpus.pages(), _WARM_UP):
            clock.run_page(gold, 0)


class _Clock:
    """The times so far: per runner a list of rounds, each a list of pages."""

    def __init__(self, runners: Sequence[Runner], *, collects: bool = True) -> None:
        self._runners, self._collects = runners, collects
        self._works: list[tuple[Callable[[Any], object], Callable[[Page], object]]] = []
        self._site: str | None = None
        self._times: list[list[list[float]]] = [[] for _ in runners]
        self.sizes: list[float] = []
        self._fault: str | None = None
        self._done = 0

    def run_round(self, corpus: Corpus, turn: int, on_page: Watcher) -> None:
        """Work through the corpus once, up to where it can be read."""
        for rounds in self._times:
            rounds.append([])
        self._site, self.sizes = None, []
        try:
            with _garbage_kept() if self._collects else nullcontext():
                for place, gold in enumerate(corpus.pages()):
                    spent = self.run_page(gold, place + turn)
                    for rounds, nanoseconds in zip(self._times, spent, strict=True):
                        rounds[-1].append(nanoseconds)
                    self.sizes.append(len(gold.html.encode("utf-8", "replace")) / 1000)
                    self._done += 1
                    on_page(corpus.name, self._done)
                    if self._collects and place % _COLLECT_EVERY == 0:
                        gc.collect()
        except SourceError as fault:
            self._fault = f"{fault}; what came before it was measured"

    def run_page(self, gold: GoldPage, shift: int) -> list[float]:
        """The nanoseconds that each runner takes, or `nan`; the order depends on `shift`."""
        if gold.site != self._site:
            self._site = gold.site
            self._works = [
                (runner.start(), runner.prepare() if runner.prepare else _as_it_is)
                for runner in self._runners
            ]
        count = len(self._works)
        order = [(place + shift // 2) % count for place in range(count)]
        if shift % 2:
            order.reverse()
        spent = [0.0] * count
        for which in order:
            spent[which] = self._time(which, gold.page)
        return spent

    def _time(self, which: int, page: Page) -> float:
        """The CPU time of the whole process, so that a runner's own threads count too.

        `nan` where the runner fails.
        """
        work, prepare = self._works[which]
        try:
            given = prepare(page)
            began = time.process_time_ns()
            # The result is dropped at once: giving its memory back is part of the work.
            work(given)
        except Exception:  # noqa: BLE001  whatever a peer raises, the others are to be timed
            return math.nan
        # Some systems' clocks stand still for milliseconds; nothing takes no time at all.
        return max(time.process_time_ns() - began, 1)

    def report(self, corpus: str, rounds: int) -> SpeedReport:
        """The medians over the rounds; one `nan` makes the median of its page `nan`."""
        timings = tuple(
            Timing(runner.name, np.median(np.array(times), axis=0) / 1e6)
            for runner, times in zip(self._runners, self._times, strict=True)
        )
        return SpeedReport(corpus, rounds, np.array(self.sizes), timings, self._fault)


def _as_it_is(page: Page) -> Page:
    """The page: nothing to prepare."""
    return page


@contextmanager
def _garbage_kept() -> Iterator[None]:
    """No garbage collection inside, so that nobody's clock runs for another's garbage."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def render_speed(report: SpeedReport, *, markdown: bool = False) -> str:
    """The table of one report: times, their spread, and ratios with theirs."""
    by_name = {timing.name: timing.ms for timing in report.timings}
    header = ["CPU ms a page", "median", "quartiles", "mean"]
    bases = []
    for name, sign in ((PARSE, "×"), (PEER, "×"), (RIVAL, "÷")):
        if name in by_name:
            bases.append((by_name[name], sign == "÷"))
            header += [f"{name} ÷" if sign == "÷" else f"× {name}", "quartiles", "by sums"]
    rows = [_row(timing, bases) for timing in report.timings]
    mark = "## " if markdown else ""
    title = (
        f"{mark}{report.corpus}: {len(report.kb)} pages, median {np.median(report.kb):.0f} kB,"
        f" {report.rounds} rounds"
    )
    notes = [
        f"{timing.name}: failed on {timing.failures} pages"
        for timing in report.timings
        if timing.failures
    ]
    notes += [report.fault] if report.fault else []
    return "\n".join([title, "", table(header, rows, markdown=markdown), *notes]).rstrip() + "\n"


def _row(timing: Timing, bases: Sequence[tuple[Milliseconds, bool]]) -> list[str]:
    """One contender's line, from the pages that it did not fail on."""
    cells = [timing.name, *_spread(timing.ms[~np.isnan(timing.ms)])]
    for base, is_over in bases:
        cells += _ratios(base, timing.ms) if is_over else _ratios(timing.ms, base)
    return cells


def _spread(times: Milliseconds) -> list[str]:
    """The median, the quartiles and the mean; dashes where there is no time."""
    if not len(times):
        return [number(None)] * 3
    low, middle, high = np.percentile(times, (25, 50, 75))
    return [number(middle, 2), f"{low:.2f}–{high:.2f}", number(times.mean(), 2)]


def _ratios(times: Milliseconds, base: Milliseconds) -> list[str]:
    """The median of the pages' ratios, their quartiles, and the ratio of the sums, of pages that
    both have done.
    """
    both = ~np.isnan(times + base)
    if not both.any():
        return [number(None)] * 3
    times, base = times[both], base[both]
    low, middle, high = np.percentile(times / base, (25, 50, 75))
    return [number(middle, 2), f"{low:.2f}–{high:.2f}", number(times.sum() / base.sum(), 2)]


def speed_json(reports: Sequence[SpeedReport]) -> list[dict[str, object]]:
    """Every time of every page; null for a page that the contender failed on."""
    return [
        {
            "corpus": report.corpus,
            "rounds": report.rounds,
            "kb": report.kb.tolist(),
            "contenders": {
                timing.name: {
                    "ms": [None if math.isnan(ms) else ms for ms in timing.ms.tolist()],
                    "failures": timing.failures,
                }
                for timing in report.timings
            },
            "fault": report.fault,
        }
        for report in reports
    ]
