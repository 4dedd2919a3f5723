"""The packages of a release, made of this tree and its kernel as they are."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import dehusk
from dehusk import _kernel
from packages import check_sdist, check_wheel

ROOT = Path(__file__).parents[1]


def _setup(folder: Path, *commands: str) -> None:
    """Run commands of setup.py; what they make goes into the folder."""
    arguments = ["setup.py", "-q", "egg_info", "--egg-base", str(folder), *commands]
    made = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel. Its kernel is the one that is there: to compile it again would take a minute."""
    folder = tmp_path_factory.mktemp("wheel")
    kernel = Path(_kernel.__file__)
    (folder / "lib" / "dehusk").mkdir(parents=True)
    shutil.copyfile(kernel, folder / "lib" / "dehusk" / kernel.name)
    build = ["build", "--build-base", str(folder / "build"), "--build-lib", str(folder / "lib")]
    bdist = ["bdist_wheel", "--bdist-dir", str(folder / "bdist"), "--dist-dir", str(folder)]
    _setup(folder, *build, *bdist)
    return next(folder.glob("*.whl"))


def test_a_wheel_has_the_stripped_kernel_and_what_the_package_reads_and_nothing_else(
    wheel: Path,
) -> None:
    assert list(check_wheel(wheel)) == []


def test_a_source_distribution_has_what_building_and_testing_need(tmp_path: Path) -> None:
    _setup(tmp_path, "sdist", "--dist-dir", str(tmp_path))
    assert list(check_sdist(next(tmp_path.glob("*.tar.gz")))) == []


@pytest.mark.slow
def test_what_is_tried_of_every_wheel_works() -> None:
    ran = subprocess.run(
        [sys.executable, ROOT / "tests" / "installed.py"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_no_format_of_the_kernel_has_lengths() -> None:
    # Built by Python 3.13, such a kernel fails in 3.11 and 3.12, and one wheel is for all of them.
    sources = [path.read_text("utf-8") for path in (ROOT / "src" / "kernel").glob("*.[ch]")]
    takes_format = r"PyArg_Parse\w*|Py_BuildValue|PyObject_CallFunction"
    called = rf'(?:(?:{takes_format})\([^";]*|PyObject_CallMethod\([^";]*"[^"]*",\s*)"([^"]*)"'
    formats = re.findall(called, "\n".join(sources))
    assert {"OOOO", "Osnn", "(NN)"} <= {*formats}
    assert not [each for each in formats if "#" in each]


def test_what_does_not_belong_in_a_wheel_is_found(wheel: Path, tmp_path: Path) -> None:
    spoilt = tmp_path / wheel.name
    shutil.copyfile(wheel, spoilt)
    with zipfile.ZipFile(spoilt, "a") as archive:
        archive.writestr("tests/test_house.py", "")
        archive.writestr("dehusk/_kernel.cpython-311.so", b"\0.debug_info\0")
    found = "\n".join(check_wheel(spoilt))
    assert "tests/test_house.py does not belong" in found
    assert "not one kernel" in found
    assert "_kernel.cpython-311.so is not stripped" in found


def test_what_the_workflows_run_is_there() -> None:
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    assert [path.stem for path in workflows] == ["docs", "tests", "wheels"]
    for path in workflows:
        for script in re.findall(r"run: (?:python )?(\.?\w+/[\w.]+)", path.read_text("utf-8")):
            assert (ROOT / script).is_file(), script


def test_the_readme_of_pypi_leads_to_files_of_the_same_version(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        metadata = archive.read(name).decode()
    places = re.findall(
        rf"/dehusk/(?:blob|raw)/v{re.escape(dehusk.__version__)}/([\w./-]+)", metadata
    )
    assert len(places) >= 3
    assert all((ROOT / place).exists() for place in places)
