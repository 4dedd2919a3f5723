"""A Chromium that shows pages, and what is collected from each."""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
import shutil
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import numpy as np
import turbohtml
from numpy.typing import NDArray

from dehusk.errors import (
    DehuskError,
    NotRendered,
    PageTooLarge,
    SettingError,
    TooManyNodes,
    UsageError,
)
from dehusk.page.page import Boxes, Page
from dehusk.settings import Limits

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, CDPSession, Request, Route
    from playwright.async_api import Page as Tab

VARIABLE: Final = "DEHUSK_CHROMIUM"
"""The environment variable that names the browser to use."""
_NAMES: Final = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome",
    "microsoft-edge",
)  # fmt: skip
_SCRIPT_MEGABYTES: Final = 512
"""What the scripts of one page may allocate before their process is ended."""
_NO_URL: Final = "https://page.invalid/"
"""Where pages without a web address are shown. The browser must not show them as local files."""
_FETCHED: Final = ("document", "stylesheet", "script", "xhr", "fetch")
"""Kinds of requests that `fetch` is asked for: what makes text and layout."""
_LOAD_SHARE: Final = 0.5
_SCRIPT_SHARE: Final = 0.75
"""Shares of a page's time: by when it must be loaded and by when its scripts must be done. What is
there then is taken, for a page that waits for something in vain is still a page."""
_LOADED: Final = (
    "new Promise(done =>"
    " document.readyState === 'complete' ? done() : addEventListener('load', done))"
)
_CHARSET: Final = re.compile(r"[A-Za-z0-9._:-]{1,64}")
_STAY: Final = 204
"""The status that makes a browser stay where it is: a page's script cannot lead it elsewhere."""


@dataclass(frozen=True, slots=True)
class BrowserSettings:
    """How pages are shown: the window, and how long scripts may go on after the page is loaded."""

    width: int = 1280
    height: int = 1024
    """Of the window, in pixels of CSS. The boxes are those of the whole page, also below it."""
    script_s: float = 5.0
    """Time on the page's own clock, after loading, for its timers and animations. It passes as fast
    as the machine can; 5 s is what `setTimeout` chains of client-side frameworks stay under."""
    max_requests: int = 200
    """Requests of one page that `fetch` is asked for; those that follow are refused."""

    def __post_init__(self) -> None:
        for name in ("width", "height", "script_s"):
            if not getattr(self, name) > 0:
                raise SettingError(f"browser: {name} must be above 0")
        if self.max_requests < 0:
            raise SettingError("browser: max_requests must be 0 or above")


@dataclass(frozen=True, slots=True)
class Resource:
    """What a page asked for: a script, a style sheet, data."""

    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    status: int = 200


Fetch = Callable[[str], Resource | None]
"""A function from a URL to what is there; None refuses it. Called from several threads."""


def page_with_boxes(page: Page, marked: str, mark: str, boxes: list[int], texts: list[int]) -> Page:
    """The page as the browser shows it: its HTML without the marks, and the box of every node.

    The HTML is read again as dehusk will read it, with the marks: a parser puts elements that a
    script nested against the rules somewhere else, and the marks go with them.
    """
    numbers = _numbers(marked, mark)
    by_number = np.array(boxes, np.float64).reshape(-1, 4)
    known = numbers >= 0
    elements = np.full((len(numbers), 4), np.nan)
    elements[known] = by_number[numbers[known]]
    runs = np.array(texts, np.float64).reshape(-1, 5)
    runs = runs[np.argsort(runs[:, 0], kind="stable")]
    counts = np.bincount(runs[:, 0].astype(np.int64), minlength=len(by_number))
    first = np.cumsum(counts) - counts
    places = np.where(known, first[numbers], 0)
    html = re.sub(rf' {mark}="[0-9]+"', "", marked)
    found = Boxes(elements, runs[:, 1:], places, np.where(known, counts[numbers], 0))
    return replace(page, html=html, charset=None, boxes=found)


def _numbers(marked: str, mark: str) -> NDArray[np.int64]:
    """The number of each element in document order; -1 where only the parser made it."""
    document = turbohtml.parse(marked, positions=False, allow_declarative_shadow_roots=False)
    found = (element.attrs.get(mark) for element in document.iter_elements())
    return np.array([-1 if number is None else int(str(number)) for number in found], np.int64)


