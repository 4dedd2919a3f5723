"""What is in the packages of a release, and what must not be: `python tests/packages.py dist/*`."""

from __future__ import annotations

import re
import sys
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

MAX_KERNEL_BYTES = 600_000
"""0.37 MB for x86-64 without what only debuggers read, 1.5 MB with it."""
MAX_WHEEL_BYTES = 1_500_000
_IN_WHEEL = {
    "_kernel.pyi",
    "doors/cli/demo.jsonl.xz",
    "doors/service/static/index.html",
    "methods/auto/model.json",
    "methods/papers/page/model.json",
    "output/result.schema.json",
    "page/browser/collect.js",
    "py.typed",
}
_IN_SDIST = {
    *("CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "SECURITY.md"),
    *("PKG-INFO", "conftest.py", "pyproject.toml", "setup.py", "bench/pyproject.toml"),
    *("src/kernel/kernel.c", "src/kernel/kernel.h", "src/kernel/tags.def"),
    *(f"src/dehusk/{name}" for name in _IN_WHEEL),
    *("docs/install.md", "extension/manifest.json", "tests/packages.py", "tests/test_house.py"),
}
_NOT_IN_SDIST = re.compile(r"(?:^|/)(?:\.venv|__pycache__|build|dist)/|\.(?:so|pyd|pyc|husk)$")
_DEBUG = (b".debug_info", b".symtab")
"""Sections of an ELF file that only debuggers and linkers read."""
_RELATIVE = re.compile(r"""(?:\]\(|(?:href|src|srcset)=")(?![a-z]+:)([^)"\s]+)""")


def check_wheel(path: Path) -> Iterator[str]:
    """What is wrong with a wheel."""
    with zipfile.ZipFile(path) as wheel:
        names = set(wheel.namelist())
        own = {name.removeprefix("dehusk/") for name in names if name.startswith("dehusk/")}
        strange = [
            n for n in names if not re.match(r"dehusk(?:(?:-[^/]+\.dist-info)?/|_command\.py$)", n)
        ]
        yield from (f"{name} does not belong in a wheel" for name in sorted(strange))
        yield from (f"dehusk/{name} is missing" for name in sorted(_IN_WHEEL - own))
        kernels = sorted(n for n in own if re.fullmatch(r"_kernel\..*(?:so|pyd)", n))
        if len(kernels) != 1:
            yield f"there is not one kernel but {kernels}"
        for kernel in kernels:
            yield from _check_kernel(kernel, wheel.read(f"dehusk/{kernel}"), path.name)
        metadata = next(name for name in names if name.endswith(".dist-info/METADATA"))
        yield from _check_metadata(wheel.read(metadata).decode())
    if path.stat().st_size > MAX_WHEEL_BYTES:
        yield f"it has {path.stat().st_size:,} bytes"


def _check_kernel(name: str, code: bytes, wheel: str) -> Iterator[str]:
    """What is wrong with a kernel, and with the wheel's name for it."""
    if len(code) > MAX_KERNEL_BYTES:
        yield f"{name} has {len(code):,} bytes"
    if any(section in code for section in _DEBUG):
        yield f"{name} is not stripped"
    is_abi3 = ".abi3." in name or name == "_kernel.pyd"
    if is_abi3 != ("-cp311-abi3-" in wheel):
        yield f"{name} is in {wheel}"


def check_sdist(path: Path) -> Iterator[str]:
    """What is wrong with a source distribution."""
    with tarfile.open(path) as sdist:
        names = {m.name.partition("/")[2] for m in sdist.getmembers() if m.isfile()}
        yield from (f"{name} is missing" for name in sorted(_IN_SDIST - names))
        unwanted = filter(_NOT_IN_SDIST.search, sorted(names))
        yield from (f"{name} does not belong in a source distribution" for name in unwanted)
        info = sdist.extractfile(f"{path.name.removesuffix('.tar.gz')}/PKG-INFO")
        assert info is not None
        yield from _check_metadata(info.read().decode())


def _check_metadata(metadata: str) -> Iterator[str]:
    """What is missing of what PyPI shows, and links that lead nowhere from there."""
    head, _, readme = metadata.partition("\n\n")
    for field in ("License-Expression", "Project-URL", "Keywords", "Classifier", "Requires-Python"):
        if f"\n{field}: " not in head:
            yield f"the metadata have no {field}"
    if "# dehusk" not in readme:
        yield "the metadata have no README"
    yield from (f"a relative link in the README: {link}" for link in _RELATIVE.findall(readme))


def main(paths: Iterable[str]) -> int:
    """Name what is wrong with each package; 1 if anything is."""
    faults = 0
    for path in map(Path, paths):
        for fault in (check_wheel if path.suffix == ".whl" else check_sdist)(path):
            faults += 1
            sys.stderr.write(f"{path.name}: {fault}\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
