"""The browser extension in a real Chromium, for tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chromium import ARGS, PATIENT, executable, until

EXTENSION = Path(__file__).parents[1] / "extension"
USUAL = {"source": "browser", "size": 3, "votes": 2, "maxLoads": 12, "isBenchOpen": True}
"""The settings of a test that says no others."""


GREETED = "() => Boolean(words.textContent) || !missing.hidden"
"""Whether the popup has heard of the service, or that there is none."""


class Loaded:
    """A browser with the extension in it."""

    def __init__(self, context: Any) -> None:
        self.context = context
        workers = context.service_workers or [context.wait_for_event("serviceworker")]
        self.home = workers[0].url.rpartition("/")[0]
        self.own = self.open(f"{self.home}/template.html")
        """A page that may do what the extension may."""

    def popup(self, page: Any, service: str, **settings: object) -> Any:
        """The popup for a page, asking this service."""
        number = self.own.evaluate(
            "url => chrome.tabs.query({}).then(tabs => tabs.find(tab => tab.url === url).id)",
            page.url,
        )
        kept = USUAL | {"service": service} | settings
        self.own.evaluate("kept => chrome.storage.local.set(kept)", kept)
        popup = self.open(f"{self.home}/popup.html?tab={number}")
        until(popup, GREETED)  # Else it may greet over the words of what is pressed.
        return popup

    def end_worker(self) -> None:
        """End the extension's worker, as the browser does when it has been idle."""
        devtools = self.context.new_cdp_session(self.own)
        devtools.send("ServiceWorker.enable")
        devtools.send("ServiceWorker.stopAllWorkers")
        running = "chrome.runtime.getContexts({ contextTypes: ['BACKGROUND'] })"
        self.own.wait_for_function(f"() => {running}.then(found => !found.length)")

    def open(self, url: str) -> Any:
        page = self.context.new_page()
        page.set_default_timeout(PATIENT)
        page.goto(url)
        return page


@contextmanager
def loaded_extension(profile: Path) -> Iterator[Loaded]:
    """A browser with the extension, as long as the block lasts."""
    path = executable()
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    folder = str(EXTENSION)
    with sync_playwright() as driver:
        context = driver.chromium.launch_persistent_context(
            str(profile),
            executable_path=path,
            headless=False,
            permissions=["clipboard-read", "clipboard-write"],
            args=[
                *ARGS, "--headless=new", f"--disable-extensions-except={folder}",
                f"--load-extension={folder}",
            ],
        )  # fmt: skip
        yield Loaded(context)
        context.close()
