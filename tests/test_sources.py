"""Pages come out of files, folders, JSON lines and pipes, whatever state these are in.

Over 400 lines because every kind of source is tested through the one public function, with the
same few helpers; the headings part it.
"""

from __future__ import annotations

import gzip
import io
import json
import lzma
import os
import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

import dehusk
from dehusk.errors import (
    DamagedRecord,
    DehuskError,
    MissingExtra,
    NotHtml,
    PageTooLarge,
    SourceError,
    UsageError,
)
from dehusk.page.page import Page
from dehusk.settings import SiteBy, SourceSettings
from dehusk.sources import Failure, count_pages, read_pages

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.compress,
}
HTML = b"<title>Mill</title><p>Flour is ground on Tuesdays."
posix_only = pytest.mark.skipif(os.name != "posix", reason="links and rights as POSIX has them")


def read(*sources: str | Path, stdin: bytes = b"", **options: object) -> list[Page | Failure]:
    chosen = SourceSettings(**options)  # type: ignore[arg-type]
    return list(read_pages([str(source) for source in sources], chosen, io.BytesIO(stdin)))


def pages(items: Iterable[Page | Failure]) -> list[Page]:
    return [item for item in items if isinstance(item, Page)]


def errors(items: Iterable[Page | Failure]) -> list[DehuskError]:
    return [item.error for item in items if isinstance(item, Failure)]


def line(number: int, **more: object) -> bytes:
    record = {"url": f"https://example.org/{number}", "html": f"<p>Page {number}", **more}
    return json.dumps(record).encode() + b"\n"


def noise(number: int, size: int = 40_000) -> str:
    """Text that does not pack to nothing, the same on every run."""
    state, signs = number + 1, []
    for _ in range(size):
        state = (state * 1_103_515_245 + 12_345) % 2**31
        signs.append(chr(97 + (state >> 16) % 26))
    return "".join(signs)


# What is a source


@pytest.mark.parametrize("missing", ["no-such-file.html", "no/such/folder/", "a\0b", "x" * 5000])
def test_a_source_that_does_not_exist_is_refused_before_any_page_is_read(
    tmp_path: Path, missing: str
) -> None:
    (tmp_path / "a.html").write_bytes(HTML)
    with pytest.raises(UsageError):
        read_pages([str(tmp_path / "a.html"), str(tmp_path / missing)])


@pytest.mark.parametrize("url", ["http://example.org/", "HTTPS://example.org/a.html"])
def test_a_url_is_refused_with_the_reason(url: str) -> None:
    with pytest.raises(UsageError, match="must be saved first"):
        read_pages([url])


def test_a_source_without_a_name_is_refused_and_not_taken_for_this_folder() -> None:
    with pytest.raises(UsageError, match="an empty SOURCE"):
        read_pages([""])
    with pytest.raises(UsageError, match="an empty SOURCE"):
        count_pages([""])


@pytest.mark.parametrize("wrong", [["mirror"], None, 5, b"mirror"])
def test_a_source_that_is_neither_text_nor_a_path_is_refused(wrong: Any) -> None:
    for read in (dehusk.read, dehusk.clean):
        with pytest.raises(UsageError, match=r"a SOURCE is text or a path, not .+ name several"):
            read(wrong)


def test_standard_input_can_be_named_only_once() -> None:
    with pytest.raises(UsageError, match="once"):
        read_pages(["-", "-"])


def test_sources_are_read_in_the_order_given(tmp_path: Path) -> None:
    for name in ("b.html", "a.html"):
        (tmp_path / name).write_bytes(name.encode())
    got = read(tmp_path / "b.html", "-", tmp_path / "a.html", stdin=b"between")
    assert [page.html for page in pages(got)] == [b"b.html", b"between", b"a.html"]


def test_no_source_gives_no_page() -> None:
    assert read() == []


# One file


