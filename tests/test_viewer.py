"""The viewer in a real Chromium: what one can do with it, and what pages cannot."""

from __future__ import annotations

import json
import re
import threading
import time
import zipfile
from collections.abc import Iterator
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from chromium import PATIENT, chromium, expect, show, until, viewer
from dehusk.doors.cli import main
from dehusk_bench.samples import sample_site, write_site
from hostile_pages import hostile_pages
from test_site_removed import FIELDS, NOTICE

pytestmark = pytest.mark.slow

KEPT = "p .dehusk[data-why^=content]"
"""A text that is kept, whatever the method keeps."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("view")
    write_site(sample_site("news", pages=12, seed=3), folder / "news")
    write_site(sample_site("shop", pages=6, seed=3), folder / "shop")
    memory = ["--memory", str(folder / "a.husk"), "--method", "auto"]
    with viewer(str(folder / "news"), str(folder / "shop"), *memory) as found:
        yield found


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    opened = browser.new_page(viewport={"width": 1440, "height": 900})
    faults: list[str] = []
    opened.on("pageerror", lambda fault: faults.append(str(fault)))
    show(opened, address)
    yield opened
    assert faults == []
    opened.close()


def _frame(page: Any) -> Any:
    """The frame with the page, once it is there."""
    return page.frame_locator("#frame")


def test_the_page_is_shown_with_its_template_dimmed(page: Any) -> None:
    for label, opacity in (("template", "0.3"), ("content", "1")):
        expect(_frame(page).locator(f"[data-dehusk={label}]").first).to_have_css("opacity", opacity)
    expect(page.locator("#pages button[aria-current]")).to_contain_text("%")


def test_one_key_goes_through_the_views(page: Any) -> None:
    template = _frame(page).locator("[data-dehusk=template]").first
    template.wait_for()
    page.keyboard.press("v")
    template.wait_for(state="hidden")
    page.keyboard.press("v")
    template.wait_for(state="visible")
    expect(page.locator("#views input[value=template]")).to_be_checked()
    page.keyboard.press("v")
    warm = _frame(page).locator(".dehusk-h10").first
    expect(warm).to_have_css("background-color", re.compile(r"rgba\(178, 106, 0"))
    page.keyboard.press("v")
    expect(page.locator("#views input[value=page]")).to_be_checked()


def test_pointing_at_a_text_shows_its_score_and_why(page: Any) -> None:
    text = _frame(page).locator(KEPT).first
    text.hover()
    until(text, "node => /^.content 0[.].*page/.test(getComputedStyle(node, '::after').content)")


def test_the_slider_shows_how_the_verdict_grew(page: Any) -> None:
    page.wait_for_selector("#spark path", state="attached")
    late = page.text_content("#seen-words")
    page.focus("#seen")
    page.keyboard.press("Home")
    expect(page.locator("#seen-words")).to_contain_text("after 0")
    assert page.text_content("#seen-words") != late
    page.keyboard.press("ArrowRight")
    expect(page.locator("#seen-words")).to_contain_text("after 1 page:")


def test_a_click_corrects_a_verdict_and_the_markdown_changes(page: Any, address: str) -> None:
    page.click("#tab-markdown")
    page.wait_for_selector("#panel pre")
    before = page.text_content("#panel pre")
    kept = _frame(page).locator(KEPT).first
    words = kept.inner_text()
    assert words in before
    kept.click()
    page.wait_for_selector("#pick .button.main")
    page.select_option("#pick-selector", index=0)
    page.click("#pick button:has-text('Drop')")
    expect(page.locator("#panel pre")).not_to_contain_text(words)
    page.click("#tab-rules")
    expect(page.locator(".rules li")).to_contain_text("drop")
    page.click(".rules li button")
    page.wait_for_selector(".rules li", state="detached")
    page.click("#tab-markdown")
    expect(page.locator("#panel pre")).to_have_text(before)


def test_the_other_tabs_show_comparison_template_and_links(page: Any) -> None:
    page.click("#tab-compare")
    page.wait_for_selector("#panel .columns, #panel pre")
    page.click("#tab-template")
    page.wait_for_selector("#panel .slots li")
    page.click("#tab-links")
    page.wait_for_selector("#panel svg .key")
    expect(page.locator("#panel")).to_have_attribute("aria-labelledby", "tab-links")


def test_sites_and_pages_are_chosen_by_mouse_or_key(page: Any) -> None:
    title = page.locator("#title")
    first = title.text_content()
    page.keyboard.press("j")
    expect(title).not_to_have_text(first)
    page.keyboard.press("k")
    expect(title).to_have_text(first)
    page.select_option("#site", index=1)
    expect(page.locator("#address")).to_contain_text("shop")
    until(page, "() => [...document.querySelectorAll('#pages .share')].every(e => e.textContent)")


@pytest.fixture(scope="module")
def doubtful(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The viewer of a site of which the last page keeps little, for what it repeats."""
    source = tmp_path_factory.mktemp("doubtful") / "a.jsonl"
    pages = [{"url": page.url, "html": page.html} for page in (*FIELDS, NOTICE)]
    source.write_text("".join(json.dumps(page) + "\n" for page in pages), "utf-8")
    with viewer(str(source)) as found:
        yield found


