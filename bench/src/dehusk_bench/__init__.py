"""`dehusk bench`: measures methods and other extractors. A door, so it may use everything.

Only argparse is loaded here: `dehusk --help` passes through.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final, Protocol

from dehusk_bench import (
    ablation,
    chunks_tables,
    classify,
    crawl,
    data,
    duplicates,
    everything,
    layout,
    memory,
    page_tables,
    robustness,
    rules,
    scale,
    screenshots,
    serve,
    sources,
    storage,
    sweep_segments,
    teco,
    written_report,
)
from dehusk_bench.shared_options import add_extent, add_methods, add_report, positive

_CORPUS_HELP: Final = (
    "JSON lines with gold (plain, .gz, .xz, .zst), or sample sites: `samples` is one of each kind,"
    " `samples:KIND:SEED:PAGES:LANG` one of them, parts at the end may be left out"
    " (default: samples)"
)
_QUALITY: Final = (
    "Score methods on pages whose content is known, in one pass and in order, each site learned"
    " from nothing. Content: precision, recall and F1 of words, averaged over the pages of a site,"
    " then over sites, and by place in the site. Template: the same of elements, where the gold"
    " names them."
)
_SPEED: Final = (
    "Time methods in CPU milliseconds a page, all on the same page before the next one comes:"
    " the parser alone, dehusk's tree, each method to text and to its JSON line."
)


class _Experiment(Protocol):
    """A module that holds an experiment."""

    DESCRIPTION: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Give the parser its options."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Run it and print its tables."""


_EXPERIMENTS: Final[dict[str, tuple[_Experiment, str]]] = {
    "all": (everything, "every experiment of the record, into a folder"),
    "data": (data, "what there is to measure on, and how to get or make it"),
    "report": (written_report, "one page out of what `all` wrote"),
    "teco": (teco, "the tables of the papers of `hyperlink`"),
    "memory": (memory, "what keeping memories costs, and what they survive"),
    "sweep-segments": (sweep_segments, "what the settings of `segments` change"),
    "chunks-tables": (chunks_tables, "the tables and figures of the paper of `chunks`"),
    "page-tables": (page_tables, "the tables and figures of the paper of `page`"),
    "ablation": (ablation, "what the parts of `auto` are worth"),
    "robustness": (robustness, "what pages that do not belong to a site do to it"),
    "storage": (storage, "what must be kept for the same recall, as in the paper of `segments`"),
    "rules": (rules, "what the rules of `dehusk template` give on unseen pages"),
    "duplicates": (duplicates, "duplicates found with and without the template"),
    "sources": (sources, "what reading web archives costs"),
    "classify": (classify, "pages classified with and without the template"),
    "layout": (layout, "the estimated layout against a browser's"),
    "crawl": (crawl, "whether a crawl that is killed ends as one that is not"),
    "scale": (scale, "what more pages, sites and processes cost and gain"),
    "serve": (serve, "what the HTTP service adds to a page"),
    "screenshots": (screenshots, "the pictures in the docs, taken anew"),
}
"""The experiments that are modules of their own, each with its line in the list."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the experiments."""
    experiments = parser.add_subparsers(dest="experiment", required=True, metavar="EXPERIMENT")
    quality = experiments.add_parser(
        "quality", help="how good the answers are", description=_QUALITY
    )
    _add_common(quality)
    quality.add_argument(
        "--peers-only",
        action="store_true",
        help="measure other extractors, and no method of dehusk; with --peers and with this come"
        " deboiler and the removal of repeated lines and sentences as well",
    )
    quality.add_argument(
        "--by",
        choices=("site", "lang", "type", "generator"),
        help="add a row for each site, language, page type or generator",
    )
    quality.add_argument(
        "--teco",
        action="store_true",
        help="add the score of the TECO suite, by which elements above the content are template",
    )
    quality.add_argument(
        "--curves",
        metavar="DIR",
        type=Path,
        help="draw F1 over the pages seen of a site into this folder, one plot for each corpus",
    )
    quality.add_argument(
        "--folds",
        type=Path,
        metavar="DIR",
        help="judge with `auto` each site by a model that has not seen it, out of a folder that"
        " `dehusk train auto --folds` wrote",
    )
    speed = experiments.add_parser("speed", help="how long a page takes", description=_SPEED)
    _add_common(speed)
    speed.add_argument(
        "--rounds",
        type=positive,
        default=3,
        metavar="N",
        help="passes over the pages; the median of a page's times counts (default: %(default)s)",
    )
    speed.add_argument(
        "--gate",
        action="store_true",
        help="only say whether `auto` has become slower, as a multiple of the bare parse, than is"
        " pinned, by more than 15 %%; exit status 1 if so",
    )
    for name, (experiment, help_line) in _EXPERIMENTS.items():
        experiment.add_arguments(
            experiments.add_parser(name, help=help_line, description=experiment.DESCRIPTION)
        )


def _add_common(parser: argparse.ArgumentParser) -> None:
    """The options of both commands."""
    parser.add_argument("corpora", nargs="*", metavar="CORPUS", help=_CORPUS_HELP)
    add_methods(parser, "the one that dehusk uses by default")
    parser.add_argument(
        "--peers",
        action="store_true",
        help="add other extractors (trafilatura, resiliparse, readability-lxml, jusText,"
        " boilerpy3, newspaper4k, goose3, turbohtml's main text, all text); those not installed"
        " are left out",
    )
    add_extent(parser)
    add_report(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run an experiment and print its tables; 1 if a corpus could not be read to its end.

    Raises UsageError for a method or a corpus that does not exist.
    """
    if arguments.experiment in _EXPERIMENTS:
        return _EXPERIMENTS[arguments.experiment][0].run(arguments)
    from dehusk_bench.commands import run_experiment  # noqa: PLC0415  it loads numpy

    return run_experiment(arguments)
