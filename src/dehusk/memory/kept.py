"""What a session keeps of sites, in this process or in a store: memories, rules, notes."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock
from typing import TYPE_CHECKING, Final, Self

from msgspec import Struct, field
from msgspec.structs import replace

from dehusk.answer.override import Overrides
from dehusk.answer.result import Result
from dehusk.errors import StateError, StoreDamaged, UsageError
from dehusk.memory import Memory
from dehusk.memory.lessons import Lessons
from dehusk.memory.notes import (
    ANSWERS,
    EXAMPLES,
    Answer,
    Examples,
    answer_of,
    note_answer,
    noted_answers,
)
from dehusk.memory.rules import SHELF as RULES
from dehusk.memory.rules import Rule, overrides_of, put_rule, read_rules, remove_rule
from dehusk.memory.usual import KEY as USUAL_KEY
from dehusk.memory.usual import SHELF as USUAL
from dehusk.memory.usual import Shift, Usual
from dehusk.methods import GroupsPages
from dehusk.methods.contract import FamilySeen
from dehusk.page.page import Page
from dehusk.settings import Durable, Limits, MarkdownSettings

if TYPE_CHECKING:
    from dehusk.memory.store import Shelf, SiteRow, Store

_MAX_DECIDED: Final = 10_000
"""Sites whose rules and usual answers are held in memory."""
BATCH_PAGES: Final = 2048
_BATCH_BYTES: Final = 8_000_000
BATCH_S: Final = 5.0
"""What a batch is: whichever comes first. A commit writes the rows of every site that it finds
changed, so that small batches cost the more the more sites take turns: with 256 pages, 100 sites
instead of 10 make a page cost 1.16 times as much, with 2,048 1.06 (`dehusk bench scale`)."""
_EXIT_BYTES: Final = 64_000_000
"""What is held back at most for a commit at the end."""


class _HeldSite(Struct):
    """A site that is held in memory."""

    memory: Memory = field(default_factory=Memory)
    size_bytes: int = 0
    overrides: Overrides | None = None
    """What its users decide, where that came with it."""
    unlearned: set[int] | None = None
    """Where pages are not known: the digests of those that could not be learned, if any."""


class Held:
    """Sites in a dict. Beyond `max_bytes` the one goes that was not learned from longest.

    With `is_part` the sites come from another session: one that is not here is no new one, but a
    KeyError.
    """

    def __init__(self, *, is_part: bool = False, max_bytes: int | None = None) -> None:
        self._sites: OrderedDict[str, _HeldSite] = OrderedDict()
        self._is_part = is_part
        self._max_bytes = max_bytes
        self._bytes = 0

    def __getitem__(self, site: str) -> _HeldSite:
        if self._is_part:
            return self._sites[site]
        return self._sites.get(site) or _HeldSite()

    def memory(self, site: str) -> Memory:
        """What a site has taught; an empty memory for a new one."""
        return self[site].memory

    def put(self, site: str, memory: Memory, lesson: Memory | None = None) -> None:
        """Hold a memory, and let go of others where there is no room."""
        del lesson  # Nothing is written down here.
        held = self._sites.setdefault(site, _HeldSite())
        self._bytes -= held.size_bytes
        held.memory, held.size_bytes = memory, memory.size_bytes
        self._bytes += held.size_bytes
        self._sites.move_to_end(site)
        if self._max_bytes is not None:
            while self._bytes > self._max_bytes and len(self._sites) > 1:
                self.drop(next(iter(self._sites)))

    def memories(self) -> dict[str, Memory]:
        """All that have taught something, by site."""
        return {name: held.memory for name, held in self._sites.items() if held.memory.pages}

    def set_aside(self, site: str, digest: int) -> None:
        """Take note of a page that could not be learned."""
        held = self._sites.setdefault(site, _HeldSite())
        held.unlearned = held.unlearned or set()
        held.unlearned.add(digest)

    def drop(self, site: str) -> None:
        """Let go of a site, if it is here."""
        gone = self._sites.pop(site, None)
        if gone is not None:
            self._bytes -= gone.size_bytes


class Kept:
    """What is kept of sites, apart from how pages are judged: the half of a session without pages.

    The memories are in a store or, in memory and in workers, held here. Without a store nothing
    lasts: no answer is noted, no rule is kept, and a commit does nothing.
    """

    def __init__(
        self,
        lessons: Lessons,
        limits: Limits,
        overrides: Overrides,
        kept: Store | Held,
        durable: Durable = Durable.BATCH,
        clock: Callable[[], float] = time.monotonic,
        markdown: MarkdownSettings = MarkdownSettings(),
    ) -> None:
        self.method = lessons.method
        self.limits = limits
        self.markdown = markdown
        self.overrides = overrides
        self.durable = durable
        self._lessons = lessons
        self._kept = kept
        self._clock = clock
        self._committed = clock()
        self._alone = RLock()
        """Held while the memories are read or changed: threads may share a session."""
        self._is_unit = False
        self._decided: dict[str, Overrides] = {}
        self._with_example: dict[str, set[int]] = {}
        """By site, the families that have an example: it is not looked for on every page."""
        self._usual: OrderedDict[str, Usual] = OrderedDict()

    @property
    def is_lasting(self) -> bool:
        """True where what is learned outlasts the session."""
        return not isinstance(self._kept, Held)

    @property
    def _store(self) -> Store:
        if isinstance(self._kept, Held):
            raise UsageError("nothing is kept of sites in memory; open a file for them")
        return self._kept

    @property
    def _held(self) -> Held:
        if not isinstance(self._kept, Held):
            raise UsageError("these memories are in a store, one by one: ask for `memory(site)`")
        return self._kept

    def memory(self, site: str = "") -> Memory:
        """What a site has taught; an empty memory for an unknown one. Raises StoreDamaged."""
        with self._alone:
            return self._kept.memory(site)

    @property
    def memories(self) -> dict[str, Memory]:
        """What sites have taught that are in memory, by their names."""
        with self._alone:
            return self._held.memories()

    def note(self, page: Page, result: Result, since: int | None = None) -> bool:
        """Note the answer that is given on a page; True where it has changed, or is the first.

        With `since`, also where it has not changed now, but after that revision. In memory nothing
        is noted, and every answer is the first.
        """
        return not self.is_lasting or self.note_given(result.site, answer_of(page, result), since)

    def note_given(self, site: str, answer: Answer, since: int | None = None) -> bool:
        """Note an answer that another process gave: see `note`."""
        max_pages = self._lessons.keeping.max_known_pages
        with self._alone:
            return note_answer(self.shelf(ANSWERS, site), answer, max_pages, since)

    def given(self, site: str, since: int = 0, after: bytes | None = None) -> Iterator[Answer]:
        """The answers noted on a site that first came from a revision above `since`, by key."""
        return noted_answers(self.shelf(ANSWERS, site), since, after)

    def usual(self, site: str) -> Usual:
        """What the site's answers usually look like, and how they last changed."""
        with self._alone:
            if site not in self._usual:
                if len(self._usual) >= _MAX_DECIDED:
                    self._usual.popitem(last=False)
                written = self.shelf(USUAL, site).get(USUAL_KEY) if self.is_lasting else None
                self._usual[site] = Usual.read(written)
            self._usual.move_to_end(site)
            return self._usual[site]

    def watch(
        self,
        site: str,
        template_share: float,
        characters: int,
        confidence: float | None,
        url: str | None = None,
    ) -> Shift | None:
        """Take an answer for one of the site's; the sudden change that it shows, if any."""
        with self._alone:
            usual = self.usual(site)
            found = usual.take(template_share, characters, confidence, url)
            if self.is_lasting:
                self.shelf(USUAL, site).put(USUAL_KEY, usual.written())
            return found

    def offer_example(self, site: str, family: int | None, url: str | None) -> None:
        """Take a page for its family's example if that has none yet, and it can be kept."""
        is_known = family in self._with_example.get(site, ())
        if is_known or family is None or not url or not self.is_lasting:
            return
        with self._alone:
            examples = Examples(self.shelf(EXAMPLES, site))
            if site not in self._with_example or self._store.database.is_shared:
                if len(self._with_example) >= _MAX_DECIDED:
                    self._with_example.clear()
                self._with_example[site] = examples.families()
            if family not in self._with_example[site] and examples.put(family, url):
                self._with_example[site].add(family)

    def _commit_if_due(self) -> None:
        """Commit as often as was asked for, but never in the middle of a unit."""
        if isinstance(self._kept, Held):
            return
        waited_s = self._clock() - self._committed
        if not self._is_unit and is_due(self.durable, self._store, waited_s):
            self.commit()

    def commit(self) -> None:
        """Make all that was learned and put lasting. StoreFull loses nothing: try again."""
        if isinstance(self._kept, Held):
            return
        with self._alone:
            self._check_no_unit("nothing can be committed before it ends")
            forgotten = self.forgotten_sites
            try:
                self._store.commit()
            finally:
                if self.forgotten_sites != forgotten:
                    self._let_go()  # The rules of a site that had to leave went with it.
            self._committed = self._clock()

    def _let_go(self) -> None:
        """Read again what is held of rules and examples, which may have changed."""
        self._decided.clear()
        self._with_example.clear()
        self._usual.clear()

    def _check_no_unit(self, refusal: str) -> None:
        if self._is_unit:
            raise StateError(f"in a unit {refusal}")

    @contextmanager
    def unit(self) -> Iterator[None]:
        """What is learned and put on shelves inside becomes lasting together, or not at all.

        It is committed when the durability says so, at the end of the unit at the earliest. If the
        body raises, all is as it was before the unit. Other threads wait for its end. Raises
        StateError inside another unit.
        """
        with self._alone, self._begun_unit():
            yield

    @contextmanager
    def _begun_unit(self) -> Iterator[None]:
        self._check_no_unit("another cannot begin")
        self._is_unit = True
        try:
            with self._store.unit():
                yield
        except BaseException:
            self._let_go()  # Rules that were put inside are undone.
            raise
        finally:
            self._is_unit = False
        self._commit_if_due()

    def shelf(self, name: str, site: str = "") -> Shelf:
        """Keys and values of others, of a site or of all, committed with the pages: `Shelf`."""
        return self._store.shelves.shelf(name, site, self._alone)

    def rules(self, site: str) -> tuple[Rule, ...]:
        """What users have corrected on a site: obeyed on all its pages. Raises StoreDamaged."""
        with self._alone:
            return read_rules(self.shelf(RULES, site))

    def add_rule(self, site: str, action: str, selector: str) -> Rule:
        """Keep or drop what the selector selects, on every page of the site from now on.

        Raises SelectorError for what is not CSS, UsageError for what cannot be a rule.
        """
        with self._alone:
            rule = put_rule(self.shelf(RULES, site), action, selector)
            self._decided.pop(site, None)
            return rule

    def remove_rule(self, site: str, rule_id: str) -> bool:
        """Take a rule of a site back; False if it was not there."""
        with self._alone:
            self._decided.pop(site, None)
            return remove_rule(self.shelf(RULES, site), rule_id)

    def decided(self, site: str) -> Overrides:
        """What the user decides on a site: as the memories were opened, and by the rules."""
        with self._alone:
            if isinstance(self._kept, Held):
                return self._kept[site].overrides or self.overrides
            if site not in self._decided:
                if len(self._decided) >= _MAX_DECIDED:
                    self._decided.clear()
                self._decided[site] = overrides_of(self.rules(site), self.overrides)
            return self._decided[site]

    def sites(self, damaged: Callable[[StoreDamaged], object] | None = None) -> list[SiteRow]:
        """The sites as they were last committed, by name.

        `damaged` is told of each whose row is damaged; without it StoreDamaged is raised.
        """
        with self._alone:
            rows = self._store.statements.sites(damaged)
            return sorted(rows, key=lambda row: row.name)

    def site(self, name: str) -> SiteRow | None:
        """The site as it was last committed; None for an unknown one. Raises StoreDamaged."""
        with self._alone:
            return self._store.statements.site_named(name)

    @property
    def size_bytes(self) -> int:
        """What the file, or the tables on the server, take."""
        with self._alone:
            return self._store.database.size_bytes()

    @property
    def active_sites(self) -> int:
        """How many sites are held in memory."""
        with self._alone:
            return self._store.active_sites

    @property
    def forgotten_sites(self) -> int:
        """How many sites ever left because all were too large."""
        return self._store.row.forgotten

    def families(self, site: str) -> list[FamilySeen]:
        """The families of a site that its method tells apart, that of most pages first.

        Empty for a method that does not tell. Raises StoreDamaged.
        """
        with self._alone:
            memory = self.memory(site)
            found = self.method.families(memory) if isinstance(self.method, GroupsPages) else ()
            examples = Examples(self.shelf(EXAMPLES, site))
            return [replace(family, example=examples.get(family.number)) for family in found]

    def forget(self, site: str) -> bool:
        """Take a site out, with all that is kept of it; False if it was not there.

        It is lasting at once. Raises StateError inside a unit.
        """
        with self._alone:
            self._check_no_unit("no site can be forgotten")
            self._let_go()
            return self._store.forget(site)

    def close(self) -> None:
        """Commit, and let go of the file."""
        with self._alone:
            try:
                self.commit()
            finally:
                if not isinstance(self._kept, Held):
                    self._kept.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *fault: object) -> None:
        self.close()


def is_due(durable: Durable, store: Store, waited_s: float) -> bool:
    """True where the store is to be committed, so long after it was last."""
    if durable is Durable.PAGE or store.is_crowded:
        return True
    if durable is Durable.EXIT:
        return store.pending_bytes >= _EXIT_BYTES
    return (
        store.pending_pages + store.shelves.pending // 16 >= BATCH_PAGES
        or store.pending_bytes >= _BATCH_BYTES
        or waited_s >= BATCH_S
    )
