"""The search for pages that all link each other: Algorithm 2 of the thesis."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

_MAX_STEPS: Final = 50_000
"""Sets of pages that are looked at. Colours settle nearly all questions in one step; only where
much more than ten pages shall link each other, on a site built to be hard, is it not enough, and
the best that was found counts."""


class Digraph:
    """Pages in the order they were loaded, and which of them link each other both ways.

    Pages are numbered from 0. A set of pages is an integer with the bits of its members.
    """

    def __init__(self) -> None:
        self._number: dict[str, int] = {}
        self._targets: list[frozenset[str]] = []
        self._mutual: list[int] = []
        self._steps = _MAX_STEPS

    def add(self, url: str, targets: frozenset[str]) -> int:
        """Add a page with all that it links, and give its number."""
        number = len(self._targets)
        mutual = 0
        for target in targets & self._number.keys():
            other = self._number[target]
            if url in self._targets[other]:
                mutual |= 1 << other
                self._mutual[other] |= 1 << number
        self._number[url] = number
        self._targets.append(targets)
        self._mutual.append(mutual)
        return number

    def complete(self, number: int, size: int) -> tuple[int, ...] | None:
        """The first complete set of that size with this page in it; None if there is none.

        Of several the one with the lowest numbers, compared from the lowest up.
        """
        found = self._clique(self._mutual[number], size - 1)
        return None if found is None else tuple(sorted((*found, number)))

    def _clique(self, among: int, size: int) -> tuple[int, ...] | None:
        """The first complete set of that size among these pages; no deeper than `size` calls."""
        if size == 0:
            return ()
        self._steps -= 1
        if self._steps < 0 or not self._may_hold(among, size):
            return None
        for member in _members(among):
            among &= ~(1 << member)
            rest = self._clique(among & self._mutual[member], size - 1)
            if rest is not None:
                return (member, *rest)
        return None

    def _may_hold(self, among: int, size: int) -> bool:
        """False where colours show that there is no complete set of that size.

        The pages of one colour do not link each other, so a complete set has a colour for each
        page. Without this, many pages in few groups would take forever.
        """
        colours = 0
        while among and colours < size:
            free = among
            while free:
                lowest = free & -free
                among ^= lowest
                free &= ~lowest & ~self._mutual[lowest.bit_length() - 1]
            colours += 1
        return colours >= size


def _members(pages: int) -> Iterator[int]:
    """The numbers in a set, ascending."""
    while pages:
        lowest = pages & -pages
        yield lowest.bit_length() - 1
        pages ^= lowest


@dataclass(frozen=True, slots=True)
class Step:
    """A link to follow, unless so many pages that link each other have been found already."""

    url: str
    enough: int


@dataclass(frozen=True, slots=True)
class Search:
    """What a search found."""

    chosen: tuple[str, ...] = ()
    """The pages of the subdigraph, in the order they were loaded."""
    loaded: tuple[str, ...] = ()
    """All pages that were loaded, without the key page."""
    failed: tuple[str, ...] = ()
    """The links that led nowhere."""


def find_subdigraph(steps: Iterable[Step], load: Callable[[str], frozenset[str] | None]) -> Search:
    """The first of the linked pages that all link each other, enough of them, else the most.

    Algorithm 2: pages are loaded one by one, and the search ends with the first complete
    subdigraph of the size asked for. `load` loads a page and gives what it links, None where it
    leads nowhere. The listing looks at all sets of loaded pages; a new page can make the best set
    greater by no more than one, so it is enough to ask each time for one such set.
    """
    digraph = Digraph()
    best: tuple[int, ...] = ()
    loaded: list[str] = []
    failed: list[str] = []
    for step in steps:
        if len(best) >= step.enough:
            break
        targets = load(step.url)
        if targets is None:
            failed.append(step.url)
            continue
        loaded.append(step.url)
        best = digraph.complete(digraph.add(step.url, targets), len(best) + 1) or best
    return Search(tuple(loaded[number] for number in best), tuple(loaded), tuple(failed))
