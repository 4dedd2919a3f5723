"""`--save`: what was fetched, in an archive that other commands read and that nothing can break."""

from __future__ import annotations

import gzip
import os
import random
import sys
from pathlib import Path
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from dehusk.doors.cli import main
from dehusk.errors import UsageError
from dehusk.output.archive import Archive, archive_path
from dehusk.page.page import Page
from dehusk.sources import read_pages
from dehusk.sources.crawl.fetch import Response
from dehusk.sources.crawl.state import open_state
from dehusk_bench.samples import sample_site
from dehusk_bench.samples.server import serve_site
from dehusk_bench.speed.crawl import arguments_for, crawl_and_kill
from hostile_server import Behaviour, Hostile, allow_only_loopback, serve

NAMES = ("rye", "oats", "wheat", "barley")


@pytest.fixture(autouse=True)
def only_loopback(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    return allow_only_loopback(monkeypatch)


def page(name: str) -> bytes:
    """A page in Latin-1, which only the server says."""
    menu = "".join(f'<li><a href="/{other}?utm_source=menu">{other}</a></li>' for other in NAMES)
    text = (
        f"<title>{name}</title><ul>{menu}</ul><div class=main><h1>Caf\xe9 {name}</h1>"
        f"<p>In this caf\xe9 they grind {name} every morning, and bake bread of it.</p></div>"
        "<footer>Tous droits r\xe9serv\xe9s</footer>"
    )
    return text.encode("latin-1")


def site() -> dict[str, Behaviour]:
    """Pages that link each other; each link redirects to its folder. One leads nowhere."""
    paths: dict[str, Behaviour] = {}
    for name in NAMES[:-1]:
        paths[f"/{name}"] = lambda r: r.redirect(f"{r.path}/")
        paths[f"/{name}/"] = lambda r: r.send(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=iso-8859-1\r\n\r\n"
            + page(r.path.strip("/"))
        )
    return paths


def run(server: Hostile, command: str, *more: str) -> int:
    return main(
        [command, f"{server.url}/rye", "--allow-private", "127.0.0.1", "--delay", "0", *more]
    )


def records(path: Path) -> list[tuple[str, str | None, str | None]]:
    """Type, URL and status of the records in a file, which must be valid."""
    checker = Checker(_Arguments(path))
    checker.process_all()
    assert checker.exit_value == 0
    with path.open("rb") as file:
        return [
            (
                record.rec_type,
                record.rec_headers.get_header("WARC-Target-URI"),
                record.http_headers.get_statuscode() if record.http_headers else None,
            )
            for record in ArchiveIterator(file)
        ]


class _Arguments:
    """What warcio's checker is told."""

    def __init__(self, path: Path) -> None:
        self.inputs = [str(path)]
        self.verbose = False


@pytest.mark.parametrize("name", ["saved.warc", "saved.warc.gz", "folder"])
def test_a_saved_search_gives_the_same_template_without_the_network(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    target = str(tmp_path / name)
    with serve(site()) as server:
        assert run(server, "template", "--save", target) == 0
        live, heard = capfd.readouterr()
        asked = [f"{server.url}{path}" for path in server.asked() if path != "/barley"]
        url = f"{server.url}/rye"
    assert "Tous droits réservés" in live
    assert "grind" not in live
    assert main(["template", url, "--against", target]) == 0
    again, told = capfd.readouterr()
    assert again == live
    # The same pages link each other, and the same votes were needed.
    assert told.splitlines()[-2:] == heard.splitlines()[-2:]
    first, *rest = records(archive_path(target))
    assert first[0] == "warcinfo"
    assert [(kind, where) for kind, where, _ in rest] == [("response", where) for where in asked]


def test_a_record_has_the_time_of_its_answer_and_says_that_a_redirect_has_no_body(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.warc"
    moved = (("location", "/b"), ("content-length", "154"))
    bare = (("location", "/b"), ("content-length", "0"))
    with Archive(path) as archive:
        archive.add([Response("https://a.example/a", 301, moved, answered_at=86400.5)])
        archive.add([Response("https://a.example/c", 301, bare), _answer(1, answered_at=1e9)])
    with path.open("rb") as file:
        heads = [record.rec_headers for record in ArchiveIterator(file)][1:]
    cut = [head.get_header("WARC-Truncated") for head in heads]
    assert cut == ["unspecified", None, None]
    dates = [head.get_header("WARC-Date") for head in heads]
    assert (dates[0], dates[2]) == ("1970-01-02T00:00:00Z", "2001-09-09T01:46:40Z")
    assert len(records(path)) == 4


def test_an_answer_that_waits_in_the_state_keeps_its_time(tmp_path: Path) -> None:
    answer = _answer(1, answered_at=12.5)
    with open_state(tmp_path / "x.crawl") as state:
        state.keep_answer(3, answer)
    with open_state(tmp_path / "x.crawl") as state:
        assert state.answers() == {3: answer}


def test_a_page_cleaned_by_its_links_can_be_cleaned_again_from_what_was_saved(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    target = str(tmp_path / "saved.warc.gz")
    more = ["--method", "hyperlink", "--format", "text", "-q"]
    with serve(site()) as server:
        assert run(server, "clean", "--save", target, *more) == 0
    live = capfd.readouterr().out
    assert main(["clean", target, *more]) == 0
    pages = capfd.readouterr().out.split("\f")
    assert live.strip() in [text.strip() for text in pages]
    assert len(pages) == 3


def test_what_may_not_be_kept_and_what_was_no_page_is_not_saved(tmp_path: Path) -> None:
    paths = site()
    paths["/oats"] = lambda r: r.page(page("oats"), "X-Robots-Tag: noindex")
    with serve(paths) as server:
        assert run(server, "template", "--save", str(tmp_path)) == 0
        urls = {url for _, url, _ in records(tmp_path / "pages.warc.gz") if url}
    assert {url.rpartition(server.url)[2] for url in urls} == {"/rye", "/rye/", "/wheat", "/wheat/"}


def test_what_is_there_is_not_written_over(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "mine.warc.gz"
    target.write_bytes(b"something else")
    with serve(site()) as server:
        assert run(server, "template", "--save", str(target)) == 2
        assert run(server, "crawl", "--save", str(target), "--fresh") == 2
        assert run(server, "clean", "--save", str(target), "-o", str(target)) == 2
        assert run(server, "template", "--save", str(tmp_path / "x.wacz")) == 2
        assert server.requests == []
    assert "it is there already" in capfd.readouterr().err
    assert target.read_bytes() == b"something else"


def test_nothing_is_left_where_no_page_came(tmp_path: Path) -> None:
    with serve({}) as server:
        assert run(server, "template", "--save", str(tmp_path / "x.warc")) == 1
    assert not (tmp_path / "x.warc").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has /dev/full")
def test_a_full_disk_is_said(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "full.warc"
    target.symlink_to("/dev/full")
    with serve(site()) as server:
        for command in ("template", "clean", "crawl"):
            assert run(server, command, "--save", str(target)) == 1
            assert "No space left on device" in capfd.readouterr().err


def test_a_site_is_saved_while_it_is_cleaned(tmp_path: Path) -> None:
    target = tmp_path / "site.warc.gz"
    with serve(site()) as server:
        out = ["-o", str(tmp_path / "out.jsonl"), "-q"]
        assert run(server, "crawl", "--save", str(target), *out) == 1
        names = [name for name, _, _ in records(target)]
        assert names == ["warcinfo"] + ["response"] * 6
        pages = [item for item in read_pages([str(target)]) if isinstance(item, Page)]
        assert [page.html for page in pages] == [page_of(p) for p in pages]
        assert {p.charset for p in pages} == {"iso-8859-1"}
        # Nothing has changed: a second visit adds nothing.
        before = target.read_bytes()
        run(server, "crawl", "--save", str(target), *out)
        assert target.read_bytes() == before
        # A crawl that is saved goes on being saved, and to no other place.
        assert run(server, "crawl", *out) == 2
        assert run(server, "crawl", "--save", str(tmp_path / "b.warc"), *out) == 2
        run(server, "crawl", "--save", str(target), "--fresh", *out)
        assert len(records(target)) == 7


def page_of(saved: Page) -> bytes:
    return page((saved.url or "").rstrip("/").rpartition("/")[2])


def test_a_crawl_that_is_not_saved_cannot_be_saved_from_its_middle(tmp_path: Path) -> None:
    out = ["-o", str(tmp_path / "out.jsonl"), "-q"]
    with serve(site()) as server:
        run(server, "crawl", *out)
        assert run(server, "crawl", "--save", str(tmp_path / "x.warc"), "--resume", *out) == 2


@pytest.mark.slow
def test_a_saved_crawl_killed_many_times_holds_every_page_once(tmp_path: Path) -> None:
    target = tmp_path / "site.warc.gz"
    with serve_site(sample_site("town", pages=60, seed=4)) as served:
        command = arguments_for(served, str(tmp_path / "out.jsonl"), "--save", str(target))
        done = crawl_and_kill(served, command, 10, random.Random(3))
        wanted = {served.url + path for path in served.pages}
    assert done >= 5
    urls = [url or "" for _, url, status in records(target) if status == "200"]
    assert sorted(urls) == sorted(wanted)


def test_a_record_that_was_cut_is_taken_back_when_the_archive_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    answers = [_answer(number) for number in range(3)]
    with Archive(path) as archive:
        archive.add(answers[:2])
        size = archive.size
    path.write_bytes(path.read_bytes() + gzip.compress(b"WARC/1.1\r\nWARC-Type: resp")[:20])
    with Archive(path, record_id=archive.record_id, size=size) as again:
        again.add(answers[2:])
    assert [url for _, url, _ in records(path)][1:] == [answer.url for answer in answers]
    with pytest.raises(UsageError, match="shorter than it was left"):
        Archive(path, record_id=archive.record_id, size=10**6)


@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz"])
def test_one_run_at_a_time_saves_to_a_file_from_its_start(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    with Archive(path) as archive:
        assert path.exists()
        with pytest.raises(UsageError, match="another run saves to it"):
            Archive(path)
        archive.add([_answer(1)])
        with pytest.raises(UsageError, match="another run saves to it"):
            Archive(path, record_id=archive.record_id, size=archive.size)
    assert len(records(path)) == 2
    before = path.read_bytes()
    for record_id in (None, "<urn:uuid:7d8ea94e-26e9-4ffa-a1b5-eb9e8a0e7a3f>"):
        with pytest.raises(UsageError, match="choose another name"):
            Archive(path, record_id=record_id)
    assert path.read_bytes() == before
    # Its own run may begin it anew, which takes the old records out when the first new one comes.
    with Archive(path, record_id=archive.record_id) as again:
        assert path.read_bytes() == before
        again.add([_answer(2)])
    assert [url for _, url, _ in records(path)] == [None, "https://a.example/2"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_what_is_no_file_is_not_written_to(tmp_path: Path) -> None:
    path = tmp_path / "pipe.warc"
    os.mkfifo(path)
    with pytest.raises(UsageError, match="not a file"):
        Archive(path)
    assert path.is_fifo()


@pytest.mark.parametrize("flag", ["--resume", "--fresh"])
def test_another_file_under_the_name_of_a_crawls_archive_is_left_as_it_is(
    flag: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    target, other = tmp_path / "site.warc.gz", tmp_path / "other.warc.gz"
    out = ["-o", str(tmp_path / "out.jsonl"), "-q"]
    with serve(site()) as server:
        run(server, "crawl", "--save", str(target), "--pages", "1", *out)
        run(server, "crawl", "--save", str(other), "-o", str(tmp_path / "b.jsonl"), "-q")
        for foreign in (random.Random(1).randbytes(200_000), other.read_bytes()):
            target.write_bytes(foreign)
            capfd.readouterr()
            assert run(server, "crawl", "--save", str(target), flag, *out) == 2
            assert "not the archive of this crawl" in capfd.readouterr().err
            assert target.read_bytes() == foreign
        # Nor is the archive of another crawl replaced by one that begins.
        assert run(server, "crawl", "--save", str(other), "--fresh", *out) == 2
        assert other.read_bytes() == foreign
        target.unlink()
        run(server, "crawl", "--save", str(target), "--fresh", *out)
        assert len(records(target)) == 7


def _answer(number: int, **more: Any) -> Response:
    headers = (("content-type", "text/html"), ("content-encoding", "gzip"))
    return Response(f"https://a.example/{number}", 200, headers, b"<p>x" * number, **more)
