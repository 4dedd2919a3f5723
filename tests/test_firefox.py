"""The extension and the viewer in a real Firefox."""

from __future__ import annotations

import time
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest

import dehusk
from addresses import check_addresses
from chromium import viewer
from dehusk_bench.samples import KINDS, sample_site, write_site
from dehusk_bench.speed.serve import running
from extension import EXTENSION, GREETED, USUAL
from firefox import EXTENSION_ID, Firefox, firefox
from linked_site import ACTING, GRAINS, ODD, LinkedSite, linked_site
from marked_pages import marked_pages
from odd_pages import ODD_PAGES

pytestmark = pytest.mark.slow

HOME = f"moz-extension://{EXTENSION_ID}"
SHOWN = "return getComputedStyle(document.querySelector(arguments[0])).display !== 'none'"
PART = "return document.querySelector('dehusk-panel p').textContent.includes('')"
WORDS = "return document.getElementById('words').textContent.includes(arguments[0])"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    with firefox(tmp_path_factory.mktemp("profile")) as started:
        started.ask("Addon:Install", path=str(EXTENSION), temporary=True)
        yield started


@pytest.fixture(scope="module")
def marked() -> Iterator[str]:
    with marked_pages() as url:
        yield url


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    with running(
        "--method", "segments", "--fetch", "--allow-private", "127.0.0.1", "--delay", "0"
    ) as (port, _):
        yield f"http://127.0.0.1:{port}"


def _popup(browser: Firefox, url: str, service: str, **settings: object) -> tuple[str, str]:
    """A tab with that page, and one with the popup for it, asking this service."""
    page = browser.open(url)
    popup = browser.open(f"{HOME}/popup.html")
    browser.run(
        """window.set = browser.storage.local.set(arguments[1])
             .then(() => browser.tabs.query({ url: arguments[0].replace(/:[0-9]+/, "") + "*" }))
             .then(tabs => tabs.find(tab => tab.url === arguments[0]))
             .then(tab => { location.search = `?tab=${tab.id}` })""",
        url,
        USUAL | {"service": service} | settings,
    )
    browser.until(f"return location.search && document.readyState === 'complete' && ({GREETED})()")
    return page, popup


def _press(browser: Firefox, button: str, words: str) -> None:
    browser.click(f"#{button}")
    browser.until(WORDS, words)


def test_toggle_view_goes_from_page_to_content_to_template_and_back(
    browser: Firefox, marked: str, service: str
) -> None:
    for number in range(5):
        page, popup = _popup(browser, f"{marked}?{number}", service)
        _press(browser, "toggle", "Content only")
    browser.choose(page)
    assert not browser.run(SHOWN, "nav")
    assert browser.run(SHOWN, "h1")
    browser.choose(popup)
    _press(browser, "toggle", "Template only")
    browser.choose(page)
    assert browser.run(SHOWN, "nav")
    assert browser.run("return getComputedStyle(document.querySelector('main')).opacity") == "0.08"
    browser.choose(popup)
    _press(browser, "toggle", "as it was")
    browser.choose(page)
    marks = "[data-dehusk], dehusk-text, [data-dehusk-node]"
    assert browser.run("return document.querySelectorAll(arguments[0]).length", marks) == 0


def test_check_benchmark_shows_precision_recall_and_f1(
    browser: Firefox, marked: str, service: str
) -> None:
    _popup(browser, f"{marked}?9", service)
    _press(browser, "benchmark", "Template nodes")
    shown = browser.run("return document.getElementById('scores').innerText").split()
    assert shown == ["Precision", "1.000", "Recall", "1.000", "F1", "1.000"]


def test_copy_markdown_puts_the_content_on_the_clipboard(
    browser: Firefox, marked: str, service: str
) -> None:
    page, popup = _popup(browser, f"{marked}?10", service)
    browser.choose(page)
    browser.run("document.querySelector('main').append('Built by a script.')")
    browser.choose(popup)
    _press(browser, "markdown", "characters of Markdown copied")


