"""`POST /v1/linked`: the template of a page by the pages that it links, a step at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any

import pytest

from dehusk.methods.papers.hyperlink import Hyperlink, normal_url
from dehusk.page.page import Page
from dehusk.page.parse import ParsedPage, parse
from dehusk.page.tree import Tree
from dehusk.settings import Limits
from dehusk.template.linked import Linked, Wanted, linked_answer
from dehusk.template.templates import PageLoader, template_of
from dehusk_bench.speed.serve import running

pytest.importorskip("fastapi", reason="the extra serve is not installed")

JSON = {"Content-Type": "application/json"}
pytestmark = pytest.mark.slow

HOST = "https://grain.example"
NAMES = ("rye", "oats", "wheat", "barley", "spelt")


def html_of(name: str, menu: str = "") -> str:
    """A page of a site whose pages all link each other."""
    links = "".join(f'<li><a href="/{other}">{other}</a></li>' for other in NAMES)
    text = " ".join(f"{name} {word}" for word in ("grows", "is sown", "is cut", "is eaten"))
    return (
        f'<body data-dehusk-node="0"><ul data-dehusk-node="1">{links}{menu}</ul>'
        f'<h1 data-dehusk-node="2">On {name}</h1><p data-dehusk-node="3">{text}.</p>'
        '<footer data-dehusk-node="4">All about grain</footer></body>'
    )


SITE = {f"{HOST}/{name}": html_of(name) for name in NAMES}
KEY = {"html": SITE[f"{HOST}/rye"], "url": f"{HOST}/rye"}


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with running("--method", "segments", "--workers", "1", "--max-body", "3000000") as (port, _):
        yield port


def ask(port: int, body: dict[str, Any]) -> tuple[int, Any]:
    """Status and answer of one step."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("POST", "/v1/linked", json.dumps(body), JSON)
    answer = connection.getresponse()
    found = answer.status, json.loads(answer.read())
    connection.close()
    return found


def drive(port: int, site: dict[str, str], **body: Any) -> tuple[Any, list[str]]:
    """The last answer, and what was asked for on the way."""
    wanted: list[str] = []
    body = {"page": KEY, "pages": [], "failed": []} | body
    while True:
        status, answer = ask(port, body)
        assert status == 200, answer
        if answer["wanted"] is None:
            return answer, wanted
        url = answer["wanted"]
        assert url not in wanted
        wanted.append(url)
        if url in site:
            body["pages"].append({"url": url, "html": site[url]})
        else:
            body["failed"].append(url)


def test_the_steps_lead_to_the_answer_of_the_method(port: int) -> None:
    answer, wanted = drive(port, SITE)
    assert (answer["outcome"], answer["asked"], answer["needed"]) == ("found", 3, 2)
    assert len(wanted) == 3
    assert answer["loads"] == 4
    assert answer["loaded"] == [{"url": url, "state": "voted"} for url in wanted]
    assert answer["message"].startswith("3 pages that all link each other; 4 pages loaded")
    assert answer["markdown"].startswith("# On rye\n\nrye grows")
    assert "All about grain" in answer["template"]
    assert "rye grows" not in answer["template"]
    labels = {number: label for number, _tag, label, *_ in answer["elements"]}
    assert [labels[n] for n in (1, 2, 3, 4)] == ["template", "content", "content", "template"]
    pages = [Page(html, url) for url, html in SITE.items()]
    library = template_of(
        pages[0], pages[1:], method="hyperlink", equality="text", loader=PageLoader(pages)
    )
    assert answer["markdown"] == library.result.markdown


def test_a_page_with_marks_is_scored_and_judged_as_without_them(port: int) -> None:
    plain, _ = drive(port, SITE)
    assert "benchmark" not in plain
    marked = KEY["html"].replace("<h1 ", "<h1 class=TECO_notTemplate ")
    marked = marked.replace("<p ", "<p class=TECO_notTemplate ")
    answer, _ = drive(port, SITE, page=KEY | {"html": marked})
    assert answer.pop("benchmark")["template"] == {"precision": 1.0, "recall": 1.0, "f1": 1.0}
    assert answer == plain


