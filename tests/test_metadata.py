"""Dates and authors that pages show, and what else they say of themselves."""

from __future__ import annotations

import gc
import json
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dehusk
from dehusk.answer.dates import address_date, first_date, is_month_first
from dehusk.answer.names import is_company, people
from dehusk.answer.result import FIELDS
from dehusk.page.page import Capture

FIXED = settings(derandomize=True, deadline=None)
URL = "https://www.millpond.example/news/mill"
LONG = (
    "The wheel by the pond turned again this morning, after a week of rain and of hard work. " * 4
)


def _page(head: str = "", meta: str = "", rest: str = "", lang: str = "en") -> dehusk.Result:
    """The answer on an article with this in its head, in `<head>`, and behind its text."""
    return dehusk.extract(
        f"<!doctype html><html lang={lang}><head><title>The mill turns</title>{meta}</head><body>"
        f"<main><article><h1>The mill turns</h1>{head}{f'<p>{LONG}</p>' * 9}</article></main>"
        f"{rest}</body></html>",
        URL,
    )


# Dates


@pytest.mark.parametrize(
    ("written", "lang"),
    [
        ("Thursday, May 2nd, 2024", "en"),
        ("05/02/2024", "en-US"),
        ("02/05/2024 10:30", "en-GB"),
        ("Donnerstag, 2. Mai 2024, 12.30 Uhr", "de"),
        ("02.05.24", "de"),
        ("Publié le 2 mai 2024", "fr"),
        ("2 de mayo de 2024", "es"),
        ("2 maggio 2024", "it"),
        ("02/05/2024", "pt-BR"),
        ("2 mei 2024", "nl"),
        ("2 maja 2024 r.", "pl"),
        ("2 мая 2024", "ru"),
        ("2 Μαΐου 2024", "el"),
        ("2024年5月2日", "zh"),
        ("2024년 5월 2일", "ko"),
        ("2024. 5. 2.", "ko"),
        ("2024. május 2.", "hu"),
        ("2. toukokuuta 2024", "fi"),
        ("den 2 maj 2024", "sv"),
    ],
)
def test_a_date_in_the_articles_head_is_read_in_its_language(written: str, lang: str) -> None:
    assert _page(f"<p class=info>{written}</p>", lang=lang).published == "2024-05-02"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://a.example/2024/05/02/mill", "2024-05-02"),
        ("https://a.example/news-2024-5-2.html", "2024-05-02"),
        ("https://a.example/20240502-mill", "2024-05-02"),
        ("https://a.example/25-05-2024-mill", "2024-05-25"),
        ("https://a.example/2024/05/mill", None),
        ("https://a.example/2024/13/41/mill", None),
        ("https://a.example/?day=2024-05-02", None),
        ("https://a.example/123456789012", None),
        (None, None),
    ],
)
def test_an_address_may_name_the_day(url: str | None, expected: str | None) -> None:
    assert address_date(url) == expected


@pytest.mark.parametrize("head", [
    "<p>two hours ago</p>",
    "<p>© 2024 The Millpond</p>",
    "<p>2. Mai 1985</p>",
    "<p>31.02.2024</p>",
    "<p>02/05/2024</p>",
    "<time datetime=2999-01-01>1 January 2999</time>",
    "<p>Version 10.04.22.33 of 2024</p>",
])  # fmt: skip
def test_what_is_no_day_of_publication_is_none(head: str) -> None:
    html = f"<title>The mill turns</title><h1>The mill turns</h1>{head}<p>{LONG}</p>"
    assert dehusk.extract(html, URL).published is None


def test_a_day_behind_the_one_on_which_the_page_was_fetched_is_none() -> None:
    html = "<h1>The mill turns</h1><meta property=article:published_time content=2024-05-02>"
    for fetched, expected in (("2024-05-01T23:00:00Z", "2024-05-02"), ("2024-04-01", None)):
        page = dehusk.Page(html, URL, capture=Capture(date=fetched))
        assert dehusk.Site().add(page).published == expected


