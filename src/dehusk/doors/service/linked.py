"""`POST /v1/linked`: one step of a search for linked pages, or a whole search that loads them.

Pages are fetched here and judged by workers, which have no network. Each search has connections of
its own, so that whoever goes away ends all that was under way for him. Hosts are spared all the
same: the requests of all searches to one host come one after another, with the delay between them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dehusk import pipeline
from dehusk.answer.result import Refusal
from dehusk.doors.service.bodies import LinkedPost
from dehusk.doors.service.monitoring import log
from dehusk.doors.service.server import Failed, not_kept
from dehusk.doors.service.service import PageAnswer, Service
from dehusk.errors import AddressRefused, FetchTimeout, NoAddress, PageError, StateError
from dehusk.output.formats import json_line
from dehusk.page.page import Page
from dehusk.settings import CrawlSettings, SourceSettings
from dehusk.template.linked import MAX_TRIES

if TYPE_CHECKING:
    from dehusk.sources.crawl.linked import LinkedPages
    from dehusk.sources.crawl.network import Paces

Tell = Callable[[bytes], None]


@dataclass(slots=True)
class _Search:
    """A key page, and what was loaded for it so far."""

    key: Page
    is_key_here: bool
    settings: dict[str, Any]
    """The method's, as plain data."""
    pages: dict[str, Page]
    """By the URL that was asked for."""
    failed: dict[str, str | None]
    """With the reason, where it is known."""
    max_tries: int
    """Links that are tried at most, those that cost no request included."""
    end: float = 0.0
    """When its time is up, by the clock of the loop."""
    is_over: bool = False
    """Is there no use in loading more: no time, or an address that is refused?"""

    @classmethod
    def of(cls, post: LinkedPost) -> _Search:
        """The search that is posted. Raises SettingError."""
        key = Page(post.page.html or "", post.page.url, post.page.site)
        pages = {page.url: Page(page.html, page.location or page.url) for page in post.pages}
        is_key_here = post.page.html is not None
        settings, failed = post.settings(), dict.fromkeys(post.failed)
        return cls(key, is_key_here, settings, pages, failed, MAX_TRIES * settings["max_loads"])