def test_doubtful_pages_are_listed_first(browser: Any, doubtful: str) -> None:
    page = browser.new_page()
    show(page, doubtful)
    expect(page.locator("#pages h2").first).to_have_text("Doubtful · 1")
    expect(page.locator("#pages button").first).to_have_attribute("title", str(NOTICE.url))
    expect(page.locator("#pages button")).to_have_count(len(FIELDS) + 1)
    page.click("#pages button >> nth=1")
    expect(page.locator("#address")).to_contain_text(str(FIELDS[0].url))
    page.keyboard.press("k")
    expect(page.locator("#address")).to_contain_text(str(NOTICE.url))
    page.close()


def test_enter_in_the_search_opens_the_first_page_it_found(browser: Any, doubtful: str) -> None:
    page = browser.new_page()
    show(page, doubtful)
    page.keyboard.press("/")
    page.fill("#search", "mill.example/7")
    page.keyboard.press("Enter")
    expect(page.locator("#address")).to_contain_text(str(FIELDS[7].url))
    page.fill("#search", "no such page")
    page.keyboard.press("Enter")
    page.fill("#search", "")
    page.keyboard.press("Enter")
    expect(page.locator("#address")).to_contain_text(str(FIELDS[7].url))
    page.close()


def test_a_region_is_shown_when_it_is_chosen(page: Any) -> None:
    page.locator(".regions li.content button").last.click()
    marked = _frame(page).locator(".dehusk:has(> i:target)").first
    expect(marked).to_have_css("outline-style", "solid")
    page.wait_for_selector("#pick[open]")
    page.keyboard.press("Escape")
    page.wait_for_selector("#pick", state="hidden")


def test_confirmed_pages_come_out_as_gold(page: Any, address: str) -> None:
    page.keyboard.press("g")
    page.wait_for_selector("#pages .share.gold", state="attached")
    connection = HTTPConnection(urlsplit(address).netloc, timeout=PATIENT / 1000)
    connection.request("GET", "/api/gold.jsonl")
    (line,) = connection.getresponse().read().splitlines()
    record = json.loads(line)
    assert record["content"]
    assert record["content_nodes"]
    connection.request("GET", "/api/gold.zip")
    with zipfile.ZipFile(BytesIO(connection.getresponse().read())) as archive:
        (name,) = archive.namelist()
        assert b"TECO_notTemplate" in archive.read(name)
    connection.close()
    page.keyboard.press("g")
    page.wait_for_selector("#pages .share.gold", state="detached")


def test_it_can_be_used_by_keyboard_and_read_out(page: Any) -> None:
    for selector in ("nav[aria-label]", "main", "main > section[aria-label]", "main > #stage"):
        assert page.locator(selector).count() == 1
    nameless = page.evaluate(
        """() => [...document.querySelectorAll('button, a[href], input, select, iframe')].filter(
             node => !(node.getAttribute('aria-label') || node.title || node.textContent.trim()
                       || node.labels?.length)).map(node => node.outerHTML)"""
    )
    assert nameless == []
    page.focus("#tab-why")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#tab-markdown")).to_be_focused()
    page.keyboard.press("?")
    page.wait_for_selector("#help[open]")
    page.keyboard.press("Escape")
    page.wait_for_selector("#help[open]", state="detached")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_can_be_read_on_their_ground(browser: Any, address: str, scheme: str) -> None:
    page = browser.new_page(color_scheme=scheme)
    show(page, address)
    ratios = page.evaluate(_CONTRAST)
    assert min(ratios.values()) >= 4.5, ratios
    page.close()


_CONTRAST = """() => {
  const light = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3).map((part) => {
      const share = part / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (!/, 0\\)$/.test(colour)) return colour;
    }
    return 'rgb(255, 255, 255)';
  };
  const found = {};
  for (const name of ['#title', '#address', '.pages .name', '.pages .share', '.regions .why',
                      '.regions .text', '[role=tab]', '[aria-selected=true]', '.figures span',
                      '.growth label', '.views input:checked + span']) {
    const node = document.querySelector(name);
    const pair = [light(getComputedStyle(node).color), light(ground(node))].sort((a, b) => b - a);
    found[name] = (pair[0] + 0.05) / (pair[1] + 0.05);
  }
  return found;
}"""


