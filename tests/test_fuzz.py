"""The kernel under a fuzzer with sanitizers, for as long as a run of the tests can bear."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import fuzz
from extras import missing

pytestmark = pytest.mark.slow

SECONDS, INPUTS = 120, 1000
"""So many inputs from one seed are the same on every run: what a longer run finds is for whoever
starts one."""
QUICK = ("-O0", "-gline-tables-only")
"""Flags with which the kernel is built in a third of the time."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The kernel with sanitizers; the tests are skipped without clang, but fail in CI."""
    try:
        fuzz.library("libclang_rt.fuzzer_no_main-{machine}.a")
    except FileNotFoundError as fault:
        missing(fault)
    return fuzz.build(tmp_path_factory.mktemp("kernel"), *QUICK)


def test_no_bytes_break_the_kernel(built: Path, tmp_path: Path) -> None:
    ran = fuzz.run(built, tmp_path, SECONDS, inputs=INPUTS)
    assert ran.status == 0, ran.said
    assert ran.executions > 100
    # The pages that it begins with meet a fifth of the edges, those of sanitizers counted too.
    assert ran.edges > 0.2 * ran.all_edges


@pytest.mark.usefixtures("built")
def test_a_read_behind_the_end_of_an_array_ends_the_process(tmp_path: Path) -> None:
    source = tmp_path / "fault.py"
    source.write_text(
        "import ctypes\n"
        "libc = ctypes.CDLL(None)\n"
        "libc.malloc.restype = ctypes.c_void_p\n"
        "libc.memcmp.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]\n"
        "place = libc.malloc(16)\n"
        "libc.memcmp(place, place, 17)\n",
        "utf-8",
    )
    said = tmp_path / "said"
    with said.open("w", encoding="utf-8") as log:  # The sanitizer's helper keeps a pipe open.
        ran = subprocess.run(
            [sys.executable, str(source)],
            env=os.environ | fuzz.environment(), stderr=log, check=False,
        )  # fmt: skip
    assert ran.returncode != 0
    assert "heap-buffer-overflow" in said.read_text("utf-8")
