"""The calls of trafilatura and readability, beside the real ones."""

from __future__ import annotations

import inspect
import json
import logging
from configparser import ConfigParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import dehusk
from dehusk import readability, trafilatura
from dehusk.errors import NotHtml, PageTooLarge, UsageError
from dehusk.settings import CrawlSettings
from extras import imported
from hostile_server import HOST, serve
from test_comments import SAID, commented_page

PAGE = """<html lang=en><head><title>Rye at the old mill | Grain</title>
<meta name=author content="Ann Lee"><meta property=og:site_name content=Grain>
<meta property="article:published_time" content="2024-03-02T10:00:00Z">
<meta property="article:modified_time" content="2024-05-06T10:00:00Z">
<link rel=canonical href="https://grain.example/rye"></head>
<body><nav><a href=/>Home</a> <a href=/news>News</a></nav><article><h1>Rye at the old mill</h1>
<p>There were <b>forty</b> sacks of rye sold at the mill this year, and the
<a href=/miller>miller</a> was content with them all.</p><img src=/sack.png alt="A sack">
<p>A second paragraph says more about the rye, the miller, and the year in which it was sold.</p>
<table><tr><th>Sacks</th><th>Year</th></tr><tr><td>40</td><td>2024</td></tr></table></article>
<footer>All rights reserved</footer></body></html>"""
URL = "https://grain.example/rye?from=news"


@pytest.fixture(scope="module")
def theirs() -> Any:
    return imported("trafilatura")


@pytest.fixture(scope="module")
def their_document() -> Any:
    return imported("readability").Document


def _parameters(call: Any) -> list[tuple[str, object, object]]:
    """Name, kind and default of each; how a configuration is given by default is their own."""
    return [
        (each.name, each.kind, None if each.name == "config" else each.default)
        for each in inspect.signature(call).parameters.values()
    ]


@pytest.mark.parametrize("name", ["extract", "bare_extraction", "extract_metadata", "fetch_url"])
def test_a_call_takes_what_trafilaturas_takes(theirs: Any, name: str) -> None:
    assert _parameters(getattr(trafilatura, name)) == _parameters(getattr(theirs, name))


@pytest.mark.parametrize(
    "name", ["__init__", "summary", "title", "short_title", "author", "content"]
)
def test_a_document_takes_what_readabilitys_takes(their_document: Any, name: str) -> None:
    ours, wanted = getattr(readability.Document, name), getattr(their_document, name)
    assert _parameters(ours) == _parameters(wanted)


@pytest.mark.parametrize("output_format", ["txt", "markdown", "json", "html"])
@pytest.mark.parametrize("with_metadata", [False, True])
def test_each_format_has_the_form_of_trafilaturas(
    theirs: Any, output_format: str, with_metadata: bool
) -> None:
    asked: dict[str, Any] = {"output_format": output_format, "with_metadata": with_metadata}
    ours, wanted = (
        call(PAGE, url=URL, record_id="7", **asked)
        for call in (trafilatura.extract, theirs.extract)
    )
    assert isinstance(ours, str)
    assert type(ours) is type(wanted)
    for text in ("sacks of rye sold", "A second paragraph"):
        assert text in ours
        assert text in wanted
    assert "All rights reserved" not in ours
    if output_format == "json":
        known, their_own = json.loads(ours), json.loads(wanted)
        assert known.keys() == their_own.keys()
        for name in ("title", "author", "date", "source", "source-hostname", "id", "tags"):
            assert known.get(name) == their_own.get(name)
    elif output_format != "html":
        assert ours.startswith("---\n") == with_metadata == wanted.startswith("---\n")


def test_bare_extraction_gives_the_fields_of_trafilaturas(theirs: Any) -> None:
    ours = trafilatura.bare_extraction(PAGE, url=URL, with_metadata=True)
    wanted = theirs.bare_extraction(PAGE, url=URL, with_metadata=True)
    assert isinstance(ours, trafilatura.Document)
    assert ours.as_dict().keys() == wanted.as_dict().keys()
    for name in ("title", "author", "url", "hostname", "sitename", "date", "categories", "tags"):
        assert getattr(ours, name) == getattr(wanted, name), name
    for name in ("text", "raw_text", "comments"):
        assert type(getattr(ours, name)) is type(getattr(wanted, name)), name
    plain = trafilatura.bare_extraction(PAGE, url=URL)
    assert isinstance(plain, trafilatura.Document)
    assert plain.title is None
    assert plain.title == theirs.bare_extraction(PAGE, url=URL).title
    assert isinstance(trafilatura.bare_extraction(PAGE, as_dict=True), dict)


