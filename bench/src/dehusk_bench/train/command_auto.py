"""`dehusk train auto`: pages with gold in, the networks of `auto` out."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from dehusk.errors import UsageError
from dehusk.methods.auto.model import save_model
from dehusk.output import check_database
from dehusk_bench.corpora import open_corpus
from dehusk_bench.showing import Progress
from dehusk_bench.tables import number, table
from dehusk_bench.train.auto import Settings, Training, train_auto


def run(arguments: argparse.Namespace) -> int:
    """Train, write the model and show how good it is on sites that it has not seen."""
    target = Path(arguments.output)
    if not target.absolute().parent.is_dir() or target.is_dir():
        raise UsageError(f"-o {target}: not a file in an existing folder")
    check_database(target)
    corpora = [open_corpus(name) for name in arguments.sources]
    progress = Progress(sys.stderr)
    training = train_auto(
        corpora,
        Settings(factors=tuple(arguments.weight), without=tuple(arguments.without)),
        None if arguments.folds is None else Path(arguments.folds),
        progress.show,
        lambda step: progress.say(f"fitting the {step}"),
    )
    progress.clear()
    save_model(training.model, target)
    sys.stdout.write(render(training))
    sys.stdout.write(f"wrote {target}\n")
    return 0


def render(training: Training) -> str:
    """What the training was on, and how well sites are judged that a model has not seen."""
    rows = [
        [corpus, number(figure), number(training.right_types.get(corpus))]
        for corpus, figure in training.figures.items()
    ]
    shown = table(("held-out sites of", "F1, or values kept", "types right"), rows)
    return f"{training.pages:,} pages of {training.sites:,} sites\n{shown}\n"
