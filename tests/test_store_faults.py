"""What a store survives: killed writers, full disks, floods, keys made to collide."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
import pytest

import dehusk
from dehusk.doors.cli import main
from dehusk.errors import StoreFull, UsageError
from dehusk.memory import Table, upkeep
from dehusk.methods.auto import Auto
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk_bench.speed.memory import Flood, run_flood

pytestmark = pytest.mark.slow


def _page(number: int, lines: int = 40) -> dehusk.Page:
    words = "".join(f"<p>page {number} line {line}</p>" for line in range(lines))
    return dehusk.Page(f"<nav>Home</nav>{words}", f"https://a.example/{number}")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk of one megabyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if os.name != "posix" or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small disk is not allowed here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def _learn_until_full(memory: dehusk.Session) -> int:
    """The page at which the disk was full."""
    for number in range(5000):
        try:
            memory.learn(_page(number))
        except StoreFull:
            return number
    raise AssertionError("the disk was never full")


def _fill(file: Path, room: Path) -> None:
    """Learn until the disk is full, make room, go on; then all pages must be there."""
    memory = dehusk.open(file, durable="page")
    number = _learn_until_full(memory)
    assert number > 3
    with pytest.raises(StoreFull):
        memory.commit()
    room.unlink()
    memory.commit()
    assert not memory.learn(_page(number))
    assert memory.learn(_page(number + 1))
    memory.close()
    assert upkeep.check_store(file).findings == ()
    with dehusk.open(file, reads_only=True) as again:
        assert again.memory("a.example").pages == number + 2


def test_a_full_disk_is_a_typed_error_and_loses_nothing(small_disk: Path) -> None:
    room = small_disk / "room"
    room.write_bytes(bytes(500_000))
    _fill(small_disk / "a.husk", room)


def test_a_file_that_may_not_grow_is_a_typed_error_and_loses_nothing(tmp_path: Path) -> None:
    memory = dehusk.open(tmp_path / "a.husk", durable="page")
    connection: sqlite3.Connection = memory._store.database._connection  # type: ignore[attr-defined]
    connection.execute("PRAGMA max_page_count = 24")
    number = _learn_until_full(memory)
    connection.execute("PRAGMA max_page_count = 100000")
    memory.commit()
    assert not memory.learn(_page(number))
    memory.close()
    assert upkeep.check_store(tmp_path / "a.husk").findings == ()


def test_a_flood_of_new_segments_spoils_neither_size_nor_content(
    capsys: pytest.CaptureFixture[str],
) -> None:
    # The full two million run by command: dehusk bench memory --flood 2000000
    assert run_flood(Flood(600_000, method="segments")) == 0
    assert "600,000" in capsys.readouterr().out


def test_a_page_whose_tree_no_memory_holds_costs_itself_alone(tmp_path: Path) -> None:
    large = dehusk.Page("<p>x" * 5000, "https://b.example/large")
    keeping = dehusk.Keeping(max_site_bytes=20_000)
    with dehusk.open(tmp_path / "a.husk", method="rtdm", keeping=keeping) as memory:
        answers = list(memory.clean([_page(1), large, _page(2)]))
        assert [row.name for row in memory.sites()] == ["a.example"]
    assert [isinstance(answer, dehusk.Refusal) for answer in answers] == [False, True, False]
    assert "does not fit" in str(answers[1].error)


def test_growth_is_measured_beside_the_pages(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["bench", "memory", "--growth", "12", "--method", "segments", "--method", "auto"]
    assert main(command) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert [row[:2] for row in rows] == [
        ["segments", "10"],
        ["segments", "12"],
        ["auto", "10"],
        ["auto", "12"],
    ]
    assert all(0 < float(row[4]) <= 64 for row in rows)
    assert main([*command[:2], "--flood", "1", *command[4:]]) == 2


def _seconds(keys: np.ndarray[tuple[int], np.dtype[np.uint64]]) -> float:
    best = np.inf
    for _ in range(3):
        began = time.process_time()
        table = Table()
        for part in np.array_split(keys, 20):
            table = table.plus(Table.of_page(part))
        table.counts_of(keys)
        best = min(best, time.process_time() - began)
    return float(best)


def test_keys_made_to_collide_slow_nothing_down() -> None:
    size = 40_000
    random = np.random.default_rng(1).integers(0, 2**63, size, np.uint64)
    same_ends = np.arange(size, dtype=np.uint64) << np.uint64(40)
    like_dicts = np.arange(size, dtype=np.uint64) * np.uint64(2**61 - 1)
    usual = _seconds(random)
    for keys in (same_ends, like_dicts, np.arange(size, dtype=np.uint64)):
        # In a dict the same keys take a thousand times as long as others.
        assert _seconds(keys) < 10 * usual + 0.1


def _thue_morse(length: int, first: str, second: str) -> str:
    return "".join((first, second)[place.bit_count() % 2] for place in range(length))


def test_texts_made_to_collide_confuse_only_the_site_that_made_them(tmp_path: Path) -> None:
    one, two = _thue_morse(4096, "a", "b"), _thue_morse(4096, "b", "a")
    hashes = [parse(Page(f"<p>{text}</p>")).tree.own_hash[-1] for text in (one, two)]
    assert hashes[0] == hashes[1], "if these no longer collide, find others"
    with dehusk.open(tmp_path / "a.husk") as memory:
        for number in range(6):
            said = " ".join(f"word{number}{place}" for place in range(60))
            html = f"<p>{one}</p><p>{said}</p>"
            memory.learn(dehusk.Page(html, f"https://hostile.example/{number}"))
            memory.learn(dehusk.Page(f"<p>{number}</p>", f"https://honest.example/{number}"))
        known = [
            Auto().explain(memory.memory(f"{site}.example"), parse(Page(f"<p>{two}</p>")).tree)
            for site in ("honest", "hostile")
        ]
    assert [np.nanmax(each.site_score) for each in known] == [0, 1]


def _leave_a_journal(file: Path) -> None:
    """Have a process begin to write to a file and be killed, so that a hot journal stays."""
    script = (
        "import os, signal, sqlite3, sys\n"
        "run = sqlite3.connect(sys.argv[1], isolation_level=None).execute\n"
        "run('PRAGMA cache_size = 1')\n"
        "run('BEGIN IMMEDIATE')\n"
        "run('CREATE TABLE half (body BLOB)')\n"
        "for _ in range(50): run('INSERT INTO half VALUES (zeroblob(8000))')\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(file)], check=False)
    assert file.with_name(f"{file.name}-journal").stat().st_size > 0


def _html(folder: Path) -> Path:
    page = folder / "page.html"
    page.write_text("<nav>Home</nav><p>Harvest</p>", encoding="utf-8")
    return page


def test_a_writer_killed_while_the_file_is_made_locks_nobody_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, page = tmp_path / "a.husk", str(_html(tmp_path))
    _leave_a_journal(file)
    for act in ([], ["check"]):
        assert main(["sites", *act, "--memory", str(file)]) == 2
        assert "no such memory" in capsys.readouterr().err
    _leave_a_journal(file)
    for command in (["clean"], ["learn"]):
        assert main([*command, page, "--memory", str(file), "-q"]) == 0
    assert main(["sites", "check", "--memory", str(file)]) == 0


def test_a_journal_that_a_killed_writer_left_keeps_no_reader_out(tmp_path: Path) -> None:
    file = tmp_path / "a.husk"
    with dehusk.open(file) as memory:
        memory.learn(_page(1))
    whole = file.read_bytes()
    _leave_a_journal(file)
    assert file.read_bytes() != whole
    with dehusk.open(file, reads_only=True) as memory:
        assert memory.memory("a.example").pages == 1
    assert file.read_bytes() == whole


def test_a_file_that_comes_into_being_is_seen_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.husk"
    replace = Path.replace
    seen: list[bool] = []

    def killed(part: Path, target: Path) -> Path:
        seen.append(target.exists())
        replace(part, target)
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        dehusk.open(file)
    monkeypatch.undo()
    assert seen == [False]
    with dehusk.open(file, reads_only=True) as memory:
        assert memory.sites() == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.husk"]


def test_tables_that_a_killed_writer_of_an_earlier_version_left_are_no_memory_yet(
    tmp_path: Path,
) -> None:
    file = tmp_path / "a.husk"
    dehusk.open(file).close()
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("DELETE FROM store")
        connection.execute("DELETE FROM store_copy")
    with pytest.raises(UsageError, match="no such memory"):
        dehusk.open(file, reads_only=True)
    dehusk.open(file).close()
    with dehusk.open(file, reads_only=True) as memory:
        assert memory.sites() == []


def test_what_another_file_of_the_name_left_is_not_taken_for_the_new_one(tmp_path: Path) -> None:
    file = tmp_path / "a.husk"
    memory = dehusk.open(file)
    memory.learn(_page(1))
    memory.commit()
    left = {name: (tmp_path / name).read_bytes() for name in ("a.husk-wal", "a.husk-shm")}
    memory.close()
    file.unlink()
    for name, data in left.items():
        (tmp_path / name).write_bytes(data)
    with dehusk.open(file) as again:
        assert again.sites() == []
    assert upkeep.check_store(file).findings == ()


def test_a_page_costs_the_same_when_the_store_is_full_of_sites(tmp_path: Path) -> None:
    costs = []
    keeping = dehusk.Keeping(max_active_bytes=24_000_000)
    with dehusk.open(tmp_path / "a.husk", keeping=keeping) as memory:
        for start in range(0, 16_000, 2_000):
            began = time.process_time()
            for number in range(start, start + 2_000):
                memory.learn(f"<p>page {number}</p>", f"https://s{number}.example/")
            costs.append(time.process_time() - began)
        assert memory.active_sites < 14_000, "it was never full"
    # With every site looked at on every page the last pages took ten times as long.
    assert min(costs[-2:]) < 2 * max(costs[:3])


def _commands(memory: Path, out: Path) -> list[list[str]]:
    """What writes to a memory, or what comes out of one or of a page."""
    page = str(_html(memory.parent.parent))
    export = memory.parent.parent / "e.jsonl"
    store = ["--memory", str(memory)]
    return [
        ["learn", page, *store, "-q"],
        ["sites", "rules", "a.example", *store, "--drop", "p"],
        ["sites", "forget", "a.example", *store],
        ["sites", "import", str(export), *store],
        ["sites", "vacuum", *store],
        ["sites", "export", *store, "-o", str(out / "x.jsonl")],
        *(["clean", page, *store, "-q", "-o", str(out / name)] for name in ("a.jsonl", "b/")),
        ["clean", page, "-q", "-o", str(out / "c.parquet")],
    ]


def test_a_full_disk_and_a_locked_memory_end_every_command_with_the_same_status(
    small_disk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = small_disk / "a.husk"
    with dehusk.open(file) as memory:
        memory.learn(_page(1))
    export = ["sites", "export", "--memory", str(file), "-o", str(small_disk.parent / "e.jsonl")]
    assert main(export) == 0
    writes_to_memory = [0, 1, 2, 3, 4, 6, 7]
    with dehusk.open(file):
        commands = _commands(file, small_disk.parent)
        assert [main(commands[number]) for number in writes_to_memory] == [1] * 7
    assert capsys.readouterr().err.count("another process is writing to it") == 7
    with suppress(OSError), (small_disk / "fill").open("wb", buffering=0) as fill:
        while True:
            fill.write(bytes(512))
    assert [main(command) for command in _commands(file, small_disk)] == [1] * 9
    assert capsys.readouterr().err.lower().count("no room") >= 5
    assert list(small_disk.rglob(".*")) == []
