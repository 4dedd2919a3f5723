"""The store on a real PostgreSQL server, which the tests start on loopback."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from threading import Thread

import pytest
from msgspec.structs import replace

import dehusk
from dehusk.doors.cli import main
from dehusk.errors import MissingExtra, StateError, StoreDamaged, UsageError
from dehusk.memory import Memory, dump, upkeep
from dehusk.memory.memory import KNOWN
from dehusk.memory.session import Session
from dehusk.memory.store import site_id
from dehusk.memory.store.postgres import PostgresDatabase
from dehusk_bench.samples import sample_site
from extras import missing

pytestmark = pytest.mark.slow

PAGES = [s.page for kind in ("news", "docs") for s in sample_site(kind, pages=24, seed=4)]
_NUMBERS = count(1)


def _programs() -> Path | None:
    """Where the server's programs are; Debian has only what calls them on the path."""
    on_path = shutil.which("postgres")
    places = [Path(on_path).parent] if on_path else []
    if shutil.which("pg_ctlcluster"):
        places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((place for place in places if (place / "initdb").exists()), None)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a server without any store; it refuses to run as root."""
    pytest.importorskip("psycopg")
    programs = _programs()
    if programs is None:
        missing("no PostgreSQL server (Debian: apt-get install postgresql)")
    folder = Path(tempfile.mkdtemp(prefix="dehusk-postgres-"))
    user = "nobody" if os.getuid() == 0 else None
    if user:
        shutil.chown(folder, user)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    data = str(folder / "data")
    initdb = [str(programs / "initdb"), "-D", data, "-U", "dehusk", "-A", "trust", "--no-sync"]
    subprocess.run(initdb, check=True, capture_output=True, user=user, cwd=folder)
    command = [str(programs / "postgres"), "-D", data, "-p", str(port), "-c", "fsync=off"]
    command += ["-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={folder}"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stderr=log, stdout=log, user=user, cwd=folder)
    try:
        yield _wait(f"postgresql://dehusk@127.0.0.1:{port}", process)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)
        shutil.rmtree(folder, ignore_errors=True)


def _wait(address: str, process: subprocess.Popen[bytes]) -> str:
    import psycopg  # noqa: PLC0415  an install extra

    for _ in range(1200):
        assert process.poll() is None, "the server ended"
        try:
            psycopg.connect(f"{address}/postgres").close()
        except psycopg.OperationalError:
            time.sleep(0.1)
        else:
            return address
    raise AssertionError("the server did not come up")


@pytest.fixture
def address(server: str) -> str:
    """The address of an empty database."""
    import psycopg  # noqa: PLC0415  an install extra

    name = f"test{next(_NUMBERS)}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return f"{server}/{name}"


def _page(number: int, site: str = "a.example") -> dehusk.Page:
    html = f"<nav>Home News</nav><main>Harvest of {number}</main><footer>Imprint</footer>"
    return dehusk.Page(html, f"https://{site}/{number}")


def _without_known(memory: Memory) -> bytes:
    history = {name: table for name, table in memory.history.items() if name != KNOWN}
    return dump(replace(memory, history=history), "segments")


@pytest.mark.parametrize("durable", list(dehusk.Durable))
def test_a_site_goes_on_in_a_database_as_it_would_in_memory(address: str, durable: str) -> None:
    sites = Session()
    expected = [sites.add(page).text for page in PAGES]
    texts: list[str | None] = []
    for start in range(0, len(PAGES), 11):
        with dehusk.open(address, durable=durable) as memory:
            texts += [result.text for result in memory.clean(PAGES[start : start + 11])]
    assert texts == expected
    with dehusk.open(address, reads_only=True) as memory:
        for site, learned in sites.memories.items():
            assert _without_known(memory.memory(site)) == dump(learned, "segments")
    assert upkeep.check_store(address).findings == ()


_WRITER = """
import sys
import dehusk
from dehusk_bench.samples import sample_site
pages = [s.page for s in sample_site("news", pages=80, seed=5)]
part, parts = int(sys.argv[2]), 4
with dehusk.open(sys.argv[1], ages=False, durable=sys.argv[3]) as memory:
    for number, page in enumerate(pages):
        # A part of the pages goes to two writers: they must not count twice.
        if number % parts == part or (number % 10 == 0 and (number + 1) % parts == part):
            memory.add(page)
