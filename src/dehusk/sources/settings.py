"""What a reader of pages can be told, and what it says of a page that cannot be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dehusk.errors import DehuskError
from dehusk.settings import SourceSettings

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
