"""`dehusk bench metadata`: when a fact counts as right, and what the command shows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dehusk.doors.cli import main
from dehusk.page.page import Page
from dehusk_bench.corpora import GoldPage, open_corpus
from dehusk_bench.quality.facts import (
    Outcome,
    gold_facts,
    outcome,
    stated_facts,
    without_stated,
)
from dehusk_bench.quality.metadata import measure

URL = "https://millpond.example/{n}"


@pytest.mark.parametrize(
    ("field", "said", "known", "expected"),
    [
        ("title", "The Mill: it turns!", "the mill – it turns", Outcome.RIGHT),
        ("title", "Mühle", "Muhle", Outcome.RIGHT),
        ("title", "The mill", "The mill turns", Outcome.WRONG),
        ("title", None, "The mill", Outcome.MISSING),
        ("author", "Bo Reed, ADA FENNEL", "Ada Fennel and Bo Reed", Outcome.RIGHT),
        ("author", "By Dr. Ada Fennel", "Ada Fennel, PhD", Outcome.RIGHT),
        ("author", "Ada Fennel", "Ada Fennel, Bo Reed", Outcome.WRONG),
        ("author", "", "Ada Fennel", Outcome.MISSING),
        ("published", "2024-05-02T10:00:00+02:00", "2024-5-2", Outcome.RIGHT),
        ("published", "2024-05-01T23:00:00-05:00", "2024-05-02T04:00:00+00:00", Outcome.RIGHT),
        ("published", "2024-05-01T23:00:00-05:00", "2024-05-02", Outcome.WRONG),
        ("published", "2024-05", "2024-05-02", Outcome.MISSING),
    ],
)
def test_an_answer_is_right_wrong_or_missing(
    field: str, said: str | None, known: str, expected: Outcome
) -> None:
    assert outcome(field, said, known) is expected


def test_gold_that_says_nothing_is_not_known() -> None:
    page = Page("<p>x", URL, "millpond.example")
    gold = GoldPage(
        page, "millpond.example", 1, authors="UNKNOWN", date="soon", page_title="The mill"
    )
    assert gold_facts(gold) == {"title": "The mill"}


def test_what_is_stated_for_machines_can_be_hidden_and_known() -> None:
    linked = '<script type="application/ld+json">{"@type": "Article", "author": "Bo Reed"}</script>'
    html = f"<meta name=pubdate content=2024-05-02>{linked}<meta name=x content=y><h1>Wheel</h1>"
    page = Page(html, URL, "millpond.example")
    assert stated_facts(page) == {"published": "2024-05-02", "author": "Bo Reed"}
    assert without_stated(page).html == "<meta name=x content=y><h1>Wheel</h1>"
    assert stated_facts(without_stated(page)) == {}


def _corpus(folder: Path) -> Path:
    """A corpus of ten pages of one site, of which every fifth states another day than is known."""
    path = folder / "mill.jsonl"
    with path.open("w", encoding="utf-8") as stream:
        for n in range(1, 11):
            day = f"2024-05-{n:02}"
            html = (
                f"<title>Wheel {n}</title><meta name=date content={day}><h1>Wheel {n}</h1>"
                f"<p>By Ada Fennel</p><p>{'The wheel turned all day. ' * 20}</p>"
            )
            gold = {"headline": f"Wheel {n}", "authors": ["Ada Fennel"]}
            gold["date"] = "2020-01-01" if n % 5 == 0 else day
            record = {"site": "millpond.example", "url": URL.format(n=n), "html": html, **gold}
            stream.write(json.dumps(record) + "\n")
    return path


def test_outcomes_are_counted_by_field(tmp_path: Path) -> None:
    tally = measure(open_corpus(str(_corpus(tmp_path))), {}, {})
    shares = tally.figures()["figures"]
    assert isinstance(shares, dict)
    days = shares["dehusk, published"]
    assert (days["right"], days["wrong"], days["missing"], days["6+"]) == (0.8, 0.2, 0.0, 0.8)
    assert shares["dehusk, title"]["right"] == shares["dehusk, author"]["right"] == 1.0


def test_the_command_shows_tables_and_saves_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus, saved = str(_corpus(tmp_path)), tmp_path / "figures.json"
    assert main(["bench", "metadata", corpus, corpus, "--no-peers", "--json", str(saved)]) == 0
    shown = capsys.readouterr().out
    assert "published, dehusk     10  0.800  0.200    0.000" in shown
    assert "all: 20 pages" in shown
    assert len(json.loads(saved.read_text("utf-8"))) == 2


def test_weights_are_fitted_to_what_is_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "metadata", str(_corpus(tmp_path)), "--fit"]) == 0
    shown = capsys.readouterr().out
    assert "published, from" in shown
    assert '"stated":' in shown