class Searches:
    """Searches for the template of a page by the pages that it links."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._settings = service.settings
        self._running: set[asyncio.Task[None]] = set()
        self._closing: set[asyncio.Future[None]] = set()
        """Connections of searches that are over, or were ended."""
        self._paces: Paces | None = None
        """Of all searches together."""
        # Two for each: a fetch that hangs is ended by another thread that closes its connections.
        self._threads = ThreadPoolExecutor(2 * self._settings.max_fetching, "dehusk-fetch")

    def __len__(self) -> int:
        """How many load pages at the moment."""
        return len(self._running)

    def stop(self) -> None:
        """End all searches, each of which says so."""
        for task in self._running:
            task.cancel()

    async def close(self) -> None:
        """End all searches, and wait until their connections are closed."""
        self.stop()
        await asyncio.gather(*self._running, return_exceptions=True)
        await asyncio.gather(*self._closing, return_exceptions=True)
        self._threads.shutdown(wait=False)

    async def step(self, post: LinkedPost) -> PageAnswer:
        """What comes of the pages that are posted: another one that is wanted, or the template."""
        return await self._ask(_Search.of(post))

    async def _ask(self, search: _Search) -> PageAnswer:
        answer = await self._service.act(
            "linked",
            [search.key, *search.pages.values()],
            urls=list(search.pages),
            failed=search.failed,
            settings=search.settings,
        )
        outcome = answer.error or answer.facts.get("outcome", "wanted")
        self._service.metrics.linked[outcome] += 1
        return answer

    def run(self, post: LinkedPost) -> AsyncIterator[bytes]:
        """What happens in a search that loads its pages, a line of JSON for each; then the answer.

        Raises Failed where nothing may be loaded, or too much is already, UsageError for a URL
        that is not on the web, and SettingError.
        """
        if self._settings.fetch is None:
            raise Failed(403, "no_fetch", "this service loads no pages: start it with --fetch")
        if len(self) >= self._settings.max_fetching:
            raise _busy()
        from dehusk.sources.crawl.frontier import read_start  # noqa: PLC0415  an extra

        read_start(post.page.url)
        return self._lines(_Search.of(post), self._settings.fetch)

    async def _lines(self, search: _Search, settings: CrawlSettings) -> AsyncIterator[bytes]:
        """The lines as they come. Where nobody reads them any more, the search ends."""
        if len(self) >= self._settings.max_fetching:  # Others may have come since `run`.
            yield _busy().body() + b"\n"
            return
        lines: asyncio.Queue[bytes] = asyncio.Queue()
        task = asyncio.create_task(self._answer(search, settings, lines.put_nowait))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        task.add_done_callback(lambda _: lines.put_nowait(b""))
        try:
            while line := await lines.get():
                yield line + b"\n"
        finally:
            # A task of its own, since what cancels this here would not let it close connections.
            task.cancel()

    async def _answer(self, search: _Search, settings: CrawlSettings, tell: Tell) -> None:
        """Tell what happens, and at last the answer, or why there is none."""
        try:
            tell(await self._found(search, settings, tell))
        except PageError as error:
            refusal = Refusal(search.key.url, pipeline.site_of(search.key), error)
            tell(_line(refusal.to_json()))
        except (Failed, StateError) as fault:
            tell((fault if isinstance(fault, Failed) else not_kept(fault)).body())
        except asyncio.CancelledError:
            tell(Failed(503, "ending", "the service has ended meanwhile").body())
            raise
        except Exception as fault:  # noqa: BLE001  the outermost loop of a search
            log(logging.ERROR, "search_failed", error=f"{type(fault).__name__}: {fault}")
            tell(Failed(500, "fault", "a fault in dehusk, which is logged").body())

    async def _found(self, search: _Search, settings: CrawlSettings, tell: Tell) -> bytes:
        """The answer, for which the pages are loaded that the method asks for."""
        url = search.key.url or ""
        search.end = asyncio.get_running_loop().time() + self._settings.fetch_s
        async with self._connections(url, settings) as connections:
            if search.is_key_here:
                loop = asyncio.get_running_loop()
                await loop.run_in_executor(self._threads, connections.heed, search.key)
            else:
                tell(_line({"loading": url}))
                try:
                    page = await self._fetch(search, url, connections)
                except PageError as error:
                    tell(_line({"loaded": url, "state": "failed", "reason": error.reason}))
                    raise
                search.key = replace(page, site=search.key.site)
                tell(_line({"loaded": url, "state": "loaded"}))
            while (wanted := (answer := await self._ask(search)).facts.get("wanted")) is not None:
                await self._load(search, wanted, connections, tell)
                size = sum(len(page.html) for page in search.pages.values())
                if search.is_over or size > self._settings.max_body_bytes:
                    # No page is asked for behind the last: the key page, those before, and this.
                    search.settings["max_loads"] = answer.facts["asked"] + 2
        return answer.body

    async def _load(self, search: _Search, url: str, connections: LinkedPages, tell: Tell) -> None:
        """Load a page that is wanted, or note why not."""
        tell(_line({"loading": url}))
        before = connections.requests
        try:
            search.pages[url] = await self._fetch(search, url, connections)
        except PageError as error:
            search.failed[url] = error.reason
            tell(_line({"loaded": url, "state": "failed", "reason": error.reason}))
        else:
            tell(_line({"loaded": url, "state": "loaded"}))
        if connections.requests == before:
            search.settings["max_loads"] = min(search.settings["max_loads"] + 1, search.max_tries)

    async def _fetch(self, search: _Search, url: str, connections: LinkedPages) -> Page:
        """The page at the URL. Raises PageError."""
        loop = asyncio.get_running_loop()
        outcome = "cancelled"
        try:
            async with asyncio.timeout_at(search.end):
                page = await loop.run_in_executor(self._threads, connections.fetch, url)
            outcome = "ok"
            return page
        except TimeoutError:
            search.is_over = True
            outcome = FetchTimeout.code
            reason = f"no time left: a search has {self._settings.fetch_s:g} s"
            raise FetchTimeout(url, reason) from None
        except PageError as error:
            told = error
            if isinstance(error, AddressRefused | NoAddress):
                # All pages are of one host, so the next would be refused too. Which names and
                # addresses there are in this network is nobody's business.
                search.is_over = True
                told = AddressRefused(url, "its host has no public address; see --allow-private")
            outcome = told.code
            raise told from None
        finally:
            self._service.metrics.loads[outcome] += 1

    @asynccontextmanager
    async def _connections(self, url: str, settings: CrawlSettings) -> AsyncIterator[LinkedPages]:
        """What fetches the pages of a site, closed in the end."""
        from dehusk.sources.crawl.linked import LinkedPages  # noqa: PLC0415  an extra
        from dehusk.sources.crawl.network import Paces  # noqa: PLC0415

        self._paces = self._paces or Paces(settings)
        loop = asyncio.get_running_loop()
        stack = ExitStack()
        source_settings = SourceSettings(max_bytes=settings.max_bytes)
        linked = LinkedPages(url, settings, source_settings, paces=self._paces)
        pages = stack.enter_context(linked)
        try:
            yield pages
        finally:
            closing = loop.run_in_executor(self._threads, stack.close)
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)
            # Who is cancelled here does not take the closing with him.
            await asyncio.shield(closing)


def _busy() -> Failed:
    return Failed(503, "busy", "too many searches are loading pages; try again")


def _line(facts: dict[str, Any]) -> bytes:
    return json_line(facts).rstrip()
