"""The guard: when the answers on a site suddenly change, and when they do not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dehusk
from dehusk.doors.cli import main
from dehusk.memory import kept
from dehusk.memory.upkeep import merge_stores
from dehusk.memory.usual import Shift, Usual
from dehusk_bench.samples import sample_site


def _usual(pages: int = 30) -> Usual:
    """A site whose pages are about alike."""
    usual = Usual()
    for number in range(pages):
        assert usual.take(0.3 + number % 5 / 50, 4000 + number % 7 * 300, 0.95) is None
    return usual


def _shifts(usual: Usual, look: tuple[float, int, float | None], pages: int = 15) -> list[Shift]:
    return [found for _ in range(pages) if (found := usual.take(*look))]


def test_pages_as_before_change_nothing() -> None:
    usual = _usual(300)
    assert usual.shift is None
    assert usual.template_share == pytest.approx(0.34, abs=0.001)
    assert usual.confidence == pytest.approx(0.95)


@pytest.mark.parametrize(
    ("look", "measure"),
    [
        ((0.9, 5000, 0.95), "template share"),
        ((0.02, 5000, 0.95), "template share"),
        ((0.34, 400, 0.95), "content length"),
        ((0.34, 60_000, 0.95), "content length"),
        ((0.34, 5000, 0.4), "confidence"),
    ],
)
def test_what_is_far_from_usual_is_told_of_once(
    look: tuple[float, int, float], measure: str
) -> None:
    usual = _usual()
    (found,) = _shifts(usual, look)
    assert found.measure == measure
    assert found == usual.shift
    assert 30 < found.page <= 40
    assert "before" in str(found)


def test_a_few_odd_pages_are_no_change() -> None:
    usual = _usual()
    assert _shifts(usual, (0.95, 300, 0.2), pages=4) == []
    assert _shifts(usual, (0.34, 5000, 0.95), pages=40) == []


def test_rising_confidence_and_too_few_pages_are_no_change() -> None:
    usual = Usual()
    for _ in range(40):
        usual.take(0.3, 5000, 0.5)
    assert _shifts(usual, (0.3, 5000, 0.99)) == []
    assert _shifts(_usual(8), (0.95, 300, 0.2), pages=8) == []


def test_a_method_without_confidence_is_watched_too() -> None:
    usual = Usual()
    for _ in range(40):
        assert usual.take(0.3, 5000, None) is None
    assert usual.confidence is None
    (found,) = _shifts(usual, (0.9, 5000, None))
    assert found.measure == "template share"


def test_what_is_usual_outlasts_being_written_down() -> None:
    usual = _usual()
    _shifts(usual, (0.9, 5000, 0.95))
    assert Usual.read(usual.written()) == usual
    assert Usual.read(None) == Usual()
    assert len(_usual(10_000).written()) < 1000


def test_of_many_sites_the_usual_of_those_asked_for_last_is_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kept, "_MAX_DECIDED", 2)
    session = dehusk.Session()
    for site in ("a", "b", "a", "c"):
        session.watch(site, 0.3, 5000, 0.9)
    assert [session.usual(site).pages for site in ("a", "c", "b")] == [2, 1, 0]


def _crawl(path: Path, first: int, wall: int) -> Path:
    """Pages of a news site, then of a wall that stands before all of them."""
    with path.open("w") as file:
        for one in sample_site("news", pages=first, seed=3):
            file.write(json.dumps({"url": one.page.url, "html": str(one.page.html)}) + "\n")
        for number in range(wall):
            html = f"<title>Wait</title><p>Checking your browser, request {number:x}.</p>"
            url = f"https://news-3.example/next/{number}"
            file.write(json.dumps({"url": url, "html": html}) + "\n")
    return path


@pytest.mark.parametrize("more", [[], ["--jobs", "2"]])
def test_a_wall_before_the_pages_is_named_on_stderr_and_kept_in_the_memory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str]
) -> None:
    memory = ["--memory", str(tmp_path / "a.husk")]
    pages = str(_crawl(tmp_path / "a.jsonl", 30, 12))
    assert main(["clean", pages, *memory, "-q", "-o", str(tmp_path / "o.jsonl"), *more]) == 0
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert said.startswith("dehusk: news-3.example: answers suddenly changed, noticed at https://")
    with dehusk.open(str(tmp_path / "a.husk"), reads_only=True) as kept:
        usual = kept.usual("news-3.example")
    assert usual.pages == 42
    assert usual.shift is not None
    assert main(["sites", "show", "news-3.example", *memory]) == 0
    assert f"answers changed  on page {usual.shift.page}: " in capsys.readouterr().out
    assert main(["review", *memory]) == 0
    assert f"on page {usual.shift.page}: " in capsys.readouterr().out
    assert main(["review", *memory, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["answers_changed"]["page"] == usual.shift.page


def test_programs_are_told_in_the_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pages = str(_crawl(tmp_path / "a.jsonl", 30, 12))
    assert main(["clean", pages, "-o", str(tmp_path / "o.jsonl"), "--log-format", "json"]) == 0
    events = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    (told,) = [event for event in events if event["event"] == "answers_changed"]
    assert told["site"] == "news-3.example"
    assert told["measure"] in ("template share", "content length", "confidence")


def test_a_site_as_usual_is_not_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pages = str(_crawl(tmp_path / "a.jsonl", 60, 0))
    assert main(["clean", pages, "-q", "-o", str(tmp_path / "o.jsonl")]) == 0
    assert capsys.readouterr().err == ""


def test_of_two_memories_what_knows_more_answers_is_usual(tmp_path: Path) -> None:
    for name, pages in (("a", 30), ("b", 5)):
        with dehusk.open(tmp_path / name) as session:
            session.add("<p>Rye</p>", "https://grain.example/rye")
            for number in range(pages):
                session.watch("grain.example", 0.3, 4000 + number, 0.9)
    for one, other in ("ab", "ba"):
        target = tmp_path / f"{one}{other}"
        merge_stores(str(tmp_path / one), str(tmp_path / other), str(target))
        with dehusk.open(target) as session:
            assert session.usual("grain.example").pages == 30


@pytest.mark.parametrize("written", [b"", b"{}", b"[1]", b'{"pages": 3, "shift": null, "last": 7}'])
def test_numbers_that_cannot_be_read_begin_anew(written: bytes) -> None:
    assert Usual.read(written) == Usual()
