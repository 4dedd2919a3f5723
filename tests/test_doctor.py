"""`dehusk doctor`: what it finds, and what it says to do."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest

import dehusk
from dehusk.doors.cli import doctor, main
from dehusk.methods.auto import model

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = sorted(set(PROJECT["optional-dependencies"]) - {"all", "dev", "docs"})


@pytest.fixture(autouse=True)
def _in_a_folder_with_all_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = list(PROJECT["dependencies"])
    for extra, needed in PROJECT["optional-dependencies"].items():
        for line in needed:
            requirement, _, marker = line.partition(";")
            own = f'extra == "{extra}"'
            lines.append(
                f"{requirement}; {marker.strip()} and {own}" if marker else f"{line}; {own}"
            )
    monkeypatch.setattr(doctor, "requires", lambda name: lines)


def _checks(
    capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0
) -> dict[str, dict[str, Any]]:
    """The checks by name."""
    assert main(["doctor", "--json", *arguments]) == status
    lines = map(json.loads, capsys.readouterr().out.splitlines())
    return {check["name"]: check for check in lines}


def test_what_is_needed_is_there_and_every_extra_is_looked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    checks = _checks(capsys)
    core = ("python", "kernel", "model", "cleaning", "folder", "msgspec", "numpy", "turbohtml")
    assert {checks[name]["state"] for name in core} == {"ok"}
    assert set(EXTRAS) <= checks.keys()
    assert {"bench", "chromium", "firefox", "java"} <= checks.keys()


def test_people_get_a_line_for_each_check(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"dehusk {dehusk.__version__} (kernel ")
    assert re.search(r"^ok +folder +\S+ can be written to$", said, re.MULTILINE)
    assert re.search(r"^wrong: 0, not installed: \d+$", said, re.MULTILINE)


def test_a_missing_extra_comes_with_the_line_that_brings_it_and_is_no_fault(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_protego(package: str) -> str:
        if package == "protego":
            raise PackageNotFoundError
        return version(package)

    monkeypatch.setattr(doctor, "version", no_protego)
    crawl = _checks(capsys)["crawl"]
    assert (crawl["state"], crawl["advice"]) == ("missing", "pip install 'dehusk[crawl]'")
    assert main(["doctor"]) == 0
    assert "crawl       pages of the web: pip install 'dehusk[crawl]'" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("installed", "is_good"),
    [("1.15.4", True), ("1.15.3", False), ("1.16rc1", True), ("2.0", False), ("1.9", False)],
)
def test_a_package_out_of_bounds_is_no_good(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    installed: str,
    is_good: bool,
) -> None:
    monkeypatch.setattr(
        doctor, "version", lambda name: installed if name == "turbohtml" else version(name)
    )
    parser = _checks(capsys, status=0 if is_good else 1)["turbohtml"]
    assert (parser["state"] == "ok") is is_good
    if not is_good:
        assert parser["advice"] == "pip install 'turbohtml>=1.15.4,<2'"
        assert f"turbohtml {installed} is there" in parser["found"]


def test_a_folder_that_cannot_be_written_to_is_a_fault(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    folder = _checks(capsys, status=1)["folder"]
    assert folder["state"] == "wrong"
    assert "cannot be written to (Permission denied)" in folder["found"]


def test_a_damaged_model_is_a_fault(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "model.json").write_text('{"version":7', "utf-8")
    monkeypatch.setattr(model, "_SHIPPED", tmp_path / "model.json")
    model.load_model.cache_clear()
    try:
        assert _checks(capsys, status=1)["model"]["state"] == "wrong"
    finally:
        model.load_model.cache_clear()


def test_a_memory_is_sound_or_its_damage_is_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "grain.husk"
    with dehusk.open(path, method="segments") as memory:
        for page in range(30):
            memory.add(f"<p>Sack {page} of rye", f"https://grain.example/{page}")
    sound = _checks(capsys, "--memory", str(path))["memory"]
    assert (sound["state"], sound["found"]) == ("ok", f"{path} is sound, sites: 1")
    missing = _checks(capsys, "--memory", "none.husk", status=1)["memory"]
    assert missing["found"].startswith("none.husk: no such memory; ")
    content = bytearray(path.read_bytes())
    content[4096:] = bytes(len(content) - 4096)
    path.write_bytes(content)
    assert _checks(capsys, "--memory", str(path), status=1)["memory"]["state"] == "wrong"
    path.write_bytes(content[:700])
    cut = _checks(capsys, "--memory", str(path), status=1)["memory"]
    assert f"`dehusk sites check --repair --memory {path}` keeps what is good" in cut["advice"]
    path.write_bytes(b"Forty sacks of rye. " * 50)
    other = _checks(capsys, "--memory", str(path), status=1)["memory"]
    assert other["advice"] == "use a copy, or name another file"


def test_every_extra_says_what_it_is_for() -> None:
    assert sorted(doctor.USES) == EXTRAS


def test_the_bounds_of_packages_are_such_as_the_doctor_reads() -> None:
    for line in PROJECT["dependencies"] + [
        line for extra in EXTRAS for line in PROJECT["optional-dependencies"][extra]
    ]:
        bounds = r"[\w-]+(\[\w+\])?>=[\d.]+,<[\d.]+(; sys_platform != 'win32')?"
        assert re.fullmatch(rf"{bounds}|dehusk\[\w+\]", line)


@pytest.mark.parametrize("is_there", [False, True], ids=["missing", "damaged"])
def test_a_command_without_a_package_it_needs_sends_to_the_doctor(
    tmp_path: Path, *, is_there: bool
) -> None:
    (tmp_path / "page.html").write_text("<p>Rye")
    (tmp_path / "numpy.py").write_text("raise ImportError('libblas.so: no such file')")
    without = "sys.path.insert(0, '.')" if is_there else "sys.modules['numpy'] = None"
    command = (
        f"import sys; {without}; sys.argv = ['dehusk', 'clean', 'page.html'];"
        " from dehusk.__main__ import main; sys.exit(main())"
    )
    ran = subprocess.run(
        [sys.executable, "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 2
    assert ran.stderr.startswith("dehusk: ")
    assert ran.stderr.endswith("; `dehusk doctor` says what to install\n")
    assert ran.stderr.count("\n") == 1
