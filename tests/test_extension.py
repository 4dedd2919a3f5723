"""The browser extension in a real Chromium, beside a service and a sample site."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

import dehusk
from addresses import check_addresses
from axe import violations
from chromium import expect, until
from dehusk.answer.marks import marks_of
from dehusk_bench.samples import KINDS, sample_site
from dehusk_bench.samples.server import serve_site
from dehusk_bench.speed.serve import running
from extension import EXTENSION, Loaded, loaded_extension
from linked_site import ACTING, ACTS, GRAINS, ODD, SHOWS, LinkedSite, linked_site
from marked_pages import marked_pages
from odd_pages import ODD_PAGES

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def page(loaded: Loaded) -> Iterator[Any]:
    """A page that loads nothing."""
    opened = loaded.context.new_page()
    opened.route("**/*", lambda route: route.abort())
    yield opened
    opened.close()


def _addressed(page: Any, html: str) -> tuple[list[Any], dehusk.Result]:
    """What stands at each address in the browser, and dehusk's answer on what was sent."""
    page.set_content(html, wait_until="domcontentloaded")
    page.evaluate((EXTENSION / "page.js").read_text())
    sent = page.evaluate("globalThis.dehusk.collect()")
    found = page.evaluate("globalThis.dehusk.addresses()")
    return found, dehusk.extract(sent["html"], method="segments")


@pytest.mark.parametrize("kind", KINDS)
def test_addresses_agree_on_every_node_of_the_sample_pages(page: Any, kind: str) -> None:
    for sample in sample_site(kind, pages=3, seed=2):
        assert check_addresses(*_addressed(page, str(sample.page.html))) > 100


def test_addresses_agree_on_every_node_of_odd_pages(page: Any) -> None:
    assert len(ODD_PAGES) >= 50
    for html in ODD_PAGES:
        check_addresses(*_addressed(page, html))


BUILT = """<div id=app></div><script>
const [p, q, pre] = ['p', 'p', 'pre'].map((name) => document.createElement(name));
q.append('in', 'ner'); p.append('out', q, 'er', document.createComment('c'), '');
pre.append('\\n', 'line'); app.append(p, pre, 'text', '\U0001f33e');
</script>"""


def test_addresses_agree_on_what_scripts_have_built(page: Any) -> None:
    found, result = _addressed(page, BUILT)
    marks = marks_of(result)
    assert [(number, tag) for number, tag, *_ in marks["elements"]] == [
        (number, name) for number, (name, _) in enumerate(found)
    ]
    # A paragraph in a paragraph is not read so again: 'er' moves, and its length tells.
    lengths = {(number, place): length for number, place, *_, length in marks["texts"]}
    for number, (name, runs) in enumerate(found):
        for place, text in enumerate(runs):
            moved = (name, text) in (("p", "er"), ("div", "text\U0001f33e"))
            size = len(text.encode("utf-16-le")) // 2
            assert (lengths.get((number, place)) == size) != moved


def test_an_element_that_is_lost_when_it_is_read_again_has_no_verdict() -> None:
    html = "<form data-dehusk-node=1><div data-dehusk-node=2><form data-dehusk-node=3>x</form>"
    marks = marks_of(dehusk.extract(html, method="segments"))
    assert [number for number, *_ in marks["elements"]] == [1, 2]
    assert [text[:2] for text in marks["texts"]] == [[2, 0]]


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with serve_site(sample_site("docs", pages=12, seed=2)) as served:
        yield served.url


