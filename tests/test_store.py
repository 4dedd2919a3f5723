"""Memories in a file: what lasts, what is undone, what is kept within limits."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import dehusk
from dehusk.errors import SettingError, StateError, StoreDamaged, StoreLocked, UsageError
from dehusk.memory import Memory, Table, dump, life_left, limited, shrink, upkeep
from dehusk.memory.memory import KNOWN
from dehusk.memory.session import Session
from dehusk.memory.store.rows import Row
from dehusk.memory.store.sqlite import SqliteDatabase
from dehusk.methods.auto.model import load_model, save_model
from dehusk.settings import Keeping
from dehusk_bench.samples import sample_site

PAGES = [s.page for kind in ("news", "docs") for s in sample_site(kind, pages=25, seed=4)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "crawl.husk"


def _page(number: int, site: str = "a.example") -> dehusk.Page:
    html = f"<nav>Home News</nav><main>Harvest of {number}</main><footer>Imprint</footer>"
    return dehusk.Page(html, f"https://{site}/{number}")


def _without_known(memory: Memory, method: str) -> bytes:
    history = {name: table for name, table in memory.history.items() if name != KNOWN}
    return dump(replace(memory, history=history), method)


@pytest.mark.slow
@pytest.mark.parametrize("durable", list(dehusk.Durable))
@pytest.mark.parametrize("method", ["segments", "site-hash", "chunks", "style-tree", "rtdm"])
def test_a_site_goes_on_in_a_file_as_it_would_in_memory(
    file: Path, durable: str, method: str
) -> None:
    sites = Session(method=method)
    expected = [sites.add(page).text for page in PAGES]
    texts: list[str | None] = []
    for start in range(0, len(PAGES), 7):
        with dehusk.open(file, durable=durable, method=method) as memory:
            texts += [result.text for result in memory.clean(PAGES[start : start + 7])]
    assert texts == expected
    with dehusk.open(file) as memory:
        for site, learned in sites.memories.items():
            assert _without_known(memory.memory(site), method) == dump(learned, method)
        assert [row.pages for row in memory.sites()] == [25, 25]


def test_a_known_page_is_answered_on_but_not_learned_again(file: Path) -> None:
    with dehusk.open(file) as memory:
        first = [result.pages_seen for result in memory.clean(map(_page, range(6)))]
        again = [result.pages_seen for result in memory.clean(map(_page, range(6)))]
        assert (first, again) == ([1, 2, 3, 4, 5, 6], [6] * 6)
        assert not memory.learn(_page(3))
        assert memory.learn(_page(7))
        assert memory.ask(_page(8)).pages_seen == 8
        assert memory.memory("a.example").pages == 7


def test_a_changed_page_is_learned_again_only_if_so_wished(file: Path) -> None:
    changed = dehusk.Page("<p>new</p>", "https://a.example/1")
    with dehusk.open(file) as memory:
        memory.learn(_page(1))
        assert not memory.learn(changed)
    with dehusk.open(file, relearn=True) as memory:
        assert memory.learn(changed)
        assert not memory.learn(changed)


def test_pages_without_a_url_are_known_by_their_html(file: Path) -> None:
    with dehusk.open(file) as memory:
        assert memory.learn(dehusk.Page("<p>a"))
        assert memory.learn(dehusk.Page("<p>b"))
        assert not memory.learn(dehusk.Page(b"<p>a"))


def test_a_page_that_cannot_be_used_is_named_and_the_others_go_on(file: Path) -> None:
    with dehusk.open(file, limits=dehusk.Limits(max_bytes=1000)) as memory:
        pairs: list[tuple[str | bytes, str | None]] = [("<p>a", "u:1"), ("x" * 1001, "u:2")]
        good, bad = memory.clean(pairs)
        assert good.error is None
        assert isinstance(bad, dehusk.Refusal)
        assert isinstance(bad.error, dehusk.PageError)
        assert bad.error.code == "too_large"


def test_a_new_file_takes_the_method_and_an_old_one_keeps_it(file: Path) -> None:
    with dehusk.open(file, method="chunks", threshold=3) as memory:
        memory.learn(_page(1))
    with dehusk.open(file) as memory:
        assert (memory.method.name, getattr(memory.method, "threshold", None)) == ("chunks", 3)
    with dehusk.open(file, threshold=3):
        pass
    with pytest.raises(StateError, match="of the method chunks, not segments"):
        dehusk.open(file, method="segments")
    with pytest.raises(StateError, match="chunks with threshold=3; asked for threshold=4"):
        dehusk.open(file, threshold=4)
    with pytest.raises(StateError, match="tag_path=False; asked for tag_path=True"):
        dehusk.open(file, tag_path=True)
    with pytest.raises(SettingError, match="wobble"):
        dehusk.open(file, wobble=1)


def test_what_only_changes_answers_may_differ_from_run_to_run(file: Path) -> None:
    with dehusk.open(file, favour="recall") as memory:
        assert memory.settings().settings["favour"] == "recall"
        memory.learn(_page(1))
    with dehusk.open(file) as memory:
        assert memory.settings().settings["favour"] == "balance"
    with dehusk.open(file, favour="precision") as memory:
        assert memory.settings().settings["favour"] == "precision"
    state = dehusk.Site("a.example", favour="recall").dump()
    dehusk.Site("a.example").load(state)


def test_a_memory_keeps_the_model_it_was_learned_with(file: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    save_model(load_model(), model)
    with dehusk.open(file, model=str(model)) as memory:
        memory.learn(_page(1))
        assert memory.settings().settings["model"] == str(model)
    with dehusk.open(file) as memory:
        assert memory.settings().settings["model"] == str(model)
    with pytest.raises(StateError, match=r"model=other\.json"):
        dehusk.open(file, model="other.json")
    model.unlink()
    load_model.cache_clear()
    with dehusk.open(file) as memory, pytest.raises(SettingError, match="model"):
        memory.ask(_page(2))


def test_only_one_process_writes_and_the_lock_dies_with_it(file: Path) -> None:
    program = "import dehusk, os, sys; m = dehusk.open(sys.argv[1]); print(1, flush=True); input()"
    other = subprocess.Popen(
        [sys.executable, "-c", program, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert other.stdout is not None
    assert other.stdin is not None
    other.stdout.readline()
    with pytest.raises(StoreLocked, match="another process is writing"):
        dehusk.open(file)
    other.kill()
    other.wait()
    other.stdin.close()
    other.stdout.close()
    with dehusk.open(file), pytest.raises(StoreLocked):
        dehusk.open(file)
    assert not file.with_name("crawl.husk-lock").exists()


def test_what_is_not_ours_is_never_written_to(file: Path, tmp_path: Path) -> None:
    file.write_bytes(b"a text, not a memory" * 100)
    with pytest.raises(StoreDamaged, match="not a memory"):
        dehusk.open(file)
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as connection, connection:
        connection.execute("CREATE TABLE t (a)")
    connection.close()
    before = other.read_bytes()
    with pytest.raises(UsageError, match="not a memory of dehusk"):
        dehusk.open(other)
    assert other.read_bytes() == before
    with pytest.raises(UsageError, match="there is no folder"):
        dehusk.open(tmp_path / "none" / "x.husk")
    with pytest.raises(UsageError, match="not a file"):
        dehusk.open(tmp_path)


def test_a_file_of_a_newer_format_is_refused(file: Path) -> None:
    dehusk.open(file).close()
    connection = sqlite3.connect(file)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StateError, match=r"newer dehusk \(format 99"):
        dehusk.open(file)


def test_no_page_can_move_itself_into_another_site(file: Path) -> None:
    html = (
        "<head><base href='https://b.example/'><link rel=canonical href='https://b.example/x'>"
        "<meta http-equiv=refresh content='0; url=https://b.example/'></head><p>x</p>"
    )
    with dehusk.open(file) as memory:
        memory.learn(_page(1, "b.example"))
        before = dump(memory.memory("b.example"), "segments")
        memory.learn(dehusk.Page(html, "https://a.example/1"))
        assert dump(memory.memory("b.example"), "segments") == before
        assert memory.memory("a.example").pages == 1


@pytest.mark.parametrize("name", ["", "a\0b", "\ud800", "x" * 100_000, "é", "'; DROP TABLE site"])
def test_any_name_of_a_site_is_kept(file: Path, name: str) -> None:
    page = dehusk.Page("<p>x", "https://a.example/", name)
    with dehusk.open(file) as memory:
        memory.learn(page)
    with dehusk.open(file) as memory:
        assert [row.name for row in memory.sites()] == [name or "a.example"]


def test_a_site_can_be_forgotten(file: Path) -> None:
    with dehusk.open(file) as memory:
        memory.learn(_page(1, "a.example"))
        memory.learn(_page(1, "b.example"))
        memory.shelf("rules", "a.example").put(b"keep", b"main")
        memory.shelf("rules", "b.example").put(b"keep", b"p")
        memory.commit()
        assert memory.forget("a.example")
        assert not memory.forget("a.example")
    with dehusk.open(file) as memory:
        assert [row.name for row in memory.sites()] == ["b.example"]
        assert memory.memory("a.example").pages == 0
        assert list(memory.shelf("rules", "a.example").items()) == []
        assert list(memory.shelf("rules", "b.example").items()) == [(b"keep", b"p")]


def test_a_new_site_is_not_looked_for_in_the_file(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    rows = SqliteDatabase.rows

    def listen(database: SqliteDatabase, statement: str, *values: object) -> list[Row]:
        asked.append(statement)
        return rows(database, statement, *values)  # type: ignore[arg-type]

    with dehusk.open(file) as memory:
        list(memory.clean([_page(1), _page(1, "b.example")]))
        monkeypatch.setattr(SqliteDatabase, "rows", listen)
        list(memory.clean(_page(1, f"{number}.example") for number in range(40)))
        # What is written once for all: the store's row, and how much is on each shelf.
        assert len(asked) < 10
    with dehusk.open(file) as memory:
        assert len(memory.sites()) == 42
        assert not memory.learn(_page(1, "7.example"))


def test_what_is_put_before_the_first_page_of_a_site_is_found(file: Path) -> None:
    with dehusk.open(file) as memory:
        memory.add_rule("a.example", "drop", "main")
        memory.shelf("mine", "a.example").put(b"key", b"value")
        memory.commit()
        assert memory.shelf("mine", "a.example").get(b"key") == b"value"
    with dehusk.open(file) as memory:
        assert "Harvest" not in memory.add(_page(1)).text
        assert list(memory.shelf("mine", "a.example").items()) == [(b"key", b"value")]
        memory.shelf("mine", "a.example").put(b"key", b"other")
    assert not upkeep.check_store(file).findings


def test_a_reader_finds_sites_that_are_written_after_it_has_opened(file: Path) -> None:
    with dehusk.open(file, durable="page") as memory:
        memory.learn(_page(1))
        with dehusk.open(file, reads_only=True) as reader:
            memory.learn(_page(1, "b.example"))
            assert reader.memory("b.example").pages == 1


def test_a_unit_that_fails_leaves_no_trace(file: Path) -> None:
    with dehusk.open(file, durable="page") as memory:
        shelf = memory.shelf("queue")
        shelf.put(b"a", b"1")
        memory.learn(_page(1))
        before = dump(memory.memory("a.example"), "segments")

        def fail() -> None:
            with memory.unit():
                memory.learn(_page(2))
                memory.learn(_page(1, "b.example"))
                shelf.put(b"a", b"2")
                shelf.put(b"b", b"3")
                shelf.delete(b"a")
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail()
        assert dump(memory.memory("a.example"), "segments") == before
        assert list(shelf.items()) == [(b"a", b"1")]
    with dehusk.open(file) as memory:
        assert [row.pages for row in memory.sites()] == [1]
        assert memory.learn(_page(2))


def test_a_unit_is_not_committed_before_its_end(file: Path) -> None:
    with dehusk.open(file, durable="page") as memory:
        with memory.unit():
            memory.learn(_page(1))
            assert memory.sites() == []
        assert [row.pages for row in memory.sites()] == [1]


KEYS = st.binary(max_size=2)
ACTS = st.lists(
    st.tuples(st.sampled_from(["put", "delete", "commit"]), KEYS, st.binary(max_size=2)),
    max_size=30,
)


@given(ACTS, KEYS, st.one_of(st.none(), KEYS))
def test_a_shelf_is_a_sorted_mapping(
    acts: list[tuple[str, bytes, bytes]], prefix: bytes, after: bytes | None
) -> None:
    expected: dict[bytes, bytes] = {}
    with dehusk.open(_fresh()) as memory:
        shelf, other = memory.shelf("s"), memory.shelf("s", "a.example")
        other.put(b"x", b"other")
        for act, key, value in acts:
            if act == "put":
                shelf.put(key, value)
                expected[key] = value
            elif act == "delete":
                shelf.delete(key)
                expected.pop(key, None)
            else:
                memory.commit()
        wanted = [
            (key, value)
            for key, value in sorted(expected.items())
            if key.startswith(prefix) and (after is None or key > after)
        ]
        assert list(shelf.items(prefix, after=after)) == wanted
        assert list(shelf.items(prefix, after=after, limit=2)) == wanted[:2]
        assert all(shelf.get(key) == value for key, value in expected.items())
        assert list(other.items()) == [(b"x", b"other")]


def _fresh(folder: list[Path] = []) -> Path:  # noqa: B006  one folder for all examples
    import tempfile  # noqa: PLC0415

    if not folder:
        folder.append(Path(tempfile.mkdtemp()))
    for left in folder[0].iterdir():
        left.unlink()
    return folder[0] / "x.husk"


def test_a_long_shelf_is_read_in_pieces(file: Path) -> None:
    with dehusk.open(file) as memory:
        shelf = memory.shelf("queue")
        for number in range(2500):
            shelf.put(number.to_bytes(4, "big"), b"x")
        memory.commit()
        shelf.put((1500).to_bytes(4, "big"), b"y")
        shelf.delete((2000).to_bytes(4, "big"))
        items = dict(shelf.items())
        assert len(items) == 2499
        assert items[(1500).to_bytes(4, "big")] == b"y"


def _flood(number: int) -> dehusk.Page:
    rows = "".join(f"<p>{number} {row}</p>" for row in range(400))
    html = f"<nav>Home News</nav>{rows}<footer>Imprint</footer>"
    return dehusk.Page(html, f"https://a.example/flood/{number}")


def test_a_site_stays_within_its_limit_and_its_template_stays(file: Path) -> None:
    keeping = Keeping(max_site_bytes=20_000, max_known_pages=40)
    with dehusk.open(file, keeping=keeping) as memory:
        for number in range(6):
            memory.learn(_page(number))
        for number in range(65):
            memory.learn(_flood(number))
            assert memory.memory("a.example").size_bytes <= 20_000
        assert len(memory.memory("a.example").table(KNOWN)) <= 40
        assert memory.add(_page(7)).text == "Harvest of 7"
    with dehusk.open(file, keeping=keeping) as memory:
        assert memory.add(_page(8)).text == "Harvest of 8"


def test_beyond_the_limit_in_all_the_sites_go_that_changed_first(file: Path) -> None:
    with dehusk.open(file, keeping=Keeping(max_total_bytes=20_000), durable="page") as memory:
        for number in range(100):
            memory.learn(_page(1, f"s{number:03}.example"))
        rows = memory.sites()
        assert sum(row.size_bytes for row in rows) <= 20_000
        assert len(rows) >= 20
        assert "s099.example" in [row.name for row in rows]
        assert memory.forgotten_sites == 100 - len(rows)


def test_sites_that_leave_memory_are_read_again(file: Path) -> None:
    names = [f"s{number}.example" for number in range(20)]
    with dehusk.open(file, keeping=Keeping(max_active_bytes=10_000)) as memory:
        for number in range(6):
            for name in names:
                result = memory.add(_page(number, name))
                assert result.pages_seen == number + 1
                assert memory.active_sites <= 6
        assert [memory.memory(name).pages for name in names] == [6] * 20


def test_a_site_that_is_read_for_each_page_has_no_long_log(file: Path) -> None:
    small = Keeping(max_active_bytes=1)
    with dehusk.open(file, keeping=small, durable="page") as memory:
        for number in range(65):
            memory.learn(_page(number, f"{number % 3}.example"))
    with closing(sqlite3.connect(file)) as database, database:
        ((logged,),) = database.execute("SELECT count(*) FROM log")
    assert 0 < logged <= 3 * 5


def test_a_site_that_stays_in_memory_is_only_appended_to(file: Path) -> None:
    with dehusk.open(file, durable="page") as memory:
        for number in range(12):
            memory.learn(_page(number))
    with closing(sqlite3.connect(file)) as database, database:
        ((logged,),) = database.execute("SELECT count(*) FROM log")
    assert logged == 12


def test_impossible_limits_of_a_store_are_refused() -> None:
    with pytest.raises(SettingError, match="max_site_bytes"):
        Keeping(max_site_bytes=0)


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 50)), max_size=60), st.integers(1, 900))
def test_what_is_shrunk_has_the_most_life_left(rows: list[tuple[int, int]], size: int) -> None:
    count, last = (np.array([row[n] for row in rows], np.uint32) for n in (0, 1))
    memory = Memory(50, {"a": Table(np.arange(len(rows), dtype=np.uint64), count, last)})
    small = shrink(memory, size)
    assert small.size_bytes <= size or not memory.size_bytes
    kept = np.isin(memory.table("a").keys, small.table("a").keys)
    left = life_left(memory.table("a"), 50)
    if kept.any() and not kept.all():
        assert left[kept].min() >= left[~kept].max()


@given(
    st.lists(st.tuples(st.integers(1, 900), st.integers(1, 950)), max_size=60),
    st.integers(1, 2000),
)
def test_what_ages_goes_when_its_life_time_is_over(rows: list[tuple[int, int]], pages: int) -> None:
    count, last = (np.array([row[n] for row in rows], np.uint32) for n in (0, 1))
    table = Table(np.arange(len(rows), dtype=np.uint64), count, last)
    left = life_left(table, pages, 10.0, 20.0)
    kept = limited(table, pages, 100, 10.0, 20.0, ages=True)
    expected = table.keys[left >= 0] if pages > 10 else table.keys
    assert kept.keys.tolist() == expected.tolist()
    assert limited(table, pages, 100, 10.0, 20.0, ages=False) is table


@pytest.mark.parametrize("lives", [np.zeros(0), np.zeros(3, np.float32)])
def test_life_times_that_are_none_are_refused(lives: np.ndarray) -> None:
    with pytest.raises((TypeError, ValueError)):
        Table().alive(lives, 1)


@pytest.fixture
def learned(file: Path) -> Path:
    with dehusk.open(file) as memory:
        for number in range(3):
            memory.learn(_page(number, "a.example"))
            memory.learn(_page(number, "b.example"))
    return file


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM log WHERE page = 2 AND site = {a}",
        "DELETE FROM log WHERE page = 3 AND site = {a}",
        "UPDATE log SET page = 9 WHERE page = 3 AND site = {a}",
        "UPDATE log SET body = zeroblob(length(body)) WHERE page = 1 AND site = {a}",
        "UPDATE log SET body = (SELECT max(body) FROM log WHERE site <> {a}) WHERE site = {a}",
        "UPDATE site SET pages = 2 WHERE id = {a}",
        "UPDATE site SET name = x'41' WHERE id = {a}",
        "UPDATE site SET pages = 'x' WHERE id = {a}",
        "UPDATE log SET body = 7 WHERE page = 1 AND site = {a}",
    ],
)
def test_damage_to_a_site_is_named_and_the_other_goes_on(learned: Path, damage: str) -> None:
    connection = sqlite3.connect(learned)
    ids = dict(connection.execute("SELECT name, id FROM site").fetchall())
    connection.execute(damage.format(a=ids[b"a.example"]))
    connection.commit()
    connection.close()
    with dehusk.open(learned) as memory:
        bad, good = memory.clean([_page(9, "a.example"), _page(9, "b.example")])
        assert isinstance(bad.error, dehusk.PageError)
        assert bad.error.code == "memory_damaged"
        assert "damaged" in bad.error.reason
        assert isinstance(good, dehusk.Result)
        assert good.pages_seen == 4


@pytest.mark.parametrize("damage", ["DELETE FROM site WHERE rowid IN (SELECT max(id) FROM site)"])
def test_a_site_that_vanished_is_noticed(learned: Path, damage: str) -> None:
    connection = sqlite3.connect(learned)
    connection.execute(damage)
    connection.commit()
    connection.close()
    with pytest.raises(StoreDamaged, match="2 sites were written, 1 are found"):
        dehusk.open(learned)


def test_the_stores_own_row_has_a_copy(learned: Path) -> None:
    connection = sqlite3.connect(learned)
    connection.execute("UPDATE store SET body = 'x'")
    connection.commit()
    with dehusk.open(learned) as memory:
        assert memory.memory("a.example").pages == 3
    connection.execute("UPDATE store_copy SET body = 'x'")
    connection.commit()
    connection.close()
    with pytest.raises(StoreDamaged, match="own row"):
        dehusk.open(learned)


def _half_a_unit(memory: dehusk.Session) -> None:
    with memory.unit():
        memory.learn(dehusk.Page("<p>x</p>", "https://a.example/1"))
        memory.commit()


def test_nothing_is_committed_in_the_middle_of_a_unit(file: Path) -> None:
    with dehusk.open(file, method="segments", durable="page") as memory:
        with pytest.raises(StateError, match="before it ends"):
            _half_a_unit(memory)
        assert memory.sites() == []
        assert memory.memory("a.example").pages == 0
        assert memory.learn(dehusk.Page("<p>x</p>", "https://a.example/1"))


@pytest.mark.parametrize("lasts", [False, True])
def test_threads_that_share_a_session_lose_no_lesson(file: Path, *, lasts: bool) -> None:
    session = dehusk.open(file if lasts else None, durable="page" if lasts else "batch")
    pages = [[_page(100 * part + number) for number in range(30)] for part in range(8)]

    def add(part: list[dehusk.Page]) -> None:
        for page in part:
            session.add(page)
            if lasts:
                with session.unit():
                    session.shelf("seen").put((page.url or "").encode(), b"")

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(add, pages))
    finally:
        sys.setswitchinterval(before)
    assert session.memory("a.example").pages == 240
    if lasts:
        session.commit()
        assert len(session.shelf("seen").all()) == 240
    session.close()
    assert not lasts or upkeep.check_store(file).findings == ()


def test_what_a_thread_puts_on_a_shelf_is_not_undone_with_the_unit_of_another(file: Path) -> None:
    with dehusk.open(file) as session, ThreadPoolExecutor(1) as pool:
        shelf = session.shelf("notes")
        with suppress(RuntimeError), session.unit():
            put = pool.submit(shelf.put, b"key", b"value")
            wait([put], timeout=0.2)
            raise RuntimeError
        put.result()
        assert shelf.get(b"key") == b"value"


@pytest.mark.parametrize("suffix", ["-new", "-lock", "-journal", "-wal", "-shm"])
def test_no_store_is_lost_to_another_whose_name_begins_its_own(file: Path, suffix: str) -> None:
    other = file.with_name(file.name + suffix)
    with dehusk.open(other) as memory:
        memory.learn(_page(1))
    with suppress(UsageError), dehusk.open(file) as memory:
        memory.learn(_page(2))
    with dehusk.open(other) as memory:
        assert memory.memory("a.example").pages == 1
        assert not memory.learn(_page(1))


def test_threads_may_read_from_a_session_while_others_learn(file: Path) -> None:
    def learn(part: int) -> None:
        for number in range(30):
            session.add(_page(100 * part + number, f"{number}.example"))
            session.add_rule("a.example", "drop", f".a{part}-{number}")

    def read(_: int) -> None:
        for number in range(65):
            name = f"{number % 30}.example"
            session.rules("a.example")
            session.families(name)
            session.decided(name)
            session.offer_example(name, number, f"https://{name}/")
            session.sites()
            session.site(name)
            list(session.given(name))
            assert session.memory(name).pages <= 4

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with dehusk.open(file, durable="page") as session, ThreadPoolExecutor(8) as pool:
            for done in [pool.submit(act, part) for act in (learn, read) for part in range(4)]:
                done.result()
    finally:
        sys.setswitchinterval(before)
    with dehusk.open(file) as session:
        assert [row.pages for row in session.sites()] == [4] * 30
        assert len(session.rules("a.example")) == 120


def test_an_import_never_gives_up_a_memory_for_one_of_fewer_pages(file: Path) -> None:
    large = file.with_name("large.husk")
    keeping = Keeping(max_known_pages=3)
    with dehusk.open(large, method="rtdm", keeping=keeping) as memory:
        for number in range(9):
            memory.learn(_page(number))
        known = len(memory.memory("a.example").table(KNOWN))
    with dehusk.open(file, method="rtdm") as memory:
        for number in range(6, 9):
            memory.learn(_page(number))
    few, many = list(upkeep.export_lines(file)), list(upkeep.export_lines(large))
    upkeep.import_lines(many, file)
    upkeep.import_lines(few, large)
    for path in (file, large):
        with dehusk.open(path) as memory:
            assert (memory.memory("a.example").pages, known) == (9, 3)


@pytest.mark.parametrize(("key", "value"), [("k", b"v"), (b"k", "v"), (b"k", bytearray(b"v"))])
def test_a_shelf_refuses_what_is_not_bytes(tmp_path: Path, key: Any, value: Any) -> None:
    with dehusk.open(tmp_path / "a.husk") as memory:
        with pytest.raises(UsageError, match="keys and values of a shelf are bytes, not"):
            memory.shelf("own").put(key, value)
        assert list(memory.shelf("own").items()) == []


def test_a_memory_of_two_names_has_one_writer(tmp_path: Path) -> None:
    (tmp_path / "link.husk").symlink_to(tmp_path / "a.husk")
    with dehusk.open(tmp_path / "a.husk"), pytest.raises(StoreLocked):
        dehusk.open(tmp_path / "link.husk")


def test_a_session_that_was_closed_learns_nothing_more(tmp_path: Path) -> None:
    memory = dehusk.open(tmp_path / "a.husk")
    memory.learn("<p>Rye", "https://a.example/1")
    memory.close()
    for site in ("a.example", "b.example"):
        with pytest.raises(StateError, match="was closed"):
            memory.learn("<p>Oats", f"https://{site}/2")
    memory.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_session_is_refused_in_a_process_that_was_forked_from_its_own(tmp_path: Path) -> None:
    code = (
        "import dehusk, os, sys\n"
        "memory = dehusk.open(sys.argv[1])\n"
        "memory.learn('<p>Rye', 'https://a.example/1')\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    try:\n"
        "        memory.learn('<p>Oats', 'https://a.example/2')\n"
        "    except dehusk.StateError as fault:\n"
        "        os._exit('opened in another process' in str(fault))\n"
        "    os._exit(3)\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1\n"
        "memory.close()\n"
    )
    subprocess.run([sys.executable, "-c", code, tmp_path / "a.husk"], check=True)
    with dehusk.open(tmp_path / "a.husk") as memory:
        assert memory.memory("a.example").pages == 1
