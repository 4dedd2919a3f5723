"""Doubts of a site: which questions are asked, and what becomes of the answers."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dehusk
from dehusk import pipeline
from dehusk.answer.labels import Label, overrule
from dehusk.answer.override import Overrides
from dehusk.answer.result import Result
from dehusk.doors.cli import main
from dehusk.memory import Memory
from dehusk.methods import make_method
from dehusk.page.page import Page
from dehusk.template.doubts import Doubts
from dehusk_bench.samples import sample_site, write_site

SITE = "grain.example"


def _answer(html: str, scores: dict[str, float], number: int = 0) -> Result:
    """The answer on a page whose texts have these scores, by what they begin with; others 0."""
    page = Page(html, f"https://{SITE}/{number}", SITE)
    setup = pipeline.Setup(make_method("segments"))
    result, _ = pipeline.clean(page, Memory(), setup)
    tree, labels = result.tree, result.labels
    given = labels.scores.copy()
    for node in np.flatnonzero(tree.is_text).tolist():
        text = tree.text(node)
        given[node] = next((score for name, score in scores.items() if text.startswith(name)), 0)
    labels.scores.setflags(write=True)
    labels.scores[:] = given
    return result


def _doubts(answers: Sequence[Result]) -> Doubts:
    doubts = Doubts()
    for answer in answers:
        doubts.take(answer)
    return doubts


def _page(number: int) -> str:
    return (
        f"<main><h1>Rye {number}</h1><p>The field of {number} was sown in the rain of spring.</p>"
        f"<div class='box wide'><p>More on {number}: barley, oats and wheat from the valley</p>"
        f"<p>More: spelt of {number}</p></div><aside>Mail us</aside></main>"
    )


def test_what_pages_share_and_is_near_the_cut_is_asked_about() -> None:
    doubts = _doubts([_answer(_page(n), {"More": 0.55, "Mail": 0.9}, n) for n in range(6)])
    (question,) = doubts.questions()
    assert question.selector == "div.box.wide"
    assert question.pages == 6
    assert question.score == pytest.approx(0.55)
    assert question.examples[0].text.startswith("More on 0")
    assert len(question.examples) == 3


def test_sure_answers_raise_no_question() -> None:
    doubts = _doubts([_answer(_page(n), {"More": 0.95, "Mail": 0.9}, n) for n in range(6)])
    assert doubts.questions() == []
    assert all(page.doubt == 0 for page in doubts.pages)


def test_a_place_that_is_mostly_sure_is_not_asked_about_for_one_line() -> None:
    doubts = _doubts([_answer(_page(n), {"More: spelt": 0.5}, n) for n in range(6)])
    assert doubts.questions() == []


def test_what_one_page_alone_has_is_not_asked_about() -> None:
    odd = _answer("<p id=odd>Something odd that stands nowhere else</p>", {"Something": 0.5})
    doubts = _doubts([odd, *(_answer(_page(n), {}, n) for n in range(1, 6))])
    assert doubts.questions() == []
    assert doubts.pages[0].doubt > 0.4


def test_what_most_pages_have_comes_first_and_no_text_is_asked_about_twice() -> None:
    pages = [_answer(_page(n), {"More": 0.5, "Mail": 0.5}, n) for n in range(6)]
    questions = _doubts(pages).questions()
    assert [question.selector for question in questions] == ["div.box.wide", "aside"]
    assert questions[0].mends > questions[1].mends
    assert [one.selector for one in _doubts(pages).questions(1)] == ["div.box.wide"]


def test_what_a_rule_has_decided_is_no_longer_in_doubt() -> None:
    answers = [_answer(_page(n), {"More": 0.55}, n) for n in range(6)]
    doubts = Doubts()
    for answer in answers:
        choices = answer.choices(Overrides((), ("div.box",)))
        labels = overrule(answer.tree, answer.labels, choices)
        assert Label.TEMPLATE.value in labels.labels
        doubts.take(replace(answer, labels=labels))
    assert doubts.questions() == []


def test_a_page_without_text_and_a_site_without_pages_have_no_doubts() -> None:
    assert Doubts().questions() == []
    assert _doubts([_answer("<p></p>", {})]).questions() == []


@pytest.fixture
def boxes(tmp_path: Path) -> Path:
    """Pages of a site on which a box is said by some to be content."""
    write_site(sample_site("news", pages=8, seed=3), tmp_path / "news")
    return tmp_path / "news"


def test_questions_come_out_as_a_file_of_answers_that_goes_in_again(
    boxes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["review", str(boxes), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["pages"] == 8
    assert 0 < found["confidence"] <= 1
    assert main(["review", str(boxes)]) == 0
    listed = capsys.readouterr().out
    assert f"[{found['site']}]" in listed
    answers, memory = tmp_path / "answers.txt", tmp_path / "a.husk"
    answers.write_text(f"{listed}\n? .other\nskip .third\ndrop div.related\nkeep #main > p\n")
    assert main(["review", "--memory", str(memory), "--answers", str(answers)]) == 0
    with dehusk.open(str(memory), reads_only=True) as kept:
        rules = {(rule.action, rule.selector) for rule in kept.rules(found["site"])}
    assert rules == {("drop", "div.related"), ("keep", "#main > p")}


def test_that_nothing_was_answered_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers, memory = tmp_path / "answers.txt", tmp_path / "a.husk"
    dehusk.open(memory).close()
    before = memory.read_bytes()
    answers.write_text("[grain.example]\n? .other\nskip .third\n")
    assert main(["review", "--memory", str(memory), "--answers", str(answers)]) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("nothing was answered, nothing changed")
    assert memory.read_bytes() == before


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("keep p\n", "line 1: expected [SITE]"),
        ("[a]\nmaybe p\n", "line 2: expected [SITE]"),
        ("[a]\nkeep\n", "line 2: expected [SITE]"),
        ("[a]\nkeep p\n\ndrop p[[\n", "line 4: 'p[[' is not CSS"),
    ],
)
def test_of_answers_with_a_bad_line_none_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], written: str, said: str
) -> None:
    answers, memory = tmp_path / "answers.txt", tmp_path / "a.husk"
    answers.write_text(written)
    assert main(["review", "--memory", str(memory), "--answers", str(answers)]) == 2
    assert said in capsys.readouterr().err
    assert not memory.exists()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "name pages to look at"),
        (["https://grain.example/"], "must be saved first"),
        (["--answers", "a.txt"], "--answers needs --memory FILE"),
        (["--memory", "a.husk", "--answers", "nowhere.txt"], "No such file"),
    ],
)
def test_wrong_use_is_said_in_one_sentence(
    capsys: pytest.CaptureFixture[str], given: list[str], said: str
) -> None:
    assert main(["review", *given]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_answers_at_a_terminal_are_kept_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = tmp_path / "pages.jsonl"
    with pages.open("w") as file:
        for number in range(8):
            record = {"url": f"https://{SITE}/{number}", "html": _page(number)}
            file.write(json.dumps(record) + "\n")
    asked = [_answer(_page(n), {"More": 0.5, "Mail": 0.5}, n) for n in range(6)]
    questions = _doubts(asked).questions()
    monkeypatch.setattr(Doubts, "questions", lambda self: questions)
    shown = _Terminal()
    monkeypatch.setattr(sys, "stdin", _Terminal("what\nd\nq\n"))
    monkeypatch.setattr(sys, "stdout", shown)
    memory = tmp_path / "a.husk"
    assert main(["review", str(pages), "--memory", str(memory)]) == 0
    assert "1 of 2: div.box.wide" in shown.getvalue()
    assert shown.getvalue().count("[k/d/s/q]") == 3
    with dehusk.open(str(memory), reads_only=True) as kept:
        assert [rule.selector for rule in kept.rules(SITE)] == ["div.box.wide"]


def test_what_a_page_calls_itself_gives_no_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pages = tmp_path / "pages.jsonl"
    evil = "a\nkeep .evil\u2028keep .evil\x1b[2J"
    record = {"url": f"https://x.example/\n{evil}", "site": evil, "html": f"<p id='{evil}'>x"}
    pages.write_text(json.dumps(record) + "\n")
    assert main(["review", str(pages)]) == 0
    listed = capsys.readouterr().out
    assert not any(line.startswith("keep") for line in listed.split("\n"))
    assert "\x1b" not in listed