def test_the_day_that_is_shown_outranks_the_same_night_in_utc() -> None:
    meta = "<meta property=article:published_time content=2024-05-01T22:30:00Z>"
    assert _page("<p>2 May 2024</p>", meta).published == "2024-05-02"
    assert _page("<p>1 May 2024</p>", meta).published == "2024-05-01T22:30:00+00:00"


def test_a_day_of_change_is_not_one_of_publication() -> None:
    page = _page("<p>Last updated: May 4, 2024</p>")
    assert (page.published, page.modified) == (None, "2024-05-04")
    both = _page("<p>Published May 2, 2024</p><p>Updated May 4, 2024</p>")
    assert (both.published, both.modified) == ("2024-05-02", "2024-05-04")


def test_a_change_before_the_publication_is_none() -> None:
    meta = (
        "<meta property=article:published_time content=2024-05-02>"
        "<meta property=article:modified_time content=2024-05-01>"
    )
    assert _page(meta=meta).modified is None


def test_dates_of_comments_are_not_the_pages() -> None:
    comments = "".join(
        f"<div class=comment><b>Reader {day}</b> <time>{day} June 2023</time><p>Well.</p></div>"
        for day in range(1, 20)
    )
    assert _page(rest=comments).published is None
    assert _page("<p>2 May 2024</p>", rest=comments).published == "2024-05-02"


_REVIEW = "<p>By Bo Reed, reviewed on 2 May 2024</p><p>It grinds well, and it is quiet too.</p>"


@pytest.mark.parametrize(
    "html",
    [
        f'<script type="application/ld+json">{{"@type": "Product"}}</script><h1>Mill</h1>{_REVIEW}',
        f"<meta property=og:type content=product><h1>Mill</h1><p>{LONG}</p><p>2 May 2024</p>",
        f"<h1>Mill</h1><p>{LONG}</p><div class=customer-reviews>{_REVIEW}</div>",
        f"<h1>Mill</h1><p>{LONG}</p><ul id=reviews><li><p>2 May 2024</p><p>Works</p></ul>",
    ],
)
def test_a_product_was_not_published_when_a_customer_reviewed_it(html: str) -> None:
    page = dehusk.extract(f"<title>Mill</title>{html}", URL)
    assert (page.published, page.modified) == (None, None)


def test_an_article_in_a_section_of_reviews_keeps_its_day() -> None:
    html = (
        f"<div class=reviews><article><h1>Mill</h1><p>2 May 2024</p><p>{LONG}</p></article></div>"
    )
    assert dehusk.extract(f"<title>Mill</title>{html}", URL).published == "2024-05-02"


@pytest.mark.parametrize(
    ("lang", "host", "expected"),
    [
        ("en", "a.com", True),
        ("en", "a.co.uk", False),
        ("de", "a.com", False),
        (None, "a.com", None),
    ],
)
def test_the_order_of_day_and_month_goes_by_language_and_country(
    lang: str | None, host: str, expected: bool | None
) -> None:
    assert is_month_first(lang, host) is expected


@given(st.text("0123456789./- May年月日,", max_size=40), st.sampled_from([True, False, None]))
@FIXED
def test_a_written_date_is_a_day_of_the_calendar(text: str, month_first: bool | None) -> None:
    found = first_date(text, month_first)
    assert found is None or (len(found.day) == 10 and 0 <= found.start < found.stop <= len(text))


# Authors


