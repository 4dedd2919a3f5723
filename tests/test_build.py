"""What a user reads where the kernel cannot be built, or was not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
_NO_HEADERS = """
import runpy, sys, sysconfig
path = sysconfig.get_path
sysconfig.get_path = lambda name, *more: "/nowhere" if name == "include" else path(name, *more)
sys.argv = ["setup.py", "-q", "build_ext", "--build-lib", "built", "--build-temp", "built"]
runpy.run_path("setup.py", run_name="__main__")
"""
_OLD_PYTHON = """
import runpy, sys, sysconfig, setuptools.command.build_ext, setuptools.errors
sys.version_info, sys.version = (3, 10, 13), "3.10.13 (main)"
runpy.run_path("setup.py", run_name="__main__")
"""
_NO_KERNEL = (
    "dehusk's compiled kernel cannot be loaded (No module named 'dehusk._kernel'): install dehusk"
    " again (pip install --force-reinstall dehusk), or run `python setup.py build_ext --inplace`"
    " in its source tree"
)
_BUILD = ("setup.py", "-q", "build_ext", "--build-lib", "built", "--build-temp", "built")


@pytest.fixture
def source_tree(tmp_path: Path) -> Path:
    """What a build needs, without what an earlier one made."""
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "src" / "kernel", tmp_path / "src" / "kernel")
    (tmp_path / "src" / "dehusk").mkdir()
    for name in ("dehusk/__init__.py", "dehusk/__main__.py", "dehusk_command.py"):
        shutil.copy(ROOT / "src" / name, tmp_path / "src" / name)
    return tmp_path


def _run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_build_without_a_compiler_says_so_and_fails(source_tree: Path) -> None:
    ran = _run(source_tree, *_BUILD, CC="/nowhere/cc")
    assert ran.returncode != 0
    assert "error: dehusk's kernel needs a C compiler to be built, and /nowhere/cc" in ran.stderr
    assert not list(source_tree.rglob("_kernel*.so"))


def test_a_build_without_pythons_headers_says_so_and_fails(source_tree: Path) -> None:
    ran = _run(source_tree, "-c", _NO_HEADERS)
    assert ran.returncode != 0
    assert "error: dehusk's kernel needs the headers of Python to be built" in ran.stderr


def test_an_older_python_is_told_which_one_is_needed(source_tree: Path) -> None:
    ran = _run(source_tree, "-c", _OLD_PYTHON)
    assert ran.returncode != 0
    assert ran.stderr == "dehusk needs Python 3.11 or later, and this is 3.10.13\n"


def test_without_its_kernel_dehusk_says_what_is_missing(source_tree: Path) -> None:
    ran = _run(source_tree, "-c", "import dehusk", PYTHONPATH=str(source_tree / "src"))
    assert ran.stderr.strip().splitlines()[-1] == f"ImportError: {_NO_KERNEL}"


def test_the_command_says_so_without_a_traceback(source_tree: Path) -> None:
    command = "import dehusk_command; dehusk_command.main()"
    ran = _run(source_tree, "-c", command, PYTHONPATH=str(source_tree / "src"))
    assert ran.returncode == 1
    assert ran.stderr == f"dehusk: {_NO_KERNEL}\n"
    ran = _run(source_tree, "-m", "dehusk", PYTHONPATH=str(source_tree / "src"))
    assert ran.returncode == 1
    assert _NO_KERNEL in ran.stderr
    assert ran.stderr.count("\n") == 1


def test_a_script_of_any_name_may_do_without_dehusk(source_tree: Path) -> None:
    script = source_tree / "compare-dehusk"
    script.write_text("try:\n    import dehusk\nexcept ImportError:\n    print('without')\n")
    ran = _run(source_tree, str(script), PYTHONPATH=str(source_tree / "src"))
    assert (ran.returncode, ran.stdout) == (0, "without\n")


def test_a_kernel_that_cannot_be_loaded_is_not_called_missing(source_tree: Path) -> None:
    (source_tree / "src" / "dehusk" / "_kernel.abi3.so").write_bytes(b"rye")
    ran = _run(source_tree, "-c", "import dehusk", PYTHONPATH=str(source_tree / "src"))
    assert "_kernel.abi3.so: " in ran.stderr.strip().splitlines()[-1]
