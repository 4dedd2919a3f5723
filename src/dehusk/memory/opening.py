"""The library's ways in: one page, a site in memory, or any number of sites in a file."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from dehusk import pipeline
from dehusk.answer.override import overrides
from dehusk.answer.result import Result
from dehusk.errors import UsageError, WrongMemory
from dehusk.memory import Memory, dump, load
from dehusk.memory.lessons import Lessons, method_of
from dehusk.memory.rules import SHELF as RULES
from dehusk.memory.session import Html, Session
from dehusk.methods import DEFAULT, learned_with, make_method
from dehusk.page.page import Page
from dehusk.settings import Durable, Keeping, Limits, MarkdownSettings


def open(  # noqa: A001  the name that users know from files
    address: str | os.PathLike[str] | None = None,
    *,
    durable: str = Durable.BATCH,
    relearn: bool = False,
    reads_only: bool = False,
    method: str | None = None,
    limits: Limits = Limits(),
    keeping: Keeping = Keeping(),
    keep: str | Iterable[str] = (),
    drop: str | Iterable[str] = (),
    markdown: MarkdownSettings = MarkdownSettings(),
    **settings: Any,
) -> Session:
    """A session with the memories at that address: a file, created if it does not exist.

    Without an address they are in RAM, and a page is learned each time it comes.

    Method and settings are those that the memories were learned with; a new file takes the given
    ones, or the default. A page that was learned is not learned again, unless `relearn` and it has
    changed. With `reads_only` others may write at the same time, and nothing can be learned. Raises
    UsageError for an unknown `durable` and for what needs an address, StateError for a method or
    setting other than that of the file, StoreLocked if another process writes to it, and
    StoreDamaged for a damaged file.
    """
    if durable not in list(Durable):
        raise UsageError(f"durable is one of {', '.join(Durable)}, not {durable!r}")
    if address is None:
        lasting = {"reads_only": reads_only, "relearn": relearn, "keeping": keeping != Keeping()}
        if asked := [name for name, is_asked in lasting.items() if is_asked]:
            raise UsageError(f"{' and '.join(asked)} needs an address: nothing lasts in memory")
        return Session(
            method=method or DEFAULT,
            limits=limits,
            keep=keep,
            drop=drop,
            markdown=markdown,
            **settings,
        )
    from dehusk.memory import store  # noqa: PLC0415  only who has one needs it

    chosen = overrides(keep, drop)
    kept = Durable(durable)
    database = store.connect(
        address,
        lambda: store.StoreRow(
            method or DEFAULT, learned_with(make_method(method or DEFAULT, **settings))
        ),
        writes=not reads_only,
        is_synced=kept is not Durable.EXIT,
    )
    try:
        # At one moment: somebody may write, and to begin to read takes longer than to read.
        with database.reading():
            store.check_sound(database, RULES, writes=not reads_only)
            row = store.Statements(database).read_store()
        if method is not None and row.method != method:
            raise WrongMemory(f"{address}: a memory of the method {row.method}, not {method}")
        its_method = method_of(row.method, row.settings, settings)
        lessons = Lessons(its_method, keeping, knows_pages=True, relearns=relearn)
        if database.is_shared and lessons.replay is None and not reads_only:
            raise UsageError(
                f"memories of {row.method} do not add up, so many cannot write them: use a file"
            )
        with database.reading():
            lasting_store = store.Store(database, lessons.replay, keeping, lessons.summary)
        return Session.of(lessons, limits, chosen, lasting_store, kept, markdown=markdown)
    except BaseException:  # Ctrl-C too: let go of the file
        database.close()
        raise


def extract(
    html: str | bytes | Page,
    url: str | None = None,
    *,
    charset: str | None = None,
    method: str = DEFAULT,
    limits: Limits = Limits(),
    keep: str | Iterable[str] = (),
    drop: str | Iterable[str] = (),
    markdown: MarkdownSettings = MarkdownSettings(),
    **settings: Any,
) -> Result:
    """One page's answer from the page alone, without a memory.

    `keep` and `drop` are CSS selectors: what they select is content or template, with everything
    inside it, whatever the method says. `markdown` says how Markdown writes links, images and
    tables. Raises SelectorError for an invalid selector.

    >>> extract("<p>Hello</p>").text
    'Hello'
    """
    site = Site(method=method, limits=limits, keep=keep, drop=drop, markdown=markdown, **settings)
    return site.add(html, url, charset=charset)


class Site(Session):
    """A site that is learned page by page, in memory, whatever the pages' URLs.

    >>> site = Site()
    >>> for number in range(6):
    ...     result = site.add(f"<div>Home News</div><p>Page {number}</p>")
    >>> result.text
    'Page 5'
    """

    def __init__(
        self,
        name: str | None = None,
        *,
        method: str = DEFAULT,
        limits: Limits = Limits(),
        keep: str | Iterable[str] = (),
        drop: str | Iterable[str] = (),
        markdown: MarkdownSettings = MarkdownSettings(),
        **settings: Any,
    ) -> None:
        super().__init__(
            method=method, limits=limits, keep=keep, drop=drop, markdown=markdown, **settings
        )
        self.name = name

    def _page(
        self,
        html: Html,
        url: str | None = None,
        charset: str | None = None,
        site: str | None = None,
    ) -> Page:
        """The page to learn, under the name of the site."""
        return super()._page(html, url, charset, self.name or site)

    def _site_of(self, page: Page) -> str:
        """One memory for all pages."""
        del page
        return ""

    def _asking(
        self, page: Page, site: str, memory: Memory, *, is_learned: bool | None
    ) -> pipeline.Learn:
        """A page that is asked about is the site's next, unless it is said to be learned."""
        return super()._asking(page, site, memory, is_learned=bool(is_learned))

    def dump(self) -> bytes:
        """What the site has taught, as bytes that `Site.load` reads."""
        settings = learned_with(self.method)
        return dump(self.memory(), self.method.name, settings=settings, site=self.name or "")

    def load(self, state: bytes) -> None:
        """Continue from what `dump` gave for the same name, method and settings, or StateError."""
        settings = learned_with(self.method)
        self.hold("", load(state, self.method.name, settings=settings, site=self.name or ""))
