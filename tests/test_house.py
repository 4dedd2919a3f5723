"""Rules of the house that a machine can check: layers, documentation, public names."""

from __future__ import annotations

import argparse
import ast
import doctest
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name

import pytest

import dehusk
from dehusk.doors import options
from dehusk.doors.cli import make_parser
from dehusk.errors import MissingExtra
from dehusk.methods import DEFAULT, METHODS
from dehusk.methods.written import parse_settings
from extras import missing

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "dehusk"
DOCS = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])

LEVELS = (
    {"errors"},
    {"settings", "_kernel"},
    {"page"},
    {"memory.tables", "memory.memory", "memory.forgetting", "memory.saved"},
    {"methods"},
    {"answer"},
    {"pipeline"},
    {"sources", "output"},
    {"memory"},
    {"template", "workers"},
    {"doors.options", "doors.documents"},
    {"doors.looking"},
    {
        *("doors.cli", "doors.service", "doors.spark", "doors.scrapy", "doors.datatrove"),
        *("doors.langchain", "doors.llama_index", "doors.mcp"),
        "doors.drop_in",
    },
)
"""The rooms from the ground up: each may use those below it, and none beside it.

What a site has taught is below the methods that fill it, where it is kept above them all.
"""
ADDRESSES = {
    "datatrove",
    "langchain",
    "llama_index",
    "readability",
    "scrapy",
    "spark",
    "trafilatura",
}
"""Where users of other packages find a door: each module only names what is in it."""
ROOT_MODULES = {"__init__", "__main__", "errors", "pipeline", "settings"} | ADDRESSES


def _modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def _name(path: Path) -> str:
    """The module's name below `dehusk`; empty for the package itself."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _level(name: str) -> int | None:
    """How high a module stands; None for the package itself and the addresses of doors."""
    if name == "memory":  # Its `__init__` gathers what a site has taught.
        name = "memory.memory"
    while name:
        for level, rooms in enumerate(LEVELS):
            if name in rooms:
                return level
        name = name.rpartition(".")[0]
    return None


def _room(name: str) -> str:
    """The room of a module: its first name, of a door its second too."""
    return ".".join(name.split(".")[: 2 if name.startswith("doors") else 1])


def _imports(path: Path, *, is_nested: bool = True) -> Iterator[str]:
    """The modules of dehusk that a file imports, inside functions too unless not `is_nested`."""
    module = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(module) if is_nested else module.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "dehusk":
            home = (node.module or "").removeprefix("dehusk").removeprefix(".")
            for alias in node.names:
                name = f"{home}.{alias.name}".removeprefix(".")
                yield name if _is_module(name) else home
        elif isinstance(node, ast.Import):
            yield from (n.name[7:] for n in node.names if n.name.startswith("dehusk."))


def _is_module(name: str) -> bool:
    below = SOURCE.joinpath(*name.split("."))
    return below.is_dir() or below.with_suffix(".py").exists() or name == "_kernel"


def test_the_root_holds_few_modules() -> None:
    assert {path.stem for path in SOURCE.glob("*.py")} == ROOT_MODULES


@pytest.mark.parametrize("path", _modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_imports_nothing_above_it_and_nothing_beside_its_room(path: Path) -> None:
    name = _name(path)
    level = _level(name)
    if level is None:
        assert not name or name in ROOT_MODULES or name == "doors"
        return
    for imported in _imports(path):
        below = _level(imported)
        is_own = _room(imported) == _room(name)
        assert not imported or is_own or (below is not None and below < level), imported


def test_the_shipped_package_knows_of_the_bench_only_where_its_commands_are_named() -> None:
    found = [path for path in _modules() if "dehusk_bench" in path.read_text(encoding="utf-8")]
    assert [_name(path) for path in found] == ["doors.cli"]


def test_no_import_goes_in_a_circle() -> None:
    graph = {
        _name(path): set(_imports(path, is_nested=False)) - {_name(path), ""} for path in _modules()
    }
    while leaves := [name for name, below in graph.items() if not below & graph.keys()]:
        for name in leaves:
            del graph[name]
    assert not graph


def _options(parser: argparse.ArgumentParser, name: str) -> Iterator[tuple[str, str]]:
    """Every command and option, each with the command it belongs to."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command, below in action.choices.items():
                yield f"{name} {command}", f"{name} {command}"
                yield from _options(below, f"{name} {command}")
        else:
            yield from ((name, option) for option in action.option_strings if option != "-h")


