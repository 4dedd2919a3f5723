"""Units of work on memories: what is undone, what is refused inside, what forgetting leaves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import dehusk
from dehusk.answer.result import Result
from dehusk.errors import StateError
from dehusk.memory import upkeep
from dehusk.memory.session import Session
from dehusk.settings import Keeping

SITE = "a.example"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "crawl.husk"


def _page(number: int, site: str = SITE) -> dehusk.Page:
    html = f"<nav>Home News</nav><div class=sign>Join us</div><p>Harvest of {number}</p>"
    return dehusk.Page(html, f"https://{site}/{number}")


def _lessons(memory: dehusk.Session, count: int) -> tuple[list[bytes], bytes]:
    """What that many pages teach a worker, and what it comes to."""
    worker = Session.worker(memory.settings())
    worker.restore(memory.snapshot(SITE))
    lessons = [worker.add_page(_page(number), Result.to_json)[1] for number in range(count)]
    return [lesson for lesson in lessons if lesson is not None], worker.state(SITE)


def _failing(memory: dehusk.Session, act: Callable[[], object]) -> None:
    """Run something in a unit that then fails."""
    with memory.unit():
        act()
        raise ZeroDivisionError


@pytest.mark.parametrize("method", ["segments", "style-tree"])
def test_lessons_taken_in_a_unit_that_fails_are_undone(file: Path, method: str) -> None:
    with dehusk.open(file, method=method, durable="page") as memory:
        lessons, _ = _lessons(memory, 2)
        with pytest.raises(ZeroDivisionError):
            _failing(memory, lambda: memory.take(SITE, lessons))
        assert memory.memory(SITE).pages == 0
        memory.take(SITE, lessons)
    with dehusk.open(file) as memory:
        assert [row.pages for row in memory.sites()] == [2]


def test_rules_of_a_unit_that_fails_are_not_obeyed(file: Path) -> None:
    with dehusk.open(file, method="segments") as memory:

        def judge() -> None:
            memory.add_rule(SITE, "drop", ".sign")
            assert "Join us" not in memory.ask(_page(1)).text

        with pytest.raises(ZeroDivisionError):
            _failing(memory, judge)
        assert "Join us" in memory.ask(_page(1)).text


def test_a_unit_in_a_unit_is_refused_and_the_outer_one_is_undone(file: Path) -> None:
    with dehusk.open(file, method="segments", durable="page") as memory:

        def nest() -> None:
            memory.learn(_page(1))
            with pytest.raises(StateError, match="in a unit"), memory.unit():
                pass

        with pytest.raises(ZeroDivisionError):
            _failing(memory, nest)
        assert memory.memory(SITE).pages == 0
        with memory.unit():
            memory.learn(_page(1))
        assert [row.pages for row in memory.sites()] == [1]


def test_a_site_cannot_be_forgotten_in_a_unit(file: Path) -> None:
    with dehusk.open(file, method="segments", durable="page") as memory:
        memory.learn(_page(1))

        def forget() -> None:
            memory.learn(_page(2))
            with pytest.raises(StateError, match="in a unit"):
                memory.forget(SITE)

        with pytest.raises(ZeroDivisionError):
            _failing(memory, forget)
        assert memory.memory(SITE).pages == 1


def test_a_site_that_was_never_committed_can_be_forgotten(file: Path) -> None:
    with dehusk.open(file, method="segments", durable="exit") as memory:
        memory.learn(_page(1))
        memory.shelf("notes", SITE).put(b"key", b"value")
        assert memory.forget(SITE)
        assert not memory.forget(SITE)
        assert list(memory.shelf("notes", SITE).items()) == []
    with dehusk.open(file) as memory:
        assert memory.sites() == []
        assert list(memory.shelf("notes", SITE).items()) == []


@pytest.mark.parametrize("is_committed", [False, True])
def test_a_site_that_has_only_rules_can_be_forgotten(file: Path, *, is_committed: bool) -> None:
    with dehusk.open(file, method="segments", durable="exit") as memory:
        memory.shelf("notes").put(b"key", b"value")
        memory.add_rule(SITE, "drop", ".sign")
        if is_committed:
            memory.commit()
        assert not memory.forget("")
        assert memory.forget(SITE)
        assert memory.rules(SITE) == ()
        assert not memory.forget(SITE)
    assert upkeep.check_store(file).findings == ()
    with dehusk.open(file) as memory:
        assert memory.rules(SITE) == ()
        assert memory.shelf("notes").get(b"key") == b"value"


def test_rules_of_a_site_that_had_to_leave_are_not_obeyed(file: Path) -> None:
    keeping = Keeping(max_total_bytes=20_000)
    with dehusk.open(file, method="segments", durable="page", keeping=keeping) as memory:
        memory.add_rule(SITE, "drop", ".sign")
        assert "Join us" not in memory.add(_page(1)).text
        for number in range(100):
            memory.learn(_page(1, f"s{number:03}.example"))
        assert memory.site(SITE) is None
        assert memory.rules(SITE) == ()
        assert "Join us" in memory.ask(_page(1)).text
