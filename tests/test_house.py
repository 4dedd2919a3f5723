"""Rules of the house that a machine can check: layers, documentation, public names."""

from __future__ import annotations

import argparse
import ast
import doctest
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import dehusk
from dehusk.cli import crawl_options, make_parser, options
from dehusk.methods import DEFAULT, METHODS
from dehusk.methods.written import parse_settings
from dehusk.model import Limits
from dehusk.sources import SiteBy
from dehusk.sources.crawl.settings import CrawlSettings, Wish

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "dehusk"
DOCS = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])

SHARED = {
    "errors",
    "frames",
    "hashing",
    "kernel",
    "layout",
    "memory",
    "model",
    "packing",
    "site_names",
    "tags",
    "urls",
}
STAGES = {
    "sources",
    "browser",
    "parse",
    "methods",
    "smooth",
    "label",
    "regions",
    "override",
    "slots",
    "render",
    "describe",
    "fingerprint",
    "output",
    "store",
}
ORDER = {
    "answering",
    "answers",
    "crawling",
    "durability",
    "examples",
    "gold",
    "jobs",
    "learning",
    "lending",
    "linking",
    "marks",
    "loader",
    "memories",
    "picking",
    "pipeline",
    "result",
    "rules",
    "site",
    "templates",
    "upkeep",
    "viewing",
}
"""They know the stages and their order; only doors know them."""
DOORS = {"bench", "cli", "datatrove", "samples", "scrapy", "service", "spark", "train"}


def _modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def _part(path: Path) -> str:
    """The stage, door or shared module that a file belongs to."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def _imports(path: Path) -> Iterator[str]:
    """The parts of dehusk that a file imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "dehusk":
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dehusk."):
            yield (node.module or "").split(".")[1]
        elif isinstance(node, ast.Import):
            yield from (n.name.split(".")[1] for n in node.names if n.name.startswith("dehusk."))


def test_every_module_belongs_to_a_layer() -> None:
    parts = {_part(path) for path in _modules()} - {"__init__", "__main__"}
    assert parts == SHARED | STAGES | ORDER | DOORS


@pytest.mark.parametrize("path", _modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_stage_imports_no_other_stage_and_no_door(path: Path) -> None:
    part = _part(path)
    allowed = {part, *SHARED, "__version__"}
    if part == "kernel":
        allowed |= {"_kernel"}
    if part in ORDER:
        allowed |= STAGES | ORDER
    elif part in DOORS or part in {"__init__", "__main__"}:
        allowed |= STAGES | ORDER | DOORS
    assert set(_imports(path)) <= allowed


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
        if option not in (command, "--help"):
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
    for call in ("extract", "Site", "crawl", "template_of"):
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


def test_the_command_lines_choices_and_limits_are_the_librarys() -> None:
    assert tuple(SiteBy) == options.SITE_BY
    assert options.METHOD == DEFAULT
    assert tuple(dehusk.Durable) == options.DURABLE
    given = (options.MAX_BYTES, options.MAX_NODES, options.MAX_DEPTH, options.TIMEOUT_S)
    limits = Limits()
    assert given == (limits.max_bytes, limits.max_nodes, limits.max_depth, limits.timeout_s)
    assert tuple(Wish) == crawl_options.WISHES
    usual = CrawlSettings()
    assert (usual.max_pages, usual.max_depth) == (
        crawl_options.CRAWL_PAGES,
        crawl_options.CRAWL_DEPTH,
    )
    assert usual.delay_s == crawl_options.CRAWL_DELAY_S
    assert usual.max_delay_s == crawl_options.CRAWL_MAX_DELAY_S
    assert usual.timeout_s == crawl_options.CRAWL_TIMEOUT_S
    assert (usual.retries, usual.max_redirects) == (
        crawl_options.CRAWL_RETRIES,
        crawl_options.CRAWL_REDIRECTS,
    )


@pytest.mark.parametrize("path", DOCS, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_examples_in_the_docs_are_true(path: Path) -> None:
    result = doctest.testfile(str(path), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert result.failed == 0


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


def test_the_version_is_the_same_everywhere() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'version = "{dehusk.__version__}"' in project
