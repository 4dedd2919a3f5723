"""What `dehusk bench teco` measures and prints."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import numpy as np

from dehusk.doors.service.gold import Score, score
from dehusk.errors import SourceError, UsageError
from dehusk.memory import Memory
from dehusk.methods import Method
from dehusk.methods.papers.hyperlink import BEST_VOTES, Equality, Hyperlink, detect
from dehusk.methods.papers.hyperlink.addresses import Addresses
from dehusk.methods.papers.hyperlink.links import find_links, sort_links
from dehusk.methods.written import parse_method
from dehusk.page.tree import Flags, Tree
from dehusk_bench.corpora import Caps, Watcher, watch_nothing
from dehusk_bench.papers.teco_pages import (
    NO_TYPE,
    KeyPage,
    choose_links,
    links_table,
    read_key_pages,
)
from dehusk_bench.quality.report import first_against_others
from dehusk_bench.showing import Progress
from dehusk_bench.tables import number, table

SIZES: Final = range(1, 9)
"""The sizes of tables 5.2 and 5.3 of the thesis, and of table 2 of 001."""

_THRESHOLDS: Final = (0.0, 0.1, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8)
_FIRST_WEIGHTS: Final[dict[str, Any]] = {
    "classes_weight": 0.4,
    "position_weight": 0.4,
    "attributes_weight": 0.1,
    "children_weight": 0.1,
}
"""Those from which section 5.2.3 of the thesis starts."""
_OWN: Final[dict[str, dict[str, Any]]] = {
    **{f"{x} true": {x: True} for x in ("menu", "replace_atypical", "moved", "content_first")},
    "max_loads 6": {"max_loads": 6},
}
"""What is dehusk's own."""
ABLATIONS: Final[dict[str, dict[str, dict[str, Any]]]] = {
    Equality.PAPER: {
        "as set": {},
        **{f"similarity_threshold {x:g}": {"similarity_threshold": x} for x in _THRESHOLDS},
        "activate_position false": {"activate_position": False},
        **{f"not_classes {x:g}": {"not_classes": x} for x in (0.76, 0.8, 0.875, 0.95, 1.0)},
        "weights at first": _FIRST_WEIGHTS,
        **{
            f"no weight of {x}": {f"{x}_weight": 0.0}
            for x in ("classes", "position", "attributes", "children")
        },
        **_OWN,
    },
    Equality.TEXT: {
        "as set": {},
        **{f"content_share {x:g}": {"content_share": x} for x in (0.55, 0.6, 0.65, 0.75, 0.8)},
        **{f"sure_share {x:g}": {"sure_share": x} for x in (0.75, 0.8, 0.85, 0.95, 1.0)},
        **_OWN,
    },
}
"""What section 5.2.3 of the thesis varies, and what is dehusk's own, by equality."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of table 1 of 001. Nodes are elements that carry or enclose shown text or an image.

    Those above the content count as template in `teco_f1`, as in the suite, and not in the rest.
    """

    site: str
    type: str
    nodes: int
    template: int
    retrieved: int
    hits: int
    recall: float
    precision: float
    f1: float
    teco_f1: float
    loads: int
    ms: float


_FIGURES: Final = (
    ("nodes", 1), ("template", 1), ("retrieved", 1), ("hits", 1), ("recall", 3), ("precision", 3),
    ("f1", 3), ("teco_f1", 3), ("loads", 1), ("ms", 1),
)  # fmt: skip
"""The columns of the table, and digits behind the point."""
LEGEND: Final = (
    "nodes: elements that carry or enclose shown text or an image; those above the content are"
    " template in teco_f1 only.\nloads: pages loaded, the key page included; ms: CPU time, parsing"
    " of pages left out. Means over key pages.\n"
)


@dataclass(frozen=True, slots=True, eq=False)
class _Answer:
    """Which nodes are called template, after how many loads, and how long it took."""

    called: Flags
    loads: int
    ms: float


class _Clock:
    """CPU time since its start, without the time that loading takes."""

    def __init__(self, load: Callable[[str], Tree | None]) -> None:
        self._load = load
        self._start = time.process_time()

    def load(self, url: str) -> Tree | None:
        """Load a page while the clock stands."""
        before = time.process_time()
        page = self._load(url)
        self._start += time.process_time() - before
        return page

    @property
    def ms(self) -> float:
        """What the clock shows."""
        return 1000 * (time.process_time() - self._start)


def run_teco(
    keys: Iterable[KeyPage], method: Method, *, on_page: Watcher = watch_nothing
) -> list[Row]:
    """A row for each key page that has template. Hyperlink is given each page's loader.

    Any other method first learns the pages that the key page links, in the order of Algorithm 1,
    then the key page.
    """
    rows = []
    for done, key in enumerate(keys, 1):
        if key.gold.template.any():
            rows.append(_row(key, _ask(method, key)))
        on_page(key.site, done)
    return rows


