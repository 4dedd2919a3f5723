"""Stores looked after: checked, repaired, upgraded, added up, written out and read in."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

import dehusk
from dehusk.doors.cli import main
from dehusk.errors import DehuskError, SourceError, StateError, StoreDamaged, UsageError
from dehusk.memory import Table, dump, upkeep
from dehusk.memory.store.rows import checksum, site_id
from dehusk_bench.samples import sample_site, write_site

pytestmark = pytest.mark.slow

NAMES = [f"s{number}.example" for number in range(8)]


def _page(number: int, site: str = "a.example") -> dehusk.Page:
    words = "".join(f"<p>{site} {number} {n}</p>" for n in range(20))
    return dehusk.Page(f"<nav>Home</nav>{words}", f"https://{site}/{number}")


def _learn(file: Path, numbers: range, names: list[str], **settings: object) -> Path:
    with dehusk.open(file, **settings) as memory:  # type: ignore[arg-type]
        for number in numbers:
            for name in names:
                memory.learn(_page(number, name))
    return file


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = _learn(tmp_path_factory.mktemp("store") / "a.husk", range(14), NAMES)
    with dehusk.open(file) as memory:
        for number in range(60):
            memory.shelf("queue").put(number.to_bytes(4, "big"), b"https://a.example/" * 5)
        memory.shelf("rules", NAMES[0]).put(b"keep", b"main")
    return file


def _states(file: Path) -> dict[str, bytes]:
    with dehusk.open(file, reads_only=True) as memory:
        return {
            row.name: dump(memory.memory(row.name), "segments", site=row.name)
            for row in memory.sites()
        }


def _sums(file: Path) -> dict[str, bytes]:
    """Without the sketches: each counts only what no page before had, so they do not add up."""
    with dehusk.open(file, reads_only=True) as memory:
        sums = {row.name: memory.memory(row.name) for row in memory.sites()}
    return {
        site: dump(known.with_tables(contents=Table()), "segments", site=site)
        for site, known in sums.items()
    }


def test_a_good_store_is_found_good(learned: Path) -> None:
    report = upkeep.check_store(learned)
    assert report.findings == ()
    assert [site.name for site in report.good] == sorted(NAMES)
    assert {site.pages for site in report.good} == {14}


def _flip(data: bytearray, dice: random.Random) -> None:
    for _ in range(dice.choice([1, 1, 8, 100])):
        data[dice.randrange(len(data))] ^= dice.randrange(1, 256)


def _truncate(data: bytearray, dice: random.Random) -> None:
    del data[dice.randrange(len(data)) :]


def _zero(data: bytearray, dice: random.Random) -> None:
    start, length = dice.randrange(len(data)), dice.choice([16, 512, 4096, 20_000])
    data[start : start + length] = bytes(len(data[start : start + length]))


@pytest.mark.parametrize("damage", [_flip, _truncate, _zero])
def test_no_damage_is_served_in_silence(
    learned: Path, tmp_path: Path, damage: Callable[[bytearray, random.Random], None]
) -> None:
    before, file, whole = _states(learned), tmp_path / "b.husk", learned.read_bytes()
    readable = []
    for seed in range(100):
        data = bytearray(whole)
        damage(data, random.Random(seed))
        file.write_bytes(data)
        good: set[str] = set()
        try:
            report = upkeep.check_store(file)
            good = {site.name for site in report.good}
            is_reported = bool(report.findings)
        except DehuskError:
            is_reported = True
        readable.append(len(good))
        assert is_reported or good == set(before)
        _read_all(file, before)
    # A damaged spot hits one site, unless it hits what SQLite needs to find any; what is cut off is
    # gone.
    if damage is not _truncate:
        assert sum(count >= len(NAMES) - 2 for count in readable) >= 50


def _read_all(file: Path, before: dict[str, bytes]) -> None:
    """Whatever is read is what was written."""
    try:
        memory = dehusk.open(file, reads_only=True)
    except DehuskError:
        return
    with memory:
        for name in NAMES:
            try:
                state = dump(memory.memory(name), "segments", site=name)
            except DehuskError:
                continue
            assert state == before[name]


@pytest.mark.parametrize("is_link", [False, True])
def test_repair_drops_only_the_damaged_site(
    learned: Path, tmp_path: Path, *, is_link: bool
) -> None:
    file = Path(shutil.copy(learned, tmp_path / "b.husk"))
    if is_link:
        (tmp_path / "links").mkdir()
        (tmp_path / "links" / "b").symlink_to(file)
        file = tmp_path / "links" / "b"
    connection = sqlite3.connect(file)
    connection.execute("UPDATE log SET body = x'00' WHERE site = ?", (site_id(NAMES[3]),))
    connection.execute("UPDATE snapshot SET body = x'00' WHERE site = ?", (site_id(NAMES[3]),))
    connection.commit()
    connection.close()
    report = upkeep.repair_store(file)
    assert [finding.site for finding in report.findings] == [NAMES[3]]
    assert upkeep.check_store(file).findings == ()
    before = _states(learned)
    del before[NAMES[3]]
    assert _states(file) == before
    with dehusk.open(file, reads_only=True) as memory:
        assert len(list(memory.shelf("queue").items())) == 60
        assert memory.shelf("rules", NAMES[0]).get(b"keep") == b"main"
    assert (tmp_path / "b.husk-damaged").exists()
    assert file.is_symlink() is is_link
    assert upkeep.repair_store(file).findings == ()


def test_a_lost_row_of_a_shelf_is_reported(learned: Path, tmp_path: Path) -> None:
    file = Path(shutil.copy(learned, tmp_path / "b.husk"))
    connection = sqlite3.connect(file)
    connection.execute("DELETE FROM shelf WHERE key = ?", ((7).to_bytes(4, "big"),))
    connection.commit()
    connection.close()
    (finding,) = upkeep.check_store(file).findings
    assert "rows of the shelf queue" in finding.message


def test_a_file_that_is_all_damage_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "b.husk"
    file.write_bytes(random.Random(1).randbytes(50_000))
    for call in (upkeep.check_store, upkeep.repair_store, upkeep.vacuum_store):
        with pytest.raises(StateError, match="not a memory"):
            call(file)
    assert len(file.read_bytes()) == 50_000


def test_a_vacuum_gives_room_back(learned: Path, tmp_path: Path) -> None:
    file = Path(shutil.copy(learned, tmp_path / "b.husk"))
    with dehusk.open(file) as memory:
        for name in NAMES[1:]:
            memory.forget(name)
    before, after = upkeep.vacuum_store(file)
    assert after < before
    assert upkeep.check_store(file).findings == ()


def _downgrade(file: Path) -> None:
    """Make the file one of format 1, which had neither families nor revisions."""
    connection = sqlite3.connect(file)
    connection.execute("PRAGMA user_version = 1")
    columns = "id, name, pages, folded, snapshot_bytes, log_bytes, changed"
    rows = connection.execute(f"SELECT {columns} FROM site").fetchall()
    for column in ("families", "revision"):
        connection.execute(f"ALTER TABLE site DROP COLUMN {column}")
    for row in rows:
        connection.execute("UPDATE site SET checksum = ? WHERE id = ?", (checksum(*row), row[0]))
    for table in ("store", "store_copy"):
        (body,) = connection.execute(f"SELECT body FROM {table}").fetchone()
        body = json.dumps(json.loads(body) | {"format": 1}, sort_keys=True)
        connection.execute(f"UPDATE {table} SET body = ?, checksum = ?", (body, checksum(body)))
    connection.commit()
    connection.close()


def test_a_file_of_an_older_format_opens_and_is_upgraded(learned: Path, tmp_path: Path) -> None:
    file = Path(shutil.copy(learned, tmp_path / "b.husk"))
    _downgrade(file)
    with pytest.raises(StateError, match="older format; `dehusk sites upgrade --memory"):
        dehusk.open(file, reads_only=True)
    other = Path(shutil.copy(file, tmp_path / "c.husk"))
    assert upkeep.upgrade_store(file) == 2
    assert _states(file) == _states(learned)
    assert upkeep.check_store(file).findings == ()
    assert main(["learn", "-q", "--memory", str(other), str(_html(tmp_path))]) == 0
    assert upkeep.check_store(other).findings == ()


def _html(folder: Path) -> Path:
    page = folder / "page.html"
    page.write_text("<p>x</p>", encoding="utf-8")
    return page


def test_memories_add_up_exactly_without_ageing(tmp_path: Path) -> None:
    one = _learn(tmp_path / "1.husk", range(12), NAMES[:3], ages=False)
    two = _learn(tmp_path / "2.husk", range(12, 20), NAMES[1:5], ages=False)
    all_pages = _learn(tmp_path / "3.husk", range(20), NAMES[1:3], ages=False)
    assert upkeep.merge_stores(one, two, tmp_path / "4.husk") == 5
    merged, expected = _sums(tmp_path / "4.husk"), _sums(all_pages)
    assert {name: merged[name] for name in NAMES[1:3]} == expected
    assert merged[NAMES[0]] == _sums(one)[NAMES[0]]
    assert upkeep.check_store(tmp_path / "4.husk").findings == ()
    with pytest.raises(UsageError, match="already exists"):
        upkeep.merge_stores(one, two, tmp_path / "4.husk")


def test_memories_that_do_not_add_up_are_refused(tmp_path: Path) -> None:
    one = _learn(tmp_path / "1.husk", range(2), NAMES[:1])
    two = _learn(tmp_path / "2.husk", range(2), NAMES[:1], max_places=9)
    three = _learn(tmp_path / "3.husk", range(2), NAMES[:1], method="rtdm")
    four = _learn(tmp_path / "4.husk", range(2, 4), NAMES[:1], method="rtdm")
    with pytest.raises(StateError, match="max_places=6000"):
        upkeep.merge_stores(one, two, tmp_path / "x.husk")
    with pytest.raises(StateError, match="auto and of rtdm do not add up"):
        upkeep.merge_stores(one, three, tmp_path / "x.husk")
    with pytest.raises(StateError, match="rtdm do not add up"):
        upkeep.merge_stores(three, four, tmp_path / "y.husk")


def test_an_export_is_read_in_as_it_was(learned: Path, tmp_path: Path) -> None:
    lines = list(upkeep.export_lines(learned))
    assert len(lines) == 1 + len(NAMES)
    assert upkeep.import_lines(lines, tmp_path / "b.husk") == len(NAMES)
    assert _states(tmp_path / "b.husk") == _states(learned)
    with dehusk.open(tmp_path / "b.husk") as memory:
        assert memory.shelf("rules", NAMES[0]).get(b"keep") == b"main"
    assert list(upkeep.export_lines(tmp_path / "b.husk")) == lines


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: lines[1:],
        lambda lines: ["{"],
        lambda lines: ["7"],
        lambda lines: [],
        lambda lines: [lines[0].replace('"version": 1', '"version": 9')],
        lambda lines: [lines[0], lines[1].replace('"memory"', '"mem"')],
        lambda lines: [lines[0], lines[1].replace("s0.example", "s9.example")],
        lambda lines: [lines[0], json.dumps(json.loads(lines[1]) | {"memory": "AAAA"})],
    ],
)
def test_what_is_no_export_is_refused(
    learned: Path, tmp_path: Path, change: Callable[[list[str]], list[str]]
) -> None:
    with pytest.raises((SourceError, UsageError)):
        upkeep.import_lines(change(list(upkeep.export_lines(learned))), tmp_path / "b.husk")


def test_the_commands_do_what_they_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pages = list(sample_site("news", pages=8, seed=2))
    site = pages[0].page.site or ""
    write_site(pages, tmp_path / "news")
    assert main(["clean", "news", "-o", "plain.jsonl"]) == 0
    assert main(["clean", "news", "--memory", "a.husk", "-o", "kept.jsonl"]) == 0
    assert Path("plain.jsonl").read_bytes() == Path("kept.jsonl").read_bytes()
    assert main(["learn", "news", "--memory", "a.husk"]) == 0
    assert "0 pages learned, 8 known already" in capsys.readouterr().err
    assert main(["sites", "--memory", "a.husk"]) == 0
    listed = capsys.readouterr().out
    assert site in listed
    assert "sites: 1, pages: 8" in listed
    assert main(["sites", "--memory", "a.husk", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pages"] == 8
    assert main(["sites", "show", site, "--memory", "a.husk"]) == 0
    assert "segments" in capsys.readouterr().out
    assert main(["sites", "show", "nonesuch", "--memory", "a.husk"]) == 2
    assert main(["sites", "export", "--memory", "a.husk", "-o", "a.jsonl"]) == 0
    assert main(["sites", "import", "a.jsonl", "--memory", "b.husk"]) == 0
    assert main(["sites", "merge", "a.husk", "b.husk", "-o", "c.husk"]) == 0
    assert main(["sites", "forget", site, "--memory", "b.husk"]) == 0
    assert main(["sites", "forget", site, "--memory", "b.husk"]) == 2
    assert main(["sites", "vacuum", "--memory", "b.husk"]) == 0
    assert main(["sites", "upgrade", "--memory", "b.husk"]) == 0
    assert main(["sites", "check", "--memory", "b.husk"]) == 0
    assert main(["sites", "check", "--repair", "--memory", "b.husk"]) == 0
    page = str(next((tmp_path / "news").rglob("*.html")))
    capsys.readouterr()
    assert main(["template", page, "--memory", "a.husk", "--site", site]) == 0
    assert "8 pages remembered" in capsys.readouterr().err
    assert main(["sites"]) == 2
    assert main(["sites", "--memory", "none.husk"]) == 2
    assert main(["sites", "upgrade", "--memory", "none.husk"]) == 2
    assert main(["clean", "news", "--memory", "a.husk", "--method", "chunks"]) == 2
    assert sorted(path.name for path in tmp_path.glob("*.husk*")) == ["a.husk", "b.husk", "c.husk"]


def test_check_names_damage_and_says_so_by_its_status(
    learned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = Path(shutil.copy(learned, tmp_path / "b.husk"))
    connection = sqlite3.connect(file)
    connection.execute("UPDATE site SET pages = pages + 1 WHERE id = ?", (site_id(NAMES[2]),))
    connection.commit()
    connection.close()
    assert main(["sites", "check", "--memory", str(file)]) == 1
    assert NAMES[2] in capsys.readouterr().out
    assert main(["sites", "check", "--repair", "--memory", str(file)]) == 1
    assert main(["sites", "check", "--memory", str(file)]) == 0
    assert "good: 7" in capsys.readouterr().out


def _damage_index(file: Path, name: str, site: str) -> None:
    """Have the index of a table name another site for a row, as a flipped bit would."""
    connection = sqlite3.connect(file)
    size = connection.execute("PRAGMA page_size").fetchone()[0]
    query = "SELECT rootpage FROM sqlite_master WHERE name = ?"
    (root,) = connection.execute(query, (name,)).fetchone()
    connection.close()
    data = bytearray(file.read_bytes())
    place = data.index(site_id(site).to_bytes(8, "big"), (root - 1) * size, root * size)
    data[place + 3] ^= 1
    file.write_bytes(data)


def _with_rules(file: Path) -> Path:
    with dehusk.open(file) as memory:
        for name in NAMES[:3]:
            memory.learn(_page(1, name))
            memory.add_rule(name, "drop", "nav")
    return file


def test_an_import_that_is_done_again_counts_nothing_twice(learned: Path, tmp_path: Path) -> None:
    lines, target = list(upkeep.export_lines(learned)), tmp_path / "b.husk"

    def interrupted() -> Iterator[str]:
        yield from lines[:4]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        upkeep.import_lines(interrupted(), target)
    for _ in range(2):
        assert upkeep.import_lines(lines, target) == len(NAMES)
        assert list(upkeep.export_lines(target)) == lines
    _learn(target, range(14, 16), NAMES[1:2])
    newer = list(upkeep.export_lines(target))
    upkeep.import_lines(lines, target)
    assert list(upkeep.export_lines(target)) == newer, "an older export takes nothing away"
    upkeep.import_lines(newer, learned_copy := tmp_path / "c.husk")
    assert list(upkeep.export_lines(learned_copy)) == newer


def test_a_newer_export_of_a_method_that_does_not_add_up_takes_the_place(tmp_path: Path) -> None:
    file, other = tmp_path / "a.husk", tmp_path / "b.husk"
    _learn(file, range(2), NAMES[:1], method="rtdm")
    upkeep.import_lines(list(upkeep.export_lines(file)), other)
    _learn(file, range(2, 4), NAMES[:1])
    newer = list(upkeep.export_lines(file))
    upkeep.import_lines(newer, other)
    assert list(upkeep.export_lines(other)) == newer


def test_an_export_that_fails_leaves_the_last_one_as_it_was(
    learned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = Path(shutil.copy(learned, tmp_path / "b.husk"))
    export = ["sites", "export", "--memory", str(file), "-o", str(tmp_path / "e.jsonl")]
    assert main(export) == 0
    whole = (tmp_path / "e.jsonl").read_bytes()
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE log SET body = x'00' WHERE site = ?", (site_id(NAMES[3]),))
    assert main(export) == 1
    assert "damaged" in capsys.readouterr().err
    assert (tmp_path / "e.jsonl").read_bytes() == whole
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.husk", "e.jsonl"]
    if Path("/dev/null").exists():
        assert main([*export[:-1], "/dev/null", "--memory", str(learned)]) == 0


def test_a_rule_made_by_hand_that_is_none_is_damage(learned: Path) -> None:
    with (
        dehusk.open(learned, reads_only=True) as memory,
        pytest.raises(StoreDamaged, match="a rule of the site"),
    ):
        memory.rules(NAMES[0])


def test_a_rule_for_a_site_that_nobody_knows_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = _with_rules(tmp_path / "a.husk")
    for name, hint in (("s1.exampel", "mean s1.example?"), ("other.example.org", "no site")):
        assert main(["sites", "rules", name, "--memory", str(file), "--drop", "nav"]) == 2
        assert hint in capsys.readouterr().err
        with dehusk.open(file, reads_only=True) as memory:
            assert memory.rules(name) == ()
    assert main(["sites", "rules", "s1.example", "--memory", str(file), "--drop", "h1"]) == 0


def test_rules_do_not_vanish_with_a_damaged_index(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = _with_rules(tmp_path / "a.husk")
    _damage_index(file, "sqlite_autoindex_shelf_1", NAMES[1])
    for reads_only in (True, False):
        with pytest.raises(StoreDamaged, match=r"damaged.*check --repair"):
            dehusk.open(file, reads_only=reads_only)
    whole = file.read_bytes()
    assert main(["clean", str(_html(tmp_path)), "--memory", str(file), "-q"]) == 1
    assert file.read_bytes() == whole
    assert main(["sites", "check", "--repair", "--memory", str(file)]) == 1
    with dehusk.open(file, reads_only=True) as memory:
        assert [len(memory.rules(name)) for name in NAMES[:3]] == [1, 1, 1]
    capsys.readouterr()


def test_rules_that_another_process_adds_are_no_damage(tmp_path: Path) -> None:
    file = _with_rules(tmp_path / "a.husk")
    with dehusk.open(file, reads_only=True) as reader:
        assert len(reader.rules(NAMES[0])) == 1
        with dehusk.open(file) as writer:
            writer.add_rule(NAMES[0], "keep", "main")
            assert len(writer.rules(NAMES[0])) == 2
            writer.commit()
            assert len(writer.rules(NAMES[0])) == 2
        assert len(reader.rules(NAMES[0])) == 2


def test_nothing_is_written_to_a_file_that_check_calls_damaged(tmp_path: Path) -> None:
    file = _learn(tmp_path / "a.husk", range(4), NAMES)
    lines = list(upkeep.export_lines(file))
    _damage_index(file, "sqlite_autoindex_log_1", NAMES[1])
    assert upkeep.check_store(file).findings
    whole = file.read_bytes()
    assert main(["learn", str(_html(tmp_path)), "--memory", str(file), "-q"]) == 1
    with pytest.raises(StoreDamaged, match="damaged"):
        upkeep.import_lines(lines, file)
    assert file.read_bytes() == whole
    with dehusk.open(file, reads_only=True) as memory:
        assert memory.memory(NAMES[0]).pages == 4, "a reader is served what is good"
