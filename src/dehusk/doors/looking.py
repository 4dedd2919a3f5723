"""Reading pages that are looked at together: by the viewer, reports and reviews."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from typing import Final, TypeVar

from dehusk.doors.options import make_limits, make_source_settings, plural
from dehusk.errors import UsageError
from dehusk.page.page import Page
from dehusk.sources import Failure, read_pages
from dehusk.sources.items import as_shown
from dehusk.template.viewing import Viewed

_Item = TypeVar("_Item")
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
            sys.stderr.write(f"\r\x1b[K{plural(self._count, 'page')} {self._verb}")
            sys.stderr.flush()

    def each(self, items: Iterable[_Item]) -> Iterator[_Item]:
        """The items, counted as they come."""
        for item in items:
            self.step()
            yield item

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
    with closing(_items(viewed, arguments)) as items:
        failures = viewed.read(count.each(items), arguments.pages, count.tell)
    count.end()
    if not viewed.pages:
        raise UsageError("no page to look at")
    return failures


def _items(viewed: Viewed, arguments: argparse.Namespace) -> Generator[Page | Failure]:
    """What the sources hold, rendered if that is asked for."""
    settings = make_source_settings(arguments)
    items = read_pages(arguments.sources, settings, redirects=viewed.redirects)
    if not getattr(arguments, "render", False):
        yield from items
        return
    from dehusk.page.browser import Browser  # noqa: PLC0415  nobody else needs asyncio

    limits = make_limits(arguments)
    with Browser() as browser:
        for item in items:
            # The first that is left out only says that there are more.
            is_left_out = len(viewed.pages) >= arguments.pages
            yield from [item] if is_left_out else as_shown([item], browser, limits)
