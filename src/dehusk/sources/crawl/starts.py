"""Where a crawl starts: URLs as a user writes them."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from dehusk.errors import UsageError
from dehusk.sources.crawl.fetch import origin_of
from dehusk.sources.crawl.places import normal_url


@dataclass(frozen=True, slots=True)
class Start:
    """A URL to start at, without the user and password that were written into it."""

    url: str
    origin: str
    authorization: str
    """What the `Authorization` header says to this origin; empty for nothing."""


def read_start(written: str) -> Start:
    """The start that a user wrote; UsageError for what is no address on the web."""
    url = normal_url(written.strip())
    if url is None:
        raise UsageError(f"{written}: not an address on the web")
    parts = urlsplit(written.strip())
    authorization = ""
    if parts.username is not None:
        secret = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        authorization = f"Basic {b64encode(secret.encode('utf-8')).decode('ascii')}"
    return Start(url, origin_of(url), authorization)
