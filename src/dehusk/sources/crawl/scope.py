"""Which of the URLs that a crawl meets are to be asked for, and why the others are not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urlsplit

from dehusk.errors import AddressRefused
from dehusk.settings import CrawlSettings, SourceSettings, Wish
from dehusk.sources.crawl.frontier import Entry
from dehusk.sources.crawl.places import key_of, normal_url, shape_of
from dehusk.sources.crawl.robots import Manners
from dehusk.sources.crawl.settings import LeftOut, as_expression
from dehusk.sources.crawl.traps import Traps
from dehusk.sources.items import site_of

MAX_SEEN: Final = 2_000_000
"""URLs that a crawl remembers; about 200 bytes each. What comes then is left out, and counted."""
_MAX_SPELLINGS: Final = 200_000


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
    ) -> None:
        self._settings = settings
        # The name that the user gives to all pages must not make the whole web one site.
        self._site_settings = replace(source_settings, site=None)
        self._manners = manners
        self._include = re.compile(as_expression(settings.include))
        self._exclude = re.compile(as_expression(settings.exclude))
        self._spellings: set[str] = set()
        self.sites: set[str] = set()
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
        entry = self._entry(normal, source, place)
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
        self.sites.add(site)
        entry = Entry(self.next_number, normal, site, 0, shape_of(normal), "start")
        return self._found(key, entry, self.why_not(entry))

    def admit_redirect(self, url: str, source: Entry) -> Found | None:
        """Where a page redirects to. Where the start leads, there the site is."""
        normal = normal_url(url, self.traps.dropped)
        if normal is None or not self._is_new(key := key_of(normal), nofollow=False):
            return None
        entry = replace(
            self._entry(normal, source, source.place),
            depth=source.depth,
            hops=source.hops + 1,
            parent=source.number,
        )
        if source.depth == 0:
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

    def may_fetch(self, url: str) -> bool:
        """Does the host allow it?"""
        if not self._settings.obeys(Wish.ROBOTS):
            return True
        try:
            return self._manners(url).allows(url)
        except AddressRefused:
            return True  # Asking for the page itself says why it cannot be had.

    def is_reserved(self, url: str) -> bool:
        """Does the host's tdmrep.json keep the page from mining?"""
        return self._manners(url).reserves(urlsplit(url).path)
