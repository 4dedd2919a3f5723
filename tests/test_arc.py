"""Pages come out of ARC files, which archives were written in before WARC."""

from __future__ import annotations

import gzip
import io
import json
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dehusk.doors.cli import main
from dehusk.errors import DamagedRecord, PageTooLarge
from dehusk.page.page import Page
from dehusk.settings import SourceSettings
from dehusk.sources import Failure, read_pages
from warcs import archive as warc
from warcs import http, page, url, whole
from warcs import response as warc_response

DATE = "20051231235958"
PACKERS: dict[str, Callable[[bytes], bytes]] = {".arc": whole, ".arc.gz": gzip.compress}
packed = pytest.mark.parametrize("suffix", PACKERS)


def line(target: str, kind: str, length: int, *, version: int = 1, date: str = DATE) -> bytes:
    more = " 200 - - 1234 mill.arc" if version == 2 else ""
    return f"{target} 192.0.2.7 {date} {kind}{more} {length}\n".encode()


def record(target: str, block: bytes, kind: str = "text/html", **more: Any) -> bytes:
    return line(target, kind, len(block), **more) + block + b"\n"


def description(version: int = 1) -> bytes:
    names = "URL IP-address Archive-date Content-type Archive-length"
    return record("filedesc://mill.arc", f"{version} 0 Mill\n{names}\n".encode(), "text/plain")


def response(number: int, **more: Any) -> bytes:
    return record(url(number), http(page(number)), "text/html", **more)


def archive(*records: bytes, suffix: str = ".arc", version: int = 1) -> bytes:
    return b"".join(PACKERS[suffix](each) for each in (description(version), *records))


def read(data: bytes, **options: object) -> tuple[list[Page], list[Failure], Counter[str]]:
    left_out: Counter[str] = Counter()
    settings = SourceSettings(**options)  # type: ignore[arg-type]
    items = list(read_pages(["-"], settings, io.BytesIO(data), left_out))
    pages = [item for item in items if isinstance(item, Page)]
    return pages, [item for item in items if isinstance(item, Failure)], left_out


@packed
@pytest.mark.parametrize("version", [1, 2])
def test_an_arc_file_is_an_archive_and_not_one_page(suffix: str, version: int) -> None:
    records = [response(number, version=version) for number in range(4)]
    pages, failures, _ = read(archive(*records, suffix=suffix, version=version))
    assert failures == []
    assert [each.url for each in pages] == [url(number) for number in range(4)]
    assert [each.html for each in pages] == [page(number) for number in range(4)]
    capture = pages[0].capture
    assert capture is not None
    assert (capture.date, capture.status) == ("2005-12-31T23:59:58Z", 200)


@packed
def test_the_command_line_cleans_an_arc_file_by_its_name(tmp_path: Path, suffix: str) -> None:
    source, target = tmp_path / f"mill{suffix}", tmp_path / "out.jsonl"
    source.write_bytes(archive(response(1), response(2), suffix=suffix))
    assert main(["clean", str(source), "-o", str(target), "-q"]) == 0
    lines = [json.loads(each) for each in target.read_text("utf-8").splitlines()]
    assert [each["url"] for each in lines] == [url(1), url(2)]


def test_records_without_a_page_are_counted_by_what_they_are() -> None:
    data = archive(
        record("dns:mill.example", b"20051231\nmill.example. 600 IN A 192.0.2.7", "text/dns"),
        record(url(1), http(b"\x89PNG", kind="image/png"), "image/png"),
        record(url(2), http(b"gone", status=404)),
        record(url(3), b"<title>No header</title><p>Page of an old server"),
        response(4),
    )
    pages, failures, left_out = read(data)
    assert [each.url for each in pages] == [url(3), url(4)]
    assert failures == []
    assert left_out == {"resource records": 1, "responses that are no HTML": 1, "error pages": 1}


def test_a_url_with_spaces_is_read_whole() -> None:
    pages, failures, _ = read(archive(record("https://mill.example/a b c", http(page(1)))))
    assert (failures, [each.url for each in pages]) == ([], ["https://mill.example/a b c"])


@pytest.mark.parametrize("date", ["2005", "20051231", "20051231235958123"])
def test_a_record_with_another_date_is_read(date: str) -> None:
    pages, failures, _ = read(archive(response(1, date=date.ljust(8, "0"))))
    assert (failures, len(pages)) == ([], 1)


def test_a_record_that_is_cut_off_is_damaged() -> None:
    pages, failures, _ = read(archive(response(1), response(2))[:-200])
    assert [each.url for each in pages] == [url(1)]
    assert [(each.url, type(each.error)) for each in failures] == [(url(2), DamagedRecord)]
    assert "are claimed" in str(failures[0].error)


