"""`dehusk bench scale`: its pages, its simulation, and its tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dehusk.doors.cli import main
from dehusk_bench.scale.pages import Workload
from dehusk_bench.scale.simulation import Costs, simulate

pytestmark = pytest.mark.slow


@given(
    pages=st.integers(1, 400),
    sites=st.integers(1, 60),
    skew=st.floats(0, 3),
)
def test_every_page_has_a_site_and_every_site_a_page(pages: int, sites: int, skew: float) -> None:
    workload = Workload(pages, min(sites, pages), skew)
    sizes = workload.sizes()
    assert sizes.sum() == pages
    assert sizes.min() >= 1
    assert (sizes[:-1] >= sizes[1:]).all()
    assert len(workload.order()) == pages


def test_pages_are_told_apart_by_site_and_number() -> None:
    pages = list(Workload(130, 31, 0.5))
    assert len({page.url for page in pages}) == 130
    assert len({page.site for page in pages}) == 31
    assert [page.html for page in pages] == [page.html for page in Workload(130, 31, 0.5)]


def test_equal_sites_fill_all_processors_until_reading_is_the_limit() -> None:
    spreads = simulate(Workload(20_000, 500), Costs(page_ms=5.0, reader_ms=0.25), (1, 2, 4, 64))
    assert [spread.cores for spread in spreads] == [1, 2, 4, 64]
    assert spreads[0].jobs == 1
    assert spreads[1].jobs == pytest.approx(2, abs=0.1)
    assert spreads[2].jobs == pytest.approx(4, abs=0.4)
    # One process reads, at a twentieth of what a page costs.
    assert spreads[3].jobs == pytest.approx(20, abs=0.5)
    assert spreads[3].reader_share == pytest.approx(1, abs=0.03)


def test_a_site_with_half_of_the_pages_is_one_processors_work_unless_it_is_cut() -> None:
    workload = Workload(20_000, 400, 3.0)
    share = workload.sizes()[0] / 20_000
    assert share > 0.5
    spread = simulate(workload, Costs(5.0, 0.1), (16,))[0]
    assert spread.jobs <= 1 / share + 0.1
    assert spread.by_site <= 1 / share + 0.1
    assert spread.cut > 12


def test_reading_ahead_is_what_lets_sites_that_stand_together_be_worked_on_at_a_time() -> None:
    workload = Workload(2000, 20)
    far, near = (
        simulate(workload, Costs(5.0, 0.1, ahead_pages=ahead), (8,))[0].jobs for ahead in (2000, 4)
    )
    assert near < 5 < far


def test_the_command_prints_its_tables_and_writes_its_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ["--pages", "60,120", "--sites", "6", "--skew", "1", "--cores", "1,4", "--json"]
    assert main(["bench", "scale", *more, str(tmp_path / "a.json")]) == 0
    shown = capsys.readouterr().out
    assert "growth" in shown
    assert "--jobs 2" in shown
    assert "Simulated speed-up: 60 pages of 6 sites" in shown
    figures = json.loads((tmp_path / "a.json").read_text())
    assert [row["pages"] for row in figures["growth"]] == [60, 120]
    assert all(run["is_same"] for run in figures["jobs"])
    assert [spread["cores"] for spread in figures["simulation"]["spread"]] == [1, 4]


@pytest.mark.parametrize(
    "more",
    [
        ["--skew", "-1"],
        ["--pages", "0"],
        ["--jobs", "two"],
        ["--json", "/nowhere/at/all.json"],
        ["--only", "simulation", "--page-ms", "1", "--reader-ms", "2"],
    ],
)
def test_what_makes_no_sense_is_refused(more: list[str]) -> None:
    try:
        status = main(["bench", "scale", *more])
    except SystemExit as end:
        status = int(end.code or 0)
    assert status == 2
