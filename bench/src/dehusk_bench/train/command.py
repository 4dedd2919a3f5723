"""`dehusk train`: pages in, a model out."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from dehusk.doors.options import make_limits, make_source_settings
from dehusk.errors import UsageError
from dehusk.methods.papers.page import MIN_AREA
from dehusk.output import check_database
from dehusk.page.page import Page
from dehusk.sources import Failure, read_pages
from dehusk_bench.corpora import open_corpus
from dehusk_bench.showing import Progress
from dehusk_bench.tables import number, table
from dehusk_bench.train import command_auto as train_auto
from dehusk_bench.train.page import Figures, Settings, Training, train_page


def run(arguments: argparse.Namespace) -> int:
    """Train, write the model and show how good it is; 1 if something could not be read."""
    if arguments.model == "auto":
        return train_auto.run(arguments)
    if "-" in arguments.sources:
        raise UsageError("training reads its pages twice: name a file instead of -")
    target = Path(arguments.output)
    if not target.absolute().parent.is_dir() or target.is_dir():
        raise UsageError(f"-o {target}: not a file in an existing folder")
    check_database(target)
    faults: list[str] = []
    progress = Progress(sys.stderr)
    training = train_page(
        lambda: _pages(arguments, faults),
        Settings(min_pages=arguments.min_pages, seed=arguments.seed),
        make_limits(arguments),
        progress.show,
    )
    progress.clear()
    target.write_text(training.model.dump(), "utf-8")
    for fault in dict.fromkeys(faults):
        sys.stderr.write(f"dehusk: {fault}\n")
    sys.stdout.write(render(training))
    sys.stdout.write(f"wrote {target}\n")
    return int(bool(faults) or training.failed > 0)


def _pages(arguments: argparse.Namespace, faults: list[str]) -> Iterator[Page]:
    """The pages of the sources and of the sample sites named; what cannot be read is noted."""
    for source in arguments.sources:
        if source == "samples" or source.startswith("samples:"):
            yield from (gold.page for gold in open_corpus(source).pages())
            continue
        for item in read_pages([source], make_source_settings(arguments)):
            if isinstance(item, Failure):
                faults.append(str(item.error))
            else:
                yield item


def render(training: Training) -> str:
    """What the training was on, and how well sites are judged that it has not seen."""
    counted = f"{training.pages:,} pages of {training.sites} sites"
    lines = [
        f"{counted}; {training.left_out} smaller sites left out, {training.failed} pages failed"
    ]
    if training.overall is None:
        return "\n".join([*lines, "one site only: nothing to hold out", ""])
    bounds = (MIN_AREA, *training.model.bounds)
    rows = [
        _cells(f"from {bound:,.0f} px²", figures)
        for bound, figures in zip(bounds, training.bands, strict=True)
    ]
    header = ("held-out sites", "nodes", "template", "accuracy", "F1", "AUC")
    shown = table(header, [*rows, _cells("all", training.overall)])
    return "\n".join([*lines, shown])


def _cells(name: str, figures: Figures) -> list[str]:
    """One row of the table."""
    shares = (figures.template_share, figures.accuracy, figures.f1, figures.auc)
    return [name, f"{figures.nodes:,}", *(number(share) for share in shares)]
