"""A browser that shows many pages, one after another, and is started again when it breaks."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import TimeoutError as NoAnswer
from contextlib import suppress
from importlib.util import find_spec
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from dehusk.errors import MissingExtra, NotRendered, PageTimeout, UsageError
from dehusk.page.browser.session import (
    BrowserSettings,
    Fetch,
    Session,
    find_chromium,
    launch_options,
)
from dehusk.page.page import Page
from dehusk.settings import Limits

if TYPE_CHECKING:
    from playwright.async_api import Browser as Chromium
    from playwright.async_api import Playwright

_START_S: Final = 60.0
"""How long a browser may take to start: some seconds on a cold disk; a minute means a fault."""
_STOP_S: Final = 5.0
"""How long anything may take to close before it is given up."""

Answer = TypeVar("Answer")


class Browser:
    """Chromium without a window: turns a page into what the browser shows.

    Starts with the first page and ends with `close` or the `with` block. May be used from several
    threads at once. `fetch` answers what pages ask for (scripts, style sheets, data); without it
    a page can load nothing. Raises MissingExtra without Playwright and UsageError without
    Chromium.
    """

    def __init__(
        self, settings: BrowserSettings = BrowserSettings(), fetch: Fetch | None = None
    ) -> None:
        if find_spec("playwright") is None:
            raise MissingExtra("showing pages in a browser", "render")
        self._executable = find_chromium()
        self._settings = settings
        self._fetch = fetch
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._driver: Playwright | None = None
        self._chromium: Chromium | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.close()

    def render(self, page: Page, limits: Limits = Limits()) -> Page:
        """The page after its scripts ran, with `boxes`: the box of every node, in pixels.

        Raises PageTimeout if the page takes longer than `limits.timeout_s` or hangs, NotRendered if
        it crashes the browser or leaves for another page, and the errors of `limits`. The browser
        still works for the next page.
        """
        future = asyncio.run_coroutine_threadsafe(self._render(page, limits), self._running_loop())
        try:
            return future.result(_START_S + limits.timeout_s + 4 * _STOP_S)
        except NoAnswer as fault:
            future.cancel()
            self._abandon()
            raise PageTimeout(page.url, "the browser does not answer any more") from fault

    def start(self) -> None:
        """Start Chromium now, not with the first page. Raises UsageError if that fails."""
        asyncio.run_coroutine_threadsafe(self._start(), self._running_loop()).result(
            _START_S + 4 * _STOP_S
        )

    def close(self) -> None:
        """End the browser."""
        with self._starting:
            loop, self._loop = self._loop, None
        if loop is None:
            return
        with suppress(NoAnswer):
            asyncio.run_coroutine_threadsafe(self._drop(), loop).result(4 * _STOP_S)
        loop.call_soon_threadsafe(loop.stop)
        if self._thread is not None:
            self._thread.join(_STOP_S)

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        """The loop that talks to the browser, in a thread of its own: the caller may have one."""
        with self._starting:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=_run_loop, args=(self._loop,), name="dehusk-browser", daemon=True
                )
                self._thread.start()
            return self._loop

    def _abandon(self) -> None:
        """Leave a browser that hangs, and its loop, behind; the next page starts new ones."""
        with self._starting:
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._loop.stop)
            self._loop = self._driver = self._chromium = None

    async def _render(self, page: Page, limits: Limits) -> Page:
        """What `render` gives, on the loop."""
        from playwright.async_api import Error as BrowserFault  # noqa: PLC0415  an extra

        chromium = await self._start()
        session = Session(page, limits, self._settings, self._fetch)
        try:
            async with asyncio.timeout(limits.timeout_s):
                return await session.run(chromium)
        except TimeoutError as fault:
            reason = f"in the browser it took longer than {limits.timeout_s:g} s"
            raise PageTimeout(page.url, reason) from fault
        except BrowserFault as fault:
            is_alive = chromium.is_connected()
            reason = fault.message.splitlines()[0] if is_alive else "the browser crashed on it"
            raise NotRendered(page.url, reason) from fault
        finally:
            is_closed = session.context is None or await _in_time(session.context.close())
            if not is_closed or not chromium.is_connected():
                await self._drop(chromium)

    async def _start(self) -> Chromium:
        """The browser that runs, started where none does. Raises UsageError if it will not."""
        from playwright.async_api import Error as BrowserFault  # noqa: PLC0415  an extra
        from playwright.async_api import async_playwright  # noqa: PLC0415  an extra

        if self._chromium is not None and self._chromium.is_connected():
            return self._chromium
        try:
            async with asyncio.timeout(_START_S):
                self._driver = self._driver or await async_playwright().start()
                options = launch_options(self._executable)
                self._chromium = await self._driver.chromium.launch(**options)
        except (BrowserFault, TimeoutError, OSError) as fault:
            await self._drop()
            reason = str(fault).splitlines()[0] if str(fault) else f"not within {_START_S:g} s"
            raise UsageError(f"{self._executable} did not start: {reason}") from fault
        return self._chromium

    async def _drop(self, broken: Chromium | None = None) -> None:
        """End the browser and its driver, unless another than the broken one already runs."""
        if broken is not None and self._chromium is not broken:
            return
        chromium, driver = self._chromium, self._driver
        self._chromium = self._driver = None
        if chromium is not None:
            await _in_time(chromium.close())
        if driver is not None:
            await _in_time(driver.stop())


async def _in_time(ending: Coroutine[Any, Any, None]) -> bool:
    """True if what was to end did; what is broken cannot say so in any other way than an error."""
    from playwright.async_api import Error as BrowserFault  # noqa: PLC0415  an extra

    try:
        async with asyncio.timeout(_STOP_S):
            await ending
    except (BrowserFault, TimeoutError, OSError):
        return False
    return True


def _run_loop(loop: asyncio.AbstractEventLoop) -> None:
    """Run the loop until it is stopped."""
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.close()
