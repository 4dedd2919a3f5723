"""The passes of a run over its pages: one that answers, or one that learns before it."""

from __future__ import annotations

import argparse
import logging
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Final

from dehusk import pipeline
from dehusk.answer.result import Refusal, Result
from dehusk.doors.cli.progress import LearningProgress
from dehusk.errors import PageError, StateError, UsageError
from dehusk.memory.answers import rendered_answer
from dehusk.memory.memories import Memories
from dehusk.memory.site import Sites
from dehusk.output import Rendered, Writer
from dehusk.page.page import Page
from dehusk.sources import Failure, Read, count_pages

LAST: Final = "last"
"""--revise: since each page was last answered on, whatever revision that was."""

_LOG: Final = logging.getLogger("dehusk")


def learned_first(
    arguments: argparse.Namespace, read: Read, sites: Sites | Memories, left_out: Counter[str]
) -> Iterator[Page | Failure]:
    """The items of a second reading, to be asked about; those of a first one are learned before.

    What cannot be learned is named when it is asked about, where it fails again.
    """
    progress = learning_progress(arguments)
    try:
        for item in read(None):
            if isinstance(item, Page):
                _learn(item, sites, progress)
    finally:
        progress.finish()
    yield from read(left_out)


def learning_progress(arguments: argparse.Namespace) -> LearningProgress:
    """What is told of pages that are learned."""
    is_live = sys.stderr.isatty() and not arguments.quiet
    total = count_pages(arguments.sources) if is_live else None
    return LearningProgress(sys.stderr, total, is_quiet=arguments.quiet)


def _learn(page: Page, sites: Sites | Memories, progress: LearningProgress) -> None:
    try:
        progress.count(is_new=sites.learn(page))
    except PageError:
        return
    except StateError:
        raise  # The memory cannot be written: the next page would meet that too.
    except Exception:  # noqa: BLE001 - the outermost loop: named in the second pass
        _LOG.debug("fault on %s", page.url, exc_info=True)


def learn_again(item: Page | Failure, sites: Sites | Memories) -> None:
    """Learn what an earlier run had learned when it wrote the answer; a memory knows it."""
    if isinstance(item, Page):
        try:
            sites.learn(item)
        except (StateError, UsageError):
            raise  # As where pages are answered on: the next page would meet that too.
        except Exception:  # noqa: BLE001 - it failed in the earlier run, and was named then
            _LOG.debug("fault on %s", item.url, exc_info=True)


def is_written(arguments: argparse.Namespace, item: Page | Failure, writer: Writer) -> bool:
    """True for an item whose answer an earlier run has written, where this one goes on with it."""
    if not arguments.resume:
        return False
    site = pipeline.site_of(item) if isinstance(item, Page) else item.site
    return writer.holds_next(item.url, site)


def revision_asked(arguments: argparse.Namespace) -> int | None:
    """The revision of --revise; None for the last answers, or without --revise.

    Raises UsageError without a memory that could know what was answered before.
    """
    if arguments.revise is None:
        return None
    if not arguments.memory:
        raise UsageError("--revise needs --memory: only a memory knows what was answered before")
    return None if arguments.revise == LAST else int(arguments.revise)


def is_wanted(
    arguments: argparse.Namespace,
    item: Page | Failure,
    answer: Result | Rendered | Refusal,
    sites: Sites | Memories,
) -> bool:
    """True for an answer that is to be written; a memory takes note of each that is given."""
    if not isinstance(sites, Memories) or isinstance(answer, Refusal) or isinstance(item, Failure):
        return True
    since = revision_asked(arguments)
    if isinstance(answer, Rendered):
        is_changed = sites.note_given(answer.site, rendered_answer(answer), since)
    else:
        is_changed = sites.note(item, answer, since)
    return is_changed or arguments.revise is None
