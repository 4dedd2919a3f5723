"""What pages say of themselves: title, language, canonical URL, author, date."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dehusk
from dehusk.answer.dates import iso_date
from dehusk.answer.describe import Description, describe
from dehusk.answer.labels import Label
from dehusk.answer.names import people
from dehusk.answer.stated import read_stated
from dehusk.page.page import Page
from dehusk.page.parse import parse

FIXED = settings(derandomize=True, deadline=None)
URL = "https://www.millpond.example/news/mill"
TODAY = "2026-01-15T08:00:00Z"


def _describe(html: str, url: str | None = URL) -> Description:
    """The description of a page that is all content, but for what is in `<header>`."""
    parsed = parse(Page(html, url))
    tree = parsed.tree
    labels = np.where(tree.shown, Label.CONTENT, Label.HIDDEN).astype(np.int8)
    for node in range(len(tree)):
        if tree.name(node) == "header":
            labels[node : tree.end[node]] = Label.TEMPLATE
    return describe(tree, labels, url, TODAY)


def _linked(*objects: object) -> str:
    return "".join(
        f'<script type="application/ld+json">{json.dumps(item)}</script>' for item in objects
    )


def test_a_page_that_states_nothing_has_an_empty_description() -> None:
    assert _describe("<p>Only text.") == Description()
    assert _describe("", None) == Description()


# Title


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<title>A mill | Millpond</title>", "A mill"),
        ("<title>A mill - millpond.example</title>", "A mill"),
        ("<title>Millpond » News » A mill</title>", "News » A mill"),
        ("<title>A mill | Gazette</title>", "A mill | Gazette"),
        ("<meta property=og:site_name content='The Gazette'><title>A mill — the gazette</title>",
         "A mill"),
        ("<meta property=og:title content='OG | Millpond'><title>T</title>", "OG"),
        ("<meta property=og:title content='For friends'><title>T</title><h1>The mill</h1>",
         "The mill"),
        ("<meta property=og:title content='A mill'><h1>News A mill</h1>", "A mill"),
        ("<title>The Pond: A mill</title><header><h1>The Pond</h1></header><h3>A mill</h3>",
         "A mill"),
        ("<meta property=og:title content=Millpond><title>T</title><h1>H</h1>", "H"),
        ("<title>A mill – News – Gazette</title><h1>A mill</h1>", "A mill"),
        ("<meta property=og:title content='A mill - Gazette'><h1>A  Mill ¶</h1>", "A Mill"),
        ("<title>Long one</title><header><h1>Logo</h1></header>", "Long one"),
        ("<title>The wheel — Docs</title><h1>Docs</h1><h1>The wheel</h1>", "The wheel"),
        ("<h1>One<br>two<svg><title>icon</title></svg></h1>", "One two"),
        ("<h2>Second</h2>", "Second"),
        ("<title>Millpond</title>", "Millpond"),
        ("<h1>***</h1><title></title>", "***"),
    ],
)  # fmt: skip
def test_the_title_is_the_pages_own(html: str, expected: str) -> None:
    assert _describe(html).title == expected


@pytest.mark.parametrize(
    "html",
    [
        (
            "<title>Pond.example - The mill turns again</title><h1>Top classifieds</h1>"
            "<p class=head>The mill turns again</p>"
        ),
        (
            "<title>The Gazette : Business : The mill turns again</title>"
            "<b> The mill turns again </b>"
        ),
        (
            "<title>The mill turns again - Millpond</title><h2>Millpond customers</h2>"
            "<p>The mill turns again</p>"
        ),
        (
            "<title>A place of many mills: Turns</title><header>A place of many mills</header>"
            "<h1>The mill turns again</h1>"
        ),
    ],
)
def test_the_title_is_what_the_page_states_and_shows_and_not_its_section(html: str) -> None:
    assert _describe(html).title == "The mill turns again"


def test_a_heading_that_was_dropped_is_a_better_title_than_none() -> None:
    site = dehusk.Site(method="segments", drop="h1")
    assert site.add("<h1>The wheel</h1><p>It turns").description.title == "The wheel"
    assert site.add("<h1>The wheel</h1><h2>Water</h2>").description.title == "Water"
    assert site.add("<title>Mill</title><h1>The wheel</h1>").description.title == "Mill"


def test_a_heading_that_holds_the_page_is_no_title() -> None:
    assert _describe(f"<h1>{'word ' * 200}</h1><title>T</title>").title == "T"


# Language and canonical URL


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<html lang=en>", "en"),
        ("<html lang=EN_gb>", "en-GB"),
        ("<html lang=zh-hant-tw>", "zh-Hant-TW"),
        ("<html lang=es-419>", "es-419"),
        ("<html lang=' de '>", "de"),
        ("<html lang=x-default><meta property=og:locale content=pt_BR>", "pt-BR"),
        ("<meta http-equiv=Content-Language content='fr, en'>", "fr"),
        ("<html xml:lang=pl>", "pl"),
        ("<html lang=english>", None),
        ("<html lang=und>", None),
    ],
)
def test_the_language_is_a_language_tag(html: str, expected: str | None) -> None:
    assert _describe(html).lang == expected


@pytest.mark.parametrize(
    ("href", "url", "expected"),
    [
        ("/mill", URL, "https://www.millpond.example/mill"),
        ("https://o.example/a?b=c", None, "https://o.example/a?b=c"),
        ("/mill", None, None),
        ("ftp://o.example/", URL, None),
        ("http://[", URL, None),
        ("  ", URL, None),
    ],
)
def test_the_canonical_url_is_a_web_address(
    href: str, url: str | None, expected: str | None
) -> None:
    assert _describe(f'<link rel="x Canonical" href="{href}">', url).canonical == expected


@pytest.mark.parametrize(
    ("base", "href", "expected"),
    [
        ("https://cdn.example/d/", "x", "https://cdn.example/d/x"),
        ("https://cdn.example/d/", "/x", "https://cdn.example/x"),
        ("/d/", "x", "https://www.millpond.example/d/x"),
        ("ftp://cdn.example/", "x", "https://www.millpond.example/news/x"),
        ("https://cdn.example/d/", "java\nscript:x", None),
        ("https://cdn.example/d/", "a b", "https://cdn.example/d/a%20b"),
    ],
)
def test_the_canonical_url_is_relative_to_what_links_are(
    base: str, href: str, expected: str | None
) -> None:
    html = f'<base href="{base}"><link rel=canonical href="{href}">'
    assert _describe(html).canonical == expected


# Author


@pytest.mark.parametrize(
    ("author", "expected"),
    [
        ("Ada Fennel", "Ada Fennel"),
        ({"@type": "Person", "name": "Ada\n Fennel"}, "Ada Fennel"),
        ([{"name": "Ada Fennel"}, {"name": "Bo Reed"}, {"name": "Bo Reed"}], "Ada Fennel, Bo Reed"),
        ({"@id": "#ada"}, "Ada D’Arc"),
        ({"name": ["Ada Fennel", 7]}, "Ada Fennel"),
        ({"name": {"x": "Ada Fennel"}}, None),
        ("https://people.example/ada", None),
        (7, None),
        ("x" * 300, None),
    ],
)
def test_the_author_is_read_from_json_ld(author: object, expected: str | None) -> None:
    person = {"@type": "Person", "@id": "#ada", "name": "Ada D&rsquo;Arc"}
    article = {"@type": ["Thing", "NewsArticle"], "author": author}
    assert _describe(_linked({"@graph": [person, article]})).author == expected


def test_authors_of_reviews_and_comments_are_not_the_pages() -> None:
    review = {"@type": "Review", "author": "Critic", "datePublished": "2020-01-01"}
    product = {"@type": "Product", "review": [review], "comment": {"author": "Troll"}}
    description = _describe(_linked(review, product))
    assert (description.author, description.published) == (None, None)


def test_the_article_speaks_before_the_page() -> None:
    page = {"@type": "WebPage", "author": "Web Team"}
    article = {"@type": "BlogPosting", "author": "Ada Fennel"}
    assert _describe(_linked(page, article)).author == "Ada Fennel"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<meta name=Author content=' Ada  Fennel '>", "Ada Fennel"),
        ("<meta property=article:author content=https://x.example/ada>", None),
        ("<meta property=article:author content='Ada Fennel'>", "Ada Fennel"),
        ("<meta name=DC.creator content='Ada Fennel'>", "Ada Fennel"),
        ("<meta name=author content=''>", None),
        (
            "<meta name=author content=https://x.example><meta name=author content='Bo Reed'>",
            "Bo Reed",
        ),
    ],
)
def test_the_author_is_read_from_metas(html: str, expected: str | None) -> None:
    assert _describe(html).author == expected


# Date


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ("2024-05-02", "2024-05-02"),
        ("2024/5/2", "2024-05-02"),
        ("20240502", "2024-05-02"),
        ("2024-05-02T10:30", "2024-05-02T10:30:00"),
        (" 2024-05-02 10:30:05 ", "2024-05-02T10:30:05"),
        ("2024-05-02T10:30:05.123Z", "2024-05-02T10:30:05+00:00"),
        ("2024-05-02T10:30:05+0200", "2024-05-02T10:30:05+02:00"),
        ("2024-05-02T10:30:05 -05", "2024-05-02T10:30:05-05:00"),
        ("2024-05-02T10:30:05 half past", "2024-05-02"),
        ("2024-05-02 10:30:05Z", "2024-05-02T10:30:05+00:00"),
        ("2024-05-02T10:30:05.12345", "2024-05-02T10:30:05"),
        ("2024-05-02T103005.1", "2024-05-02"),
        ("2024-05-02T10:30-05:30:15", "2024-05-02"),
        ("Thu, 02 May 2024 10:30:00 GMT", "2024-05-02T10:30:00+00:00"),
        ("2 May 2024", "2024-05-02"),
        ("May 2nd, 2024", "2024-05-02"),
        ("02/05/2024", None),
        ("05.02.2024", "2024-02-05"),
        ("05/02/2024", None),
        ("1985-05-02", None),
        ("2024-13-02", None),
        ("2024-02-30", None),
        ("2024-05-02T25:00", None),
        ("2024-05", "2024-05"),
        ("2024/5", "2024-05"),
        ("2024", "2024"),
        ("2024-13", None),
        ("2024-00", None),
        ("0000", None),
        ("0000-00", None),
        ("1234567", None),
        ("2 Mai 2024", "2024-05-02"),
        ("0001-01-01T00:00:00", None),
        ("1970-01-01", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_a_date_is_iso_8601_or_nothing(stated: str, expected: str | None) -> None:
    assert iso_date(stated) == expected
    article = _linked({"@type": "Article", "datePublished": stated})
    assert _describe(article).published == expected


@given(st.one_of(st.text(max_size=30), st.text("0123456789-/.:TZ+ ", max_size=30)))
@FIXED
def test_no_date_raises(stated: str) -> None:
    found = iso_date(stated)
    assert found is None or iso_date(found) == found


@pytest.mark.parametrize(
    "html",
    [
        "<meta property=article:published_time content=2024-05-02>",
        "<meta name=date content='2 May 2024'>",
        "<meta name=DC.Date content=2020-01-01><meta name=pubdate content=2024-05-02>",
        "<time itemprop=datePublished datetime=2024-05-02>",
        "<time pubdate datetime=2024-05-02>",
        "<p itemscope itemtype=/Article><meta itemprop=datePublished content=2024-05-02>",
        "<meta name=date content=2024-13-01><meta name=date content=2024-05-02>",
        "<meta name=date content=soon><time pubdate datetime=2024-05-02>",
    ],
)
def test_the_date_is_read_from_metas_and_marked_times(html: str) -> None:
    assert _describe(html).published == "2024-05-02"


@pytest.mark.parametrize(
    "html",
    [
        "".join(f"<li><time datetime=2024-05-0{day}>x</time>" for day in range(1, 6)),
        "<div itemtype=/Review><meta itemprop=datePublished content=2024-05-02></div>",
    ],
)
def test_a_time_that_is_not_the_pages_is_left_out(html: str) -> None:
    assert _describe(html).published is None


# Hostile pages


@pytest.mark.parametrize("title", ["ab | " * 100_000, "Millpond | " * 100_000, " - |" * 100_000])
@pytest.mark.parametrize("page", ["<title>{}</title>", "<meta property=og:title content='{}'>"])
def test_a_title_without_end_is_none(page: str, title: str) -> None:
    assert _describe(page.format(title) + "<h1>Mill</h1>").title == "Mill"


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 500 + "<meta itemprop=datepublished content=x>" * 200_000,
        "<time pubdate>" * 200_000,
        "<div itemtype=/x>" * 500 + "<time pubdate datetime=x></time>" * 200_000,
        "<meta name=date content=x>" * 200_000,
    ],
)
def test_dates_without_end_are_read_in_part(html: str) -> None:
    assert _describe(html).published is None


@pytest.mark.parametrize(
    "script",
    [
        "{bad",
        "[" * 100_000,
        '{"a":' * 100_000,
        "9" * 10_000,
        "NaN",
        '{"@type": {"a": 1}, "author": {"name": {"b": []}}, "datePublished": ["x"]}',
        '{"@graph": [null, 1, "x", [[[]]], {"author": null}]}',
        '{"author": "\\ud800 Ada Fennel"}',
        '{"@id": "a", "author": {"@id": "a"}, "name": "\\u0000"}',
    ],
)
def test_bad_json_ld_is_passed_over(script: str) -> None:
    meta = '<meta name=author content="Ada Fennel">'
    html = f'{meta}<script type="application/ld+json">{script}</script>'
    author = _describe(html).author
    assert author is not None
    assert author.endswith("Ada Fennel")
    assert author.encode()


def test_json_ld_of_many_objects_is_read_in_part() -> None:
    many = [{"@type": "Thing", "name": str(number)} for number in range(20_000)]
    assert _describe(_linked(many, {"@type": "Article", "author": "Ada Fennel"})).title is None


@given(st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=8)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.sampled_from(["@type", "@id", "@graph", "author", "name", "datePublished", "x"]),
            inner,
            max_size=5,
        ),
    ),
    max_leaves=20,
))  # fmt: skip
@FIXED
def test_no_json_ld_raises(value: object) -> None:
    escaped = json.dumps(value).replace("<", "\\u003c")
    description = _describe(f'<script type="application/ld+json">{escaped}</script>')
    assert description.lang is None


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<html xml:lang=pt lang=''>", (["", "pt"], {})),
        ("<meta name='&nbsp;Author ' content='A &amp; B'>", ([], {"author": ["A & B"]})),
        ("<meta name='\u3000author' content=A>", ([], {"author": ["A"]})),
        ("<meta property='\t\x1fOG:Title\n' content=T>", ([], {"og:title": ["T"]})),
        ("<meta content=x><meta name=author content><meta name=dat content=x>", ([], {})),
        ("<meta property=author name=date http-equiv=content-language content=x>",
         ([], {"author": ["x"], "date": ["x"], "content-language": ["x"]})),
        ("<meta name='a\"b' =\"name\"=date content=x>", ([], {})),
        ("<svg><meta name=author content=S></svg>", ([], {"author": ["S"]})),
    ],
)  # fmt: skip
def test_what_elements_state_is_read_as_the_page_means_it(
    html: str, expected: tuple[list[str], dict[str, list[str]]]
) -> None:
    tree = parse(Page(html)).tree
    stated = read_stated(tree)
    assert (stated.languages, stated.metas) == expected


def test_the_title_and_the_headings_are_in_one_line_each() -> None:
    html = (
        "<body><svg><title>no</title></svg><title> a &nbsp; &lt;b&gt;\u0085</title>"
        "<h1>b<br>c<i hidden>d</i><svg><title>e</title></svg><xmp>&amp;</xmp></h1>"
        "<h1 hidden>f</h1>" + "<h1>\u3000g</h1>" * 9
    )
    tree = parse(Page(html)).tree
    stated = read_stated(tree)
    assert stated.title == "a <b>"
    assert [heading.text for heading in stated.headings] == ["b c &amp;", *"g" * 9]


@pytest.mark.parametrize("byline", ["(John{}x)", "John{}x", "by{}John Miller", "(by John{}@"])
def test_a_byline_without_end_takes_no_time(byline: str) -> None:
    began = time.process_time()
    people(byline.format(" " * 20_000), is_marked=True)
    assert time.process_time() - began < 1
