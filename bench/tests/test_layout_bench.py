"""The estimated layout against the browser's: the figures, and what they are on sample pages."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from chromium import executable
from dehusk.doors.cli import main
from dehusk.page.tree import Layout
from dehusk_bench.quality.layout import compare, mean_errors

pytestmark = pytest.mark.slow


def _layout(*boxes: tuple[float, float, float, float]) -> Layout:
    x, y, width, height = np.array(boxes, np.float64).T
    return Layout(x, y, width, height, is_estimate=False)


PAGE = (0.0, 0.0, 1000.0, 2000.0)


def test_a_layout_is_not_far_from_itself() -> None:
    layout = _layout(PAGE, (10, 20, 300, 40), (10, 60, 10, 10), (0, 0, 0, 0))
    errors = compare(layout, layout)
    assert errors is not None
    assert (errors.nodes, errors.factor, errors.within_two) == (2, 1, 1)
    assert errors.order == pytest.approx(1)
    assert (errors.small_agree, errors.left, errors.upper, errors.page_height) == (1, 0, 0, 1)


def test_too_large_and_too_small_are_equally_wrong() -> None:
    measured = _layout(PAGE, (0, 0, 100, 100), (0, 0, 100, 100), (0, 0, 100, 100))
    guess = _layout(PAGE, (0, 0, 400, 100), (0, 0, 25, 100), (0, 0, 100, 199))
    errors = compare(guess, measured)
    assert errors is not None
    assert errors.factor == pytest.approx(4)
    assert errors.within_two == pytest.approx(1 / 3)


def test_places_count_in_parts_of_the_page_and_small_nodes_by_2000_pixels() -> None:
    measured = _layout(PAGE, (100, 400, 30, 30), (100, 400, 60, 60))
    guess = _layout((0, 0, 1000, 1000), (200, 200, 30, 30), (300, 400, 30, 60))
    errors = compare(guess, measured)
    assert errors is not None
    assert errors.left == pytest.approx(0.15)
    assert errors.upper == pytest.approx(0.1)
    assert errors.small_agree == 0.5
    assert errors.page_height == 2


def test_a_page_without_any_area_has_no_errors() -> None:
    assert compare(_layout(PAGE), _layout(PAGE)) is None


def test_errors_of_pages_are_averaged() -> None:
    layout = _layout(PAGE, (10, 20, 300, 40))
    wide = _layout(PAGE, (10, 20, 300, 120))
    one, three = compare(layout, layout), compare(wide, layout)
    assert one is not None
    assert three is not None
    assert mean_errors([one, three]).factor == pytest.approx(2)


def test_the_estimate_is_near_the_browser_on_sample_pages(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    executable()
    file = tmp_path / "figures.json"
    given = ["samples:news:1:3", "samples:docs:1:3", "--json", str(file)]
    assert main(["bench", "layout", *given]) == 0
    assert "area: factor" in capsys.readouterr().out
    figures = json.loads(file.read_text("utf-8"))
    assert set(figures) == {"news-1.example", "docs-1.example", "all"}
    assert figures["all"]["order"] > 0.8
    assert figures["all"]["factor"] < 1.5
