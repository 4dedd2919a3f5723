"""The tuning of section 5.2 of the thesis: every combination of settings on every key page.

Which is best is decided on the training sites of a fold and measured on its other sites. All are
measured once: the folds come after.

What is done is kept in a file of JSON lines, so that a run that was cut off goes on:

    {"data": "…", "method": {…}, "code": "…", "--keys": 3, …}      what the figures depend on
    {"settings": {"size": 3, …}, "figures": {"f1": [0.9, …], …}}   of each key page, in order

A line is written when a combination is done, and one that was cut off is done again. A grid may
grow: what is in the file and not in the grid stays there, and is not used.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, product
from pathlib import Path
from statistics import fmean
from typing import Any, Final, TypeAlias

from dehusk.errors import SettingError, UsageError
from dehusk.methods import settings_of
from dehusk.methods.papers.hyperlink import Equality, Hyperlink
from dehusk.methods.written import parse_settings
from dehusk_bench.papers.teco_measure import Row, run_votes
from dehusk_bench.papers.teco_pages import KeyPage
from dehusk_bench.record.code_versions import code_version
from dehusk_bench.tables import number, table

Settings: TypeAlias = Mapping[str, Any]
Grid: TypeAlias = Mapping[str, Sequence[Settings]]
"""The values of each setting, or of several under one name."""
Figures: TypeAlias = Mapping[str, Sequence[float]]
"""Of each key page, by the name of the figure."""

_WEIGHTS: Final = ("classes_weight", "position_weight", "attributes_weight", "children_weight")
_FIGURES: Final = ("recall", "precision", "f1", "teco_f1", "loads")
_SHOWN: Final = 10
"""Of the best combinations, so many are shown."""
_CODE: Final = ("dehusk_bench.papers.teco_measure",)
DEFAULTS: Final[dict[str, tuple[str, ...]]] = {
    Equality.PAPER: (
        "size=3", "votes=1,2,3", "similarity_threshold=0.2,0.3,0.4",
        "weights=0.4/0.4/0.1/0.1,0.5/0.2/0.2/0.1,0.25/0.25/0.25/0.25,0.2/0.4/0.2/0.2",
        "not_classes=0.8,0.95", "activate_position=true,false",
    ),
    Equality.TEXT: (
        "size=2,3", "votes=2,3", "content_share=0.65,0.7,0.75", "sure_share=0.85,0.9,0.95",
        "page_verdict=off,always", "max_loads=5,1000",
    ),
}  # fmt: skip
"""What is varied if nobody says, by equality: around what the thesis found, and around our own."""


def read_grid(written: Iterable[str]) -> Grid:
    """The grid out of `SETTING=VALUE,VALUE…`; `weights=.5/.2/.2/.1` are the four weights at once.

    Raises SettingError for a setting or a value that cannot be.
    """
    grid: dict[str, list[Settings]] = {}
    for item in written:
        name, _, values = item.partition("=")
        if not values:
            raise SettingError(f"--vary {item}: write it as SETTING=VALUE,VALUE…")
        grid[name] = [_read_value(name, value) for value in values.split(",")]
    return grid


def _read_value(name: str, value: str) -> Settings:
    """One value of a setting. Raises SettingError."""
    if name != "weights":
        return parse_settings(Hyperlink.name, [f"{name}={value}"])
    parts = value.split("/")
    if len(parts) != len(_WEIGHTS):
        raise SettingError(f"--vary weights: {value!r} is not {'/'.join(_WEIGHTS)}")
    items = [f"{weight}={part}" for weight, part in zip(_WEIGHTS, parts, strict=True)]
    return parse_settings(Hyperlink.name, items)


def combine(grid: Grid, method: Hyperlink) -> list[dict[str, Any]]:
    """Every combination of the grid that the method can be set to.

    Raises SettingError for a value that no combination can have.
    """
    found: list[dict[str, Any]] = []
    used: set[tuple[str, str]] = set()
    refused: dict[tuple[str, str], SettingError] = {}
    for values in product(*grid.values()):
        names = [(name, json.dumps(value)) for name, value in zip(grid, values, strict=True)]
        settings = {key: value for each in values for key, value in each.items()}
        try:
            replace(method, **settings)
        except SettingError as fault:
            refused |= dict.fromkeys(names, fault)
        else:
            found.append(settings)
            used.update(names)
    for name, reason in refused.items():
        if name not in used:
            raise reason
    return found


@dataclass(frozen=True, slots=True)
class Trial:
    """A combination of settings, and its figures on each key page."""

    settings: Settings
    figures: Figures

    def mean(self, name: str, places: Sequence[int]) -> float:
        """A figure's mean over the key pages at these places."""
        return fmean(self.figures[name][place] for place in places)


