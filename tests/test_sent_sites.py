"""Rules of sites, and sites sent to other processes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dehusk
from dehusk.answer.result import Result
from dehusk.doors.cli import main
from dehusk.errors import SelectorError, UsageError
from dehusk.memory.rules import MAX_RULES
from dehusk.memory.session import Session
from dehusk_bench.samples import sample_site

SITE = "grain.example"


def _page(number: int) -> dehusk.Page:
    html = f"<nav>Home News</nav><div class=sign>Join us</div><p>Page {number}</p>"
    return dehusk.Page(html, f"https://{SITE}/{number}")


def test_a_rule_is_obeyed_on_every_page_of_its_site_and_on_no_other(tmp_path: Path) -> None:
    with dehusk.open(tmp_path / "a.husk", method="segments") as memory:
        memory.add_rule(SITE, "drop", ".sign")
        assert memory.add(_page(0)).text == "Home News\nPage 0"
        assert memory.ask(_page(1)).text == "Home News\nPage 1"
        assert "Join us" in memory.add(dehusk.Page(_page(0).html, "https://rye.example/")).text


def test_a_rule_lasts_until_it_is_removed(tmp_path: Path) -> None:
    with dehusk.open(tmp_path / "a.husk", method="segments") as memory:
        rule = memory.add_rule(SITE, "drop", " .sign ")
    with dehusk.open(tmp_path / "a.husk") as memory:
        assert memory.rules(SITE) == (rule,)
        assert memory.remove_rule(SITE, rule.id)
        assert not memory.remove_rule(SITE, rule.id)
        assert "Join us" in memory.add(_page(0)).text


def test_a_rule_takes_the_place_of_its_opposite(tmp_path: Path) -> None:
    with dehusk.open(tmp_path / "a.husk") as memory:
        memory.add_rule(SITE, "keep", ".sign")
        dropped = memory.add_rule(SITE, "drop", ".sign")
        assert memory.rules(SITE) == (dropped,)


def test_what_is_no_selector_and_too_many_rules_are_refused(tmp_path: Path) -> None:
    with dehusk.open(tmp_path / "a.husk") as memory:
        with pytest.raises(SelectorError):
            memory.add_rule(SITE, "keep", "p >")
        with pytest.raises(UsageError):
            memory.add_rule(SITE, "keep", "p" * 600)
        for number in range(MAX_RULES):
            memory.add_rule(SITE, "keep", f"#n{number}")
        with pytest.raises(UsageError, match="200 rules"):
            memory.add_rule(SITE, "keep", "#more")


def test_a_forgotten_site_has_no_rules(tmp_path: Path) -> None:
    with dehusk.open(tmp_path / "a.husk") as memory:
        memory.add(_page(0))
        memory.add_rule(SITE, "drop", ".sign")
        memory.commit()
        memory.forget(SITE)
        assert memory.rules(SITE) == ()


def test_the_command_adds_lists_and_removes_rules(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.husk"
    command = ["sites", "rules", SITE, "--memory", str(file)]
    assert main([*command, "--drop", ".sign"]) == 2
    assert not file.exists(), "a rule of nobody makes no memory"
    with dehusk.open(file) as memory:
        memory.learn("<p>Rye</p>", f"https://{SITE}/")
    assert main([*command, "--drop", ".sign"]) == 0
    assert main(command) == 0
    name = capsys.readouterr().out.splitlines()[-1].split()[0]
    assert main([*command, "--remove", name]) == 0
    assert name not in capsys.readouterr().out
    assert main([*command, "--remove", name]) == 1
    assert main([*command, "--remove", name, "--keep", "p"]) == 2


@pytest.mark.parametrize("method", ["segments", "auto", "style-tree"])
def test_a_worker_answers_and_learns_as_its_session_would(tmp_path: Path, method: str) -> None:
    pages = [sample.page for sample in sample_site("docs", pages=9, seed=2)]
    assert pages[0].site
    with dehusk.open(tmp_path / "alone.husk", method=method) as alone:
        expected = [json.dumps(alone.add(page).to_json()) for page in pages]
        memory = alone.snapshot(pages[0].site).state
    with dehusk.open(tmp_path / "sent.husk", method=method) as session:
        worker = Session.worker(session.settings())
        worker.restore(session.snapshot(pages[0].site))
        lessons = []
        for page, wanted in zip(pages, expected, strict=True):
            result, lesson = worker.add_page(page, Result.to_json)
            assert json.dumps(result.to_json()) == wanted
            assert lesson is not None
            lessons.append(lesson)
        session.take(pages[0].site, lessons[:4])
        session.take(pages[0].site, lessons[4:], worker.state(pages[0].site))
    with dehusk.open(tmp_path / "sent.husk") as again:
        assert again.snapshot(pages[0].site).state == memory


def test_a_worker_learns_no_page_twice_and_none_that_it_is_only_asked_about(
    tmp_path: Path,
) -> None:
    with dehusk.open(tmp_path / "a.husk") as session:
        worker = Session.worker(session.settings())
        worker.restore(session.snapshot(SITE))
    assert worker.ask(_page(0), render=Result.to_json).pages_seen == 1
    assert worker.add_page(_page(0), Result.to_json)[1] is not None
    again, lesson = worker.add_page(_page(0), Result.to_json)
    assert (again.pages_seen, lesson) == (1, None)


@pytest.mark.parametrize("state", ["older", "damaged"])
def test_a_state_that_the_lessons_do_not_lead_to_is_not_believed(
    tmp_path: Path, state: str
) -> None:
    with dehusk.open(tmp_path / "a.husk", method="segments") as session:
        worker = Session.worker(session.settings())
        worker.restore(session.snapshot(SITE))
        lessons = [worker.add_page(_page(number), Result.to_json)[1] for number in range(3)]
        whole = worker.state(SITE)
        worker.restore(session.snapshot(SITE))
        given = {"older": worker.state(SITE), "damaged": whole[:-9]}[state]
        session.take(SITE, [lesson for lesson in lessons if lesson is not None], given)
        assert session.snapshot(SITE).state == whole
