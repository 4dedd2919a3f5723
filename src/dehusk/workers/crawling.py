"""A crawl together with what it teaches and what was written of it, so that it can be resumed.

Everything is in one file, the state: what the crawl has before it, the memories of its sites, and
how far the answers are written. A step writes all three at once.

With a memory of its own (`dehusk.open`) there are two files. The memory is written before the step:
a page that it knows is not learned again, so a step that is done twice teaches nothing twice.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Self

from dehusk import pipeline
from dehusk.answer.result import Refusal, Result
from dehusk.errors import UsageError
from dehusk.memory import dump, load
from dehusk.memory.opening import open as open_session
from dehusk.memory.session import Render, Session
from dehusk.methods import learned_with, settings_of
from dehusk.output import Shape, Written
from dehusk.output.archive import Archive
from dehusk.page.page import Page
from dehusk.settings import CrawlSettings, Limits, SourceSettings
from dehusk.sources.crawl.crawler import Crawl
from dehusk.sources.crawl.fetch import Response
from dehusk.sources.crawl.frontier import key_of, read_start
from dehusk.sources.crawl.state import open_state
from dehusk.sources.items import Failure
from dehusk.workers import changes
from dehusk.workers.answering import noted_answer
from dehusk.workers.changes import Changes

_FOLDED_AFTER: Final = 50
"""Pages that are kept, packed, until a memory is written anew with what they taught. More make the
file larger and a resumed crawl slower to start (2 ms a page), fewer write memories more often."""
_NO_HURRY_S: Final = 1e6
_SCHEMA: Final = f"""
{changes.SCHEMA};
create table if not exists crawl_memory (site text primary key, memory blob);
create table if not exists crawl_lessons
    (number integer primary key, url text, site text, charset text, html blob);
