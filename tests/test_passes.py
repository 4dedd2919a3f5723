"""Two passes over the same pages, and answers that are given again only when they changed."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

import dehusk
from dehusk.answer.result import Refusal, Result
from dehusk.errors import PageTimeout, UsageError
from dehusk.memory.notes import answer_of, note_answer
from dehusk.memory.opening import Site
from dehusk.memory.session import Session
from dehusk.methods import METHODS
from dehusk.page.page import Page
from dehusk.settings import Limits
from dehusk.sources import rereadable

pytestmark = pytest.mark.slow


def _page(number: int) -> str:
    return (
        "<nav><a href=/>Home</a> <a href=/news>All the news</a></nav>"
        f"<main><h1>Harvest {number}</h1><p>There were {number} sacks of rye.</p></main>"
    )


def _url(number: int) -> str:
    return f"https://grain.example/{number}"


PAGES = [Page(_page(number), _url(number)) for number in range(8)]


def _records(pages: list[Page] = PAGES) -> bytes:
    return b"".join(json.dumps({"url": p.url, "html": p.html}).encode() + b"\n" for p in pages)


def _run(*arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    form = ["--format", "jsonl"] if arguments[0] == "clean" else []
    command = [sys.executable, "-m", "dehusk", *arguments, "--method", "segments", *form]
    return subprocess.run(command, input=given, capture_output=True, check=False, timeout=300)


def _lines(output: bytes) -> list[dict[str, object]]:
    return [json.loads(line) for line in output.decode().splitlines()]


@pytest.fixture
def crawl(tmp_path: Path) -> str:
    path = tmp_path / "crawl.jsonl"
    path.write_bytes(_records())
    return str(path)


# Two passes


def test_with_two_passes_the_first_page_is_answered_on_by_all(crawl: str) -> None:
    once, twice = _run("clean", crawl), _run("clean", crawl, "--two-pass")
    assert twice.returncode == 0
    before, after = _lines(once.stdout), _lines(twice.stdout)
    assert "Home" in str(before[0]["text"])
    assert [line["text"] for line in after] == [
        f"Harvest {n}\nThere were {n} sacks of rye." for n in range(8)
    ]
    assert {line["pages_seen"] for line in after} == {len(PAGES)}
    assert [line["url"] for line in after] == [page.url for page in PAGES]
    assert _run("clean", crawl, "--two-pass").stdout == twice.stdout


@pytest.mark.parametrize("name", sorted(METHODS))
def test_nothing_is_learned_twice(name: str) -> None:
    if "loader" in METHODS[name].__dataclass_fields__:
        return
    site, sites = Site(method=name), Session(method=name)
    for page in PAGES:
        site.learn(page)
        assert sites.learn(page)
    before = site.dump()
    for page in PAGES:
        first, second = site.ask(page, is_learned=True), sites.ask(page)
        assert first.text == second.text
        assert first.pages_seen == second.pages_seen == len(PAGES)
    assert site.dump() == before
    assert sites.memories["grain.example"].pages == len(PAGES)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_standard_input_can_be_read_in_two_passes(pack: type[bytes], crawl: str) -> None:
    run = _run("clean", "-", "--two-pass", given=pack(_records()))
    assert run.returncode == 0
    assert run.stdout == _run("clean", crawl, "--two-pass").stdout


def test_standard_input_is_read_whole_each_time() -> None:
    with rereadable(["-"], stdin=io.BytesIO(_records())) as read:
        first, left_out = read(None), Counter[str]()
        second = read(left_out)
        assert len(list(first)) == len(list(second)) == len(PAGES)


def test_a_pipe_is_refused_because_it_can_be_read_only_once(tmp_path: Path) -> None:
    threads = threading.active_count()
    path = str(tmp_path / "pipe")
    os.mkfifo(path)
    with pytest.raises(UsageError, match="only once"), rereadable([path]):
        pass
    run = _run("clean", path, "--two-pass")
    assert (run.returncode, run.stdout) == (2, b"")
    assert threading.active_count() == threads


def test_a_source_that_does_not_exist_is_refused_before_anything_is_learned(crawl: str) -> None:
    run = _run("clean", crawl, "nowhere.jsonl", "--two-pass")
    assert run.returncode == 2
    assert b"learned" not in run.stderr


def test_a_page_that_fails_is_named_once(tmp_path: Path) -> None:
    path = tmp_path / "crawl.jsonl"
    path.write_bytes(_records() + b'{"url": "https://grain.example/x"}\n')
    run = _run("clean", str(path), "--two-pass")
    assert run.returncode == 1
    assert run.stderr.count(b"https://grain.example/x") == 1
    assert [line["error"] is None for line in _lines(run.stdout)] == [True] * 8 + [False]


def test_a_page_that_could_not_be_learned_is_answered_on_as_the_next() -> None:
    sites = Session(limits=Limits(timeout_s=1e-9))
    with pytest.raises(PageTimeout):
        sites.learn(PAGES[0])
    sites.limits = Limits()
    assert sites.ask(PAGES[0]).pages_seen == 1
    assert sites.memories == {}


def test_a_memory_learns_in_the_first_pass_and_keeps_it(crawl: str, tmp_path: Path) -> None:
    file = str(tmp_path / "grain.husk")
    first = _run("clean", crawl, "--two-pass", "--memory", file)
    again = _run("clean", crawl, "--two-pass", "--memory", file)
    assert first.stdout == again.stdout == _run("clean", crawl, "--two-pass").stdout
    assert b"0 pages learned, 8 known already" in again.stderr


# Revisions


def test_an_answer_carries_the_revision_that_it_comes_from(crawl: str) -> None:
    assert [line["revision"] for line in _lines(_run("clean", crawl).stdout)] == list(range(1, 9))
    assert Site().add(PAGES[0]).revision == 1


def test_only_answers_that_changed_are_given_again(crawl: str, tmp_path: Path) -> None:
    file = str(tmp_path / "grain.husk")
    first = {
        str(a["url"]): a["text"] for a in _lines(_run("clean", crawl, "--memory", file).stdout)
    }
    revised = _run("clean", crawl, "--memory", file, "--revise", "8")
    given = {str(answer["url"]): answer["text"] for answer in _lines(revised.stdout)}
    # The first four pages came back whole, before five had shown the menu.
    assert list(given) == [_url(n) for n in range(4)]
    assert all(given[url] != first[url] for url in given)
    assert b"4 unchanged" in revised.stderr
    assert _run("clean", crawl, "--memory", file, "--revise", "last").stdout == b""
    # An index that missed the revised pages, or all from the sixth on, is given them again.
    again = _lines(_run("clean", crawl, "--memory", file, "--revise", "6").stdout)
    assert [answer["url"] for answer in again] == [_url(n) for n in (0, 1, 2, 3, 6, 7)]


def test_new_pages_are_learned_and_given(tmp_path: Path) -> None:
    path, file = tmp_path / "crawl.jsonl", str(tmp_path / "grain.husk")
    path.write_bytes(_records(PAGES[:6]))
    _run("clean", str(path), "--two-pass", "--memory", file)
    path.write_bytes(_records())
    run = _run("clean", str(path), "--memory", file, "--revise", "last")
    assert [line["url"] for line in _lines(run.stdout)] == [_url(6), _url(7)]


@pytest.mark.parametrize("arguments", [("--revise", "3"), ("--revise", "-1"), ("--revise", "x")])
def test_a_revision_needs_a_memory_and_a_number(arguments: tuple[str, ...], crawl: str) -> None:
    run = _run("clean", crawl, *arguments)
    assert (run.returncode, run.stdout) == (2, b"")
    assert b"--revise" in run.stderr


def test_the_library_revises_as_the_command_does(tmp_path: Path) -> None:
    odd = Page("x" * 100, _url(99), "grain.example")
    with dehusk.open(
        tmp_path / "grain.husk", method="segments", limits=Limits(max_bytes=400)
    ) as memory:
        list(memory.clean(PAGES))
        assert [answer.url for answer in memory.revise(PAGES)] == [_url(n) for n in range(4)]
        assert list(memory.revise(PAGES)) == []
        assert len(list(memory.revise(PAGES, since=0))) == len(PAGES)
        refused = list(memory.revise([Page("x" * 500, _url(9)), odd]))
        assert [type(answer) for answer in refused] == [Refusal, Result]


def test_what_was_answered_is_forgotten_with_its_site(tmp_path: Path) -> None:
    with dehusk.open(tmp_path / "grain.husk", method="segments") as memory:
        list(memory.clean(PAGES))
        assert memory.forget("grain.example")
        assert len(list(memory.shelf("answers", "grain.example").items())) == 0
        assert len(list(memory.revise(PAGES))) == len(PAGES)


def test_answers_take_no_more_room_than_they_may(tmp_path: Path) -> None:
    with dehusk.open(tmp_path / "grain.husk", method="segments") as memory:
        shelf = memory.shelf("answers", "grain.example")
        for _ in range(2):
            given = [note_answer(shelf, answer_of(page, memory.ask(page)), 3) for page in PAGES]
        assert len(list(shelf.items())) == 3 + 1
        # What was not noted counts as new: an index may be told twice, but never too little.
        assert given == [False] * 3 + [True] * 5
