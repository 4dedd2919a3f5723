"""What the service survives: a full disk, and a site whose memory is damaged."""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
from pathlib import Path

import pytest

import dehusk
from dehusk.doors.service.settings import ServiceSettings
from dehusk.errors import StateError, StoreDamaged

pytest.importorskip("fastapi", reason="the extra serve is not installed")

from dehusk.doors.service import service as service_module
from dehusk.doors.service.service import Service
from dehusk.page.page import Page
from dehusk.workers.messages import Reply

pytestmark = pytest.mark.slow


def _post(number: int, site: str = "a.example") -> Page:
    lines = "".join(f"<p>page {number} line {line}</p>" for line in range(2000))
    return Page(f"<nav>Home</nav>{lines}", f"https://{site}/{number}")


def _connection(memories: dehusk.Session) -> sqlite3.Connection:
    connection: sqlite3.Connection = memories._store.database._connection  # type: ignore[attr-defined]
    return connection


async def _until_kept(memories: dehusk.Session, site: str) -> None:
    async with asyncio.timeout(120):
        while memories.site(site) is None:
            await asyncio.sleep(0.05)


async def _until_told(caplog: pytest.LogCaptureFixture) -> None:
    async with asyncio.timeout(120):
        while "not_kept" not in [json.loads(line)["event"] for line in caplog.messages]:
            await asyncio.sleep(0.05)


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Commits come at once, and what is logged is seen."""
    monkeypatch.setattr(service_module, "BATCH_S", 0.05)
    monkeypatch.setattr(logging.getLogger("dehusk.service"), "propagate", True)
    caplog.set_level(logging.WARNING, "dehusk.service")


def test_a_full_disk_ends_neither_the_keeping_nor_the_last_commit(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def run(memories: dehusk.Session) -> None:
        service = Service(memories, ServiceSettings(workers=1))
        await service.open()
        _connection(memories).execute("PRAGMA max_page_count = 1")
        for number in range(8):
            assert (await service.clean(_post(number), learns=True)).error is None
        await _until_told(caplog)
        _connection(memories).execute("PRAGMA max_page_count = 100000")
        await _until_kept(memories, "a.example")
        assert (await service.clean(_post(8), learns=True)).error is None
        await service.close()
        assert service.pool.pids == []

    with dehusk.open(tmp_path / "a.husk", method="segments") as memories:
        asyncio.run(run(memories))
        assert [row.pages for row in memories.sites()] == [9]


def test_lessons_of_a_damaged_site_wait_and_those_of_others_are_kept(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def run(memories: dehusk.Session) -> None:
        service = Service(memories, ServiceSettings(workers=1))
        await service.open()
        await service.clean(_post(1), learns=True)
        await _until_kept(memories, "a.example")
        run_sql = _connection(memories).execute
        (checksum,) = run_sql("SELECT checksum FROM site").fetchone()
        memories._store._let_go("a.example")
        run_sql("UPDATE site SET checksum = 1")
        await service.clean(_post(2), learns=True)
        await service.clean(_post(1, "b.example"), learns=True)
        await _until_told(caplog)
        rows: list[tuple[int]] = []
        async with asyncio.timeout(120):
            while rows != [(2,)]:
                rows = run_sql("SELECT count(*) FROM site").fetchall()
                await asyncio.sleep(0.05)
        run_sql("UPDATE site SET checksum = ? WHERE checksum = 1", (checksum,))
        await service.close()

    with dehusk.open(tmp_path / "a.husk", method="segments") as memories:
        asyncio.run(run(memories))
        assert [(row.name, row.pages) for row in memories.sites()] == [
            ("a.example", 2),
            ("b.example", 1),
        ]


def test_a_page_whose_answer_cannot_be_noted_is_learned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def damaged(*_: object) -> bool:
        raise StoreDamaged("a row of the shelf answers is damaged")

    async def run(memories: dehusk.Session) -> None:
        service = Service(memories, ServiceSettings(workers=1))
        await service.open()
        monkeypatch.setattr(memories, "note_given", damaged)
        with pytest.raises(StoreDamaged):
            await service.clean(_post(1), learns=True)
        await service.close()

    with dehusk.open(tmp_path / "a.husk", method="segments") as memories:
        asyncio.run(run(memories))
        assert [row.pages for row in memories.sites()] == [1]


def test_a_site_that_cannot_be_sent_does_not_end_the_keeping(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def unsent(*_: object) -> Reply:
        raise StateError("the rules of a.example cannot be read")

    async def run(memories: dehusk.Session) -> None:
        service = Service(memories, ServiceSettings(workers=1))
        await service.open()
        with monkeypatch.context() as patch:
            for number in range(2):
                await service.clean(_post(number), learns=True)
            patch.setattr(service_module, "_reply", unsent)
            await _until_kept(memories, "a.example")
            await _until_told(caplog)
        await service.clean(_post(1, "b.example"), learns=True)
        await _until_kept(memories, "b.example")
        await service.close()

    monkeypatch.setattr(service_module, "BATCH_S", 1.0)
    with dehusk.open(tmp_path / "a.husk", method="segments") as memories:
        asyncio.run(run(memories))
