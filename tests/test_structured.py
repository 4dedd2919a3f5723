"""What pages state for machines, as they state it: JSON-LD, microdata and Open Graph."""

from __future__ import annotations

import io
import json
import tracemalloc
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dehusk
from dehusk.answer.structured import MAX_JSON
from dehusk.errors import UsageError
from dehusk.output import Format, open_writer

FIXED = settings(derandomize=True, deadline=None)
SCHEMA = json.loads((files("dehusk.output") / "result.schema.json").read_text())
URL = "https://millpond.example/rye"
PAGE = """<title>Rye</title><meta property="og:title" content="Rye">
<meta property=og:image content=a.png>
<meta property="article:tag" content="bread"><meta name=description content=flour>
<script type="application/ld+json">
{"@type": "Product", "name": "Rye", "offers": {"price": 2.5}}</script>
<main itemscope itemtype="https://schema.org/Product https://schema.org/Thing" itemid="urn:rye">
<h1 itemprop="name">Rye <b>flour</b></h1><a itemprop=url href="/rye">more</a>
<meta itemprop=sku content=17>
<p itemprop="offers" itemscope itemtype=https://schema.org/Offer>
<span itemprop="price priceCurrency">2.50 €</span></p>
<time itemprop=releaseDate datetime=2024-05-02>May</time>
<img itemprop=image src=a.png></main>"""


def _said(html: str) -> Any:
    return dehusk.extract(html, URL).structured


def _linked(written: str) -> str:
    return f"<script type=application/ld+json>{written}</script>"


def test_a_page_says_in_structured_what_it_states_for_machines() -> None:
    offer = {
        "type": ["https://schema.org/Offer"],
        "properties": {"price": ["2.50 €"], "priceCurrency": ["2.50 €"]},
    }
    assert _said(PAGE) == {
        "json_ld": [{"@type": "Product", "name": "Rye", "offers": {"price": 2.5}}],
        "microdata": [{
            "type": ["https://schema.org/Product", "https://schema.org/Thing"],
            "id": "urn:rye",
            "properties": {
                "name": ["Rye flour"], "url": [URL], "sku": ["17"], "offers": [offer],
                "releaseDate": ["2024-05-02"], "image": ["https://millpond.example/a.png"],
            },
        }],
        "open_graph": [
            {"property": "og:title", "content": "Rye"},
            {"property": "og:image", "content": "a.png"},
            {"property": "article:tag", "content": "bread"},
        ],
        "truncated": False,
    }  # fmt: skip


def test_a_page_without_any_of_it_says_nothing() -> None:
    assert _said("<h1>Rye</h1><p itemprop=name>Rye") is None


def test_the_json_line_has_it_only_when_asked() -> None:
    result = dehusk.extract(PAGE, URL)
    assert result.to_json()["structured"] is None
    line = result.to_json(has_structured=True)
    assert line["structured"] == result.structured
    jsonschema.validate(json.loads(json.dumps(line)), SCHEMA)


@pytest.mark.parametrize("form", [Format.JSONL, Format.PARQUET])
def test_lines_and_rows_have_it_and_failed_pages_have_null(form: Format, tmp_path: Path) -> None:
    target = tmp_path / f"out.{form}"
    refused = dehusk.Refusal(URL, None, UsageError("no page"))
    with open_writer(str(target), None, io.BytesIO(), has_structured=True) as writer:
        writer.write(dehusk.extract(PAGE, URL))
        writer.write(refused)
    if form is Format.JSONL:
        found = [json.loads(line)["structured"] for line in target.read_text().splitlines()]
    else:
        parquet = pytest.importorskip("pyarrow.parquet")
        column = parquet.read_table(target).column("structured").to_pylist()
        found = [value and json.loads(value) for value in column]
    assert found == [_said(PAGE), None]


@pytest.mark.parametrize("form", [Format.MARKDOWN, Format.TEXT, Format.HTML, Format.PIECES])
def test_a_format_without_a_place_for_it_is_refused(form: Format) -> None:
    with pytest.raises(UsageError, match="add --format jsonl"):
        open_writer(None, form, io.BytesIO(), has_structured=True)


