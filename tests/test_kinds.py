"""Input that is no HTML, or is not in the charset that it states."""

from __future__ import annotations

import codecs
import json
import time
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

import dehusk
from dehusk.doors.cli import main
from dehusk.errors import IsFeed, IsJson, NotHtml
from dehusk.page.kinds import as_html, mended
from dehusk.page.page import Page

NOTE = "Sown in spring:\n\n    oats      12\n    barley & rye\n\nBy <anna@mill.example>, if 1 < 2."
SAID = "<h1>Crème brûlée</h1><p>Für größere Gäste, señor: café à la crème — “déjà vu”.</p>"
PLAIN = "Crème brûlée\nFür größere Gäste, señor: café à la crème — “déjà vu”."
RSS = '<rss version="2.0"><channel><title>Mill</title></channel></rss>'
ATOM = '<feed xmlns="http://www.w3.org/2005/Atom"><title>Mill</title></feed>'
RDF = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"></rdf:RDF>'
XML = '<?xml version="1.0" encoding="utf-8"?>\n<!-- by hand -->\n<?xml-stylesheet href="a.xsl"?>\n'


def _meta(charset: str) -> str:
    return f"<!doctype html><meta charset={charset}>{SAID}"


@pytest.mark.parametrize(
    "html",
    [NOTE, "\ufeff" + NOTE, NOTE.encode(), NOTE.encode("utf-8-sig"), NOTE.encode("utf-16")],
)
def test_plain_text_keeps_its_lines(html: str | bytes) -> None:
    result = dehusk.extract(html)
    assert result.text == NOTE
    assert NOTE in result.markdown
    assert result.problem is None


@pytest.mark.parametrize("charset", ["utf-16", "utf-16-le", "UTF-16BE", "iso-2022-jp"])
@pytest.mark.parametrize("said", ["自分の本です\n2 < 3 &amp", "書く\n\n  ｱｲｳ"])
def test_plain_text_keeps_its_signs_where_halves_of_them_are_those_of_html(
    said: str, charset: str
) -> None:
    coder = "iso2022_jp_ext" if charset == "iso-2022-jp" else charset
    page = Page(said.encode(coder), charset=charset)
    assert dehusk.extract(page).text == said


def test_text_in_a_charset_of_that_kind_that_nobody_knows_is_no_failure() -> None:
    assert dehusk.extract(Page(b"Rye\nOats", charset="iso-2022-rye")).text == "Rye\nOats"


def test_html_in_a_charset_of_that_kind_is_html() -> None:
    page = Page("<p>自分の本です\n</p>".encode("iso2022_jp"), charset="iso-2022-jp")
    assert dehusk.extract(page).text == "自分の本です"


@pytest.mark.parametrize(
    "written", [codecs.BOM_UTF16_LE + NOTE.encode("utf-16-le"), NOTE.encode("utf-8-sig")]
)
def test_a_text_file_with_a_byte_order_mark_is_text(tmp_path: Path, written: bytes) -> None:
    (tmp_path / "note.txt").write_bytes(written)
    assert [result.text for result in dehusk.clean(tmp_path / "note.txt")] == [NOTE]


def test_a_page_in_utf_16_that_was_saved_as_text_is_a_page(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_bytes(f"<html><body>{SAID}".encode("utf-16"))
    assert [result.text for result in dehusk.clean(tmp_path / "note.txt")] == [PLAIN]


@pytest.mark.parametrize("name", ["note.txt", "note", "NOTE.TXT"])
def test_a_file_of_plain_text_keeps_its_lines(tmp_path: Path, name: str) -> None:
    said = NOTE + ("\n<b>bold</b> &amp; brave" if name.lower().endswith(".txt") else "")
    (tmp_path / name).write_text(said, encoding="utf-8")
    assert main(["clean", str(tmp_path / name), "-o", str(tmp_path / "out.text"), "--format",
                 "text", "-q"]) == 0  # fmt: skip
    assert (tmp_path / "out.text").read_text(encoding="utf-8") == said + "\n"


@pytest.mark.parametrize(
    "html", ["Rye &amp;\noats", "Rye<br>\noats", "</p>\nRye", "<!-- a -->\nRye"]
)
def test_what_has_any_sign_of_html_is_html(html: str) -> None:
    assert "<pre>" not in dehusk.extract(html).tree.source.decode()


@pytest.mark.parametrize("head", ["", XML, "\n\n"])
@pytest.mark.parametrize(("feed", "name"), [(RSS, "RSS"), (ATOM, "Atom"), (RDF, "RSS")])
def test_a_feed_is_refused_by_name_with_what_to_do(head: str, feed: str, name: str) -> None:
    for html in (head + feed, (head + feed).encode()):
        with pytest.raises(
            IsFeed, match=f"an? {name} feed, .*clean the pages that it links"
        ) as met:
            dehusk.extract(html)
        assert met.value.code == "feed"


@pytest.mark.parametrize(
    "html",
    [
        '{"title": "Rye"}',
        '\n [{"title": "Rye"}]\n',
        b'{"html": "<p>Rye"}',
        b"\xef\xbb\xbf{}",
        "\ufeff[]",
    ],
)
def test_json_is_refused_by_name_with_what_to_do(html: str | bytes) -> None:
    with pytest.raises(IsJson, match=r"JSON, .*--html-field") as met:
        dehusk.extract(html)
    assert met.value.code == "json"
    assert isinstance(met.value, NotHtml)


@pytest.mark.parametrize(
    "html", ["[1] See the note\nbelow.", "{{ title }}\nRye", "{", "[Rye] or\n[oats]"]
)
def test_text_that_begins_like_json_is_text(html: str) -> None:
    assert dehusk.extract(html).text == html


@pytest.mark.parametrize(
    "html", [f"{XML}<html xmlns='http://www.w3.org/1999/xhtml'><p>Rye", "<p>&lt;rss>"]
)
def test_a_page_that_begins_like_a_feed_is_a_page(html: str) -> None:
    assert dehusk.extract(html).text


def test_a_feed_on_the_command_line_is_one_failure_with_its_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "news.xml").write_text(XML + RSS, encoding="utf-8")
    assert main(["clean", str(tmp_path / "news.xml"), "--format", "jsonl"]) == 1
    found = capsys.readouterr()
    assert json.loads(found.out)["error"]["code"] == "feed"
    assert "an RSS feed" in found.err


