"""The viewer where it is not alone: many tabs, slow pages, small windows, and its own end."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from chromium import PATIENT, chromium, expect, show, until, viewer
from dehusk_bench.samples import sample_site, write_site

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("view")
    write_site(sample_site("news", pages=4, seed=3), folder / "news")
    with viewer(str(folder / "news"), "--method", "segments") as found:
        yield found


@pytest.fixture
def context(browser: Any) -> Iterator[Any]:
    """Tabs of one browser, which share its connections."""
    opened = browser.new_context(viewport={"width": 1280, "height": 800})
    opened.set_default_timeout(PATIENT)
    yield opened
    opened.close()


def _open(context: Any, address: str) -> Any:
    page = context.new_page()
    show(page, address)
    return page


def _look_away(page: Any) -> None:
    """What a browser does to a tab when another is chosen; without a window it never does."""
    page.evaluate(
        """() => { Object.defineProperty(document, 'hidden', { value: true, configurable: true });
                   document.dispatchEvent(new Event('visibilitychange')); }"""
    )


def _look_again(page: Any) -> None:
    with page.expect_response("**/api/events"):
        page.evaluate(
            """() => { delete document.hidden;
                       document.dispatchEvent(new Event('visibilitychange')); }"""
        )


def _pick(page: Any) -> None:
    """Click the heading, and wait until it is asked what is meant."""
    page.frame_locator("#frame").locator("h1 .dehusk").first.click()
    page.wait_for_selector("#pick[open]")


def test_tabs_that_nobody_looks_at_hold_no_connection(context: Any, address: str) -> None:
    tabs = []
    for _ in range(7):  # A browser opens six connections to one address.
        tabs.append(_open(context, address))
        _look_away(tabs[-1])
    _look_again(tabs[0])
    _pick(tabs[0])
    for tab in tabs:
        tab.close()


def test_a_click_is_heard_by_its_own_tab_and_a_rule_seen_by_all(context: Any, address: str) -> None:
    one, other = _open(context, address), _open(context, address)
    other.click("#tab-rules")
    _pick(one)
    assert not other.is_visible("#pick")
    one.click("#pick button:has-text('Drop')")
    other.wait_for_selector(".rules li")
    _look_away(one)
    other.click(".rules li button")
    other.wait_for_selector(".rules li", state="detached")
    one.click("#tab-rules")
    _look_again(one)
    one.wait_for_selector(".rules li", state="detached")


def test_escape_closes_the_question_from_its_list(context: Any, address: str) -> None:
    page = _open(context, address)
    _pick(page)
    page.focus("#pick-selector")
    page.keyboard.press("Escape")
    page.wait_for_selector("#pick[open]", state="detached")


def test_tab_begins_at_the_link_to_the_page(context: Any, address: str) -> None:
    page = _open(context, address)
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()


def test_keys_come_back_when_the_pointer_leaves_the_page(context: Any, address: str) -> None:
    page = _open(context, address)
    page.frame_locator("#frame").locator("h1").wait_for()
    box = page.locator("#frame").bounding_box()
    page.mouse.click(box["x"] + 4, box["y"] + box["height"] - 4)
    expect(page.locator("#frame")).to_be_focused()
    page.mouse.move(box["x"] + 4, box["y"] - 10)
    expect(page.locator("#stage")).to_be_focused()
    page.keyboard.press("v")
    expect(page.locator("#views input[value=content]")).to_be_checked()


def test_nothing_is_cut_off_in_a_small_window(context: Any, address: str) -> None:
    page = _open(context, address)
    for width in (1280, 1180, 1000, 880):
        page.set_viewport_size({"width": width, "height": 700})
        until(page, "width => innerWidth === width", width)
        wide, room = page.evaluate("[tabs.scrollWidth, tabs.clientWidth]")
        assert wide <= room, width
        assert page.locator(".track").bounding_box()["width"] >= 90, width


def test_without_scripts_it_says_so(browser: Any, address: str) -> None:
    page = browser.new_page(java_script_enabled=False)
    page.goto(address, timeout=PATIENT)
    assert page.is_visible("noscript .notice")
    page.close()


def test_long_words_stay_in_their_place(context: Any, tmp_path: Path) -> None:
    site, word = f"{'very-long-name.' * 9}example", "grain" * 60
    lines = (
        json.dumps({"url": f"https://{site}/{n}", "html": f"<nav>Home</nav><p>{word} {n}"})
        for n in range(3)
    )
    (tmp_path / "long.jsonl").write_text("\n".join(lines))
    with viewer(str(tmp_path / "long.jsonl"), "--method", "segments") as address:
        page = _open(context, address)
        assert page.evaluate("getComputedStyle(site).textOverflow") == "ellipsis"
        for tab in ("markdown", "template", "rules"):
            page.click(f"#tab-{tab}")
            page.wait_for_selector(f"#panel[data-shown^='{tab} ']")
            sizes = "[panel.scrollWidth, panel.clientWidth]"
            wide, room = page.evaluate(sizes)
            assert wide <= room, tab


class Started:
    """`dehusk view` on its own, to be ended at any moment."""

    def __init__(self, source: Path) -> None:
        command = [sys.executable, "-m", "dehusk", "view", "--port", "0", "--no-browser"]
        self.process = subprocess.Popen(
            [*command, "--method", "segments", str(source)], stderr=subprocess.PIPE, text=True
        )
        assert self.process.stderr is not None
        found = re.search(r"http://\S+", self.process.stderr.readline())
        assert found is not None
        self.address = found[0]

    def end(self, number: int) -> None:
        """End it."""
        os.kill(self.process.pid, number)
        _, self.said = self.process.communicate(timeout=300)


def test_it_says_when_the_viewer_has_ended(context: Any, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<h1>Rye</h1><p>A hardy grain.")
    started = Started(tmp_path / "a.html")
    page = _open(context, started.address)
    assert not page.is_visible("#ended")
    started.end(signal.SIGKILL)
    page.wait_for_selector("#ended:not([hidden])")


def test_it_hears_others_and_its_end_whatever_it_is_at(tmp_path: Path) -> None:
    pytest.importorskip("trafilatura")
    rows = "".join(f"<p class=c{n % 7}>Row {n} of <b>many</b> with words" for n in range(60_000))
    (tmp_path / "big.html").write_text(f"<h1>Big</h1>{rows}")
    started = Started(tmp_path / "big.html")
    slow, quick = (HTTPConnection(urlsplit(started.address).netloc, timeout=300) for _ in range(2))
    slow.request("GET", "/api/peer?page=0")  # Many seconds of work.
    quick.request("GET", "/api/collection")
    answer = quick.getresponse()
    assert answer.status == 200
    answer.read()
    started.end(signal.SIGTERM)
    answer = slow.getresponse()
    assert (answer.status, json.loads(answer.read())["error"]["code"]) == (503, "ending")
    assert "Traceback" not in started.said
    slow.close()
    quick.close()
