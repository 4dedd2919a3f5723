"""Pages come out of web archives, however these are packed, written and damaged."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import time
import tracemalloc
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import brotli
import pytest
import zstandard
from hypothesis import example, given
from hypothesis import strategies as st

from dehusk.errors import DamagedRecord, MissingExtra, NotHtml, PageTooLarge, SourceError
from dehusk.page.page import Capture, Page
from dehusk.settings import SourceSettings
from dehusk.sources import Failure, count_pages, read_pages
from dehusk.sources.warc import pieces
from warcs import PACKERS, archive, http, page, record, response, url

packed = pytest.mark.parametrize("suffix", PACKERS)


def read(
    data: bytes, folder: Path | None = None, name: str = "-", **options: object
) -> tuple[list[Page], list[Failure], Counter[str]]:
    """The pages, the failures and the counts of an archive, as a file or on standard input."""
    if folder:
        (folder / name).write_bytes(data)
        name = str(folder / name)
    left_out: Counter[str] = Counter()
    settings = SourceSettings(**options)  # type: ignore[arg-type]
    items = list(read_pages([name], settings, io.BytesIO(data), left_out))
    found = [item for item in items if isinstance(item, Page)]
    return found, [item for item in items if isinstance(item, Failure)], left_out


def numbers(found: list[Page]) -> list[int]:
    """Which of the test's pages they are; every one must be whole."""
    which = [int((each.url or "").rpartition("/")[2]) for each in found]
    assert [each.html for each in found] == [page(number) for number in which]
    return which


# Whole archives


@packed
def test_every_page_of_an_archive_comes_out_in_order(tmp_path: Path, suffix: str) -> None:
    data = archive([response(number) for number in range(5)], suffix)
    found, failures, _ = read(data, tmp_path, f"crawl{suffix}")
    assert numbers(found) == [0, 1, 2, 3, 4]
    assert failures == []
    assert found[0].site == "mill.example"
    assert count_pages([str(tmp_path / f"crawl{suffix}")]) is None


@packed
def test_an_archive_is_known_by_its_first_bytes(tmp_path: Path, suffix: str) -> None:
    data = archive([response(1), response(2)], suffix)
    assert numbers(read(data)[0]) == [1, 2]
    assert numbers(read(data, tmp_path, "noending")[0]) == [1, 2]


def test_an_archive_packed_as_a_whole_is_read() -> None:
    plain = archive([response(number) for number in range(50)], ".warc")
    assert numbers(read(gzip.compress(plain))[0]) == list(range(50))
    assert numbers(read(zstandard.compress(plain))[0]) == list(range(50))


def test_an_archive_packed_by_xz_is_read(tmp_path: Path) -> None:
    data = lzma.compress(archive([response(1), response(2)], ".warc"))
    assert numbers(read(data, tmp_path, "a.warc.xz")[0]) == [1, 2]


def test_members_may_end_inside_records() -> None:
    plain = archive([response(number) for number in range(20)], ".warc")
    cuts = [plain[at : at + 1000] for at in range(0, len(plain), 1000)]
    found, failures, _ = read(b"".join(map(gzip.compress, cuts)))
    assert numbers(found) == list(range(20))
    assert failures == []


@pytest.mark.parametrize("is_packed", [False, True])
def test_the_dictionary_of_a_zst_archive_is_used(is_packed: bool) -> None:
    records = [response(number) for number in range(40)]
    dictionary = zstandard.train_dictionary(4096, [each[:400] for each in records])
    packer = zstandard.ZstdCompressor(dict_data=dictionary)
    written = dictionary.as_bytes()
    written = zstandard.compress(written) if is_packed else written
    first = b"\x5d\x2a\x4d\x18" + len(written).to_bytes(4, "little") + written
    found, failures, _ = read(first + b"".join(map(packer.compress, records)))
    assert numbers(found) == list(range(40))
    assert failures == []


