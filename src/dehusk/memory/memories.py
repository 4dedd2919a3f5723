"""The memories of any number of sites that outlast the process: `dehusk.open`."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final, Self

from dehusk import pipeline
from dehusk.answer.override import NO_OVERRIDES, Overrides, overrides
from dehusk.answer.result import Refusal, Result
from dehusk.errors import (
    MemoryDamaged,
    PageError,
    StateError,
    StoreDamaged,
    UsageError,
    WrongMemory,
)
from dehusk.memory import Memory, dump
from dehusk.memory.answers import SHELF, Answer, answer_of, note_answer, noted_answers
from dehusk.memory.durability import is_due
from dehusk.memory.examples import EXAMPLES, Examples
from dehusk.memory.learning import Learner, method_of
from dehusk.memory.lending import Loan, Terms
from dehusk.memory.rules import SHELF as RULES
from dehusk.memory.rules import Rule, overrides_of, put_rule, read_rules, remove_rule
from dehusk.memory.store import Shelf, SiteRow, Store, StoreRow, connect, prepare, site_id
from dehusk.methods import DEFAULT, GroupsPages, learned_with, make_method, settings_of
from dehusk.methods.contract import FamilySeen
from dehusk.page.page import Page
from dehusk.settings import Durable, Keeping, Limits

_MAX_CHOSEN: Final = 10_000
"""Sites whose rules are held in memory."""
MEND: Final = "`dehusk sites check --repair` keeps what is good"

Given = Page | tuple[str | bytes, str | None]
"""A page, or its HTML and URL."""


def open(  # noqa: A001  the name that users know from files
    address: str | os.PathLike[str],
    *,
    durable: str = Durable.BATCH,
    relearn: bool = False,
    reads_only: bool = False,
    method: str | None = None,
    limits: Limits = Limits(),
    keeping: Keeping = Keeping(),
    keep: str | Iterable[str] = (),
    drop: str | Iterable[str] = (),
    **settings: Any,
) -> Memories:
    """The memories at that address: a file, made if it is not there.

    Method and settings are those that the memories were learned with; a new file takes the given
    ones, or the default. A page that was learned is not learned again, unless `relearn` and it has
    changed. With `reads_only` others may write at the same time, and nothing can be learned. Raises
    UsageError for a `durable` that does not exist, StateError where another method or setting is
    asked for, StoreLocked where another process writes.
    """
    chosen = overrides(keep, drop)
    if durable not in list(Durable):
        raise UsageError(f"durable is one of {', '.join(Durable)}, not {durable!r}")
    kept = Durable(durable)
    database = connect(address, writes=not reads_only, is_synced=kept is not Durable.EXIT)
    try:
        row = prepare(database, lambda: _new_row(method or DEFAULT, settings))
        if method is not None and row.method != method:
            raise WrongMemory(f"{address}: a memory of the method {row.method}, not {method}")
        learner = Learner(method_of(row.method, row.settings, settings), keeping)
        if database.is_shared and learner.replay is None and not reads_only:
            raise UsageError(
                f"memories of {row.method} do not add up, so many cannot write them: use a file"
            )
        store = Store(database, learner.replay, keeping, learner.summary)
        return Memories(store, learner, limits, kept, relearn=relearn, overrides=chosen)
    except BaseException:  # Ctrl-C too: let go of the file
        database.close()
        raise


def _new_row(method: str, settings: Mapping[str, Any]) -> StoreRow:
    """What a new store says of itself."""
    return StoreRow(method, learned_with(make_method(method, **settings)))


class Memories:
    """Sites that are learned page by page and outlast the process. Made by `dehusk.open`.

    It belongs to one thread at a time.
    """

    def __init__(
        self,
        store: Store,
        learner: Learner,
        limits: Limits,
        durable: Durable,
        *,
        relearn: bool = False,
        overrides: Overrides = NO_OVERRIDES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.method = learner.method
        self.limits = limits
        self.overrides = overrides
        self._store = store
        self._learner = learner
        self.durable = durable
        self._relearn = relearn
        self._clock = clock
        self._committed = clock()
        self._is_unit = False
        self._chosen: dict[str, Overrides] = {}

    def clean(self, pages: Iterable[Given]) -> Iterator[Result | Refusal]:
        """Learn pages and answer on each, in order; a page that cannot be used gives a Refusal.

        The answers are noted for `revise`.
        """
        return (answer for answer, _ in self._answers(pages))

    def revise(
        self, pages: Iterable[Given], since: int | None = None
    ) -> Iterator[Result | Refusal]:
        """Answer as `clean` does, but only with what changed since that revision.

        Without `since`: since the page was last answered on. New pages are learned and answered on.
        """
        return (answer for answer, is_changed in self._answers(pages, since) if is_changed)

    def _answers(
        self, pages: Iterable[Given], since: int | None = None
    ) -> Iterator[tuple[Result | Refusal, bool]]:
        """Each page's answer, and whether it has changed."""
        for given in pages:
            page = given if isinstance(given, Page) else Page(*given)
            try:
                result = self.add(page)
                yield result, self.note(page, result, since)
            except PageError as error:
                yield Refusal(page.url, page.site, error), True
        self.commit()

    def note(self, page: Page, result: Result, since: int | None = None) -> bool:
        """Note the answer that is given on a page; True where it has changed, or is the first.

        With `since`, also where it has not changed now, but after that revision.
        """
        return self.note_given(result.site, answer_of(page, result), since)

    def note_given(self, site: str, answer: Answer, since: int | None = None) -> bool:
        """Note an answer that another process gave: see `note`."""
        shelf = self._store.shelf(SHELF, site)
        return note_answer(shelf, answer, self._store.keeping.max_known_pages, since)

    def given(self, site: str, since: int = 0, after: bytes | None = None) -> Iterator[Answer]:
        """The answers noted on a site that first came from a revision above `since`, by key."""
        return noted_answers(self._store.shelf(SHELF, site), since, after)

    def add(self, page: Page, render: Callable[[Result], object] | None = None) -> Result:
        """Learn a page of its site and answer on it; PageError changes nothing.

        A page that the site knows is answered on by what the site has taught, and not learned
        again. `render` is called with the result before the page counts as learned.
        """
        site, memory = self._memory_of(page)
        lessons: list[Memory] = []
        learn = self._learning(page, memory, lessons)
        result, after = pipeline.clean(
            page, memory, self.method, self.limits, render, learn, self.decided(site)
        )
        if lessons and result.family is not None and page.url:
            Examples(self.shelf(EXAMPLES, site)).offer(result.family, page.url)
        self._keep(site, after, lessons)
        return result

    def learn(self, page: Page) -> bool:
        """Learn a page without an answer on it; False where it was known. Raises PageError."""
        site, memory = self._memory_of(page)
        lessons: list[Memory] = []
        learn = self._learning(page, memory, lessons)
        after = pipeline.learn(page, memory, self.method, self.limits, learn)
        self._keep(site, after, lessons)
        return bool(lessons)

    def ask(self, page: Page, render: Callable[[Result], object] | None = None) -> Result:
        """Answer on a page as if it were its site's next, unless it is known; learn nothing."""
        site, memory = self._memory_of(page)
        learn = self._learning(page, memory, [])
        return pipeline.clean(
            page, memory, self.method, self.limits, render, learn, self.decided(site)
        )[0]

    def explain(self, page: Page) -> Result:
        """Answer as `ask` does, with what the scores are made of where the method can say it."""
        site, memory = self._memory_of(page)
        learn = self._learning(page, memory, [])
        return pipeline.explain(page, memory, self.method, self.limits, learn, self.decided(site))

    def terms(self) -> Terms:
        """How pages are judged here, for the process that sites are lent to."""
        return Terms(
            self.method.name, settings_of(self.method), self.limits, self._store.keeping,
            is_relearning=self._relearn,
        )  # fmt: skip

    def lend(self, site: str) -> Loan:
        """What another process needs to go on with a site: see `lending`. Raises StoreDamaged."""
        memory = self._store.memory(site)
        return Loan(site, dump(memory, self.method.name, site=site), self.decided(site))

    def take(self, site: str, lessons: Sequence[bytes], state: bytes | None = None) -> None:
        """Keep what pages taught a process that the site was lent to, in the order they came.

        `state` is the memory that it has come to; without it, or where the lessons do not lead
        there, they are learned here.
        """
        if not lessons:
            return
        after = self._learner.after(self._store.memory(site), lessons, site, state)
        bodies = lessons if self._learner.replay else [b""] * len(lessons)
        self._store.put_written(site, after, bodies)
        self._commit_if_due()

    def take_told(self, page: Page, lesson: bytes) -> bool:
        """Learn a page from what another process was told by it; False where it was known.

        Raises PageError, as `learn` does.
        """
        site, memory = self._memory_of(page)
        after = self._learner.after_told(memory, lesson, site, page.url)
        if after is None:
            return False
        self._store.put_written(site, after, [lesson])
        self._commit_if_due()
        return True

    def _memory_of(self, page: Page) -> tuple[str, Memory]:
        """The page's site and what it has taught. Raises MemoryDamaged."""
        site = pipeline.site_of(page)
        try:
            return site, self._store.memory(site)
        except StoreDamaged as fault:
            raise MemoryDamaged(page.url, f"{fault}; {MEND}") from fault

    def _learning(self, page: Page, memory: Memory, lessons: list[Memory]) -> pipeline.Learn:
        """How the page is learned: not at all if it is known, else with its lesson put down."""
        return self._learner.noting(page, memory, lessons, with_html=self._relearn)

    def _keep(self, site: str, after: Memory, lessons: list[Memory]) -> None:
        for lesson in lessons:
            self._store.put(site, after, lesson)
        self._commit_if_due()

    def _commit_if_due(self) -> None:
        """Commit as often as was asked for, but never in the middle of a unit."""
        waited_s = self._clock() - self._committed
        if not self._is_unit and is_due(self.durable, self._store, waited_s):
            self.commit()

    def commit(self) -> None:
        """Make all that was learned and put lasting. StoreFull loses nothing: try again."""
        self._check_no_unit("nothing can be committed before it ends")
        forgotten = self.forgotten_sites
        try:
            self._store.commit()
        finally:
            if self.forgotten_sites != forgotten:
                self._chosen.clear()  # The rules of a site that had to leave went with it.
        self._committed = self._clock()

    def _check_no_unit(self, refusal: str) -> None:
        if self._is_unit:
            raise StateError(f"in a unit {refusal}")

    @contextmanager
    def unit(self) -> Iterator[None]:
        """What is learned and put on shelves inside becomes lasting together, or not at all.

        It is committed when the durability says so, at the end of the unit at the earliest. If the
        body raises, all is as it was before the unit. Raises StateError inside another unit.
        """
        self._check_no_unit("another cannot begin")
        self._is_unit = True
        try:
            with self._store.unit():
                yield
        except BaseException:
            self._chosen.clear()  # Rules that were put inside are undone.
            raise
        finally:
            self._is_unit = False
        self._commit_if_due()

    def shelf(self, name: str, site: str = "") -> Shelf:
        """Keys and values of others, of a site or of all, committed with the pages: `Shelf`."""
        return self._store.shelf(name, site)

    def rules(self, site: str) -> tuple[Rule, ...]:
        """What users have corrected on a site: obeyed on all its pages."""
        return read_rules(self.shelf(RULES, site))

    def add_rule(self, site: str, action: str, selector: str) -> Rule:
        """Keep or drop what the selector selects, on every page of the site from now on.

        Raises SelectorError for what is not CSS, UsageError for what cannot be a rule.
        """
        rule = put_rule(self.shelf(RULES, site), action, selector)
        self._chosen.pop(site, None)
        return rule

    def remove_rule(self, site: str, rule_id: str) -> bool:
        """Take a rule of a site back; False if it was not there."""
        self._chosen.pop(site, None)
        return remove_rule(self.shelf(RULES, site), rule_id)

    def decided(self, site: str) -> Overrides:
        """What the user decides on a site: as the memories were opened, and by the rules."""
        if site not in self._chosen:
            if len(self._chosen) >= _MAX_CHOSEN:
                self._chosen.clear()
            self._chosen[site] = overrides_of(self.rules(site), self.overrides)
        return self._chosen[site]

    def memory(self, site: str) -> Memory:
        """What a site has taught; an empty memory for an unknown one. Raises StoreDamaged."""
        return self._store.memory(site)

    def sites(self, damaged: Callable[[StoreDamaged], object] | None = None) -> list[SiteRow]:
        """The sites as they were last committed, by name.

        `damaged` is told of each whose row is damaged; without it StoreDamaged is raised.
        """
        rows = self._store.statements.sites(damaged)
        return sorted(rows, key=lambda row: row.name)

    def site(self, name: str) -> SiteRow | None:
        """The site as it was last committed; None for an unknown one. Raises StoreDamaged."""
        return self._store.statements.site(site_id(name))

    @property
    def size_bytes(self) -> int:
        """What the file, or the tables on the server, take."""
        return self._store.database.size_bytes()

    @property
    def active_sites(self) -> int:
        """How many sites are held in memory."""
        return self._store.active_sites

    @property
    def forgotten_sites(self) -> int:
        """How many sites ever left because all were too large."""
        return self._store.row.forgotten

    def families(self, site: str) -> list[FamilySeen]:
        """The families of a site that its method tells apart, that of most pages first.

        Empty for a method that does not tell. Raises StoreDamaged.
        """
        memory = self._store.memory(site)
        found = self.method.families(memory) if isinstance(self.method, GroupsPages) else ()
        examples = Examples(self.shelf(EXAMPLES, site))
        return [replace(family, example=examples.get(family.number)) for family in found]

    def forget(self, site: str) -> bool:
        """Take a site out, with all that is kept of it; False if it was not there.

        It is lasting at once. Raises StateError inside a unit.
        """
        self._check_no_unit("no site can be forgotten")
        self._chosen.pop(site, None)
        return self._store.forget(site)

    def close(self) -> None:
        """Commit, and let go of the file."""
        try:
            self.commit()
        finally:
            self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *fault: object) -> None:
        self.close()
