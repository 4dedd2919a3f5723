"""What code an experiment runs, as one short text that changes when the code does.

The files are those that the experiment's modules import, and what these import in turn, wherever
in a function the import stands, the compiled kernel too; with a module come the data files beside
it, such as models.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Final

import dehusk
import dehusk_bench

_ROOTS: Final = {
    package.__name__: Path(str(package.__file__)).parent for package in (dehusk, dehusk_bench)
}
"""The folders of the packages that an experiment may be made of."""
_DATA: Final = {".json", ".toml", ".txt"}


def code_version(modules: Iterable[str], without: Sequence[str] = ()) -> str:
    """A hash of the modules (`dehusk_bench.quality.measure`) and of all that they import.

    What is below a name in `without` (`dehusk.methods`) is left out.
    """
    digest = hashlib.sha256()
    for path in sorted(_closure(modules, without)):
        digest.update(f"{_name_of(path)}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _closure(modules: Iterable[str], without: Sequence[str]) -> set[Path]:
    """The files of the modules, of all that they import, and of the data beside them."""
    waiting = [path for name in modules if (path := _file_of(name))]
    found: set[Path] = set()
    while waiting:
        path = waiting.pop()
        if path in found or _is_below(path, without):
            continue
        found.add(path)
        waiting.extend(_imports(path))
    beside = {file for path in found for file in path.parent.iterdir() if file.suffix in _DATA}
    return found | {file for file in beside if file.parent not in _ROOTS.values()}


def _is_below(path: Path, names: Sequence[str]) -> bool:
    module = _name_of(path)
    return any(module == name or module.startswith(f"{name}.") for name in names)


def _name_of(path: Path) -> str:
    """The name of the module in a file."""
    root = next(root for root in _ROOTS.values() if path.is_relative_to(root))
    return ".".join(path.relative_to(root.parent).with_suffix("").parts)


@cache
def _imports(path: Path) -> tuple[Path, ...]:
    """The files of dehusk that a file imports. The list of all experiments is left out."""
    if path.suffix != ".py":
        return ()
    names = set(_imported_names(ast.parse(path.read_text("utf-8"))))
    files = {_file_of(name) for name in names}
    return tuple(file for file in files if file and file != _ROOTS["dehusk_bench"] / "__init__.py")


def _imported_names(tree: ast.AST) -> Iterator[str]:
    """Modules, and names in packages that may be modules."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)
        elif isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.JoinedStr):
            yield from _chosen_names(node)


def _chosen_names(text: ast.JoinedStr) -> Iterator[str]:
    """All modules of a package of which one is chosen by name, as in `f"dehusk.methods.{name}"`."""
    first = text.values[0] if text.values else None
    if isinstance(first, ast.Constant):
        base = str(first.value).rstrip(".")
        folder = _path_of(base)
        if folder is not None and folder.is_dir():
            yield from (_name_of(each).removesuffix(".__init__") for each in folder.rglob("*.py"))


def _file_of(name: str) -> Path | None:
    """The file of a module of ours; None for a package's own and for what is no module."""
    path = _path_of(name)
    if path is None:
        return None
    compiled = (path.with_name(path.name + ending) for ending in EXTENSION_SUFFIXES)
    for file in (path.with_suffix(".py"), path / "__init__.py", *compiled):
        if file.is_file():
            return file
    return None


def _path_of(name: str) -> Path | None:
    """Where a module of ours would be, without its ending; None for all others."""
    package, _, below = name.partition(".")
    return _ROOTS[package].joinpath(*below.split(".")) if below and package in _ROOTS else None