def test_without_the_extra_zst_archives_are_refused_and_gz_ones_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "zstandard", None)
    monkeypatch.setattr("dehusk.sources.compression.inflating", zlib)
    monkeypatch.setattr(pieces, "INFLATE_FAULTS", (zlib.error,))
    (tmp_path / "a.warc.zst").touch()
    with pytest.raises(MissingExtra, match=r"dehusk\[zstd\]"):
        read_pages([str(tmp_path / "a.warc.zst")])
    assert numbers(read(archive([response(1)]))[0]) == [1]


def test_records_that_hold_no_page_are_counted_by_what_they_are() -> None:
    found, failures, left_out = read(
        archive([
            record(b"software: mill", kind="warcinfo", Content_Type="application/warc-fields"),
            record(b"GET / HTTP/1.1\r\n\r\n", url(1), kind="request"),
            response(1),
            record(http(b"", status=304), url(1), kind="revisit"),
            record(http(b"moved", status=301), url(2)),
            record(http(b"gone", status=404), url(3)),
            record(http(b"\x89PNG", kind="image/png"), url(4)),
            record(http(b"no type", kind=""), url(5)),
            record(b"20260101\nmill.example. A", "dns:mill.example", Content_Type="text/dns"),
            record(b"plain", url(1), kind="conversion", Content_Type="text/plain"),
        ])
    )  # fmt: skip
    assert numbers(found) == [1]
    assert failures == []
    assert left_out == {
        "warcinfo records": 1,
        "request records": 1,
        "revisit records": 1,
        "redirects": 1,
        "error pages": 1,
        "responses that are no HTML": 2,
        "responses of other protocols": 1,
        "conversion records": 1,
    }


def test_pages_come_from_resources_and_from_responses_that_look_like_one() -> None:
    sniffed = record(http(b"\n<!DOCTYPE html><p>x", kind=""), url(2))
    stated = record(
        http(b"x", kind=""), url(3), WARC_Identified_Payload_Type="application/xhtml+xml"
    )
    resource = record(page(1), url(1), "resource", Content_Type="text/html; charset=koi8-r")
    found, _, left_out = read(archive([resource, sniffed, stated]))
    assert [each.url for each in found] == [url(1), url(2)]
    assert found[0].charset == "koi8-r"
    assert left_out == {"responses that are no HTML": 1}


@pytest.mark.parametrize(
    ("stated", "charset"),
    [
        ("text/html", None),
        ("text/html; charset=ISO-8859-5", "ISO-8859-5"),
        ('Text/HTML;charset="koi8-r"; x=y', "koi8-r"),
    ],
)
def test_the_charset_comes_from_the_header(stated: str, charset: str | None) -> None:
    (found,), _, _ = read(record(http(page(1), kind=stated), url(1)))
    assert found.charset == charset


def test_urls_in_angle_brackets_and_folded_headers_are_read() -> None:
    block = http(page(1), kind="\r\n\ttext/html;\r\n charset=koi8-r")
    (found,), _, _ = read(record(block, f"<{url(1)}>"))
    assert (found.url, found.charset) == (url(1), "koi8-r")


def test_a_page_carries_where_the_archive_has_it_from() -> None:
    (found,), _, _ = read(response(1, WARC_Record_ID="<urn:uuid:1>"))
    assert found.capture == Capture("<urn:uuid:1>", "2026-01-02T03:04:05Z", None, 200)


# Bodies


def chunked(body: bytes, size: int = 777) -> bytes:
    chunks = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x;a=b\r\n%s\r\n" % (len(each), each) for each in chunks) + b"0\r\n\r\n"


def raw_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


CODINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": lambda body: gzip.compress(body[:100]) + gzip.compress(body[100:]),
    "deflate": zlib.compress,
    "Deflate": raw_deflate,
    "br": lambda body: brotli.compress(body, quality=1),
    "zstd": zstandard.compress,
    "identity": lambda body: body,
    "gzip, br": lambda body: brotli.compress(gzip.compress(body)),
}


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("is_chunked", [False, True])
def test_bodies_are_unpacked_and_their_chunks_joined(coding: str, is_chunked: bool) -> None:
    body = CODINGS[coding](page(1))
    headers = [f"Content-Encoding: {coding}"]
    if is_chunked:
        body, headers = chunked(body), [*headers, "Transfer-Encoding: chunked"]
    found, failures, _ = read(record(http(body, *headers), url(1)))
    assert failures == []
    assert numbers(found) == [1]
    assert found[0].capture
    assert found[0].capture.truncated is None


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_a_body_that_is_already_plain_is_taken_as_it_is(coding: str) -> None:
    headers = (f"Content-Encoding: {coding}", "Transfer-Encoding: chunked")
    assert numbers(read(record(http(page(1), *headers), url(1)))[0]) == [1]


