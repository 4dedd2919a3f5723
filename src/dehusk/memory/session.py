"""A session: sites that are learned page by page, wherever their memories are kept.

    dehusk.open("crawl.husk")   in a file, or at `postgresql://…`
    dehusk.Session()            in memory, until the session ends; dehusk.Site() is one of one site
    Session.worker(settings)    in a process that another session sends sites to

A worker may crash on a page without harm: the session that started it is the only one that writes,
keeps the lessons that come back, and can send the site again.

    session                                  worker
    session.settings()           ────────►   Session.worker(settings)
    session.snapshot(site)       ────────►   worker.restore(snapshot)
                                             worker.add_page(page) ─► the answer, and the lesson
    session.take(site, lessons)  ◄────────   the lessons, as bytes; now and then worker.state(site)

Settings and snapshots are plain data; `asdict` and `SessionSettings.read` lead through JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Self

from dehusk import pipeline
from dehusk.answer.override import NO_OVERRIDES, Overrides, overrides
from dehusk.answer.result import Refusal, Result
from dehusk.errors import MemoryDamaged, PageError, StoreDamaged
from dehusk.memory import Memory
from dehusk.memory.kept import Held, Kept
from dehusk.memory.lessons import Lessons, method_of, page_digest
from dehusk.methods import DEFAULT, groups_pages, make_method, settings_of
from dehusk.page.page import Page, PageLike, as_page, check_pages
from dehusk.settings import Keeping, Limits, MarkdownSettings

_MAX_BYTES: Final = Keeping().max_active_bytes
"""What the sites that a worker holds may take, as those of a store."""

Html = str | bytes | Page
"""A page, or its HTML."""
Render = Callable[[Result], object]
"""Asks a result for what is wanted of it."""


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """How a session judges pages, as plain data for a session in another process."""

    method: str
    settings: Mapping[str, object]
    """The method's."""
    limits: Limits
    keeping: Keeping
    is_relearning: bool = False
    knows_pages: bool = True
    """As `Lessons` has it."""
    markdown: MarkdownSettings = MarkdownSettings()

    @classmethod
    def read(cls, plain: Mapping[str, Any]) -> Self:
        """The settings that `asdict` made plain data of."""
        nested = {
            "limits": Limits(**plain["limits"]),
            "keeping": Keeping(**plain["keeping"]),
            "markdown": MarkdownSettings(**plain["markdown"]),
        }
        return cls(**{**plain, **nested})


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A site as it is sent to another session: what it has taught, and what its users decide."""

    site: str
    state: bytes
    """Its memory; empty for a new site."""
    overrides: Overrides = NO_OVERRIDES
    lessons: Sequence[bytes] = ()
    """What pages have taught behind the state."""
    unlearned: frozenset[int] = frozenset()
    """Where pages are not known: the digests of those that could not be learned."""


class Session(Kept):
    """Sites that are learned page by page, in RAM; `dehusk.open` gives a session that is saved.

    Threads may share a session: one works on a page, the others wait. In RAM a page is learned
    each time it comes. A saved session knows the pages of its sites: it cleans a known page with
    what its site has taught, and does not learn it again.
    """

    def __init__(
        self,
        *,
        method: str = DEFAULT,
        limits: Limits = Limits(),
        keep: str | Iterable[str] = (),
        drop: str | Iterable[str] = (),
        markdown: MarkdownSettings = MarkdownSettings(),
        max_bytes: int | None = None,
        **settings: Any,
    ) -> None:
        """Beyond `max_bytes` the site is forgotten that was not learned from longest."""
        lessons = Lessons(make_method(method, **settings))
        held = Held(max_bytes=max_bytes)
        super().__init__(lessons, limits, overrides(keep, drop), held, markdown=markdown)

    @classmethod
    def of(cls, *parts: Any, **more: Any) -> Self:
        """A session of the parts that `Kept` takes: `dehusk.open` makes one so."""
        session = cls.__new__(cls)
        Kept.__init__(session, *parts, **more)
        return session

    @classmethod
    def worker(cls, settings: SessionSettings, *, max_bytes: int | None = _MAX_BYTES) -> Self:
        """A session of sites out of another one: see `restore`.

        Beyond `max_bytes` it lets go of sites; with None the other says which, by `drop`.
        """
        method = method_of(settings.method, settings.settings, {})
        lessons = Lessons(method, settings.keeping, settings.knows_pages, settings.is_relearning)
        held = Held(is_part=True, max_bytes=max_bytes)
        return cls.of(lessons, settings.limits, NO_OVERRIDES, held, markdown=settings.markdown)

    def add(
        self,
        html: Html,
        url: str | None = None,
        *,
        charset: str | None = None,
        site: str | None = None,
        render: Render | None = None,
    ) -> Result:
        """Learn a page and answer for it; a PageError changes nothing.

        `render` is called with the result before the page counts as learned: a page that cannot be
        rendered is not learned.
        """
        with self._alone:
            return self._add(self._page(html, url, charset, site), render)[0]

    def learn(
        self,
        html: Html,
        url: str | None = None,
        *,
        charset: str | None = None,
        site: str | None = None,
    ) -> bool:
        """Learn a page without answering; False if it was known. Raises PageError."""
        with self._alone:
            return self._learn(self._page(html, url, charset, site)) is not None

    def ask(
        self,
        html: Html,
        url: str | None = None,
        *,
        charset: str | None = None,
        site: str | None = None,
        render: Render | None = None,
        is_learned: bool | None = None,
    ) -> Result:
        """Answer for a learned page, with everything its site has taught, without learning.

        A page that was not learned is answered as if it were the site's next. In RAM, pages count
        as learned unless `learn` failed; `is_learned` decides it for this page.
        """
        page = self._page(html, url, charset, site)
        with self._alone:
            name, memory = self._memory_of(page)
            learning = self._asking(page, name, memory, is_learned=is_learned)
            return pipeline.clean(page, memory, self._setup(name), learning, render)[0]

    def explain(
        self,
        html: Html,
        url: str | None = None,
        *,
        charset: str | None = None,
        site: str | None = None,
        is_learned: bool | None = None,
    ) -> Result:
        """Answer as `ask` does, with what the scores are made of, if the method can tell."""
        page = self._page(html, url, charset, site)
        with self._alone:
            name, memory = self._memory_of(page)
            learning = self._asking(page, name, memory, is_learned=is_learned)
            return pipeline.explain(page, memory, self._setup(name), learning)

    def clean(self, pages: Iterable[PageLike]) -> Iterator[Result | Refusal]:
        """Learn pages and answer for each, in order; a page that cannot be used gives a Refusal.

        A page is a Page, its HTML, or HTML, URL, site and charset together. The answers are noted
        for `revise`.
        """
        check_pages(pages)
        return (answer for answer, _ in self._answers(pages))

    def revise(
        self, pages: Iterable[PageLike], since: int | None = None
    ) -> Iterator[Result | Refusal]:
        """Answer as `clean` does, but only with what changed since that revision.

        Without `since`: since the last answer for the page. New pages are learned and answered.
        """
        check_pages(pages)
        return (answer for answer, is_changed in self._answers(pages, since) if is_changed)

    def _answers(
        self, pages: Iterable[PageLike], since: int | None = None
    ) -> Iterator[tuple[Result | Refusal, bool]]:
        """Each page's answer, and whether it has changed."""
        for given in pages:
            page = self._page(as_page(given))
            try:
                result = self.add(page)
                yield result, self.note(page, result, since)
            except PageError as error:
                yield Refusal(page.url, page.site, error), True
        self.commit()

    def _add(self, page: Page, render: Render | None) -> tuple[Result, Memory | None]:
        """The answer on a page that is learned, and what it taught, if it was not known."""
        site, memory = self._memory_of(page)
        learning = self._lessons.learning(page, memory)
        result, learned = pipeline.clean(page, memory, self._setup(site), learning, render)
        self._put(site, learned, page)
        return result, learned.lesson

    def _learn(self, page: Page) -> Memory | None:
        """What a page taught that is learned without an answer on it; None where it was known."""
        site, memory = self._memory_of(page)
        learning = self._lessons.learning(page, memory)
        try:
            learned = pipeline.learn(page, memory, self._setup(site), learning)
        except BaseException:  # Ctrl-C too: it was not learned
            if not self._lessons.knows_pages:
                self._held.set_aside(site, unlearned_digest(page))
            raise
        self._put(site, learned, page)
        return learned.lesson

    def _put(self, site: str, learned: pipeline.Learned, page: Page) -> None:
        """Keep what a page taught, and the page as its family's example if that has none."""
        if learned.lesson is not None:
            if self.is_lasting:
                self.offer_example(site, self._family(learned.lesson), page.url)
            self._kept.put(site, learned.memory, learned.lesson)
        self._commit_if_due()

    def _family(self, lesson: Memory | None) -> int | None:
        """The family of the page that taught this; None where the method tells none apart."""
        if lesson is None or not groups_pages(self.method):
            return None
        return self.method.family(lesson)

    def _asking(
        self, page: Page, site: str, memory: Memory, *, is_learned: bool | None
    ) -> pipeline.Learn:
        """How a page is learned that is only asked about."""
        if is_learned is None and not self._lessons.knows_pages:
            unlearned = self._held[site].unlearned
            is_learned = not unlearned or unlearned_digest(page) not in unlearned
        return self._lessons.learning(page, memory, is_known=is_learned)

    def _page(
        self,
        html: Html,
        url: str | None = None,
        charset: str | None = None,
        site: str | None = None,
    ) -> Page:
        """The page; one that is given whole keeps what it says, but for a site that is named."""
        if isinstance(html, Page):
            return replace(html, site=site) if site else html
        return Page(html, url, site, charset)

    def _setup(self, site: str) -> pipeline.Setup:
        return pipeline.Setup(self.method, self.limits, self.decided(site), self.markdown)

    def _site_of(self, page: Page) -> str:
        """The site whose memory the page is judged by."""
        return pipeline.site_of(page)

    def _memory_of(self, page: Page) -> tuple[str, Memory]:
        """The page's site and what it has taught. Raises MemoryDamaged."""
        site = self._site_of(page)
        try:
            return site, self.memory(site)
        except StoreDamaged as fault:
            raise MemoryDamaged(page.url, f"{fault}; {self._mending}") from fault

    @property
    def _mending(self) -> str:
        """What to do about damage."""
        from dehusk.memory.store import mending  # noqa: PLC0415  who has no store needs none

        return mending(self._store.database.address)

    def settings(self) -> SessionSettings:
        """How pages are judged here, for a worker."""
        lessons = self._lessons
        return SessionSettings(
            self.method.name, settings_of(self.method), self.limits, lessons.keeping,
            lessons.relearns, lessons.knows_pages, self.markdown,
        )  # fmt: skip

    def snapshot(self, site: str) -> Snapshot:
        """What a worker needs to go on with a site. Raises StoreDamaged."""
        with self._alone:
            unlearned = self._kept[site].unlearned if isinstance(self._kept, Held) else None
            decided = self.decided(site)
            return Snapshot(site, self.state(site), decided, (), frozenset(unlearned or ()))

    def state(self, site: str) -> bytes:
        """What a site has taught, for another session."""
        return self._lessons.written(self.memory(site), site)

    def restore(self, snapshot: Snapshot) -> None:
        """Hold a site out of another session, in place of what was known of it."""
        site = snapshot.site
        memory = self._lessons.read(snapshot.state, site) if snapshot.state else Memory()
        memory, _ = self._lessons.after(memory, snapshot.lessons, site)
        self.hold(site, memory, snapshot.overrides, snapshot.unlearned)

    def hold(
        self,
        site: str,
        memory: Memory,
        overrides: Overrides | None = None,
        unlearned: Iterable[int] = (),
    ) -> None:
        """Hold this memory of a site, in place of what was known of it."""
        with self._alone:
            self._held.drop(site)
            self._held.put(site, memory)
            held = self._held[site]
            held.overrides, held.unlearned = overrides, set(unlearned) or None

    def drop(self, site: str) -> None:
        """Let go of a site that is held."""
        with self._alone:
            self._held.drop(site)

    def held_bytes(self, site: str) -> int:
        """What a site that is held takes in memory."""
        with self._alone:
            return self._held[site].size_bytes

    def add_page(self, page: Page, render: Render | None = None) -> tuple[Result, bytes | None]:
        """As `add`: the answer, and the lesson for `take`; None if the page was known."""
        with self._alone:
            result, lesson = self._add(page, render)
            return result, self._written(page, lesson)

    def ask_page(self, page: Page, render: Render | None = None) -> tuple[Result, bytes | None]:
        """As `ask`: the answer, and the lesson for `take_lesson`; None if the page is known."""
        with self._alone:
            site, memory = self._memory_of(page)
            learning = self._lessons.learning(page, memory)
            result, learned = pipeline.clean(page, memory, self._setup(site), learning, render)
            return result, self._written(page, learned.lesson)

    def learn_page(self, page: Page) -> tuple[bytes | None, int | None]:
        """As `learn`: the lesson for `take`, None if the page was known; and the page's family."""
        with self._alone:
            lesson = self._learn(page)
            return self._written(page, lesson), self._family(lesson)

    def lesson(self, page: Page) -> bytes:
        """The lesson of a page for `take_lesson`, whatever its site knows, which need not be held.

        Raises PageError.
        """
        learning = self._lessons.learning(page, Memory())
        learned = pipeline.learn(page, Memory(), pipeline.Setup(self.method, self.limits), learning)
        assert learned.lesson is not None, "an empty memory knows no page"
        return self._lessons.written(learned.lesson, self._site_of(page))

    def _written(self, page: Page, lesson: Memory | None) -> bytes | None:
        return None if lesson is None else self._lessons.written(lesson, self._site_of(page))

    def take(self, site: str, lessons: Sequence[bytes], state: bytes | None = None) -> None:
        """Keep what pages taught a worker, in the order they came.

        `state` is the memory that the site has come to there; without it, or where the lessons do
        not lead there, they are learned here.
        """
        if lessons:
            with self._alone:
                after, news = self._lessons.after(self.memory(site), lessons, site, state)
                self._put_written(site, after, news)

    def take_lesson(self, page: Page, lesson: bytes) -> bool:
        """Learn a page from its lesson; False where it was known. Raises PageError, as `learn`."""
        with self._alone:
            site, memory = self._memory_of(page)
            told = self._lessons.read(lesson, site)
            after = self._lessons.after_told(memory, told, page.url)
            if after is not None:
                self.offer_example(site, self._family(told), page.url)
                self._put_written(site, after, [lesson])
            return after is not None

    def _put_written(self, site: str, after: Memory, lessons: Sequence[bytes]) -> None:
        if isinstance(self._kept, Held):
            self._kept.put(site, after)
        else:
            bodies = lessons if self._lessons.replay else [b""] * len(lessons)
            self._kept.put_written(site, after, bodies)
            self._commit_if_due()


def unlearned_digest(page: Page) -> int:
    """What a page that could not be learned is known by."""
    return page_digest(page, with_html=True)
