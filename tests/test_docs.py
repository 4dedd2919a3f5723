"""The docs are true: every code block runs, and says what it is."""

from __future__ import annotations

import gzip
import json
import lzma
import os
import re
import shutil
import zipfile
from collections.abc import Iterator
from itertools import groupby, islice
from pathlib import Path

import pyarrow.parquet
import pytest

import dehusk
from dehusk.doors.cli.demo import SAMPLES
from doc_blocks import (
    ROOT,
    RUN,
    SHOWN,
    Block,
    Reader,
    blocks_of,
    check_command,
    commands_of,
    is_hidden_command,
)
from extras import missing
from hostile_server import Behaviour, serve
from warcs import archive, http, record

RECORD = ROOT / "docs" / "results.md"
"""Made by `dehusk bench report`; it says itself that its commands need data and hours."""
PAGES = sorted(
    {ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"}
    | {*(ROOT / "docs").rglob("*.md")} - {RECORD}
)
SLOW = re.compile(r"dehusk (serve|view|demo)|--jobs|--render|http\.server|datatrove")
WITH_BLOCKS = [
    pytest.param(page, marks=[pytest.mark.slow] if any(SLOW.search(b.text) for b in blocks) else [])
    for page in PAGES
    if (blocks := [block for block in blocks_of(page) if block.kind in RUN])
]
GRAIN = """<title>{0} {1} – Grain</title><nav><a href=/>Home</a> <a href=/news/>News</a>
<a href=/about>About</a> <a href=/rye>Rye</a> <a href=/oats>Oats</a></nav>
<main><h1>{0} {1}</h1><p>{2} sacks of {0} were brought in before the rain of that year.</p></main>
<footer>All rights reserved</footer>"""
"""A page of the site that the docs speak of."""
FIVE = (
    "<nav>Home News About</nav><main><h1>Harvest {0}</h1><p>{1} sacks of rye were brought in"
    " before the rain of that year.</p></main><footer>All rights reserved</footer>"
)
"""A page of the folder that docs/explain.md explains."""


def _id(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture(scope="module")
def example() -> Iterator[str]:
    """The address of a small site, on loopback."""

    def page(name: str, number: int) -> Behaviour:
        html = GRAIN.format(name, number, 7 * number).encode()
        return lambda request: request.page(html)

    names = ("", "news/", "about", "rye", "oats")
    with serve({f"/{name}": page(name or "grain", n + 1) for n, name in enumerate(names)}) as site:
        yield site.url


@pytest.fixture(scope="module")
def things(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all that the docs take for granted: crawls, archives, a mirror, a page."""
    folder = tmp_path_factory.mktemp("things")
    with lzma.open(SAMPLES, "rt", encoding="utf-8") as lines:
        sites = groupby(map(json.loads, lines), lambda sample: sample["site"])
        samples = [sample for _, pages in islice(sites, 2) for sample in islice(pages, 6)]
    rows = [json.dumps({key: s[key] for key in ("url", "html")}) + "\n" for s in samples]
    news = [row.replace("news-1.example", "news.example") for row in rows[:6]]
    grain = [
        json.dumps({"url": f"https://grain.example/{n}", "html": FIVE.format(n, 7 * n)}) + "\n"
        for n in range(6)
    ]
    crawl = "".join(news + rows[6:] + grain).encode()
    warc = archive([record(http(s["html"].encode()), s["url"]) for s in samples])
    for name, data in {
        "crawl.jsonl": crawl, "crawl.jsonl.gz": gzip.compress(crawl),
        "more.jsonl": crawl, "more.jsonl.gz": gzip.compress(crawl),
        "one-site.jsonl": "".join(grain).encode(), "page.html": samples[0]["html"].encode(),
        "crawl.warc.gz": warc, "archives/a.warc.gz": warc,
    }.items():  # fmt: skip
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)
    for name in ("mirror", "docs"):
        (folder / name).mkdir()
        for n in range(6):
            (folder / name / f"{n}.html").write_text(FIVE.format(n, 7 * n), "utf-8")
        urls = {f"{n}.html": f"https://grain.example/{n}" for n in range(6)}
        (folder / name / "index.json").write_text(json.dumps(urls), "utf-8")
    with zipfile.ZipFile(folder / "collection.wacz", "w") as packed:
        packed.writestr("archive/a.warc.gz", warc)
    with dehusk.open(str(folder / "crawl.husk")) as memory:
        for _ in memory.clean(dehusk.read(str(folder / "crawl.jsonl"))):
            pass
    columns = {"address": [s["url"] for s in samples], "body": [s["html"] for s in samples]}
    pyarrow.parquet.write_table(pyarrow.table(columns), folder / "raw.parquet")
    return folder


@pytest.mark.parametrize("page", WITH_BLOCKS, ids=_id)
def test_what_a_page_shows_does_what_it_says(
    page: Path, things: Path, example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "work"
    shutil.copytree(things, folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "src"), str(ROOT / "bench/src")]))
    reader = Reader(folder, example)
    try:
        for block in blocks_of(page):
            reader.try_out(block)
    finally:
        reader.close()
    if reader.lacking:
        missing(f"all but what needs {' and '.join(sorted(reader.lacking))} was run")


@pytest.mark.parametrize("page", PAGES, ids=_id)
def test_every_block_of_code_says_what_it_is(page: Path) -> None:
    text = page.read_text("utf-8")
    fenced = sum(block.text.count(">>> ") for block in blocks_of(page))
    assert text.count("\n>>> ") <= fenced, "an example outside of a fence: ```pycon"
    for block in blocks_of(page):
        assert block.kind in RUN | SHOWN, f"{block}: {block.kind}"
        assert block.kind in RUN or not is_hidden_command(block), f"{block}: ```sh runs it"


def test_the_commands_of_the_record_can_be_called() -> None:
    assert "do not run them" in RECORD.read_text("utf-8").partition("\n## ")[0]
    commands = [
        command
        for block in blocks_of(RECORD)
        for command, _ in commands_of(block)
        if command.startswith("dehusk ")
    ]
    assert commands
    for command in commands:
        check_command(command, Block(RECORD, 0, "sh", command))


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("sh", "dehusk clean nothing.html"),
        ("sh", "dehusk clean page.html --nonesuch   # needs the internet"),
        ("sh", "pip install 'dehusk[nonesuch]'"),
        ("sh", "make nonesuch"),
        ("console", "$ echo rye\noats"),
        ("pycon", ">>> 1 + 1\n3\n"),
        ("python", "assert False"),
    ],
)
def test_a_block_that_is_not_true_is_found(
    kind: str, text: str, things: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(things)
    with pytest.raises(AssertionError):
        Reader(tmp_path, "http://127.0.0.1:1").try_out(Block(ROOT / "README.md", 1, kind, text))


def test_the_readme_fits_one_screen() -> None:
    words = re.sub(r"<!--.*?-->|\|.*", "", (ROOT / "README.md").read_text("utf-8"))
    assert len(words.split()) < 400