@pytest.mark.parametrize(
    ("byline", "expected"),
    [
        ("By Ada Fennel", "Ada Fennel"),
        ("By <a href=/author/ada>Ada Fennel</a> on May 2, 2024", "Ada Fennel"),
        ("<a class=author><span>By</span>Ada Fennel</a>", "Ada Fennel"),
        ("<p><span>By </span><a href=/ada>Ada Fennel</a></p>", "Ada Fennel"),
        ("<p class=byline><b>Ada Fennel</b> Dec 6, 2016</p>", "Ada Fennel"),
        ("<p class=byline>Ada Fennel, Senior Writer</p>", "Ada Fennel"),
        ("<p class=byline><b>Ada Fennel</b><i>Ada Fennel</i></p>", "Ada Fennel"),
        ("<small>posted on 2 May 2024</small> by Ada Fennel", "Ada Fennel"),
        ("<b>Autor:</b> Ada Fennel/MP", "Ada Fennel"),
        ("<p class=byline>作者：宋怡 杨志华</p>", "宋怡, 杨志华"),
        ("<p class=byline>[田中宏昌，ITmedia]</p>", "田中宏昌"),
        ("<p>著者：後藤大地</p>", "後藤大地"),
        ("<p>（责编：牛镛、岳弘彬）</p>", "牛镛, 岳弘彬"),
        ("Von Ada Fennel und Bo von der Reed", "Ada Fennel, Bo von der Reed"),
        ("Text: Ada B. Fennel", "Ada B. Fennel"),
        ("Por Ada Fennel | 2 de mayo de 2024", "Ada Fennel"),
        ("Posted by Ada Fennel, Chief Editor", "Ada Fennel"),
        ("<span class=author>Ada Fennel</span>", "Ada Fennel"),
        ("<a rel=author href=/a>Ada Fennel</a>", "Ada Fennel"),
        ("<span itemprop=author>Ada Fennel</span>", "Ada Fennel"),
        ("作者：王小明", "王小明"),
        ("2 May 2024, 10:30 by Ada Fennel", "Ada Fennel"),
    ],
)
def test_the_author_is_read_from_a_byline(byline: str, expected: str) -> None:
    assert _page(f"<p>{byline}</p>").author == expected


@pytest.mark.parametrize("byline", [
    "By the river", "Von hier an geht es bergab", "<span class=author>admin</span>",
    "<span class=author>View all posts</span>", "By using this site you agree",
    "<ul class=authors>" + "".join(f"<li>Menu entry {n}</li>" for n in range(9)) + "</ul>",
])  # fmt: skip
def test_what_is_no_name_is_no_author(byline: str) -> None:
    assert _page(f"<p>{byline}</p>").author is None


@pytest.mark.parametrize("word", ["Search", "Submit", "Write", "Suche", "Close"])
def test_a_button_is_no_author(word: str) -> None:
    assert _page(f"<p class=author>{word}</p><a href=/author/x>{word}</a>").author is None


def test_a_page_that_names_all_authors_outranks_a_place_that_shows_one_of_them() -> None:
    linked = {"@type": "Article", "author": [{"name": "Ada Fennel"}, {"name": "Bo Reed"}]}
    meta = f'<script type="application/ld+json">{json.dumps(linked)}</script>'
    page = _page("<p class=byline>Ada Fennel</p>", meta)
    assert page.author == "Ada Fennel, Bo Reed"


def test_what_stands_behind_a_name_that_another_place_has_alone_is_no_part_of_it() -> None:
    head = "<p class=byline><b class=author>Ada Fennel</b> <i>Millwright</i></p>"
    assert _page(head).author == "Ada Fennel"


def test_a_meta_that_says_value_for_content_is_read() -> None:
    page = _page(meta='<meta name="author" value="Ada Fennel">')
    assert page.author == "Ada Fennel"


def test_a_person_in_the_byline_outranks_the_site_as_author() -> None:
    meta = "".join(
        f"<meta {name} content='The Millpond'>" for name in ("property=og:site_name", "name=author")
    )
    assert _page("<p class=byline>By Ada Fennel</p>", meta).author == "Ada Fennel"
    assert _page("", meta).author is None


def test_houses_are_told_from_people() -> None:
    assert is_company("Mühlen-Verlag GmbH")
    assert is_company("millpond.com")
    assert not is_company("Ada Fennel")


@given(st.text(max_size=80), st.booleans())
@FIXED
def test_no_byline_raises(text: str, is_marked: bool) -> None:
    assert all(name.strip() for name in people(text, is_marked=is_marked))


