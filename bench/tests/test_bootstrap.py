"""Intervals and comparisons: what is claimed is more than noise."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dehusk_bench.quality.averages import Averages, Figure
from dehusk_bench.quality.bootstrap import MIN_SITES, Interval, Verdict, difference, interval
from dehusk_bench.quality.measure import Report
from dehusk_bench.quality.report import render_report

SHARES = st.floats(0, 1)


@given(st.lists(SHARES, min_size=1, max_size=40))
def test_the_mean_lies_in_its_interval_and_the_interval_among_the_values(
    values: list[float],
) -> None:
    found = interval(values)
    assert found is not None
    assert min(values) - 1e-9 <= found.low <= found.high <= max(values) + 1e-9
    assert found.mean == pytest.approx(sum(values) / len(values))
    assert found.sites == len(values)


@given(st.dictionaries(st.text(max_size=3), st.tuples(SHARES, SHARES), min_size=1, max_size=20))
def test_the_other_way_round_the_verdict_is_the_opposite(
    pairs: dict[str, tuple[float, float]],
) -> None:
    one = {site: pair[0] for site, pair in pairs.items()}
    other = {site: pair[1] for site, pair in pairs.items()}
    there, back = difference(one, other), difference(other, one)
    assert there is not None
    assert back is not None
    assert there.mean == pytest.approx(-back.mean)
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low), abs=1e-9)


def test_no_site_gives_no_interval() -> None:
    assert interval([]) is None
    assert difference({"a": 1.0}, {"b": 0.0}) is None


def test_only_sites_that_both_have_are_compared() -> None:
    found = difference({"a": 0.5, "b": 0.7, "c": 1.0}, {"a": 0.4, "b": 0.6, "d": 0.0})
    assert found is not None
    assert found.sites == 2
    assert found.mean == pytest.approx(0.1)


def test_a_small_difference_on_every_site_is_a_difference() -> None:
    dice = Random(1)
    other = {str(site): dice.random() for site in range(30)}
    one = {site: value + 0.01 for site, value in other.items()}
    found = difference(one, other)
    assert found is not None
    assert found.verdict is Verdict.BETTER


def test_a_difference_of_one_site_alone_is_noise() -> None:
    other = dict.fromkeys("abcdefghij", 0.5)
    found = difference({**other, "a": 1.0}, other)
    assert found is not None
    assert found.mean > 0
    assert found.verdict is Verdict.NOISE


def test_nothing_is_claimed_of_few_sites() -> None:
    few = [0.2] * (MIN_SITES - 1)
    assert [each.verdict for each in (interval(few), interval([*few, 0.2])) if each] == [
        Verdict.NOISE,
        Verdict.BETTER,
    ]


@pytest.mark.slow
def test_an_interval_misses_the_truth_in_about_one_case_of_twenty() -> None:
    dice = Random(7)
    missed = 0
    for _ in range(200):
        found = interval([dice.gauss(0, 1) for _ in range(30)])
        assert found is not None
        missed += found.verdict is not Verdict.NOISE
    assert 2 <= missed <= 24


def test_a_range_needs_two_sites() -> None:
    assert Interval(0.5, 0.5, 0.5, 1).range_text() == "–"
    assert Interval(0.5, 0.25, 0.75, 2).range_text(2) == "0.25 … 0.75"


def test_a_report_compares_the_first_contender_with_the_others() -> None:
    report = Report("c", 8, 8)
    for name, f1 in (("ours", 0.9), ("theirs", 0.8), ("alike", 0.9)):
        report.averages[name] = Averages()
        for site in range(8):
            off = 0.05 * (site % 2) if name == "alike" else 0.0
            report.averages[name].add(str(site), 1, {Figure.F1: f1 - off + 0.025 * (off > 0)})
    shown = render_report(report)
    assert "F1 of ours against" in shown
    (row,) = (line for line in shown.splitlines() if line.startswith("theirs") and "+" in line)
    assert row.split()[1:] == ["+0.100", "0.100", "…", "0.100", "better", "8"]
