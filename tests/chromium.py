"""A real Chromium for tests, and the services that they look at."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dehusk.errors import UsageError
from dehusk.page.browser import find_chromium
from dehusk.page.browser.session import VARIABLE
from extras import missing

ARGS = ["--no-sandbox", "--disable-dev-shm-usage"] if os.geteuid() == 0 else []
PATIENT = 60_000
"""How many milliseconds a busy machine may take for what a browser does at once."""


def executable() -> str:
    """Where the browser is; the test is skipped without one, but fails in CI."""
    try:
        import playwright.sync_api  # noqa: F401, PLC0415

        return find_chromium()
    except (ImportError, UsageError) as fault:
        missing(fault)


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser that runs as long as the block.

    Where it is there, Chromium's shell: the same without windows and their own pages, which take
    four times the work of a small page.
    """
    path = executable()
    if VARIABLE not in os.environ:
        path = shutil.which("chromium-headless-shell") or path
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=ARGS)
        yield browser
        browser.close()


def expect(shown: Any) -> Any:
    """Assertions on a page or a part of it, each of which waits until it holds."""
    from playwright.sync_api import expect as expected  # noqa: PLC0415

    expected.set_options(timeout=PATIENT)
    return expected(shown)


def until(shown: Any, script: str, argument: object = None) -> None:
    """Wait until a script says yes about a page or a part of it.

    The viewer's own policy forbids what the driver would wait with.
    """
    end = time.monotonic() + PATIENT / 1000
    while not shown.evaluate(script, argument):
        assert time.monotonic() < end, script
        time.sleep(0.05)


def show(page: Any, address: str) -> None:
    """Open the viewer, and wait until it shows something and hears what is clicked."""
    page.set_default_timeout(PATIENT)
    with page.expect_response("**/api/events"):
        page.goto(address)
    page.wait_for_selector(".regions button", state="attached")


@contextmanager
def viewer(*arguments: str) -> Iterator[str]:
    """The address of `dehusk view`, as long as the block lasts."""
    command = [sys.executable, "-m", "dehusk", "view", "--port", "0", "--no-browser", *arguments]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        for line in process.stderr:
            found = re.search(r"http://\S+", line)
            if found:
                yield found[0]
                break
        else:
            raise AssertionError("dehusk view did not start")
    finally:
        process.terminate()
        process.communicate(timeout=PATIENT / 1000)
