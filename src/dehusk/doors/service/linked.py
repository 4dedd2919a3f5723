"""`POST /v1/linked`: one step of a search for linked pages, or a whole search that loads them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from dehusk import pipeline
from dehusk.answer.result import Refusal
from dehusk.doors.service.bodies import LinkedPost
from dehusk.doors.service.loader import Loader
from dehusk.doors.service.monitoring import log
from dehusk.doors.service.server import Failed, not_kept
from dehusk.doors.service.service import PageAnswer, Service
from dehusk.errors import AddressRefused, PageError, StateError
from dehusk.output.formats import json_line
from dehusk.page.page import Page
from dehusk.template.linked import MAX_TRIES

if TYPE_CHECKING:
    from dehusk.sources.crawl.linked import LinkedPages

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

    def __init__(self, service: Service, loader: Loader) -> None:
        self._service = service
        self._settings = service.settings
        self._loader = loader

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
        self._loader.check()
        from dehusk.sources.crawl.frontier import read_start  # noqa: PLC0415  an extra

        read_start(post.page.url)
        return self._lines(_Search.of(post))

    async def _lines(self, search: _Search) -> AsyncIterator[bytes]:
        """The lines as they come. Where nobody reads them any more, the search ends."""
        try:
            self._loader.check()  # Others may have come since `run`.
        except Failed as busy:
            yield busy.body() + b"\n"
            return
        lines: asyncio.Queue[bytes] = asyncio.Queue()
        task = self._loader.start(self._answer(search, lines.put_nowait))
        task.add_done_callback(lambda _: lines.put_nowait(b""))
        try:
            while line := await lines.get():
                yield line + b"\n"
        finally:
            # A task of its own, since what cancels this here would not let it close connections.
            task.cancel()

    async def _answer(self, search: _Search, tell: Tell) -> None:
        """Tell what happens, and at last the answer, or why there is none."""
        try:
            tell(await self._found(search, tell))
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

    async def _found(self, search: _Search, tell: Tell) -> bytes:
        """The answer, for which the pages are loaded that the method asks for."""
        url = search.key.url or ""
        search.end = asyncio.get_running_loop().time() + self._settings.fetch_s
        async with self._loader.connections(url) as pages:
            if search.is_key_here:
                await self._loader.do(partial(pages.heed, search.key))
            else:
                tell(_line({"loading": url}))
                try:
                    page = await self._loader.fetch(url, pages, search.end)
                except PageError as error:
                    tell(_line({"loaded": url, "state": "failed", "reason": error.reason}))
                    raise
                search.key = replace(page, site=search.key.site)
                tell(_line({"loaded": url, "state": "loaded"}))
            while (wanted := (answer := await self._ask(search)).facts.get("wanted")) is not None:
                await self._load(search, wanted, pages, tell)
                size = sum(len(page.html) for page in search.pages.values())
                if search.is_over or size > self._settings.max_body_bytes:
                    # No page is asked for behind the last: the key page, those before, and this.
                    search.settings["max_loads"] = answer.facts["asked"] + 2
        return answer.body

    async def _load(self, search: _Search, url: str, pages: LinkedPages, tell: Tell) -> None:
        """Load a page that is wanted, or note why not."""
        tell(_line({"loading": url}))
        before = pages.requests
        try:
            search.pages[url] = await self._loader.fetch(url, pages, search.end)
        except PageError as error:
            search.failed[url] = error.reason
            # All pages are of one host, so behind an address that is refused the next would be too.
            is_late = asyncio.get_running_loop().time() >= search.end
            search.is_over |= is_late or isinstance(error, AddressRefused)
            tell(_line({"loaded": url, "state": "failed", "reason": error.reason}))
        else:
            tell(_line({"loaded": url, "state": "loaded"}))
        if pages.requests == before:
            search.settings["max_loads"] = min(search.settings["max_loads"] + 1, search.max_tries)


def _line(facts: dict[str, Any]) -> bytes:
    return json_line(facts).rstrip()
