"""Asking hosts for pages at their pace, with what they say to crawlers."""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import AsyncIterator, Coroutine
from concurrent.futures import CancelledError, wait
from contextlib import asynccontextmanager, suppress
from datetime import UTC
from email.utils import parsedate_to_datetime
from functools import cached_property
from http import HTTPStatus
from typing import Any, Final, Self, TypeVar
from urllib.parse import urlsplit

from dehusk.errors import (
    AddressRefused,
    BadRedirect,
    BadResponse,
    FetchError,
    PageError,
    PageFault,
    PageTooLarge,
)
from dehusk.settings import CrawlSettings, Wish
from dehusk.sources.crawl.fetch import Fetcher, FetchSettings, Headers, Response, origin_of
from dehusk.sources.crawl.robots import Manners, ask_manners
from dehusk.sources.crawl.sitemaps import Budget

_FIRST_BACKOFF_S: Final = 1.0
"""What a host gets after the first failure in a row; doubled with each more, up to the cap."""
_MAX_FILE_REDIRECTS: Final = 5
"""Redirects of a robots.txt or a sitemap that are followed: what RFC 9309 asks for."""
_MIN_FILE_S: Final = 1.0
"""Seconds that a redirect has where the budget of sitemaps is used up."""
_PAGE_TYPES: Final = ("text/html", "application/xhtml+xml", "")
_BUSY: Final = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
_CLOSE_S: Final = 5.0
_SLOT_S: Final = 0.02
"""How often who waits for a request to end looks whether it has."""
_MAX_HOSTS: Final = 10_000
"""Hosts whose pace is kept; beyond that, those are forgotten of which nothing is wanted now."""
_LOOK_S: Final = 1.0
"""How often who waits looks whether the network is still there."""

T = TypeVar("T")


class Pace:
    """Lets requests to one host pass, each when its turn has come, whichever thread they are of."""

    def __init__(self, concurrency: int, delay_s: float, max_delay_s: float) -> None:
        self._lock = threading.Lock()
        self._free = concurrency
        self._concurrency = concurrency
        self._delay_s = delay_s
        self._max_delay_s = max_delay_s
        self._next = 0.0
        self._rest = 0.0
        self._failures = 0

    def ask_for(self, delay_s: float) -> None:
        """Take note of a Crawl-delay: it lengthens the delay up to the cap, and never shortens."""
        self._delay_s = max(self._delay_s, min(delay_s, self._max_delay_s))

    @asynccontextmanager
    async def turn(self, *, is_prompt: bool = False) -> AsyncIterator[None]:
        """Waits until the next request may begin, and holds a slot while it lasts.

        A prompt one keeps no delay: robots.txt before the first page, or where a redirect leads.
        """
        while (wait_s := self._take(is_prompt=is_prompt)) > 0:
            await asyncio.sleep(wait_s)
        try:
            yield
        finally:
            with self._lock:
                self._free += 1

    def _take(self, *, is_prompt: bool) -> float:
        """Take a slot; or the seconds after which to try again."""
        with self._lock:
            began = self._rest if is_prompt else max(self._next, self._rest)
            wait_s = began - time.monotonic()
            if wait_s <= 0 and self._free:
                self._free -= 1
                if not is_prompt:
                    self._next = time.monotonic() + self._delay_s
                return 0.0
        # The slot may be held in another thread, which could wake nobody here.
        return max(wait_s, _SLOT_S)

    @property
    def is_idle(self) -> bool:
        """Is nothing asked for, and could be at once?"""
        return self._free == self._concurrency and max(self._next, self._rest) < time.monotonic()

    def failed(self, retry_after_s: float | None) -> None:
        """The host could not answer: leave it alone for as long as it says, or longer each time."""
        wait_s = retry_after_s
        if wait_s is None:
            wait_s = _FIRST_BACKOFF_S * 2 ** min(self._failures, 10)
        self._failures += 1
        with self._lock:
            self._rest = max(self._rest, time.monotonic() + min(wait_s, self._max_delay_s))

    def answered(self) -> None:
        """The host is well."""
        self._failures = 0


class Paces:
    """The paces of hosts. Networks that share them spare hosts as one does, whatever they ask."""

    def __init__(self, settings: CrawlSettings) -> None:
        self._settings = settings
        self._paces: dict[str, Pace] = {}
        self._lock = threading.Lock()

    def of(self, url: str) -> Pace:
        """The pace of the URL's host."""
        host = urlsplit(url).netloc.rpartition("@")[2].lower()
        with self._lock:
            if host not in self._paces:
                if len(self._paces) >= _MAX_HOSTS:
                    kept = {name: pace for name, pace in self._paces.items() if not pace.is_idle}
                    self._paces = kept
                settings = self._settings
                self._paces[host] = Pace(
                    settings.concurrency, settings.delay_s, settings.max_delay_s
                )
            return self._paces[host]


def read_retry_after(written: str, now_s: float) -> float | None:
    """The seconds that a Retry-After asks for, as a number or as a date; None for neither."""
    text = written.strip()[:100]
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
        return max(0.0, moment.replace(tzinfo=moment.tzinfo or UTC).timestamp() - now_s)
    except (ValueError, OverflowError):
        return None


def is_html(response: Response) -> bool:
    """True where the server says it sends a page, or does not say what it sends."""
    return response.media_type in _PAGE_TYPES


def is_page(response: Response) -> bool:
    """True for an answer whose body is a page."""
    return response.status in (HTTPStatus.OK, HTTPStatus.NON_AUTHORITATIVE_INFORMATION) and is_html(
        response
    )


def is_busy(answer: Response | PageError) -> bool:
    """True where the server asks to be left alone for a while."""
    return isinstance(answer, Response) and answer.status in _BUSY


