"""What the experiments of 003 share: corpora opened, tables shown, figures written."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from dehusk.errors import UsageError
from dehusk.methods import METHODS
from dehusk_bench.commands import Progress
from dehusk_bench.corpora import Caps, Corpus, open_corpus
from dehusk_bench.site_texts import Reading


def open_all(
    arguments: argparse.Namespace, default: Sequence[str]
) -> tuple[list[Corpus], list[str], Reading, Progress]:
    """The corpora and methods that the options name, and where what happens is noted.

    Raises UsageError for one that does not exist.
    """
    caps = Caps(arguments.sites, arguments.pages)
    corpora = [open_corpus(name, caps) for name in arguments.corpora or default]
    if arguments.json is not None and not Path(arguments.json).absolute().parent.is_dir():
        raise UsageError(f"--json {arguments.json}: there is no such folder")
    methods = list(dict.fromkeys(arguments.methods)) or list(METHODS)
    return corpora, methods, Reading([]), Progress(sys.stderr)


def show(text: str) -> None:
    """Write a table to standard output at once."""
    sys.stdout.write(text)
    sys.stdout.flush()


def percent(share: float) -> str:
    """The share in per cent, with one digit behind the point."""
    return f"{share:.1%}"


def finish(file: str | None, figures: object, reading: Reading) -> int:
    """Write the figures and the notes; the exit status of the experiment."""
    for note in reading.notes:
        sys.stderr.write(f"dehusk: {note}\n")
    if file is not None:
        Path(file).write_text(json.dumps(figures, ensure_ascii=False, indent=1) + "\n", "utf-8")
    return int(reading.is_cut)
