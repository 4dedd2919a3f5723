"""`auto` beside all other methods and peers on one corpus, out of what `quality` wrote."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from dehusk_bench.plots import line_plot
from dehusk_bench.quality.averages import MAIN, Figure, Place
from dehusk_bench.quality.bootstrap import Interval, SiteValue, Verdict, difference, interval
from dehusk_bench.quality.measure import GOLD
from dehusk_bench.quality.report import NAMES
from dehusk_bench.tables import number

OURS: Final = "auto"
_PEERS: Final = "peers"
PARTS: Final = ("auto", "methods", _PEERS)
"""The experiments on a corpus, in the order of the rows."""
_COLUMNS: Final = (
    ("P", Figure.PRECISION, Place.ALL),
    ("R", Figure.RECALL, Place.ALL),
    ("F1", Figure.F1, Place.ALL),
    ("1–5", Figure.F1, Place.EARLY),
    ("6–19", Figure.F1, Place.MIDDLE),
    ("20+", Figure.F1, Place.LATE),
    ("template F1", Figure.TEMPLATE_F1, Place.ALL),
    ("kept", Figure.KEPT, Place.ALL),
    ("left", Figure.LEFT, Place.ALL),
    ("snippet P", Figure.SNIPPET_PRECISION, Place.ALL),
    ("snippet R", Figure.SNIPPET_RECALL, Place.ALL),
    ("snippet F1", Figure.SNIPPET_F1, Place.ALL),
    ("comments", Figure.COMMENTS, Place.ALL),
    ("words", Figure.WORDS, Place.ALL),
)
_DIGITS: Final = {Figure.WORDS: 0}
_IN_GROUPS: Final = (
    OURS, "segments", "site-hash", "page", "trafilatura", "rs-trafilatura", "resiliparse",
    "readability", "mozilla-readability", "defuddle", "lines-unique", "all-text",
)  # fmt: skip
"""Those that tables by language and by type have room for."""
_IN_CURVES: Final = (
    OURS, "segments", "site-hash", "style-tree", "page", "trafilatura", "resiliparse",
    "lines-once",
)  # fmt: skip

Table = tuple[Sequence[str], Sequence[Sequence[str]]]
"""A header and its rows."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """All contenders on one corpus."""

    corpus: str
    pages: int
    sites: int
    contenders: Mapping[str, Mapping[str, Any]]
    groups: Mapping[str, Mapping[str, Mapping[str, Any]]]
    peers: frozenset[str] = frozenset()
    """Which of the contenders are not ours."""

    def figure(self) -> Figure:
        """What contenders are compared by."""
        means = [each["mean"] for each in self.contenders.values()]
        return next((each for each in MAIN if any(each in mean for mean in means)), MAIN[-1])

    def by_site(self, name: str, figure: Figure) -> dict[str, SiteValue]:
        """A contender's mean on each site that has the figure; the sums of a pooled one."""
        sites: Mapping[str, Any] = self.contenders[name]["by_site"]
        return {
            site: figures[figure][Place.ALL] for site, figures in sites.items() if figure in figures
        }

    def against(self, name: str) -> Interval | None:
        """By how much `auto` is above the contender."""
        if OURS not in self.contenders:
            return None
        figure = self.figure()
        return difference(self.by_site(OURS, figure), self.by_site(name, figure))


def read_comparison(folder: Path, corpus: str) -> Comparison | None:
    """What was measured on a corpus; None if nothing was."""
    contenders: dict[str, Any] = {}
    groups: dict[str, dict[str, Any]] = {}
    peers: set[str] = set()
    pages = sites = 0
    for part in PARTS:
        path = folder / f"{part}-{corpus}.json"
        if not path.is_file():
            continue
        for report in json.loads(path.read_text("utf-8")):
            _add(contenders, report["contenders"])
            peers.update(report["contenders"] if part == _PEERS else ())
            pages, sites = max(pages, report["pages"]), max(sites, report["sites"])
            for group, each in report["groups"].items():
                _add(groups.setdefault(group, {}), each)
    contenders.pop(GOLD, None)
    if not contenders:
        return None
    return Comparison(corpus, pages, sites, contenders, groups, frozenset(peers - {GOLD}))


def _add(into: dict[str, Any], more: Mapping[str, Any]) -> None:
    """Take in contenders; of one that is there already, its sites."""
    for name, each in more.items():
        known = into.get(name)
        if known is None:
            into[name] = each
        elif "by_site" in each:
            sites = {**known["by_site"], **each["by_site"]}
            into[name] = {"mean": known["mean"] | each["mean"], "by_site": sites}