def test_metadata_alone_is_what_trafilatura_finds(theirs: Any) -> None:
    ours, wanted = trafilatura.extract_metadata(PAGE, URL), theirs.extract_metadata(PAGE, URL)
    for name in ("title", "author", "url", "hostname", "sitename", "date"):
        assert getattr(ours, name) == getattr(wanted, name), name
    with pytest.raises(NotHtml):
        trafilatura.extract_metadata(b"a\0b" * 100)


def test_nothing_is_found_where_nothing_was_loaded(theirs: Any) -> None:
    assert theirs.extract(None) is None
    assert trafilatura.extract(None) is None
    assert trafilatura.bare_extraction(None) is None


def test_options_with_an_equivalent_do_what_they_say() -> None:
    def extract(**options: Any) -> str:
        found = trafilatura.extract(PAGE, url=URL, **options)
        assert found is not None
        return found

    assert "**forty**" in extract(output_format="markdown")
    assert "**" not in extract(output_format="markdown", include_formatting=False)
    assert "](https://grain.example/miller)" not in extract(output_format="markdown")
    assert "](https://grain.example/miller)" in extract(include_links=True)
    assert "![A sack](https://grain.example/sack.png)" in extract(include_images=True)
    assert "40" not in extract(include_tables=False)
    assert "2024-05-06" in extract(
        with_metadata=True, date_extraction_params={"original_date": False}
    )
    assert "Ann Lee" not in extract(author_blacklist={"Ann Lee"}, with_metadata=True)
    for discards in (
        {"target_language": "de"},
        {"url_blacklist": {"https://grain.example/rye"}},
        {"config": _config(MIN_OUTPUT_SIZE=100_000)},
        {"config": _config(MAX_FILE_SIZE=100)},
    ):
        assert trafilatura.extract(PAGE, url=URL, **discards) is None, discards
    assert trafilatura.extract("<p>Rye</p>", only_with_metadata=True) is None
    assert trafilatura.extract(PAGE, url=URL, target_language="en", only_with_metadata=True)


def _config(**values: int) -> ConfigParser:
    config = ConfigParser()
    config.read_dict({"DEFAULT": {name: str(value) for name, value in values.items()}})
    return config


def test_comments_stand_behind_the_text_unless_they_are_not_wanted() -> None:
    found = trafilatura.extract(commented_page())
    assert found is not None
    text, _, comments = found.partition(SAID[0])
    assert "The mill on the river" in text
    assert all(said in comments for said in SAID[1:])
    assert SAID[0] not in (trafilatura.extract(commented_page(), include_comments=False) or "")
    apart = trafilatura.bare_extraction(commented_page(), as_dict=True)
    assert isinstance(apart, dict)
    assert SAID[0] in apart["comments"]
    assert SAID[0] not in apart["text"]


def test_the_options_of_trafilaturas_own_extractor_are_read(theirs: Any) -> None:
    made = imported("trafilatura.settings").Extractor
    options = made(output_format="markdown", links=True, tables=False, url=URL, with_metadata=True)
    found = trafilatura.extract(PAGE, options=options)
    assert found is not None
    assert found.startswith('---\ntitle: "Rye at the old mill"')
    assert "[miller](https://grain.example/miller)" in found
    assert "40" not in found


@pytest.mark.parametrize(
    "options",
    [
        {"prune_xpath": "//nav"},
        {"deduplicate": True},
        {"max_tree_size": 10},
        {"tei_validation": True},
        {"output_format": "xmltei"},
        {"output_format": "xml"},
        {"output_format": "csv"},
        {"date_extraction_params": {"outputformat": "%d"}},
        {"settingsfile": "nowhere.cfg"},
    ],
)
def test_an_option_that_would_be_missed_is_refused_by_name(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(options))):
        trafilatura.extract(PAGE, **options)


def test_settings_are_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "settings.cfg"
    path.write_text("[DEFAULT]\nMIN_OUTPUT_SIZE = 100000\n", encoding="utf-8")
    assert trafilatura.extract(PAGE, settingsfile=str(path)) is None


