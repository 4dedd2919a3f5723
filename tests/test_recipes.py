"""The Python of docs/integrations.md and docs/moving.md, run as it is printed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from dehusk.doors.cli import make_parser
from dehusk_bench.samples import sample_site
from extras import imported
from test_drop_in import PAGE

DOCS = Path(__file__).parents[1] / "docs"
_FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _blocks() -> list[tuple[str, str]]:
    return [
        (f"{name} {number}", block)
        for name in ("integrations.md", "moving.md")
        for number, block in enumerate(_FENCE.findall((DOCS / name).read_text("utf-8")), 1)
    ]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("block", [pytest.param(code, id=name) for name, code in _blocks()])
def test_a_recipe_runs_as_it_is_printed(
    block: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("HAYSTACK_TELEMETRY_ENABLED", "False")
    for package in re.findall(r"^from ([\w.]+) import", block, re.MULTILINE):
        imported(package)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "page.html").write_text(PAGE, encoding="utf-8")
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    for number, sample in enumerate(sample_site("news", pages=6)):
        assert isinstance(sample.page.html, str)
        (mirror / f"{number}.html").write_text(sample.page.html, encoding="utf-8")
    exec(compile(block, "recipe", "exec"), {"__name__": "__main__"})
    assert capfd.readouterr().out


def test_clients_are_told_a_command_that_there_is() -> None:
    (block,) = re.findall(
        r"```json\n(.*?)```", (DOCS / "integrations.md").read_text("utf-8"), re.DOTALL
    )
    server = json.loads(block)["mcpServers"]["dehusk"]
    assert server["command"] == "dehusk"
    assert make_parser().parse_args(server["args"]).command == "mcp"