def run_grid(
    keys: Sequence[KeyPage],
    method: Hyperlink,
    combinations: Sequence[Settings],
    state: State,
    say: Callable[[str], None] = lambda _: None,
) -> list[Trial]:
    """A trial for each combination, in their order. What the state has is not done again."""
    waiting = [settings for settings in combinations if state.find(settings) is None]
    done, start = 0, time.monotonic()
    # Combinations that differ in votes alone may share the work.
    apart = [{**settings, "votes": 0} for settings in waiting]
    groups = sorted(range(len(waiting)), key=lambda place: (_key(apart[place]), place))
    for _, group in groupby(groups, key=lambda place: _key(apart[place])):
        same = [waiting[place] for place in group]
        varied = [replace(method, **settings) for settings in same]
        found = run_votes(keys, varied[0], [each.votes for each in varied])
        for settings, each in zip(same, varied, strict=True):
            state.add(settings, _figures(found[each.votes]))
        done += len(same)
        left_s = (time.monotonic() - start) / done * (len(waiting) - done)
        say(f"{done} of {len(waiting)} combinations, {left_s / 60:.0f} minutes left")
    return [Trial(settings, state.find(settings) or {}) for settings in combinations]


def _figures(rows: Sequence[Row]) -> Figures:
    return {name: [round(float(getattr(row, name)), 6) for row in rows] for name in _FIGURES}


def _key(settings: Settings) -> str:
    return json.dumps(settings, sort_keys=True)


class State:
    """What is done of a grid, in a file if one is named."""

    def __init__(self, path: Path | None, facts: Settings) -> None:
        """Take up what the file has. Raises UsageError if it is of another run, or not of one."""
        self._path, self._done = path, dict[str, Figures]()
        if path is None:
            return
        try:
            lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
            whole = [line for line in lines if line.endswith(b"\n")]
            if whole or not _line(facts).startswith(b"".join(lines)):
                self._take(whole or lines, facts)
            # What was cut off while it was written is written again.
            with path.open("r+b" if path.exists() else "wb") as file:
                file.truncate(sum(map(len, whole)))
        except OSError as fault:
            raise UsageError(f"--state {path}: {fault.strerror or fault}") from fault
        if not whole:
            self._write(facts)

    def _take(self, lines: Sequence[bytes], facts: Settings) -> None:
        """Read the file's lines. Raises UsageError."""
        try:
            header, *rows = map(json.loads, lines)
            other = [name for name in facts if header[name] != facts[name]]
            self._done = {_key(row["settings"]): row["figures"] for row in rows}
        except (ValueError, KeyError, TypeError) as fault:
            raise UsageError(
                f"--state {self._path}: not the state of a grid ({fault!r})"
            ) from fault
        if other:
            raise UsageError(
                f"--state {self._path}: of a run with other {' and '.join(other)}: name another"
            )

    def find(self, settings: Settings) -> Figures | None:
        """The figures of a combination; None if it is not done."""
        return self._done.get(_key(settings))

    def add(self, settings: Settings, figures: Figures) -> None:
        """Keep the figures of a combination."""
        self._done[_key(settings)] = figures
        self._write({"settings": settings, "figures": figures})

    def _write(self, line: object) -> None:
        """Add a line to the file. Raises UsageError."""
        if self._path is None:
            return
        try:
            with self._path.open("ab") as file:
                file.write(_line(line))
                file.flush()
                os.fsync(file.fileno())
        except OSError as fault:
            raise UsageError(f"--state {self._path}: {fault.strerror or fault}") from fault


def _line(content: object) -> bytes:
    return json.dumps(content).encode() + b"\n"


def facts_of(
    source: str, keys: Sequence[KeyPage], method: Hyperlink, options: Settings
) -> dict[str, Any]:
    """What the figures depend on: key pages, the pages beside them, method, code and options.

    Of a folder the pages that are not key pages are told by name and size: it may be 20 GB.
    """
    digest = hashlib.sha256()
    path = Path(source)
    if path.is_dir():
        for file in sorted(path.rglob("*")):
            digest.update(f"{file.relative_to(path)}\0{file.lstat().st_size}\0".encode())
    elif path.is_file():
        with path.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    for key in keys:
        digest.update(f"{key.site}\0{key.tree.url}\0".encode())
        digest.update(key.tree.source)
        digest.update(key.not_template.tobytes())
        digest.update(key.model.read_bytes() if key.model else b"")
    method_settings = settings_of(method)
    found = {"data": digest.hexdigest()[:16], "method": method_settings}
    return {**found, "code": code_version(_CODE), **options}