"""


@pytest.mark.parametrize("durable", ["page", "batch"])
def test_four_writers_on_one_site_end_with_the_counts_of_one(address: str, durable: str) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", _WRITER, address, str(part), durable])
        for part in range(4)
    ]
    assert [writer.wait(120) for writer in writers] == [0, 0, 0, 0]
    site = dehusk.Site(ages=False)
    pages = [s.page for s in sample_site("news", pages=80, seed=5)]
    for page in pages:
        site.learn(page.html, page.url)
    with dehusk.open(address, reads_only=True) as memory:
        (row,) = memory.sites()
        learned = memory.memory(row.name)
    one, four = site.memory().table("segments"), learned.table("segments")
    assert row.pages == learned.pages == 80
    assert four.keys.tolist() == one.keys.tolist()
    assert four.count.tolist() == one.count.tolist()
    assert upkeep.check_store(address).findings == ()


def test_two_open_session_see_each_others_pages_after_a_commit(address: str) -> None:
    with dehusk.open(address) as one, dehusk.open(address) as two:
        for number in range(4):
            assert one.learn(_page(number))
        assert two.learn(_page(0))
        one.commit()
        two.commit()
        assert two.memory("a.example").pages == 4
        assert not two.learn(_page(3))
        two.learn(_page(4))
        two.commit()
        one.learn(_page(5))
        one.commit()
        assert one.memory("a.example").pages == 6


def test_a_site_that_another_has_forgotten_is_learned_on(address: str) -> None:
    with dehusk.open(address) as one, dehusk.open(address) as two:
        for number in range(4):
            one.learn(_page(number))
        one.commit()
        one.learn(_page(4))
        assert two.forget("a.example")
        one.commit()
        assert one.memory("a.example").pages == 1
        # As many pages as before, but others: it is not the site that was read.
        one.learn(_page(5))
        assert two.forget("a.example")
        two.learn(dehusk.Page("<p>Grain</p><p>Straw</p>", "https://a.example/6"))
        two.commit()
        one.commit()
        assert one.memory("a.example").pages == 2
        assert not one.learn(_page(6))
    assert upkeep.check_store(address).findings == ()


def test_the_log_of_a_site_with_many_writers_is_folded(address: str) -> None:
    with dehusk.open(address) as one, dehusk.open(address) as two:
        for number in range(0, 200, 2):
            # Whoever commits has read the site before the other's last commit.
            one.learn(_page(number))
            two.commit()
            two.learn(_page(number + 1))
            one.commit()
    with dehusk.open(address, reads_only=True) as memory:
        (row,) = memory.sites()
    assert row.pages == 200
    assert row.folded > 100
    assert upkeep.check_store(address).findings == ()


def test_of_two_who_forget_a_site_one_takes_it_off_the_count(address: str) -> None:
    with dehusk.open(address) as memory:
        memory.learn(_page(1))
        memory.learn(_page(1, "b.example"))
    answers: list[bool] = []

    def forget() -> None:
        with dehusk.open(address) as memory:
            answers.append(memory.forget("a.example"))

    holder = PostgresDatabase(address, writes=True)
    holder.begin()
    holder.lock(site_id("a.example"))
    threads = [Thread(target=forget) for _ in range(2)]
    for thread in threads:
        thread.start()
    time.sleep(0.5)
    holder.commit()
    for thread in threads:
        thread.join(120)
    holder.close()
    assert sorted(answers) == [False, True]
    assert upkeep.check_store(address).findings == ()


def test_an_import_loses_nothing_that_is_learned_meanwhile(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with dehusk.open(tmp_path / "a.husk") as memory:
        memory.learn(_page(1))
    lines = list(upkeep.export_lines(tmp_path / "a.husk"))
    importer = Thread(target=upkeep.import_lines, args=(lines, address))
    with dehusk.open(address) as memory:
        database, number = memory._store.database, site_id("a.example")
        take = database.lock

        def lock(wanted: int) -> None:
            take(wanted)
            if wanted == number:
                importer.start()
                time.sleep(0.5)

        monkeypatch.setattr(database, "lock", lock)
        memory.learn(_page(2))
        memory.commit()
        monkeypatch.setattr(database, "lock", take)
        importer.join(120)
    with dehusk.open(address, reads_only=True) as memory:
        assert memory.memory("a.example").pages == 2


def test_shelves_units_and_forgetting_work_on_a_server(address: str) -> None:
    with dehusk.open(address, durable="page") as memory:
        shelf = memory.shelf("queue")
        with memory.unit():
            memory.learn(_page(1))
            memory.learn(_page(1, "b.example"))
            for number in range(1500):
                shelf.put(number.to_bytes(4, "big"), b"\0x")
        memory.shelf("rules", "a.example").put(b"a", b"b")
        memory.commit()
        assert memory.forget("a.example")
        assert len(list(shelf.items())) == 1500
        assert [row.name for row in memory.sites()] == ["b.example"]
    assert upkeep.check_store(address).findings == ()
    assert upkeep.vacuum_store(address)[1] > 0
    with pytest.raises(UsageError, match="on a server"):
        upkeep.repair_store(address)


def test_a_memory_moves_between_a_file_and_a_server(address: str, tmp_path: Path) -> None:
    with dehusk.open(tmp_path / "a.husk") as memory:
        for number in range(9):
            memory.learn(_page(number))
    lines = list(upkeep.export_lines(tmp_path / "a.husk"))
    assert upkeep.import_lines(lines, address) == 1
    assert list(upkeep.export_lines(address)) == lines


def test_damage_on_a_server_is_named(address: str) -> None:
    with dehusk.open(address) as memory:
        memory.learn(_page(1))
    database = PostgresDatabase(address, writes=True)
    database.run("UPDATE log SET body = ?", [(b"x",)])
    database.close()
    with dehusk.open(address) as memory, pytest.raises(StoreDamaged, match=r"a\.example"):
        memory.memory("a.example")
    assert [finding.site for finding in upkeep.check_store(address).findings] == ["a.example"]


def test_what_does_not_add_up_is_refused_on_a_server(address: str) -> None:
    with pytest.raises(UsageError, match="rtdm do not add up"):
        dehusk.open(address, method="rtdm")


def test_a_server_that_is_not_there_is_named_without_the_password() -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(StateError) as caught:
        dehusk.open("postgresql://me:secret@127.0.0.1:1/none")
    assert "127.0.0.1:1" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtra, match="postgres"):
        dehusk.open("postgresql://127.0.0.1/none")


def test_a_new_database_takes_the_default_method_on_the_command_line(
    address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    page.write_text("<nav>Home</nav><p>Harvest</p>", encoding="utf-8")
    for act in ([], ["check"], ["export"]):
        assert main(["sites", *act, "--memory", address]) == 2
        assert "no such memory" in capsys.readouterr().err
    assert main(["clean", str(page), "--memory", address, "-o", str(tmp_path / "out.jsonl")]) == 0
    assert main(["learn", str(page), "--memory", address]) == 0
    capsys.readouterr()
    assert main(["sites", "--memory", address]) == 0
    assert "sites: 1, pages: 1" in capsys.readouterr().out
