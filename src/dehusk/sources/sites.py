"""The site that a page belongs to."""

from __future__ import annotations

from dehusk.page.site_names import site_by_url
from dehusk.settings import SourceSettings


def site_of(url: str | None, stated: str | None, folder: str, settings: SourceSettings) -> str:
    """The site of a page: as set, else as `stated` with it, else by its URL, else its folder."""
    return settings.site or stated or site_by_url(url, settings.site_by) or folder
