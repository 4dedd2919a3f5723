"""`dehusk bench speed`: how long a page takes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from dehusk.errors import UsageError
from dehusk_bench.corpora import Caps, Corpus, open_corpus
from dehusk_bench.options import add_contenders, positive
from dehusk_bench.showing import Progress, check_file, save, show, warn
from dehusk_bench.speed.alone import Contest, run_alone
from dehusk_bench.speed.gate import run_gate, run_stored_gate
from dehusk_bench.speed.pages import (  # fmt: skip
    SpeedReport,
    make_runners,
    render_speed,
    run_speed,
    speed_json,
)

DESCRIPTION: Final = (
    "Time methods in CPU milliseconds a page: the parser alone, dehusk's tree, each method to text,"
    " to Markdown and to its JSON line. All work on the same page before the next one comes, or"
    " each --alone."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options of the experiment."""
    add_contenders(parser)
    parser.add_argument(
        "--rounds",
        type=positive,
        default=3,
        metavar="N",
        help="passes over the pages; the median of a page's times counts (default: %(default)s)",
    )
    parser.add_argument(
        "--alone",
        action="store_true",
        help="give each contender processes of its own, one for each round, turns alternating; of"
        " each page its quickest counts",
    )
    parser.add_argument(
        "--beside",
        action="append",
        default=[],
        type=Path,
        metavar="PYTHON",
        help="with --alone: an interpreter with another dehusk, to be timed too; may be repeated",
    )
    parser.add_argument(
        "--gate",
        action="store_true",
        help="only say whether `auto` has become slower, as a multiple of the bare parse, than is"
        " pinned, by more than 15 %%; exit status 1 if so",
    )


def run(arguments: argparse.Namespace) -> int:
    """Time, and print a table per corpus as it is done; or say whether the gate is passed.

    1 if a corpus could not be read to its end, or the gate is not passed. Raises UsageError for a
    method or a corpus that does not exist.
    """
    caps = Caps(arguments.sites, arguments.pages)
    corpora = [open_corpus(name, caps) for name in arguments.corpora or ("samples",)]
    check_file(arguments.json)
    if arguments.gate:
        if arguments.corpora or arguments.methods or arguments.peers:
            raise UsageError("--gate has its own pages and its own method: name none")
        gates = run_gate(), run_stored_gate()
        show("".join(f"{gate}\n" for gate in gates))
        return int(not all(gate.is_passed for gate in gates))
    if arguments.beside and not arguments.alone:
        raise UsageError("--beside is for contenders that run --alone")
    reports = []
    for report in _alone(arguments, caps) if arguments.alone else _together(arguments, corpora):
        reports.append(report)
        show(render_speed(report, markdown=arguments.markdown) + "\n")
    save(arguments.json, speed_json(reports))
    return int(any(report.is_cut for report in reports))


def _together(arguments: argparse.Namespace, corpora: list[Corpus]) -> Iterator[SpeedReport]:
    """The times of contenders that work on a page one after another."""
    runners, missing = make_runners(arguments.methods, with_peers=arguments.peers)
    warn(missing)
    progress = Progress(sys.stderr)
    for report in run_speed(corpora, runners, rounds=arguments.rounds, on_page=progress.show):
        progress.clear()
        yield report


def _alone(arguments: argparse.Namespace, caps: Caps) -> Iterator[SpeedReport]:
    """The times of contenders in processes of their own."""
    progress = Progress(sys.stderr)
    for name in arguments.corpora or ("samples",):
        contest = Contest(name, caps, tuple(arguments.methods), arguments.peers)
        report = run_alone(
            contest, rounds=arguments.rounds, beside=arguments.beside, on_turn=progress.say
        )
        progress.clear()
        yield report
