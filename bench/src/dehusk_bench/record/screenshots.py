"""`dehusk bench screenshots`: the pictures in the docs, taken anew."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from dehusk.doors.cli import main
from dehusk.errors import MissingExtra, SourceError
from dehusk.page.browser import find_chromium
from dehusk_bench.record.before_after import take_before_after
from dehusk_bench.samples import sample_site, write_site
from dehusk_bench.samples.server import serve_site
from dehusk_bench.speed.serve import running

DESCRIPTION: Final = (
    "Start the viewer and the service on sample sites, look at them in Chromium, and write the"
    " pictures that the docs show, so that they stay true. Needs the extras serve and render."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options."""
    parser.add_argument(
        "-o",
        "--output",
        default="docs/images",
        metavar="DIR",
        help="the folder to write to (default: %(default)s)",
    )
    parser.add_argument(
        "--extension",
        default="extension",
        metavar="DIR",
        help="the folder of the browser extension (default: %(default)s)",
    )


_SIZE: Final = {"width": 1440, "height": 900}
_PHONE: Final = {"width": 390, "height": 844}
_PATIENCE_MS: Final = 60_000
_SITES: Final = ("blog", "shop", "docs")
_SEED: Final = 5
"""Sites that fit a picture; any other would do."""
_PAGES: Final = 30
_SCROLL: Final = 430
"""To where the page's template ends and its content begins."""


def run(arguments: argparse.Namespace) -> int:
    """Take the pictures and say which."""
    if find_spec("playwright") is None:
        raise MissingExtra("dehusk bench screenshots", "render")
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  an extra

    folder = Path(arguments.output)
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as made, sync_playwright() as driver:
        for kind in _SITES:
            write_site(sample_site(kind, pages=_PAGES, seed=_SEED), Path(made) / kind)
        sources = [str(Path(made) / kind) for kind in _SITES]
        with _viewer(*sources) as address, _browser(driver, Path(made)) as browser:
            take_before_after(browser, folder)
            _take_viewer(browser, address, folder)
            _take_phone(browser, address, folder)
            _take_report(browser, sources[0], Path(made) / "site.html", folder)
        with _browser(driver, Path(made) / "own", arguments.extension) as browser:
            _take_extension(browser, folder)
    for path in sorted(folder.glob("*.png")):
        sys.stdout.write(f"{path}  {path.stat().st_size:,} bytes\n")
    return 0


@contextmanager
def _browser(driver: Any, profile: Path, extension: str | None = None) -> Iterator[Any]:
    """A browser, perhaps with the extension in it."""
    is_root = getattr(os, "geteuid", lambda: 1)() == 0
    args = ["--headless=new", "--hide-scrollbars", *(["--no-sandbox"] if is_root else [])]
    if extension is not None:
        place = str(Path(extension).resolve())
        args += [f"--disable-extensions-except={place}", f"--load-extension={place}"]
    context = driver.chromium.launch_persistent_context(
        str(profile / "profile"), executable_path=find_chromium(), headless=False, args=args,
        viewport=_SIZE,
    )  # fmt: skip
    context.set_default_timeout(_PATIENCE_MS)
    try:
        yield context
    finally:
        context.close()


@contextmanager
def _viewer(*sources: str) -> Iterator[str]:
    """The address of a viewer of these sources. Raises SourceError where it does not start."""
    command = [sys.executable, "-m", "dehusk", "view", *sources, "--port", "0", "--no-browser"]
    command += ["--method", "auto"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)  # noqa: S603  ourselves
    try:
        assert process.stderr is not None
        found = next(
            filter(None, (re.search(r"http://\S+", line) for line in process.stderr)), None
        )
        if found is None:
            raise SourceError("dehusk view did not start")
        yield found[0]
    finally:
        process.terminate()
        process.communicate(timeout=30)


