"""Reading pages that are looked at together: by the viewer, reports and reviews."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from itertools import islice
from typing import Final

from dehusk.doors.options import make_limits, make_source_settings
from dehusk.errors import UsageError
from dehusk.page.page import Page
from dehusk.sources import Failure, read_pages
from dehusk.sources.items import as_shown
from dehusk.template.viewing import Viewed

_REFRESH_S: Final = 0.1


class PageCount:
    """A line that counts pages, if standard error is a terminal."""

    def __init__(self, verb: str) -> None:
        self._verb = verb
        self._count = 0
        self._shown = 0.0

    def step(self) -> None:
        """Count one more."""
        self._count += 1
        now = time.monotonic()
        if sys.stderr.isatty() and now - self._shown > _REFRESH_S:
            self._shown = now
            sys.stderr.write(f"\r\x1b[K{self._count:,} pages {self._verb}")
            sys.stderr.flush()

    def tell(self, line: str) -> None:
        """Write a line of its own; what a page says must not move the cursor."""
        self.end()
        sys.stderr.write(f"dehusk: {''.join(filter(str.isprintable, line))}\n")

    def end(self) -> None:
        """Remove the line."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = 0.0


def read_into(viewed: Viewed, arguments: argparse.Namespace) -> int:
    """Read the pages of the sources; how many could not be used, each of them named.

    Raises UsageError if there is no page.
    """
    count = PageCount("read")
    failures = viewed.read(_items(viewed, arguments, count), arguments.pages, count.tell)
    count.end()
    if not viewed.pages:
        raise UsageError("no page to look at")
    return failures


def _items(
    viewed: Viewed, arguments: argparse.Namespace, count: PageCount
) -> Iterator[Page | Failure]:
    """What the sources hold, rendered if that is asked for."""
    settings = make_source_settings(arguments)
    items = read_pages(arguments.sources, settings, redirects=viewed.redirects)
    if getattr(arguments, "render", False):
        from dehusk.page.browser import Browser  # noqa: PLC0415  nobody else needs asyncio

        with Browser() as browser:
            shown = as_shown(items, browser, make_limits(arguments))
            # One more than is looked at, to know that there are more.
            items = iter(list(islice(shown, arguments.pages + 1)))
    for item in items:
        count.step()
        yield item
