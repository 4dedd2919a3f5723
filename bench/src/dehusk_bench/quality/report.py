"""What `dehusk bench quality` shows of its measurements: tables for people, JSON for programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from dehusk_bench.quality.averages import COSTS, Averages, Figure, Place
from dehusk_bench.quality.bootstrap import MIN_SITES, SiteValue, difference
from dehusk_bench.quality.curves import learning_curve
from dehusk_bench.quality.measure import GOLD, Report
from dehusk_bench.tables import number, table

_Column = tuple[str, Figure, Place]

NAMES: Final = {Figure.F1: "F1", Figure.SNIPPET_F1: "snippet F1", Figure.KEPT: "kept"}
"""The headings of the figures that contenders are compared by."""
_PLACES: Final = (Place.EARLY, Place.MIDDLE, Place.LATE)
_CONTENT: Final[tuple[_Column, ...]] = (
    ("P", Figure.PRECISION, Place.ALL),
    ("R", Figure.RECALL, Place.ALL),
    ("F1", Figure.F1, Place.ALL),
    *((str(place), Figure.F1, place) for place in _PLACES),
    ("kept", Figure.KEPT, Place.ALL),
    ("left", Figure.LEFT, Place.ALL),
    ("snippet P", Figure.SNIPPET_PRECISION, Place.ALL),
    ("snippet R", Figure.SNIPPET_RECALL, Place.ALL),
    (NAMES[Figure.SNIPPET_F1], Figure.SNIPPET_F1, Place.ALL),
    ("comments", Figure.COMMENTS, Place.ALL),
    ("words", Figure.WORDS, Place.ALL),
    ("CPU ms", Figure.CPU_MS, Place.ALL),
    ("state B", Figure.STATE_BYTES, Place.ALL),
)
_TEMPLATE: Final[tuple[_Column, ...]] = (
    ("P", Figure.TEMPLATE_PRECISION, Place.ALL),
    ("R", Figure.TEMPLATE_RECALL, Place.ALL),
    ("F1", Figure.TEMPLATE_F1, Place.ALL),
    *((str(place), Figure.TEMPLATE_F1, place) for place in _PLACES),
)
_TECO: Final[tuple[_Column, ...]] = (
    ("TECO P", Figure.TECO_PRECISION, Place.ALL),
    ("TECO R", Figure.TECO_RECALL, Place.ALL),
    ("TECO F1", Figure.TECO_F1, Place.ALL),
)
_DIGITS: Final = {Figure.WORDS: 0, Figure.STATE_BYTES: 0, Figure.CPU_MS: 1}
_WRONG: Final[_Column] = ("wrong", Figure.WRONG, Place.ALL)
_GOLD_COLUMNS: Final = tuple(
    column for column in (*_CONTENT, *_TEMPLATE, _WRONG) if column[1] not in COSTS
)
LEGEND: Final = (
    "Content: precision, recall and F1 of words per page, averaged over the pages of a site, then"
    " over sites,\nwithout a headline that the gold does not have; 1–5, 6–19, 20+: F1 by place in"
    " the site;\nkept: share of values that must be kept and are; left: share of phrases that must"
    " go and are still there;\nsnippet P, R, F1: of both, over all pages together; comments: share"
    " of readers' comments in the answer;\nwords: in an answer; failed: pages without one; CPU ms:"
    " per page, to the text;\nstate B: bytes that a method remembers, per page seen.\nTemplate: the"
    " same of elements called template; wrong: share of elements called template on pages that have"
    " none.\n95 %: where the figure lies in 95 of 100 draws of sites, with replacement; against"
    " another contender,\nthe sites' differences are drawn; with 0 inside, or with fewer than"
    f" {MIN_SITES} sites, it is within noise.\n"
)


def render_report(report: Report, *, with_teco: bool = False, markdown: bool = False) -> str:
    """The tables of one report."""
    rows = list(_rows(report))
    mark = "## " if markdown else ""
    parts = [f"{mark}{report.corpus}: {_extent(report)}\n"]
    content = _filled(rows, _CONTENT)
    if content:
        main = report.main_figure
        header = ["content", *(head for head, _, _ in content), f"{NAMES[main]}, 95 %", "failed"]
        cells = [[*_cells(*row, content), _range(row[1], main), _failed(row[1])] for row in rows]
        parts.append(table(header, cells, markdown=markdown))
    parts += _comparison(report, markdown=markdown)
    template = _filled(rows, [*_TEMPLATE, *(_TECO if with_teco else ()), _WRONG])
    if template:
        header = ["template per element", *(head for head, _, _ in template)]
        labelled = [row for row in rows if _filled([row], template)]
        cells = [_cells(*row, template) for row in labelled]
        parts.append(table(header, cells, markdown=markdown))
    notes = "".join(f"{note}\n" for note in _notes(report))
    return "\n".join([*parts, notes] if notes else parts)


def _extent(report: Report) -> str:
    """How many pages and sites were measured, and how many sites stand behind each place."""
    averages = next((means for name, means in report.averages.items() if name != GOLD), Averages())
    places = ", ".join(f"{place}: {averages.sites(Figure.WORDS, place)}" for place in _PLACES)
    return f"{report.pages} pages of {report.sites} sites (sites with pages {places})"


def _rows(report: Report) -> Iterator[tuple[str, Averages]]:
    """Each contender's averages, then those of the groups, in the order of their names."""
    yield from report.averages.items()
    for group in sorted(report.groups):
        for name, averages in report.groups[group].items():
            if name != GOLD:
                yield f"{group} · {name}", averages


