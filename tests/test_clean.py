"""`dehusk.clean`: what the command line answers on every source, as a call of the library."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import dehusk
from dehusk.doors.cli import main
from dehusk.errors import PageFault, PageTimeout, TooManyNodes, UsageError
from dehusk.memory.session import Session
from hostile_server import HOST, serve
from warcs import archive, response

PAGES = 7
HASTE = dehusk.CrawlSettings(delay_s=0, allow_private=(HOST,), sitemaps=False)


def harvest(number: int) -> str:
    links = "".join(f"<a href=/{n}>Page {n}</a> " for n in range(PAGES))
    return (
        f"<title>Harvest {number}</title><nav>{links}</nav>"
        f"<main><h1>Harvest {number}</h1><p>There were {number} sacks of rye.</p></main>"
        "<footer>All rights reserved</footer>"
    )


def _folder(path: Path) -> Path:
    path.mkdir()
    for number in range(PAGES):
        (path / f"{number}.html").write_text(harvest(number), encoding="utf-8")
    return path


def _records(path: Path) -> Path:
    lines = [
        json.dumps({"url": f"https://grain.example/{number}", "html": harvest(number)})
        for number in range(PAGES)
    ]
    lines.insert(3, "{not a record")
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def _archive(path: Path) -> Path:
    path = path.with_suffix(".warc.gz")
    path.write_bytes(archive([response(number) for number in range(PAGES)]))
    return path


def _one(path: Path) -> Path:
    path = path.with_suffix(".html")
    path.write_text(harvest(1), encoding="utf-8")
    return path


def _answers(*sources: str | Path, **options: Any) -> list[dict[str, object]]:
    return [answer.to_json() for answer in dehusk.clean(*sources, **options)]


def _written(target: Path, *words: str) -> list[dict[str, object]]:
    main(["clean", *words, "--format", "jsonl", "-o", str(target), "--quiet"])
    return [json.loads(line) for line in target.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("make", [_folder, _records, _archive, _one])
def test_a_source_gives_what_the_command_line_writes_of_it(
    make: Callable[[Path], Path], tmp_path: Path
) -> None:
    source = make(tmp_path / "source")
    found = _answers(source)
    assert found == _written(tmp_path / "out.jsonl", str(source))
    assert len(found) in (1, PAGES, PAGES + 1)


def test_standard_input_gives_what_the_command_line_writes_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = _records(tmp_path / "source.jsonl").read_bytes()

    def refill() -> None:
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(given)))

    refill()
    found = _answers("-")
    refill()
    assert found == _written(tmp_path / "out.jsonl", "-")
    assert len(found) == PAGES + 1


def test_pages_of_the_web_give_what_the_command_line_writes_of_them(tmp_path: Path) -> None:
    def page(number: int) -> bytes:
        return harvest(number).encode()

    paths: dict[str, Any] = {
        f"/{n}": lambda request, n=n: request.page(page(n)) for n in range(PAGES)
    }
    with serve(paths) as server:
        urls = [f"{server.url}/{n}" for n in range(PAGES)]
        found = _answers(*urls, crawl=HASTE)
        written = _written(tmp_path / "out.jsonl", *urls, "--delay", "0", "--allow-private", HOST)
    assert found == written
    assert [answer["url"] for answer in found] == urls
    assert found[-1]["pages_seen"] == PAGES


def test_a_memory_goes_on_where_the_run_before_ended(tmp_path: Path) -> None:
    folder, memory = _folder(tmp_path / "mill"), tmp_path / "mill.husk"
    _answers(folder, memory=memory, method="segments")
    assert [line["pages_seen"] for line in _answers(folder, memory=memory)] == [PAGES] * PAGES
    with dehusk.open(memory) as session:
        assert session.method.name == "segments"
        assert len(list(session.given("mill"))) == PAGES
    (tmp_path / "next.html").write_text(harvest(PAGES), encoding="utf-8")
    settings = dehusk.SourceSettings(site="mill")
    (line,) = _answers(tmp_path / "next.html", memory=memory, settings=settings)
    assert line["pages_seen"] == PAGES + 1


def test_a_crawl_teaches_a_memory(tmp_path: Path) -> None:
    memory = tmp_path / "mill.husk"
    with serve({"/": lambda request: request.page(harvest(0).encode())}) as server:
        answers = list(dehusk.crawl(server.url, memory=memory, settings=HASTE))
    with dehusk.open(memory) as session:
        assert [row.name for row in session.sites()] == [answers[0].site]


def test_the_memory_is_free_again_once_a_run_is_left_in_the_middle(tmp_path: Path) -> None:
    memory = tmp_path / "mill.husk"
    answers = dehusk.clean(_folder(tmp_path / "mill"), memory=memory)
    assert next(answers).pages_seen == 1
    answers.close()
    with dehusk.open(memory) as session:
        assert session.memory("mill").pages == 1


def test_a_page_that_cannot_be_used_costs_no_other(tmp_path: Path) -> None:
    folder = _folder(tmp_path / "mill")
    (folder / "3.html").write_text("<p>" * 500, encoding="utf-8")
    answers = list(dehusk.clean(folder, limits=dehusk.Limits(max_nodes=200)))
    assert [type(answer.error) for answer in answers].count(TooManyNodes) == 1
    assert isinstance(answers[3], dehusk.Refusal)
    assert answers[4].pages_seen == 4


def test_a_fault_on_a_page_ends_no_crawl(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("nobody foresaw it")

    monkeypatch.setattr(Session, "add", fail)
    with serve({"/": lambda request: request.page(harvest(0).encode())}) as server:
        answers = list(dehusk.crawl(server.url, settings=HASTE))
    assert isinstance(answers[0].error, PageFault)
    assert len(answers) > 1, "the pages that it links follow"


def test_what_is_wanted_of_a_result_counts_against_its_time(tmp_path: Path) -> None:
    def wait(result: dehusk.Result) -> None:
        raise PageTimeout(result.url, "rendering took too long")

    (answer,) = dehusk.clean(_one(tmp_path / "page"), render=wait)
    assert isinstance(answer.error, PageTimeout)


@pytest.mark.parametrize("sources", [["nowhere.html"], ["https://a.example", "b.html"]])
def test_wrong_sources_are_refused_before_the_first_page_is_asked_for(sources: list[str]) -> None:
    with pytest.raises(UsageError):
        dehusk.clean(*sources)
