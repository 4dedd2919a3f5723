"""What a page's headers and meta tags ask of whoever reads it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_WITH_VALUE: Final = ("max-snippet", "max-image-preview", "max-video-preview", "unavailable_after")
"""Directives with a colon, which does not make them the name of a crawler."""
_MAX_READ: Final = 10_000


@dataclass(frozen=True, slots=True)
class Asked:
    """What a page asks for."""

    noindex: bool = False
    nofollow: bool = False
    tdm: bool = False

    def __or__(self, other: Asked) -> Asked:
        return Asked(
            self.noindex or other.noindex, self.nofollow or other.nofollow, self.tdm or other.tdm
        )


def by_headers(robots_tags: Iterable[str], reservation: str, token: str) -> Asked:
    """What `X-Robots-Tag` and `tdm-reservation` ask of the crawler of this name.

    A name before directives (`otherbot: noindex`) limits those behind it to that crawler.
    """
    asked = Asked(tdm=reservation.strip() == "1")
    for value in robots_tags:
        concerns = True
        for part in value[:_MAX_READ].lower().split(","):
            name, colon, rest = part.strip().partition(":")
            directive = name.strip()
            if colon and directive not in _WITH_VALUE:
                concerns = directive == token
                directive = rest.strip()
            if concerns:
                asked |= _of(directive)
    return asked


def by_meta(name: str, content: str, token: str) -> Asked:
    """What a `<meta name content>` asks of the crawler of this name."""
    name = name.strip().lower()
    if name == "tdm-reservation":
        return Asked(tdm=content.strip() == "1")
    if name not in ("robots", token):
        return Asked()
    asked = Asked()
    for part in content[:_MAX_READ].lower().split(","):
        asked |= _of(part.strip())
    return asked


def _of(directive: str) -> Asked:
    """What one directive asks for. `noai` is taken as a reservation from data mining."""
    return Asked(
        noindex=directive in ("noindex", "none"),
        nofollow=directive in ("nofollow", "none"),
        tdm=directive == "noai",
    )
