"""What reading gives beside pages, and the site that a page belongs to."""

from __future__ import annotations

from dataclasses import dataclass

from dehusk.errors import DehuskError
from dehusk.page.site_names import site_by_url
from dehusk.settings import SourceSettings


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
