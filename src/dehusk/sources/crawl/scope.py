"""Which URLs a crawl wants, and why it leaves others out: wishes, patterns, traps."""

from __future__ import annotations

import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fnmatch import translate
from typing import Final
from urllib.parse import SplitResult, urlsplit

from dehusk.errors import (
    AddressRefused,
    ConnectionFailed,
    FetchError,
    NotHtml,
    PageError,
    Reserved,
    RobotsRefused,
)
from dehusk.page.urls import site_of
from dehusk.settings import CrawlSettings, SourceSettings, Wish
from dehusk.sources.crawl.fetch import origin_of
from dehusk.sources.crawl.frontier import Entry, key_of, normal_url, parameters, shape_of
from dehusk.sources.crawl.robots import Manners

_DATE_PATH: Final = re.compile(r"/(?:1[89]|2[0-9])\d\d[-/](?:0?[1-9]|1[0-2])(?:[-/]\d\d?)?/?\Z")
_DATE_VALUE: Final = re.compile(
    r"(?:\d{4}-?(?:0[1-9]|1[0-2])(?:-?\d\d)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})\Z"
)
_MONTH_NAMES: Final = frozenset(("month", "mon", "mm", "week", "day"))
_YEAR_NAMES: Final = frozenset(("year", "yr", "yyyy"))
_NOT_HTML: Final = frozenset(
    (
        "7z", "avi", "bmp", "bz2", "css", "csv", "dmg", "doc", "docx", "eot", "epub", "exe",
        "gif", "gz", "ico", "iso", "jar", "jpeg", "jpg", "js", "json", "m4a", "m4v", "mjs", "mkv",
        "mov", "mp3", "mp4", "mpeg", "mpg", "msi", "odp", "ods", "odt", "ogg", "ogv", "otf",
        "pdf", "png", "ppt", "pptx", "ps", "rar", "rss", "rtf", "svg", "swf", "tar", "tgz", "tif",
        "tiff", "ttf", "wav", "webm", "webp", "wmv", "woff", "woff2", "xls", "xlsx", "xml", "xz",
        "zip", "zst",
    )
)  # fmt: skip
"""Endings of files that hold no page. Anything else is asked for, and judged by its type."""
MAX_SEEN: Final = 2_000_000
"""URLs that a crawl remembers; about 200 bytes each. What comes then is left out, and counted."""
_MAX_SPELLINGS: Final = 200_000
_MAX_MANNERS_S: Final = 300.0
"""Seconds for the robots.txt of all hosts of a site. They are asked for one by one, and the crawl
of all sites waits; a domain may have as many hosts as it likes. Further hosts are left out."""


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


@dataclass(frozen=True, slots=True)
class TrapSettings:
    """How much of what looks like a trap is followed; each is well beyond what sites need.

    Paths of the 2,000 pages of a sample site are 4 deep at most; a product list with a place in a
    catalogue, an order and a page number has 3 parameters.
    """

    max_url: int = 1000
    """Characters of a URL."""
    max_folders: int = 16
    max_repeats: int = 3
    """Times that one folder may stand in a path."""
    max_parameters: int = 4
    max_mixes: int = 24
    """Sets of parameters that pages at one path may have: filters give one for each mix."""
    max_calendar: int = 24
    """Steps from one date to the next, where the URL ends in a date: two years, month by month."""
    min_alike: int = 5
    """Pages that say the same, though a parameter differs, before the parameter is dropped."""


@dataclass(slots=True)
class Traps:
    """Tells which URLs not to follow; learns which parameters change nothing.

    What it knows follows from the URLs and pages it was shown, in their order.
    """

    settings: TrapSettings = field(default_factory=TrapSettings)
    dropped: frozenset[str] = frozenset()
    """Parameters that change nothing."""
    _mixes: dict[str, set[str]] = field(default_factory=dict)
    _texts: dict[str, tuple[int, str]] = field(default_factory=dict)
    _alike: Counter[str] = field(default_factory=Counter)
    _different: Counter[str] = field(default_factory=Counter)

    def why_not(self, url: str) -> LeftOut | None:
        """Why the URL is not worth asking for; None where it is."""
        parts = urlsplit(url)
        folders = parts.path.strip("/").split("/")
        ending = folders[-1].rpartition(".")[2].lower() if "." in folders[-1] else ""
        if ending in _NOT_HTML:
            return LeftOut.NOT_HTML
        if len(url) > self.settings.max_url or len(folders) > self.settings.max_folders:
            return LeftOut.TOO_LONG
        if max(Counter(folders).values()) > self.settings.max_repeats:
            return LeftOut.REPEATED
        return LeftOut.FACETS if self._is_facet(parts) else None

    def _is_facet(self, parts: SplitResult) -> bool:
        """True for one mix of parameters too many at its path."""
        mix = _mix(parts)
        if not mix:
            return False
        if mix.count("&") >= self.settings.max_parameters:
            return True
        mixes = self._mixes.get(parts.netloc + parts.path, set())
        return mix not in mixes and len(mixes) >= self.settings.max_mixes

    def note(self, url: str) -> None:
        """Take note of a URL that is to be asked for."""
        parts = urlsplit(url)
        if parts.query:
            mixes = self._mixes.setdefault(parts.netloc + parts.path, set())
            mixes.add(_mix(parts))

    def steps(self, url: str, source: str, steps_before: int) -> int:
        """How many dates were passed on the way to this URL; 0 for one that ends in no date."""
        if not _ends_in_date(url):
            return 0
        return steps_before + 1 if _ends_in_date(source) else 0

    def learn(self, url: str, text_hash: int) -> None:
        """Take note of what a page says. A parameter is dropped once enough pages were alike.

        Two pages speak of a parameter if they differ in nothing else. One that made a difference
        even once stays.
        """
        parts = urlsplit(url)
        pairs = [pair.partition("=") for pair in parts.query.split("&") if pair]
        for name, _, value in pairs:
            others = "&".join(sorted("".join(pair) for pair in pairs if pair[0] != name))
            place = f"{name}\n{parts.netloc}{parts.path}?{others}"
            seen_hash, seen_value = self._texts.setdefault(place, (text_hash, value))
            if seen_value != value:
                (self._alike if seen_hash == text_hash else self._different)[name] += 1
        self.dropped = frozenset(
            name
            for name, count in self._alike.items()
            if count >= self.settings.min_alike and not self._different[name]
        )