def find_chromium() -> str:
    """The path of the browser: `DEHUSK_CHROMIUM`, else the first Chromium on PATH.

    Raises UsageError where there is none.
    """
    named = os.environ.get(VARIABLE)
    if named:
        path = shutil.which(named)
        if path is None:
            raise UsageError(f"{VARIABLE}={named}: no such program")
        return path
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        raise UsageError(
            "no Chromium on PATH: install it (Debian: apt install chromium), or name one in"
            f" {VARIABLE}"
        )
    return found


def launch_options(executable: str) -> dict[str, Any]:
    """What Playwright is told to start the browser with."""
    return {
        "executable_path": str(Path(executable)),
        "headless": True,
        # Chromium cannot put root in its sandbox; everybody else gets it.
        "chromium_sandbox": getattr(os, "geteuid", lambda: 1)() != 0,
        "handle_sigint": False,
        # Playwright opens every window that a page asks for; we want none.
        "ignore_default_args": ["--disable-popup-blocking"],
        "args": [
            # Interception answers requests; what goes past it (preconnect, sockets, WebRTC) finds
            # no host and no route.
            "--host-resolver-rules=MAP * ~NOTFOUND",
            "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
            "--dns-prefetch-disable",
            "--disable-dev-shm-usage",
            f"--js-flags=--max-old-space-size={_SCRIPT_MEGABYTES}",
        ],
    }


class Session:
    """The life of one page in the browser."""

    def __init__(
        self, page: Page, limits: Limits, settings: BrowserSettings, fetch: Fetch | None
    ) -> None:
        self._page = page
        self._url = _shown_url(page.url)
        self._limits = limits
        self._settings = settings
        self._fetch = fetch
        self._requests = 0
        self._served_url: str | None = None
        self.context: BrowserContext | None = None
        """What is to be closed when the session is over, however it ended."""

    async def run(self, browser: Browser) -> Page:
        """The page as the browser shows it; NotRendered if its tab dies."""
        self.context = context = await browser.new_context(
            viewport={"width": self._settings.width, "height": self._settings.height},
            service_workers="block",
            accept_downloads=False,
        )
        await context.route("**/*", self._answer)
        await context.route_web_socket("**/*", lambda socket: socket.close())
        tab = await context.new_page()
        context.on("page", lambda other: asyncio.ensure_future(other.close()))
        died = asyncio.get_running_loop().create_future()
        tab.on("crash", lambda _: None if died.done() else died.set_result(None))
        work = asyncio.ensure_future(self._work(tab, context))
        try:
            await asyncio.wait({work, died}, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return work.result()
            raise NotRendered(self._page.url, "the page crashed in the browser")
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)

    async def _work(self, tab: Tab, context: BrowserContext) -> Page:
        """Load, wait, collect."""
        end = asyncio.get_running_loop().time() + self._limits.timeout_s
        await tab.goto(self._url, wait_until="commit", timeout=1000 * self._limits.timeout_s)
        devtools = await context.new_cdp_session(tab)
        await _until(end - (1 - _LOAD_SHARE) * self._limits.timeout_s, _load(devtools))
        passing = _pass_time(devtools, self._settings.script_s)
        await _until(end - (1 - _SCRIPT_SHARE) * self._limits.timeout_s, passing)
        return self._read(*await self._collect(devtools))

    async def _collect(self, devtools: CDPSession) -> tuple[str, dict[str, Any]]:
        """What the collecting script says, and the mark that it used."""
        # The page must not know the name of the attribute: it could write boxes of its own.
        mark = f"data-{secrets.token_hex(8)}"
        arguments = json.dumps([mark, self._limits.max_nodes, self._limits.max_bytes])
        script = files("dehusk.page.browser").joinpath("collect.js").read_text("utf-8")
        answer = await _evaluate(devtools, f"({script})(...{arguments})")
        if "exceptionDetails" in answer:
            reason = answer["exceptionDetails"].get("text", "the page could not be read")
            raise NotRendered(self._page.url, f"in the browser: {reason}")
        return mark, json.loads(answer["result"]["value"])

    def _read(self, mark: str, found: dict[str, Any]) -> Page:
        """The page that the script found; PageError for one that is too much, or not the page."""
        limits, url = self._limits, self._page.url
        refused = found.get("refused")
        if refused == "nodes":
            raise TooManyNodes(url, f"in the browser more than {limits.max_nodes} nodes")
        if refused == "length":
            raise PageTooLarge(url, f"in the browser more than {limits.max_bytes} bytes")
        if found["origin"] != _origin(self._served_url or self._url):
            raise NotRendered(url, "in the browser, the page went to another address")
        return page_with_boxes(self._page, found["html"], mark, found["boxes"], found["texts"])

    async def _answer(self, route: Route, request: Request) -> None:
        """Answer a request, unless the page that made it is gone."""
        from playwright.async_api import Error as BrowserFault  # noqa: PLC0415  an extra

        with suppress(BrowserFault):
            await self._serve(route, request)

    async def _serve(self, route: Route, request: Request) -> None:
        """Serve the page, fetch what may be fetched, refuse the rest."""
        is_own = request.is_navigation_request() and request.frame.parent_frame is None
        if is_own and self._served_url is None:
            self._served_url = request.url
            body, kind = _served(self._page)
            await route.fulfill(status=200, headers={"content-type": kind}, body=body)
        elif is_own:
            await route.fulfill(status=_STAY)
        elif self._may_fetch(request):
            await self._fetch_for(route, request.url)
        else:
            await route.abort("blockedbyclient")

    def _may_fetch(self, request: Request) -> bool:
        """May this request go to `fetch`? Counts it if so."""
        if self._fetch is None or self._requests >= self._settings.max_requests:
            return False
        if request.method != "GET" or request.resource_type not in _FETCHED:
            return False
        self._requests += 1
        return True

    async def _fetch_for(self, route: Route, url: str) -> None:
        """Answer a request with what `fetch` gives."""
        assert self._fetch is not None
        try:
            resource = await asyncio.to_thread(self._fetch, url)
        except (DehuskError, OSError):
            resource = None
        if resource is None:
            await route.abort("blockedbyclient")
        else:
            await route.fulfill(
                status=resource.status, headers=dict(resource.headers), body=resource.body
            )