@pytest.mark.parametrize("transport", [None, "utf-8", "UTF8"])
def test_latin_1_that_states_utf_8_is_noticed_by_its_bytes(transport: str | None) -> None:
    page = Page(_meta("utf-8").encode("windows-1252"), charset=transport)
    assert dehusk.extract(page).text == PLAIN


@pytest.mark.parametrize("stated", ["iso-8859-1", "windows-1252", "ISO-8859-1", "latin1"])
@pytest.mark.parametrize("is_in_transport", [True, False])
def test_utf_8_that_states_latin_1_is_noticed_by_its_bytes(
    stated: str, is_in_transport: bool
) -> None:
    html = _meta("utf-8" if is_in_transport else stated).encode()
    page = Page(html, charset=stated if is_in_transport else None)
    assert dehusk.extract(page).text == PLAIN
    assert dehusk.extract(page, keep="h1").text == PLAIN


@pytest.mark.parametrize("charset", ["windows-1252", "iso-8859-15", "utf-8"])
def test_a_charset_that_is_stated_rightly_is_believed(charset: str) -> None:
    said = "<p>Crème brûlée für größere Gäste"
    html = f"<meta charset={charset}>{said}".encode(charset)
    assert dehusk.extract(html).text == said.removeprefix("<p>")


@pytest.mark.parametrize("stated", ["", "<meta charset=utf-8>"])
def test_one_broken_character_does_not_turn_a_page_of_utf_8_into_another(stated: str) -> None:
    html = stated.encode() + SAID.encode() + b"<p>A broken \xe9 sign</p>" + SAID.encode()
    assert dehusk.extract(html).text.count("Crème brûlée") == 2


def test_a_page_that_was_cut_off_in_a_character_stays_utf_8() -> None:
    html = b"<meta charset=utf-8><p>Rye is a grain, and so is caf\xc3"
    assert dehusk.extract(html).text.startswith("Rye is a grain, and so is caf\ufffd")


def test_russian_that_states_utf_8_is_not_taken_for_a_language_of_the_west() -> None:
    html = b"<meta charset=utf-8><p>" + "Рожь и овёс".encode("windows-1251")
    assert "Ð" not in dehusk.extract(html).text
    assert "\ufffd" in dehusk.extract(html).text


def test_a_hostile_start_takes_no_time() -> None:
    began = time.process_time()
    for start in (
        "<!---->" * 500,
        "<?a?>" * 700,
        "<!--" * 900,
        " " * 4000,
        "<?" * 2000,
        "[" * 4000,
    ):
        dehusk.extract(start + "<p>Rye")
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    "end", [b"", b"\xd1", b"\xe9\xe9\xe9\xe9 Rye"], ids=["whole", "cut off", "broken"]
)
def test_a_long_page_takes_few_times_its_size_to_mend(end: bytes) -> None:
    for word in ("я", "яa"):
        page = Page(b"<table>x<p>" + word.encode() * 300_000 + end)
        assert _memory(partial(mended, page)) < 6 * len(page.html)


@pytest.mark.parametrize("html", [b"[" + b"[]," * 300_000 + b"[]]", b"[]," * 300_000])
def test_what_may_be_json_is_not_built(html: bytes) -> None:
    assert _memory(partial(_refused, html)) < 2 * len(html)


def _refused(html: bytes) -> None:
    with suppress(IsJson):
        as_html(Page(html))


def _memory(run: Callable[[], object]) -> int:
    """The most bytes that Python holds at once in a run."""
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
