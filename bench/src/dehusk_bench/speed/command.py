"""`dehusk bench speed`: how long a page takes."""

from __future__ import annotations

import argparse
import sys
from typing import Final

from dehusk.errors import UsageError
from dehusk_bench.corpora import Caps, open_corpus
from dehusk_bench.options import add_contenders, positive
from dehusk_bench.showing import Progress, check_file, save, show, warn
from dehusk_bench.speed.gate import run_gate, run_stored_gate
from dehusk_bench.speed.pages import make_runners, render_speed, run_speed, speed_json

DESCRIPTION: Final = (
    "Time methods in CPU milliseconds a page, all on the same page before the next one comes:"
    " the parser alone, dehusk's tree, each method to text and to its JSON line."
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
    runners, missing = make_runners(arguments.methods, with_peers=arguments.peers)
    warn(missing)
    reports = []
    progress = Progress(sys.stderr)
    for report in run_speed(corpora, runners, rounds=arguments.rounds, on_page=progress.show):
        progress.clear()
        reports.append(report)
        show(render_speed(report, markdown=arguments.markdown) + "\n")
    save(arguments.json, speed_json(reports))
    return int(any(report.is_cut for report in reports))
