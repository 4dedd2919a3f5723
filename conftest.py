"""What all tests share: how they are shown, and in which order they run.

A line for each file, when its last test is done:

    tests/test_store.py                       48 passed, 1 skipped     4.2 s   37 %
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from hypothesis import settings
from xdist.scheduler import LoadFileScheduling

settings.register_profile("dehusk", deadline=None)
settings.load_profile("dehusk")  # No test depends on how busy the machine is.
# Networks are tiny in tests: to compile them well takes longer than to run them badly.
os.environ.setdefault(
    "XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
)


LONGEST = ("tests/test_spark.py", "tests/test_service.py", "bench/tests/test_train_auto.py")
"""Among the files with the most work."""
TOGETHER = {"tests/test_spark_memory.py": "tests/test_spark.py"}
"""Files that the process of another file runs behind it: Spark's Java takes seconds to start, and
more until it has loaded what it needs."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling | None:
    """Hand out the tests by file, where that is asked for."""
    return _ByFile(config, log) if config.getoption("dist") == "loadfile" else None


class _ByFile(LoadFileScheduling):  # type: ignore[misc]
    """Gives a process all tests of a file, and of those that go together with it."""

    def _split_scope(self, nodeid: str) -> str:
        return TOGETHER.get(_file(nodeid), _file(nodeid))


@pytest.fixture(scope="session")
def java() -> Iterator[None]:
    """The Java that all sessions of Spark in this process share, until its last test is done."""
    yield
    from sparks import end_java  # noqa: PLC0415  most tests do without Spark

    end_java()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files with tests that take long first: the others fill the gaps at the end."""
    slow = {_file(item.nodeid) for item in items if item.get_closest_marker("slow")}

    def place(item: pytest.Item) -> tuple[bool, bool]:
        return _file(item.nodeid) not in LONGEST, _file(item.nodeid) not in slow

    items.sort(key=place)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Show files instead of tests, unless each test is asked for (`-v`)."""
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if terminal is not None and config.get_verbosity() <= 0:
        config.pluginmanager.register(_Files(terminal))


class _Files:
    """The progress of a run, file by file."""

    def __init__(self, terminal: pytest.TerminalReporter) -> None:
        self._terminal = terminal
        self._waiting: Counter[str] = Counter()
        self._total = 0
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._outcomes: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Count the tests of each file."""
        self._expect(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Count the tests of each file, as the first process finds them."""
        if not self._total:
            self._expect(ids)

    def _expect(self, names: Iterable[str]) -> None:
        self._waiting.update(map(_file, names))
        self._total = self._waiting.total()

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """Count a test without showing it."""
        if not isinstance(report, pytest.TestReport):
            return None
        if report.failed:
            return ("failed", "", "FAILED") if report.when == "call" else ("error", "", "ERROR")
        return (report.outcome if report.when == "call" or report.skipped else ""), "", ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Show a file when its last test is done."""
        file = _file(report.nodeid)
        self._seconds[file] += report.duration
        if report.when == "call" or not report.passed:
            self._outcomes[file][report.outcome] += 1
        if report.when != "teardown":
            return
        self._waiting[file] -= 1
        if not self._waiting[file]:
            outcomes = ", ".join(f"{n} {name}" for name, n in self._outcomes[file].items())
            done = 1 - self._waiting.total() / max(self._total, 1)
            self._terminal.write_line(
                f"{file:38} {outcomes:>24} {self._seconds[file]:8.1f} s {done:6.0%}",
                red="failed" in self._outcomes[file],
            )


def _file(name: str) -> str:
    """The file of a test."""
    return name.partition("::")[0]
