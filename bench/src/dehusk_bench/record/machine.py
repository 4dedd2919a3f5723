"""On what an experiment ran: kind of machine, and versions. Nothing that names a machine."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

import dehusk

_PACKAGES: Final = (
    "numpy", "turbohtml", "trafilatura", "resiliparse", "readability-lxml", "justext", "boilerpy3",
    "newspaper4k", "goose3", "deboiler", "rs-trafilatura", "lxml",
)  # fmt: skip
_CPU_INFO: Final = Path("/proc/cpuinfo")
_MODEL: Final = "model name"


def describe_machine() -> dict[str, str]:
    """The kind of machine, and the versions of what takes part, by name."""
    about = {
        "CPU": _cpu(),
        "cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else "?"),
        "memory": _memory(),
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
        "dehusk": dehusk.__version__,
    }
    for name in _PACKAGES:
        try:
            about[name] = version(name)
        except PackageNotFoundError:
            about[name] = "not installed"
    return about


def _cpu() -> str:
    """The model of the processor."""
    try:
        lines = _CPU_INFO.read_text("utf-8", "replace").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith(_MODEL))
    return next(named, "") or platform.processor() or "unknown"


def _memory() -> str:
    """The memory of the machine, in GB."""
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return "unknown"
    return f"{size / 1e9:.0f} GB"