@pytest.fixture(scope="module")
def marked() -> Iterator[str]:
    with marked_pages() as url:
        yield url


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loaded]:
    with loaded_extension(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture(scope="module")
def service(site: str) -> Iterator[str]:
    """A service that has seen the sample site."""
    with running("--method", "segments") as (port, _):
        yield f"http://127.0.0.1:{port}"


def test_toggle_view_goes_from_page_to_content_to_template_and_back(
    loaded: Loaded, marked: str, service: str
) -> None:
    for number in range(5):
        page = loaded.open(f"{marked}?{number}")
        popup = loaded.popup(page, service)
        popup.click("#toggle")
        popup.wait_for_selector("#words:has-text('Content only')")
        if number < 4:
            page.close()
            popup.close()
    page.wait_for_selector("nav", state="hidden")
    page.wait_for_selector("h1")
    popup.click("#toggle")
    popup.wait_for_selector("#words:has-text('Template only')")
    page.wait_for_selector("nav")
    expect(page.locator("main")).to_have_css("opacity", "0.08")
    popup.click("#toggle")
    popup.wait_for_selector("#words:has-text('as it was')")
    page.wait_for_selector("nav")
    expect(page.locator("[data-dehusk], dehusk-text, [data-dehusk-node]")).to_have_count(0)
    page.close()
    popup.close()


def test_check_benchmark_shows_precision_recall_and_f1(
    loaded: Loaded, marked: str, service: str
) -> None:
    page = loaded.open(f"{marked}?9")
    popup = loaded.popup(page, service)
    popup.click("#benchmark")
    popup.wait_for_selector("#scores dd")
    shown = popup.locator("#scores").inner_text().split()
    assert shown[::2] == ["Precision", "Recall", "F1"]
    assert [float(value) for value in shown[1::2]] == [1.0, 1.0, 1.0]
    page.close()
    popup.close()


def test_an_unmarked_page_says_what_is_missing(loaded: Loaded, site: str, service: str) -> None:
    page = loaded.open(f"{site}/")
    popup = loaded.popup(page, service)
    popup.click("#benchmark")
    popup.wait_for_selector("#words:has-text('TECO_notTemplate')")
    page.close()
    popup.close()


def test_copy_markdown_puts_the_content_on_the_clipboard(
    loaded: Loaded, marked: str, service: str
) -> None:
    page = loaded.open(f"{marked}?10")
    page.evaluate("document.querySelector('main').append('Built by a script.')")
    popup = loaded.popup(page, service)
    popup.click("#markdown")
    popup.wait_for_selector("#words:has-text('copied')")
    copied = popup.evaluate("navigator.clipboard.readText()")
    assert "# Rye 10" in copied
    assert "Built by a script." in copied
    assert "About us" not in copied
    page.close()
    popup.close()


@pytest.fixture
def grains(marked: str) -> Iterator[LinkedSite]:
    with linked_site(away=marked.rstrip("/")) as site:
        yield site


def _loads(popup: Any) -> dict[str, str]:
    """What the popup says of each page that was loaded."""
    return dict(popup.eval_on_selector_all("#loads li", _ROWS))


_ROWS = "all => all.map(li => ['.address', '.state'].map(n => li.querySelector(n).textContent))"
_DONE = "#words:has-text('of the page is template')"


def test_extract_template_loads_linked_pages_with_the_session_where_the_user_says_so(
    loaded: Loaded, grains: LinkedSite, service: str
) -> None:
    grains.is_open = False
    page = loaded.open(grains.url)
    popup = loaded.popup(page, service, source="session")
    popup.click("#extract")
    popup.wait_for_selector(_DONE)
    assert popup.inner_text("#words").startswith("3 pages that all link each other; 4 pages loaded")
    voted = [path for path, state in _loads(popup).items() if state == "voted"]
    assert len(voted) == 3
    assert set(voted) <= {f"/{name}" for name in GRAINS}
    assert all(status in (200, 302) for _, status in grains.requests)
    page.wait_for_selector("nav", state="hidden")
    page.wait_for_selector("h1")
    popup.click("#toggle")
    popup.wait_for_selector("#words:has-text('Template only')")
    page.wait_for_selector("nav")
    popup.click("#toggle")
    popup.wait_for_selector("#words:has-text('as it was')")
    expect(page.locator("[data-dehusk], dehusk-text, [data-dehusk-node]")).to_have_count(0)
    asked = len(grains.requests)
    popup.click("#toggle")  # What was extracted is still there.
    popup.wait_for_selector("#words:has-text('Content only')")
    page.wait_for_selector("nav", state="hidden")
    assert len(grains.requests) == asked
    popup.click("#markdown")
    popup.wait_for_selector("#words:has-text('copied')")
    assert popup.evaluate("navigator.clipboard.readText()").startswith("# How Emmer is grown")
    with loaded.context.expect_page() as opened:
        popup.click("#template")
    opened.value.wait_for_selector("#words:has-text('3 pages that all link each other')")
    opened.value.frame_locator("#shown").get_by_text("The Grain Almanac").wait_for()
    for one in (page, popup, opened.value):
        one.close()


def test_links_that_cannot_be_loaded_say_why(
    loaded: Loaded, grains: LinkedSite, service: str
) -> None:
    page = loaded.open(grains.url)
    popup = loaded.popup(page, service, size=8)
    popup.click("#extract")
    popup.wait_for_selector(_DONE)
    reasons = {path: state for path, state in _loads(popup).items() if state != "voted"}
    assert reasons.pop("/away").startswith("cannot be reached, or leads to another origin")
    assert reasons == {
        "/gone": "status 404",
        "/paper.pdf": "not HTML: application/pdf",
        "/logout": "not followed: it may do something",
        "/long": "more than 4 MB",
    }
    assert "5 do; 6 pages loaded, 2 of 5 pages must have a node" in popup.inner_text("#words")
    assert "/old/" in grains.asked()
    assert "/logout" not in grains.asked()
    page.close()
    popup.close()


def test_without_a_word_of_the_user_nothing_is_loaded_with_the_session(
    loaded: Loaded, grains: LinkedSite, service: str
) -> None:
    grains.is_open = False
    page = loaded.open(grains.url)
    popup = loaded.popup(page, service)
    popup.click("#extract")
    popup.wait_for_selector("#words:has-text('No page could be loaded')")
    assert "status 403" in _loads(popup).values()
    assert {status for path, status in grains.requests if path != "/"} == {403}
    page.close()
    popup.close()


def test_no_redirect_is_followed_with_the_session(
    loaded: Loaded, grains: LinkedSite, service: str
) -> None:
    grains.is_open = False
    page = loaded.open(grains.url)
    popup = loaded.popup(page, service, source="session", size=8)
    popup.click("#extract")
    popup.wait_for_selector(_DONE)
    words = "leads elsewhere: not followed with your session"
    assert {_loads(popup)[path] for path in ("/old", "/away")} == {words}
    assert "/old/" not in grains.asked()
    asked = [path for path, _ in grains.requests if path != "/"]
    assert len(asked) == len(set(asked))
    page.close()
    popup.close()


@pytest.mark.parametrize("source", ["browser", "session"])
def test_links_that_may_do_something_are_never_asked_for(
    loaded: Loaded, grains: LinkedSite, service: str, source: str
) -> None:
    grains.links = "".join(f"<li>{link}</li>" for link in ACTING)
    page = loaded.open(grains.url)
    popup = loaded.popup(page, service, source=source, size=8, maxLoads=40)
    popup.click("#extract")
    popup.wait_for_selector(_DONE)
    refused = [state for state in _loads(popup).values() if state.startswith("not followed")]
    assert len(refused) == len(ACTING) + 1
    assert grains.asked() <= {"/", "/old/", *(f"/{name}" for name in (*GRAINS, *ODD))}
    page.close()
    popup.close()


def test_links_are_told_from_acts_by_their_words(page: Any) -> None:
    script = """all => all.filter(path => {
        const place = new URL(path, 'http://grain.example').href;
        return (globalThis.dehusk.whyNot(place) ?? '').startsWith('not followed') === false })"""
    page.route("http://grain.example/", lambda route: route.fulfill(body="<p>", status=200))
    page.goto("http://grain.example/")
    page.evaluate("globalThis.dehusk = {}")
    page.evaluate((EXTENSION / "links.js").read_text())
    assert page.evaluate(script, list(ACTS)) == []
    assert page.evaluate(script, list(SHOWS)) == list(SHOWS)
    telling = """html => globalThis.dehusk.tellingLinks(
        new DOMParser().parseFromString(html, 'text/html'), 'http://grain.example/a/b')"""
    html = "<base href=/c/><a href=d data-method=post>D</a><a href=e>E</a><a href='?f'>Buy</a>"
    assert page.evaluate(telling, html) == ["/c/d", "/c/?f"]


def test_no_more_pages_are_loaded_than_allowed(
    loaded: Loaded, grains: LinkedSite, service: str
) -> None:
    page = loaded.open(grains.url)
    popup = loaded.popup(page, service, size=8, maxLoads=4)
    popup.click("#extract")
    popup.wait_for_selector(_DONE)
    assert len(_loads(popup)) == 3
    page.close()
    popup.close()


@pytest.fixture(scope="module")
def fetching() -> Iterator[str]:
    """A service that loads pages itself, from this machine too."""
    with running(
        "--method", "segments", "--fetch", "--allow-private", "127.0.0.1", "--delay", "0"
    ) as (port, _):
        yield f"http://127.0.0.1:{port}"


def test_the_service_loads_linked_pages_where_the_user_says_so(
    loaded: Loaded, site: str, fetching: str
) -> None:
    page = loaded.open(f"{site}/")
    popup = loaded.popup(page, fetching, source="service")
    assert not popup.is_visible("#unfetched")
    popup.click("#extract")
    popup.wait_for_selector(_DONE)
    assert popup.inner_text("#words").startswith("3 pages that all link each other")
    assert list(_loads(popup).values()).count("voted") == 3
    page.wait_for_selector("html[data-dehusk-view=content]")
    page.close()
    popup.close()


def test_a_service_that_fetches_nothing_says_how_to_start_one_that_does(
    loaded: Loaded, grains: LinkedSite, service: str
) -> None:
    page = loaded.open(grains.url)
    popup = loaded.popup(page, service, source="service")
    popup.click("#extract")
    popup.wait_for_selector("#words:has-text('dehusk serve --fetch')")
    popup.click("#extraction summary")
    popup.wait_for_selector("#unfetched")
    expect(popup.locator("#extract")).to_be_enabled()
    page.close()
    popup.close()


def test_an_extraction_without_a_service_says_how_to_start_one(
    loaded: Loaded, grains: LinkedSite
) -> None:
    page = loaded.open(grains.url)
    popup = loaded.popup(page, "http://127.0.0.1:9")
    popup.wait_for_selector("#missing")
    popup.click("#extract")
    popup.wait_for_selector("#missing")
    assert grains.asked() == {"/"}
    page.close()
    popup.close()


def test_an_extraction_can_be_stopped(loaded: Loaded, grains: LinkedSite, service: str) -> None:
    grains.free.clear()
    page = loaded.open(grains.url)
    popup = loaded.popup(page, service, size=8)
    popup.click("#extract")
    popup.wait_for_selector("#loads li:has-text('loading')")
    popup.click("#stop")
    popup.wait_for_selector("#words:has-text('Stopped')")
    grains.free.set()
    expect(popup.locator("#extract")).to_be_enabled()
    page.wait_for_selector("nav")
    page.close()
    popup.close()


@pytest.mark.parametrize("source", ["browser", "service"])
def test_an_extraction_outlives_the_worker_of_the_extension(
    loaded: Loaded, grains: LinkedSite, fetching: str, source: str
) -> None:
    grains.free.clear()
    page = loaded.open(grains.url)
    popup = loaded.popup(page, fetching, source=source)
    popup.click("#extract")
    popup.wait_for_selector("#loads li:has-text('loading')")
    popup.close()
    loaded.end_worker()
    grains.free.set()
    page.wait_for_selector("html[data-dehusk-view=content]")
    page.wait_for_selector("nav", state="hidden")
    page.close()


def test_an_extraction_goes_on_when_the_popup_is_closed(
    loaded: Loaded, grains: LinkedSite, service: str
) -> None:
    page = loaded.open(grains.url)
    popup = loaded.popup(page, service, size=8)
    popup.click("#extract")
    popup.wait_for_selector("#loads li")
    popup.close()
    popup = loaded.popup(page, service)
    popup.wait_for_selector(_DONE)
    assert len(_loads(popup)) == len(GRAINS) + len(ODD)
    page.close()
    popup.close()


def test_a_page_without_links_is_judged_alone_and_says_so(
    loaded: Loaded, grains: LinkedSite, service: str
) -> None:
    page = loaded.open(f"{grains.url}/alone")
    popup = loaded.popup(page, service)
    popup.click("#extract")
    popup.wait_for_selector("#words:has-text('links no other page of its site')")
    page.wait_for_selector("html[data-dehusk-view=content]")
    assert page.is_visible("main p")
    page.close()
    popup.close()


def test_settings_of_the_extraction_are_kept_within_bounds(
    loaded: Loaded, grains: LinkedSite, service: str
) -> None:
    page = loaded.open(grains.url)
    popup = loaded.popup(page, service)
    popup.click("#extraction summary")
    for name, value in {"size": "2", "votes": "7", "maxLoads": "999"}.items():
        popup.fill(f"#{name}", value)
        popup.press(f"#{name}", "Tab")
    popup.check("input[value=service]")
    until(
        popup,
        "() => chrome.storage.local.get('source').then(kept => kept.source === 'service')",
    )
    popup.close()
    popup = loaded.context.new_page()
    popup.goto(f"{loaded.home}/popup.html?tab=0")
    popup.wait_for_selector("input[value=service]:checked", state="attached")
    kept = popup.evaluate("chrome.storage.local.get(['size', 'votes', 'maxLoads', 'source'])")
    assert kept == {"size": 2, "votes": 2, "maxLoads": 25, "source": "service"}
    page.close()
    popup.close()


def test_the_template_opens_where_nothing_of_it_runs(
    loaded: Loaded, marked: str, service: str
) -> None:
    page = loaded.open(f"{marked}?11")
    popup = loaded.popup(page, service)
    with loaded.context.expect_page() as opened:
        popup.click("#template")
    shown = opened.value
    shown.wait_for_selector("#save[href]")
    assert shown.get_attribute("#shown", "sandbox") == ""
    body = shown.frame_locator("#shown").locator("body")
    body.get_by_text("About us").first.wait_for()  # The frame is filled after the page is there.
    template = body.inner_text()
    assert "poor soils" not in template
    for one in (page, popup, shown):
        one.close()


def test_without_a_service_it_says_how_to_start_one(loaded: Loaded, marked: str) -> None:
    page = loaded.open(f"{marked}?12")
    popup = loaded.popup(page, "http://127.0.0.1:9")
    popup.wait_for_selector("#missing:not([hidden])")
    assert "dehusk serve" in popup.text_content("#missing pre")
    popup.click("#toggle")
    popup.wait_for_selector("#missing:not([hidden])")
    page.close()
    popup.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_against_its_pages(loaded: Loaded, marked: str, scheme: str) -> None:
    page = loaded.open(f"{marked}?14")
    popup = loaded.popup(page, "http://127.0.0.1:9")
    popup.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    others = [loaded.open(f"{loaded.home}/{name}.html") for name in ("template", "benchmark")]
    for opened in (popup, *others):
        opened.emulate_media(color_scheme=scheme)
        assert violations(opened) == []
        opened.close()
    page.close()


def test_another_service_at_the_address_is_told_apart(loaded: Loaded, marked: str) -> None:
    page = loaded.open(f"{marked}?13")
    popup = loaded.popup(page, marked.rstrip("/"))
    popup.wait_for_selector("#words:has-text('is not dehusk')")
    page.close()
    popup.close()


def test_the_manifest_asks_for_no_more_than_it_needs() -> None:
    manifest = json.loads((EXTENSION / "manifest.json").read_text())
    assert manifest["manifest_version"] == 3
    assert manifest["version"] == dehusk.__version__
    assert set(manifest["permissions"]) == {
        "activeTab",
        "clipboardWrite",
        "scripting",
        "storage",
        "unlimitedStorage",
    }
    assert all("127.0.0.1" in host or "localhost" in host for host in manifest["host_permissions"])
    policy = manifest["content_security_policy"]["extension_pages"]
    assert policy.startswith("default-src 'none'; script-src 'self';")
    assert "connect-src http://127.0.0.1:* http://localhost:*;" in policy
    background = manifest["background"]
    assert background["service_worker"] == background["scripts"][0]
    for path in EXTENSION.rglob("*.js"):
        named = re.findall(r"https?://[^\s\"'`]+", path.read_text())
        assert set(named) <= {"http://127.0.0.1:8100"}
