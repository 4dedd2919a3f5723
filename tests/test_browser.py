"""Pages shown in a real Chromium: what comes out of it, and what it never does."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import dehusk
from chromium import executable
from dehusk.doors.cli import main
from dehusk.errors import (
    MissingExtra,
    NotRendered,
    PageError,
    PageTimeout,
    PageTooLarge,
    SettingError,
    TooManyNodes,
    UsageError,
)
from dehusk.page.browser import Browser, BrowserSettings, Resource, find_chromium, session, worker
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Tree
from dehusk.settings import Limits
from dehusk.template.templates import PageLoader
from dehusk_bench.samples import KINDS, sample_site

pytestmark = pytest.mark.slow

URL = "https://grain.example/page"
PATIENT = Limits(timeout_s=60)
"""A machine that does much else must not fail pages that are only slow on it."""
CLIENT_RENDERED = """<!doctype html><title>Rye</title><div id=app></div><script>
const show = () => { app.innerHTML = "<h1>Rye</h1><p>Sown in autumn.</p>" };
setTimeout(show, 1500);
</script>"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    executable()
    with Browser() as running:
        yield running


def _tree(browser: Browser, html: str | bytes, limits: Limits = PATIENT) -> Tree:
    return parse(browser.render(Page(html, URL), limits)).tree


def _text(tree: Tree) -> str:
    shown = np.flatnonzero(tree.is_text & tree.shown)
    return " ".join(" ".join(tree.text(int(node)) for node in shown).split())


def _box(tree: Tree, node_id: str) -> tuple[float, ...]:
    layout = tree.layout
    assert layout is not None
    (node,) = (n for n in range(len(tree)) if tree.attributes(n).get("id") == node_id)
    return tuple(float(side[node]) for side in (layout.x, layout.y, layout.width, layout.height))


def test_what_a_script_writes_later_is_part_of_the_page(browser: Browser) -> None:
    assert _text(_tree(browser, CLIENT_RENDERED)) == "Rye Sown in autumn."


def test_the_box_of_an_element_is_where_the_browser_put_it(browser: Browser) -> None:
    boxes = {f"box{k}": (11 * k + 3, 40 * k, 90 + k, 30 - k) for k in range(12)}
    html = "<!doctype html><body>" + "".join(
        f'<div id={name} style="position:absolute;left:{x}px;top:{y}px;width:{w}px;height:{h}px">'
        f"<b>{name}</b> text</div>"
        for name, (x, y, w, h) in boxes.items()
    )
    tree = _tree(browser, html)
    assert {name: _box(tree, name) for name in boxes} == boxes


