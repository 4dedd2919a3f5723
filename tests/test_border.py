"""The border between Python and the kernel: names that are typed, and nothing else gets across."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dehusk import _kernel
from dehusk.answer.text import Link
from dehusk.page import tags
from dehusk.page.page import Page
from dehusk.page.parse import parse

ROOT = Path(__file__).parent.parent
STUB = ast.parse((ROOT / "src" / "dehusk" / "_kernel.pyi").read_text("utf-8"))
LIST = (ROOT / "src" / "kernel" / "tags.def").read_text("utf-8")


def _typed(body: list[ast.stmt]) -> set[str]:
    """The names that a stub defines: functions, classes, and what has a type."""
    found = {node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    annotated = [node.target for node in body if isinstance(node, ast.AnnAssign)]
    return found | {target.id for target in annotated if isinstance(target, ast.Name)}


def test_what_is_typed_of_the_kernel_is_what_it_has() -> None:
    found = {name for name in dir(_kernel) if not name.startswith("__")}
    assert found == _typed(STUB.body)


@pytest.mark.parametrize(
    "typed", [node for node in STUB.body if isinstance(node, ast.ClassDef)], ids=lambda c: c.name
)
def test_what_is_typed_of_an_object_is_what_it_has(typed: ast.ClassDef) -> None:
    found = {name for name in dir(getattr(_kernel, typed.name)) if not name.startswith("__")}
    assert found == {name for name in _typed(typed.body) if not name.startswith("__")}


@pytest.mark.slow
def test_a_call_of_what_the_kernel_has_not_is_an_error_of_types(tmp_path: Path) -> None:
    written = tmp_path / "calls.py"
    written.write_text(
        "from dehusk import _kernel\n"
        "from dehusk.page.tree import Tree\n"
        "def right(tree: Tree) -> list[int]:\n"
        "    return _kernel.tagged(tree.kernel, 3)\n"
        "def misspelt(tree: Tree) -> list[int]:\n"
        "    return _kernel.taged(tree.kernel, 3)\n"
        "def mistaken(tree: Tree) -> list[int]:\n"
        "    return _kernel.tagged(tree, 3)\n",
        "utf-8",
    )
    ran = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file", str(ROOT / "pyproject.toml"),
         "--cache-dir", str(tmp_path / "cache"), str(written)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    errors = re.findall(r"calls\.py:(\d+): error: .*\[([a-z-]+)\]", ran.stdout)
    assert {("6", "attr-defined"), ("8", "arg-type")} <= set(errors)
    assert {line for line, _ in errors} == {"6", "8"}


def _nothing() -> tuple[bytes, bytes, bytes, bytes]:
    """What a parser says of a page without SVG and scripts."""
    return b"", b"", b"", b""


def test_every_tag_has_the_number_of_its_place_in_the_list() -> None:
    listed = re.findall(r"^TAG\((\w+), (.+)\)$", LIST, re.MULTILINE)
    assert ("#text", "#other", *(name for name, _ in listed)) == tags.NAMES
    assert len(set(tags.NAMES)) == len(tags.NAMES)
    for place, name in enumerate(tags.NAMES[2:], 2):
        scanned = _kernel.scan(f"<{name}>".encode(), 512, _nothing)
        assert scanned.tag.tolist() == [place]


def test_a_set_has_the_tags_that_the_list_puts_into_it() -> None:
    listed = re.findall(r"^TAG\((\w+), (.+)\)$", LIST, re.MULTILINE)
    assert list(_kernel.TAG_SETS) == re.findall(r"^SET\((\w+)\)", LIST, re.MULTILINE)
    for name, members in _kernel.TAG_SETS.items():
        expected = [tag for tag, sets in listed if f"SET_{name}" in sets.split(" | ")]
        assert [tag for tag in members if tag != "#other"] == expected


def test_numbers_of_tags_stay_as_they_are() -> None:
    """Trees that somebody kept tell tags by number: a new name comes last."""
    assert [tags.NUMBERS[name] for name in ("a", "div", "h1", "p", "table", "xmp")] == [
        2, 39, 52, 94, 124, 143,
    ]  # fmt: skip


def test_the_kernel_takes_nothing_but_its_own_trees() -> None:
    tree = parse(Page("<p>x")).tree
    labels = np.zeros(len(tree), np.int8)
    for ask in (_kernel.text, _kernel.lines, _kernel.share):
        with pytest.raises(TypeError, match="not an object of"):
            ask(tree, labels)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="not one of the tree's nodes"):
            ask(tree.kernel, labels[1:])
        with pytest.raises(TypeError, match="takes 2 arguments"):
            ask(tree.kernel)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="not one of the tree's nodes"):
        _kernel.label(tree.kernel, np.zeros(1))
    with pytest.raises(TypeError):
        _kernel.tagged(tree.kernel, "p")  # type: ignore[arg-type]
    for node in (-1, 99):
        with pytest.raises((IndexError, OverflowError)):
            _kernel.heading(tree.kernel, node)
    with pytest.raises(TypeError):
        _kernel.links(tree.kernel, labels, (b"", b""), str, Link)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a class"):
        _kernel.links(tree.kernel, labels, (b"", b"", b""), str, Link("", "", False))  # type: ignore[arg-type]


def test_the_kernel_refuses_a_forest_that_is_none() -> None:
    ones, weights = np.ones(2, np.int32), np.ones(2)
    with pytest.raises(ValueError, match="no tree"):
        _kernel.smooth(1.0, ones, ones, ones, weights, weights, weights)
    with pytest.raises(ValueError, match="size"):
        _kernel.smooth(1.0, ones, ones, ones, weights, weights[1:], weights)


def test_a_tree_without_nodes_is_no_trouble() -> None:
    tree = _kernel.scan(b"", 512, _nothing)
    labels = np.zeros(0, np.int8)
    assert (len(tree), _kernel.text(tree, labels), _kernel.lines(tree, labels)) == (
        0,
        ("", True),
        [],
    )
    assert (_kernel.share(tree, labels), _kernel.tagged(tree, 2)) == (0.0, [])
    assert _kernel.label(tree, np.zeros(0)) == (bytearray(), bytearray())
    assert _kernel.holders(tree) == ([], False)
    assert _kernel.links(tree, labels, (b"", b"", b""), str, Link) == []
    assert _kernel.stated(tree, labels, b"", 5, 300) == ([], [], [], False, False, "", [])