@pytest.mark.parametrize("given", ["", b"", "<p></p>", b"a\0b" * 100])
def test_what_has_no_content_is_none_and_logged(
    theirs: Any, given: str | bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "dehusk"):
        assert trafilatura.extract(given) is None
        assert trafilatura.bare_extraction(given) is None
    assert len([record for record in caplog.records if record.name == "dehusk"]) == 2
    assert not theirs.extract(given)


def test_bytes_responses_and_elements_of_lxml_are_pages() -> None:
    wanted = trafilatura.extract(PAGE)
    assert trafilatura.extract(PAGE.encode()) == wanted
    assert trafilatura.extract(SimpleNamespace(data=PAGE.encode())) == wanted
    element = imported("lxml.html").fromstring(PAGE)
    assert trafilatura.extract(element) == wanted
    assert readability.Document(element).short_title() == "Rye at the old mill"
    with pytest.raises(UsageError, match="not int"):
        trafilatura.extract(7)


def test_a_readable_document_has_the_form_of_readabilitys(their_document: Any) -> None:
    ours, wanted = readability.Document(PAGE, url=URL), their_document(PAGE, url=URL)
    assert ours.title() == wanted.title() == "Rye at the old mill | Grain"
    assert ours.short_title() == wanted.short_title() == "Rye at the old mill"
    assert ours.author() == wanted.author() == "Ann Lee"
    for is_part in (False, True):
        summary, their_own = ours.summary(html_partial=is_part), wanted.summary(is_part)
        start = "<div>" if is_part else "<html><body><div>"
        assert summary.startswith(start)
        assert their_own.startswith(start[:5])
        assert "sacks of rye sold" in summary
        assert "All rights reserved" not in summary
    assert "All rights reserved" in ours.content()
    empty, their_empty = readability.Document("<p>Rye"), their_document("<p>Rye")
    assert empty.title() == their_empty.title() == "[no-title]"
    assert empty.author() == their_empty.author() == "[no-author]"


@pytest.mark.parametrize(
    "options", [{"positive_keywords": "news"}, {"negative_keywords": ["ads"]}, {"xpath": True}]
)
def test_what_readability_would_do_and_dehusk_not_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"dehusk\.extract"):
        readability.Document(PAGE, **options)


def test_a_page_that_cannot_be_used_is_unparseable() -> None:
    with pytest.raises(readability.Unparseable) as caught:
        readability.Document(b"a\0b" * 100).summary()
    assert isinstance(caught.value, NotHtml)
    with pytest.raises(PageTooLarge):
        readability.Document("x" * (dehusk.Limits().max_bytes + 1)).title()


@pytest.fixture
def allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets this machine be asked, without a wait."""
    monkeypatch.setattr(
        "dehusk.doors.drop_in.trafilatura.CrawlSettings",
        lambda **more: CrawlSettings(allow_private=(HOST,), delay_s=0, retries=0, **more),
    )


@pytest.mark.usefixtures("allowed")
def test_a_page_of_the_web_comes_as_text_and_what_cannot_be_had_is_none(
    caplog: pytest.LogCaptureFixture,
) -> None:
    latin = "<meta charset=iso-8859-1><p>Caf\u00e9".encode("latin-1")
    paths: dict[str, Any] = {
        "/": lambda request: request.page(latin),
        "/robots.txt": lambda request: request.page(b"User-agent: *\nDisallow: /secret\n"),
        "/secret": lambda request: request.page(PAGE.encode()),
    }
    with serve(paths) as server:
        assert trafilatura.fetch_url(f"{server.url}/") == latin.decode("latin-1")
        for path in ("/nowhere", "/secret"):
            assert trafilatura.fetch_url(server.url + path) is None
        assert server.asked() == ["/", "/nowhere"]
        with pytest.raises(UsageError, match="certificate"):
            trafilatura.fetch_url(server.url, no_ssl=True)
    assert "robots.txt" in caplog.text


def test_an_address_that_is_not_public_is_not_asked(caplog: pytest.LogCaptureFixture) -> None:
    with serve({"/": lambda request: request.page(PAGE.encode())}) as server:
        assert trafilatura.fetch_url(f"{server.url}/") is None
        assert not server.requests
    assert "not public" in caplog.text
    assert trafilatura.fetch_url("file:///etc/passwd") is None