@pytest.mark.parametrize("name", ["a.html", "a.HTM", "a.xhtml", "a.txt", "noending"])
def test_a_file_is_one_page_given_as_bytes(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "mill"
    folder.mkdir()
    (folder / name).write_bytes(b"\xff" + HTML)
    assert read(folder / name) == [Page(b"\xff" + HTML, f"file:{name}", "mill")]


def test_an_empty_file_is_counted_and_an_empty_page_only_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a.html").touch()
    left_out: Counter[str] = Counter()
    assert list(read_pages([str(tmp_path / "a.html")], left_out=left_out)) == []
    assert left_out == {"empty source": 1}
    assert [page.html for page in pages(read(tmp_path))] == [b""]


def test_a_file_name_is_percent_encoded_in_its_url(tmp_path: Path) -> None:
    (tmp_path / "50% of é: #1?.html").write_bytes(HTML)
    (page,) = pages(read(tmp_path / "50% of é: #1?.html"))
    assert page.url == "file:50%25%20of%20%C3%A9%3A%20%231%3F.html"


@posix_only
def test_a_file_name_that_is_not_utf_8_still_has_a_url(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.html")
    (tmp_path / name).write_bytes(HTML)
    assert [page.url for page in pages(read(tmp_path))] == ["file:caf%E9.html"]


def test_a_page_of_the_allowed_size_is_read_and_one_byte_more_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(b"x" * 300_000)
    assert len(pages(read(tmp_path / "a.html", max_bytes=300_000))) == 1
    (failure,) = read(tmp_path / "a.html", max_bytes=299_999)
    assert isinstance(failure, Failure)
    assert isinstance(failure.error, PageTooLarge)
    assert (failure.url, failure.site) == ("file:a.html", tmp_path.name)


def test_a_file_of_unknown_kind_with_records_is_json_lines(tmp_path: Path) -> None:
    (tmp_path / "crawl.out").write_bytes(b"\n" + line(1) + line(2))
    assert [page.url for page in pages(read(tmp_path / "crawl.out"))] == [
        "https://example.org/1",
        "https://example.org/2",
    ]


@pytest.mark.parametrize("html", [b"{% block %}<p>x", b'{"a": 1}\n<p>x', b"{\n", b"  \n{x"])
def test_a_file_of_unknown_kind_that_only_begins_with_a_brace_is_a_page(
    tmp_path: Path, html: bytes
) -> None:
    (tmp_path / "page.tpl").write_bytes(html)
    assert [page.html for page in pages(read(tmp_path / "page.tpl"))] == [html]


def test_an_html_file_that_holds_json_is_still_a_page(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(line(1))
    assert [page.html for page in pages(read(tmp_path / "a.html"))] == [line(1)]


# Packed files


@pytest.mark.parametrize("suffix", PACKERS)
def test_a_packed_page_is_unpacked(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.html{suffix.upper()}"
    path.write_bytes(PACKERS[suffix](HTML))
    assert [page.html for page in pages(read(path))] == [HTML]


@pytest.mark.parametrize("suffix", PACKERS)
def test_packed_data_is_known_by_its_first_bytes_without_a_name(
    tmp_path: Path, suffix: str
) -> None:
    packed = PACKERS[suffix](line(1) + line(2))
    (tmp_path / "crawl.jsonl").write_bytes(packed)
    assert len(pages(read(tmp_path / "crawl.jsonl"))) == 2
    assert len(pages(read("-", stdin=packed))) == 2


@pytest.mark.parametrize("suffix", PACKERS)
def test_files_packed_in_pieces_are_read_to_the_end(tmp_path: Path, suffix: str) -> None:
    pack = PACKERS[suffix]
    pieces = b"".join(pack(line(number)) for number in range(50)) + bytes(8)
    path = tmp_path / f"crawl.jsonl{suffix}"
    path.write_bytes(pieces)
    got = read(path)
    assert errors(got) == []
    assert len(got) == 50


def test_a_zstd_frame_without_data_is_passed_over(tmp_path: Path) -> None:
    empty_frame = b"\x50\x2a\x4d\x18" + (4).to_bytes(4, "little") + b"skip"
    (tmp_path / "a.html.zst").write_bytes(empty_frame + zstandard.compress(HTML))
    assert [page.html for page in pages(read(tmp_path / "a.html.zst"))] == [HTML]


@pytest.mark.parametrize("suffix", PACKERS)
def test_a_packed_file_that_was_cut_off_gives_the_pages_before_the_cut(
    tmp_path: Path, suffix: str
) -> None:
    whole = PACKERS[suffix](b"".join(line(number, html=noise(number)) for number in range(12)))
    cut = tmp_path / f"cut.jsonl{suffix}"
    cut.write_bytes(whole[: len(whole) * 3 // 4])
    (tmp_path / "next.html").write_bytes(HTML)
    got = read(cut, tmp_path / "next.html")
    numbers = [page.url for page in pages(got)]
    assert numbers[:-1] == [f"https://example.org/{n}" for n in range(len(numbers) - 1)]
    assert len(numbers) - 1 >= 6
    assert numbers[-1] == "file:next.html"
    (error,) = errors(got)
    assert isinstance(error, SourceError)
    assert "cut off" in str(error)
    assert str(cut) in str(error)


@pytest.mark.parametrize("suffix", PACKERS)
def test_damage_in_the_middle_leaves_the_pages_before_it(tmp_path: Path, suffix: str) -> None:
    pack = PACKERS[suffix]
    first = b"".join(pack(line(number, html=noise(number))) for number in range(4))
    broken = bytearray(pack(line(4, html=noise(4))))
    broken[20:60] = bytes(40)
    (tmp_path / f"a.jsonl{suffix}").write_bytes(first + broken)
    got = read(tmp_path / f"a.jsonl{suffix}")
    assert len(pages(got)) >= 3
    assert isinstance(errors(got)[-1], SourceError)


def test_a_wrong_checksum_is_reported_behind_the_pages(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(line(1) + line(2)))
    packed[-8] ^= 1
    (tmp_path / "a.jsonl.gz").write_bytes(packed)
    got = read(tmp_path / "a.jsonl.gz")
    assert len(pages(got)) == 2
    assert len(errors(got)) == 1


@pytest.mark.parametrize("suffix", PACKERS)
@pytest.mark.parametrize("data", [b"", HTML])
def test_a_file_that_is_not_packed_as_its_name_says_is_damaged(
    tmp_path: Path, suffix: str, data: bytes
) -> None:
    (tmp_path / f"a.html{suffix}").write_bytes(data)
    (failure,) = read(tmp_path / f"a.html{suffix}")
    assert isinstance(failure, Failure)
    assert isinstance(failure.error, SourceError)
    assert failure.url == f"file:a.html{suffix}"


@pytest.mark.parametrize("suffix", PACKERS)
def test_a_bomb_is_refused_without_being_unpacked(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"bomb.html{suffix}"
    path.write_bytes(PACKERS[suffix](bytes(40_000_000)))
    tracemalloc.start()
    got = read(path, max_bytes=100_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(errors(got)[0], PageTooLarge)
    assert peak < 25_000_000


def test_without_the_extra_a_zst_source_is_refused_and_a_zst_in_a_folder_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    (tmp_path / "a.html.zst").write_bytes(zstandard.compress(HTML))
    (tmp_path / "b.html").write_bytes(HTML)
    with pytest.raises(MissingExtra, match=r"dehusk\[zstd\]"):
        read_pages([str(tmp_path / "a.html.zst")])
    failure, page = read(tmp_path)
    assert isinstance(failure, Failure)
    assert isinstance(failure.error, MissingExtra)
    assert isinstance(page, Page)
    assert isinstance(errors(read("-", stdin=zstandard.compress(HTML)))[0], MissingExtra)


@settings(max_examples=60, deadline=None)
@given(data=st.binary(max_size=200), magic=st.sampled_from([b"\x1f\x8b\x08", b"\xfd7zXZ\0", b""]))
def test_no_bytes_on_standard_input_stop_the_run(data: bytes, magic: bytes) -> None:
    for item in read("-", stdin=magic + data):
        assert isinstance(item, Page | Failure)


# Folders


def test_maps_of_folders_below_give_urls_too(tmp_path: Path) -> None:
    for name in ("a/b/1.html", "a/2.html", "c.html", "d/3.html"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("<p>Rye")
    maps = {
        "": {"c.html": "https://one.example/c", "a/2.html": "https://one.example/2"},
        "a": {"b/1.html": "https://two.example/1", "2.html": "https://two.example/2"},
        "a/b": {"unknown.html": "https://three.example/"},
    }
    for folder, urls in maps.items():
        (tmp_path / folder / "index.json").write_text(json.dumps(urls))
    (tmp_path / "d" / "index.json").write_text("[1, 2]")  # The site's own.
    pages = read(tmp_path)
    assert [page.url for page in pages if isinstance(page, Page)] == [
        "https://two.example/2",
        "https://two.example/1",
        "https://one.example/c",
        "file:d/3.html",
    ]
    assert len(pages) == 4


def test_a_folder_gives_its_html_files_in_the_order_of_their_paths(tmp_path: Path) -> None:
    names = ["a.html", "a/b.HTML", "a/c/d.xhtml", "a0.htm", "B.html", "é.html", "z.html.gz"]
    for name in [*names, "notes.txt", "data.jsonl", "a/page.html.bak"]:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress(HTML) if name.endswith(".gz") else HTML)
    got = read(tmp_path)
    assert errors(got) == []
    assert [page.url for page in pages(got)] == [
        "file:B.html",
        "file:a.html",
        "file:a/b.HTML",
        "file:a/c/d.xhtml",
        "file:a0.htm",
        "file:z.html.gz",
        "file:%C3%A9.html",
    ]
    assert {page.site for page in pages(got)} == {tmp_path.name}
    assert count_pages([str(tmp_path)]) == 7


def test_an_index_gives_urls_and_with_them_sites(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.html").write_bytes(HTML)
    (tmp_path / "c.html").write_bytes(HTML)
    index = {"a/b.html": "https://www.example.org/b", "gone.html": "https://example.org/gone"}
    (tmp_path / "index.json").write_text(json.dumps(index))
    assert [(page.url, page.site) for page in pages(read(tmp_path))] == [
        ("https://www.example.org/b", "www.example.org"),
        ("file:c.html", tmp_path.name),
    ]


@pytest.mark.parametrize("index", [b"{", b"[]", b'{"a.html": 1}', b"\xff", b"[" * 100_000])
def test_a_damaged_index_is_one_failure_and_the_pages_are_read(
    tmp_path: Path, index: bytes
) -> None:
    (tmp_path / "a.html").write_bytes(HTML)
    (tmp_path / "b.html").write_bytes(HTML)
    (tmp_path / "index.json").write_bytes(index)
    failure, *rest = read(tmp_path)
    assert isinstance(failure, Failure)
    assert isinstance(failure.error, SourceError)
    assert "index.json" in str(failure.error)
    assert [page.url for page in pages(rest)] == ["file:a.html", "file:b.html"]


@posix_only
def test_links_in_a_folder_are_not_followed(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    outside.mkdir()
    inside.mkdir()
    (outside / "secret.html").write_bytes(HTML)
    (outside / "index.json").write_text('{"own.html": "https://example.org/own"}')
    (inside / "own.html").write_bytes(HTML)
    (inside / "file.html").symlink_to(outside / "secret.html")
    (inside / "folder").symlink_to(outside)
    (inside / "loop").symlink_to(inside)
    (inside / "index.json").symlink_to(outside / "index.json")
    assert [page.url for page in pages(read(inside))] == ["file:own.html"]


@posix_only
def test_a_source_that_is_itself_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.html").write_bytes(HTML)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert [page.site for page in pages(read(tmp_path / "link"))] == ["real"]


@posix_only
def test_what_may_not_be_read_fails_and_the_rest_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(HTML)
    (tmp_path / "b.html").write_bytes(HTML)
    (tmp_path / "c").mkdir()
    (tmp_path / "a.html").chmod(0)
    (tmp_path / "c").chmod(0)
    may_read_all = os.access(tmp_path / "a.html", os.R_OK)
    got = read(tmp_path)
    (tmp_path / "c").chmod(0o700)
    if may_read_all:
        pytest.skip("whoever runs this may read everything, as root does")
    assert [page.url for page in pages(got)] == ["file:b.html"]
    assert len(errors(got)) == 2


@posix_only
def test_a_source_folder_that_may_not_be_read_is_a_failure(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(0)
    (tmp_path / "b.html").write_bytes(HTML)
    may_read_all = os.access(closed, os.R_OK)
    got = read(closed, tmp_path / "b.html")
    closed.chmod(0o700)
    if may_read_all:
        pytest.skip("whoever runs this may read everything, as root does")
    assert [page.url for page in pages(got)] == ["file:b.html"]
    assert {type(error) for error in errors(got)} == {SourceError}


def test_a_file_that_vanishes_while_a_folder_is_read_is_a_failure(tmp_path: Path) -> None:
    for name in ("a.html", "b.html", "c/d.html", "e.html"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(HTML)
    reading = read_pages([str(tmp_path)])
    assert isinstance(next(reading), Page)
    (tmp_path / "b.html").unlink()
    (tmp_path / "c" / "d.html").unlink()
    (tmp_path / "c").rmdir()
    rest = list(reading)
    assert [page.url for page in pages(rest)] == ["file:e.html"]
    assert [type(error) for error in errors(rest)] == [SourceError, SourceError]


def test_a_deep_folder_is_read_without_recursion(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["d"] * 600)
    deep.mkdir(parents=True)
    (deep / "a.html").write_bytes(HTML)
    assert len(pages(read(tmp_path))) == 1


def test_an_empty_folder_gives_nothing(tmp_path: Path) -> None:
    assert read(tmp_path) == []


# JSON lines


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson", "a.json", "a.JSONL"])
def test_json_lines_are_known_by_name(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(line(1) + b"\r\n\n  \n" + line(2).strip())
    assert read(tmp_path / name) == [
        Page("<p>Page 1", "https://example.org/1", "example.org"),
        Page("<p>Page 2", "https://example.org/2", "example.org"),
    ]


def test_a_byte_order_mark_before_the_first_record_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"\xef\xbb\xbf" + line(1))
    assert len(pages(read(tmp_path / "a.jsonl"))) == 1
    assert len(pages(read("-", stdin=b"\xef\xbb\xbf" + line(1)))) == 1


def test_other_field_names_can_be_chosen(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"body": "<p>x", "at": "https://example.org/x"}')
    assert read(tmp_path / "a.jsonl", html_field="body", url_field="at") == [
        Page("<p>x", "https://example.org/x", "example.org")
    ]


def test_a_record_without_url_or_site_belongs_to_the_folder_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"html": "<p>x", "url": null, "site": ""}')
    assert read(tmp_path / "a.jsonl") == [Page("<p>x", None, tmp_path.name)]


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (b"{not json}", "not JSON"),
        (b'{"html": "<p>', "not JSON"),
        (b'{"html": "\xff"}', "not UTF-8"),
        (b'"text"', "JSON object"),
        (b"17", "JSON object"),
        (b"9" * 5000, "JSON object"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"url": "https://example.org/x"}', "no `html`"),
        (b'{"html": null}', "no `html`"),
        (b'{"html": 5}', "no `html`"),
        (b'{"html": "<p>", "url": 5}', "`url` is not text"),
        (b'{"html": "<p>", "site": []}', "`site` is not text"),
    ],
)
def test_a_line_without_a_page_is_a_failure_with_its_number(
    tmp_path: Path, bad: bytes, said: str
) -> None:
    (tmp_path / "a.jsonl").write_bytes(line(1) + bad + b"\n" + line(3))
    first, failure, last = read(tmp_path / "a.jsonl")
    assert isinstance(first, Page)
    assert isinstance(last, Page)
    assert isinstance(failure, Failure)
    assert isinstance(failure.error, NotHtml if "no `html`" in said else DamagedRecord)
    assert said in str(failure.error)
    assert "a.jsonl:2" in str(failure.error)


def test_a_failed_record_keeps_its_url_and_site(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"url": "https://example.org/x", "html": null}')
    (failure,) = read(tmp_path / "a.jsonl")
    assert isinstance(failure, Failure)
    assert (failure.url, failure.site) == ("https://example.org/x", "example.org")


def test_a_json_array_is_one_failure_that_says_what_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('[\n{"html": "<p>"},\n{"html": "<p>"}\n]')
    (error,) = errors(read(tmp_path / "a.json"))
    assert "JSON lines" in str(error)


def test_a_line_that_is_too_long_is_passed_over_without_holding_it(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with path.open("wb") as file:
        file.write(line(1) + b'{"html": "')
        for _ in range(40):
            file.write(b"x" * 1_000_000)
        file.write(b'"}\n' + line(3))
    tracemalloc.start()
    first, failure, last = read(path, max_bytes=1000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(first, Page)
    assert isinstance(last, Page)
    assert isinstance(failure, Failure)
    assert isinstance(failure.error, PageTooLarge)
    assert "a.jsonl:2" in str(failure.error)
    assert peak < 10_000_000


def test_a_line_of_exactly_the_allowed_length_is_read(tmp_path: Path) -> None:
    allowed = 2 * 100 + 1_000_000
    for extra, expected in ((0, 1), (1, 0)):
        record = b'{"html": "%s"}\n' % (b"x" * (allowed + extra - 13))
        assert len(record) == allowed + extra
        (tmp_path / "a.jsonl").write_bytes(record + line(2))
        assert len(pages(read(tmp_path / "a.jsonl", max_bytes=100))) == expected + 1


def test_half_a_surrogate_pair_in_a_record_is_handed_on(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"html": "\\ud800", "url": "https://\\ud800.example/"}')
    (page,) = pages(read(tmp_path / "a.jsonl"))
    assert page.html == "\ud800"
    assert page.site == tmp_path.name


# Standard input


def test_standard_input_that_begins_with_a_brace_is_json_lines() -> None:
    assert [page.url for page in pages(read("-", stdin=line(1) + line(2)))] == [
        "https://example.org/1",
        "https://example.org/2",
    ]


@pytest.mark.parametrize("html", [HTML, b"  \n<p>x", b" " * 5000 + b"<p>x"])
def test_other_standard_input_is_one_page_without_url(html: bytes) -> None:
    assert read("-", stdin=html) == [Page(html, None, "stdin")]


def test_empty_standard_input_is_no_page() -> None:
    assert read("-", stdin=b"") == []


def test_closed_standard_input_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.html").write_bytes(HTML)
    monkeypatch.setattr(sys, "stdin", None)
    failure, page = read_pages(["-", str(tmp_path / "a.html")])
    assert isinstance(failure, Failure)
    assert isinstance(failure.error, SourceError)
    assert "closed" in str(failure.error)
    assert isinstance(page, Page)


def test_a_pipe_gives_each_page_as_soon_as_its_line_is_there() -> None:
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as stdin:
        os.write(writer, line(1))
        reading = read_pages(["-"], stdin=stdin)
        assert isinstance(next(reading), Page)
        os.write(writer, line(2)[:5])
        os.write(writer, line(2)[5:])
        assert isinstance(next(reading), Page)
        os.close(writer)
        assert list(reading) == []


@posix_only
def test_a_named_pipe_is_read_as_standard_input_is(tmp_path: Path) -> None:
    for sent, expected in (
        (line(1), Page("<p>Page 1", "https://example.org/1", "example.org")),
        (HTML, Page(HTML, None, "stdin")),
    ):
        reader, writer = os.pipe()
        os.write(writer, sent)
        os.close(writer)
        assert read(f"/dev/fd/{reader}") == [expected]
        os.close(reader)


# Sites


@pytest.mark.parametrize(
    ("url", "by", "site"),
    [
        ("https://www.Example.org/a/b", SiteBy.HOST, "www.example.org"),
        ("https://user:pw@example.org:443/", SiteBy.HOST, "example.org"),
        ("http://example.org:8080/", SiteBy.HOST, "example.org:8080"),
        ("http://example.org./", SiteBy.HOST, "example.org"),
        ("http://[::1]:8000/", SiteBy.HOST, "[::1]:8000"),
        ("https://bücher.example/", SiteBy.HOST, "xn--bcher-kva.example"),
        ("https://xn--bcher-kva.example/", SiteBy.HOST, "xn--bcher-kva.example"),
        ("https://a.b.example.co.uk/", SiteBy.DOMAIN, "example.co.uk"),
        ("https://www.example.org/", SiteBy.DOMAIN, "example.org"),
        ("https://example.org/", SiteBy.DOMAIN, "example.org"),
        ("https://shop.example.org:8443/", SiteBy.DOMAIN, "example.org:8443"),
        ("http://192.0.2.7/", SiteBy.DOMAIN, "192.0.2.7"),
        ("http://[2001:db8::1]/", SiteBy.DOMAIN, "[2001:db8::1]"),
        ("http://localhost:8000/", SiteBy.DOMAIN, "localhost:8000"),
        ("https://example.org/docs/a/b.html", SiteBy.PREFIX, "example.org/docs"),
        ("https://example.org/about.html", SiteBy.PREFIX, "example.org"),
        ("https://example.org", SiteBy.PREFIX, "example.org"),
        ("https://example.org//x/y", SiteBy.PREFIX, "example.org"),
        ("http://[broken/", SiteBy.HOST, "stdin"),
        ("http://example.org:99999/", SiteBy.HOST, "stdin"),
        ("/a/b.html", SiteBy.PREFIX, "stdin"),
        ("mailto:somebody@example.org", SiteBy.HOST, "stdin"),
        ("https://" + "a." * 5000 + "example.org/", SiteBy.DOMAIN, "a." * 5000 + "example.org"),
    ],
)
def test_the_site_of_a_page_comes_from_its_url(url: str, by: SiteBy, site: str) -> None:
    record = json.dumps({"url": url, "html": ""}).encode()
    assert [page.site for page in pages(read("-", stdin=record, site_by=by))] == [site]


def test_a_stated_site_outranks_the_url_and_a_chosen_one_outranks_both() -> None:
    record = line(1, site="mill")
    assert [page.site for page in pages(read("-", stdin=record))] == ["mill"]
    assert [page.site for page in pages(read("-", stdin=record, site="own"))] == ["own"]


def test_a_chosen_site_holds_for_files_folders_and_failures(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(HTML)
    (tmp_path / "b.jsonl").write_bytes(b"{broken\n")
    got = read(tmp_path, tmp_path / "a.html", tmp_path / "b.jsonl", "-", stdin=HTML, site="own")
    assert [item.site for item in got] == ["own"] * 4


@settings(max_examples=100)
@given(url=st.text(max_size=60), by=st.sampled_from(SiteBy))
def test_every_url_gives_some_site(url: str, by: SiteBy) -> None:
    for prefix in ("", "https://", "http://example.org/"):
        record = json.dumps({"url": prefix + url, "html": ""}).encode()
        (page,) = pages(read("-", stdin=record, site_by=by))
        assert page.site


# Counting


def test_pages_are_counted_only_where_that_needs_no_reading(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(HTML)
    (tmp_path / "b.jsonl").write_bytes(line(1))
    assert count_pages([str(tmp_path), str(tmp_path / "a.html")]) == 2
    assert count_pages([str(tmp_path), str(tmp_path / "b.jsonl")]) is None
    assert count_pages(["-"]) is None


@pytest.mark.parametrize(("there", "counted"), [(10_000, 10_000), (10_001, None), (10**9, None)])
def test_counting_ends_at_10_000_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: int, counted: int | None
) -> None:
    def find(root: Path) -> Iterator[str | SourceError]:
        yield SourceError("no access")
        for number in range(there):
            assert number <= 10_000, "counted on"
            yield f"{number}.html"

    monkeypatch.setattr("dehusk.sources.folders.find_files", find)
    assert count_pages([str(tmp_path)]) == counted
    assert count_pages([str(tmp_path), str(tmp_path)]) is None


def test_the_library_reads_what_the_command_line_reads(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<p>One.")
    lines = tmp_path / "b.jsonl"
    lines.write_text('{"url": "https://b.example/", "html": "<p>Two."}\n{"url": 3}\n')
    failures: list[Failure] = []
    pages = list(dehusk.read(tmp_path / "a.html", str(lines), failed=failures.append))
    assert [page.html for page in pages] == [b"<p>One.", "<p>Two."]
    items = list(read_pages([str(tmp_path / "a.html"), str(lines)]))
    assert [item for item in items if isinstance(item, Page)] == pages
    assert [str(failure.error) for failure in failures] == [
        str(item.error) for item in items if isinstance(item, Failure)
    ]


def test_what_the_library_cannot_read_is_logged_or_refused(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "a.jsonl").write_text("{}\n")
    assert list(dehusk.read(tmp_path / "a.jsonl")) == []
    assert "a.jsonl:1: no `html`" in caplog.text
    with pytest.raises(UsageError, match="No such file"):
        dehusk.read(tmp_path / "b.jsonl")
