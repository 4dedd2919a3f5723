"""What `dehusk bench teco` prints."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from dehusk.errors import SourceError, UsageError
from dehusk.methods import Method
from dehusk.methods.papers.hyperlink import BEST, BEST_VOTES, Equality, Hyperlink, PageVerdict
from dehusk.methods.written import parse_method
from dehusk_bench.corpora import Caps, Watcher
from dehusk_bench.papers.teco_grid import (
    DEFAULTS,
    State,
    combine,
    facts_of,
    grid_tables,
    read_grid,
    run_grid,
    split,
)
from dehusk_bench.papers.teco_links import choose_links, links_table, menu_links, menu_table
from dehusk_bench.papers.teco_measure import FewLoads, Row, means, run_sweep, run_teco
from dehusk_bench.papers.teco_pages import NO_TYPE, KeyPage, read_key_pages
from dehusk_bench.peers.contenders import read_folds, unseen_note
from dehusk_bench.quality.report import first_against_others
from dehusk_bench.showing import Progress
from dehusk_bench.tables import number, table

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
    **{f"page_verdict {x}": {"page_verdict": x} for x in PageVerdict if x != PageVerdict.OFF},
    **{f"max_loads {x}": {"max_loads": x} for x in (4, 5, 6)},
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


_Figures = tuple[tuple[str, int], ...]
_FIGURES: Final[_Figures] = (
    ("nodes", 1), ("template", 1), ("retrieved", 1), ("hits", 1), ("recall", 3), ("precision", 3),
    ("f1", 3), ("teco_f1", 3), ("loads", 1), ("requests", 1), ("ms", 1),
)  # fmt: skip
"""The columns of the table, and digits behind the point."""
_DOM: Final = (
    *((f"dom_{name}", digits) for name, digits in _FIGURES[:7]), ("dom_content", 1),
    *((f"printed_{name}", 1) for name in ("nodes", "template", "content")),
)  # fmt: skip
_CONTENT: Final = (
    ("content", 1), *((f"content_{name}", digits) for name, digits in _FIGURES[2:7]),
    ("words_recall", 3), ("words_precision", 3), ("words_f1", 3),
)  # fmt: skip
_SIDE_BY_SIDE: Final[_Figures] = (
    ("precision", 3), ("recall", 3), ("f1", 3), ("teco_f1", 3), ("dom_f1", 3), ("content_f1", 3),
    ("words_f1", 3), ("loads", 1), ("requests", 1), ("ms", 1),
)  # fmt: skip
LEGEND: Final = (
    "nodes: elements that carry or enclose shown text or an image; those above the content are"
    " template in teco_f1 only.\n"
    "dom: every element and text of the DOM, as the papers count; those above the content are"
    " template.\n"
    "content: elements of the main content, against those that neither are called template nor hold"
    " what is.\n"
    "words: those of the main content, against those of texts not called template.\n"
    "printed: what table 6.2 of the thesis has.\n"
    "loads: pages loaded, the key page included; requests: with links that led nowhere, or to a"
    " page that was known; ms: CPU time, parsing of pages left out. Means over key pages.\n"
)


def run_report(arguments: argparse.Namespace) -> int:
    """Print the tables of each source; 1 if one could not be read to its end."""
    methods = _methods(arguments)
    _check_experiments(arguments, methods)
    unseen = {} if arguments.folds is None else read_folds(arguments.folds)
    is_cut = False
    saved: dict[str, Any] = {}
    progress = Progress(sys.stderr)
    for source in arguments.sources:
        keys, notes, is_damaged = _read(source, arguments)
        if arguments.folds is not None:
            sites = {key.site for key in keys}
            if sites.isdisjoint(unseen):
                raise UsageError(f"--folds {arguments.folds}: no model there is for {source}")
            keys = [replace(key, model=unseen.get(key.site)) for key in keys]
            notes = [unseen_note(unseen, sites), *notes]
        is_cut |= is_damaged
        for name, method in methods.items():
            for title, text, rows in _experiments(arguments, source, keys, method, progress.show):
                progress.clear()
                if rows is not None:
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


def _methods(arguments: argparse.Namespace) -> dict[str, Method | FewLoads]:
    """The methods to measure, by the names that tables have them under. Raises UsageError."""
    named = arguments.methods or (() if arguments.few_loads else ("hyperlink",))
    found: dict[str, Method | FewLoads] = {name: parse_method(name) for name in named}
    for name in arguments.few_loads:
        method = parse_method(name)
        if isinstance(method, Hyperlink):
            raise UsageError(f"--few-loads {name}: hyperlink has its own setting, max_loads")
        found[f"{name}, at most {BEST['max_loads']} loads"] = FewLoads(method)
    return found


def _compared(source: str, saved: Mapping[str, Mapping[str, Any]], *, markdown: bool) -> str:
    """The methods side by side, and the first against the others by the means of their sites.

    Nothing without others.
    """
    if len(saved) < 2:
        return ""
    first = {name: next(iter(found.values())) for name, found in saved.items()}
    lines = {name: means([Row(**row) for row in rows]) for name, rows in first.items()}
    mark = "## " if markdown else ""
    shown = f"{mark}{source}: methods side by side\n\n"
    shown += _table("method", lines, _SIDE_BY_SIDE, markdown=markdown)
    scores = {name: _site_means(rows) for name, rows in first.items()}
    compared = first_against_others(scores, markdown=markdown)
    return f"{shown}\n{mark}{source}: site by site\n\n{compared}\n"


def _site_means(rows: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """The mean F1 of each site's key pages."""
    by_site: dict[str, list[float]] = {}
    for row in rows:
        by_site.setdefault(row["site"], []).append(row["f1"])
    return {site: fmean(found) for site, found in by_site.items()}


