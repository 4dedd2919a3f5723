"""`dehusk doctor`: what is installed, what is missing and how to get it, what does not work."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from platform import python_version
from typing import Final

import dehusk
from dehusk.doors.cli.version import kernel_name, model_name, version_line
from dehusk.errors import DehuskError, NotAMemory, StoreDamaged, UsageError

USES: Final = {
    "completion": "`dehusk completion`",
    "crawl": "pages of the web",
    "datatrove": "the step for datatrove",
    "langchain": "the loader for LangChain",
    "llama-index": "the reader for LlamaIndex",
    "mcp": "`dehusk mcp`, for models",
    "parquet": "Parquet in and out",
    "postgres": "memories in PostgreSQL",
    "render": "pages as a browser shows them (`--render`)",
    "scrapy": "the add-on for Scrapy",
    "serve": "`dehusk view` and `dehusk serve`",
    "spark": "`dehusk spark`",
    "warc": "archives packed by brotli or zstandard, and faster ones",
    "zstd": "files that end in .zst",
}
"""What each extra is for."""
_NOT_FOR_USERS: Final = ("all", "dev", "docs")
_REQUIREMENT: Final = re.compile(r"([\w.-]+)(?:\[[\w,.-]+\])?([^;]*)(?:;(.*))?")
_MIN_JAVA: Final = 17
"""As Spark 4 asks for."""
_JAVA_S: Final = 20
"""How long Java may take to say its version: half a second, on a busy machine a few."""


class State(StrEnum):
    """What a check came to. What is missing is nobody's fault; what is wrong needs mending."""

    OK = "ok"
    MISSING = "missing"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked at, what was found, and what to do about it."""

    name: str
    state: State
    found: str
    advice: str = ""


def run(arguments: argparse.Namespace) -> int:
    """Show every check; 1 if anything is wrong, 0 if something is merely not installed."""
    checks = list(_checks(arguments.memory))
    wrong = sum(check.state is State.WRONG for check in checks)
    if arguments.json:
        sys.stdout.writelines(json.dumps(asdict(check)) + "\n" for check in checks)
        return 1 if wrong else 0
    sys.stdout.write(f"{version_line()}\n\n")
    for check in checks:
        said = f"{check.found}: {check.advice}" if check.advice else check.found
        sys.stdout.write(f"{check.state:8} {check.name:11} {said}\n")
    missing = sum(check.state is State.MISSING for check in checks)
    sys.stdout.write(f"\nwrong: {wrong}, not installed: {missing}\n")
    return 1 if wrong else 0


def _checks(memory: str | None) -> Iterator[Check]:
    """All checks, one after another."""
    again = "install dehusk again: pip install --force-reinstall dehusk"
    yield Check("python", State.OK, f"{python_version()} ({sys.executable})")
    yield _try("kernel", kernel_name, again)
    yield _try("model", _load_model, again)
    mend = "mend what else is wrong here, or report it with all that `dehusk doctor` says"
    yield _try("cleaning", _clean, mend)
    yield _try("folder", _write, "go to a folder that is yours, or name one with -o")
    if memory is not None:
        yield _memory(memory)
    yield from _packages()
    yield _chromium()
    yield _firefox()
    yield _java()


def _try(name: str, check: Callable[[], str], advice: str) -> Check:
    """What a check finds; the advice where it fails."""
    try:
        return Check(name, State.OK, check())
    except Exception as fault:  # noqa: BLE001  A doctor meets every disease.
        return Check(name, State.WRONG, f"{fault}" or type(fault).__name__, advice)


def _packages() -> Iterator[Check]:
    """The packages that dehusk needs, those of each extra, and the bench."""
    try:
        by_extra = _requirements()
    except PackageNotFoundError:
        yield Check("packages", State.MISSING, "dehusk is not installed", "pip install dehusk")
        return
    for package, bounds in by_extra.pop("", []):
        use, advice = "nothing works without it", f"pip install '{package}{bounds}'"
        yield _package(package, [(package, bounds)], State.WRONG, use, advice)
    for extra in sorted(by_extra.keys() - set(_NOT_FOR_USERS)):
        use, advice = USES.get(extra, extra), f"pip install 'dehusk[{extra}]'"
        yield _package(extra, by_extra[extra], State.MISSING, use, advice)
    use, advice = "`dehusk bench` and `dehusk train`", "pip install dehusk-bench"
    yield _package("bench", [("dehusk-bench", "")], State.MISSING, use, advice)


def _requirements() -> dict[str, list[tuple[str, str]]]:
    """By extra, the packages that it needs and their bounds; under '' what dehusk itself needs."""
    by_extra: dict[str, list[tuple[str, str]]] = {}
    for line in requires("dehusk") or []:
        found = _REQUIREMENT.fullmatch(line)
        assert found is not None
        package, bounds, marker = found.groups(default="")
        if sys.platform != "win32" or not re.search(r"sys_platform != .win32", marker):
            extra = re.search(r"extra == .([\w-]+)", marker)
            by_extra.setdefault(extra[1] if extra else "", []).append((package, bounds.strip()))
    return by_extra


def _package(
    name: str, needed: Sequence[tuple[str, str]], state: State, use: str, advice: str
) -> Check:
    """The versions of what is needed; where one is missing or does not fit, the state."""
    versions = []
    for package, bounds in needed:
        try:
            installed = version(package)
        except PackageNotFoundError:
            return Check(name, state, use, advice)
        if not _fits(installed, bounds):
            return Check(name, state, f"{use}; {package} {installed} is there", advice)
        versions.append(f"{package} {installed}")
    return Check(name, State.OK, ", ".join(versions))


def _fits(installed: str, bounds: str) -> bool:
    """Is a version within bounds such as `>=1.2,<3`?"""
    own = _numbers(installed)
    at_least = all(own >= _numbers(bound) for bound in re.findall(r">=([\d.]+)", bounds))
    return at_least and all(own < _numbers(bound) for bound in re.findall(r"<([\d.]+)", bounds))


def _numbers(text: str) -> tuple[int, ...]:
    """The numbers that a version begins with."""
    return tuple(map(int, re.findall(r"\d+", re.split(r"[^\d.]", text)[0])))


def _load_model() -> str:
    """The model's name, once it is loaded."""
    from dehusk.methods.auto.model import load_model  # noqa: PLC0415  numpy may be missing

    load_model()
    return model_name()


