"""What a crawl says of pages that it left out, and the patterns of those it wants."""

from __future__ import annotations

from enum import StrEnum
from fnmatch import translate


class LeftOut(StrEnum):
    """Why a URL was not fetched, or a page that was fetched is not among the answers."""

    OFF_SITE = "on another site"
    EXCLUDED = "excluded by a pattern"
    NOT_HTML = "not HTML"
    ROBOTS = "forbidden by robots.txt"
    NOFOLLOW = "nofollow"
    NOINDEX = "noindex"
    TDM = "reserved from text and data mining"
    CANONICAL = "canonical URL is another"
    KNOWN = "leads to a page already known"
    UNCHANGED = "unchanged since the last visit"
    TOO_DEEP = "trap: too many links from the start"
    TOO_LONG = "trap: URL too long or too deep"
    REPEATED = "trap: repeated path"
    CALENDAR = "trap: calendar"
    FACETS = "trap: facets"
    FULL = "queue full"


def as_expression(patterns: tuple[str, ...]) -> str:
    """One regular expression for all patterns; `translate` writes them so that none blows up."""
    return "|".join(f"(?:{translate(pattern)})" for pattern in patterns)
