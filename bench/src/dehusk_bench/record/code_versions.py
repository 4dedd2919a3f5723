"""What code an experiment runs, as one short text that changes when the code does.

The files are those that the experiment's modules import, and what these import in turn, wherever
in a function the import stands; with a module come the data files beside it, such as models.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Final

import dehusk

_ROOT: Final = Path(dehusk.__file__).parent
_PACKAGE: Final = "dehusk"
_DATA: Final = {".json", ".toml", ".txt"}


def code_version(modules: Iterable[str], without: Sequence[str] = ()) -> str:
    """A hash of the modules (`bench.quality`) and of all that they import.

    What is below a name in `without` (`methods`) is left out.
    """
    digest = hashlib.sha256()
    for path in sorted(_closure(modules, without)):
        digest.update(f"{path.relative_to(_ROOT)}\0".encode())
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
    return found | {file for file in beside if file.parent != _ROOT}


def _is_below(path: Path, names: Sequence[str]) -> bool:
    module = ".".join(path.relative_to(_ROOT).with_suffix("").parts)
    return any(module == name or module.startswith(f"{name}.") for name in names)


@cache
def _imports(path: Path) -> tuple[Path, ...]:
    """The files of dehusk that a file imports. The list of all experiments is left out."""
    names = set(_imported_names(ast.parse(path.read_text("utf-8"))))
    files = {_file_of(name) for name in names}
    return tuple(file for file in files if file and file != _ROOT / "bench" / "__init__.py")


def _imported_names(tree: ast.AST) -> Iterator[str]:
    """Modules, and names in packages that may be modules."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            if node.module == _PACKAGE or node.module.startswith(f"{_PACKAGE}."):
                base = node.module.partition(".")[2]
                yield base
                yield from (".".join(filter(None, (base, each.name))) for each in node.names)
        elif isinstance(node, ast.Import):
            yield from (
                each.name.partition(".")[2] for each in node.names if each.name.startswith(_PACKAGE)
            )
        elif isinstance(node, ast.JoinedStr):
            yield from _chosen_names(node)


def _chosen_names(text: ast.JoinedStr) -> Iterator[str]:
    """All modules of a package of which one is chosen by name, as in `f"dehusk.methods.{name}"`."""
    first = text.values[0] if text.values else None
    if isinstance(first, ast.Constant) and str(first.value).startswith(f"{_PACKAGE}."):
        base = str(first.value).partition(".")[2].rstrip(".")
        folder = _ROOT.joinpath(*base.split("."))
        if base and folder.is_dir():
            yield from (f"{base}.{each.stem}" for each in folder.iterdir())


def _file_of(name: str) -> Path | None:
    """The file of a module of dehusk; None for the package itself and for what is no module."""
    if not name:
        return None
    path = _ROOT.joinpath(*name.split("."))
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.is_file():
            return file
    return None
