"""What `detect` answers: the votes on a page's nodes, and how they came about."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np

from dehusk.page.tree import Flags, Floats, Ints, Tree

MAX_LINKS: Final = 10_000
"""Links of a page that are sorted. No menu has as many; sorting takes their square."""


class Equality(StrEnum):
    """When two nodes are the same."""

    PAPER = "paper"
    """By the equality probability of the thesis."""
    TEXT = "text"
    """By what they say."""


class Outcome(StrEnum):
    """What the search for pages that link each other found."""

    FOUND = "found"
    """As many as were asked for."""
    SMALLER = "smaller"
    """Fewer, but at least two."""
    SINGLE = "single"
    """No two: one page is compared with."""
    NO_PAGES = "no_pages"
    """The links lead nowhere."""
    NO_LINKS = "no_links"
    """The page links no other page of its site."""
    NO_URL = "no_url"
    """Nobody said where the page stands, so that its links lead nowhere."""
    NO_LOADER = "no_loader"
    """Nobody said how to load other pages."""

    @classmethod
    def of(cls, size: int, asked: int) -> Outcome:
        """The outcome of a search that found so many pages, at least one."""
        if size >= asked:
            return cls.FOUND
        return cls.SMALLER if size > 1 else cls.SINGLE


@dataclass(frozen=True, slots=True, eq=False)
class Detection:
    """The template of a key page, and how it was found."""

    outcome: Outcome
    scores: Floats
    """Of each node, above 0.5 for template; nan without an opinion."""
    votes: Ints
    """How many of `pages` have each node."""
    is_template: Flags
    pages: tuple[str, ...] = ()
    """The URLs of the pages that voted: the subdigraph, atypical pages replaced if asked for."""
    asked: int = 0
    """How many pages that link each other were asked for."""
    needed: int = 0
    """How many votes made a node template: those asked for, or all where there were fewer pages."""
    loads: int = 1
    """How many pages were loaded, the key page included, as 001 counts them."""
    failed: tuple[str, ...] = ()
    """Links that led nowhere, out of the site, or back to the key page or one loaded before."""
    replaced: tuple[str, ...] = ()
    """Atypical pages that were taken out."""
    outside: int = 0
    """How many pages of other sites the key page links."""
    unread: int = 0
    """Links that were left out because there are too many."""
    page_counts: bool = False
    """Had `auto` a say, besides the votes or alone?"""
    is_emptied: bool = False
    """Is there text on the page, and all of it template?"""

    @property
    def requests(self) -> int:
        """How many pages were asked for: those loaded, and links that led nowhere."""
        return self.loads + len(self.failed)

    @property
    def message(self) -> str:
        """What was done, and what could not be done, for people."""
        is_one = self.outcome is Outcome.FOUND and self.asked == 1
        sentence = "one page is enough" if is_one else _SENTENCES[self.outcome]
        parts = [sentence.format(found=len(self.pages), asked=self.asked)]
        if self.pages:
            parts.append(f"{_count(self.loads, 'page')} loaded, {self.needed} of"
                         f" {_count(len(self.pages), 'page')} must have a node")  # fmt: skip
        if self.page_counts:
            parts.append("`auto` has a say too" if self.pages else _ALONE)
        if self.is_emptied:
            parts.append("all text of the page is template: nothing new is left as content")
        if self.replaced:
            parts.append(f"{_count(len(self.replaced), 'atypical page')} replaced")
        if self.failed:
            parts.append(f"{_count(len(self.failed), 'link')} could not be used")
        if self.outside:
            parts.append(f"{_count(self.outside, 'link')} to other sites left out")
        if self.unread:
            parts.append(
                f"{_count(self.unread, 'link')} beyond the first {MAX_LINKS:,} not looked at"
            )
        return "; ".join(parts)


_ALONE = "the page was judged by itself"
_SENTENCES = {
    Outcome.FOUND: "{asked} pages that all link each other",
    Outcome.SMALLER: "no {asked} pages link each other: {found} do",
    Outcome.SINGLE: "no two pages link each other: compared with one page",
    Outcome.NO_PAGES: "no page could be loaded to compare with",
    Outcome.NO_LINKS: "the page links no other page of its site, so there is none to compare with",
    Outcome.NO_URL: "the page has no URL, so nobody knows where its links lead",
    Outcome.NO_LOADER: "no other pages were given to compare with",
}


def _count(number: int, thing: str) -> str:
    """The number with its noun."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def no_answer(tree: Tree, outcome: Outcome, asked: int) -> Detection:
    """The answer where there is nothing to compare with: no opinion on any node."""
    return Detection(
        outcome=outcome,
        scores=np.full(len(tree), np.nan),
        votes=np.zeros(len(tree), np.int32),
        is_template=np.zeros(len(tree), np.bool_),
        asked=asked,
    )
