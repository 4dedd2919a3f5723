"""Pages come out of Parquet files, records with any field names, and mirrors with their URLs."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dehusk
from dehusk.doors.cli import main
from dehusk.errors import MissingExtra, NotHtml, PageTooLarge, SourceError
from dehusk.page.page import Page
from dehusk.settings import SourceSettings
from dehusk.sources import Failure, count_pages, read_pages, records
from dehusk.sources.folders import mirrored_url


def read(path: Path, **options: object) -> list[Page | Failure]:
    return list(read_pages([str(path)], SourceSettings(**options)))  # type: ignore[arg-type]


def write(path: Path, columns: Mapping[str, Sequence[object]], rows: int = 100) -> Path:
    pq.write_table(pa.table(dict(columns)), path, row_group_size=rows)
    return path


# Parquet


def test_a_parquet_file_gives_its_rows_in_order(tmp_path: Path) -> None:
    urls = [f"https://mill.example/{number}" for number in range(50)]
    html = [f"<p>{number}" for number in range(50)]
    path = write(tmp_path / "a.parquet", {"other": [1] * 50, "url": urls, "html": html}, rows=7)
    assert read(path) == [
        Page(text, url, "mill.example") for text, url in zip(html, urls, strict=True)
    ]
    assert count_pages([str(path)]) is None


def test_columns_may_have_other_names_and_hold_bytes(tmp_path: Path) -> None:
    columns: dict[str, list[object]] = {"body": [b"<p>\xff"], "at": ["https://a.example/"]}
    path = write(tmp_path / "a.PARQUET", columns | {"who": ["mill"]})
    names = {"html_field": "body", "url_field": "at", "site_field": "who"}
    assert read(path, **names) == [Page(b"<p>\xff", "https://a.example/", "mill")]


def test_a_row_without_a_page_is_a_failure_with_its_number(tmp_path: Path) -> None:
    html: list[object] = ["<p>x", None, "y" * 100]
    items = read(write(tmp_path / "a.parquet", {"html": html}), max_bytes=50)
    first, second = (item.error for item in items if isinstance(item, Failure))
    assert isinstance(first, NotHtml)
    assert "row 2" in str(first)
    assert isinstance(second, PageTooLarge)
    (wrong,) = read(write(tmp_path / "b.parquet", {"html": ["<p>"], "url": [5]}))
    assert isinstance(wrong, Failure)


def test_a_parquet_file_without_the_column_says_which(tmp_path: Path) -> None:
    (failure,) = read(write(tmp_path / "a.parquet", {"text": ["x"]}))
    assert isinstance(failure, Failure)
    assert isinstance(failure.error, SourceError)
    assert "no column `html`" in str(failure.error)


@pytest.mark.parametrize("at", [0, 10, 300, -5, -200])
def test_a_damaged_parquet_file_is_a_failure_and_not_a_crash(tmp_path: Path, at: int) -> None:
    html: list[object] = [f"<p>{number}" * 50 for number in range(100)]
    data = bytearray(write(tmp_path / "a.parquet", {"html": html}, rows=10).read_bytes())
    for place in range(at, at + 4):
        data[place] ^= 0xFF
    for damaged in (bytes(data), bytes(data[: len(data) // 2]), b"PAR1", b""):
        (tmp_path / "b.parquet").write_bytes(damaged)
        items = read(tmp_path / "b.parquet")
        assert all(isinstance(item, Page) for item in items[:-1])
        assert damaged == bytes(data) or isinstance(items[-1], Failure)


def test_without_the_extra_parquet_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow.parquet", None)
    (tmp_path / "a.parquet").touch()
    with pytest.raises(MissingExtra, match=r"dehusk\[parquet\]"):
        read_pages([str(tmp_path / "a.parquet")])


def test_json_lines_may_name_the_site_otherwise(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps({"html": "<p>", "host": "mill"}))
    assert read(tmp_path / "a.jsonl", site_field="host") == [Page("<p>", None, "mill")]


# Mirrors


@pytest.mark.parametrize(
    ("path", "url"),
    [
        ("mill.example/index.html", "https://mill.example/"),
        ("mill.example/a/index.htm", "https://mill.example/a/"),
        ("Mill.Example/a/b.html", "https://mill.example/a/b.html"),
        ("mill.example:8080/a.html", "https://mill.example:8080/a.html"),
        ("mill.example+8080/a.html.gz", "https://mill.example:8080/a.html"),
        ("mill.example/show.php?id=3&x=é.html", "https://mill.example/show.php?id=3&x=%C3%A9"),
        ("mill.example/a b%20c#.html", "https://mill.example/a%20b%20c%23.html"),
        ("v1.2/a.html", None),
        ("docs/mill.example/a.html", None),
        ("mill.example", None),
    ],
)
def test_the_url_of_a_mirrored_page_is_recovered_from_its_path(path: str, url: str | None) -> None:
    assert mirrored_url("pages", path, b"") == url


def test_a_folder_named_after_a_host_is_a_mirror_of_it(tmp_path: Path) -> None:
    folder = tmp_path / "mill.example"
    (folder / "a").mkdir(parents=True)
    (folder / "a" / "b.html").write_bytes(b"<p>")
    assert read(folder) == [Page(b"<p>", "https://mill.example/a/b.html", "mill.example")]
    assert read(tmp_path) == read(folder)


def test_httracks_comment_outranks_the_path_on_the_same_host_only() -> None:
    def comment(url: str) -> bytes:
        return f"<html>\n<!-- Mirrored from {url} by HTTrack Website Copier/3.x -->".encode()

    path = "mill.example/show4f2a.html"
    found = mirrored_url("m", path, comment("mill.example/show.php?id=3"))
    assert found == "https://mill.example/show.php?id=3"
    for other in ("evil.example/x", "mill.example.evil.example/", "mill.example\nx"):
        assert mirrored_url("m", path, comment(other)) == "https://mill.example/show4f2a.html"


def test_the_index_outranks_a_mirrors_path(tmp_path: Path) -> None:
    (tmp_path / "mill.example").mkdir()
    for name in ("a.html", "b.html"):
        (tmp_path / "mill.example" / name).write_bytes(b"<p>")
    (tmp_path / "index.json").write_text('{"mill.example/a.html": "https://old.example/"}')
    urls = [item.url for item in read(tmp_path)]
    assert urls == ["https://old.example/", "https://mill.example/b.html"]


@given(folder=st.text(max_size=20), path=st.text(st.characters(exclude_categories=["Cs"])))
def test_no_path_stops_the_run(folder: str, path: str) -> None:
    assert (mirrored_url(folder, path, b"<p>") or "https://").startswith("https://")


def test_files_put_one_behind_another_may_each_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    line = b'\xef\xbb\xbf{"url": "https://a.example/%d", "html": "<p>x"}\n'
    (tmp_path / "a.jsonl").write_bytes(line % 1 + line % 2)
    pages = list(dehusk.read(tmp_path / "a.jsonl"))
    assert [page.url for page in pages] == ["https://a.example/1", "https://a.example/2"]


def test_of_a_page_out_of_json_lines_one_form_is_held(tmp_path: Path) -> None:
    path, html = tmp_path / "large.jsonl", "<p>rye" * 300_000
    path.write_text((json.dumps({"html": html}) + "\n") * 3)
    pages = read_pages([str(path)])
    tracemalloc.start()
    try:
        for _ in range(3):
            page = next(pages)
            assert isinstance(page, Page)
            assert tracemalloc.get_traced_memory()[0] < 1.2 * len(html)
            del page
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
def test_a_named_field_that_no_record_has_is_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    records = [{"link": "https://a.example/1", "html": "<p>x"}] * 3
    if name.endswith(".jsonl"):
        lines = "".join(json.dumps(one) + "\n" for one in records)
        (tmp_path / name).write_text(lines, encoding="utf-8")
    else:
        pq.write_table(pa.Table.from_pylist(records), tmp_path / name)
    for field in ("url", "link"):
        assert main(["clean", str(tmp_path / name), "-o", "-", "-q", "--url-field", field]) == 0
    assert caplog.messages == []
    assert main(["clean", str(tmp_path / name), "-o", "-", "-q", "--url-field", "lnik"]) == 0
    (message,) = caplog.messages
    assert message.endswith(f"{name}: no record has the field `lnik` of --url-field")


_ODD_LINES = (
    '{"url": "u", "html": "ü \\u2028 \\ud83d\\ude00"}', '{"html": "\\ud800"}',
    '{"html": "a", "html": "b"}', '{"html": "x", "n": NaN}', '{"html": "x", "n": 1e999}',
    '{"html": "x", "n": -0.0}', '{"html": "x", "n": 99999999999999999999}', "[]", "1", '"x"',
    '{"html": "\x01"}', '{"html": "x"} y', '{"html": ', "", "[" * 5000,
)  # fmt: skip


@pytest.mark.parametrize("line", _ODD_LINES)
def test_a_line_says_what_the_standard_library_reads_in_it(line: str) -> None:
    try:
        expected = repr(json.loads(line))
    except (ValueError, RecursionError):
        with pytest.raises(ValueError, match="JSON"):
            records._parse(line.encode())
    else:
        assert repr(records._parse(line.encode())) == expected


def test_a_record_with_a_number_that_python_refuses_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"url": "https://a.example/", "html": "<p>x", "n": ' + "9" * 5000 + "}\n")
    (page,) = read_pages([str(path)])
    assert page == Page("<p>x", "https://a.example/", "a.example")
