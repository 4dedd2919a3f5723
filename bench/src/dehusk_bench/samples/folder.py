"""Sample pages as files, for demonstrations."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from dehusk_bench.samples.page import SamplePage

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9/_-]+")
_MAX_NAME: Final = 120


def write_site(pages: Iterable[SamplePage], folder: Path) -> None:
    """Write each page as an HTML file below the folder, and `index.json` with their URLs."""
    urls: dict[str, str | None] = {}
    for name, sample in file_names(pages):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(str(sample.page.html), "utf-8", newline="\n")
        urls[name] = sample.page.url
    folder.mkdir(parents=True, exist_ok=True)
    index = json.dumps(urls, ensure_ascii=False, indent=1)
    (folder / "index.json").write_text(index + "\n", "utf-8", newline="\n")


def file_names(pages: Iterable[SamplePage]) -> Iterator[tuple[str, SamplePage]]:
    """The pages of a site, each with a name of its own for its file."""
    taken: set[str] = set()
    for number, sample in enumerate(pages):
        assert sample.page.url is not None
        name = _file_name(sample.page.url, number)
        if name in taken:
            name = f"page-{number:05}.html"
        taken.add(name)
        yield name, sample


def _file_name(url: str, number: int) -> str:
    """A file name like the URL's path, where that makes one that any system takes."""
    parts = urlsplit(url)
    place = unquote(parts.path) + (f"-{parts.query}" if parts.query else "")
    stem = re.sub(r"\.(html?|php)", "", place).strip("/") or "index"
    name = _UNSAFE.sub("-", stem)
    return f"{name}.html" if stem.isascii() and len(name) <= _MAX_NAME else f"page-{number:05}.html"