@dataclass(frozen=True, slots=True)
class Fold:
    """Key pages of sites to choose on and of others to measure on, by their places."""

    training: Sequence[int]
    test: Sequence[int]

    def choose(self, trials: Sequence[Trial]) -> Trial:
        """The best combination by the F1 of the training sites; of equals, fewer loads."""
        return max(trials, key=lambda trial: _worth(trial, self.training))


def split(sites: Sequence[str], folds: int) -> list[Fold]:
    """The folds of key pages of these sites. Each site is a test site in one fold: the first in the
    first fold, the second in the second and so on, which spreads neighbours.

    Raises UsageError where there are fewer sites than folds.
    """
    names = list(dict.fromkeys(sites))
    if len(names) < folds:
        raise UsageError(f"--parts {folds}: there are only {len(names)} sites with template")
    fold_of = {name: place % folds for place, name in enumerate(names)}
    numbered = list(enumerate(sites))
    return [
        Fold(
            [place for place, site in numbered if fold_of[site] != fold],
            [place for place, site in numbered if fold_of[site] == fold],
        )
        for fold in range(folds)
    ]


def _worth(trial: Trial, places: Sequence[int]) -> tuple[float, float]:
    return trial.mean("f1", places), -trial.mean("loads", places)


def grid_tables(
    trials: Sequence[Trial], folds: Sequence[Fold], as_set: Trial, grid: Grid, *, markdown: bool
) -> str:
    """What each fold chose and is worth, the best in-sample, and what each value is worth."""
    everywhere = range(len(as_set.figures["f1"]))
    ranked = sorted(trials, key=lambda each: _worth(each, everywhere), reverse=True)
    best = [[written(each.settings, grid), *_means(each, everywhere)] for each in ranked[:_SHOWN]]
    average = [number(fmean(each.mean(name, everywhere) for each in trials)) for name in _FIGURES]
    best += [
        [f"all {len(trials)}, on average", *average],
        ["as set", *_means(as_set, everywhere)],
    ]
    shown = table(
        ("fold", "key pages to train", "to test", "chosen", "F1 in training", "F1 in test",
         "recall", "precision", "loads", "F1 as set"),
        list(_fold_rows(trials, folds, as_set, grid)), markdown=markdown,
    )  # fmt: skip
    shown += "\n" + table(("best in-sample", *_FIGURES), best, markdown=markdown)
    header = ("setting", "best F1 with it", "F1 on average")
    return shown + "\n" + table(header, list(_value_rows(trials, grid)), markdown=markdown)


def _means(trial: Trial, places: Sequence[int]) -> list[str]:
    return [number(trial.mean(name, places)) for name in _FIGURES]


def _fold_rows(
    trials: Sequence[Trial], folds: Sequence[Fold], as_set: Trial, grid: Grid
) -> Iterator[list[str]]:
    """A row for each fold, then one for all key pages, each judged as its fold chose."""
    names = ("f1", "recall", "precision", "loads")
    chosen = [fold.choose(trials) for fold in folds]
    for place, (fold, trial) in enumerate(zip(folds, chosen, strict=True), 1):
        yield [
            str(place), str(len(fold.training)), str(len(fold.test)),
            written(trial.settings, grid), number(trial.mean("f1", fold.training)),
            *(number(trial.mean(name, fold.test)) for name in names),
            number(as_set.mean("f1", fold.test)),
        ]  # fmt: skip
    in_training = [t.mean("f1", fold.training) for t, fold in zip(chosen, folds, strict=True)]
    judged = [(t, place) for t, fold in zip(chosen, folds, strict=True) for place in fold.test]
    yield [
        "all", "", str(len(judged)), "", number(fmean(in_training)),
        *(number(fmean(trial.figures[name][place] for trial, place in judged)) for name in names),
        number(fmean(as_set.figures["f1"])),
    ]  # fmt: skip


def _value_rows(trials: Sequence[Trial], grid: Grid) -> Iterator[list[str]]:
    """Of each value in the grid: the best combination with it, and the average one."""
    for name, values in grid.items():
        for value in values:
            with_it = [
                fmean(each.figures["f1"])
                for each in trials
                if value.items() <= each.settings.items()
            ]
            yield [
                written(value, {name: [value]}), number(max(with_it)), number(fmean(with_it)),
            ]  # fmt: skip


def written(settings: Settings, grid: Grid) -> str:
    """The settings as `--vary` takes them, in the order of the grid."""
    found = []
    for name, values in grid.items():
        parts = [_plain(settings[each]) for each in values[0]]
        found.append(f"{name}={'/'.join(parts)}")
    return ", ".join(found)


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