def _check_experiments(
    arguments: argparse.Namespace, methods: Mapping[str, Method | FewLoads]
) -> None:
    """Raise UsageError for what cannot be, before anything is measured."""
    named = [name for name in ("sweep", "ablation", "links", "grid") if getattr(arguments, name)]
    for name, method in methods.items():
        if named and not isinstance(method, Hyperlink):
            raise UsageError(f"--{named[0]} is about hyperlink, not {name}")
        if arguments.grid and isinstance(method, Hyperlink):
            combine(read_grid(arguments.vary or DEFAULTS[method.equality]), method)
    if arguments.links and arguments.stand_ins:
        raise UsageError("--links tells where links lead: not together with --stand-ins")
    if not arguments.grid and (arguments.vary or arguments.state):
        raise UsageError("--vary and --state are for --grid")
    if arguments.state and len(methods) * len(arguments.sources) > 1:
        raise UsageError("--state is for one source and one method")
    if arguments.grid and arguments.parts < 2:
        raise UsageError("--parts: there must be two at least, one to train on and one to test on")


def _read(source: str, arguments: argparse.Namespace) -> tuple[list[KeyPage], list[str], bool]:
    """The key pages of a source, what was left out, and whether it ended early."""
    keys: list[KeyPage] = []
    notes: list[str] = []
    try:
        caps = Caps(arguments.sites)
        keys.extend(
            read_key_pages(
                source, notes, caps, max_keys=arguments.keys, stand_ins=arguments.stand_ins
            )
        )
    except SourceError as fault:
        return keys, [*notes, f"{fault}; what came before it was measured"], True
    return keys, notes, False