def comparison_table(comparison: Comparison) -> Table:
    """A row for each contender, the best first: its figures, and what `auto` is above it."""
    figure = comparison.figure()
    columns = [column for column in _COLUMNS if _has(comparison, column[1], column[2])]
    header = [
        "", *(head for head, _, _ in columns), f"{NAMES[figure]}, 95 %", "`auto` is above it by",
        "95 %", "so `auto` is", "sites",
    ]  # fmt: skip
    rows = []
    for name in sorted(comparison.contenders, key=lambda n: -_mean(comparison, n, figure)):
        mean = comparison.contenders[name]["mean"]
        own = interval(list(comparison.by_site(name, figure).values()))
        cells = [
            number(mean.get(fig, {}).get(place), _DIGITS.get(fig, 3)) for _, fig, place in columns
        ]
        found = None if name == OURS else comparison.against(name)
        compared = (
            [f"{found.mean:+.3f}", found.range_text(), str(found.verdict), str(found.sites)]
            if found
            else ["", "", "", str(own.sites if own else 0)]
        )
        shown = f"**`{name}`**" if name == OURS else f"`{name}`"
        rows.append([shown, *cells, own.range_text() if own else "–", *compared])
    return header, rows


def _has(comparison: Comparison, figure: Figure, place: Place) -> bool:
    return any(place in each["mean"].get(figure, {}) for each in comparison.contenders.values())


def _mean(comparison: Comparison, name: str, figure: Figure) -> float:
    mean: float = comparison.contenders[name]["mean"].get(figure, {}).get(Place.ALL, 0.0)
    return mean


def claims(comparison: Comparison) -> Iterator[str]:
    """What may be said of `auto` on the corpus, in sentences; nothing within noise is claimed."""
    by_verdict: dict[Verdict, list[tuple[float, str]]] = {}
    for name in comparison.contenders:
        found = None if name == OURS else comparison.against(name)
        if found is not None:
            shown = f"`{name}` ({found.mean:+.3f}{_at_words(comparison, name)})"
            by_verdict.setdefault(found.verdict, []).append((found.mean, shown))
    words = {
        Verdict.BETTER: "better than",
        Verdict.WORSE: "**worse than**",
        Verdict.NOISE: "within noise of",
    }
    for verdict, phrase in words.items():
        if verdict in by_verdict:
            others = ", ".join(shown for _, shown in sorted(by_verdict[verdict]))
            yield f"`auto` is {phrase} {others}."


def _at_words(comparison: Comparison, name: str) -> str:
    """How many words it takes, where keeping more of them is all that is measured."""
    if comparison.figure() is not Figure.KEPT:
        return ""
    return f" with {_mean(comparison, name, Figure.WORDS):.0f} words"


def summary_table(comparisons: Sequence[Comparison]) -> Table | None:
    """`auto`, the best other method and the best peer by F1 on each corpus; None without any.

    F1 is that of words, or of snippets where these are all the gold.
    """
    header = ["", "`auto`", "95 %"]
    header += [part for best in ("method", "peer") for part in (f"best other {best}", "F1", "95 %")]
    rows = []
    for each in comparisons:
        if each.figure() is Figure.KEPT or OURS not in each.contenders:
            continue
        methods = [name for name in each.contenders if name not in {OURS, *each.peers}]
        cells = [*_best(each, methods), *_best(each, sorted(each.peers))]
        rows.append([each.corpus, *_figures(each, OURS), *cells])
    return (header, rows) if rows else None


def _best(comparison: Comparison, names: Sequence[str]) -> list[str]:
    """The best of them, and its figures; dashes without any."""
    if not names:
        return [number(None)] * 3
    best = max(names, key=lambda name: _mean(comparison, name, comparison.figure()))
    return [f"`{best}`", *_figures(comparison, best)]


def _figures(comparison: Comparison, name: str) -> tuple[str, str]:
    """F1 and its range."""
    figure = comparison.figure()
    own = interval(list(comparison.by_site(name, figure).values()))
    shown = own.range_text() if own else number(None)
    return number(_mean(comparison, name, figure)), shown


def group_table(comparison: Comparison) -> Table | None:
    """F1 by language, type of page or the like; None where figures were not broken down."""
    names = [name for name in _IN_GROUPS if name in comparison.contenders]
    figure = comparison.figure()
    rows = []
    for group in sorted(comparison.groups):
        of = comparison.groups[group]
        means = [of.get(name, {}).get("mean", {}).get(figure, {}) for name in names]
        cells = [number(each.get(Place.ALL)) for each in means]
        if any(cell != number(None) for cell in cells):
            rows.append([group, *cells])
    return (["", *(f"`{name}`" for name in names)], rows) if rows else None


def curve_plot(comparison: Comparison) -> str | None:
    """F1 over the pages seen of a site, as SVG; None where no site has enough pages."""
    curves = {
        name: [(float(x), float(y)) for x, y in comparison.contenders[name].get("curve", ())]
        for name in _IN_CURVES
        if name in comparison.contenders
    }
    if not any(curves.values()):
        return None
    labels = ("pages seen", "F1 of content words")
    return line_plot(f"{comparison.corpus}: learning curves", labels, curves)