# What else a page says


def test_a_page_says_more_of_itself_in_metas() -> None:
    page = _page(meta=(
        "<meta property=og:description content='Of  wheels'><meta property=og:image content=/w.png>"
        "<meta property=og:site_name content='The Millpond'>"
        "<meta property=article:tag content=Mills>"
        "<meta property=article:tag content='Ponds, Mills'>"
        "<meta property=article:modified_time content=2024-05-04T10:00:00Z>"
    ))  # fmt: skip
    assert page.summary == "Of wheels"
    assert page.image == "https://www.millpond.example/w.png"
    assert page.site_name == "The Millpond"
    assert page.tags == ("Mills", "Ponds")
    assert page.modified == "2024-05-04T10:00:00+00:00"
    assert (page.title, page.lang) == ("The mill turns", "en")


def test_json_ld_says_the_same() -> None:
    article = {
        "@type": "NewsArticle", "headline": "The mill turns", "description": "Of wheels",
        "image": [{"@type": "ImageObject", "url": "https://cdn.example/w.png"}],
        "keywords": "Mills, Ponds", "dateModified": "2024-05-04", "datePublished": "2024-05-02",
        "publisher": {"@type": "Organization", "name": "The Millpond"},
        "author": [{"@type": "Person", "name": "Ada Fennel"}, "Bo Reed"],
    }  # fmt: skip
    page = _page(meta=f"<script type=application/ld+json>/*<![CDATA[*/{json.dumps(article)}/*]]>*/;"
                      "</script>")  # fmt: skip
    assert (page.summary, page.site_name) == ("Of wheels", "The Millpond")
    assert (page.tags, page.image) == (("Mills", "Ponds"), "https://cdn.example/w.png")
    assert (page.published, page.modified) == ("2024-05-02", "2024-05-04")
    assert page.author == "Ada Fennel, Bo Reed"


def test_every_field_is_in_the_json_line_and_null_where_unknown() -> None:
    line = dehusk.extract("<p>Only text.", None).to_json()
    assert tuple(line) == FIELDS
    unknown = ("author", "published", "modified", "summary", "image", "site_name", "tags")
    assert [line[name] for name in unknown] == [None] * len(unknown)


@pytest.mark.parametrize("html", [
    "<meta name=keywords content='" + "a," * 500_000 + "'>",
    "<meta name=description content='" + "word " * 500_000 + "'>",
    f"<script type=application/ld+json>{json.dumps({'author': ['Ada Fennel'] * 50_000})}</script>",
    "<script type=application/ld+json>" + '[{"@type":"NewsArticle"},' * 200_000 + "</script>",
    "<h1>Mill</h1>" + "<div class=author>" * 400 + "By Ada " * 9 + "</div>" * 400,
    "<h1>Mill</h1>" + "<p class=byline>By Ada Fennel</p>" * 100_000,
    "<h1>Mill</h1>" + "<time datetime=2024-05-02>2 May 2024</time>" * 100_000,
    "<h1>Mill</h1>" + "<p>1.1.1." * 100_000,
    "<h1>Mill</h1><p class=author>" + " " * 3_000_000 + "</p>",
])  # fmt: skip
def test_pages_that_say_too_much_are_read_in_part(html: str) -> None:
    page = dehusk.extract(html, URL)
    assert len(page.tags) <= 50
    assert len(page.summary or "") <= 2000
    assert len(page.author or "") <= 1000


@pytest.mark.parametrize("head", [
    "<title>{}</title>",
    "<meta property=og:site_name content='{}'>",
    "<meta name=language content='en-{}'>",
    "<meta name=twitter:label1 content='Written by'><meta name=twitter:data1 content='{}'>",
])  # fmt: skip
def test_what_a_page_says_too_much_is_not_kept_behind_it(head: str) -> None:
    _page(meta=head.format("Ada"))
    gc.collect()
    tracemalloc.start()
    try:
        assert _page(meta=head.format("Ada " * 250_000)).title
        gc.collect()
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 500_000