def test_a_text_stands_beside_the_elements_of_its_line_and_not_under_them(
    browser: Browser,
) -> None:
    tree = _tree(browser, "<!doctype html><p>one <b>two</b> three <i>four</i> five</p>")
    texts = np.flatnonzero(tree.is_text)
    layout = tree.layout
    assert layout is not None
    ends = layout.x[texts] + layout.width[texts]
    assert [tree.text(int(node)).strip() for node in texts] == [
        "one",
        "two",
        "three",
        "four",
        "five",
    ]
    assert (layout.x[texts][1:] >= ends[:-1] - 1).all()
    assert (np.diff(layout.x[texts]) > 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_every_node_of_a_sample_page_has_a_box(browser: Browser, kind: str) -> None:
    sample = list(sample_site(kind, pages=3))[2]
    assert isinstance(sample.page.html, str)
    tree = _tree(browser, sample.page.html)
    layout = tree.layout
    assert layout is not None
    assert not layout.is_estimate
    assert len(layout.x) == len(tree)
    sides = np.stack((layout.x, layout.y, layout.width, layout.height))
    assert np.isfinite(sides).all()
    assert (layout.area[tree.is_text & tree.shown & (tree.text_length > 0)] > 0).mean() > 0.9
    assert tree.name(1) == "head"
    assert (layout.area[1 : tree.end[1]] == 0).all()


def test_elements_that_a_script_nested_against_the_rules_keep_their_boxes(browser: Browser) -> None:
    html = """<!doctype html><p id=p style="margin:0">text</p><script>
    const div = document.createElement("div");
    div.id = "inner"; div.style = "width:70px;height:20px"; div.append("block");
    document.getElementById("p").append(div);
    </script><div id=after style="width:55px;height:10px">x</div>"""
    tree = _tree(browser, html)
    inner = next(n for n in range(len(tree)) if tree.attributes(n).get("id") == "inner")
    assert tree.name(int(tree.parent[inner])) == "body"
    assert _box(tree, "inner")[2:] == (70, 20)
    assert _box(tree, "after")[2:] == (55, 10)


def test_no_trace_of_the_measuring_is_left_in_the_html(browser: Browser) -> None:
    shown = browser.render(Page('<!doctype html><p class="a">x</p>', URL), PATIENT)
    assert shown.html == (
        '<!DOCTYPE html><html><head></head><body><p class="a">x</p></body></html>'
    )


def test_a_shadow_tree_is_written_as_a_reader_sees_it(browser: Browser) -> None:
    html = """<x-card><i slot=name>rye</i> loose</x-card><script>
    document.querySelector("x-card").attachShadow({mode: "open"}).innerHTML =
        "<p>The <slot name=name>grain</slot> and <slot name=other>no other</slot></p>";
    </script>"""
    assert _text(_tree(browser, html)) == "The rye and no other"


def test_a_page_that_redefines_the_language_is_read_all_the_same(browser: Browser) -> None:
    html = """<!doctype html><form><input name=childNodes><input name=nodeType></form>
    <img name=createRange><img name=documentElement><p id=p style="width:80px">Rye</p><script>
    JSON.stringify = () => "{}"; Math.round = () => 7; Array.prototype.push = null;
    Element.prototype.getBoundingClientRect = null; Node.prototype.cloneNode = null;
    </script>"""
    tree = _tree(browser, html)
    assert "Rye" in _text(tree)
    assert _box(tree, "p")[2] == 80


def test_bytes_are_decoded_as_their_page_says(browser: Browser) -> None:
    page = Page("<p>žito</p>".encode("iso-8859-2"), URL, charset="iso-8859-2")
    shown = browser.render(page, PATIENT)
    assert "žito" in str(shown.html)
    assert shown.charset is None


@pytest.mark.parametrize("url", [None, "file:a/b.html", "https://[broken/", "ftp://grain.example/"])
def test_a_page_without_a_web_address_is_shown_too(browser: Browser, url: str | None) -> None:
    shown = browser.render(Page("<p>Rye</p>", url, "grain"), PATIENT)
    assert "Rye" in str(shown.html)
    assert (shown.url, shown.site) == (url, "grain")


def test_an_address_in_another_script_is_the_pages_own(browser: Browser) -> None:
    page = Page("<p>Rye</p>", "https://zboží.example/žito")
    assert "Rye" in str(browser.render(page, PATIENT).html)


class _Listener:
    """A server on this machine that counts who calls and answers nobody."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.calls = 0
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        while True:
            try:
                caller, _ = self._socket.accept()
            except OSError:
                return
            self.calls += 1
            caller.close()

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()


def test_a_page_reaches_nothing_on_the_network(browser: Browser) -> None:
    listener = _Listener()
    try:
        there = f"127.0.0.1:{listener.port}"
        html = f"""<!doctype html><link rel=preconnect href="http://{there}/">
        <link rel=dns-prefetch href="http://{there}/"><link rel=prefetch href="http://{there}/a">
        <link rel=stylesheet href="http://{there}/b"><img src="http://{there}/c">
        <iframe src="http://{there}/d"></iframe><script src="http://{there}/e"></script>
        <form id=f method=post action="http://{there}/f"></form><p>Rye</p><script>
        fetch("http://{there}/g").catch(() => 0); navigator.sendBeacon("http://{there}/h");
        new WebSocket("ws://{there}/i"); new EventSource("http://{there}/j");
        new RTCPeerConnection({{iceServers: [{{urls: "stun:{there}"}}]}}).createDataChannel("x");
        open("http://{there}/k"); document.getElementById("f").submit();
        setTimeout(() => location.href = "http://{there}/l", 1);
        </script>"""
        assert _text(_tree(browser, html)) == "Rye"
        assert listener.calls == 0
        socket.create_connection(("127.0.0.1", listener.port)).close()
        for _ in range(6000):
            if listener.calls:
                break
            threading.Event().wait(0.01)
        assert listener.calls == 1, "the listener hears calls"
    finally:
        listener.close()


def test_what_a_page_asks_for_comes_from_the_callers_function_alone(browser: Browser) -> None:
    asked: list[str] = []

    def fetch(url: str) -> Resource | None:
        asked.append(url)
        if url.endswith("app.js"):
            body = b"fetch('/data').then(r => r.text()).then(t => document.body.append(t))"
            return Resource(body, {"content-type": "text/javascript"})
        if url.endswith("/data"):
            return Resource(b"Sown in autumn.", {"content-type": "text/plain"})
        if url.endswith("broken.css"):
            raise OSError("no such host")
        return None

    html = """<!doctype html><link rel=stylesheet href=/broken.css><img src=/picture.png>
    <script src=/app.js></script><script src=/none.js></script>
    <script>fetch("/posted", {method: "POST"}).catch(() => 0)</script>"""
    with Browser(fetch=fetch) as asking:
        assert "Sown in autumn." in _text(_tree(asking, html))
    assert {url.rsplit("/", 1)[1] for url in asked} == {"broken.css", "app.js", "data", "none.js"}


def test_a_page_that_asks_too_often_is_refused_the_rest(browser: Browser) -> None:
    asked: list[str] = []

    def fetch(url: str) -> Resource | None:
        asked.append(url)
        return None

    html = "<p>Rye</p>" + "".join(f"<script src=/{k}.js></script>" for k in range(20))
    with Browser(BrowserSettings(max_requests=5), fetch) as asking:
        assert "Rye" in _text(_tree(asking, html))
    assert len(asked) == 5


@pytest.mark.parametrize(
    "script",
    [
        "while (true);",
        "setTimeout(() => { while (true); }, 0)",
        "const all = []; while (true) all.push(new Array(1000).fill(all));",
    ],
)
def test_a_script_without_an_end_costs_the_page_and_no_other(browser: Browser, script: str) -> None:
    with pytest.raises((PageTimeout, NotRendered)):
        _tree(browser, f"<p>x</p><script>{script}</script>", Limits(timeout_s=1.5))
    assert _text(_tree(browser, "<p>next</p>")) == "next"


def test_timers_and_alerts_without_an_end_do_not_lose_the_page(browser: Browser) -> None:
    html = """<p>Rye</p><script>setInterval(() => 0, 0);
    (function again() { requestAnimationFrame(again) })();
    for (let k = 0; k < 3; k++) { alert("a"); confirm("b"); prompt("c"); }
    onbeforeunload = () => "stay"; window.open("about:blank"); print();
    </script><a id=a download=x href="data:text/plain,x"></a><script>a.click()</script>"""
    assert _text(_tree(browser, html)) == "Rye"


def test_a_page_that_leads_elsewhere_stays(browser: Browser) -> None:
    html = """<p>Rye</p><meta http-equiv=refresh content="0;url=https://other.example/">
    <script>location.replace("https://grain.example/other")</script>"""
    assert _text(_tree(browser, html)) == "Rye"


def test_a_page_that_blanks_itself_is_not_taken_for_an_empty_one(browser: Browser) -> None:
    with pytest.raises(NotRendered, match="went to another address"):
        _tree(browser, "<p>Rye</p><script>location = 'about:blank'</script>")


def test_a_page_may_not_grow_over_the_limits_in_the_browser(browser: Browser) -> None:
    grow = "<body><script>for (let k = 500; k--;) document.body.append('{}', new Image())</script>"
    with pytest.raises(TooManyNodes):
        _tree(browser, grow.format("x"), Limits(max_nodes=400))
    with pytest.raises(PageTooLarge):
        _tree(browser, grow.format("x" * 100), Limits(max_bytes=20_000))


def _crash(running: Browser) -> None:
    """Make the browser's main process fail."""
    loop, chrome = running._loop, running._chromium
    assert loop is not None
    assert chrome is not None

    async def send() -> None:
        devtools = await chrome.new_browser_cdp_session()
        await devtools.send("Browser.crash")

    asyncio.run_coroutine_threadsafe(send(), loop)


def test_a_browser_that_crashes_costs_one_page_and_is_started_again(browser: Browser) -> None:
    running: list[Browser] = []

    def fetch(url: str) -> Resource | None:
        _crash(running[0])
        threading.Event().wait(0.5)
        return None

    with Browser(fetch=fetch) as crashing:
        running.append(crashing)
        with pytest.raises(NotRendered, match="crashed"):
            _tree(crashing, "<p>x</p><script src=/crash.js></script>")
        assert _text(_tree(crashing, "<p>next</p>")) == "next"


def test_a_page_may_be_shown_where_an_event_loop_runs(browser: Browser) -> None:
    async def show() -> Page:
        return browser.render(Page("<p>Rye</p>", URL), PATIENT)

    assert "Rye" in str(asyncio.run(show()).html)


def test_a_browser_may_be_closed_twice_or_unused() -> None:
    executable()
    idle = Browser()
    idle.close()
    idle.close()


def test_a_shown_page_may_be_learned_and_asked_about_like_any(browser: Browser) -> None:
    site = dehusk.Site()
    result = site.add(browser.render(Page(CLIENT_RENDERED, URL), PATIENT))
    assert result.text == "Rye\nSown in autumn."
    assert result.url == URL
    assert result.tree.layout is not None


def test_the_command_cleans_what_the_browser_shows(
    browser: Browser, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    lines = [{"url": URL, "html": CLIENT_RENDERED}]
    lines.append({"url": URL + "2", "html": "<script>location = 'about:blank'</script>"})
    source = tmp_path / "pages.jsonl"
    source.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    assert main(["clean", str(source), "--render", "--format", "jsonl"]) == 1
    out, err = capsysbinary.readouterr()
    shown, left = map(json.loads, out.splitlines())
    assert shown["text"] == "Rye\nSown in autumn."
    assert left["error"]["code"] == "not_rendered"
    assert f"{URL}2: in the browser, the page went".encode() in err


def test_without_playwright_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"dehusk\[render\]"):
        Browser()


def test_without_chromium_the_message_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(session.VARIABLE, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="apt install chromium"):
        find_chromium()
    monkeypatch.setenv(session.VARIABLE, "/nowhere/chromium")
    with pytest.raises(UsageError, match="DEHUSK_CHROMIUM=/nowhere/chromium"):
        find_chromium()


def test_the_variable_outranks_the_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.write_text("#!/bin/sh\n")
    own.chmod(0o755)
    monkeypatch.setenv(session.VARIABLE, str(own))
    assert find_chromium() == str(own)


def test_a_program_that_is_no_browser_is_wrong_use(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(session.VARIABLE, "/bin/true")
    with Browser() as wrong, pytest.raises(UsageError, match="/bin/true did not start"):
        wrong.render(Page("<p>x"))


def test_a_browser_that_will_not_start_ends_the_command_before_anything_is_read(
    browser: Browser,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "page.html").write_text("<p>x</p>", "utf-8")
    monkeypatch.setenv(session.VARIABLE, "/bin/true")
    assert main(["clean", str(tmp_path), "--render"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("dehusk: /bin/true did not start")
    assert len(shown.err.splitlines()) == 1


def test_only_root_goes_without_the_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert session.launch_options("chromium")["chromium_sandbox"] is False
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert session.launch_options("chromium")["chromium_sandbox"] is True


@pytest.mark.parametrize("setting", [{"width": 0}, {"script_s": -1}, {"max_requests": -1}])
def test_impossible_settings_are_refused(setting: dict[str, int]) -> None:
    with pytest.raises(SettingError):
        BrowserSettings(**setting)


def test_a_page_that_follows_links_sees_the_other_pages_shown() -> None:
    def show(page: Page) -> Page:
        if page.url and page.url.endswith("2"):
            raise PageError(page.url, "crashed")
        return Page("<p>shown</p>", page.url)

    pages = [Page("<p>raw</p>", f"https://grain.example/{n}") for n in (1, 2)]
    load = PageLoader(pages, show=show)
    first = load("https://grain.example/1")
    assert first is not None
    assert _text(first) == "shown"
    assert load("https://grain.example/2") is None