def test_the_graph_has_the_key_page_first_and_the_links_between_all(port: int) -> None:
    answer, wanted = drive(port, SITE)
    graph = answer["graph"]
    assert graph["urls"] == [KEY["url"], *wanted]
    assert graph["voters"] == 3
    assert sorted(map(tuple, graph["links"])) == [
        (one, other) for one in range(4) for other in range(4) if one != other
    ]


def test_links_that_lead_nowhere_count_and_are_told(port: int) -> None:
    gone = {url: html for url, html in SITE.items() if not url.endswith(("oats", "wheat"))}
    answer, wanted = drive(port, gone)
    states = {load["url"]: load["state"] for load in answer["loaded"]}
    assert states[f"{HOST}/oats"] == states[f"{HOST}/wheat"] == "failed"
    assert (answer["outcome"], answer["needed"]) == ("smaller", 2)
    assert len(wanted) == 4
    assert "2 links could not be used" in answer["message"]
    answer, wanted = drive(port, {}, max_loads=3)
    assert (answer["outcome"], len(wanted), answer["loads"]) == ("no_pages", 2, 1)
    assert answer["message"].endswith(
        ": no more than 3 pages are asked for; try a higher max_loads"
    )


def test_what_a_loaded_page_lacks_is_said(port: int) -> None:
    copy = SITE[f"{HOST}/rye"]
    bad = {**SITE, f"{HOST}/oats": "%PDF-1.7", f"{HOST}/wheat": copy}
    answer, _ = drive(port, bad)
    reasons = {load["url"]: load.get("reason") for load in answer["loaded"]}
    assert reasons[f"{HOST}/wheat"] == "it is the page itself"
    assert reasons[f"{HOST}/oats"]
    away = [{"url": f"{HOST}/oats", "html": html_of("oats"), "location": "https://a.example/"}]
    _, answer = ask(port, {"page": KEY, "pages": away, "failed": [*SITE], "size": 1, "votes": 1})
    told = {load["url"]: load.get("reason") for load in answer["loaded"]}
    assert told[f"{HOST}/oats"] == "it leads to another site"


def test_who_keeps_the_trees_has_each_page_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str | None] = []

    def noted(page: Page, limits: Limits) -> ParsedPage:
        parsed.append(page.url)
        return parse(page, limits)

    monkeypatch.setattr("dehusk.template.linked.parse", noted)
    key, pages, trees = Page(KEY["html"], KEY["url"]), dict[str, Page](), dict[str, Tree]()
    while isinstance(answer := linked_answer(key, pages, {}, Hyperlink(), trees=trees), Wanted):
        pages[answer.url] = Page(SITE[answer.url], answer.url)
    assert sorted(parsed, key=str) == sorted(pages)
    plain = linked_answer(key, pages, {}, Hyperlink())
    assert isinstance(plain, Linked)
    assert plain.result.text == answer.result.text


@pytest.mark.parametrize("equality", ["text", "paper"])
def test_numbers_of_elements_make_no_difference(equality: str) -> None:
    plain = {url: re.sub(' data-dehusk-node="."', "", html) for url, html in SITE.items()}
    pages = {url: Page(html, url) for url, html in plain.items()}
    found = [
        linked_answer(Page(html, KEY["url"]), pages, {}, Hyperlink(equality=equality))
        for html in (KEY["html"], plain[KEY["url"]])
    ]
    one, other = (each.detection for each in found if isinstance(each, Linked))
    assert one.votes.tolist() == other.votes.tolist()
    assert one.is_template.tolist() == other.is_template.tolist()


def test_a_page_without_links_is_answered_at_once(port: int) -> None:
    key = {"html": "<p>Rye grows here.</p>", "url": f"{HOST}/"}
    status, answer = ask(port, {"page": key})
    assert (status, answer["outcome"], answer["loaded"]) == (200, "no_links", [])
    assert answer["graph"] == {"urls": [f"{HOST}/"], "voters": 0, "links": []}
    assert "links no other page" in answer["message"]