def _experiments(
    arguments: argparse.Namespace,
    source: str,
    keys: Sequence[KeyPage],
    method: Method | FewLoads,
    on_page: Watcher,
) -> Iterator[tuple[str, str, Any]]:
    """The title, the table and the figures of each experiment that was asked for."""
    markdown = arguments.markdown
    rows = run_teco(keys, method, on_page=on_page)
    title = f"{len(rows)} key pages"
    if len(rows) < len(keys):
        title += f" ({len(keys) - len(rows)} more have no template and are left out)"
    text = main_table(rows, _FIGURES, with_rows=arguments.rows, markdown=markdown)
    yield title, text, [asdict(row) for row in rows]
    for title, figures in (("nodes as the papers count", _DOM), ("main content", _CONTENT)):
        if any(getattr(row, figures[0][0]) is not None for row in rows):
            text = main_table(rows, figures, with_rows=arguments.rows, markdown=markdown)
            yield title, text, None
    if arguments.links and isinstance(method, Hyperlink):
        chosen = choose_links(keys, method, on_page=on_page)
        yield "which links are chosen", links_table(chosen, markdown=markdown), chosen.figures()
        menus = menu_links(keys, method, on_page=on_page)
        text = menu_table(menus, with_rows=arguments.rows, markdown=markdown)
        yield "links of the menu by kind", text, [asdict(menu) for menu in menus]
    if arguments.sweep and isinstance(method, Hyperlink):
        swept = run_sweep(keys, method, on_page=on_page)
        by_pair = {f"{size},{votes}": means(found) for (size, votes), found in swept.items()}
        yield "F1 by size and votes", sweep_table(swept, markdown=markdown), by_pair
    if arguments.ablation and isinstance(method, Hyperlink):
        varied = {
            name: means(run_teco(keys, replace(method, **settings), on_page=on_page))
            for name, settings in ABLATIONS[method.equality].items()
        }
        text = _table("setting", varied, _FIGURES, markdown=markdown)
        yield "what the settings are worth", text, varied
    if arguments.grid and isinstance(method, Hyperlink):
        yield _grid(arguments, source, keys, method)


def _grid(
    arguments: argparse.Namespace, source: str, keys: Sequence[KeyPage], method: Hyperlink
) -> tuple[str, str, Any]:
    """The title, the tables and the figures of the grid."""
    grid = read_grid(arguments.vary or DEFAULTS[method.equality])
    combinations = combine(grid, method)
    folds = split([key.site for key in keys if key.gold.template.any()], arguments.parts)
    options = {"--keys": arguments.keys, "--stand-ins": arguments.stand_ins}
    facts = facts_of(source, keys, method, options) if arguments.state else {}
    state, say = State(arguments.state, facts), Progress(sys.stderr).say
    trials = run_grid(keys, method, combinations, state, say)
    (as_set,) = run_grid(keys, method, [{}], state, say)
    title = f"{len(trials)} combinations of settings, {arguments.parts} folds"
    text = grid_tables(trials, folds, as_set, grid, markdown=arguments.markdown)
    figures = {
        "folds": [asdict(fold) | {"chosen": fold.choose(trials).settings} for fold in folds],
        "trials": [asdict(trial) for trial in trials],
    }
    return title, text, figures


def main_table(rows: Sequence[Row], figures: _Figures, *, with_rows: bool, markdown: bool) -> str:
    """The mean, the mean of each type of site, and the key pages if asked for."""
    lines: dict[str, Mapping[str, float]] = {"all": means(rows)}
    types = sorted({row.type for row in rows} - {NO_TYPE})
    lines |= {name: means([row for row in rows if row.type == name]) for name in types}
    if with_rows:
        lines |= {f"{row.site} {place}": means([row]) for place, row in enumerate(rows, 1)}
    return _table("site", lines, figures, markdown=markdown)


def _table(
    first: str, lines: Mapping[str, Mapping[str, float]], figures: _Figures, *, markdown: bool
) -> str:
    """A row for each line; figures that none of them has are left out."""
    shown = [(name, digits) for name, digits in figures if any(name in x for x in lines.values())]
    cells = [
        [name, *(number(found.get(figure), digits) for figure, digits in shown)]
        for name, found in lines.items()
    ]
    return table([first, *(figure for figure, _ in shown)], cells, markdown=markdown)


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
