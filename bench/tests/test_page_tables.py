"""The paper's table 1 and figures 1–3: what is counted, how groups compare, what is drawn."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dehusk.doors.cli import main
from dehusk.methods.papers.page import PageSmooth
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Tree
from dehusk_bench.corpora import open_corpus
from dehusk_bench.papers.page_measures import (
    Thing,
    adjusted_rand,
    gold_groups,
    leaves_of,
    measure,
    merged_groups,
    score_groups,
)
from dehusk_bench.plots import bar_plot, line_plot

HTML = "<div><p>one</p><p>two</p></div><main><p>three</p><b>four</b><i>five</i></main>"


def _tree() -> Tree:
    return parse(Page(HTML)).tree


def _marks(tree: Tree, *names: str) -> np.ndarray:
    """True for the texts below elements of these names."""
    marked = np.zeros(len(tree), np.bool_)
    for node in range(len(tree)):
        if tree.name(node) in names:
            marked[node : tree.end[node]] = True
    return marked


def test_two_groupings_of_the_same_leaves_are_alike_whatever_their_numbers() -> None:
    assert adjusted_rand(np.array([1, 1, 2, 2]), np.array([7, 7, 3, 3])) == 1


def test_the_adjusted_rand_index_is_that_of_its_definition() -> None:
    """Six leaves: of 15 pairs 2 are together in both, 6 and 3 in one; chance gives 1.2."""
    one, other = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 1, 1, 2, 2])
    assert adjusted_rand(one, other) == pytest.approx((2 - 1.2) / (4.5 - 1.2))


@given(groups=st.lists(st.integers(0, 3), min_size=1, max_size=12), data=st.data())
def test_the_index_is_symmetric_and_at_most_one(groups: list[int], data: st.DataObject) -> None:
    size = len(groups)
    other = np.array(data.draw(st.lists(st.integers(0, 3), min_size=size, max_size=size)))
    one = np.array(groups)
    assert adjusted_rand(one, other) == pytest.approx(adjusted_rand(other, one))
    assert adjusted_rand(one, other) <= 1 + 1e-12
    assert adjusted_rand(one, one) == 1


def test_groupings_drawn_at_random_have_an_index_near_zero() -> None:
    rng = np.random.default_rng(5)
    rands = [adjusted_rand(rng.integers(0, 4, 60), rng.integers(0, 5, 60)) for _ in range(200)]
    assert abs(np.mean(rands)) < 0.01


def test_the_gold_groups_are_the_largest_pieces_of_one_kind() -> None:
    tree = _tree()
    groups = gold_groups(tree, _marks(tree, "p") & ~_marks(tree, "div"))
    assert len(leaves_of(tree)) == len(groups) == 5
    same = [a == b for a, b in zip(groups, groups[1:])]  # noqa: B905, RUF007
    assert same == [True, False, False, False]
    assert len(set(gold_groups(tree, np.ones(len(tree), np.bool_)).tolist())) == 1


def test_without_smoothing_a_group_is_what_has_one_score() -> None:
    tree = _tree()
    scores = np.where(_marks(tree, "div"), 0.9, 0.1)
    assert [group == score_groups(tree, scores)[0] for group in score_groups(tree, scores)] == [
        True, True, False, False, False,
    ]  # fmt: skip


def test_merging_joins_neighbours_whose_scores_are_near() -> None:
    tree = _tree()
    scores = np.full(len(tree), np.nan)
    scores[leaves_of(tree)] = [0.1, 0.15, 0.4, 0.45, 0.9]
    assert merged_groups(tree, scores, 0.1).tolist() == [0, 0, 1, 1, 2]
    assert len(set(merged_groups(tree, scores, 0.8).tolist())) == 1
    assert len(set(merged_groups(tree, scores, 0.01).tolist())) == 5


def test_smoothing_makes_better_sections_than_none_on_sample_sites() -> None:
    corpus = open_corpus("samples:news:5:6")
    figures = measure(corpus, PageSmooth(penalty=0.01), (1.0, 1e6), lambda _, __: None)
    assert figures.pages == 6
    assert figures.smooth.rand > figures.basic.rand
    assert figures.by_factor[1.0].rand == figures.smooth.rand
    assert figures.merged[figures.best_delta].rand >= figures.basic.rand
    for thing in Thing:
        assert 0 < figures.smooth.f1(thing) <= 1
        assert 0 < figures.basic.f1(thing) <= 1


def test_the_command_prints_the_papers_figures_beside_ours_and_writes_plots(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["samples:docs:1:2", "--factors", "0.1,1", "--plots", str(tmp_path)]
    assert main(["bench", "page-tables", *arguments, "--markdown"]) == 0
    shown = capsys.readouterr().out
    assert "the paper, Common (44 pages)" in shown
    assert "samples:docs:1:2 (2 pages)" in shown
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        f"page-figure-{number}.svg" for number in (1, 2, 3)
    ]
    for file in tmp_path.iterdir():
        assert ET.parse(file).getroot().tag.endswith("svg")


@pytest.mark.parametrize("arguments", [["nonesuch"], ["--plots", "nonesuch"], ["--factors", "0"]])
def test_wrong_use_of_the_command_is_said(arguments: list[str]) -> None:
    try:
        status = main(["bench", "page-tables", *arguments])
    except SystemExit as stop:
        status = int(stop.code or 0)
    assert status == 2


def _texts(svg: str) -> list[str]:
    return [element.text or "" for element in ET.fromstring(svg).iter() if element.text]


def test_a_line_plot_names_its_lines_and_axes() -> None:
    svg = line_plot("A < B", ("pages", "F1"), {"rye & oats": [(1, 0.5), (20, 0.9)], "none": []})
    assert {"A < B", "pages", "F1", "rye & oats"} <= set(_texts(svg))
    assert "none" not in _texts(svg)
    assert svg.count("<circle") == 2


@given(
    points=st.lists(st.tuples(st.floats(1e-3, 1e6), st.floats(-1e3, 1e3)), max_size=8),
    log_x=st.booleans(),
)
def test_any_points_are_drawn_inside_the_picture(
    points: list[tuple[float, float]], log_x: bool
) -> None:
    root = ET.fromstring(line_plot("t", ("x", "y"), {"line": points}, log_x=log_x))
    dots = [e for e in root.iter() if e.tag.endswith("circle")]
    assert len(dots) == len(points)
    for dot in dots:
        assert 0 <= float(dot.attrib["cx"]) <= 640
        assert 0 <= float(dot.attrib["cy"]) <= 380


def test_a_bar_plot_has_a_bar_for_each_value() -> None:
    svg = bar_plot("t", "y", {"one": {"a": 0.2, "b": 0.7}, "two": {"a": -0.1, "b": 0.0}})
    assert svg.count("<rect") == 1 + 4 + 2
    assert {"one", "two", "a", "b"} <= set(_texts(svg))
