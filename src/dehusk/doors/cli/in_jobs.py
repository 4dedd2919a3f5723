"""`--jobs`: pages of a run handed to several processes."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Generator, Iterable
from typing import BinaryIO

from dehusk.answer.result import Refusal
from dehusk.doors.cli.passes import is_written, learning_progress
from dehusk.memory.memories import Memories
from dehusk.memory.site import Sites
from dehusk.output import Rendered, Writer
from dehusk.page.page import Page
from dehusk.sources import Failure, Read
from dehusk.workers.jobs import Act, Jobs, Learned


def unlocked_stdin() -> BinaryIO | None:
    """Standard input for another thread to wait for.

    A thread that waits for the buffered one holds its lock, which ends Python with a fatal error
    where the run is interrupted meanwhile.
    """
    buffered = getattr(sys.stdin, "buffer", None)
    raw: BinaryIO | None = getattr(buffered, "raw", buffered)
    return raw


def answers_in_jobs(
    arguments: argparse.Namespace,
    read: Read,
    sites: Sites | Memories,
    left_out: Counter[str],
    writer: Writer,
) -> Generator[tuple[Page | Failure, Rendered | Refusal | None], None, None]:
    """Each item with its answer, in order; None where an earlier run has written that."""

    def plan(item: Page | Failure) -> Act:
        if is_written(arguments, item, writer):
            return Act.SKIP if arguments.two_pass or isinstance(item, Failure) else Act.LEARN
        return Act.ASK if arguments.two_pass else Act.CLEAN

    with Jobs(
        sites,
        arguments.jobs,
        shape=writer.shape,
        is_sketching=arguments.unique,
        splits_sites=arguments.split_sites,
    ) as jobs:
        if arguments.two_pass:
            _learn_first(arguments, read, jobs)
        for done in jobs.run(read(left_out), plan):
            if done.act in (Act.LEARN, Act.SKIP) or isinstance(done.outcome, Learned):
                yield done.item, None
            else:
                yield done.item, done.outcome


def _learn_first(arguments: argparse.Namespace, read: Read, jobs: Jobs) -> None:
    """Have all pages learned. What cannot be is named when it is asked about."""
    progress = learning_progress(arguments)
    try:
        for outcome in jobs.learn(item for item in read(None) if isinstance(item, Page)):
            if isinstance(outcome, Learned):
                progress.count(is_new=outcome.is_new)
    finally:
        progress.finish()


def learned_in_jobs(
    arguments: argparse.Namespace, items: Iterable[Page | Failure], memory: Memories
) -> Generator[Learned | Refusal, None, None]:
    """What came of each item, in order."""
    with Jobs(memory, arguments.jobs) as jobs:
        yield from jobs.learn(items)
