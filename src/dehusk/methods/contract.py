"""The plain data that methods, smoothing and the answer hand to each other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dehusk.page.tree import Flags, Floats, Ints


class Smoothing(Struct, frozen=True, eq=False):
    """What smoothing is told of every node, in document order."""

    penalty: Floats
    """What it costs to begin a section at the node, where a distance of 1 between the score of one
    node and its smoothed score costs 1. At least 0; infinite where no section may begin."""
    weight: Floats | None = None
    """How much the node's own score counts, and of a hidden one what it adds to the node that it
    goes with; None for 1 each."""
    hidden: Flags | None = None
    """True for nodes too small to be smoothed: they go with what they stand in. None for none."""


class Smoothed(Struct, frozen=True, eq=False):
    """What smoothing makes of scores, in document order."""

    scores: Floats
    """0 content … 1 template, never below the parent's; nan for what is never shown."""
    sections: Ints
    """Of each node the node that its section begins with: the maximal piece of one score."""


class Explanation(Struct, frozen=True, eq=False):
    """What a method's scores are made of, in document order; nan where it has no opinion."""

    page_score: Floats
    """What the page alone says, 0 content … 1 template."""
    site_score: Floats
    """What the other pages of the site say."""
    score: Floats
    """What the two come to: as `score` gives it, before any smoothing."""
    reason: NDArray[np.int16]
    """Of each node the place in `reasons` of why it has its score; -1 for none."""
    reasons: tuple[str, ...] = ()
    """The method's reasons in words, such as `seen at this place on most pages`."""


def _nothing() -> None:
    """Nobody can say."""


class Assessment(Struct, frozen=True, eq=False):
    """What a method says of every node, and what it can say besides when it is asked."""

    scores: Floats
    """0 content … 1 template, nan for no opinion."""
    comments: Callable[[], Flags | None] = _nothing
    """True for texts that readers wrote below the content; None where nobody can say."""
    confidence: Callable[[], float | None] = _nothing
    """The F1 of words to be expected of the page's text, 0 … 1."""
    site_removed: Callable[[], float | None] = _nothing
    """The share of the characters that the page alone would keep that its site took away."""
    addresses: Callable[[], int] = lambda: 1
    """At how many addresses of the site the same is said, this one included."""
    is_guess: bool = False
    """True where nothing looks like content: what is kept is only the likeliest."""


class FamilySeen(Struct, frozen=True):
    """Pages of a site that share a template, as the site's memory knows them."""

    number: int
    """What `Verdict.family` calls it."""
    pages: int
    last_page: int
    """The number of the last page of it, among all pages of the site."""
    example: str | None = None
    """The URL of its first page that was answered on, where that is known."""


class Verdict(Struct, frozen=True):
    """What a method says of a page as a whole; None where it does not know."""

    family: int | None = None
    """Names, within its site, the pages that share a template with this one."""
    type: str | None = None
    type_confidence: float | None = None
    template_changed: bool | None = None
    """True on the page that shows that the site's template has changed."""
