"""A run over files that is cut off at any moment ends as if it had not been."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dehusk.doors.cli import main
from dehusk_bench.samples import sample_site, write_site

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of pages, one of which cannot be used."""
    folder = tmp_path_factory.mktemp("town")
    write_site(sample_site("town", pages=120, seed=4), folder)
    (folder / "bad.html").write_bytes(b"%PDF-1.4\0\0\0")
    return folder


def _output(path: Path) -> dict[str, bytes]:
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return {str(file.relative_to(path)): file.read_bytes() for file in files}


def _progress(path: Path) -> int:
    """A number that grows with what is written: bytes of a file, names in a folder."""
    return path.stat().st_size if path.is_file() else sum(1 for _ in path.rglob("*"))


@pytest.mark.parametrize(
    ("output", "more"),
    [
        ("out.jsonl", []),
        ("out/", ["--format", "text"]),
        ("out/", ["--two-pass", "--method", "chunks"]),
    ],
)
def test_a_run_killed_many_times_writes_what_one_without_a_kill_does(
    output: str, more: list[str], site: Path, tmp_path: Path
) -> None:
    method = [] if "--method" in more else ["--method", "segments"]
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    assert main(["clean", str(site), "-o", f"{tmp_path}/a/{output}", "-q", *method, *more]) == 1
    target = f"{tmp_path}/b/{output}"
    command = [sys.executable, "-m", "dehusk", "clean", str(site), "-o", target, "-q", "--resume"]
    dice = random.Random(3)
    kills = 0
    for _ in range(4):
        with subprocess.Popen(
            [*command, *method, *more], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        ) as process:
            before = _progress(Path(target))
            while process.poll() is None and _progress(Path(target)) <= before:
                time.sleep(0.005)
            time.sleep(dice.random() / 20)
            kills += process.poll() is None
            process.kill()
    assert kills
    assert main(["clean", str(site), "-o", target, "-q", "--resume", *method, *more]) in (0, 1)
    assert _output(Path(target.rstrip("/"))) == _output(tmp_path / "a" / output.rstrip("/"))


def test_half_a_line_is_taken_back(site: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    command = ["clean", str(site), "-o", str(out), "-q", "--method", "segments"]
    main(command)
    whole = out.read_bytes()
    for size in (0, 1, len(whole) // 2, len(whole) - 1, len(whole)):
        out.write_bytes(whole[:size])
        main([*command, "--resume"])
        assert out.read_bytes() == whole


def test_the_summary_says_what_was_there(
    site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.jsonl"
    command = ["clean", str(site), "-o", str(out), "--resume", "--method", "segments"]
    main(command)
    lines = out.read_bytes().splitlines(keepends=True)
    out.write_bytes(b"".join(lines[:30]))
    capsys.readouterr()
    assert main(command) in (0, 1)
    assert ", 30 already written in " in capsys.readouterr().err
    assert main(command) == 0
    assert "nothing left to clean: 121 pages already written" in capsys.readouterr().err


def test_what_another_run_wrote_is_not_gone_on_with(
    site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.jsonl"
    for written in (json.dumps({"url": "https://else.example/"}), "no JSON", "[]"):
        out.write_text(written + "\n", encoding="utf-8")
        assert main(["clean", str(site), "-o", str(out), "--resume"]) == 2
        assert "written for other pages" in capsys.readouterr().err
        assert out.read_text(encoding="utf-8") == written + "\n"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ([], "--resume needs -o"),
        (["-o", "a.jsonl", "--unique"], "--unique leaves out pages"),
        (["-o", "a.md", "--format", "markdown"], "not with one file of markdown"),
        (["-o", "a.jsonl.gz"], "not with one file of packed jsonl"),
        (["-o", "a.warc"], "not with one file of warc"),
    ],
)
def test_what_cannot_be_gone_on_with_is_refused(
    more: list[str], said: str, site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["clean", str(site), "--resume", *more]) == 2
    assert said in capsys.readouterr().err
