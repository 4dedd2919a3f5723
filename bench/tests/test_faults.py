"""What dehusk survives, tried a little: `dehusk bench faults` tries more."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import dehusk
from dehusk.doors.cli import main
from dehusk_bench.faults.damages import damaged
from dehusk_bench.faults.power import Change, Disk, read_log
from dehusk_bench.faults.rounds import Rounds
from dehusk_bench.faults.scenes import SCENES, contents, verify

needs_shim = pytest.mark.skipif(
    not sys.platform.startswith("linux") or shutil.which("cc") is None,
    reason="needs Linux and a C compiler",
)


def _faults(*words: str) -> str:
    command = [sys.executable, "-m", "dehusk", "bench", "faults", *words]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


@needs_shim
@pytest.mark.slow
def test_what_is_killed_anywhere_loses_nothing_and_locks_nobody_out() -> None:
    said = _faults("kills", "--rounds", "4")
    for name in SCENES:
        assert f"kills {name}: 4 rounds (killed: 4); wrong: 0" in said


@needs_shim
@pytest.mark.slow
def test_a_power_cut_takes_nothing_that_was_lasting() -> None:
    said = _faults("power", "--rounds", "6", "--scene", "page", "--scene", "creation")
    assert said.count("6 rounds (cut: 6); wrong: 0") == 2


@needs_shim
@pytest.mark.slow
def test_a_failing_disk_or_no_memory_is_a_typed_error_and_loses_nothing() -> None:
    said = _faults("errors", "memory", "--rounds", "5", "--scene", "batch", "--scene", "import")
    assert said.count("5 rounds") == said.count("wrong: 0") == 4


@pytest.mark.slow
def test_damaged_memories_and_archives_serve_nothing_wrong(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["bench", "faults", "damages", "archives", "--rounds", "10"]) == 0
    assert capsys.readouterr().out.count("10 rounds") == 2


def test_a_soak_says_what_each_tenth_cost(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "faults", "soak", "--sites", "5", "--pages", "40"]) in (0, 1)
    assert len(capsys.readouterr().out.splitlines()) >= 11
    assert main(["bench", "faults", "soak", "--sites", "50", "--pages", "40"]) == 2


def test_rounds_go_on_from_where_they_came_to(tmp_path: Path) -> None:
    seen: list[tuple[int, float]] = []

    def one(dice: random.Random, number: int) -> tuple[str, str]:
        seen.append((number, dice.random()))
        return ("odd" if number % 2 else "even"), "three" if number == 3 else ""

    for count in (3, 6, 6):
        tally = Rounds(1, tmp_path / "state.json").run("try", count, one)
    assert [number for number, _ in seen] == [0, 1, 2, 3, 4, 5]
    assert len({value for _, value in seen}) == 6
    assert (tally.rounds, tally.wrong, tally.said) == (6, 1, ["round 3: three"])
    assert tally.outcomes == {"even": 3, "odd": 3}


def test_a_disk_keeps_what_was_synced_and_any_part_of_the_rest(tmp_path: Path) -> None:
    disk, dice = Disk(tmp_path), random.Random(1)
    name = str(tmp_path / "a")
    for change in (
        Change("C", name, 0),
        Change("W", name, 0, b"x" * 1024),
        Change("S", name, 0),
        Change("A", "", 7),
        Change("W", name, 0, b"y" * 1024),
        Change("U", name, 0),
    ):
        disk.do(change)
    assert disk.said == 7
    found = {disk.cut(dice).get(name, b"")[::512] for _ in range(200)}
    assert found == {b"", b"xx", b"xy", b"yx", b"yy"}


def test_the_log_of_a_disk_is_read_as_it_was_written() -> None:
    log = b"C 2 0 0 0\n/aW 2 5 3 3\n/a\n\nxA 0 4 0 0\nR 2 0 0 2\n/a/b"
    assert list(read_log(log)) == [
        Change("C", "/a", 0),
        Change("W", "/a", 5, b"\n\nx"),
        Change("A", "", 4),
        Change("R", "/a", 0, b"/b"),
    ]


def test_what_is_lost_twice_or_left_behind_is_seen(tmp_path: Path) -> None:
    scene = SCENES["page"]
    scene.act(tmp_path, lambda _: None)
    husk = tmp_path / "a.husk"
    whole = contents(husk)
    assert verify(scene, tmp_path, 30, whole) == ""
    assert "31 pages were lasting" in verify(scene, tmp_path, 31, whole)
    (tmp_path / ".dehusk-1-1.part").touch()
    assert "left behind" in verify(scene, tmp_path, 30, whole)
    (tmp_path / ".dehusk-1-1.part").unlink()
    with dehusk.open(husk) as memory:
        memory.learn("<p>more</p>", "https://s0.example/more")
    assert "not that of an undisturbed run" in verify(scene, tmp_path, 30, whole)
    husk.write_bytes(damaged(husk.read_bytes(), random.Random(4)))
    assert verify(scene, tmp_path, 30, whole) != ""
