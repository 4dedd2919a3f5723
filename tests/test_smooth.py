"""Smoothing: the cheapest scores that rise down the tree, against brute force, and its sections."""

from __future__ import annotations

import time
import tracemalloc
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dehusk import _kernel
from dehusk.methods.contract import Smoothing
from dehusk.methods.smooth import MAX_LEVELS, Forest, _levels, smooth, solve
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Floats, Tree


def _tree(parents: list[int]) -> Tree:
    """A tree of that shape, in document order, of elements alone."""
    written: list[str] = []
    path: list[int] = []
    for node, parent in enumerate(parents):
        while path and path[-1] != parent:
            path.pop()
            written.append("</div>")
        path.append(node)
        written.append("<div>")
    source = "".join((*written, "</div>" * len(path))).encode()
    return Tree(_kernel.scan(source, 512, lambda: (b"", b"", b"", b"")))


@st.composite
def _shapes(draw: st.DrawFn, max_size: int = 6) -> list[int]:
    """The parent of each node, in document order: a node's is an open one, the last or above it."""
    parents, path = [-1], [0]
    for node in range(1, draw(st.integers(1, max_size))):
        del path[draw(st.integers(1, len(path))) :]
        parents.append(path[-1])
        path.append(node)
    return parents


_SCORES = st.sampled_from((0.0, 0.25, 0.5, 1.0, float("nan")))
_PENALTIES = st.sampled_from((0.0, 0.1, 0.3, 0.7, 2.0, float("inf")))
_WEIGHTS = st.sampled_from((0.0, 0.5, 1.0, 3.0))


def _cost(parents: list[int], scores: Floats, smoothing: Smoothing, answers: Floats) -> float:
    """The least cost of the answers by the definition; one that falls on a way down is none."""
    answers = np.atleast_2d(answers)
    parent = np.array(parents[1:], np.intp)
    weight = np.ones(len(parents)) if smoothing.weight is None else smoothing.weight
    begins = answers[:, 1:] != answers[:, parent]
    cost = np.nansum(weight * abs(answers - scores), axis=1)
    cost += np.where(begins, smoothing.penalty[1:], 0.0).sum(axis=1)
    rises = (answers[:, 1:] >= answers[:, parent]).all(axis=1)
    return float(cost[rises].min())


@pytest.mark.slow
@given(shape=_shapes(), data=st.data())
@settings(max_examples=600, deadline=None)
def test_no_assignment_of_scores_costs_less(shape: list[int], data: st.DataObject) -> None:
    size = len(shape)
    scores = np.array(data.draw(st.lists(_SCORES, min_size=size, max_size=size)))
    smoothing = Smoothing(
        np.array(data.draw(st.lists(_PENALTIES, min_size=size, max_size=size))),
        np.array(data.draw(st.lists(_WEIGHTS, min_size=size, max_size=size))),
    )
    values = np.unique(scores[~np.isnan(scores)])
    if not len(values):
        return
    answer = smooth(_tree(shape), scores, smoothing).scores
    least = _cost(shape, scores, smoothing, np.array(list(product(values, repeat=size))))
    assert _cost(shape, scores, smoothing, answer) == pytest.approx(least)


@pytest.mark.slow
@given(shape=_shapes(5), data=st.data())
@settings(max_examples=300, deadline=None)
def test_a_hidden_node_counts_as_another_node_of_its_owners_score(
    shape: list[int], data: st.DataObject
) -> None:
    """Writing the hidden nodes' weight into their owners by hand gives the same answer."""
    size = len(shape)
    scores = np.array(data.draw(st.lists(st.sampled_from((0.0, 0.3, 1.0)), min_size=size)))[:size]
    hidden = np.array([False, *data.draw(st.lists(st.booleans(), min_size=size))])[:size]
    penalty = np.full(size, 0.4)
    tree = _tree(shape)
    answer = smooth(tree, scores, Smoothing(penalty, hidden=hidden))
    owner = list(range(size))
    for node in range(1, size):
        owner[node] = owner[shape[node]] if hidden[node] else node
    kept = [node for node in range(size) if not hidden[node]]
    weight = np.array([owner.count(node) for node in kept], float)
    parents = [-1, *(kept.index(owner[shape[node]]) for node in kept[1:])]
    alone = smooth(_tree(parents), scores[kept], Smoothing(penalty[kept], weight))
    for node in range(size):
        assert answer.scores[node] == alone.scores[kept.index(owner[node])]
        assert answer.sections[node] == kept[alone.sections[kept.index(owner[node])]]


