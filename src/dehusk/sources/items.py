"""What reading gives beside pages, and the site that a page belongs to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dehusk.errors import DehuskError, PageError
from dehusk.page.page import Page
from dehusk.page.site_names import site_by_url
from dehusk.settings import Limits, SourceSettings

if TYPE_CHECKING:
    from dehusk.page.browser import Browser


@dataclass(frozen=True, slots=True)
class Failure:
    """A page, or the rest of a source, that could not be read; reading goes on behind it.

    `error` is a PageError for one page or record, and a SourceError or MissingExtra for a file, a
    folder or a stream that cannot be read, or not to its end.
    """

    url: str | None
    site: str | None
    error: DehuskError


def site_of(url: str | None, stated: str | None, folder: str, settings: SourceSettings) -> str:
    """The site of a page: as set, else as `stated` with it, else by its URL, else its folder."""
    return settings.site or stated or site_by_url(url, settings.site_by) or folder


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
