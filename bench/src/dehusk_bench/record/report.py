"""`dehusk bench report`: one page of Markdown out of what `dehusk bench all` wrote."""

from __future__ import annotations

import argparse
import csv
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from dehusk.errors import UsageError
from dehusk_bench.record import comparing
from dehusk_bench.record.experiments import (
    CORPORA,
    EXPERIMENTS,
    FITTED,
    GROUPED_BY,
    Experiment,
    Section,
)
from dehusk_bench.record.found_tables import FoundTable, as_markdown, find_tables
from dehusk_bench.record.papers import PAPER_TABLES
from dehusk_bench.record.quoting import fill_files
from dehusk_bench.record.running import Run, Status, read_runs

DESCRIPTION: Final = (
    "Make a report of a folder that `dehusk bench all` wrote: every experiment with its command,"
    " its tables beside the papers' and its plots, on what machine, and what may be claimed. Tables"
    " (CSV) and plots (SVG) go to a folder beside the report, under its name."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options of the command."""
    parser.add_argument(
        "results",
        nargs="?",
        type=Path,
        default=Path("results"),
        metavar="DIR",
        help="the folder that `dehusk bench all` wrote (default: %(default)s)",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("results.md"),
        metavar="FILE",
        help="the report (default: %(default)s)",
    )
    parser.add_argument(
        "--notes",
        type=Path,
        metavar="FILE",
        help="what people have to say of the results: the text under `## NAME` goes to the"
        " experiment, corpus or section of that name, under `## in short` to the top",
    )
    parser.add_argument(
        "--keep",
        action="store_true",
        help="experiments that DIR does not hold stay in the report as they are in FILE, with the"
        " notes as they are now",
    )
    parser.add_argument(
        "--quoted-in",
        action="append",
        default=[],
        type=Path,
        metavar="PATH",
        help="bring the figures up to date that a Markdown file, or those of a folder, quote from"
        " the report's tables; may be repeated",
    )


_MAX_ROWS: Final = 40
_SHOWN_ROWS: Final = 12
"""Of a longer table only so many rows stand in the report; the file has all."""
_NOTE: Final = "<!-- note -->\n{}\n<!-- end of note -->\n"
"""A part that is kept loses its old note by these marks."""
_OLD_NOTE: Final = re.compile(_NOTE.format(".*?"), re.DOTALL)
_MEASURED: Final = re.compile(r"^Measured on: (.*)\. \d+ of \d+ experiments", re.MULTILINE)
_KEY_PAGE: Final = re.compile(r"^.* (?=\d+$)")
_TITLES: Final = {
    Section.AUTO: "`auto` against all other methods and all peers",
    Section.HYPERLINK: "`hyperlink` (000, 001)",
    Section.SEGMENTS: "`segments` (002)",
    Section.PAGE: "`page` (003)",
    Section.CHUNKS: "`chunks` (004)",
    Section.COST: "What it costs",
}
_INTRO: Final = """\
# Results

Every experiment of the papers that dehusk builds on, and every peer, by one command. This page is
made by `dehusk bench report` from what `dehusk bench all` wrote; only the notes are written by
hand. The tables are in the folder `{folder}` as CSV, the plots as SVG. The commands need corpora
(`dehusk bench data`) and hours: the tests check that they can be called, and do not run them.

F1 is that of content words per page, averaged over the pages of a site, then over sites. A range
holds the figure in 95 of 100 draws of sites. *Better* and *worse* mean that the range of the sites'
differences does not include 0 and that there are six sites or more; everything else is *within
noise*. There is no correction for the number of comparisons: of forty without any real difference,
two will be called better or worse.
"""
_UNSEEN: Final = "`auto` judged each site by a model that was fitted without it (`--folds`).\n"
_SEEN: Final = (
    "**`auto` judged with the model that comes with dehusk, which was fitted to sites of these"
    " corpora**; run with `--folds` for models that have not seen a site.\n"
)
_NOT_FITTED: Final = (
    "`auto` judged with the model that comes with dehusk, which was not fitted to this corpus.\n"
)
_QUICK: Final = (
    "**This is a quick run**, over a few sites and pages: its figures say that the experiments"
    " work, and little else.\n"
)


@dataclass(frozen=True, slots=True)
class _Report:
    """What the report is made from, and where it goes."""

    results: Path
    target: Path
    notes: Mapping[str, str]
    runs: Mapping[str, Run]
    kept: Mapping[str, str]
    """The text under each heading of an earlier report, for what was not run."""

    @property
    def folder(self) -> Path:
        """Where tables and plots are copied to: beside the report, under its name."""
        return self.target.with_suffix("")


def run(arguments: argparse.Namespace) -> int:
    """Write the report; 1 if an experiment is missing from it. Raises UsageError, SourceError."""
    results, target = Path(arguments.results), Path(arguments.output)
    runs = read_runs(results)
    if not runs:
        raise UsageError(f"{results}: no results; `dehusk bench all -o {results}` makes them")
    kept = _read_kept(target) if arguments.keep else {}
    report = _Report(results, target, read_notes(arguments.notes), runs, kept)
    report.folder.mkdir(parents=True, exist_ok=True)
    for old in [*report.folder.glob("*.csv"), *report.folder.glob("*.svg")]:
        if not arguments.keep or _is_made_anew(report, old.name):
            old.unlink()
    text = "\n".join(_parts(report))
    target.write_text(text, "utf-8")
    missing = [each.name for each in EXPERIMENTS if not _is_there(report, each.name)]
    said = f"wrote {target} from {len(EXPERIMENTS) - len(missing)} experiments"
    sys.stdout.write(f"{said}\n" + "".join(f"not in it: {name}\n" for name in missing))
    lost = [heading for heading in kept if heading and f"# {heading}\n" not in text]
    sys.stdout.write("".join(f"no longer in it: {heading}\n" for heading in lost))
    for path in arguments.quoted_in:
        fill_files(path, report.folder)
    return int(bool(missing) and not arguments.keep)


def read_notes(path: Path | None) -> dict[str, str]:
    """The text under each `## NAME` of a file of notes; nothing without a file."""
    if path is None:
        return {}
    if not path.is_file():
        raise UsageError(f"--notes {path}: no such file")
    _, *parts = re.split(r"^## ", path.read_text("utf-8"), flags=re.MULTILINE)
    return {name.strip(): text.strip() for name, _, text in (p.partition("\n") for p in parts)}


def _read_kept(target: Path) -> dict[str, str]:
    """The text under each heading of a report. Raises UsageError where there is none."""
    if not target.is_file():
        raise UsageError(f"--keep: there is no {target} yet")
    top, *parts = re.split(r"^(?=##)", target.read_text("utf-8"), flags=re.MULTILINE)
    pairs = (part.partition("\n") for part in parts)
    return {"": top, **{head.lstrip("# "): body.strip("\n") for head, _, body in pairs}}


def _is_made_anew(report: _Report, name: str) -> bool:
    """Is a file beside the report one of an experiment that was run?"""
    owners = [each.name for each in EXPERIMENTS if name.startswith(f"{each.name}-")]
    return bool(owners) and max(owners, key=len) in report.runs


def _is_there(report: _Report, name: str) -> bool:
    run = report.runs.get(name)
    return run is not None and run.status in (Status.DONE, Status.KEPT)


def _parts(report: _Report) -> Iterator[str]:
    """The report, piece by piece."""
    yield _INTRO.format(folder=report.folder.name)
    done = [run for run in report.runs.values() if run.status in (Status.DONE, Status.KEPT)]
    if any(run.is_quick for run in done):
        yield _QUICK
    yield from _note(report, "in short")
    yield _machines(report, done)
    for section in Section:
        yield f"## {_TITLES[section]}\n"
        yield from _note(report, section)
        if section is Section.AUTO:
            yield from _auto(report)
        for experiment in EXPERIMENTS:
            if experiment.section is section and not _is_of_corpus(experiment):
                yield from _experiment(report, experiment)


def _is_of_corpus(experiment: Experiment) -> bool:
    """Is it one of those that are shown together, corpus by corpus?"""
    return any(experiment.name == f"{part}-{c}" for part in comparing.PARTS for c in CORPORA)


def _note(report: _Report, name: str) -> Iterator[str]:
    if name in report.notes:
        yield _NOTE.format(report.notes[name])


def _kept(report: _Report, heading: str, name: str) -> Iterator[str]:
    """What an earlier report has under a heading, with the note as it is now."""
    yield _OLD_NOTE.sub("", f"{report.kept[heading]}\n").strip("\n") + "\n"
    yield from _note(report, name)


def _machines(report: _Report, runs: Sequence[Run]) -> str:
    """The kinds of machine that were used, and the versions."""
    machines = {tuple(run.machine.items()) for run in runs}
    shown = [", ".join(f"{name} {value}" for name, value in each) for each in sorted(machines)]
    before = _MEASURED.search(report.kept.get("", ""))
    shown = list(dict.fromkeys([*(before[1].split("; and ") if before else []), *shown]))
    minutes = sum(run.cpu_seconds for run in runs) / 60
    extent = f"{len(runs)} of {len(EXPERIMENTS)} experiments were run, in {minutes:.0f} minutes"
    rest = " The others are as in an earlier report." if report.kept else ""
    return f"Measured on: {'; and '.join(shown)}. {extent} of CPU.{rest}\n"


def _auto(report: _Report) -> Iterator[str]:
    """`auto` and all others, corpus by corpus."""
    runs = (report.runs.get(f"auto-{corpus}") for corpus in FITTED)
    commands = [run.command for run in runs if run is not None]
    if report.kept and not commands:
        yield from _kept(report, _TITLES[Section.AUTO], "")
    if commands:
        yield _UNSEEN if all("--folds" in command for command in commands) else _SEEN
    found = {corpus: comparing.read_comparison(report.results, corpus) for corpus in CORPORA}
    summary = comparing.summary_table([each for each in found.values() if each is not None])
    if summary is not None and (commands or not report.kept):
        yield _saved(report, "summary", _with_kept(report, _found(summary)))
    for corpus, comparison in found.items():
        if comparison is not None:
            yield from _corpus(report, comparison)
        else:
            for heading in report.kept:
                if heading.startswith(f"{corpus}: "):
                    yield f"### {heading}\n"
                    yield from _kept(report, heading, corpus)


def _with_kept(report: _Report, summary: FoundTable) -> FoundTable:
    """The summary, with its earlier rows of corpora that were not run again."""
    earlier = report.folder / "summary.csv"
    if not report.kept or not earlier.is_file():
        return summary
    old = map(tuple, csv.reader(earlier.read_text("utf-8").splitlines()[1:]))
    rows = {row[0]: row for row in (*old, *summary.rows)}
    return replace(summary, rows=tuple(rows[name] for name in CORPORA if name in rows))


def _found(table: comparing.Table) -> FoundTable:
    header, rows = table
    return FoundTable("", tuple(header), tuple(map(tuple, rows)))


def _corpus(report: _Report, found: comparing.Comparison) -> Iterator[str]:
    """All that is known of one corpus."""
    yield f"### {found.corpus}: {found.pages:,} pages of {found.sites:,} sites\n"
    for part in comparing.PARTS:
        run = report.runs.get(f"{part}-{found.corpus}")
        if run is not None:
            yield f"    {run.command}"
    yield ""
    if found.corpus not in FITTED:
        yield _NOT_FITTED
    yield _saved(report, found.corpus, _found(comparing.comparison_table(found)))
    yield "".join(f"* {claim}\n" for claim in comparing.claims(found))
    groups = comparing.group_table(found)
    if groups is not None:
        yield f"F1 by {GROUPED_BY.get(found.corpus, 'group')}:\n"
        yield _saved(report, f"{found.corpus}-groups", _found(groups))
    curve = comparing.curve_plot(found)
    if curve is not None:
        name = f"{found.corpus}-curve.svg"
        (report.folder / name).write_text(curve, "utf-8")
        yield f"![Learning curves]({report.folder.name}/{name})\n"
    yield from _note(report, found.corpus)


def _experiment(report: _Report, experiment: Experiment) -> Iterator[str]:
    """One experiment: its command, its tables, the papers', its plots, what is to be said."""
    yield f"### {experiment.title}\n"
    run = report.runs.get(experiment.name)
    if run is None and experiment.title in report.kept:
        yield from _kept(report, experiment.title, experiment.name)
        return
    if run is None or run.status in (Status.FAILED, Status.SKIPPED):
        yield f"Not measured: {run.note if run else 'it was not run'}.\n"
        return
    yield f"    {run.command}\n"
    text = (report.results / f"{run.name}.md").read_text("utf-8")
    shown = [each for each in find_tables(text) if each.header[0] not in experiment.hidden]
    for number, table in enumerate(_joined(shown), 1):
        yield f"{table.title}\n"
        yield _saved(report, f"{run.name}-{number}", _without_sites(table))
    for paper in PAPER_TABLES.get(run.name, ()):
        yield f"*The paper*: {paper.source}\n"
        yield as_markdown(paper.header, paper.rows)
    for plot in run.plots:
        name = plot.replace("/", "-")
        shutil.copyfile(report.results / plot, report.folder / name)
        yield f"![{experiment.title}]({report.folder.name}/{name})\n"
    yield from _note(report, run.name)


def _joined(tables: Sequence[FoundTable]) -> list[FoundTable]:
    """The tables, those of one row each with the same headings as one."""
    joined: list[FoundTable] = []
    for table in tables:
        same = [n for n, each in enumerate(joined) if each.header == table.header]
        if same and len(table.rows) == 1:
            old = joined[same[0]]
            joined[same[0]] = FoundTable(old.title, old.header, old.rows + table.rows)
        else:
            joined.append(table)
    return joined


def _without_sites(table: FoundTable) -> FoundTable:
    """The table with key pages known by their numbers: a report names nobody's site."""
    if table.header[0] != "site":
        return table
    rows = tuple((_KEY_PAGE.sub("key page ", row[0]), *row[1:]) for row in table.rows)
    return FoundTable(table.title, table.header, rows)


def _saved(report: _Report, name: str, table: FoundTable) -> str:
    """The table as Markdown, a long one cut; all of it goes to a file."""
    (report.folder / f"{name}.csv").write_text(table.csv(), "utf-8")
    if len(table.rows) <= _MAX_ROWS:
        return as_markdown(table.header, table.rows)
    shown = as_markdown(table.header, table.rows[:_SHOWN_ROWS])
    more = len(table.rows) - _SHOWN_ROWS
    return f"{shown}\n… and {more} more rows in [{name}.csv]({report.folder.name}/{name}.csv).\n"