def _take_viewer(browser: Any, address: str, folder: Path) -> None:
    """The viewer: page, dark, heat and links, a correction."""
    page = browser.new_page()
    for name, scheme, view, tab in (
        ("view", "light", "page", "why"),
        ("view-dark", "dark", "page", "markdown"),
        ("view-heat", "light", "heat", "links"),
        ("view-template", "light", "template", "template"),
    ):
        page.emulate_media(color_scheme=scheme)
        _open(page, address)
        page.check(f"#views input[value={view}]", force=True)
        page.click(f"#tab-{tab}")
        page.wait_for_selector(f"#panel[data-shown^='{tab} ']")
        page.mouse.move(720, 400)
        page.mouse.wheel(0, _SCROLL)
        page.mouse.move(1012, 500)  # Beside the text, still in the frame.
        if name == "view":
            page.frame_locator("#frame").get_by_text("min read").first.hover()
        page.wait_for_timeout(700)
        page.screenshot(path=str(folder / f"{name}.png"))
    _open(page, address)
    page.mouse.move(720, 400)
    page.mouse.wheel(0, _SCROLL)
    page.frame_locator("#frame").get_by_text("min read").first.click()
    page.wait_for_selector("#pick .button")
    page.wait_for_timeout(500)
    page.screenshot(path=str(folder / "view-correct.png"))


def _take_phone(browser: Any, address: str, folder: Path) -> None:
    """The viewer on a phone, three times beside each other: page, search, site."""
    page = browser.new_page()
    page.set_viewport_size(_PHONE)
    taken = []
    for screen, act in (("page", ""), ("pages", "search"), ("findings", "tab-site")):
        _open(page, address)
        page.click(f"#screen-{screen}")
        if act == "search":
            page.fill("#search", "the")
        elif act:
            page.click(f"#{act}")
            page.wait_for_selector("#panel .questions", state="attached")
        page.wait_for_timeout(700)
        taken.append(b64encode(page.screenshot()).decode())
    width, height = _PHONE["width"], _PHONE["height"]
    page.set_viewport_size({"width": 3 * width + 80, "height": height + 40})
    pictures = "".join(f'<img src="data:image/png;base64,{one}">' for one in taken)
    page.goto("about:blank")
    page.set_content(
        "<style>body{margin:0;padding:20px;display:flex;gap:20px;background:#e3dfd6}"
        f"img{{border-radius:16px}}</style>{pictures}"
    )
    page.wait_for_timeout(300)
    page.screenshot(path=str(folder / "view-phone.png"))
    page.close()


def _take_report(browser: Any, source: str, file: Path, folder: Path) -> None:
    """The beginning of a report."""
    main(["report", source, "-o", str(file)])
    page = browser.new_page()
    page.set_viewport_size({"width": 1100, "height": 1250})
    page.goto(file.as_uri())
    page.screenshot(path=str(folder / "report.png"))
    page.close()


def _open(page: Any, address: str) -> None:
    """The viewer with all its figures there."""
    page.goto(address)
    page.wait_for_selector(".regions button", state="attached")
    page.wait_for_selector("#spark path", state="attached")
    page.locator(".pages .share:empty").first.wait_for(state="detached")


def _take_extension(browser: Any, folder: Path) -> None:
    """The extension's popup after an extraction, with the pages that it loaded."""
    workers = browser.service_workers or [browser.wait_for_event("serviceworker")]
    samples = sample_site("blog", pages=8, seed=_SEED)
    with serve_site(samples) as site, running("--method", "auto") as (port, _):
        service = f"http://127.0.0.1:{port}"
        workers[0].evaluate("service => chrome.storage.local.set({ service })", service)
        page = browser.new_page()
        page.goto(site.url + list(site.pages)[1])
        number = workers[0].evaluate(
            "url => chrome.tabs.query({}).then(tabs => tabs.find(t => t.url === url).id)",
            page.url,
        )
        popup = browser.new_page()
        popup.set_viewport_size({"width": 320, "height": 600})
        popup.goto(f"{workers[0].url.rpartition('/')[0]}/popup.html?tab={number}")
        popup.wait_for_selector("#words:has-text('Connected to dehusk')")
        popup.click("#extract")
        popup.wait_for_selector("#words:has-text('of the page is template')")
        popup.mouse.move(310, 590)
        popup.locator("body").screenshot(path=str(folder / "extension.png"))
