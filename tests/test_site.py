"""The library: one page, and a site that is learned page by page."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import jsonschema
import pytest

import dehusk
from dehusk.answer.result import Refusal
from dehusk.errors import PageTimeout, StateError, UsageError
from dehusk.memory.session import Session

SCHEMA = json.loads(
    resources.files("dehusk.output").joinpath("result.schema.json").read_text(encoding="utf-8")
)


def _page(number: int) -> str:
    return (
        f"<html lang=en><head><title>Harvest {number} | Grain</title></head><body>"
        "<nav><a href=/>Home</a> <a href=/news>All the news</a></nav>"
        f"<main><h1>Harvest {number}</h1><p>There were {number} sacks of <em>rye</em>.</p></main>"
        "<footer>All rights reserved</footer></body></html>"
    )


def test_one_page_alone_is_kept_whole_by_segments() -> None:
    result = dehusk.extract(_page(1), "https://grain.example/1", method="segments")
    assert result.text.splitlines()[0].startswith("Home")
    assert result.pages_seen == 1
    assert result.template_share == 0.0


def test_a_site_is_learned() -> None:
    site = dehusk.Site()
    for number in range(6):
        result = site.add(_page(number), f"https://grain.example/{number}")
    assert result.text == "Harvest 5\nThere were 5 sacks of rye."
    assert result.markdown == "# Harvest 5\n\nThere were 5 sacks of *rye*."
    assert result.pages_seen == 6
    assert 0.4 < result.template_share < 0.8
    assert [(link.url, link.template) for link in result.links] == [
        ("https://grain.example/", True),
        ("https://grain.example/news", True),
    ]
    assert 'data-dehusk="template"' in result.html
    assert "Home" in result.template
    assert "sacks" not in result.template
    assert "sacks" in result.content
    assert "Home" not in result.content


def test_every_node_has_a_verdict_and_its_reason() -> None:
    result = dehusk.extract("<p>Hi</p>")
    text = result.nodes[-1]
    assert (text.tag, text.text, text.label) == ("#text", "Hi", dehusk.Label.CONTENT)
    assert text.reason is dehusk.Reason.SCORED_CONTENT
    assert result.nodes[text.parent].tag == "p"


def test_asking_does_not_teach() -> None:
    site = dehusk.Site()
    for number in range(4):
        site.learn(_page(number))
    before = site.dump()
    assert "Home" not in site.ask(_page(9)).text
    assert site.dump() == before


def test_a_site_goes_on_where_it_was_saved() -> None:
    first = dehusk.Site()
    for number in range(5):
        first.add(_page(number))
    second = dehusk.Site()
    second.load(first.dump())
    assert second.add(_page(5)).text == first.add(_page(5)).text


def test_a_site_does_not_go_on_from_another_sites_or_settings_memory() -> None:
    state = dehusk.Site("a").dump()
    dehusk.Site("a").load(state)
    for other in (
        dehusk.Site("b"),
        dehusk.Site("a", max_places=9),
        dehusk.Site("a", method="rtdm"),
    ):
        with pytest.raises(StateError, match=r"site 'a'|max_places=6000|method auto"):
            other.load(state)


def test_a_refused_page_leaves_the_site_as_it_was() -> None:
    site = dehusk.Site(limits=dehusk.Limits(max_bytes=1000))
    site.add("<p>x</p>")
    before = site.dump()
    with pytest.raises(dehusk.PageError, match=r"https://a\.example/"):
        site.add("x" * 1001, "https://a.example/")
    assert site.dump() == before


def test_a_page_that_takes_too_long_is_given_up() -> None:
    with pytest.raises(PageTimeout, match="longer than 1e-09 s"):
        dehusk.extract("<p>x</p>", limits=dehusk.Limits(timeout_s=1e-9))


def test_a_page_that_cannot_be_rendered_is_not_learned() -> None:
    sites = Session()
    with pytest.raises(ZeroDivisionError):
        sites.add(dehusk.Page("<p>x"), render=lambda result: 1 / 0)
    assert not sites.memories


def test_the_site_of_a_page_is_its_host_unless_named() -> None:
    assert dehusk.extract("<p>x", "https://grain.example/1").site == "grain.example"
    assert dehusk.Site("grain").add("<p>x", "https://grain.example/1").site == "grain"


@pytest.mark.parametrize(
    "limits", [{"max_bytes": 0}, {"max_nodes": -1}, {"timeout_s": 0.0}, {"max_depth": 513}]
)
def test_impossible_limits_are_refused(limits: dict[str, int]) -> None:
    with pytest.raises(dehusk.DehuskError, match=next(iter(limits))):
        dehusk.Limits(**limits)


_HOSTILE = """
import resource
import dehusk
resource.setrlimit(resource.RLIMIT_CPU, (90, 90))
pages = [
    "<title>" + "ab | " * 20_000 + "</title><p>x",
    "<meta property=og:title content='" + "a - " * 20_000 + "'><p>x",
    "<div>" * 500 + "<meta itemprop=datepublished content=2026-01-01>" * 100_000,
    "<time pubdate datetime=2026-01-01>" * 60_000,
    "<p title='" + " hidden=" * 200_000 + "'>x",
    "<i>x</i>" * 100_000,
    "<a href=y>z</a>" * 50_000,
    "<table><tr><td>" * 5_000,
    "<ul><li>" * 20_000,
    "<code>" * 20_000 + "a &amp; b",
    "<script type=application/ld+json>" + "[" * 100_000,
    "word " * 400_000,
]
for html in pages:
    result = dehusk.extract(html, "https://a.example/", limits=dehusk.Limits(timeout_s=1000))
    result.to_json(), result.nodes, result.html, result.template, result.content
