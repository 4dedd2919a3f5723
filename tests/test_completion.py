"""`dehusk completion`: the scripts that shells complete the command line with."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dehusk.doors.cli import main

_ASK = """
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
$(complete -p dehusk | sed "s/.*-F \\([^ ]*\\) .*/\\1/")
printf "%s\\n" "${COMPREPLY[@]}"
"""
"""Lets bash complete the last of the words, as a key of the user does."""


def _script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The script; the test is skipped without what makes it, but fails in CI."""
    if os.environ.get("CI") != "true":
        pytest.importorskip("shtab")
    assert main(["completion", shell]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("cle", ["clean"]),
        ("sites ex", ["export"]),
        ("clean --forma", ["--format"]),
        ("clean x --format t", ["text"]),
        ("clean x --method se", ["segments"]),
        ("clean gra", ["grain.html"]),
        ("clean x --memory gra", ["grain.html"]),
        ("demo -o si", ["site"]),
        ("completion f", ["fish"]),
    ],
)
def test_bash_completes_commands_options_values_and_files(
    line: str, offered: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "script"
    script.write_text(_script("bash", capsys), "utf-8")
    (tmp_path / "grain.html").touch()
    (tmp_path / "site").mkdir()
    words = ["bash", "-c", _ASK, "bash", str(script), "dehusk", *line.split()]
    asked = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert asked.stdout.split() == offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_can_read_its_script(
    shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = _script(shell, capsys)
    assert "dehusk" in script
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here")
    (tmp_path / "script").write_text(script, "utf-8")
    subprocess.run([shell, "-n", str(tmp_path / "script")], check=True)


def test_without_its_extra_it_says_how_to_get_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 2
    said = capsys.readouterr().err
    assert said == "dehusk: dehusk completion needs an extra: pip install 'dehusk[completion]'\n"
