"""Places that dehusk may not read or write, and machines that lack something: what users read."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import mkdtemp

import pytest

import dehusk
import dehusk.doors.cli as door
from dehusk.doors.cli import main
from extras import imported

_NOBODY = 65534


@contextmanager
def _without_rights() -> Iterator[None]:
    """As a user without rights, where the tests run as root."""
    if os.geteuid():
        yield
        return
    os.setresuid(_NOBODY, _NOBODY, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that cannot be written to, with a page, a memory, and one that cannot be read."""
    made = Path(mkdtemp())
    (made / "page.html").write_text("<p>Forty sacks of rye", "utf-8")
    with dehusk.open(made / "grain.husk") as memory:
        memory.add("<p>Rye", "https://grain.example/")
    shutil.copy(made / "grain.husk", made / "secret.husk")
    (made / "secret.husk").chmod(0)
    (made / "open").mkdir()
    shutil.copy(made / "grain.husk", made / "open" / "kept.husk")
    (made / "open" / "kept.husk").chmod(0o444)
    (made / "open").chmod(0o777)
    made.chmod(0o555)
    monkeypatch.chdir(made)
    yield made
    made.chmod(0o755)
    shutil.rmtree(made)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("clean page.html -o out.jsonl", "cannot write to out.jsonl: Permission denied; name"),
        ("clean page.html -o out/", "cannot write to out/: Permission denied; name another place"),
        ("clean page.html -o .", "cannot write to .: no permission to make files in it; name"),
        ("template page.html -o t.html", "cannot write to t.html: no permission; name another"),
        ("demo -o demo", "cannot write to demo: Permission denied; name another place with -o"),
        ("clean page.html --memory new.husk", "cannot write to new.husk: Permission denied; name"),
        ("learn page.html --memory grain.husk", "name a memory in a folder that is yours"),
        ("learn page.html --memory open/kept.husk", "to open/kept.husk: no permission; name"),
        ("sites --memory secret.husk", "secret.husk: no permission to read it; ask its owner"),
    ],
)
def test_a_place_without_permission_is_named_with_what_to_do(
    line: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = line.split()
    door._command(arguments[0])  # Who has no rights may not read the modules either.
    with _without_rights():
        status = main(arguments)
    error = capsys.readouterr().err
    assert status == 2
    assert said in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("command", ["serve", "view page.html --no-browser"])
@pytest.mark.usefixtures("folder")
def test_a_port_in_use_is_named_with_what_to_do(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        assert main([*command.split(), "--port", str(port)]) == 2
    error = capsys.readouterr().err
    assert f"port {port}: Address already in use; name another with --port\n" in error


def test_a_machine_that_is_offline_is_told_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def find_nothing(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", find_nothing)
    assert main(["clean", "http://grain.example/", "-q", "--retries", "0", "--delay", "0"]) == 1
    assert capsys.readouterr().err == (
        "dehusk: http://grain.example/: no address for grain.example: is the name right, and is"
        " this machine online?\n"
    )


def _import_without(module: str, *packages: str) -> str:
    """The last line of what importing the module says where these packages are missing."""
    code = f"import sys; sys.modules.update(dict.fromkeys({packages})); import dehusk.{module}"
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=300
    )
    return ran.stderr.splitlines()[-1]


@pytest.mark.parametrize("module", ["datatrove", "scrapy", "spark"])
def test_a_door_without_its_packages_names_the_extra(module: str) -> None:
    said = _import_without(module, "datatrove", "pyarrow", "scrapy")
    assert f"dehusk.{module} needs an extra: pip install 'dehusk[{module}]'" in said


@pytest.mark.parametrize(
    ("module", "missing"),
    [("datatrove", "humanize"), ("scrapy", "w3lib"), ("spark", "py4j"), ("langchain", "pydantic")],
)
def test_what_a_framework_itself_lacks_is_not_taken_for_the_extra(
    module: str, missing: str
) -> None:
    imported({"spark": "pyspark", "langchain": "langchain_core"}.get(module, module))
    said = _import_without(module, missing)
    assert missing in said
    assert "needs an extra" not in said


def test_a_memory_that_is_cut_off_is_refused_with_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    memory, page = tmp_path / "a.husk", tmp_path / "page.html"
    page.write_text("<p>Forty sacks of rye", "utf-8")
    with dehusk.open(memory) as opened:
        opened.add("<p>Rye", "https://grain.example/")
    memory.write_bytes(memory.read_bytes()[:5000])
    for command in ("clean", "learn", "review", "report"):
        assert main([command, str(page), "--memory", str(memory)]) == 1
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert said.count(f"`dehusk sites check --repair --memory {memory}`") == 1
        assert "restore a copy" in said
    memory.write_bytes(memory.read_bytes()[:700])
    assert main(["sites", "check", "--repair", "--memory", str(memory)]) == 1
    said = capsys.readouterr().err
    assert said.endswith("; it cannot be repaired: restore a copy, or begin a new memory\n")
    assert "--repair" not in said
