"""What stands behind the commands: corpora and contenders are opened, results are shown."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, TextIO

from dehusk.errors import UsageError
from dehusk_bench.contenders import make_contenders
from dehusk_bench.corpora import Caps, Corpus, open_corpus
from dehusk_bench.curves import MIN_PAGES, write_curves
from dehusk_bench.quality import By, run_quality
from dehusk_bench.report import LEGEND, quality_json, render_report
from dehusk_bench.speed import make_runners, render_speed, run_speed, speed_json
from dehusk_bench.speed_gate import run_gate

_REFRESH_S: Final = 0.2


def run_experiment(arguments: argparse.Namespace) -> int:
    """Run `quality` or `speed`; 1 if a corpus could not be read to its end."""
    caps = Caps(arguments.sites, arguments.pages)
    corpora = [open_corpus(name, caps) for name in arguments.corpora or ("samples",)]
    if arguments.json is not None and not Path(arguments.json).absolute().parent.is_dir():
        raise UsageError(f"--json {arguments.json}: there is no such folder")
    curves = getattr(arguments, "curves", None)
    if curves is not None and not curves.is_dir():
        raise UsageError(f"--curves {curves}: there is no such folder")
    run = {"quality": _quality, "speed": _speed}[arguments.experiment]
    return run(arguments, corpora)


def _quality(arguments: argparse.Namespace, corpora: Sequence[Corpus]) -> int:
    """Score, and print a table per corpus as it is done."""
    if arguments.peers_only and arguments.methods:
        raise UsageError("--peers-only measures no method: name none")
    contenders, missing = make_contenders(
        arguments.methods,
        with_peers=arguments.peers or arguments.peers_only,
        with_methods=not arguments.peers_only,
        folds=arguments.folds,
    )
    _warn(missing)
    reports = []
    by = By(arguments.by) if arguments.by else None
    progress = Progress(sys.stderr)
    for report in run_quality(corpora, contenders, by=by, on_page=progress.show):
        progress.clear()
        reports.append(report)
        tables = render_report(report, with_teco=arguments.teco, markdown=arguments.markdown)
        _print(tables + "\n")
        if arguments.curves is not None:
            written = write_curves(arguments.curves, report.corpus, report.curves)
            _print(f"wrote {written}\n" if written else f"no site has {MIN_PAGES} pages\n")
    _print(LEGEND)
    _save(arguments.json, quality_json(reports))
    return int(any(report.is_cut for report in reports))


def _speed(arguments: argparse.Namespace, corpora: Sequence[Corpus]) -> int:
    """Time, and print a table per corpus as it is done; or say whether the gate is passed."""
    if arguments.gate:
        if arguments.corpora or arguments.methods or arguments.peers:
            raise UsageError("--gate has its own pages and its own method: name none")
        gate = run_gate()
        _print(f"{gate}\n")
        return int(not gate.is_passed)
    runners, missing = make_runners(arguments.methods, with_peers=arguments.peers)
    _warn(missing)
    reports = []
    progress = Progress(sys.stderr)
    for report in run_speed(corpora, runners, rounds=arguments.rounds, on_page=progress.show):
        progress.clear()
        reports.append(report)
        _print(render_speed(report, markdown=arguments.markdown) + "\n")
    _save(arguments.json, speed_json(reports))
    return int(any(report.is_cut for report in reports))


class Progress:
    """One line on a terminal that says how far a run has come; nothing in a pipe."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._is_live = stream.isatty()
        self._shown = 0.0

    def show(self, corpus: str, pages: int) -> None:
        """Say where the run is, not too often."""
        if self._is_live and time.monotonic() - self._shown > _REFRESH_S:
            self._shown = time.monotonic()
            self._stream.write(f"\r\x1b[K{corpus}: {pages:,} pages")
            self._stream.flush()

    def say(self, what: str) -> None:
        """Say what the run does now."""
        if self._is_live:
            self._stream.write(f"\r\x1b[K{what}")
            self._stream.flush()

    def clear(self) -> None:
        """Take the line away."""
        if self._is_live:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


def _warn(notes: Iterable[str]) -> None:
    """Write notes to standard error."""
    for note in notes:
        sys.stderr.write(f"dehusk: {note}\n")


def _print(text: str) -> None:
    """Write to standard output at once: the next corpus may take minutes."""
    sys.stdout.write(text)
    sys.stdout.flush()


def _save(name: str | None, figures: object) -> None:
    """Write the figures to the file, if one is named."""
    if name is not None:
        Path(name).write_text(json.dumps(figures, ensure_ascii=False, indent=1) + "\n", "utf-8")