"""


@pytest.mark.slow
def test_no_hostile_page_takes_more_than_linear_time() -> None:
    # All of them take seconds of CPU; were one of them quadratic, it alone would take minutes.
    subprocess.run([sys.executable, "-c", _HOSTILE], check=True, timeout=900)


def test_settings_of_a_method_are_passed_on() -> None:
    site = dehusk.Site(method="segments", min_count=2)
    site.add(_page(1))
    assert "Home" not in site.add(_page(2)).text


def test_sites_are_learned_apart() -> None:
    sites = Session(method="segments")
    for number in range(5):
        sites.add(dehusk.Page(_page(number), site="a"))
    assert "Home" in sites.add(dehusk.Page(_page(5), site="b")).text
    assert "Home" not in sites.add(dehusk.Page(_page(5), site="a")).text


@pytest.mark.parametrize(
    "html",
    [
        _page(1),
        "",
        "<p>",
        '<script type=application/ld+json>{"datePublished":"2026-02-03"}</script><p>x',
        "<a href='javascript:x'>a</a><a href='//['>b</a><a>c</a>",
        "<html lang=de><p>\ud800",
    ],
)
def test_the_json_line_obeys_the_schema(html: str) -> None:
    line = dehusk.extract(html, "https://a.example/b").to_json()
    jsonschema.validate(json.loads(json.dumps(line)), SCHEMA)
    assert list(line) == SCHEMA["required"]


def test_the_json_line_of_a_refusal_obeys_the_schema() -> None:
    error = dehusk.PageError("https://a.example/", "it is odd")
    line = Refusal("https://a.example/", "a.example", error).to_json()
    jsonschema.validate(line, SCHEMA)
    assert list(line) == SCHEMA["required"]
    assert line["error"] == {"code": "page", "message": "it is odd"}
    assert all(line[name] is None for name in SCHEMA["required"][2:-1])


def test_every_code_of_an_error_is_in_the_schema() -> None:
    kinds: list[type[dehusk.PageError]] = [dehusk.PageError]
    for kind in kinds:
        kinds.extend(kind.__subclasses__())
    codes = {kind.code for kind in kinds}
    assert codes | {"source"} == set(SCHEMA["properties"]["error"]["properties"]["code"]["enum"])


@pytest.mark.parametrize("html", [None, 5, ["<p>x"]])
def test_what_is_no_html_is_refused_by_name(html: Any) -> None:
    with pytest.raises(UsageError, match=f"not {type(html).__name__}"):
        dehusk.extract(html)


def test_an_address_that_is_no_text_is_refused_by_name() -> None:
    # Clients such as httpx have classes of their own for it.
    with pytest.raises(UsageError, match="URL is str, not SplitResult: use str"):
        dehusk.extract("<p>Rye", urlsplit("https://grain.example/"))  # type: ignore[arg-type]


@pytest.mark.parametrize("form", [tuple, list])
def test_pages_may_be_html_with_url_site_and_charset(form: type[Any]) -> None:
    whole = form((b"<p>gr\xfcn", "https://grain.example/1", "named", "windows-1252"))
    pages = [whole, form((_page(1), "https://grain.example/2")), _page(2)]
    answers = list(Session().clean(pages))
    assert [answer.site for answer in answers] == ["named", "grain.example", "page"]
    assert answers[0].text == "grün"


@pytest.mark.parametrize(
    "options",
    [{"reads_only": True}, {"relearn": True}, {"keeping": dehusk.Keeping(max_known_pages=9)}],
)
def test_what_only_a_file_can_do_is_refused_in_memory(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=f"{next(iter(options))} needs an address"):
        dehusk.open(**options)


def test_what_only_a_session_in_memory_can_do_is_refused_of_a_file(tmp_path: Path) -> None:
    with dehusk.open(tmp_path / "a.husk") as session:
        for act in (lambda: session.memories, lambda: session.drop("a")):
            with pytest.raises(UsageError, match="in a store"):
                act()
        with pytest.raises(UsageError, match="in a store"):
            session.restore(session.snapshot("a"))


@pytest.mark.parametrize("page", ["<p>hello", b"<p>hello", dehusk.Page("<p>hello")])
def test_one_page_is_not_taken_for_several(page: Any) -> None:
    with dehusk.Jobs() as jobs:
        session = dehusk.Session()
        for call in (session.clean, session.revise, dehusk.Site().clean, jobs.clean, jobs.learn):
            with pytest.raises(UsageError, match="list"):
                next(iter(call(page)))
        assert not session.memories
