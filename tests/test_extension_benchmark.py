"""Judging pages with the browser extension in a real Chromium, and what it exports."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from chromium import expect, until
from dehusk.doors.service.gold import node_gold
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk_bench.papers.teco_pages import KeyPage, read_key_pages
from dehusk_bench.speed.serve import running
from extension import Loaded, loaded_extension
from linked_site import LinkedSite, linked_site

pytestmark = pytest.mark.slow

_HAS_MARKS = """wanted => [...document.querySelectorAll('[data-dehusk-judged]')].map(
    one => `${one.localName} ${one.getAttribute('data-dehusk-judged')}`).join() === wanted.join()"""


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loaded]:
    with loaded_extension(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    with running("--method", "segments") as (port, _):
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def grains(loaded: Loaded) -> Iterator[LinkedSite]:
    """The site, and no page of it judged."""
    loaded.own.evaluate("chrome.storage.local.clear()")
    with linked_site(away="http://127.0.0.1:9") as site:
        yield site


def _judge(loaded: Loaded, page: Any, service: str) -> Any:
    """The popup of a page whose panel it has opened."""
    popup = loaded.popup(page, service)
    popup.click("#judge")
    page.wait_for_selector("dehusk-panel")
    return popup


def _press(page: Any, part: str) -> None:
    page.click(f"[data-dehusk-part={part}]")


def _check_marks(page: Any, wanted: list[str]) -> None:
    until(page, _HAS_MARKS, wanted)


def _list(loaded: Loaded, text: str) -> Any:
    """The list of pages, with these added."""
    listed = loaded.open(f"{loaded.home}/benchmark.html")
    listed.fill("#judge", "Ada")
    listed.fill("#urls", text)
    listed.click("#add")
    return listed


def test_what_is_clicked_is_marked_and_nothing_is_followed(
    loaded: Loaded, grains: LinkedSite, service: str
) -> None:
    page = loaded.open(grains.url)
    popup = _judge(loaded, page, service)
    page.click("nav a >> nth=1")
    page.click("main h1")
    _check_marks(page, ["a notTemplate", "h1 notTemplate"])
    page.click("nav a >> nth=1")  # Once more takes it back.
    _press(page, "mainContent")
    page.click("main p >> nth=0")
    _check_marks(page, ["h1 notTemplate", "p mainContent notTemplate"])
    page.hover("main h1")
    page.keyboard.press("ArrowUp")  # To <main>, which takes in what is marked in it.
    page.keyboard.press("m")
    _check_marks(page, ["main mainContent notTemplate"])
    _press(page, "undo")
    _check_marks(page, ["h1 notTemplate", "p mainContent notTemplate"])
    _press(page, "clear")
    _check_marks(page, [])
    assert page.url == f"{grains.url}/"
    _press(page, "done")
    expect(page.locator("dehusk-panel, [data-dehusk-pointed]")).to_have_count(0)
    page.click("nav a >> nth=1")
    page.wait_for_url("**/rye")
    page.close()
    popup.close()


def test_a_judged_page_is_checked_by_both_methods_and_found_marked_again(
    loaded: Loaded, grains: LinkedSite, service: str
) -> None:
    page = loaded.open(grains.url)
    popup = _judge(loaded, page, service)
    page.hover("main h1")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("m")
    _press(page, "check")
    page.wait_for_selector("dehusk-panel p:has-text('segments: precision')")
    page.keyboard.press("Escape")
    _check_marks(page, [])
    popup.click("#extract")
    popup.wait_for_selector("#scores")
    expect(popup.locator("#scores dd")).to_have_text(["1.000", "1.000", "1.000"])
    listed = loaded.open(f"{loaded.home}/benchmark.html")
    listed.wait_for_selector("td:has-text('hyperlink 1.000')")
    expect(listed.locator("#pages")).to_contain_text("segments")
    page.reload()
    popup.click("#judge")
    page.wait_for_selector("main[data-dehusk-judged=notTemplate]")
    for one in (page, popup, listed):
        one.close()


def test_the_list_is_gone_through_and_exported_as_bench_teco_reads_it(
    loaded: Loaded, grains: LinkedSite, service: str, tmp_path: Path
) -> None:
    second = {"url": f"{grains.url}/rye", "type": "Media"}
    listed = _list(loaded, f"{grains.url}\n{json.dumps(second)}")
    listed.wait_for_selector("#words:has-text('2 pages added')")
    page = loaded.open(grains.url)
    popup = _judge(loaded, page, service)
    expect(page.locator("[data-dehusk-part=where]")).to_have_text("1 of 2")
    page.click("main h1")
    popup.click("#extract")  # So the pages that it links are exported too.
    popup.wait_for_selector("#scores")
    _press(page, "next")
    page.wait_for_url("**/rye")
    popup.close()
    popup = _judge(loaded, page, service)
    _press(page, "mainContent")
    page.click("main p >> nth=0")
    _press(page, "next")
    page.wait_for_selector("dehusk-panel p:has-text('last page')")
    listed.bring_to_front()
    listed.wait_for_selector("tr:has-text('/rye') td:has-text('1 mark, 1 main, by Ada')")
    with listed.expect_download() as download:
        listed.click("#json")
    exported = tmp_path / "judgements.jsonl"
    download.value.save_as(exported)
    _check_records(exported, grains.url)
    with listed.expect_download() as download:
        listed.click("#folder")
    with ZipFile(download.value.path()) as packed:
        packed.extractall(tmp_path / "teco")
    _check_folder(tmp_path / "teco")
    for one in (page, popup, listed):
        one.close()


def _check_records(exported: Path, url: str) -> None:
    """Two records of gold: a heading on the first page, a paragraph on the second."""
    assert len(list(read_key_pages(str(exported), []))) == 2
    records = map(json.loads, exported.read_text().splitlines())
    first, second = sorted(records, key=lambda record: len(record["url"]))
    assert (first["url"], first["type"], first["judge"]) == (f"{url}/", None, "Ada")
    assert (second["type"], second["main_nodes"]) == ("Media", second["content_nodes"])
    for record, name in ((first, "h1"), (second, "p")):
        assert "TECO_" not in record["html"]
        tree = parse(Page(record["html"], record["url"])).tree
        gold = node_gold(tree, record["content_nodes"], ())
        assert gold is not None
        inside = (gold.judged & ~gold.template & ~gold.above).nonzero()[0].tolist()
        assert [tree.name(node) for node in inside] == [name]


def _check_folder(folder: Path) -> None:
    """Two key pages, and the pages that the first of them links."""
    notes: list[str] = []
    keys: list[KeyPage] = list(read_key_pages(str(folder), notes))
    assert notes == []
    assert len(keys) == 2
    linked = json.loads(next(folder.glob("*/index.json")).read_text())
    assert len(linked) >= 4
    assert all(keys[0].load(url) is not None for url in linked.values())


def test_a_script_of_the_page_marks_nothing(
    loaded: Loaded, grains: LinkedSite, service: str
) -> None:
    page = loaded.open(grains.url)
    popup = _judge(loaded, page, service)
    page.click("main h1")
    page.evaluate(
        """() => {
            document.querySelector('main p').click();
            document.querySelector('nav a').dispatchEvent(
                new MouseEvent('mouseover', { bubbles: true }));
            for (const key of ['m', 'u', 'Escape'])
                document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
            for (const part of ['undo', 'clear', 'done'])
                document.querySelector(`[data-dehusk-part=${part}]`).click();
        }"""
    )
    _check_marks(page, ["h1 notTemplate"])
    assert page.locator("dehusk-panel").count() == 1
    page.close()
    popup.close()


def test_a_full_list_keeps_no_more_and_says_so(
    loaded: Loaded, grains: LinkedSite, service: str
) -> None:
    _list(loaded, grains.url).wait_for_selector("#words:has-text('1 page added')")
    loaded.own.evaluate("chrome.storage.local.set({ sizes: { 'html other.example/': 1e8 } })")
    page = loaded.open(grains.url)
    popup = loaded.popup(page, service)
    popup.click("#extract")
    popup.wait_for_selector("#words:has-text('is template. Not kept: the list is full (100 MB)')")
    popup.click("#judge")
    page.click("main h1")
    page.wait_for_selector("dehusk-panel p:has-text('Not kept: the list is full')")
    keys = loaded.own.evaluate("chrome.storage.local.get(null).then(Object.keys)")
    assert [key for key in keys if key.startswith(("html ", "linked ", "judged "))] == []
    page.close()
    popup.close()


def test_changes_from_several_pages_of_the_extension_are_all_kept(
    loaded: Loaded, grains: LinkedSite
) -> None:
    tabs = [loaded.open(f"{loaded.home}/benchmark.html") for _ in range(3)]
    change = """async ([home, tab]) => {
        const list = await import(`${home}/list.js`);
        globalThis.done = Promise.all([...Array(10).keys()].map((number) =>
            list.addPages([{ url: `https://a${tab}.example/${number}`, type: '' }])));
    }"""
    for number, tab in enumerate(tabs):
        tab.evaluate(change, [loaded.home, number])
    for tab in tabs:
        tab.evaluate("globalThis.done")
    kept = loaded.own.evaluate("chrome.storage.local.get('pages')")
    assert len(kept["pages"]) == 30
    for tab in tabs:
        tab.close()


def test_what_is_no_address_is_refused_and_nothing_is_added(
    loaded: Loaded, grains: LinkedSite
) -> None:
    listed = _list(loaded, f"{grains.url}\nfile:///etc/passwd")
    listed.wait_for_selector("#words:has-text('Not the address of a web page: file:')")
    listed.wait_for_selector("#none")
    listed.fill("#urls", '[{"url": "https://a.example", "type": "Forums"},')
    listed.click("#add")
    listed.wait_for_selector("#words:has-text('Not')")
    listed.wait_for_selector("#none")
    listed.close()


def test_all_is_cleared_when_the_user_says_so_twice(loaded: Loaded, grains: LinkedSite) -> None:
    listed = _list(loaded, "a.example\nb.example/c?d")
    listed.wait_for_selector("tr:has-text('https://b.example/c?d')")
    listed.click("#clear")
    listed.click("dialog button[value=no]")
    listed.wait_for_selector("#pages")
    listed.click("#clear")
    listed.click("dialog button[value=yes]")
    listed.wait_for_selector("#none")
    listed.close()
