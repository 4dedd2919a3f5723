"""dehusk as it is installed by itself: without dehusk-bench, which is a distribution of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import dehusk.doors.cli as door

_LOADS_NO_BENCH = """
import sys
from dehusk.doors.cli import main
status = main(sys.argv[1:])
sys.exit(status or any(name.startswith("dehusk_bench") for name in sys.modules))
"""


def _run(*arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", _LOADS_NO_BENCH, *arguments]
    return subprocess.run(command, input=given, capture_output=True, check=False, timeout=300)


def test_pages_are_cleaned_and_the_demo_runs(tmp_path: Path) -> None:
    cleaned = _run("clean", "-", "--format", "text", given=b"<h1>Rye</h1>")
    assert (cleaned.returncode, cleaned.stdout) == (0, b"Rye\n"), cleaned.stderr
    demo = _run("demo", "--pages", "2", "-o", str(tmp_path))
    assert demo.returncode == 0, demo.stderr
    assert len(list((tmp_path / "clean").rglob("*.md"))) == 2 * 7


@pytest.mark.parametrize(
    "arguments", [["bench", "speed"], ["train", "auto"], ["demo", "--seed", "2"]]
)
def test_what_needs_the_bench_says_in_a_line_how_to_get_it(
    arguments: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(door, "find_spec", lambda name: name != "dehusk_bench" or None)
    assert door.main(arguments) == 2
    said = capfd.readouterr().err
    assert "comes with dehusk-bench: pip install" in said
    assert said.count("\n") == 1