def _mix(parts: SplitResult) -> str:
    """The names of the parameters, each as often as it stands there: `f=1&f=2` is a mix of two."""
    return "&".join(sorted(part.partition("=")[0] for part in parts.query.split("&") if part))


def _ends_in_date(url: str) -> bool:
    """True for the URL of a day, a month or a week in a calendar."""
    parts = urlsplit(url)
    if _DATE_PATH.search(parts.path):
        return True
    names = {name.lower() for name in parameters(parts)}
    if names & _MONTH_NAMES and names & _YEAR_NAMES:
        return True
    values = (pair.partition("=")[2] for pair in parts.query.split("&"))
    return any(_DATE_VALUE.fullmatch(value) for value in values)


@dataclass(frozen=True, slots=True)
class Found:
    """A URL met for the first time: an entry to ask for, or why not."""

    key: int
    entry: Entry | None
    reason: LeftOut | None


class Scope:
    """Remembers every URL that was met, and lets those pass that are new and wanted."""

    def __init__(
        self,
        settings: CrawlSettings,
        source_settings: SourceSettings,
        manners: Callable[[str], Manners],
        sites: frozenset[str] = frozenset(),
    ) -> None:
        """With `sites` a start is held to them as well; without, each start adds its own."""
        self._settings = settings
        # The name that the user gives to all pages must not make the whole web one site.
        self._site_settings = replace(source_settings, site=None)
        self._manners = manners
        self._include = re.compile(as_expression(settings.include))
        self._exclude = re.compile(as_expression(settings.exclude))
        self._spellings: set[str] = set()
        self._origins: set[str] = set()
        self._waited_s: defaultdict[str, float] = defaultdict(float)
        self._is_settled = bool(sites)
        self.sites: set[str] = set(sites)
        self.known: dict[int, str] = {}
        """How the URLs of an earlier crawl's pages were written then, by key."""
        self.seen: dict[int, LeftOut | None] = {}
        self.traps = Traps()
        self.left_out: Counter[LeftOut] = Counter()
        self.next_number = 0

    def site_of(self, url: str) -> str:
        """The site of a URL, whatever name the user gives to all pages."""
        return site_of(url, None, "", self._site_settings)

    def restore(self, entry: Entry) -> None:
        """Take note of a URL that an earlier run let pass."""
        self.next_number = max(self.next_number, entry.number + 1)
        if entry.depth == 0:
            self.sites.add(entry.site)
        self.traps.note(entry.url)

    def admit(
        self, url: str, source: Entry | None, place: str, *, nofollow: bool = False
    ) -> Found | None:
        """What is to become of a URL that a page or a sitemap named; None for one met before."""
        if url in self._spellings:
            return None
        if not nofollow:
            self._spell(url)
        normal = normal_url(url, self.traps.dropped)
        if normal is None or not self._is_new(key := key_of(normal), nofollow=nofollow):
            return None
        entry = self._entry(self.known.get(key, normal), source, place)
        return self._found(key, entry, LeftOut.NOFOLLOW if nofollow else self.why_not(entry))

    def admit_known(self, known: Entry) -> Found | None:
        """A page of an earlier crawl, as far from the start as it was then."""
        if not self._is_new(key := key_of(known.url), nofollow=False):
            return None
        entry = replace(known, number=self.next_number)
        return self._found(key, entry, self.why_not(entry))

    def admit_start(self, url: str) -> Found | None:
        """A URL that the user named: its site is the one to crawl."""
        normal = normal_url(url)
        if normal is None or not self._is_new(key := key_of(normal), nofollow=False):
            return None
        site = self.site_of(normal)
        if not self._is_settled:
            self.sites.add(site)
        entry = Entry(self.next_number, normal, site, 0, shape_of(normal), "start")
        return self._found(key, entry, self.why_not(entry))

    def admit_redirect(self, url: str, source: Entry) -> Found | None:
        """Where a page redirects to. Where the start leads, there the site is."""
        normal = normal_url(url, self.traps.dropped)
        if normal is None or not self._is_new(key := key_of(normal), nofollow=False):
            return None
        entry = replace(
            self._entry(self.known.get(key, normal), source, source.place),
            depth=source.depth,
            hops=source.hops + 1,
            parent=source.number,
        )
        if source.depth == 0 and not self._is_settled:
            self.sites.add(entry.site)
        return self._found(key, entry, self.why_not(entry))

    def key_by_now(self, entry: Entry) -> int | None:
        """The key that the URL has without what has proved to be noise since; None for the same."""
        url = normal_url(entry.url, self.traps.dropped)
        return None if url is None or url == entry.url or entry.attempts else key_of(url)

    def again(self, entry: Entry) -> Entry:
        """The entry, to be asked for once more."""
        self.next_number += 1
        return replace(entry, number=self.next_number - 1, attempts=entry.attempts + 1)

    def _is_new(self, key: int, *, nofollow: bool) -> bool:
        """True for a URL never met, or met only where it was not to be followed."""
        return key not in self.seen or (not nofollow and self.seen[key] is LeftOut.NOFOLLOW)

    def _spell(self, url: str) -> None:
        """Remember a link as it is written: most links of a page are those of the one before."""
        if len(self._spellings) >= _MAX_SPELLINGS:
            self._spellings.clear()
        self._spellings.add(url)

    def _entry(self, url: str, source: Entry | None, place: str) -> Entry:
        depth = source.depth + 1 if source else 1
        dates = self.traps.steps(url, source.url, source.dates) if source else 0
        return Entry(
            self.next_number, url, self.site_of(url), depth, shape_of(url), place, 0, dates
        )

    def _found(self, key: int, entry: Entry, reason: LeftOut | None) -> Found:
        if self.seen.get(key) is LeftOut.NOFOLLOW:
            self.left_out[LeftOut.NOFOLLOW] -= 1
        self.seen[key] = reason
        if reason is not None:
            self.left_out[reason] += 1
            return Found(key, None, reason)
        self.next_number += 1
        self.traps.note(entry.url)
        return Found(key, entry, None)

    def why_not(self, entry: Entry) -> LeftOut | None:
        """Why a URL is not asked for; None where it is."""
        url, settings = entry.url, self._settings
        if entry.site not in self.sites:
            return LeftOut.OFF_SITE
        if settings.include and entry.depth and not self._include.match(url):
            return LeftOut.EXCLUDED
        if settings.exclude and self._exclude.match(url):
            return LeftOut.EXCLUDED
        if entry.depth > settings.max_depth:
            return LeftOut.TOO_DEEP
        if len(self.seen) >= MAX_SEEN:
            return LeftOut.FULL
        if not self.may_fetch(url):
            return LeftOut.ROBOTS
        if entry.dates > self.traps.settings.max_calendar:
            return LeftOut.CALENDAR
        return self.traps.why_not(url)

    def error(self, url: str, reason: LeftOut) -> PageError:
        """The error for a URL that a user or a method asked for, and that is left out."""
        if reason is not LeftOut.ROBOTS:
            kind = {LeftOut.NOT_HTML: NotHtml, LeftOut.NOFOLLOW: Reserved}.get(reason, FetchError)
            return kind(url, str(reason))
        fault = self._manners(url).error
        if isinstance(fault, ConnectionFailed):
            return type(fault)(url, fault.reason)
        said = f"robots.txt cannot be had: {fault.reason}" if fault else str(LeftOut.ROBOTS)
        return RobotsRefused(url, said)

    def may_fetch(self, url: str) -> bool:
        """Does the host allow it?"""
        if not self._settings.obeys(Wish.ROBOTS):
            return True
        origin, site = origin_of(url), self.site_of(url)
        if origin not in self._origins and self._waited_s[site] > _MAX_MANNERS_S:
            return False
        began = time.monotonic()
        try:
            return self._manners(url).allows(url)
        except AddressRefused:
            return True  # Asking for the page itself says why it cannot be had.
        finally:
            if origin not in self._origins:
                self._origins.add(origin)
                self._waited_s[site] += time.monotonic() - began

    def is_reserved(self, url: str) -> bool:
        """Does the host's tdmrep.json keep the page from mining?"""
        try:
            return self._manners(url).reserves(urlsplit(url).path)
        except AddressRefused:
            return (
                False  # Its name has led elsewhere since the page came: there is none to be read.
            )
