"""The kernel under a coverage-guided fuzzer, with sanitizers for memory and undefined behaviour.

    python tests/fuzz --seconds 1200 --corpus found/

builds the kernel with clang and libFuzzer in it, and hands bytes to it as `target` says, beginning
with the pages in `corpus/` and those that other tests are about. What ends the process is left in
the folder of the finds. Needs clang with its run-time libraries (`clang libclang-rt-14-dev`).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dehusk.page import tags
from odd_pages import ODD_PAGES
from pages_to_scan import HARD, TEXTS

FOLDER: Final = Path(__file__).parent
ROOT: Final = FOLDER.parent.parent
_FLAGS: Final = (
    *("-shared", "-fPIC", "-std=c11", "-O1", "-g", "-fno-omit-frame-pointer", "-ffp-contract=off"),
    *("-fsanitize=fuzzer-no-link,address,undefined", "-fno-sanitize-recover=undefined"),
    # The library of sanitizers has weak doubles of libFuzzer's functions: ours come first.
    *("-shared-libasan", "-Wl,-Bsymbolic", "-DPy_LIMITED_API=0x030B0000"),
)
_MAX_INPUT: Final = 4096
"""Bytes of an input: room for four pages with all kinds of elements, at 300 inputs a second."""
_WORDS: Final = (
    *("class=", "href=", "style=", "hidden", "id=", "datetime=", "property=", "content=", "rel="),
    *(
        "display:none",
        "visibility:hidden",
        "application/ld+json",
        "colspan=",
        "rowspan=",
        "itemprop=",
    ),
    *(
        "&amp;",
        "&lt;",
        "&nbsp;",
        "2026-11-17",
        "headline",
        "@type",
        "\xad",
        "\u3000",
        "<!--",
        "-->",
    ),
)
"""What stands in pages besides elements, for the fuzzer to put in."""


def clang_file(name: str) -> Path | None:
    """A file of clang's run-time libraries; None without it, or without clang."""
    if shutil.which("clang") is None:
        return None
    asked = subprocess.run(
        ["clang", f"-print-file-name={name}"], capture_output=True, text=True, check=True
    )
    path = Path(asked.stdout.strip())
    return path if path.is_absolute() and path.exists() else None


def library(name: str) -> Path:
    """A run-time library of clang for this machine. Raises FileNotFoundError."""
    file = name.format(machine=os.uname().machine)
    path = clang_file(file)
    if path is None:
        raise FileNotFoundError(f"{file}: clang or its run-time libraries are not installed")
    return path


def build(folder: Path, *flags: str) -> Path:
    """The kernel with sanitizers and libFuzzer in it, built with these flags into the folder."""
    fuzzer = library("libclang_rt.fuzzer_no_main-{machine}.a")
    built = folder / "_kernel.so"
    sources = sorted((ROOT / "src" / "kernel").glob("*.c"))
    include = f"-I{sysconfig.get_path('include')}"
    whole = ("-Wl,--whole-archive", fuzzer, "-Wl,--no-whole-archive", "-lstdc++", "-lm")
    command = ["clang", *_FLAGS, *flags, include, *sources, *whole, "-o", built]
    subprocess.run(list(map(str, command)), check=True)
    return built


def write_seeds(folder: Path) -> None:
    """Put the pages that other tests are about into the folder, one for each way to go."""
    pages = [*HARD.values(), *ODD_PAGES, "".join(TEXTS)]
    for number, page in enumerate(pages):
        html = page.encode("utf-8", "replace")
        (folder / f"page-{number}").write_bytes(b"\0" + html)
        (folder / f"source-{number}").write_bytes(b"\1\xff" + bytes(8) + html)
    for path in ROOT.glob("tests/pages/*/page.html"):
        (folder / path.parent.name).write_bytes(b"\0" + path.read_bytes()[: _MAX_INPUT - 1])
    for way, number in ((way, number) for way in (2, 3) for number in range(8)):
        data = bytes((way, *(9,) * 6, *((7 * number + 13 * n) % 256 for n in range(600))))
        (folder / f"arrays-{way}-{number}").write_bytes(data)


def write_dictionary(path: Path) -> None:
    """Write what the fuzzer may put in: elements, and what stands in their tags."""
    elements = [f"<{name}>" for name in tags.NAMES[2:]]
    words = [*elements, *(f"</{name}>" for name in ("p", "div", "table", "pre", "a")), *_WORDS]
    escaped = ("".join(f"\\x{byte:02x}" for byte in word.encode()) for word in words)
    path.write_text("".join(f'"{word}"\n' for word in escaped), "ascii")


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a run."""

    executions: int
    edges: int
    """Edges of the kernel that were met."""
    all_edges: int
    status: int
    """0 where nothing was found."""
    said: str
    """The end of what the fuzzer, or a sanitizer, said."""


def environment() -> dict[str, str]:
    """What a process needs to have the sanitizers in it."""
    return {
        "LD_PRELOAD": str(library("libclang_rt.asan-{machine}.so")),
        "PYTHONMALLOC": "malloc",  # Else Python's own pools hide what is out of bounds.
        "PYTHONHASHSEED": "0",
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:handle_abort=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }


def run(
    kernel: Path,
    finds: Path,
    seconds: int,
    corpus: Path | None = None,
    seed: int = 1,
    inputs: int = -1,
) -> Ran:
    """What the fuzzer finds within so many seconds, or so many inputs.

    Inputs that it learns from go into `corpus`.
    """
    finds.mkdir(parents=True, exist_ok=True)
    seeds = finds / "seeds"
    seeds.mkdir(exist_ok=True)
    write_seeds(seeds)
    write_dictionary(finds / "words.dict")
    grown = corpus or finds / "corpus"
    grown.mkdir(parents=True, exist_ok=True)
    command = [
        *(sys.executable, FOLDER / "target.py", kernel, f"-max_total_time={seconds}"),
        f"-runs={inputs}",
        *(f"-seed={seed}", f"-max_len={_MAX_INPUT}", f"-dict={finds / 'words.dict'}"),
        *(f"-artifact_prefix={finds}/", "-timeout=20", "-rss_limit_mb=3000", "-detect_leaks=0"),
        *("-print_final_stats=1", grown, seeds, FOLDER / "corpus"),
    ]
    with (finds / "log").open("w+", encoding="utf-8", errors="replace") as log:
        status = subprocess.run(
            list(map(str, command)), env=os.environ | environment(), stderr=log, check=False
        ).returncode
        log.seek(0)
        said = log.read()
    return Ran(
        executions=_last(r"stat::number_of_executed_units: *(\d+)", said),
        edges=_last(r"cov: (\d+)", said),
        all_edges=_last(r"\((\d+) inline 8-bit counters\)", said),
        status=status,
        said=said[-20_000:],
    )


def _last(pattern: str, said: str) -> int:
    """The last number that the pattern finds; 0 for none."""
    found = re.findall(pattern, said)
    return int(found[-1]) if found else 0