def _ask(method: Method, key: KeyPage) -> _Answer:
    """The method's answer on one key page."""
    clock = _Clock(key.load)
    if isinstance(method, Hyperlink):
        found = detect(replace(method, loader=clock.load), key.tree)
        return _Answer(np.asarray(found.scores > 0.5), found.loads, clock.ms)
    memory, loads = Memory(), 1
    links = find_links(key.tree, Addresses()).inside
    for link in sort_links(key.tree, links, key.tree.url or ""):
        page = clock.load(link.url)
        if page is not None:
            memory = method.learn(memory, page)
            loads += 1
    scores = method.score(method.learn(memory, key.tree), key.tree)
    return _Answer(np.asarray(scores > 0.5), loads, clock.ms)


def _row(key: KeyPage, answer: _Answer) -> Row:
    """The figures of one key page."""
    gold, called = key.gold, key.gold.judged & answer.called
    measured, teco = _score(gold.template, called), _score(gold.template | gold.above, called)
    return Row(
        key.site,
        key.type,
        nodes=_count(gold.judged),
        template=_count(gold.template),
        retrieved=_count(called),
        hits=_count(gold.template & called),
        recall=measured.recall,
        precision=measured.precision,
        f1=measured.f1,
        teco_f1=teco.f1,
        loads=answer.loads,
        ms=answer.ms,
    )


def _score(gold: Flags, called: Flags) -> Score:
    return score(_count(gold & called), _count(gold), _count(called))


def _count(flags: Flags) -> int:
    return int(np.count_nonzero(flags))


def run_sweep(
    keys: Sequence[KeyPage], method: Hyperlink, *, on_page: Watcher = watch_nothing
) -> dict[tuple[int, int], list[Row]]:
    """The rows for every size and number of votes.

    By the paper a page's votes do not depend on how many are needed, so that they are counted once
    for each size; the time is that of the count.
    """
    swept: dict[tuple[int, int], list[Row]] = {}
    judged = [key for key in keys if key.gold.template.any()]
    for size in SIZES:
        for key in judged:
            for votes, row in _sweep_page(key, replace(method, size=size, votes=1)):
                swept.setdefault((size, votes), []).append(row)
            on_page(f"size {size}", len(swept[size, 1]))
    return swept


def _sweep_page(key: KeyPage, method: Hyperlink) -> Iterator[tuple[int, Row]]:
    """The rows of one key page and one size, by votes."""
    by_count = method.equality == Equality.PAPER and not (method.menu or method.content_first)
    clock = _Clock(key.load)
    found = detect(replace(method, loader=clock.load), key.tree)
    ms = clock.ms
    for votes in range(1, method.size + 1):
        if by_count:
            needed = min(votes, len(found.pages)) or 1
            answer = _Answer(np.asarray(found.votes >= needed), found.loads, ms)
        else:
            answer = _ask(replace(method, votes=votes), key)
        yield votes, _row(key, answer)


def means(rows: Sequence[Row]) -> dict[str, float]:
    """Each figure's mean over the key pages, as 001 has it; empty without rows."""
    return {name: fmean(float(getattr(row, name)) for row in rows) for name, _ in _FIGURES if rows}


def run_report(arguments: argparse.Namespace) -> int:
    """Print the tables of each source; 1 if one could not be read to its end."""
    methods = {name: parse_method(name) for name in arguments.methods or ("hyperlink",)}
    if arguments.sweep or arguments.ablation or arguments.links:
        _check_experiments(methods)
    is_cut = False
    saved: dict[str, Any] = {}
    progress = Progress(sys.stderr)
    for source in arguments.sources:
        keys, notes, is_damaged = _read(source, Caps(arguments.sites))
        is_cut |= is_damaged
        for name, method in methods.items():
            for title, text, rows in _experiments(arguments, keys, method, progress.show):
                progress.clear()
                saved.setdefault(source, {}).setdefault(name, {})[title] = rows
                mark = "## " if arguments.markdown else ""
                sys.stdout.write(f"{mark}{source}, {name}: {title}\n\n{text}\n")
                sys.stdout.flush()
        sys.stdout.write(_compared(source, saved.get(source, {}), markdown=arguments.markdown))
        sys.stdout.writelines(f"{note}\n" for note in notes)
    sys.stdout.write(LEGEND)
    if arguments.json is not None:
        text = json.dumps(saved, ensure_ascii=False, indent=1)
        Path(arguments.json).write_text(text + "\n", "utf-8")
    return int(is_cut)


def _compared(source: str, saved: Mapping[str, Mapping[str, Any]], *, markdown: bool) -> str:
    """The first method against the others by the means of their sites; nothing without others."""
    scores = {name: _site_means(next(iter(found.values()))) for name, found in saved.items()}
    compared = first_against_others(scores, markdown=markdown) if scores else ""
    mark = "## " if markdown else ""
    return f"{mark}{source}: site by site\n\n{compared}\n" if compared else ""