def test_ten_thousand_links_are_no_more_than_max_loads(port: int) -> None:
    links = "".join(f"<a href=/{n}>{n}</a> " for n in range(10_000))
    answer, wanted = drive(port, {}, page={"html": links, "url": f"{HOST}/"}, max_loads=10)
    assert len(wanted) == 9
    assert answer["outcome"] == "no_pages"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "page: "),
        ({"page": {"html": "<p>"}}, "page.url: "),
        ({"page": {"url": f"{HOST}/"}}, "page.html: "),
        ({"page": KEY, "colour": 1}, "colour: "),
        ({"page": KEY | {"charset": "x"}}, "page.charset: "),
        ({"page": KEY, "size": 0}, "size: "),
        ({"page": KEY, "size": 65}, "size: "),
        ({"page": KEY, "size": 2, "votes": 3}, "votes "),
        ({"page": KEY, "max_loads": 1}, "max_loads: "),
        ({"page": KEY, "equality": "looks"}, "equality: "),
        ({"page": KEY, "menu": "perhaps"}, "menu: "),
        ({"page": KEY, "pages": [{"url": "https://a.example/", "html": ""}]}, "pages.0.url: "),
        ({"page": KEY, "pages": [{"url": KEY["url"], "html": ""}] * 2}, "pages.1.url: "),
        ({"page": KEY, "pages": [{"url": KEY["url"], "html": ""}] * 1001}, "pages: "),
        ({"page": KEY, "failed": ["x" * 2001]}, "failed.0: "),
    ],
)
def test_what_is_wrong_is_refused_by_name(port: int, body: dict[str, Any], words: str) -> None:
    status, answer = ask(port, body)
    assert (status, answer["error"]["code"]) == (400, "bad_request")
    assert words in answer["error"]["message"]


def test_a_key_page_that_cannot_be_used_is_422(port: int) -> None:
    status, answer = ask(port, {"page": {"html": "%PDF-1.7", "url": f"{HOST}/"}})
    assert (status, answer["error"]["code"]) == (422, "not_html")


def test_a_search_that_costs_too_much_ends_the_worker_and_not_the_service() -> None:
    heavy = "".join(f"<p class=a{n}>{n} <a href=/{n}>rye</a></p>" for n in range(60_000))
    with running("--workers", "1", "--cpu", "0.2", "--timeout", "60") as (port, _):
        status, answer = ask(port, {"page": {"html": heavy, "url": f"{HOST}/"}})
        assert (status, answer["error"]["code"]) == (422, "timeout")
        assert ask(port, {"page": KEY})[0] == 200


def test_rules_of_the_site_are_obeyed(port: int) -> None:
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    rule = {"site": "ruled.example", "action": "drop", "selector": "h1"}
    connection.request("POST", "/v1/rules", json.dumps(rule), JSON)
    assert connection.getresponse().status == 200
    connection.close()
    answer, _ = drive(port, SITE, page=KEY | {"site": "ruled.example"})
    assert answer["site"] == "ruled.example"
    assert answer["markdown"].startswith("rye grows")


def test_health_says_whether_the_service_fetches(port: int) -> None:
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/health")
    assert json.loads(connection.getresponse().read())["fetch"] is False
    connection.close()


@pytest.mark.parametrize(
    "link", ["/a?", "/" + "x" * 3000, "http://grain.example:80:80/", "/?\ud83d"]
)
def test_no_link_is_asked_for_for_ever(link: str) -> None:
    key = Page(f'<p>Rye</p><a href="{link}">x</a>', f"{HOST}/")
    failed: dict[str, str | None] = {}
    for _ in range(3):
        found = linked_answer(key, {}, failed, Hyperlink(), Limits())
        if isinstance(found, Linked):
            break
        assert isinstance(found, Wanted)
        failed[found.url.encode("utf-8", "replace").decode()] = None
    assert isinstance(found, Linked)
    assert normal_url(key.url or "") == found.graph.urls[0]
