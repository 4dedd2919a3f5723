"""`dehusk bench sources` compares readers on the same pages, and watches the memory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dehusk.doors.cli import main
from dehusk.page.page import Page
from dehusk.sources import read_pages
from dehusk_bench.speed import archives


@pytest.mark.slow
def test_readers_are_timed_on_the_same_pages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = tmp_path / "figures.json"
    arguments = ["bench", "sources", "--pages", "3", "--rounds", "1", "--json", str(figures)]
    assert main(arguments) == 0
    rows = json.loads(figures.read_text())
    assert {row["archive"] for row in rows if row["contender"] == "dehusk"} == {
        "synthetic.warc", "synthetic.warc.gz", "synthetic.warc.zst",
    }  # fmt: skip
    assert {row["pages"] for row in rows} == {3}
    assert "synthetic.warc.gz" in capsys.readouterr().out


def test_an_archive_of_ones_own_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "own.warc"
    path.write_bytes(b"".join(archives.records(2)))
    assert main(["bench", "sources", str(path), "--rounds", "1", "--markdown"]) == 0
    assert "| own.warc" in capsys.readouterr().out


def test_the_synthetic_archive_is_the_same_on_every_run() -> None:
    assert list(archives.records(4)) == list(archives.records(4))


def test_an_endless_archive_ends_and_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "_HELD", 5)
    left: list[int] = []
    stream = archives.EndlessArchive(3_000_000, left.append)
    items = list(read_pages(["-"], stdin=stream))  # type: ignore[arg-type]
    assert items
    assert all(isinstance(item, Page) for item in items)
    assert left[-1] <= 0 < left[0]


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="/proc is Linux's")
@pytest.mark.parametrize("more", [[], ["--clean"]])
def test_the_memory_is_watched(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, more: list[str]
) -> None:
    monkeypatch.setattr("dehusk_bench.speed.sources._GIGABYTE", 2_000_000)
    monkeypatch.setattr(archives, "_HELD", 5)
    assert main(["bench", "sources", "--gigabytes", "1", *more]) == 0
    assert "the resident memory stayed between" in capsys.readouterr().out