_ROWS = """return [...document.querySelectorAll('#loads li')].map(
    li => ['.address', '.state'].map(name => li.querySelector(name).textContent))"""


@pytest.fixture
def grains(marked: str) -> Iterator[LinkedSite]:
    with linked_site(away=marked.rstrip("/")) as site:
        yield site


def test_extract_template_loads_linked_pages_and_no_link_that_acts(
    browser: Firefox, grains: LinkedSite, service: str
) -> None:
    grains.links = "".join(f"<li>{link}</li>" for link in ACTING)
    page, popup = _popup(browser, f"{grains.url}/", service, size=8, maxLoads=40)
    _press(browser, "extract", "5 do; 6 pages loaded, 2 of 5 pages must have a node")
    loads = dict(browser.run(_ROWS))
    assert {path for path, state in loads.items() if state == "voted"} == {
        f"/{name}" for name in (*GRAINS, "old")
    }
    reasons = {path: loads[f"/{path}"] for path in ODD if path != "old"}
    assert reasons.pop("away").startswith("cannot be reached, or leads to another origin")
    assert reasons == {
        "gone": "status 404",
        "paper.pdf": "not HTML: application/pdf",
        "logout": "not followed: it may do something",
        "long": "more than 4 MB",
    }
    refused = [state for state in loads.values() if state.startswith("not followed")]
    assert len(refused) == len(ACTING) + 1
    allowed = {"/", "/old/", *(f"/{name}" for name in (*GRAINS, *ODD)), "/favicon.ico"}
    assert grains.asked() <= allowed - {"/logout"}
    browser.choose(page)
    assert not browser.run(SHOWN, "header")
    assert browser.run(SHOWN, "h1")
    browser.choose(popup)
    _press(browser, "toggle", "Template only")
    browser.choose(page)
    assert browser.run(SHOWN, "header")


def test_linked_pages_are_loaded_with_the_session_where_the_user_says_so(
    browser: Firefox, grains: LinkedSite, service: str
) -> None:
    grains.is_open = False
    _popup(browser, f"{grains.url}/", service, size=8, source="session")
    _press(browser, "extract", "4 do; 5 pages loaded")
    loads = dict(browser.run(_ROWS))
    words = "leads elsewhere: not followed with your session"
    assert {loads[path] for path in ("/old", "/away")} == {words}
    assert grains.asked().isdisjoint({"/old/", "/logout"})


def test_a_page_whose_policy_forbids_to_load_others_says_so(
    browser: Firefox, grains: LinkedSite, service: str
) -> None:
    grains.policy = "default-src 'none'"
    _popup(browser, f"{grains.url}/", service)
    _press(browser, "extract", "No page could be loaded")
    reasons = [reason for path, reason in browser.run(_ROWS) if path != "/logout"]
    assert "forbidden by the page's own policy" in reasons
    assert grains.asked() == {"/"}


def test_the_service_loads_linked_pages_where_the_user_says_so(
    browser: Firefox, grains: LinkedSite, service: str
) -> None:
    page, _ = _popup(browser, f"{grains.url}/", service, source="service")
    _press(browser, "extract", "3 pages that all link each other")
    assert [state for _, state in browser.run(_ROWS)].count("voted") == 3
    browser.choose(page)
    assert not browser.run(SHOWN, "header")