@given(shape=_shapes(40), data=st.data())
@settings(max_examples=200, deadline=None)
def test_a_section_is_one_connected_piece_of_one_score(
    shape: list[int], data: st.DataObject
) -> None:
    size = len(shape)
    scores = np.array(data.draw(st.lists(_SCORES, min_size=size, max_size=size)))
    answer = smooth(_tree(shape), scores, Smoothing(np.full(size, 0.2)))
    for node in range(1, size):
        up = shape[node]
        is_same = np.array_equal(answer.scores[[node]], answer.scores[[up]], equal_nan=True)
        assert answer.sections[node] == (answer.sections[up] if is_same else node)


def test_equal_scores_stay_as_they_are_in_one_section() -> None:
    """The paper's listing has no answer here: it lets the root take only a larger value."""
    answer = smooth(_tree([-1, 0, 1, 0]), np.full(4, 0.3), Smoothing(np.full(4, 0.01)))
    assert answer.scores.tolist() == [0.3] * 4
    assert answer.sections.tolist() == [0] * 4


def test_a_high_penalty_gives_one_section_with_the_median() -> None:
    scores = np.array([0.9, 0.1, 0.2, 0.2, 0.8])
    answer = smooth(_tree([-1, 0, 0, 0, 0]), scores, Smoothing(np.full(5, 100.0)))
    assert answer.scores.tolist() == [0.2] * 5


def test_a_menu_beside_an_article_becomes_a_section() -> None:
    #          page  article            menu
    shape = [-1, 0, 1, 1, 0, 4, 4, 4]
    scores = np.array([0.2, 0.1, 0.0, 0.3, 0.9, 0.8, 1.0, 0.4])
    answer = smooth(_tree(shape), scores, Smoothing(np.full(8, 0.5)))
    assert answer.sections.tolist() == [0, 0, 0, 0, 4, 4, 4, 4]
    assert (answer.scores > 0.5).tolist() == [False] * 4 + [True] * 4


def test_without_an_opinion_there_is_one_section_without_a_score() -> None:
    answer = smooth(_tree([-1, 0, 0]), np.full(3, np.nan), Smoothing(np.ones(3)))
    assert np.isnan(answer.scores).all()
    assert answer.sections.tolist() == [0, 0, 0]


def test_what_is_never_shown_has_no_smoothed_score() -> None:
    tree = parse(Page("<p>rye</p><script>x()</script>")).tree
    answer = smooth(tree, np.where(tree.shown, 0.7, np.nan), Smoothing(np.ones(len(tree))))
    assert (np.isnan(answer.scores) == ~tree.shown).all()


def test_rounding_to_levels_keeps_a_score_on_its_side_of_a_half() -> None:
    scores = np.append(np.linspace(0, 1, 400), [0.5, 0.5001, 0.4999])
    values, level = _levels(scores)
    assert len(values) <= MAX_LEVELS
    assert ((values[level] > 0.5) == (scores > 0.5)).all()
    assert np.abs(values[level] - scores).max() <= 0.5 / 255 + 1e-12


def test_smoothing_changes_nothing_it_was_given() -> None:
    scores, hidden = np.array([0.1, 0.9, np.nan]), np.array([True, False, True])
    before = scores.copy(), hidden.copy()
    smooth(_tree([-1, 0, 1]), scores, Smoothing(np.ones(3), hidden=hidden))
    assert np.array_equal(scores, before[0], equal_nan=True)
    assert (hidden == before[1]).all()


def test_a_chain_ten_thousand_deep_is_smoothed() -> None:
    size = 10_000
    chain, levels = np.arange(size), np.arange(size) * 256 // size
    values = np.linspace(0, 1, 256)
    solved = solve(Forest(chain - 1, chain, levels, np.ones(size), np.ones(size), values))
    assert (np.diff(solved) >= 0).all()
    assert 1 < len(np.unique(solved)) < 256


def _random_forest(size: int, max_depth: int) -> Forest:
    rng = np.random.default_rng(7)
    parent, depth = np.full(size, -1), np.zeros(size, np.int32)
    path = [0]
    for node in range(1, size):
        del path[max(1, min(max_depth, len(path) - int(rng.integers(0, 3)))) :]
        parent[node], depth[node] = path[-1], len(path)
        path.append(node)
    levels: NDArray[np.intp] = rng.integers(0, 256, size).astype(np.intp)
    return Forest(parent, depth, levels, np.ones(size), rng.random(size), np.linspace(0, 1, 256))


def test_a_large_tree_takes_a_second_and_64_megabytes_at_most() -> None:
    """With room for a slow machine; 0.45 s were measured."""
    forest = _random_forest(100_000, 200)
    before = time.process_time()
    solve(forest)
    assert time.process_time() - before < 3
    tracemalloc.start()
    solve(forest)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64e6


def test_a_usual_tree_takes_15_milliseconds_at_most() -> None:
    """With room for a slow machine; 9 ms were measured."""
    forest = _random_forest(2_000, 30)
    times = []
    for _ in range(5):
        before = time.process_time()
        solve(forest)
        times.append(time.process_time() - before)
    assert min(times) < 0.045
