"""Sites lent to other processes, which judge pages and send back what each of them taught.

Whoever has opened the memories is the only one that writes them. It lends a site to a process that
may crash on a page without harm, keeps the lessons that come back, and can lend the site again:

    lender (Memories)                     borrower
    terms()                 ─────────►    Borrower(terms)
    lend(site)              ─────────►    borrow(loan)
                                          clean(page) ─► the answer, and the lesson
    take(site, lessons)     ◄─────────    the lessons, and now and then the state

The service does so, and `jobs`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dehusk import pipeline
from dehusk.answer.override import NO_OVERRIDES, Overrides
from dehusk.answer.result import Result
from dehusk.memory import Memory
from dehusk.memory.learning import Learner, method_of, page_digest
from dehusk.methods import Method
from dehusk.page.page import Page
from dehusk.settings import Keeping, Limits

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
    knows_pages: bool = True
    """As `Learner` has it."""


def terms_of(told: Mapping[str, Any]) -> Terms:
    """The terms that `asdict` made plain data of."""
    nested = {"limits": Limits(**told["limits"]), "keeping": Keeping(**told["keeping"])}
    return Terms(**{**told, **nested})


@dataclass(frozen=True, slots=True)
class Loan:
    """A site as it is lent: what it has taught, and what its users decide."""

    site: str
    state: bytes
    overrides: Overrides = NO_OVERRIDES
    lessons: Sequence[bytes] = ()
    """What pages have taught behind the state."""
    unlearned: frozenset[int] = frozenset()
    """Where pages are not known: the digests of those that could not be learned."""


@dataclass(frozen=True, slots=True)
class _Held:
    """A site that was borrowed."""

    memory: Memory
    overrides: Overrides
    size_bytes: int
    """What the memory takes."""


class Borrower:
    """Judges pages of borrowed sites; what it learns is lost unless the lessons are sent back.

    Beyond `max_bytes` it lets go of sites; with None the lender says which, by `drop`.
    """

    def __init__(self, terms: Terms, *, max_bytes: int | None = _MAX_BYTES) -> None:
        self._terms = terms
        method = method_of(terms.method, terms.settings, {})
        self._learner = Learner(method, terms.keeping, terms.knows_pages)
        self._sites: OrderedDict[str, _Held] = OrderedDict()
        self._unlearned: dict[str, set[int]] = {}
        self._max_bytes = max_bytes
        self._bytes = 0

    @property
    def method(self) -> Method:
        """What tells template from content."""
        return self._learner.method

    def borrow(self, loan: Loan) -> None:
        """Take a site, in place of what was known of it."""
        memory = Memory()
        if loan.state:
            memory = self._learner.read(loan.state, loan.site)
        memory = self._learner.after(memory, loan.lessons, loan.site)
        self._put(loan.site, memory, loan.overrides)
        if loan.unlearned:
            self._unlearned[loan.site] = set(loan.unlearned)

    def drop(self, site: str) -> None:
        """Let go of a site."""
        self._unlearned.pop(site, None)
        gone = self._sites.pop(site, None)
        if gone is not None:
            self._bytes -= gone.size_bytes

    def size_bytes(self, site: str) -> int:
        """What a site that is held takes in memory."""
        return self._sites[site].size_bytes

    def has(self, site: str) -> bool:
        """True for a site that is still held."""
        return site in self._sites

    def state(self, site: str) -> bytes:
        """What a borrowed site has come to. Raises KeyError for one that is not held."""
        return self._learner.written(self._sites[site].memory, site)

    def clean(
        self, page: Page, render: Callable[[Result], object], *, learns: bool = True
    ) -> tuple[Result, bytes | None]:
        """The page's answer, and the lesson if it is learned: not if it is known, or not wished.

        The page's site must be held. Raises PageError, which changes nothing.
        """
        site = pipeline.site_of(page)
        held = self._sites[site]
        memory, overrides = held.memory, held.overrides
        lessons: list[Memory] = []
        learn = self._learning(page, memory, lessons)
        result, after = pipeline.clean(
            page, memory, self._learner.method, self._terms.limits, render, learn, overrides
        )
        if not (learns and lessons):
            return result, None
        self._put(site, after, overrides)
        return result, self._learner.written(lessons[0], site)

    def learn(self, page: Page) -> bytes | None:
        """The lesson of a page, which is learned without an answer on it; None if it is known.

        Raises PageError, which changes nothing.
        """
        site = pipeline.site_of(page)
        held = self._sites[site]
        memory, overrides = held.memory, held.overrides
        lessons: list[Memory] = []
        learn = self._learning(page, memory, lessons)
        try:
            after = pipeline.learn(page, memory, self._learner.method, self._terms.limits, learn)
        except Exception:
            if not self._terms.knows_pages:
                self._unlearned.setdefault(site, set()).add(unlearned_digest(page))
            raise
        if not lessons:
            return None
        self._put(site, after, overrides)
        return self._learner.written(lessons[0], site)

    def tell(self, page: Page) -> bytes:
        """The lesson of a page, whatever its site knows, which need not be held.

        Raises PageError.
        """
        lessons: list[Memory] = []
        learn = self._learning(page, Memory(), lessons)
        pipeline.learn(page, Memory(), self._learner.method, self._terms.limits, learn)
        return self._learner.written(lessons[0], pipeline.site_of(page))

    def ask(self, page: Page, render: Callable[[Result], object]) -> Result:
        """The answer on a page that was learned, or could not be: as `Sites` or `Memories` asks."""
        if self._terms.knows_pages:
            return self.clean(page, render, learns=False)[0]
        site = pipeline.site_of(page)
        held = self._sites[site]
        memory, overrides = held.memory, held.overrides
        unlearned = self._unlearned.get(site)
        is_learned = not unlearned or unlearned_digest(page) not in unlearned
        learn = pipeline.as_learned if is_learned else None
        return pipeline.clean(
            page, memory, self._learner.method, self._terms.limits, render, learn, overrides
        )[0]

    def explain(self, page: Page) -> Result:
        """The answer on a page as if it were its site's next, with what the scores are made of."""
        held = self._sites[pipeline.site_of(page)]
        memory, overrides = held.memory, held.overrides
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
            self._bytes -= self._sites[site].size_bytes
        self._sites[site] = held = _Held(memory, overrides, memory.size_bytes)
        self._sites.move_to_end(site)
        self._bytes += held.size_bytes
        if self._max_bytes is not None:
            while self._bytes > self._max_bytes and len(self._sites) > 1:
                self.drop(next(iter(self._sites)))


def unlearned_digest(page: Page) -> int:
    """What a page that could not be learned is known by."""
    return int(page_digest(page, with_html=True))
