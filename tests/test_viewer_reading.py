"""The viewer as it is read: on a phone, searched, Markdown rendered, a site as a whole."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from http.client import HTTPConnection
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from markdown_it import MarkdownIt

import dehusk
from axe import violations
from chromium import PATIENT, chromium, expect, show, viewer
from dehusk.doors.cli import main
from dehusk_bench.samples import sample_site, write_site
from dehusk_bench.speed.serve import running

pytestmark = pytest.mark.slow

PHONE = {"width": 390, "height": 844}
TABS = ("why", "markdown", "compare", "template", "links", "rules", "site")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("view")
    write_site(sample_site("news", pages=12, seed=3), made / "news")
    write_site(sample_site("docs", pages=6, seed=3), made / "docs")
    return made


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    memory = ["--memory", str(folder / "a.husk"), "--method", "auto"]
    with viewer(str(folder / "news"), str(folder / "docs"), *memory) as found:
        yield found


def _open(browser: Any, address: str, **options: Any) -> Any:
    page = browser.new_page(**options)
    show(page, address)
    return page


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    opened = _open(browser, address, viewport={"width": 1280, "height": 800})
    faults: list[str] = []
    opened.on("pageerror", lambda fault: faults.append(str(fault)))
    yield opened
    assert faults == []
    opened.close()


@pytest.fixture
def phone(browser: Any, address: str) -> Iterator[Any]:
    opened = _open(browser, address, viewport=PHONE, has_touch=True, is_mobile=True)
    yield opened
    opened.close()


def _show(page: Any, tab: str) -> None:
    page.click(f"#tab-{tab}")
    page.wait_for_selector(f"#panel[data-shown^='{tab} ']", state="attached")


def _tap(phone: Any, screen: str) -> None:
    phone.tap(f"#screen-{screen}")
    expect(phone.locator("body")).to_have_attribute("data-screen", screen)


def test_a_phone_shows_one_screen_at_a_time_and_the_chosen_tab_in_view(phone: Any) -> None:
    shown = ["#pages", "#frame", "#panel"]
    assert [phone.is_visible(name) for name in shown] == [False, True, False]
    _tap(phone, "findings")
    assert [phone.is_visible(name) for name in shown] == [False, False, True]
    for tab in TABS:
        _show(phone, tab)
        box = phone.locator(f"#tab-{tab}").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= PHONE["width"]
        wide = phone.evaluate("document.documentElement.scrollWidth")
        assert wide <= PHONE["width"], tab
    _tap(phone, "pages")
    phone.tap("#pages button >> nth=2")
    expect(phone.locator("#frame")).to_be_visible()


def test_a_finger_can_meet_what_is_pressed_on_a_phone(phone: Any) -> None:
    for screen in ("pages", "findings"):
        _tap(phone, screen)
        small = phone.evaluate(
            """() => [...document.querySelectorAll('button, select, input')].filter((node) => {
                 const box = node.getBoundingClientRect();
                 return box.height && node.checkVisibility() && box.height < 30;
               }).map((node) => node.outerHTML.slice(0, 80))"""
        )
        assert small == []


def test_pages_are_found_by_words_of_title_and_address(page: Any) -> None:
    page.keyboard.press("/")
    page.keyboard.type("article/1 EXAMPLE")
    expect(page.locator("#search")).to_have_value("article/1 EXAMPLE")
    visible = page.locator("#pages button:visible")
    expect(page.locator("#search-words")).to_have_text(re.compile("[0-9]+ pages? found"))
    assert 0 < visible.count() < 12
    titles = visible.evaluate_all("rows => rows.map((row) => row.title)")
    assert all("article/1" in title for title in titles)
    page.fill("#search", "nothing is called like this")
    expect(page.locator("#search-words")).to_have_text("0 pages found")
    expect(visible).to_have_count(0)
    page.fill("#search", "")
    expect(visible).to_have_count(12)


def test_markdown_is_shown_rendered_and_raw(page: Any) -> None:
    _show(page, "markdown")
    raw = page.text_content("#panel > pre")
    page.click("#markdown-rendered")
    page.wait_for_selector("#panel .rendered")
    assert page.get_attribute("#markdown-rendered", "aria-pressed") == "true"
    heading = page.text_content("#panel .rendered .level-1")
    assert f"# {heading}" in raw
    assert page.locator("#panel .rendered p").count() > 2
    page.click("#markdown-raw")
    page.wait_for_selector("#panel > pre")


_RENDER = """async ([source, texts]) => {
  const module = source.replace(/^import .*$/m, `
    const el = (name, properties = {}, ...children) => {
      const made = document.createElement(name);
      if (properties.class) made.className = properties.class;
      made.append(...children.filter((child) => child !== null));
      return made;
    };`);
  const url = URL.createObjectURL(new Blob([module], { type: 'text/javascript' }));
  const { rendered } = await import(url);
  return texts.map((text) => {
    const made = rendered(text);
    const all = (name) => [...made.querySelectorAll(name)].map(
      (node) => node.textContent.replace(/\\s+/g, ''));
    return [all('[class^=level]'), all('li'), all('td, th'), all('pre'), all(':not(pre) > code'),
            all('strong'), all('em'), all('.link'), made.textContent.replace(/\\s+/g, '')];
  });
}"""


def _read(markdown: str) -> list[Any]:
    """The same of another reader of Markdown."""
    from turbohtml import parse  # noqa: PLC0415

    html = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(markdown)
    document = parse(html)

    def every(names: str) -> list[str]:
        return ["".join(node.text.split()) for node in document.select(names)]

    names = ("h1, h2, h3, h4, h5, h6", "li", "td, th", "pre", ":not(pre) > code", "strong", "em")
    whole = "".join(document.select("body")[0].text.split())
    return [*map(every, names), every("a"), whole]


def _source() -> str:
    return files("dehusk.doors.service").joinpath("static/markdown.js").read_text(encoding="utf-8")


_ODD = (
    "- one\n- two\n  - three\n\n    four\n- five\n", "1. a\n2. b\n\n   c\n3. d", "> a\n> > b\n\nc",
    "***both*** and **bold *in* it** and _so_ snake_case and 2 * 3 * 4",
    "`` a ` b `` and \\*not\\*",
    "| a | b |\n| --- | ---: |\n| x \\| y | **z** |\n", "```py\nif a < b:\n    *c*\n```\n\nend",
    "[a *b* c](https://x.example/(y)) [not a link] [half](", "# *H* `c`\n\ntext\nmore  \nbreak",
    "See <https://x.example/a_b*c> or a < b and c > d",
    "~~gone~~ ** not ** \\[x\\]", "- - a\n  - b",
)  # fmt: skip


def test_markdown_is_read_as_others_read_it(browser: Any) -> None:
    texts = list(_ODD)
    for kind in ("news", "docs", "shop", "forum"):
        site = dehusk.Site()
        pages = sample_site(kind, pages=4, seed=5)
        texts += [site.add(one.page).markdown for one in pages]
    opened = browser.new_page()
    found = opened.evaluate(_RENDER, [_source(), texts])
    opened.close()
    for text, told in zip(texts, found, strict=True):
        if "![" in text:
            told, expected = told[:8], _read(text)[:8]  # noqa: PLW2901  an alternative text is shown
        else:
            expected = _read(text)
        assert told == expected, text


_LONG = [
    "*" * 100_000, "[" * 100_000, "`" * 999 + " `" * 50_000, "> " * 50_000, "- " * 50_000,
    "*a " * 50_000, "[a](" * 25_000, "_a_" * 40_000, "$" * 99_999, "![" * 50_000 + "](" * 50_000,
    "~~a" * 30_000, "\n".join(" " * (n % 40) + "- a" for n in range(20_000)),
    "| a |\n| - |\n" + "| b |\n" * 20_000,
]  # fmt: skip


def test_no_markdown_takes_the_browser_long(browser: Any) -> None:
    opened = browser.new_page()
    opened.set_default_timeout(PATIENT)
    took_ms = opened.evaluate(
        f"async (given) => {{ const began = performance.now(); await ({_RENDER})(given);"
        " return performance.now() - began; }",
        [_source(), _LONG],
    )
    opened.close()
    assert took_ms < 30_000


def test_hostile_markdown_becomes_no_markup(browser: Any) -> None:
    evil = "[x](javascript:alert(1)) ![y](https://evil.example/i.png) <img src=x onerror=alert(1)>"
    source = _source().replace('import { el } from "./dom.js";', "")
    dom = files("dehusk.doors.service").joinpath("static/dom.js").read_text(encoding="utf-8")
    opened = browser.new_page()
    asked: list[str] = []
    opened.on("request", lambda request: asked.append(request.url))
    html = opened.evaluate(
        """async ([source, text]) => {
             const url = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
             const { rendered } = await import(url);
             document.body.append(rendered(text));
             return document.body.innerHTML;
           }""",
        [f"{dom}\n{source}", f"# {evil}\n\n{evil}\n\n- {evil}\n\n| {evil} |\n| --- |\n| {evil} |"],
    )
    opened.close()
    assert "<img" not in html
    assert "href" not in html
    assert not [url for url in asked if url.startswith("http")]


_ASKED = {
    "pages": 12, "share": 0.5, "words_before": 10, "words_after": 5, "tokens_saved": 3,
    "confidence": None, "unsure_pages": [],
    "questions": [
        {"selector": f".q{n}", "pages": 3, "kept_pages": 1, "score": 0.5,
         "examples": [{"url": None, "text": "<b>Quoted</b>"}]} for n in range(2)
    ],
}  # fmt: skip


def test_the_site_tab_shows_savings_and_answers_become_rules(page: Any) -> None:
    _show(page, "site")
    figures = page.locator("#panel .figures b").all_text_contents()
    before, after, saved = (int(figure.replace(",", "")) for figure in figures[:3])
    assert before > after > 0
    assert saved > 0
    page.route("**/api/site?*", lambda route: route.fulfill(json=_ASKED))
    _show(page, "why")
    _show(page, "site")
    page.wait_for_selector(".questions li >> nth=1")
    assert page.text_content(".questions blockquote") == "<b>Quoted</b>"
    page.click(".questions li:first-child button:has-text('Skip')")
    page.wait_for_selector(".questions li >> nth=1", state="detached")
    page.click(".questions button:has-text('Drop')")
    _show(page, "rules")
    page.wait_for_selector(".rules li")
    assert page.text_content(".rules li code") == ".q1"
    page.click(".rules li button")
    page.wait_for_selector(".rules li", state="detached")


def _ask(address: str, path: str) -> Any:
    connection = HTTPConnection(urlsplit(address).netloc, timeout=PATIENT / 1000)
    connection.request("GET", path)
    found = json.loads(connection.getresponse().read())
    connection.close()
    return found


def _write(folder: Path, pages: Iterable[tuple[str, str]]) -> str:
    lines = (json.dumps({"url": url, "html": html, "site": "odd"}) for url, html in pages)
    (folder / "pages.jsonl").write_text("\n".join(lines))
    return str(folder / "pages.jsonl")


def test_a_site_is_looked_at_bit_by_bit_and_says_how_far_it_is(
    browser: Any, tmp_path: Path
) -> None:
    html = "<title>Title {0}</title><nav>Home News</nav><h1>Rye</h1><p>In {0} it rained.</p>"
    source = _write(tmp_path, [(f"https://x.example/{n}", html.format(n)) for n in range(31)])
    with viewer(source) as address:
        first, second = (_ask(address, "/api/site?site=odd") for _ in range(2))
        assert first == {"pages": 31, "looked": 24}
        assert second["looked"] == 31
        assert second["words_before"] > second["words_after"] > 30
        opened = _open(browser, address)
        _show(opened, "site")
        expect(opened.locator("#panel")).to_contain_text("31 pages of odd")
        opened.close()


def test_pages_to_look_at_are_told_apart_even_if_they_share_a_url(tmp_path: Path) -> None:
    links = "".join(f"<li><a href=/{n}>Link {n}</a>" for n in range(9))
    pages = [("https://x.example/", f"<title>T{n}</title><ul>{links}") for n in range(3)]
    with viewer(_write(tmp_path, pages)) as address:
        unsure = _ask(address, "/api/site?site=odd")["unsure_pages"]
    assert sorted((page["page"], page["title"]) for page in unsure) == [
        (number, f"T{number}") for number in range(3)
    ]


def test_text_from_right_to_left_long_names_and_empty_pages_fit_a_phone(
    browser: Any, tmp_path: Path
) -> None:
    long = "Longword" * 20
    arabic = "<main><h1>محصول القمح {0}</h1><p>في عام {0} تم حصاد القمح قبل المطر.</p></main>"
    pages = [(f"https://x.example/ar/{n}", arabic.format(n)) for n in range(4)]
    pages += [(f"https://x.example/{long * 9}", f"<title>{long}</title><h1>{long}</h1><p>{long}")]
    pages += [("https://x.example/app", "<title>App</title><div id=root></div><script>1</script>")]
    with viewer(_write(tmp_path, pages)) as address:
        opened = _open(browser, address, viewport=PHONE)
        for number in (0, 4, 5):
            opened.goto(f"{address}/#{number}")
            opened.reload()
            opened.wait_for_selector("#panel[data-shown^='why ']", state="attached")
            opened.click("#screen-findings")
            for tab in TABS:
                _show(opened, tab)
                wide = opened.evaluate("[document.documentElement, panel].map(e => e.scrollWidth)")
                assert max(wide) <= PHONE["width"], (number, tab)
                assert violations(opened) == [], (number, tab)
            _show(opened, "why")
            if number == 0:
                expect(opened.locator(".regions .text").first).to_have_css("direction", "rtl")
            if number == 5:
                expect(opened.locator("#panel")).to_contain_text("--render")
        opened.close()


def test_skipping_all_questions_does_not_say_that_there_are_none(page: Any) -> None:
    page.route("**/api/site?*", lambda route: route.fulfill(json=_ASKED))
    _show(page, "site")
    for _ in range(2):
        page.click(".questions li:first-child button:has-text('Skip')")
    expect(page.locator("#panel")).to_contain_text("You have skipped all of them")


def test_in_the_template_view_all_content_is_a_box(browser: Any, tmp_path: Path) -> None:
    for number in range(6):
        html = (
            "<nav>Home News About Contact</nav><ul><li>Home</li>"
            f"<li>Sacks of rye {number * 7} in the barn</li></ul>"
            f"<table><tr><td>Sold by us</td><td>Oats of {number * 13} fields</td></tr></table>"
        )
        (tmp_path / f"{number}.html").write_text(html)
    with viewer(str(tmp_path), "--method", "segments") as address:
        opened = _open(browser, address)
        opened.keyboard.press("3")
        frame = opened.frame_locator("#frame")
        for text in ("Sacks of rye", "Oats of"):
            box = frame.locator(f"[data-dehusk=content]:has-text('{text}')").first
            expect(box).to_have_css("outline-style", "dashed")
            expect(box).to_have_css("visibility", "visible")
        opened.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_against_the_viewer(browser: Any, address: str, scheme: str) -> None:
    opened = _open(browser, address, color_scheme=scheme)
    found: dict[str, list[str]] = {}
    for tab in TABS:
        _show(opened, tab)
        if tab == "markdown":
            opened.click("#markdown-rendered")
            opened.wait_for_selector("#panel .rendered")
        found[tab] = violations(opened)
    opened.keyboard.press("?")
    opened.wait_for_selector("#help[open]")
    found["help"] = violations(opened)
    opened.close()
    assert {tab: told for tab, told in found.items() if told} == {}


def test_axe_finds_nothing_against_the_viewer_on_a_phone(phone: Any) -> None:
    for screen in ("pages", "page", "findings"):
        _tap(phone, screen)
        assert violations(phone) == []


def test_axe_finds_nothing_against_the_page_of_the_service(browser: Any) -> None:
    with running("--method", "segments") as (port, _pid):
        for scheme, width in (("light", 1200), ("dark", 390)):
            opened = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 800})
            opened.goto(f"http://127.0.0.1:{port}/")
            assert opened.evaluate("document.documentElement.scrollWidth") <= width
            assert violations(opened) == []
            opened.close()


def test_axe_finds_nothing_against_a_report(browser: Any, folder: Path) -> None:
    sources = [str(folder / "news"), str(folder / "docs")]
    assert main(["report", *sources, "-o", str(folder / "site.html")]) == 0
    for scheme, width in (("light", 1200), ("dark", 390)):
        opened = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 800})
        opened.goto((folder / "site.html").as_uri())
        assert opened.evaluate("document.documentElement.scrollWidth") <= width
        assert violations(opened) == []
        opened.close()