async def _evaluate(devtools: CDPSession, expression: str) -> dict[str, Any]:
    """What the expression gives in a world of its own, which the page's scripts cannot enter."""
    tree = await devtools.send("Page.getFrameTree")
    frame = {"frameId": tree["frameTree"]["frame"]["id"]}
    world = await devtools.send("Page.createIsolatedWorld", frame)
    answer: dict[str, Any] = await devtools.send(
        "Runtime.evaluate",
        {
            "expression": expression,
            "contextId": world["executionContextId"],
            "returnByValue": True,
            "awaitPromise": True,
        },
    )
    return answer


async def _load(devtools: CDPSession) -> None:
    """Wait until the page is loaded. One that leaves before it is, is noticed afterwards."""
    from playwright.async_api import Error as BrowserFault  # noqa: PLC0415  an extra

    with suppress(BrowserFault):
        await _evaluate(devtools, _LOADED)


async def _pass_time(devtools: CDPSession, script_s: float) -> None:
    """Let the page's own clock run on: its timers fire as fast as they can be run."""
    is_over = asyncio.Event()
    devtools.on("Emulation.virtualTimeBudgetExpired", lambda _: is_over.set())
    budget = {"policy": "pauseIfNetworkFetchesPending", "budget": 1000 * script_s}
    await devtools.send("Emulation.setVirtualTimePolicy", budget)
    await is_over.wait()


async def _until(end: float, waiting: Coroutine[Any, Any, None]) -> None:
    """Wait, but not beyond this time of the loop; what the page shows then is what there is."""
    with suppress(TimeoutError):
        async with asyncio.timeout_at(end):
            await waiting


def _shown_url(url: str | None) -> str:
    """The URL that the page is shown at: its own where it is on the web."""
    try:
        parts = urlsplit(url or "")
        is_web = parts.scheme.lower() in ("http", "https") and bool(parts.hostname)
    except ValueError:
        is_web = False
    return url if url and is_web else _NO_URL


def _origin(url: str) -> str:
    """The origin of a web address as browsers write it."""
    parts = urlsplit(url)
    usual = {"http": 80, "https": 443}[parts.scheme.lower()]
    port = f":{parts.port}" if parts.port not in (None, usual) else ""
    return f"{parts.scheme.lower()}://{parts.hostname}{port}"


def _served(page: Page) -> tuple[bytes, str]:
    """The body that the browser is given for the page, and its content type."""
    if isinstance(page.html, str):
        return page.html.encode("utf-8", "replace"), "text/html; charset=utf-8"
    is_charset = page.charset and _CHARSET.fullmatch(page.charset)
    return page.html, f"text/html; charset={page.charset}" if is_charset else "text/html"
