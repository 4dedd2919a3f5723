"""What to ask for next: of every kind of page a few first, then the rest in order."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

KNOWN_AFTER: Final = 8
"""Pages after which a kind of page counts as known. `segments` needs five pages to tell a template,
and some of a kind fail or are left out."""
_MAX_GROUPS: Final = 500
"""Kinds that are told apart on a site; a site with more has opaque URLs, and the rest is one."""


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
        self._again: deque[Entry] = deque()
        self._taken: Counter[str] = Counter()
        self._by_shape: Counter[tuple[str, str]] = Counter()
        self._by_place: Counter[_Group] = Counter()
        self._groups: set[_Group] = set()
        self._size = 0

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
        else:
            self._waiting.setdefault(group, deque()).append(entry)

    def take(self, is_free: Iterable[str]) -> Entry | None:
        """The next URL, of one of the sites that may be asked; None where there is none.

        A site with fewer pages so far comes first. Of a site, a shape of URL with fewer pages
        comes first until eight of it are known, then a place on the page with fewer, then what is
        nearer to the start, then what was found earlier.
        """
        free = frozenset(is_free)
        for special in (self._urgent, self._again if not any(self._waiting.values()) else deque()):
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