def test_a_page_is_judged_by_clicking_and_exported(
    browser: Firefox, grains: LinkedSite, service: str
) -> None:
    page, _ = _popup(browser, f"{grains.url}/", service)
    _press(browser, "judge", "Click in the page")
    browser.choose(page)
    browser.click("nav a[href='/rye']")
    browser.click("[data-dehusk-part=mainContent]")
    browser.click("main p")
    browser.click("[data-dehusk-part=check]")
    browser.until(PART.replace("''", "'segments: precision'"))
    marked = "return [...document.querySelectorAll('[data-dehusk-judged]')].map(e => e.localName)"
    assert browser.run(marked) == ["a", "p"]
    browser.click("[data-dehusk-part=undo]")
    browser.until("return document.querySelectorAll('[data-dehusk-judged]').length === 1")
    assert browser.run(marked) == ["a"]
    browser.click("[data-dehusk-part=next]")  # The page is the only one in the list.
    browser.until(PART.replace("''", "'last page of the list'"))
    browser.press("\ue00c")
    browser.until("return document.querySelector('dehusk-panel') === null")
    assert browser.run(marked) == []
    browser.open(f"{HOME}/benchmark.html")
    browser.until("return document.querySelector('#pages')?.innerText.includes('1 mark')")
    exported = """return Promise.all([import('./gold.js'), import('./list.js')]).then(
        ([gold, list]) => list.judgedPages().then(
            all => [gold.filesOf(all, []), JSON.parse(gold.linesOf(all))]))"""
    files, record = browser.run(exported.replace("./", f"{HOME}/"))
    assert [name for name in files if name.endswith(".html")]
    assert any('class="TECO_notTemplate">Rye' in html for html in files.values())
    assert 'href="/rye">Rye' in record["html"]
    assert len(record["content_nodes"]) == 1


def test_the_template_opens_where_nothing_of_it_runs(
    browser: Firefox, marked: str, service: str
) -> None:
    _popup(browser, f"{marked}?11", service)
    before = set(browser.ask("WebDriver:GetWindowHandles"))
    _press(browser, "template", "The template of")
    end = time.monotonic() + 60
    while not (shown := set(browser.ask("WebDriver:GetWindowHandles")) - before):
        assert time.monotonic() < end
        time.sleep(0.05)
    browser.choose(*shown)
    browser.until("return document.getElementById('save')?.href")
    template = browser.run("return document.getElementById('shown').srcdoc")
    assert "About us" in template
    assert "poor soils" not in template
    assert browser.run("return document.getElementById('shown').getAttribute('sandbox')") == ""


def test_without_a_service_it_says_how_to_start_one(browser: Firefox, marked: str) -> None:
    _popup(browser, f"{marked}?12", "http://127.0.0.1:9")
    browser.until("return !document.getElementById('missing').hidden")
    assert "dehusk serve" in browser.run("return document.querySelector('#missing pre').innerText")


def test_addresses_agree_on_every_node_of_odd_pages_and_samples(browser: Firefox) -> None:
    samples = [str(page.page.html) for kind in KINDS for page in sample_site(kind, pages=1, seed=2)]
    collect = f"{(EXTENSION / 'page.js').read_text()}; const sent = globalThis.dehusk.collect();"
    for html in (*ODD_PAGES, *samples):
        packed = b64encode(html.encode("utf-8", "surrogatepass")).decode()
        browser.ask("WebDriver:Navigate", url=f"data:text/html;charset=utf-8;base64,{packed}")
        sent, found = browser.run(f"{collect} return [sent, globalThis.dehusk.addresses()]")
        check_addresses(found, dehusk.extract(sent["html"], method="segments"))


def test_the_viewer_toggles_and_corrects(browser: Firefox, tmp_path: Path) -> None:
    write_site(sample_site("news", pages=6, seed=3), tmp_path / "news")
    with viewer(str(tmp_path / "news"), "--method", "segments") as address:
        browser.open(address)
        browser.find(".regions button")
        frame = browser.find("#frame")
        browser.ask("WebDriver:SwitchToFrame", element=frame)
        browser.find("h1 .dehusk")
        opacity = "getComputedStyle(document.querySelector('[data-dehusk=template]')).opacity"
        browser.until(f"return {opacity} === '0.3'")
        browser.ask("WebDriver:SwitchToFrame")
        browser.press("v")
        browser.ask("WebDriver:SwitchToFrame", element=frame)
        browser.until(SHOWN.replace("!==", "==="), "[data-dehusk=template]")
        browser.click("h1 .dehusk")
        browser.ask("WebDriver:SwitchToFrame")
        browser.click("#pick .button.main")
        browser.click("#tab-rules")
        assert (
            "drop" in browser.until("return document.querySelector('.rules li')?.innerText").lower()
        )
