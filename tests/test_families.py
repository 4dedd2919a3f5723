"""Families and changes of template in a store: counted, listed, shown, and told of."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

import dehusk
from dehusk.doors.cli import main
from dehusk.errors import StoreDamaged
from dehusk.memory import upkeep
from dehusk.memory.store import site_id
from dehusk.methods.contract import FamilySeen

SITE = "grain.example"


def _html(number: int, menu: str) -> str:
    links = "".join(f"<a href=/{n}>{menu} entry {n}</a>" for n in range(14))
    lines = "".join(f"<p>Field {n * number} gave {number}{n} sacks of rye.</p>" for n in range(5))
    return f"<nav>{links}</nav><main><h1>Harvest {number}</h1>{lines}</main>"


def _records(folder: Path) -> Path:
    """A site of 36 pages whose menu is another from page 20 on."""
    file = folder / "pages.jsonl"
    menus = ["old" if number < 20 else "new" for number in range(36)]
    lines = [
        json.dumps({"url": f"https://{SITE}/{number}", "html": _html(number, menu)}) + "\n"
        for number, menu in enumerate(menus)
    ]
    file.write_text("".join(lines), encoding="utf-8")
    return file


@pytest.fixture
def learned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    store = tmp_path / "a.husk"
    clean = ["clean", str(_records(tmp_path)), "--method", "auto", "--memory", str(store)]
    assert main([*clean, "-o", str(tmp_path / "out.jsonl")]) == 0
    told = capsys.readouterr().err
    assert told.count("has a new template") == 1
    assert f"{SITE} has a new template, by https://{SITE}/22" in told
    return store


def test_a_site_says_how_many_families_it_has_and_how_often_its_template_changed(
    learned: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sites", "--memory", str(learned), "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert (listed["families"], listed["template_changes"]) == (1, 1)
    with dehusk.open(learned, reads_only=True) as memory:
        (family,) = memory.families(SITE)
    assert family == FamilySeen(family.number, 36, 36, f"https://{SITE}/0")


def test_show_gives_each_family_with_its_template(
    learned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    show = ["sites", "show", SITE, "--memory", str(learned)]
    assert main(show) == 0
    shown = capsys.readouterr().out
    assert "new template on  page 23" in shown
    assert f"https://{SITE}/0" in shown
    assert main([*show, "--against", str(tmp_path / "pages.jsonl")]) == 0
    shown = capsys.readouterr().out
    assert f": https://{SITE}/0, 36 pages looked at" in shown
    assert "content  main" in shown
    assert "slot     " in shown


def test_a_change_of_template_is_an_event_for_programs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clean = ["clean", str(_records(tmp_path)), "--method", "auto", "--log-format", "json"]
    assert main([*clean, "-o", str(tmp_path / "out.jsonl")]) == 0
    events = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    changes = [event for event in events if event["event"] == "template_changed"]
    assert changes == [
        {"event": "template_changed", "site": SITE, "url": f"https://{SITE}/22"},
    ]


@pytest.mark.parametrize(
    "command",
    [
        "learn",
        "learn --jobs 2",
        "clean -o out.jsonl --two-pass",
        "clean -o out.jsonl --two-pass --jobs 2 --split-sites",
    ],
)
def test_a_family_has_an_example_however_its_pages_were_learned(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pages = str(_records(tmp_path))
    assert main([*command.split(), pages, "--memory", "a.husk", "-q"]) == 0
    with dehusk.open("a.husk", reads_only=True) as memory:
        assert [family.example for family in memory.families(SITE)] == [f"https://{SITE}/0"]


def test_changes_of_template_add_up_and_outlast_the_limits(learned: Path, tmp_path: Path) -> None:
    other = (tmp_path / "pages.jsonl").read_text().replace(f"{SITE}/", f"{SITE}/other/")
    other = other.replace("gave", "had").replace("sacks of rye", "carts full of oats")
    (tmp_path / "other.jsonl").write_text(other)
    learn = ["learn", str(tmp_path / "other.jsonl"), "--memory", str(tmp_path / "b.husk"), "-q"]
    assert main([*learn, "--method", "auto"]) == 0
    assert upkeep.merge_stores(learned, tmp_path / "b.husk", tmp_path / "c.husk") == 1
    with dehusk.open(tmp_path / "c.husk", reads_only=True) as memory:
        assert [row.revision for row in memory.sites()] == [2]
        assert memory.families(SITE)[0].pages == 72
    keeping = dehusk.Keeping(max_site_bytes=3000)
    with dehusk.open(learned, keeping=keeping) as memory:
        memory.learn(dehusk.Page(_html(99, "new"), f"https://{SITE}/99"))
        assert memory.memory(SITE).size_bytes <= 3000
    with dehusk.open(learned, reads_only=True) as memory:
        assert [row.revision for row in memory.sites()] == [1]


def test_a_method_without_families_shows_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, pages = str(tmp_path / "a.husk"), str(_records(tmp_path))
    assert main(["learn", pages, "--method", "segments", "--memory", store, "-q"]) == 0
    with dehusk.open(store, reads_only=True) as memory:
        assert memory.families(SITE) == []
    assert main(["sites", "show", SITE, "--memory", store]) == 0
    assert "an example" not in capsys.readouterr().out
    assert main(["sites", "show", SITE, "--memory", store, "--against", pages]) == 2


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """A store of two sites, the row of one of them damaged."""
    file = tmp_path / "d.husk"
    with dehusk.open(file, method="segments") as memory:
        for site in ("a.example", "b.example"):
            memory.learn(dehusk.Page("<p>x</p>", f"https://{site}/"))
        memory.shelf("rules", "b.example").put(b"a", b"b")
    connection = sqlite3.connect(file)
    connection.execute("UPDATE site SET pages = 7 WHERE id = ?", (site_id("b.example"),))
    connection.commit()
    connection.close()
    return file


def test_a_damaged_row_keeps_no_other_site_from_being_listed_and_shown(
    damaged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sites", "--memory", str(damaged)]) == 1
    told = capsys.readouterr()
    assert "a.example" in told.out
    assert "row of site 'b.example' is damaged" in told.err
    assert main(["sites", "show", "a.example", "--memory", str(damaged)]) == 0
    assert main(["sites", "show", "b.example", "--memory", str(damaged)]) == 1


def test_an_export_does_not_leave_out_damaged_rows_of_shelves_in_silence(
    learned: Path, tmp_path: Path
) -> None:
    file = Path(shutil.copy(learned, tmp_path / "b.husk"))
    connection = sqlite3.connect(file)
    connection.execute("UPDATE shelf SET value = x'00'")
    connection.commit()
    connection.close()
    with pytest.raises(StoreDamaged, match="shelf"):
        list(upkeep.export_lines(file))


def test_a_site_with_damaged_rows_can_be_forgotten(damaged: Path) -> None:
    connection = sqlite3.connect(damaged)
    connection.execute("UPDATE shelf SET value = x'00'")
    connection.commit()
    connection.close()
    with dehusk.open(damaged) as memory:
        assert memory.forget("b.example")
    assert upkeep.check_store(damaged).findings == ()