class Network:
    """Asks servers in the background, each at its pace; answers come as they come."""

    def __init__(
        self, settings: CrawlSettings, credentials: dict[str, str], paces: Paces | None = None
    ) -> None:
        """`paces` are those of other networks that must not ask hosts faster together."""
        self._settings = settings
        self._paces = paces or Paces(settings)
        self._fetch_settings = FetchSettings(
            user_agent=settings.user_agent,
            timeout_s=settings.timeout_s,
            max_bytes=settings.max_bytes,
            allow_private=settings.allow_private,
            credentials=credentials,
        )
        self._manners: dict[str, Manners] = {}
        self._answers: queue.SimpleQueue[tuple[int, Response | PageError]] = queue.SimpleQueue()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="crawl", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *fault: object) -> None:
        """Let go of whatever is still on its way."""
        stopping = asyncio.run_coroutine_threadsafe(self._stop(), self._loop)
        with suppress(TimeoutError):
            stopping.result(_CLOSE_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_CLOSE_S)
        if not self._thread.is_alive():
            self._loop.close()

    async def _stop(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        if "_fetcher" in vars(self):
            await self._fetcher.aclose()

    @cached_property
    def _fetcher(self) -> Fetcher:
        """Made in the background when first needed: to read all certificates takes a while."""
        return Fetcher(self._fetch_settings)

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        """What the work comes to. Raises CancelledError where another thread ends the network."""
        try:
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError as closed:
            work.close()
            raise CancelledError from closed
        while not wait([future], _LOOK_S).done:
            if not self._thread.is_alive():
                raise CancelledError
        return future.result()

    def manners(self, url: str) -> Manners:
        """What the host of the URL asks for; asked once. Raises AddressRefused."""
        origin = origin_of(url)
        if origin not in self._manners:
            self._manners[origin] = self._wait(self._ask_manners(origin))
        return self._manners[origin]

    @property
    def has_all_manners(self) -> bool:
        """False where the robots.txt of a host that was asked could not be had."""
        return not any(manners.error for manners in self._manners.values())

    async def _ask_manners(self, origin: str) -> Manners:
        token = self._settings.robots_token
        try:
            manners = await ask_manners(
                origin, token, self._fetch_file, ask_tdm=self._settings.obeys(Wish.TDM)
            )
            self._paces.of(origin).ask_for(manners.delay_s)
        except AddressRefused:
            raise
        except Exception as fault:  # noqa: BLE001 - of one host: the crawl of others goes on
            said = f"it cannot be read: {type(fault).__name__}: {fault}"[:200]
            return Manners(token, None, error=BadResponse(f"{origin}/robots.txt", said))
        return manners

    def sitemap(self, url: str, budget: Budget) -> Response | PageError:
        """A sitemap, waited for; the seconds that its requests take are taken off the budget."""
        work = self._fetch_file(url, budget.max_bytes, budget)
        return self._wait(self._or_error(url, work))

    def fetch(self, url: str, *, is_prompt: bool = False) -> Response | PageError:
        """The answer to one request, waited for; a prompt one keeps no delay."""
        return self._wait(self._answer(url, (), is_prompt=is_prompt))

    def ask(self, number: int, url: str, headers: Headers = ()) -> None:
        """Ask for a page. The answer comes out of `next_answer` under this number."""
        asyncio.run_coroutine_threadsafe(self._visit(number, url, headers), self._loop)

    def next_answer(self) -> tuple[int, Response | PageError]:
        """The next answer that comes, to whichever question."""
        return self._answers.get()

    async def _visit(self, number: int, url: str, headers: Headers) -> None:
        self._answers.put((number, await self._answer(url, headers)))

    async def _answer(
        self, url: str, headers: Headers, *, is_prompt: bool = False
    ) -> Response | PageError:
        return await self._or_error(url, self._fetch(url, headers, is_prompt=is_prompt))

    async def _or_error(
        self, url: str, work: Coroutine[Any, Any, Response]
    ) -> Response | PageError:
        """The answer, or why there is none."""
        try:
            return await work
        except (FetchError, PageTooLarge) as error:
            return error
        except Exception as fault:  # noqa: BLE001 - who waits for this answer would wait for ever
            return PageFault(url, f"{type(fault).__name__}: {fault}")

    async def _fetch(self, url: str, headers: Headers, *, is_prompt: bool = False) -> Response:
        pace = self._paces.of(url)
        async with pace.turn(is_prompt=is_prompt):
            try:
                answer = await self._fetcher.fetch(url, headers=headers, wants_body=is_page)
            except FetchError:
                pace.failed(None)
                raise
        if is_busy(answer):
            pace.failed(read_retry_after(answer.header("retry-after"), time.time()))
        else:
            pace.answered()
        return answer

    async def _fetch_file(self, url: str, max_bytes: int, budget: Budget | None = None) -> Response:
        """A file for crawlers, through its redirects; cut where it is too large."""
        for _ in range(_MAX_FILE_REDIRECTS + 1):
            # Nothing has been asked of a host before its robots.txt; sitemaps take their turns.
            async with self._paces.of(url).turn(is_prompt=budget is None):
                began = time.monotonic()
                left_s = max(budget.seconds, _MIN_FILE_S) if budget else None
                try:
                    answer = await self._fetcher.fetch(
                        url, max_bytes=max_bytes, may_cut=True, timeout_s=left_s
                    )
                finally:
                    if budget is not None:
                        budget.seconds -= time.monotonic() - began
            if answer.redirect is None:
                return answer
            url = answer.redirect
        raise BadRedirect(url, f"more than {_MAX_FILE_REDIRECTS} redirects")
