"""What pages have taught reaches the session, whatever happens to a site or a snapshot."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import cast

import pytest

import dehusk
from dehusk.errors import DehuskError, StateError, StoreDamaged
from dehusk.memory.session import Session, SessionSettings, Snapshot
from dehusk.page.page import Page
from dehusk.settings import Keeping, Limits
from dehusk.workers.child import Said
from dehusk.workers.lessons import Lesson, LessonQueue
from dehusk.workers.messages import Act, Reply, Setup
from dehusk.workers.worker import Task, Worker, WorkerSettings


def _page(site: str, number: int = 0) -> Page:
    return Page(f"<nav>Home</nav><p>Page {number}", f"https://{site}/{number}")


def _lesson(session: Session, site: str, **more: int | str) -> Lesson:
    return Lesson(Session.worker(session.settings()).lesson(_page(site, 1)), None, **more)  # type: ignore[arg-type]


def _sql(session: Session, statement: str) -> None:
    connection: sqlite3.Connection = session._store.database._connection  # type: ignore[attr-defined]
    connection.execute(statement)


def test_lessons_of_sound_sites_are_kept_behind_a_damaged_one(tmp_path: Path) -> None:
    with dehusk.open(tmp_path / "a.husk", method="segments") as session:
        session.add(_page("a.example"))
        session.commit()
        session._store._let_go("a.example")
        _sql(session, "UPDATE site SET checksum = 1")
        queue = LessonQueue(session)
        for site in ("a.example", "b.example", "c.example"):
            queue.add(site, _lesson(session, site))
            queue.release(site)
        with pytest.raises(StoreDamaged, match=r"a\.example"):
            queue.settle_all()
        assert queue.ready_sites() == {"a.example": 1}
        assert [session.memory(site).pages for site in ("b.example", "c.example")] == [1, 1]


def test_a_lesson_whose_example_cannot_be_kept_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def damaged(*_: object) -> None:
        raise StoreDamaged("a row of the shelf examples is damaged")

    with dehusk.open(tmp_path / "a.husk", method="segments") as session:
        queue = LessonQueue(session)
        queue.add("a.example", _lesson(session, "a.example", url="https://a.example/", family=1))
        monkeypatch.setattr(session, "offer_example", damaged)
        with pytest.raises(StoreDamaged):
            queue.release("a.example")
        assert queue.ready_sites() == {"a.example": 1}


class _Listener:
    """Stands for a process that says nothing of its own."""

    def __init__(self, *_: object) -> None:
        self.messages = 0

    def send(self, message: bytes) -> None:
        self.messages += bool(message)


class _Asks:
    """Wants a snapshot of each site once, until it does not come; one site cannot be read."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def snapshot(self, site: str, url: str | None) -> Snapshot:
        if site == "bad.example":
            raise StateError(f"{site} of {url} is of another version")
        return Snapshot(site, b"")

    def wants_snapshot(self, site: str) -> bool:
        is_new = site not in self.asked
        self.asked.append(site)
        return is_new

    def miss_snapshot(self, site: str) -> None:
        self.asked.clear()


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> tuple[Worker, _Asks]:
    """A worker without a process, and where its sites come from."""
    monkeypatch.setattr("dehusk.workers.worker.Process", _Listener)
    sites = _Asks()
    setup = Setup(SessionSettings("auto", {}, Limits(), Keeping()))
    return Worker(setup, sites, WorkerSettings(), lambda worker, event: None), sites


def _give(worker: Worker, site: str, done: list[DehuskError | None]) -> None:
    task = Task(Act.CLEAN, site, [_page(site)], lambda task: done.append(task.error))
    worker.give(task)


def test_a_snapshot_that_does_not_come_is_asked_for_again(worker: tuple[Worker, _Asks]) -> None:
    judge, sites = worker
    for _ in range(3):
        _give(judge, "a.example", [])
    judge.pump()
    judge.handle(Said(judge.process, [Reply(error=("timeout", "too long"))]))
    assert sites.asked == []
    _give(judge, "a.example", [])
    judge.pump()
    judge.handle(Said(judge.process, [Reply(), Reply()]))  # Of these none was asked for.
    assert sites.asked == ["a.example"]
    judge.handle(Said(judge.process, [Reply(lesson=b"", snapshot=b"s")]))
    assert sites.asked == ["a.example"]


def test_the_queue_wants_a_snapshot_again_that_did_not_come() -> None:
    queue = LessonQueue(Session(method="segments"))
    queue.add("a.example", Lesson(bytes(40_000)))
    assert [queue.wants_snapshot("a.example") for _ in range(2)] == [True, False]
    queue.miss_snapshot("a.example")
    assert queue.wants_snapshot("a.example")


def test_a_site_that_cannot_be_sent_ends_its_task_and_no_other(
    worker: tuple[Worker, _Asks],
) -> None:
    judge, _ = worker
    done: list[DehuskError | None] = []
    for site in ("a.example", "bad.example", "b.example"):
        _give(judge, site, done)
    judge.pump()
    assert [type(error) for error in done] == [StateError]
    assert not judge.has_tasks("bad.example")
    assert cast(_Listener, judge.process).messages == 1
    judge.handle(Said(judge.process, [Reply(), Reply()]))
    assert done[1:] == [None, None]
