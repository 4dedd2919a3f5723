"""The walk of a page: which files and functions of the kernel it meets, as the docs draw it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs" / "architecture.md"
MAX_FILES = 33
"""Seven of them say what the page says of itself, which takes many words of many languages."""

TRACED = """
import sys
from pathlib import Path
import dehusk

ROOT = Path(dehusk.__file__).parent
PAGE = (
    "<html lang=en><title>Harvest {n}</title><nav><a href=/>Home</a></nav><main><h1>Harvest</h1>"
    "<p>In year {n} there were <b>many</b> sacks of rye, as <a href=/x>others</a> say.</p></main>"
)
steps = []

def trace(frame, event, function):
    if event == "call":
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(ROOT):
            steps.append(path.relative_to(ROOT).as_posix())
    elif event == "c_call" and "dehusk._kernel" in (
        getattr(function, "__module__", None), type(getattr(function, "__self__", None)).__module__
    ):
        steps.append(f"_kernel.{function.__name__}")

site = dehusk.Site()
site.add(PAGE.format(n=1), "https://grain.example/1").to_json()
sys.setprofile(trace)
site.add(PAGE.format(n=2), "https://grain.example/2").to_json()
sys.setprofile(None)
print("\\n".join(dict.fromkeys(steps)))
"""


def _walk() -> list[str]:
    """Files and kernel calls, in the order in which a site's second page first meets them."""
    run = subprocess.run([sys.executable, "-c", TRACED], capture_output=True, text=True, check=True)
    return run.stdout.split()


def test_the_docs_draw_the_walk_of_a_page_as_it_is() -> None:
    drawn = DOCS.read_text(encoding="utf-8").partition("<!-- walk -->")[2].partition("<!-- end")[0]
    written = [line.split("`")[1] for line in drawn.splitlines() if line.startswith("| `")]
    assert written == _walk()


def test_a_page_walks_through_few_files() -> None:
    files = [step for step in _walk() if step.endswith(".py")]
    assert len(files) <= MAX_FILES
