"""Pages of the web that a request names, loaded within limits.

Pages are fetched here and judged by workers, which have no network. Each request has connections of
its own, so that whoever goes away ends all that was under way for him. Hosts are spared all the
same: the requests of everybody to one host come one after another, with the delay between them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from dehusk.doors.service.monitoring import Metrics
from dehusk.doors.service.server import Failed
from dehusk.doors.service.settings import ServiceSettings
from dehusk.errors import AddressRefused, FetchTimeout, NoAddress, PageError
from dehusk.page.page import Page
from dehusk.settings import SourceSettings

if TYPE_CHECKING:
    from dehusk.sources.crawl.linked import LinkedPages
    from dehusk.sources.crawl.network import Paces

_Made = TypeVar("_Made")
_LOOK_S: Final = 0.5
"""How often is looked whether somebody still waits for a page."""


class Loader:
    """Loads pages for requests, as politely as one crawler."""

    def __init__(self, settings: ServiceSettings, metrics: Metrics) -> None:
        self._settings = settings
        self._metrics = metrics
        self._running: set[asyncio.Task[Any]] = set()
        self._closing: set[asyncio.Future[None]] = set()
        """Connections of requests that are over, or were ended."""
        self._paces: Paces | None = None
        """Of all requests together."""
        # Two for each: a fetch that hangs is ended by another thread that closes its connections.
        self._threads = ThreadPoolExecutor(2 * settings.max_fetching, "dehusk-fetch")

    def __len__(self) -> int:
        """How many requests load pages at the moment."""
        return len(self._running)

    def check(self) -> None:
        """Raise Failed where nothing may be loaded, or too much is already."""
        if self._settings.fetch is None:
            raise Failed(403, "no_fetch", "this service loads no pages: start it with --fetch")
        if len(self) >= self._settings.max_fetching:
            raise Failed(503, "busy", "too many requests are loading pages; try again")

    def start(self, work: Coroutine[Any, Any, _Made]) -> asyncio.Task[_Made]:
        """The work as a task of its own, which counts and can be stopped."""
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    def stop(self) -> None:
        """End all that is under way."""
        for task in self._running:
            task.cancel()

    async def close(self) -> None:
        """End all that is under way, and wait until its connections are closed."""
        self.stop()
        await asyncio.gather(*self._running, return_exceptions=True)
        await asyncio.gather(*self._closing, return_exceptions=True)
        self._threads.shutdown(wait=False)

    async def page(
        self, url: str, site: str | None, is_unwanted: Callable[[], Awaitable[bool]]
    ) -> Page:
        """The page at a URL. Raises PageError, and UsageError for what is none of the web."""
        task = self.start(self._page(url, site))
        while not (await asyncio.wait([task], timeout=_LOOK_S))[0]:
            if await is_unwanted():
                task.cancel()
        return await task

    async def _page(self, url: str, site: str | None) -> Page:
        end = asyncio.get_running_loop().time() + self._settings.deadline_s
        async with self.connections(url) as pages:
            return replace(await self.fetch(pages.url, pages, end), site=site)

    async def do(self, work: Callable[[], _Made]) -> _Made:
        """What the work gives, done in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    async def fetch(self, url: str, pages: LinkedPages, end: float) -> Page:
        """The page at the URL. Raises PageError, also at that time of the loop's clock."""
        outcome = "cancelled"
        try:
            async with asyncio.timeout_at(end):
                page = await self.do(lambda: pages.fetch(url))
            outcome = "ok"
            return page
        except TimeoutError:
            outcome = FetchTimeout.code
            raise FetchTimeout(url, "it did not come in time") from None
        except PageError as error:
            told = error
            if isinstance(error, AddressRefused | NoAddress):
                # Which names and addresses there are in this network is nobody's business.
                told = AddressRefused(url, "its host has no public address; see --allow-private")
            outcome = told.code
            raise told from None
        finally:
            self._metrics.loads[outcome] += 1

    @asynccontextmanager
    async def connections(self, url: str) -> AsyncIterator[LinkedPages]:
        """What fetches the pages of a site, closed in the end. Raises UsageError."""
        from dehusk.sources.crawl.linked import LinkedPages  # noqa: PLC0415  an extra
        from dehusk.sources.crawl.network import Paces  # noqa: PLC0415

        settings = self._settings.fetch
        assert settings is not None, "`check` comes first"
        self._paces = self._paces or Paces(settings)
        stack = ExitStack()
        source_settings = SourceSettings(max_bytes=settings.max_bytes)
        linked = LinkedPages(url, settings, source_settings, paces=self._paces)
        pages = stack.enter_context(linked)
        try:
            yield pages
        finally:
            closing = asyncio.get_running_loop().run_in_executor(self._threads, stack.close)
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)
            # Who is cancelled here does not take the closing with him.
            await asyncio.shield(closing)