@pytest.mark.slow
@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_a_bomb_in_a_body_is_refused_without_being_unpacked(coding: str) -> None:
    body = CODINGS[coding](b"<p>" + b"\0" * 100_000_000)
    data = record(http(body, f"Content-Encoding: {coding}"), url(1)) + response(2)
    tracemalloc.start()
    found, (failure,), _ = read(data, max_bytes=1_000_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert numbers(found) == [2]
    assert isinstance(failure.error, PageTooLarge)
    assert peak < 60_000_000


def test_an_unknown_coding_and_a_damaged_body_are_failures_of_their_page() -> None:
    strange = record(http(b"xyz", "Content-Encoding: compress"), url(1))
    damaged = bytearray(gzip.compress(page(2)))
    damaged[400] ^= 255
    broken = record(http(bytes(damaged), "Content-Encoding: gzip"), url(2))
    found, (first, second), _ = read(strange + broken + response(3))
    assert numbers(found) == [3]
    assert isinstance(first.error, NotHtml)
    assert isinstance(second.error, DamagedRecord)
    assert second.url == url(2)
    assert f"stdin, byte {len(strange)}: its body cannot be decompressed" in str(second.error)


def test_without_the_extra_a_page_packed_by_brotli_fails_by_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "brotli", None)
    body = http(brotli.compress(page(1)), "Content-Encoding: br")
    found, (failure,), _ = read(record(body, url(1)) + response(2))
    assert numbers(found) == [2]
    assert isinstance(failure.error, MissingExtra)


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (response(1, WARC_Truncated="length"), "length"),
        (response(1, WARC_Segment_Number="1"), "segment"),
        (record(http(page(1), f"Content-Length: {len(page(1)) + 1}"), url(1)), "short"),
        (record(http(chunked(page(1))[:-7], "Transfer-Encoding: chunked"), url(1)), "short"),
        (response(1), None),
    ],
)
def test_a_page_that_was_cut_is_given_and_says_so(data: bytes, word: str | None) -> None:
    (found,), failures, _ = read(data)
    assert failures == []
    assert found.capture
    assert found.capture.truncated == word


def test_a_cut_page_says_so_in_its_answer() -> None:
    from dehusk.memory.session import Session  # noqa: PLC0415

    (found,), _, _ = read(response(1, WARC_Truncated="time"))
    assert Session().add(found).to_json()["truncated"] == "time"
    assert "truncated" not in Session().add(Page("<p>x")).to_json()


# Damage: five records, of which number 2 suffers


def member(suffix: str, number: int = 2) -> bytes:
    return archive([response(number)], suffix)