def test_every_command_and_option_is_documented() -> None:
    documented = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    sections = re.split(r"^## ", documented, flags=re.MULTILINE)
    for command, option in _options(make_parser(), "dehusk"):
        section = next((s for s in sections if s.startswith(f"`{command}`")), None)
        assert section is not None, f"docs/commands.md has no section on `{command}`"
        if option not in (command, "--help", "--help-all"):
            assert f"`{option}" in section or f" {option}" in section, f"{command} {option}"


def test_every_option_has_help() -> None:
    parsers = [make_parser()]
    while parsers:
        for action in parsers.pop()._actions:
            assert action.help or isinstance(action, argparse._SubParsersAction)
            if isinstance(action, argparse._SubParsersAction):
                parsers.extend(action.choices.values())


def test_every_method_has_a_page_of_docs() -> None:
    for name, kind in METHODS.items():
        page = (ROOT / "docs" / "methods" / f"{name}.md").read_text(encoding="utf-8")
        for setting in kind.__dataclass_fields__:
            assert f"`{setting}`" in page, f"{name}: {setting}"


def test_every_public_name_exists_and_is_documented() -> None:
    documented = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
    for name in dehusk.__all__:
        assert getattr(dehusk, name) is not None
        assert f"`{name}" in documented or f"dehusk.{name}" in documented, name


def test_the_docs_name_the_default_method() -> None:
    library = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
    for call in ("extract", "Site", "template_of"):
        assert re.search(rf'`(?:dehusk\.)?{call}\([^)]*method="{DEFAULT}"', library), call


def test_the_settings_that_help_shows_are_the_default_methods() -> None:
    parser = argparse.ArgumentParser()
    options.add_method(parser)
    shown = re.search(r"such as (\w+=\w+)", " ".join(parser.format_help().split()))
    assert shown
    assert parse_settings(DEFAULT, [shown[1]])


def test_an_unknown_public_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonesuch"):
        _ = dehusk.nonesuch


_WITH_EXAMPLES = [path for path in _modules() if ">>> " in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("path", _WITH_EXAMPLES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_the_examples_in_docstrings_are_true(path: Path) -> None:
    name = ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts)
    result = doctest.testmod(import_module(name.removesuffix(".__init__")))
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("path", DOCS, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_in_the_docs_waits_to_be_filled_in(path: Path) -> None:
    assert not re.search(r"^[A-Z]+_[A-Z_]+$", path.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("path", DOCS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_the_docs_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", path.read_text("utf-8")):
        assert (path.parent / target).exists(), target


def _dotted_names(text: str) -> Iterator[str]:
    """The modules and names of dehusk and its bench that a page of the docs names or imports."""
    yield from re.findall(r"(?<![\w./-])dehusk(?:_bench)?(?:\.[A-Za-z_]\w*)+", text)
    for home, names in re.findall(r"from (dehusk[\w.]*) import ([\w, ]+)", text):
        yield from (f"{home}.{name.split()[0]}" for name in names.split(","))


@pytest.mark.parametrize(
    "path", [*DOCS, ROOT / "CONTRIBUTING.md"], ids=lambda path: str(path.relative_to(ROOT))
)
def test_what_the_docs_name_can_be_imported(path: Path) -> None:
    unknown = []
    for name in _dotted_names(path.read_text(encoding="utf-8")):
        try:
            assert resolve_name(name) is not None, name
        except MissingExtra as extra:
            unknown.append(str(extra))
    if unknown:
        missing(unknown[0])


def test_the_version_is_the_same_everywhere() -> None:
    for folder in (ROOT, ROOT / "bench"):
        project = (folder / "pyproject.toml").read_text(encoding="utf-8")
        assert f'version = "{dehusk.__version__}"' in project