create table if not exists crawl_redirects (url text, target text, unique (url, target));
"""


class Crawling:
    """Pages of web sites with the sites' memories, kept in a state file. Use with `with`.

    Iterating gives pages and failures. `note` says what became of the one before; it is kept when
    the next is asked for. Without a file all is forgotten at the end. `save` names an archive for
    what the servers answered; it grows with the crawl, and is resumed with it.
    """

    def __init__(
        self,
        urls: Sequence[str],
        session: Session,
        settings: CrawlSettings = CrawlSettings(),
        source_settings: SourceSettings = SourceSettings(),
        *,
        path: Path | None = None,
        resumes: bool = False,
        is_fresh: bool = False,
        save: Path | None = None,
        folder: Path | None = None,
        compares: bool = False,
    ) -> None:
        self._urls = urls
        self._session = session
        self._settings = settings
        self._source_settings = source_settings
        self._path = path
        self._resumes = resumes
        self._is_fresh = is_fresh
        self._save = save.resolve() if save else None
        self._folder = folder
        self._compares = compares
        self._archive: Archive | None = None
        self._redirects: list[tuple[str, str]] = []
        self._stack = ExitStack()
        self._lesson: Page | None = None
        self._answer: Result | Refusal | None = None
        self._bytes = 0
        self._file: str | None = None
        self.written = Written()
        """How far an earlier run has written."""

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._state = stack.enter_context(
                open_state(
                    self._path,
                    is_fresh=self._is_fresh,
                    kept=("save", "archive") if self._save else (),
                )
            )
            with self._state.transaction():
                for table in _SCHEMA.split(";"):
                    self._state.connection.execute(table)
            self._check_method()
            self._archive = self._open_archive()
            if self._archive is not None:
                stack.enter_context(self._archive)
            self._go_on()
            self._note_run()
            self.crawl = stack.enter_context(
                Crawl(
                    self._urls,
                    self._settings,
                    self._source_settings,
                    self._state,
                    self._keep,
                    self._keep_answer,
                )
            )
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *fault: object) -> None:
        self._stack.close()

    def __iter__(self) -> Iterator[Page | Failure]:
        return iter(self.crawl)

    def compare(self, answer: Result, shape: Shape) -> None:
        """Note what will be other than in the page's last output, before that is written over."""
        query = "select file from crawl_written where url = ? and site = ? and blocks is null"
        page = (answer.url, answer.site)
        row = self._state.connection.execute(query, page).fetchone()
        if self._folder is None or row is None or row[0] is None:
            return
        try:
            before = changes.blocks_of((self._folder / row[0]).read_bytes(), shape)
        except OSError:
            return
        now = changes.blocks_of(shape.data(answer) or b"", shape)
        if before is None or now is None:
            return
        found = json.dumps(changes.difference(before, now))
        with self._state.transaction():
            self._state.connection.execute(
                "update crawl_written set blocks = ? where url = ? and site = ?", (found, *page)
            )

    def changes(self) -> Changes:
        """What the crawl, which has ended, has found other than the one before."""
        return changes.settle(self._state, self.crawl)

    def prune(self) -> int:
        """Take the outputs of gone pages out of the folder; how many there were."""
        return changes.prune(self._state, self._folder) if self._folder is not None else 0

    def note_told(self) -> None:
        """Note that the changes have been told, so that the next crawl may begin."""
        with self._state.transaction():
            self._state.set_facts({"is_told": True})

    def note(
        self,
        item: Page | Failure,
        answer: Result | Refusal,
        written_bytes: int = 0,
        file: str | None = None,
    ) -> None:
        """Say what became of an item, and how many bytes of answers are now written.

        `file` is the name of its output in the folder, where each page has its own.
        """
        self._file = file
        self._lesson = item if isinstance(item, Page) and isinstance(answer, Result) else None
        self._answer, self._bytes = answer, written_bytes

    def answers(self, render: Render | None = None) -> Iterator[Result | Refusal]:
        """The answer on each item, noted once the next is asked for."""
        for item in self:
            answer = noted_answer(item, self._session, render)
            yield answer
            self.note(item, answer)

    def _check_method(self) -> None:
        """Raise UsageError where the state is of another method, or with other settings."""
        method = self._session.method
        used = json.dumps([method.name, settings_of(method)], sort_keys=True)
        known = self._state.fact("method", used)
        if known != used:
            raise UsageError(
                f"{self._path}: a crawl with another method, or other settings of it;"
                " --fresh forgets it"
            )
        with self._state.transaction():
            self._state.set_facts({"method": used})

    def _open_archive(self) -> Archive | None:
        """The archive behind what an earlier run has saved. Raises UsageError for another one."""
        known, path = self._state.fact("save"), self._save
        has_begun = self._state.fact("starts") is not None
        if has_begun and known is None and path is not None:
            raise UsageError(f"{self._path}: a crawl that is not saved; --fresh begins one that is")
        if has_begun and known is not None and known != str(path):
            raise UsageError(
                f"{self._path}: this crawl is saved to {known}: name that with --save, or begin"
                " anew with --fresh"
            )
        if path is None:
            return None
        archive = Archive(
            path,
            self._settings.user_agent,
            record_id=self._state.fact("archive") if known == str(path) else None,
            size=self._state.fact("saved", 0) if known == str(path) else 0,
        )
        # Before its first record is written: an archive that a crawl has begun may be begun anew.
        facts = {"save": str(path), "archive": archive.record_id, "saved": archive.size}
        with self._state.transaction():
            self._state.set_facts(facts)
        return archive

    def _keep_answer(self, answer: Response) -> None:
        """Save what a server answered; a redirect that is saved, in a later crawl, not again."""
        if self._archive is None:
            return
        if answer.redirect is not None:
            redirect = (answer.url, answer.redirect)
            query = "select 1 from crawl_redirects where url = ? and target = ?"
            if self._state.connection.execute(query, redirect).fetchone():
                return
            self._redirects.append(redirect)
        self._archive.add([answer])

    def _go_on(self) -> None:
        """Take up an earlier crawl, or visit the pages of one that came to its end again.

        Its end is where no URL waited, or where it had given as many pages as it was told.
        """
        state = self._state
        rows = state.connection.execute("select url, site from crawl_written order by number")
        self._bytes = state.fact("bytes", 0)
        self.written = Written(self._bytes, tuple(rows.fetchall()))
        self._restore_memories()
        starts = state.fact("starts")
        if starts is None:  # Not begun, or cut off before it began again.
            return
        if starts != [read_start(url).url for url in self._urls]:
            raise UsageError(
                f"{self._path}: a crawl that began at {' '.join(starts)}; --fresh forgets it"
            )
        waiting = state.waiting()
        is_over = not waiting or state.fact("pages", 0) >= state.fact("max_pages", 0)
        is_over = is_over and state.fact("is_told", True)
        if not self._resumes and not is_over:
            raise UsageError(
                f"{self._path}: a crawl that was cut off waits here with {waiting:,} URLs to go:"
                " --resume goes on with it, --fresh starts over"
            )
        if not self._resumes:
            kept = {name: state.fact(name) for name in ("method", "save", "archive", "saved")}
            kept |= {"bytes": self._bytes, "earlier_reach": state.fact("reach")}
            kept["folder"] = state.fact("folder")
            changes.begin_again(state)
            state.begin_again(key_of, kept)
            self._forget_lost()

    def _forget_lost(self) -> None:
        """Have pages come again whose output is no longer in the folder."""
        if self._folder is None:
            return
        query = "select url, file from crawl_written where file is not null"
        rows = self._state.connection.execute(query).fetchall()
        lost = [(url,) for url, file in rows if not (self._folder / file).exists()]
        with self._state.transaction():
            self._state.connection.executemany(
                "update crawl_earlier set etag = '', modified = '', text_hash = null where url = ?",
                lost,
            )

    def _note_run(self) -> None:
        """Write down what telling changes at the end depends on."""
        state, settings = self._state, self._settings
        given = [settings.include, settings.exclude, settings.sitemaps, sorted(settings.ignored)]
        reach = json.dumps(given)
        folder = None
        if self._folder is not None and self._path is not None:
            folder = os.path.relpath(self._folder, self._path.parent)
        with state.transaction():
            if state.fact("folder") != folder:
                state.connection.execute("update crawl_written set file = null")
            is_same = state.fact("reach", reach) == reach
            facts = {"reach": reach if is_same else "mixed", "folder": folder}
            state.set_facts(facts | ({"is_told": False} if self._compares else {}))

    def _restore_memories(self) -> None:
        """Learn again what the sites had taught."""
        if self._session.is_lasting:
            return
        method = self._session.method
        rows = self._state.connection.execute("select site, memory from crawl_memory")
        for site, blob in rows:
            memory = load(blob, method.name, settings=learned_with(method), site=site)
            self._session.hold(site, memory)
        setup = pipeline.Setup(method, replace(self._session.limits, timeout_s=_NO_HURRY_S))
        rows = self._state.connection.execute(
            "select html, url, site, charset from crawl_lessons order by number"
        )
        for html, *about in rows:
            page = Page(zlib.decompress(html), *about)
            site = pipeline.site_of(page)
            learned = pipeline.learn(page, self._session.memory(site), setup)
            self._session.hold(site, learned.memory)

    def _keep(self) -> None:
        """Write what became of the last item; the crawl calls it in the middle of its step."""
        if self._archive is not None:
            self._archive.sync()
            self._state.set_facts({"saved": self._archive.size})
            self._state.connection.executemany(
                "insert or ignore into crawl_redirects values (?, ?)", self._redirects
            )
            self._redirects = []
        if self.crawl.has_unread:
            self._state.set_facts({"has_unread": True})
        if self._answer is None:
            return
        run = self._state.connection.execute
        if self._lesson is not None and isinstance(self._answer, Result):
            self._keep_lesson(self._lesson)
            run(
                "insert into crawl_written (url, site, file, texts) values (?, ?, ?, ?)"
                " on conflict (url, site) do update"
                " set file = excluded.file, texts = excluded.texts",
                (
                    *(self._answer.url, self._answer.site, self._file),
                    changes.texts_of(self._answer),
                ),
            )
        self._state.set_facts({"bytes": self._bytes})
        self._answer = self._lesson = None

    def _keep_lesson(self, page: Page) -> None:
        """See to it that what the page has taught is not lost."""
        if self._session.is_lasting:
            self._session.commit()
            return
        run = self._state.connection.execute
        is_plain = isinstance(page.html, bytes) and page.boxes is None
        html = zlib.compress(page.html, 1) if isinstance(page.html, bytes) else b""
        run(
            "insert into crawl_lessons (html, url, site, charset) values (?, ?, ?, ?)",
            (html, page.url, page.site, page.charset),
        )
        # What a browser made of a page is not kept: its memory is written at once.
        if not is_plain or run("select count(*) from crawl_lessons").fetchone()[0] >= _FOLDED_AFTER:
            self._fold(self._session)

    def _fold(self, session: Session) -> None:
        """Write the memories anew, and let the pages go that taught them."""
        method = session.method
        changed = self._state.connection.execute("select distinct site from crawl_lessons")
        for (site,) in changed.fetchall():
            memory, settings = session.memory(site), learned_with(method)
            blob = dump(memory, method.name, settings=settings, site=site)
            self._state.connection.execute(
                "insert or replace into crawl_memory values (?, ?)", (site, blob)
            )
        self._state.connection.execute("delete from crawl_lessons")


def crawl(
    *urls: str,
    state: str | Path | None = None,
    resume: bool = False,
    fresh: bool = False,
    memory: str | Path | None = None,
    method: str | None = None,
    limits: Limits = Limits(),
    settings: CrawlSettings = CrawlSettings(),
    **method_settings: Any,
) -> Iterator[Result | Refusal]:
    """Answers for the pages of the sites at these URLs, as they come from the web.

    With a `state` file, `resume` continues a crawl that was interrupted at any moment. A finished
    crawl is visited again, and gives what has changed. `fresh` forgets it. What sites have taught
    is in the `memory` the next time, if there is one.
    """
    path = None if state is None else Path(state)
    with (
        open_session(memory, method=method, limits=limits, **method_settings) as session,
        Crawling(urls, session, settings, path=path, resumes=resume, is_fresh=fresh) as crawling,
    ):
        yield from crawling.answers()