def flipped(suffix: str) -> bytes:
    data = bytearray(member(suffix))
    for at in range(len(data) // 2, len(data) // 2 + 40):
        data[at] ^= 0x5A
    return bytes(data)


def packed_record(suffix: str, data: bytes) -> bytes:
    return PACKERS[suffix](data)


DAMAGES: dict[str, Callable[[str], bytes]] = {
    "cut off in its middle": lambda s: member(s)[: len(member(s)) // 2],
    "cut off in its header": lambda s: member(s)[:40],
    "its first bytes gone": lambda s: member(s)[200:],
    "bytes changed inside": lambda s: flipped(s) if s != ".warc" else b"X" + response(2)[1:],
    "random bytes in its place": lambda s: bytes(n * 7919 % 251 for n in range(1, 5000)),
    "zeros over its end": lambda s: member(s)[:-600] + b"\0" * 600,
    "a length far too large": lambda s: packed_record(
        s, response(2, Content_Length="10" + "0" * 12)
    ),
    "a length too large": lambda s: packed_record(s, response(2, Content_Length="9000")),
    "a length too small": lambda s: packed_record(s, response(2, Content_Length="100")),
    "no length": lambda s: packed_record(s, response(2, Content_Length="")),
    "a negative length": lambda s: packed_record(s, response(2, Content_Length="-5")),
    "a length that is no number": lambda s: packed_record(s, response(2, Content_Length="9" * 40)),
    "a header without end": lambda s: packed_record(s, b"WARC/1.1\r\n" + b"x" * 300_000),
    "another version": lambda s: packed_record(s, response(2).replace(b"WARC/1.1", b"CRAW/9.9")),
    "a second start of it": lambda s: member(s)[:300] + member(s, 2)[:500],
    "text between records": lambda s: packed_record(s, b"disk error, retrying\n" * 50),
    "a wrong checksum": lambda s: (
        member(s)[:-6] + b"\1\2" + member(s)[-4:] if s == ".warc.gz" else member(s)[:-9]
    ),
    "its last bytes gone": lambda s: member(s)[:-20],
}


def test_there_are_at_least_16_kinds_of_damage() -> None:
    assert len(DAMAGES) >= 16


@packed
@pytest.mark.parametrize("kind", DAMAGES)
@pytest.mark.parametrize("as_file", [False, True], ids=["pipe", "file"])
def test_all_good_records_around_a_damaged_one_are_read(
    tmp_path: Path, suffix: str, kind: str, as_file: bool
) -> None:
    before, after = archive([response(0), response(1)], suffix), archive([response(3)], suffix)
    data = before + DAMAGES[kind](suffix) + after + archive([response(4)], suffix)
    folder = tmp_path if as_file else None
    found, failures, _ = read(data, folder, f"a{suffix}" if as_file else "-")
    assert numbers(found) == [0, 1, 3, 4]
    assert failures
    assert all(isinstance(failure.error, DamagedRecord) for failure in failures)
    assert f"byte {len(before)}" in str(failures[0].error)


@packed
@pytest.mark.parametrize("kind", DAMAGES)
def test_damage_at_the_end_and_at_the_start_of_a_file_is_reported(
    tmp_path: Path, suffix: str, kind: str
) -> None:
    damaged, good = DAMAGES[kind](suffix), archive([response(1)], suffix)
    for data in (good + damaged, damaged + good):
        found, failures, _ = read(data, tmp_path, f"a{suffix}")
        assert numbers(found) == [1]
        assert failures


@packed
def test_all_kinds_of_damage_in_one_archive_hide_no_good_record(suffix: str) -> None:
    good = archive([response(1)], suffix)
    damaged = b"".join(DAMAGES[kind](suffix) + good for kind in DAMAGES)
    found, failures, _ = read(good + damaged * 5)
    assert numbers(found) == [1] * (1 + 5 * len(DAMAGES))
    assert len(failures) >= 5 * len(DAMAGES)


@given(data=st.binary(max_size=300), packer=st.sampled_from(sorted(PACKERS)))
@example(data=b"WARC/1.0\r\nContent-Length: 99", packer=".warc")
def test_no_bytes_stop_the_run_or_hide_what_comes_behind(data: bytes, packer: str) -> None:
    good = archive([response(1)], packer)
    found, _, _ = read(good + data + good + good)
    assert numbers(found)[-1:] == [1]
    assert len(found) >= 2


@pytest.mark.slow
def test_a_huge_record_is_passed_over_in_bounded_memory() -> None:
    size = 80_000_000
    large = record(http(b"", kind="video/mp4") + b"v" * size, url(1))
    page_too_large = record(http(b"<p>" * (size // 3)), url(2))
    data = large + page_too_large + response(3)
    tracemalloc.start()
    found, (failure,), left_out = read(data, max_bytes=1_000_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert numbers(found) == [3]
    assert isinstance(failure.error, PageTooLarge)
    assert left_out == {"responses that are no HTML": 1}
    assert peak < 20_000_000


def test_a_file_made_of_false_starts_ends(tmp_path: Path) -> None:
    headers = b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 2000000\r\n\r\n" * 5000
    found, failures, _ = read(headers + response(1), max_bytes=1_000_000)
    assert numbers(found) == [1]
    assert len(failures) == 5000
    members = gzip.compress(response(1))[:30] * 3000
    found, failures, _ = read(members + archive([response(1)]), tmp_path, "a.warc.gz")
    assert numbers(found) == [1]
    assert failures


# WACZ


def test_a_header_in_thousands_of_tiny_members_takes_no_time_by_their_square() -> None:
    start = gzip.compress(response(1)) + gzip.compress(b"WARC/1.1\r\nWARC-Type: ")
    began = time.process_time()
    found, failures, _ = read(start + gzip.compress(b"x") * 20_000 + gzip.compress(response(2)))
    assert (numbers(found), len(failures)) == ([1, 2], 1)
    assert time.process_time() - began < 4


def wacz(path: Path, entries: dict[str, bytes], way: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", way) as file:
        for name, data in entries.items():
            file.writestr(name, data)
    return path


ENTRIES = {
    "datapackage.json": json.dumps({"profile": "data-package"}).encode(),
    "archive/one.warc.gz": archive([response(1), response(2)]),
    "archive/two.warc": archive([response(3)], ".warc"),
    "../../archive/evil.warc.gz": archive([response(9)]),
    "indexes/index.cdx.gz": gzip.compress(b"example,mill)/ 2026 {}"),
    "pages/pages.jsonl": b"{}",
}


@pytest.mark.parametrize("way", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_wacz_gives_the_pages_of_its_archives(tmp_path: Path, way: int) -> None:
    path = wacz(tmp_path / "a.wacz", ENTRIES, way)
    found, failures, _ = read(path.read_bytes(), tmp_path, "a.WACZ")
    assert numbers(found) == [1, 2, 3]
    assert failures == []


def test_a_wacz_without_its_list_of_files_is_searched_for_records(tmp_path: Path) -> None:
    data = wacz(tmp_path / "a.wacz", ENTRIES).read_bytes()
    found, failures, _ = read(data[:-200], tmp_path, "b.wacz")
    assert numbers(found)[:2] == [1, 2]
    assert "list of files is damaged" in str(failures[0].error)
    assert isinstance(failures[0].error, SourceError)


def test_a_damaged_archive_in_a_wacz_does_not_hide_the_next(tmp_path: Path) -> None:
    good = archive([response(1)])
    first = bytearray(archive([response(5), response(6)]))
    first[len(first) // 4] ^= 255
    entries = {"archive/a.warc.gz": bytes(first), "archive/b.warc.gz": good}
    path = wacz(tmp_path / "a.wacz", entries)
    found, failures, _ = read(path.read_bytes(), tmp_path, "a.wacz")
    assert numbers(found) == [6, 1]
    assert failures


def test_what_is_no_zip_file_is_a_failure_and_not_a_crash(tmp_path: Path) -> None:
    for data in (b"", b"PK\5\6" + b"\0" * 18, b"x" * 1000, b"PK\5\6" + b"\xff" * 18):
        found, failures, _ = read(data, tmp_path, "a.wacz")
        assert found == []
        assert failures or data.startswith(b"PK\5\6\0")


def test_a_list_of_files_that_is_too_long_is_not_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dehusk.sources.warc._MAX_READ", 100)
    path = wacz(tmp_path / "a.wacz", ENTRIES)
    _, failures, _ = read(path.read_bytes(), tmp_path, "a.wacz")
    assert "at once" in str(failures[0].error)


# Memory


def test_memory_does_not_grow_with_the_archive() -> None:
    good = archive([response(number) for number in range(20)])

    class Endless(io.RawIOBase):
        """An archive that is never held: so many times the same records."""

        def __init__(self, times: int) -> None:
            self._rest: Iterator[bytes] = iter([good] * times)

        def read1(self, size: int) -> bytes:
            return next(self._rest, b"")

    def peak(times: int) -> int:
        tracemalloc.start()
        items = read_pages(["-"], stdin=Endless(times))  # type: ignore[arg-type]
        assert sum(1 for _ in items) == 20 * times
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return top

    assert peak(100) < 1.2 * peak(10) + 100_000