@pytest.mark.parametrize(
    "html",
    [
        _linked("{broken") + _linked("{}"),
        _linked("[" * 100 + "]" * 100) + _linked("{}"),
        _linked('{"a": 1' + "0" * 30 + "}") + _linked("{}"),
    ],
)
def test_json_that_cannot_be_passed_on_is_left_out(html: str) -> None:
    assert _said(html)["json_ld"] == [{}]


def test_what_readers_of_json_refuse_is_written_so_that_they_do_not() -> None:
    html = _linked('{"a": NaN, "\\ud800": "\\udc00"}')
    stream = io.BytesIO()
    with open_writer(None, Format.JSONL, stream, has_structured=True) as writer:
        writer.write(dehusk.extract(html, URL))
    line = json.loads(stream.getvalue())
    assert line["structured"]["json_ld"] == [{"a": None, "\ufffd": "\ufffd"}]


@pytest.mark.parametrize(
    "html",
    [
        _linked(json.dumps(["word " * 50_000])) * 9,
        "<meta property=og:title content='word word'>" * 40_000,
        "<p itemscope>" + "<b itemprop=name>word</b>" * 3_000,
        f"<p itemscope><b itemprop='{' '.join(map(str, range(9_000)))}'>{'word ' * 2_000}</b>",
        f"<p itemscope itemtype=a>{'<b itemscope itemprop=b>' * 600}word",
        "<p itemscope>" + "<b itemprop=a>word " * 500,
        "<p itemscope>" + f"<meta itemprop=a content='{'word ' * 1_000}'>" * 900,
        f"<p itemscope><meta content='' itemprop='{' '.join(map(str, range(300_000)))}'>",
        f"<p itemscope itemtype='{'word ' * 300_000}'>",
    ],
)
def test_a_page_that_states_without_end_is_cut_and_says_so(html: str) -> None:
    said = _said(f"<meta property=og:type content=a>{html}")
    assert len(json.dumps(said)) < 4 * MAX_JSON
    assert said["truncated"] or len(json.dumps(said)) < MAX_JSON


@pytest.mark.parametrize(
    "html",
    [
        _linked(json.dumps(["Я" * 400_000], ensure_ascii=False)),
        _linked(json.dumps(["word " * 300_000])),
        f"<p itemscope itemtype='{'word ' * 300_000}'>",
    ],
)
def test_a_page_of_which_all_is_too_large_says_so(html: str) -> None:
    empty: dict[str, list[object]] = {"json_ld": [], "microdata": [], "open_graph": []}
    assert _said(html) == {**empty, "truncated": True}


@pytest.mark.parametrize("name", ["itemprop", "itemtype"])
def test_a_million_names_take_little_memory(name: str) -> None:
    words = " ".join(map(str, range(1_000_000)))
    result = dehusk.extract(f"<p itemscope><b itemscope {name}='{words}'></b></p>", URL)
    tracemalloc.start()
    try:
        assert result.structured is not None
        assert tracemalloc.get_traced_memory()[1] < 5 * len(words)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
def test_numbers_that_are_none_are_null(number: str) -> None:
    said = _said(_linked(f'{{"a": [{number}, 2.5], "b": "{number}"}}'))
    assert said["json_ld"] == [{"a": [None, 2.5], "b": number}]


@FIXED
@given(st.lists(st.sampled_from([
    "<p itemscope>", "<p itemprop=a>", "<b itemscope itemprop='a b'>", "</p>", "</b>", "word",
    "<meta itemprop=c content=1>", "<a href=x itemprop=u>", "<meta property=og:x content=y>",
])))  # fmt: skip
def test_no_microdata_breaks_the_line(pieces: list[str]) -> None:
    line = dehusk.extract("<title>T</title>" + "".join(pieces), URL).to_json(has_structured=True)
    jsonschema.validate(json.loads(json.dumps(line)), SCHEMA)
