"""`dehusk bench`: measures methods and other extractors. A door, so it may use everything.

An experiment is a module with `DESCRIPTION`, `add_arguments` and `run`, loaded when it is asked
for: `dehusk bench --help` loads none.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final, Protocol, cast

EXPERIMENTS: Final = {
    "quality": ("quality.command", "how good the answers are"),
    "markdown": ("markdown.command", "how near Markdown is to what the content says"),
    "speed": ("speed.command", "how long a page takes"),
    "all": ("record.all", "every experiment of the record, into a folder"),
    "data": ("corpora.data", "what there is to measure on, and how to get or make it"),
    "report": ("record.report", "one page out of what `all` wrote"),
    "teco": ("papers.teco", "the tables of the papers of `hyperlink`"),
    "faults": ("faults.command", "what kills, power cuts, bad disks and damaged files do"),
    "memory": ("speed.memory", "what keeping memories costs, and what they survive"),
    "sweep-segments": ("papers.sweep_segments", "what the settings of `segments` change"),
    "chunks-tables": ("papers.chunks_tables", "the tables and figures of the paper of `chunks`"),
    "page-tables": ("papers.page_tables", "the tables and figures of the paper of `page`"),
    "ablation": ("quality.ablation", "what the parts of `auto` are worth"),
    "together": ("quality.together", "what learning a site does to its answers"),
    "robustness": (
        "quality.robustness",
        "what strangers, copies and versions among its pages do to a site",
    ),
    "storage": (
        "papers.storage",
        "what must be kept for the same recall, as in the paper of `segments`",
    ),
    "rules": ("quality.rules", "what the rules of `dehusk template` give on unseen pages"),
    "duplicates": ("papers.duplicates", "duplicates found with and without the template"),
    "sources": ("speed.sources", "what reading web archives costs"),
    "classify": ("papers.classify", "pages classified with and without the template"),
    "metadata": ("quality.metadata", "how often title, author and date are right"),
    "confidence": (
        "quality.confidence",
        "whether `auto` knows how good it is, and finds comments apart",
    ),
    "atlas": ("quality.atlas", "what sites of a theme do for the first page of another one"),
    "layout": ("quality.layout", "the estimated layout against a browser's"),
    "crawl": ("speed.crawl", "whether a crawl that is killed ends as one that is not"),
    "scale": ("scale.command", "what more pages, sites and processes cost and gain"),
    "serve": ("speed.serve", "what the HTTP service adds to a page"),
    "load": ("speed.load", "whether the HTTP service stands many requests and slow clients"),
    "screenshots": ("record.screenshots", "the pictures in the docs, taken anew"),
}
"""By name the module of an experiment and its line in the list."""


_ONE_THREAD: Final = ("faults", "load", "scale", "serve")
"""Threads of numpy would be counted as a page's cost, and gain nothing. numpy must not be loaded
before it is told so."""


class Experiment(Protocol):
    """A module that holds an experiment."""

    DESCRIPTION: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Give the parser its options."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Run it and print its tables."""


def load(name: str) -> Experiment:
    """The experiment of that name."""
    if name in _ONE_THREAD:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    return cast(Experiment, import_module(f"{__name__}.{EXPERIMENTS[name][0]}"))


class _Experiments(argparse._SubParsersAction):  # type: ignore[type-arg]
    """The experiments; the one that is asked for gets its options."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        name = values[0] if values else ""
        below = self.choices.get(name)
        if below is not None and below.description is None:
            experiment = load(name)
            below.description = experiment.DESCRIPTION
            experiment.add_arguments(below)
        super().__call__(parser, namespace, values, option_string)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the experiments."""
    experiments = parser.add_subparsers(
        dest="experiment", required=True, metavar="EXPERIMENT", action=_Experiments
    )
    for name, (_, help_line) in EXPERIMENTS.items():
        experiments.add_parser(name, help=help_line)


def run(arguments: argparse.Namespace) -> int:
    """Run an experiment and print its tables; 1 if a corpus could not be read to its end.

    Raises UsageError for a method or a corpus that does not exist.
    """
    return load(arguments.experiment).run(arguments)
