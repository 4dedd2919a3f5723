"""URLs to fetch: how they are written, where a crawl starts, and which comes next."""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from w3lib.url import canonicalize_url, safe_url_string

from dehusk.errors import UsageError
from dehusk.page.urls import without_session
from dehusk.sources.crawl.fetch import origin_of

_USUAL_PORTS: Final = {"http": 80, "https": 443}
_MAX_URL: Final = 8000
"""Characters of a link that are looked at: what servers take, twice over."""
_HOST: Final = re.compile(r"[a-z0-9_.-]*[a-z0-9_][a-z0-9_.-]*|[0-9a-f.]*:[0-9a-f:.]*")
"""A name, or an IPv6 address. International names are written in ASCII before; some characters that
look like a colon or a slash become one by that, and lead elsewhere than they seem to."""
_NUMBER: Final = re.compile(r"[0-9]+")
_WORD: Final = re.compile(r"[^\W\d_]{1,20}")
"""A folder name that says what kind of pages is in it."""
_ENDING: Final = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,4}\Z")
KNOWN_AFTER: Final = 8
"""Pages after which a kind of page counts as known. `segments` needs five pages to tell a template,
and some of a kind fail or are left out."""
_MAX_GROUPS: Final = 500
"""Kinds that are told apart on a site; a site with more has opaque URLs, and the rest is one."""


def normal_url(url: str, dropped: frozenset[str] = frozenset()) -> str | None:
    """The URL to ask for: without fragment, user, session and `dropped` parameters.

    None for what is no address on the web.
    """
    if len(url) > _MAX_URL:
        return None
    try:
        parts = urlsplit(safe_url_string(url))
        host, port = parts.hostname or "", parts.port
    except (ValueError, UnicodeError):
        return None
    host = host if ":" in host else host.rstrip(".")
    if parts.scheme not in _USUAL_PORTS or not _HOST.fullmatch(host):
        return None
    host = f"[{host}]" if ":" in host else host
    netloc = host if port in (None, _USUAL_PORTS[parts.scheme]) else f"{host}:{port}"
    path, query = without_session(parts.path or "/", parts.query, dropped)
    return urlunsplit((parts.scheme, netloc, path or "/", query, ""))


def key_of(url: str) -> int:
    """64 bits that are the same for all spellings of a URL: order of parameters, `%7E`, dots."""
    written = canonicalize_url(url).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(written, digest_size=8).digest(), "big", signed=True)


def parameters(parts: SplitResult) -> list[str]:
    """The names of a query's parameters, in the order of the alphabet."""
    return sorted({part.partition("=")[0] for part in parts.query.split("&") if part})


def shape_of(url: str) -> str:
    """What the URLs of alike pages have in common: `/news/#/*.html?page`.

    Folders that are words stay, numbers become `#`, all else `*`; of the last part only the
    ending stays, of the query the names.
    """
    parts = urlsplit(url)
    *folders, last = parts.path.lstrip("/").split("/")
    kept = [_folder_shape(folder) for folder in folders[:8]]
    ending = _ENDING.search(last)
    stem = last[: ending.start()] if ending else last
    mark = "#" if _NUMBER.fullmatch(stem) else "*" if stem else ""
    path = "/".join((*kept, mark + (ending[0].lower() if ending else "")))
    return f"/{path}?{'&'.join(parameters(parts))}" if parts.query else f"/{path}"


def _folder_shape(folder: str) -> str:
    if _NUMBER.fullmatch(folder):
        return "#"
    return folder.lower() if _WORD.fullmatch(folder) else "*"


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


def credentials_of(starts: Iterable[Start]) -> dict[str, str]:
    """What each origin is told of users and passwords.

    Raises UsageError for two of one origin: nobody could tell which page is whose.
    """
    found: dict[str, str] = {}
    for start in starts:
        if start.authorization and found.setdefault(start.origin, start.authorization) != (
            start.authorization
        ):
            raise UsageError(f"two users of {start.origin}: name them in runs of their own")
    return found