def test_behind_a_wrong_length_reading_goes_on_at_the_next_record() -> None:
    wrong = line(url(1), "text/html", 50) + http(page(1)) + b"\n"
    pages, failures, _ = read(archive(wrong, response(2)))
    assert pages[-1].html == page(2)
    assert [type(each.error) for each in failures] == [DamagedRecord]


def test_a_damaged_member_costs_only_its_record() -> None:
    members = [PACKERS[".arc.gz"](each) for each in (description(), response(1), response(2))]
    broken = bytearray(members[1])
    broken[len(broken) // 2] ^= 0xFF
    pages, failures, _ = read(members[0] + bytes(broken) + members[2])
    assert [each.url for each in pages] == [url(2)]
    assert all(isinstance(each.error, DamagedRecord) for each in failures)
    assert failures


def test_a_record_that_is_too_large_is_passed_over() -> None:
    large = record(url(1), http(b"<title>x</title>" + b"x" * 1_500_000))
    pages, failures, _ = read(archive(large, response(2)), max_bytes=100_000)
    assert [each.url for each in pages] == [url(2)]
    assert [(each.url, type(each.error)) for each in failures] == [(url(1), PageTooLarge)]


@packed
@pytest.mark.parametrize("length", [5, 5_000, 9_000, 99_999_999_999])
def test_a_wrong_length_costs_no_record_but_its_own(suffix: str, length: int) -> None:
    records = [response(number) for number in range(6)]
    records[2] = line(url(2), "text/html", length) + http(page(2)) + b"\n"
    pages, failures, _ = read(archive(*records, suffix=suffix))
    assert [each.url for each in pages] == [url(number) for number in (0, 1, 3, 4, 5)]
    assert [(each.url, type(each.error)) for each in failures] == [(url(2), DamagedRecord)]


@packed
def test_a_wrong_length_that_ends_at_a_line_end_swallows_no_record(suffix: str) -> None:
    lines = record(url(2), http(b"<title>x</title>\n<p>y\n" * 200))
    wrong = line(url(1), "text/html", len(http(page(1))) + 1 + lines.index(b"<p>y") - 1)
    data = archive(wrong + http(page(1)) + b"\n", lines, response(3), suffix=suffix)
    pages, failures, _ = read(data)
    assert [each.url for each in pages] == [url(2), url(3)]
    assert [each.url for each in failures] == [url(1)]


def test_a_length_that_counts_the_line_end_is_believed() -> None:
    block = http(page(1)) + b"\n"
    records = line(url(1), "text/html", len(block)) + block, response(2)
    pages, failures, _ = read(archive(*records))
    assert (failures, [each.url for each in pages]) == ([], [url(1), url(2)])


@pytest.mark.parametrize("more", range(2, 90))
def test_a_length_that_ends_inside_the_next_line_swallows_no_part_of_it(more: int) -> None:
    wrong = line(url(1), "text/html", len(http(page(1))) + more) + http(page(1)) + b"\n"
    pages, failures, _ = read(archive(wrong, response(2)))
    assert [each.url for each in pages] == [url(2)]
    assert [each.url for each in failures] == [url(1)]


def test_members_without_a_line_end_behind_their_record_are_read() -> None:
    members = [gzip.compress(response(number)[:-1]) for number in range(3)]
    pages, failures, _ = read(gzip.compress(description()) + b"".join(members))
    assert (failures, [each.url for each in pages]) == ([], [url(0), url(1), url(2)])


def test_a_damaged_member_is_reported_once() -> None:
    member = gzip.compress(response(1))
    data = gzip.compress(description()) + member[:-300] + gzip.compress(response(2))
    pages, failures, _ = read(data)
    assert [each.url for each in pages] == [url(2)]
    assert len(failures) == 1


def test_thousands_of_tiny_members_take_no_time_by_their_square() -> None:
    began = time.process_time()
    read(gzip.compress(description()) + gzip.compress(b"x") * 20_000)
    assert time.process_time() - began < 4


def test_thousands_of_false_lengths_take_no_time_by_their_square() -> None:
    wrong = line(url(1), "text/html", 900_000) + b"x\n"
    began = time.process_time()
    _, failures, _ = read(archive(*[wrong] * 5_000, suffix=".arc.gz"))
    assert len(failures) == 5_000
    assert time.process_time() - began < 8


@pytest.mark.parametrize("suffix", [".warc", ".warc.gz"])
def test_a_warc_file_that_is_called_arc_is_read(tmp_path: Path, suffix: str) -> None:
    source = tmp_path / f"mill{suffix.replace('warc', 'arc')}"
    source.write_bytes(warc([warc_response(1), warc_response(2)], suffix))
    items = list(read_pages([str(source)], SourceSettings()))
    assert [each.url for each in items if isinstance(each, Page)] == [url(1), url(2)]
