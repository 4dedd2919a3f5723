"""What a crawl can be told, and what it says of pages that it left out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fnmatch import translate
from typing import Final

from dehusk.errors import SettingError

USER_AGENT: Final = "dehusk/0.1.0 (learns what a site repeats; obeys robots.txt as dehusk)"


class Wish(StrEnum):
    """What a site can ask of crawlers. All are obeyed, unless the user says which not to."""

    ROBOTS = "robots"
    """robots.txt: what may be fetched at all."""
    NOFOLLOW = "nofollow"
    """Links that are not to be followed."""
    NOINDEX = "noindex"
    """Pages that are not to be kept."""
    TDM = "tdm"
    """Pages that are not to be mined."""
    CANONICAL = "canonical"
    """Pages that name another URL as the one to keep."""


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


@dataclass(frozen=True, slots=True)
class CrawlSettings:
    """How to crawl: how much, how fast, under what name, and what wishes of a site to pass over."""

    max_pages: int = 1000
    """Pages to give; failed and left out ones do not count."""
    max_depth: int = 500
    """Links to follow from the start at most. Kinds of pages are met before all of one kind, so the
    way to a page is not the shortest: of 2,000 pages of a sample site some are beyond 50."""
    delay_s: float = 1.0
    """Seconds between the beginnings of two requests to a host; robots.txt may ask for more."""
    max_delay_s: float = 60.0
    """The most that a Crawl-delay or a Retry-After can make a crawl wait."""
    concurrency: int = 1
    """Requests to a host at the same time."""
    user_agent: str = USER_AGENT
    timeout_s: float = 30.0
    """Seconds for a request, from looking up the name to the last byte."""
    max_bytes: int = 20_000_000
    max_redirects: int = 10
    retries: int = 2
    """Times that a page is asked for again, at the end of the queue, where the network failed."""
    allow_private: bool = False
    include: tuple[str, ...] = ()
    """Patterns with * and ?; where there are any, a URL must match one."""
    exclude: tuple[str, ...] = ()
    ignored: frozenset[Wish] = frozenset()
    sitemaps: bool = True

    def __post_init__(self) -> None:
        for name in ("max_pages", "concurrency", "timeout_s", "max_bytes"):
            if not getattr(self, name) > 0:
                raise SettingError(f"crawl: {name} must be above 0")
        for name in ("max_depth", "delay_s", "max_delay_s", "max_redirects", "retries"):
            if not getattr(self, name) >= 0:
                raise SettingError(f"crawl: {name} must not be below 0")
        if not self.user_agent.isascii() or not self.user_agent.isprintable():
            raise SettingError("crawl: user_agent must be plain ASCII, on one line")
        if not self.robots_token:
            raise SettingError("crawl: user_agent must begin with a name, as in `name/1.0`")

    @property
    def robots_token(self) -> str:
        """The name that robots.txt and robots tags know the crawler by."""
        return self.user_agent.partition("/")[0].partition(" ")[0].lower()

    def obeys(self, wish: Wish) -> bool:
        """Is the wish obeyed?"""
        return wish not in self.ignored


def as_expression(patterns: tuple[str, ...]) -> str:
    """One regular expression for all patterns; `translate` writes them so that none blows up."""
    return "|".join(f"(?:{translate(pattern)})" for pattern in patterns)
