"""On a machine with Python, a compiler and make alone nothing fails: what needs more is skipped."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from doc_blocks import ROOT

pytestmark = pytest.mark.slow

TOOLS = "sh", "bash", "cc", "as", "ld", "make", "cat", "grep", "zcat", "gzip"
"""What can be called, besides Python."""
VARIABLES = "CI", "JAVA_HOME", "SPARK_HOME", "DEHUSK_CHROMIUM", "DEHUSK_NODE_PEERS"
"""What leads to other programs, or makes it a fault that one is missing."""
PROGRAMS = "Chromium", "Firefox", "Java", "PostgreSQL", "clang", "node", "curl", "less"
"""Each is given as the reason why a test was skipped."""
_DOCS = "tests/test_docs.py::test_what_a_page_shows_does_what_it_says"
TESTS = (
    *("tests/test_browser.py", "tests/test_extension.py", "tests/test_extension_benchmark.py"),
    *("tests/test_firefox.py", "tests/test_fuzz.py", "tests/test_postgres.py"),
    *("tests/test_spark_memory.py", "tests/test_viewer.py", "tests/test_viewer_reading.py"),
    *("tests/test_viewer_tabs.py", "bench/tests/test_layout_bench.py"),
    "bench/tests/test_peers.py::test_a_peer_in_node_finds_the_text_of_an_article",
    *(f"{_DOCS}[docs/{name}.md]" for name in ("commands", "render", "serve")),
)
"""Those that start other programs. What is in their files besides takes seconds."""
ONE_EACH = (
    "tests/test_browser.py::test_a_browser_may_be_closed_twice_or_unused",
    "tests/test_firefox.py::test_check_benchmark_shows_precision_recall_and_f1",
    "tests/test_fuzz.py::test_no_bytes_break_the_kernel",
    "tests/test_postgres.py::test_what_does_not_add_up_is_refused_on_a_server",
    "tests/test_spark_memory.py::test_a_table_that_ends_with_the_session_is_refused",
    f"{_DOCS}[docs/render.md]",
)


def _run(folder: Path, tests: Iterable[str], **variables: str) -> tuple[int, str]:
    """The status of tests that find no other programs, and what they printed."""
    for tool in filter(shutil.which, TOOLS):
        (folder / tool).symlink_to(str(shutil.which(tool)))
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in VARIABLES and not name.startswith("PYTEST_")
    }
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rs", "--tb=line", *tests],
        cwd=ROOT, env=kept | {"PATH": str(folder)} | variables, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    return ran.returncode, ran.stdout + ran.stderr


def test_what_needs_another_program_is_skipped_and_says_which(tmp_path: Path) -> None:
    status, printed = _run(tmp_path, TESTS)
    assert status == 0, printed
    for program in PROGRAMS:
        assert f" {program}" in printed


def test_a_missing_program_is_a_failure_in_ci(tmp_path: Path) -> None:
    status, printed = _run(tmp_path, ONE_EACH, CI="true")
    assert status == pytest.ExitCode.TESTS_FAILED, printed
    assert "passed" not in printed
    assert "skipped" not in printed
