"""Sites lent to other processes, which judge pages and send back what each of them taught.

Whoever has opened the memories is the only one that writes them. It lends a site to a process that
may crash on a page without harm, keeps the lessons that come back, and can lend the site again:

    lender (Memories)                     borrower
    terms()                 ─────────►    Borrower(terms)
    lend(site)              ─────────►    borrow(loan)
                                          clean(page) ─► the answer, and the lesson
    take(site, lessons)     ◄─────────    the lessons, and now and then the state
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from dehusk import pipeline
from dehusk.learning import Learner, method_of
from dehusk.memory import Memory, dump, load
from dehusk.methods import Method
from dehusk.model import Limits, Page
from dehusk.override import NO_OVERRIDES, Overrides
from dehusk.result import Result
from dehusk.store import Keeping

_MAX_BYTES: Final = 128_000_000
"""What the borrowed sites may take in memory, as `Keeping.max_active_bytes` allows the lender; the
one that was not asked for longest goes first."""


@dataclass(frozen=True, slots=True)
class Terms:
    """How pages are judged, as plain data."""

    method: str
    settings: Mapping[str, object]
    limits: Limits
    keeping: Keeping
    is_relearning: bool = False


@dataclass(frozen=True, slots=True)
class Loan:
    """A site as it is lent: what it has taught, and what its users decide."""

    site: str
    state: bytes
    overrides: Overrides = NO_OVERRIDES


class Borrower:
    """Judges pages of borrowed sites; what it learns is lost unless the lessons are sent back."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._learner = Learner(method_of(terms.method, terms.settings, {}), terms.keeping)
        self._sites: OrderedDict[str, tuple[Memory, Overrides]] = OrderedDict()
        self._bytes = 0

    @property
    def method(self) -> Method:
        """What tells template from content."""
        return self._learner.method

    def borrow(self, loan: Loan) -> None:
        """Take a site, in place of what was known of it."""
        memory = load(loan.state, self._terms.method, site=loan.site)
        self._put(loan.site, memory, loan.overrides)

    def has(self, site: str) -> bool:
        """True for a site that is still held."""
        return site in self._sites

    def state(self, site: str) -> bytes:
        """What a borrowed site has come to. Raises KeyError for one that is not held."""
        return dump(self._sites[site][0], self._terms.method, site=site)

    def clean(
        self, page: Page, render: Callable[[Result], object], *, learns: bool = True
    ) -> tuple[Result, bytes | None]:
        """The page's answer, and the lesson if it is learned: not if it is known, or not wished.

        The page's site must be held. Raises PageError, which changes nothing.
        """
        site = pipeline.site_of(page)
        memory, overrides = self._sites[site]
        lessons: list[Memory] = []
        learn = self._learning(page, memory, lessons)
        result, after = pipeline.clean(
            page, memory, self._learner.method, self._terms.limits, render, learn, overrides
        )
        if not (learns and lessons):
            return result, None
        self._put(site, after, overrides)
        return result, self._learner.written(lessons[0], site)

    def explain(self, page: Page) -> Result:
        """The answer on a page as if it were its site's next, with what the scores are made of."""
        memory, overrides = self._sites[pipeline.site_of(page)]
        learn = self._learning(page, memory, [])
        method, limits = self._learner.method, self._terms.limits
        return pipeline.explain(page, memory, method, limits, learn, overrides)

    def _learning(self, page: Page, memory: Memory, lessons: list[Memory]) -> pipeline.Learn:
        """How the page is learned: not at all if it is known, else with its lesson put down."""
        relearns = self._terms.is_relearning
        return self._learner.noting(page, memory, lessons, with_html=relearns)

    def _put(self, site: str, memory: Memory, overrides: Overrides) -> None:
        """Hold a site, and let go of others where there is no room."""
        if site in self._sites:
            self._bytes -= self._sites[site][0].size_bytes
        self._sites[site] = memory, overrides
        self._sites.move_to_end(site)
        self._bytes += memory.size_bytes
        while self._bytes > _MAX_BYTES and len(self._sites) > 1:
            _, (gone, _) = self._sites.popitem(last=False)
            self._bytes -= gone.size_bytes
