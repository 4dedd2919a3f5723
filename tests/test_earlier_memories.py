"""Memories of earlier builds open and go on: what they lack is learned from then on."""

from __future__ import annotations

import lzma
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import dehusk
from dehusk.memory import dump, load, upkeep
from dehusk_bench.samples import sample_site

FOLDER = Path(__file__).parent / "memories"
SITES = "news", "tables", "docs"
LEARNED = 12
"""Pages of each site in the file."""


def _pages(kind: str) -> list[dehusk.Page]:
    return [sample.page for sample in sample_site(kind, pages=20)]


@pytest.fixture(params=sorted(FOLDER.glob("*.xz")), ids=lambda path: path.name)
def earlier(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A memory as an earlier build has left it."""
    file = tmp_path / "earlier.husk"
    file.write_bytes(lzma.decompress(request.param.read_bytes()))
    return file


@pytest.mark.parametrize("kind", SITES)
def test_a_site_goes_on(earlier: Path, kind: str) -> None:
    pages = _pages(kind)
    name = f"{kind}-0.example"
    with dehusk.open(earlier) as memory:
        assert memory.memory(name).pages == LEARNED
        explanation = memory.explain(pages[LEARNED]).explanation
        assert explanation is not None
        repeats = explanation.site_score >= 0.9
        assert np.count_nonzero(repeats), "the site's evidence is lost"
        assert np.mean(explanation.score[repeats] > 0.5) > 0.5, "what repeats goes"
        for number, page in enumerate(pages[LEARNED:], start=LEARNED + 1):
            memory.add(page)
            assert memory.memory(name).pages == number
        copy = dehusk.Page(pages[-1].html, f"{pages[-1].url}?print=1")
        learned = memory.memory(name)
        assert memory.add(copy).text == memory.ask(pages[-1]).text
        assert memory.memory(name) == learned, "a copy teaches nothing"
    assert upkeep.check_store(earlier).findings == ()


def test_it_adds_up_with_a_memory_of_today(earlier: Path, tmp_path: Path) -> None:
    with dehusk.open(tmp_path / "today.husk") as memory:
        for page in _pages("tables")[LEARNED:]:
            memory.add(page)
    both = tmp_path / "both.husk"
    assert upkeep.merge_stores(earlier, tmp_path / "today.husk", both) == len(SITES)
    with dehusk.open(both) as memory:
        assert memory.memory("tables-0.example").pages == 20
        assert len(memory.memory("tables-0.example").table("contents")) > 0


def test_what_it_holds_reads_as_rows_of_spark_and_of_a_server(earlier: Path) -> None:
    with closing(sqlite3.connect(earlier)) as file:
        rows = file.execute("SELECT name, body FROM site JOIN snapshot ON site = id ORDER BY name")
        found = {name.decode(): body for name, body in rows}
    assert list(found) == ["news-0.example", "tables-0.example"]
    for name, body in found.items():
        memory = load(body, "auto", site=name)
        assert memory.pages == LEARNED
        assert dump(memory, "auto", site=name) == body
