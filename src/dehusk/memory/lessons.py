"""How a page is learned so that it can be learned again from what was kept of it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from dehusk.errors import StateError, TooManyNodes
from dehusk.memory import (
    Memory,
    Settings,
    Table,
    carried,
    carry,
    check_settings,
    dump,
    keep_best,
    load,
    shrink,
)
from dehusk.memory.memory import CHANGES, KNOWN
from dehusk.methods import METHODS, Method, adds_up, groups_pages, make_method, only_asked_with
from dehusk.page.hashing import digest
from dehusk.page.page import Page
from dehusk.page.tree import Tree
from dehusk.pipeline import Learn, Learned, as_learned, lesson_of, with_lesson
from dehusk.settings import Keeping

if TYPE_CHECKING:
    from dehusk.memory.store import Replay


class Lessons(Struct, frozen=True):
    """What pages teach a method, and what a site has learned of them.

    A lesson is what one page teaches, a memory of one page. The memories of most methods are the
    sum of the lessons; of the others a lesson is the whole memory after its page.
    """

    method: Method
    keeping: Keeping = Keeping()
    """How much of a site is kept."""
    knows_pages: bool = False
    """False for a memory that does not outlast the run: every page is learned whenever it comes,
    and nothing is noted beside what the method learns."""
    relearns: bool = False
    """True where a known page that has changed is learned again."""

    @property
    def replay(self) -> Replay | None:
        """Makes a memory out of lessons; None for a method whose memories do not add up."""
        return self._replayed if adds_up(self.method) else None

    def summary(self, memory: Memory) -> tuple[int, int]:
        """The families of a memory and how often its template has changed; 0 where unknown."""
        if not groups_pages(self.method):
            return 0, 0
        changes = memory.table(CHANGES).count
        return len(self.method.families(memory)), int(changes[0]) if len(changes) else 0

    def learning(self, page: Page, memory: Memory, *, is_known: bool | None = None) -> Learn:
        """How the page is learned by a site with this memory: not at all if it is known.

        Pages are known by their URL, or where they are learned again, by that and their HTML;
        `is_known` says so instead. What is given raises TooManyNodes where the site's memory would
        not hold the page.
        """
        digest = page_digest(page, with_html=self.relearns) if self.knows_pages else 0
        if self.knows(memory, digest) if is_known is None else is_known:
            return as_learned

        def learn(memory: Memory, tree: Tree) -> Learned:
            learned = self._learn(memory, tree, digest)
            self._check_size(learned.memory, page.url)
            return learned

        return learn

    def knows(self, memory: Memory, digest: int) -> bool:
        """True where the page of that digest was learned, and pages are known."""
        return self.knows_pages and is_known(memory, digest)

    def _learn(self, memory: Memory, tree: Tree, digest: int) -> Learned:
        """The memory after the page of that digest, and what the page taught."""
        if adds_up(self.method):
            lesson = lesson_of(self.method, tree)
            if self.knows_pages:
                lesson = lesson.with_history(**{KNOWN: Table.of_key(digest)})
            after = self._replayed(memory, lesson)
            return Learned(after, lesson if after is not memory else None)
        after = self.method.learn(memory, tree)
        if self.knows_pages:
            known = memory.table(KNOWN).then(Table.of_key(digest), memory.pages)
            after = self._limited(after.with_history(**{KNOWN: known}))
        return Learned(after, after)

    def _check_size(self, memory: Memory, url: str | None) -> None:
        """Raise TooManyNodes for a memory that is too large with the page of that URL."""
        # Tables were cut down to what fits.
        if not (self.knows_pages and memory.sequences):
            return
        if memory.size_bytes > self.keeping.max_site_bytes:
            # A tree cannot be shrunk. One such page must not end the run for all the others.
            room = f"the {self.keeping.max_site_bytes:,} bytes of a site's memory"
            raise TooManyNodes(url, f"its tree does not fit into {room}")

    def after_told(self, memory: Memory, lesson: Memory, url: str | None) -> Memory | None:
        """The memory after a lesson that another process made; None for a known page, or for a
        copy that teaches nothing.

        Raises TooManyNodes, as learning the page does.
        """
        if memory.knows(*lesson.table(KNOWN).keys.tolist()):
            return None
        after = self._replayed(memory, lesson)
        if after is memory:
            return None
        self._check_size(after, url)
        return after

    def written(self, memory: Memory, site: str) -> bytes:
        """What a page or a site taught, for another process: as a store writes it, if one will."""
        if not self.knows_pages:
            return carry(memory)
        return dump(memory, self.method.name, site=site)

    def read(self, body: bytes, site: str) -> Memory:
        """The memory that `written` gave these bytes for. Raises StateError for anything else."""
        return load(body, self.method.name, site=site) if self.knows_pages else carried(body)

    def after(
        self, memory: Memory, lessons: Sequence[bytes], site: str, state: bytes | None = None
    ) -> tuple[Memory, list[bytes]]:
        """The memory after these lessons, each as `written` gives it, and those that changed it.

        Copies of what another writer has learned do not. `state` is that memory as another process
        says, and saves the learning if it is of as many pages as it must be.
        """
        if state is not None:
            with suppress(StateError):
                told = self.read(state, site)
                if self.replay is None or told.pages == memory.pages + len(lessons):
                    return told, list(lessons)
        news = []
        for body in lessons:
            lesson = self.read(body, site)
            after = self._replayed(memory, lesson) if self.replay else lesson
            news += [body] if after is not memory else []
            memory = after
        return memory, news

    def _replayed(self, memory: Memory, lesson: Memory) -> Memory:
        assert adds_up(self.method)
        after = with_lesson(self.method, memory, lesson)
        if not self.knows_pages or after is memory:
            return after
        if groups_pages(self.method) and self.method.has_new_template(after):
            now = Table.of_page(np.zeros(1, np.uint64), after.pages)
            after = after.with_history(**{CHANGES: after.table(CHANGES).plus(now)})
        return self._limited(after)

    def _limited(self, memory: Memory) -> Memory:
        """The memory within what a site may hold, whatever it sends, but for its sequences."""
        if memory.known_pages > self.keeping.max_known_pages:
            known = memory.table(KNOWN)
            newest = known.last.astype(np.float64)
            known = keep_best(known, newest, self.keeping.max_known_pages)
            memory = memory.with_history(**{KNOWN: known})
        if memory.size_bytes > self.keeping.max_site_bytes:
            changes = memory.table(CHANGES)
            memory = shrink(memory, self.keeping.max_site_bytes)
            memory = memory.with_history(**{CHANGES: changes}) if len(changes) else memory
        return memory


def is_known(memory: Memory, page: int) -> bool:
    """True where the page of that digest was learned."""
    return memory.knows(page)


def page_digest(page: Page, *, with_html: bool) -> int:
    """What a page is known by: its URL, or where it has none or so wished, its HTML as well."""
    html = (b"\0", page.html) if with_html or not page.url else ()
    return int.from_bytes(digest(page.url or "", *html), "little")


def method_of(name: str, settings: Settings, given: Settings) -> Method:
    """The method as a memory was learned with it; what is given besides must agree with that.

    Raises StateError for a method or setting that this version does not know.
    """
    if name not in METHODS:
        raise StateError(f"a memory of the method {name}, which this dehusk does not have")
    defaults = {field.name: field.default for field in fields(METHODS[name])}
    for setting in settings:
        if setting not in defaults:
            raise StateError(f"a memory of {name} with {setting}, which this dehusk does not have")
    plain = {
        setting: value
        for setting, value in given.items()
        if setting in defaults and setting not in only_asked_with(name) and not callable(value)
    }
    check_settings(name, {setting: settings.get(setting) for setting in plain}, plain)
    kept = {
        setting: tuple(value) if isinstance(value, list) else value
        for setting, value in settings.items()
    }
    return make_method(name, **{**kept, **given})