def test_the_viewers_own_origin_tells_web_pages_nothing(address: str) -> None:
    host = urlsplit(address).netloc
    for headers in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}):
        connection = HTTPConnection(host, timeout=PATIENT / 1000)
        connection.request("GET", "/api/collection", headers=headers)
        assert connection.getresponse().status in (403, 421)
        connection.close()
    connection = HTTPConnection(host, timeout=PATIENT / 1000)
    connection.request("GET", "/")
    policy = connection.getresponse().getheader("content-security-policy", "")
    assert "default-src 'none'; script-src 'self'" in policy
    connection.close()


def test_a_source_without_pages_and_a_web_address_are_refused(tmp_path: Path) -> None:
    assert main(["view", str(tmp_path), "--no-browser"]) == 2
    assert main(["view", "https://example.org/", "--no-browser"]) == 2


@pytest.fixture(scope="module")
def evil() -> Iterator[tuple[str, list[str]]]:
    """A server that no page may reach, and what was asked of it."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.send_header("Access-Control-Allow-Origin", "*")
            self.end_headers()

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()


def test_of_200_hostile_pages_nothing_runs_and_no_request_leaves(
    browser: Any, evil: tuple[str, list[str]], tmp_path: Path
) -> None:
    home, asked = evil
    pages = list(hostile_pages(home))
    assert len(pages) >= 200
    lines = (
        json.dumps({"html": f"<p>Before</p>{html}", "url": f"https://h.example/{n}"})
        for n, html in enumerate(pages)
    )
    (tmp_path / "hostile.jsonl").write_text("\n".join(lines))
    with viewer(str(tmp_path / "hostile.jsonl"), "--method", "segments") as address:
        requests: list[Any] = []
        ran: list[str] = []

        def note(request: Any) -> None:
            requests.append(request)

        opened = browser.new_page()
        opened.on("request", note)
        opened.on("dialog", lambda dialog: ran.append(dialog.message))
        opened.on("popup", lambda popup: ran.append(popup.url))
        show(opened, address)
        frame = opened.evaluate("document.getElementById('frame').dataset.page")
        origin = frame.rpartition("/")[0]
        own = (address, origin, "data:", "about:", "chrome-error:")
        for number in range(len(pages)):
            source = f"{origin}/{number}#dehusk-page"
            with opened.expect_event("framenavigated", lambda f, s=source: f.url == s):
                opened.evaluate("url => { document.getElementById('frame').src = url }", source)
            expect(opened.frame_locator("#frame").locator("body")).to_contain_text("Before")
        opened.wait_for_timeout(500)
        assert opened.evaluate("document.getElementById('frame').getAttribute('sandbox')") == ""
        # The driver tells of requests that the browser itself has stopped as well.
        others = [request for request in requests if not request.url.startswith(own)]
        left = [r.url for r in others if r.failure not in ("csp", "origin")]
        assert left == []
        assert asked == []
        assert ran == []
        opened.close()


def test_the_evil_server_would_have_seen_a_request(
    browser: Any, evil: tuple[str, list[str]]
) -> None:
    home, asked = evil
    opened = browser.new_page()
    opened.goto(f"{home}/plain")
    opened.set_content(f"<img src='{home}/seen'><script>fetch('{home}/ran')</script>")
    end = time.monotonic() + PATIENT / 1000
    while not {"/seen", "/ran"} <= set(asked):
        assert time.monotonic() < end, asked
        opened.wait_for_timeout(50)
    asked.clear()
    opened.close()


def test_a_page_shown_outside_the_viewer_has_no_rights_either(
    browser: Any, evil: tuple[str, list[str]], tmp_path: Path
) -> None:
    home, asked = evil
    html = f"<script>document.title='ran'</script><img src='{home}/i'><p>Text"
    (tmp_path / "a.html").write_text(html)
    with viewer(str(tmp_path / "a.html"), "--method", "segments") as address:
        opened = browser.new_page()
        show(opened, address)
        frame = opened.evaluate("document.getElementById('frame').dataset.page")
        answer = opened.goto(frame)
        assert answer.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
        assert opened.title() == "page"
        assert urlsplit(frame).netloc != urlsplit(address).netloc
        connection = HTTPConnection(urlsplit(frame).netloc, timeout=PATIENT / 1000)
        connection.request("GET", "/guessed/0")
        assert connection.getresponse().status == 404
        connection.close()
        assert asked == []
        opened.close()
