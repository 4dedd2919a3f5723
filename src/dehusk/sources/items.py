"""What reading gives beside pages, and pages as a browser shows them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dehusk.errors import DehuskError, PageError
from dehusk.page.page import Page
from dehusk.settings import Limits

if TYPE_CHECKING:
    from dehusk.page.browser import Browser


@dataclass(frozen=True, slots=True)
class Failure:
    """A page, or the rest of a source, that could not be read; reading continues after it.

    `error` is a PageError for one page or record, and a SourceError or MissingExtra for a file, a
    folder or a stream that cannot be read, or not to its end.
    """

    url: str | None
    site: str | None
    error: DehuskError


def as_shown(
    items: Iterable[Page | Failure], browser: Browser, limits: Limits
) -> Iterator[Page | Failure]:
    """The items, each page as the browser shows it."""
    for item in items:
        if isinstance(item, Failure):
            yield item
            continue
        try:
            yield browser.render(item, limits)
        except PageError as error:
            yield Failure(item.url, item.site, error)
