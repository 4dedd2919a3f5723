"""Where a crawl would never end: URLs that a site makes up as long as somebody asks.

Depth and the number of pages bound any crawl. These rules keep it from spending its pages on:
paths that repeat themselves, calendars that go on for ever, lists sorted and filtered in every
possible way, and parameters that change nothing (a session by another name).
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import SplitResult, urlsplit

from dehusk.sources.crawl.places import parameters
from dehusk.sources.crawl.settings import LeftOut

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
        names = parameters(parts)
        if not names:
            return False
        if len(names) > self.settings.max_parameters:
            return True
        mixes = self._mixes.get(parts.netloc + parts.path, set())
        return "&".join(names) not in mixes and len(mixes) >= self.settings.max_mixes

    def note(self, url: str) -> None:
        """Take note of a URL that is to be asked for."""
        parts = urlsplit(url)
        if parts.query:
            mixes = self._mixes.setdefault(parts.netloc + parts.path, set())
            mixes.add("&".join(parameters(parts)))

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