def _clean() -> str:
    """That a page was cleaned."""
    page = "<nav><a href=/>Home</a></nav><main><h1>Rye</h1><p>Forty sacks came in.</p></main>"
    text = dehusk.extract(page, "https://grain.example/").text
    if "Forty sacks came in." not in text:
        raise UsageError(f"a page came out wrong: {text!r}")
    return "a page was cleaned"


def _write() -> str:
    """The current folder, once a file was written there."""
    folder = Path.cwd()
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"rye")
            file.flush()
    except OSError as fault:
        raise UsageError(f"{folder} cannot be written to ({fault.strerror})") from fault
    return f"{folder} can be written to"


def _memory(address: str) -> Check:
    """How many sites of a memory are good."""
    from dehusk.memory import upkeep  # noqa: PLC0415  numpy may be missing
    from dehusk.memory.store import mending  # noqa: PLC0415

    try:
        report = upkeep.check_store(address)
    except NotAMemory as fault:
        return Check("memory", State.WRONG, str(fault), "use a copy, or name another file")
    except StoreDamaged as fault:
        return Check("memory", State.WRONG, str(fault), mending(address))
    except DehuskError as fault:
        return Check("memory", State.WRONG, str(fault))
    if report.findings:
        advice = f"see `dehusk sites check --memory {address}`"
        return Check("memory", State.WRONG, report.findings[0].message, advice)
    return Check("memory", State.OK, f"{address} is sound, sites: {len(report.good):,}")


def _chromium() -> Check:
    """The browser of `--render`."""
    try:
        from dehusk.page.browser import find_chromium  # noqa: PLC0415  numpy may be missing

        return Check("chromium", State.OK, find_chromium())
    except (ImportError, UsageError) as missing:
        return Check("chromium", State.MISSING, "the browser of `--render`", str(missing))


def _firefox() -> Check:
    path = shutil.which("firefox") or shutil.which("firefox-esr")
    if path is None:
        return Check(
            "firefox", State.MISSING, "the extension in Firefox", "apt install firefox-esr"
        )
    return Check("firefox", State.OK, path)


def _java() -> Check:
    """The Java of `dehusk spark`."""
    home = os.environ.get("JAVA_HOME")
    path = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    try:
        said = subprocess.run(  # noqa: S603  the Java that the user has
            [path or "java", "-version"],
            capture_output=True,
            text=True,
            check=True,
            timeout=_JAVA_S,
        ).stderr
    except (OSError, subprocess.SubprocessError):
        said = ""
    found = re.search(r'version "(\d+)', said)
    if found and int(found[1]) >= _MIN_JAVA:
        return Check("java", State.OK, f"{found[1]} ({path})")
    advice = f"install Java {_MIN_JAVA} or later (Debian: apt install openjdk-17-jre-headless)"
    return Check("java", State.MISSING, "the Java of `dehusk spark`", advice)