def _filled(rows: Sequence[tuple[str, Averages]], columns: Sequence[_Column]) -> list[_Column]:
    """The columns in which something stands."""
    return [
        (head, figure, place)
        for head, figure, place in columns
        if any(means.mean(figure, place) is not None for _, means in rows)
    ]


def _cells(name: str, averages: Averages, columns: Sequence[_Column]) -> list[str]:
    """One row."""
    means = [(figure, averages.mean(figure, place)) for _, figure, place in columns]
    return [name, *(number(mean, _DIGITS.get(figure, 3)) for figure, mean in means)]


def _range(averages: Averages, figure: Figure) -> str:
    """Where the figure lies in 95 % of draws of sites."""
    found = averages.interval(figure)
    return number(None) if found is None else found.range_text()


def _comparison(report: Report, *, markdown: bool) -> list[str]:
    """The first contender against each of the others, site by site; nothing without others."""
    main = report.main_figure
    scores = {
        name: averages.site_values(main)
        for name, averages in report.averages.items()
        if name != GOLD
    }
    shown = first_against_others(scores, NAMES[main], markdown=markdown)
    return [shown] if shown else []


def first_against_others(
    scores: Mapping[str, Mapping[str, SiteValue]], figure: str = "F1", *, markdown: bool
) -> str:
    """A table of how far the first contender is above each other; empty without others.

    `scores` has a value of the figure by site for each.
    """
    if not scores:
        return ""
    (first, own), *others = scores.items()
    rows = []
    for name, sites in others:
        found = difference(own, sites)
        if found is not None:
            cells = (f"{found.mean:+.3f}", found.range_text(), found.verdict, str(found.sites))
            rows.append([name, *cells])
    header = [f"{figure} of {first} against", "difference", "95 %", "verdict", "sites"]
    return table(header, rows, markdown=markdown) if rows else ""


def _failed(averages: Averages) -> str:
    """How many pages have no answer."""
    return number(averages.total(Figure.FAILED) if averages.pages(Figure.FAILED) else None, 0)


def _notes(report: Report) -> Iterator[str]:
    """What went wrong, and what was left out of a figure."""
    yield from report.notes
    if not any(_filled([row], _GOLD_COLUMNS) for row in report.averages.items()):
        yield "There is no gold in it, so nothing was scored"
    for (name, error), count in sorted(report.failures.items()):
        yield f"{name}: {error} on {count} of {report.pages} pages"
    left_out = max((means.pages(Figure.WRONG) for means in report.averages.values()), default=0)
    if left_out:
        yield f"{left_out} pages have no template by the gold: left out of its F1"


def quality_json(reports: Sequence[Report]) -> list[dict[str, object]]:
    """All figures of the reports: by contender over all sites, by group, and site by site."""
    return [
        {
            "corpus": report.corpus,
            "pages": report.pages,
            "sites": report.sites,
            "contenders": _with_curves(_contenders(report.averages, by_site=True), report),
            "groups": {
                group: _contenders(averages, by_site=False)
                for group, averages in report.groups.items()
            },
            "failures": [
                {"contender": name, "error": error, "pages": count}
                for (name, error), count in sorted(report.failures.items())
            ],
            "notes": report.notes,
        }
        for report in reports
    ]


def _with_curves(contenders: dict[str, dict[str, object]], report: Report) -> dict[str, object]:
    """The contenders with F1 over the pages seen of a site, as points."""
    return {
        name: {**figures, "curve": learning_curve(report.curves.get(name, {}))}
        for name, figures in contenders.items()
    }


def _contenders(averages: Mapping[str, Averages], *, by_site: bool) -> dict[str, dict[str, object]]:
    """The figures of each contender."""
    return {
        name: {
            "mean": means.summary(),
            "interval": means.intervals(),
            **({"by_site": means.by_site()} if by_site else {}),
        }
        for name, means in averages.items()
    }
