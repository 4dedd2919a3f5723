"""What a reader of pages can be told, and what it says of a page that cannot be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dehusk.errors import DehuskError
from dehusk.page.site_names import SiteBy
from dehusk.settings import Limits


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """How pages are read: the site they belong to, the fields of a record, the size allowed."""

    site: str | None = None
    """The site of every page, whatever the page or its URL says."""
    site_by: SiteBy = SiteBy.HOST
    html_field: str = "html"
    url_field: str = "url"
    site_field: str = "site"
    max_bytes: int = Limits().max_bytes


DEFAULTS: Final = SourceSettings()


@dataclass(frozen=True, slots=True)
class Failure:
    """A page, or the rest of a source, that could not be read; reading goes on behind it.

    `error` is a PageError for one page or record, and a SourceError or MissingExtra for a file, a
    folder or a stream that cannot be read, or not to its end.
    """

    url: str | None
    site: str | None
    error: DehuskError