@dataclass(frozen=True, slots=True)
class Entry:
    """A URL that waits to be asked for."""

    number: int
    """In the order in which they were found."""
    url: str
    site: str
    depth: int
    """Links from the start."""
    shape: str = ""
    place: str = ""
    hops: int = 0
    """Redirects that led here."""
    dates: int = 0
    """Calendar pages that were passed one after another to come here."""
    attempts: int = 0
    """Times it was asked for in vain."""
    parent: int | None = None
    """The entry that redirected here; its target takes its place, before all others."""

    @property
    def is_urgent(self) -> bool:
        """True for what a redirect leads to, unless it failed before."""
        return self.parent is not None and not self.attempts


_Group = tuple[str, str, str]


class Frontier:
    """The URLs that wait. Which comes next depends only on what was put in and taken out."""

    def __init__(self) -> None:
        self._waiting: dict[_Group, deque[Entry]] = {}
        self._urgent: deque[Entry] = deque()
        self._known: deque[Entry] = deque()
        self._again: deque[Entry] = deque()
        self._taken: Counter[str] = Counter()
        self._by_shape: Counter[tuple[str, str]] = Counter()
        self._by_place: Counter[_Group] = Counter()
        self._groups: set[_Group] = set()
        self._size = 0
        self.known: set[str] = set()
        """URLs of pages of an earlier crawl; they come before new ones."""

    def __len__(self) -> int:
        return self._size

    def put(self, entry: Entry) -> None:
        """Let a URL wait: a redirect's target before all others, one that failed behind them."""
        self._size += 1
        group = self._group(entry)
        if entry.is_urgent:
            self._urgent.append(entry)
        elif entry.attempts:
            self._again.append(entry)
        elif entry.url in self.known:
            self._known.append(entry)
        else:
            self._waiting.setdefault(group, deque()).append(entry)

    def take(self, is_free: Iterable[str]) -> Entry | None:
        """The next URL, of one of the sites that may be asked; None where there is none.

        Pages of an earlier crawl come first. Of others a site with fewer pages so far comes first.
        Of a site, a shape of URL with fewer pages comes first until eight of it are known, then a
        place on the page with fewer, then what is nearer to the start, then what was found earlier.
        """
        free = frozenset(is_free)
        again = self._again if not any(self._waiting.values()) else deque()
        for special in (self._urgent, self._known, again):
            for entry in special:
                if entry.site in free:
                    special.remove(entry)
                    return self._note(entry)
        heads = (
            (self._rank(group, waiting[0]), group)
            for group, waiting in self._waiting.items()
            if waiting and group[0] in free
        )
        best = min(heads, default=None)
        return self._note(self._waiting[best[1]].popleft()) if best else None

    def _rank(self, group: _Group, head: Entry) -> tuple[int, int, int, int, int]:
        site, shape, _ = group
        return (
            self._taken[site],
            min(self._by_shape[site, shape], KNOWN_AFTER),
            min(self._by_place[group], KNOWN_AFTER),
            head.depth,
            head.number,
        )

    def _note(self, entry: Entry) -> Entry:
        self._size -= 1
        self._count(entry)
        return entry

    def put_back(self, entries: Iterable[tuple[Entry, bool]]) -> None:
        """Be as an earlier run left it: all its URLs, each with 'was it taken?'."""
        for entry, was_taken in entries:
            self.put(entry) if not was_taken else self._count(entry)

    def _count(self, entry: Entry) -> None:
        """Take note of a URL that was taken."""
        group = self._group(entry)
        self._taken[entry.site] += 1
        self._by_shape[group[:2]] += 1
        self._by_place[group] += 1

    def _group(self, entry: Entry) -> _Group:
        """What kind of page the URL leads to, as far as one can tell before asking."""
        group = (entry.site, entry.shape, entry.place)
        if group not in self._groups and len(self._groups) >= _MAX_GROUPS:
            return (entry.site, "", "")
        self._groups.add(group)
        return group
