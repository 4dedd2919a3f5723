"""`dehusk learn`: pages in, only the memory is changed."""

from __future__ import annotations

import argparse
from collections.abc import Generator, Iterable
from contextlib import closing
from typing import TYPE_CHECKING

from dehusk.answer.result import Refusal
from dehusk.doors.cli.checks import check_jobs, check_targets
from dehusk.doors.cli.clean import as_shown, make_limits, make_sites, make_source_settings
from dehusk.doors.cli.in_jobs import learned_in_jobs, unlocked_stdin
from dehusk.doors.cli.passes import learning_progress
from dehusk.errors import PageError
from dehusk.memory.memories import Memories
from dehusk.page.page import Page
from dehusk.sources import Failure, read_pages
from dehusk.workers.jobs import Learned

if TYPE_CHECKING:
    from dehusk.page.browser import Browser


def run(arguments: argparse.Namespace) -> int:
    """Learn all sources; 1 if anything could not be read or used."""
    check_jobs(arguments)
    if not arguments.render:
        return _learn(arguments, None)
    from dehusk.page.browser import Browser  # noqa: PLC0415  nobody else needs asyncio

    with Browser() as browser:
        return _learn(arguments, browser)


def _learn(arguments: argparse.Namespace, browser: Browser | None) -> int:
    """Learn all sources, as the browser shows them if there is one."""
    limits, settings = make_limits(arguments), make_source_settings(arguments)
    check_targets(arguments)
    stdin = unlocked_stdin() if arguments.jobs > 1 else None
    items = read_pages(arguments.sources, settings, stdin)
    if browser is not None:
        items = as_shown(items, browser, limits)
    progress = learning_progress(arguments)
    with make_sites(arguments, limits, settings, browser) as memory:
        assert isinstance(memory, Memories)
        learn = learned_in_jobs if arguments.jobs > 1 else _one_by_one
        with closing(learn(arguments, items, memory)) as outcomes:
            try:
                for outcome in outcomes:
                    if isinstance(outcome, Refusal):
                        progress.refuse(outcome.error)
                    else:
                        progress.count(is_new=outcome.is_new)
            finally:
                progress.finish()
    return 1 if progress.refusals else 0


def _one_by_one(
    arguments: argparse.Namespace, items: Iterable[Page | Failure], memory: Memories
) -> Generator[Learned | Refusal, None, None]:
    """What came of each item, in order."""
    del arguments
    for item in items:
        if isinstance(item, Failure):
            yield Refusal(item.url, item.site, item.error)
            continue
        try:
            yield Learned(memory.learn(item))
        except PageError as error:
            yield Refusal(item.url, item.site, error)