def _site_means(rows: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """The mean F1 of each site's key pages."""
    by_site: dict[str, list[float]] = {}
    for row in rows:
        by_site.setdefault(row["site"], []).append(row["f1"])
    return {site: fmean(found) for site, found in by_site.items()}


def _check_experiments(methods: Mapping[str, Method]) -> None:
    """Raise UsageError for a method that the experiments are not about."""
    for name, method in methods.items():
        if not isinstance(method, Hyperlink):
            raise UsageError(f"--sweep, --ablation and --links are about hyperlink, not {name}")


def _read(source: str, caps: Caps) -> tuple[list[KeyPage], list[str], bool]:
    """The key pages of a source, what was left out, and whether it ended early."""
    keys: list[KeyPage] = []
    notes: list[str] = []
    try:
        keys.extend(read_key_pages(source, notes, caps))
    except SourceError as fault:
        return keys, [*notes, f"{fault}; what came before it was measured"], True
    return keys, notes, False


def _experiments(
    arguments: argparse.Namespace, keys: Sequence[KeyPage], method: Method, on_page: Watcher
) -> Iterator[tuple[str, str, Any]]:
    """The title, the table and the figures of each experiment that was asked for."""
    markdown = arguments.markdown
    rows = run_teco(keys, method, on_page=on_page)
    text = main_table(rows, with_rows=arguments.rows, markdown=markdown)
    title = f"{len(rows)} key pages"
    if len(rows) < len(keys):
        title += f" ({len(keys) - len(rows)} more have no template and are left out)"
    yield title, text, [asdict(row) for row in rows]
    if arguments.links and isinstance(method, Hyperlink):
        chosen = choose_links(keys, method, on_page=on_page)
        yield "which links are chosen", links_table(chosen, markdown=markdown), chosen.figures()
    if arguments.sweep and isinstance(method, Hyperlink):
        swept = run_sweep(keys, method, on_page=on_page)
        by_pair = {f"{size},{votes}": means(found) for (size, votes), found in swept.items()}
        yield "F1 by size and votes", sweep_table(swept, markdown=markdown), by_pair
    if arguments.ablation and isinstance(method, Hyperlink):
        varied = {
            name: means(run_teco(keys, replace(method, **settings), on_page=on_page))
            for name, settings in ABLATIONS[method.equality].items()
        }
        yield "what the settings are worth", _table("setting", varied, markdown=markdown), varied


def main_table(rows: Sequence[Row], *, with_rows: bool, markdown: bool) -> str:
    """Table 1 of 001: the mean, the mean of each type of site, and the key pages if asked for."""
    lines: dict[str, Mapping[str, float]] = {"all": means(rows)}
    types = sorted({row.type for row in rows} - {NO_TYPE})
    lines |= {name: means([row for row in rows if row.type == name]) for name in types}
    if with_rows:
        lines |= {
            f"{row.site} {place}": {name: float(getattr(row, name)) for name, _ in _FIGURES}
            for place, row in enumerate(rows, 1)
        }
    return _table("site", lines, markdown=markdown)


def _table(first: str, lines: Mapping[str, Mapping[str, float]], *, markdown: bool) -> str:
    """A row of figures for each line."""
    cells = [
        [name, *(number(figures.get(figure), digits) for figure, digits in _FIGURES)]
        for name, figures in lines.items()
    ]
    return table([first, *(figure for figure, _ in _FIGURES)], cells, markdown=markdown)


def sweep_table(swept: Mapping[tuple[int, int], Sequence[Row]], *, markdown: bool) -> str:
    """F1 by size (columns) and votes (rows), the best of each size, and what it costs."""
    sizes = sorted({size for size, _ in swept})
    found = {pair: means(rows) for pair, rows in swept.items()}

    def line(name: str, cell: Callable[[int], str]) -> list[str]:
        return [name, *(cell(size) for size in sizes)]

    def f1(size: int, votes: int) -> float | None:
        return found.get((size, votes), {}).get("f1")

    def best(size: int) -> int:
        return max(range(1, size + 1), key=lambda votes: f1(size, votes) or 0.0)

    rows = [[f"{votes} votes", *(number(f1(size, votes)) for size in sizes)] for votes in sizes]
    rows += [
        line("best F1", lambda size: number(f1(size, best(size)))),
        line("best votes", lambda size: str(best(size))),
        line("in 001", lambda size: str(BEST_VOTES.get(size, "–"))),
        line("loads", lambda size: number(found[size, 1].get("loads"), 1)),
        line("ms", lambda size: number(found[size, 1].get("ms"), 1)),
    ]
    return table(["", *(f"size {size}" for size in sizes)], rows, markdown=markdown)
