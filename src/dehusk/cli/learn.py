"""`dehusk learn`: pages in, only the memory is changed."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from dehusk.cli.checks import check_targets
from dehusk.cli.clean import as_shown, make_limits, make_sites, make_source_settings
from dehusk.cli.progress import LearningProgress
from dehusk.errors import PageError
from dehusk.memories import Memories
from dehusk.sources import Failure, count_pages, read_pages

if TYPE_CHECKING:
    from dehusk.browser import Browser


def run(arguments: argparse.Namespace) -> int:
    """Learn all sources; 1 if anything could not be read or used."""
    if not arguments.render:
        return _learn(arguments, None)
    from dehusk.browser import Browser  # noqa: PLC0415  nobody else needs asyncio

    with Browser() as browser:
        return _learn(arguments, browser)


def _learn(arguments: argparse.Namespace, browser: Browser | None) -> int:
    """Learn all sources, as the browser shows them if there is one."""
    limits, settings = make_limits(arguments), make_source_settings(arguments)
    check_targets(arguments)
    items = read_pages(arguments.sources, settings)
    if browser is not None:
        items = as_shown(items, browser, limits)
    is_live = sys.stderr.isatty() and not arguments.quiet
    total = count_pages(arguments.sources) if is_live else None
    progress = LearningProgress(sys.stderr, total, is_quiet=arguments.quiet)
    with make_sites(arguments, limits, settings, browser) as memory:
        assert isinstance(memory, Memories)
        try:
            for item in items:
                if isinstance(item, Failure):
                    progress.refuse(item.error)
                    continue
                try:
                    progress.count(is_new=memory.learn(item))
                except PageError as error:
                    progress.refuse(error)
        finally:
            progress.finish()
    return 1 if progress.refusals else 0
