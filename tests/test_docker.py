"""The Dockerfile, as far as it can be tried without Docker."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from dehusk.doors.cli import make_parser
from dehusk.doors.service.settings import ServiceSettings

ROOT = Path(__file__).parents[1]
LINES = (ROOT / "Dockerfile").read_text("utf-8").splitlines()


def _of(word: str) -> list[str]:
    """What stands behind an instruction, in order."""
    return [line.removeprefix(f"{word} ") for line in LINES if line.startswith(f"{word} ")]


def _copied() -> list[str]:
    """The files and folders of this tree that the image is made of."""
    own = [words.split()[:-1] for words in _of("COPY") if not words.startswith("--from")]
    return [name for names in own for name in names]


def test_what_is_copied_is_there_and_nothing_else_is_sent() -> None:
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert all((ROOT / name).exists() for name in _copied())
    assert sorted(_copied()) == [line[1:] for line in ignored if line.startswith("!")]
    assert "*" in ignored


def test_what_is_copied_is_enough_to_build_from(tmp_path: Path) -> None:
    for name in _copied():
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tmp_path / name)
    command = [sys.executable, "setup.py", "-q", "build_py", "--build-lib", "built"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "built" / "dehusk" / "methods" / "auto" / "model.json").exists()


def test_the_extras_that_it_installs_exist() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (extras,) = re.findall(r"^EXTRAS=(.+)", "\n".join(_of("ARG")), re.MULTILINE)
    assert set(extras.split(",")) <= set(project["optional-dependencies"])
    assert any('pip install --no-cache-dir ".[$EXTRAS]"' in line for line in _of("RUN"))
    assert all(image.startswith("python:3.13-slim") for image in _of("FROM"))


def test_it_serves_by_default_and_not_as_root() -> None:
    (user,), (command,), (entry,) = _of("USER"), _of("CMD"), _of("ENTRYPOINT")
    assert user != "root"
    assert any(f"useradd --create-home {user} " in line for line in _of("RUN"))
    assert json.loads(entry) == ["dehusk"]
    given = make_parser().parse_args(json.loads(command))
    assert _of("EXPOSE") == [str(given.port)]
    settings = ServiceSettings(given.host, given.port, token="x" * 16, names=tuple(given.name))
    assert {"localhost", "127.0.0.1"} <= settings.known_names
    assert Path(given.memory).parent == Path(*_of("VOLUME"))


def test_the_docs_say_its_port() -> None:
    documented = (ROOT / "docs" / "install.md").read_text("utf-8")
    assert f"-p 127.0.0.1:{_of('EXPOSE')[0]}:{_of('EXPOSE')[0]}" in documented
