"""The method `rtdm`: its mapping against a search of all mappings, and the template it finds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dehusk.errors import SettingError, StateError
from dehusk.memory import Memory, dump
from dehusk.methods.papers.rtdm import Rtdm
from dehusk.methods.papers.rtdm.mapping import Mapping, Outline, map_trees
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Tree

Node = tuple[str, tuple["Node", ...]]
Best = tuple[int, int]
"""Edits, and kept nodes below zero, so that the least is the best."""

MANY = 10**6
TREES = st.recursive(
    st.tuples(st.sampled_from("abc"), st.just(())),
    lambda below: st.tuples(st.sampled_from("abc"), st.lists(below, max_size=3).map(tuple)),
    max_leaves=6,
)


def _node(label: str, *children: Node) -> Node:
    return label, children


def _walk(tree: Node) -> Iterator[Node]:
    yield tree
    for child in tree[1]:
        yield from _walk(child)


def _size(tree: Node) -> int:
    return sum(1 for _ in _walk(tree))


def _outline(tree: Node) -> Outline:
    nodes = list(_walk(tree))
    labels = np.array([ord(label) for label, _ in nodes], np.uint64)
    return Outline(labels, np.array([_size(node) for node in nodes], np.int64))


def _map(old: Node, new: Node, max_cells: int = MANY) -> Mapping:
    return map_trees(_outline(old), _outline(new), max_cells)


def _kept(old: Node, new: Node) -> str:
    """The labels of the old tree's nodes that are found in the new one, in order."""
    found = _map(old, new).nodes >= 0
    return "".join(label for (label, _), is_kept in zip(_walk(old), found, strict=True) if is_kept)


def _best(old: Node, new: Node) -> Best:
    """The best of all mappings of two trees whose roots are mapped, tried one by one."""
    if old[0] != new[0]:
        return _size(old) + _size(new) - 1, 0
    edits, kept = _best_of_children(old[1], new[1])
    return edits, kept - 1


def _best_of_children(old: Sequence[Node], new: Sequence[Node]) -> Best:
    tries = []
    for count in range(min(len(old), len(new)) + 1):
        for left in combinations(range(len(old)), count):
            for right in combinations(range(len(new)), count):
                pairs = [_best(old[i], new[j]) for i, j in zip(left, right, strict=True)]
                gone = sum(_size(old[i]) for i in range(len(old)) if i not in left)
                come = sum(_size(new[j]) for j in range(len(new)) if j not in right)
                edits = sum(pair[0] for pair in pairs) + gone + come
                tries.append((edits, sum(pair[1] for pair in pairs)))
    return min(tries)


def _parents(tree: Node) -> list[int]:
    sizes = [_size(node) for node in _walk(tree)]
    return [max((j for j in range(i) if j + sizes[j] > i), default=-1) for i in range(len(sizes))]


@settings(max_examples=200, deadline=None)
@given(TREES, TREES)
def test_no_mapping_has_fewer_edits_nor_keeps_more_at_as_many(old: Node, new: Node) -> None:
    old, new = ("r", old[1]), ("r", new[1])
    mapping = _map(old, new)
    assert (mapping.cost, -int((mapping.nodes >= 0).sum())) == _best(old, new)


@settings(max_examples=200, deadline=None)
@given(TREES, TREES, st.sampled_from([0, 5, 20, MANY]))
def test_a_mapping_is_top_down_in_order_and_of_identical_nodes_at_any_limit(
    old: Node, new: Node, max_cells: int
) -> None:
    old, new = ("r", old[1]), ("r", new[1])
    nodes = _map(old, new, max_cells).nodes
    labels = [[label for label, _ in _walk(tree)] for tree in (old, new)]
    parents = _parents(old), _parents(new)
    mapped = [(i, int(j)) for i, j in enumerate(nodes) if j >= 0]
    assert mapped[0] == (0, 0)
    assert [j for _, j in mapped] == sorted({j for _, j in mapped})
    for i, j in mapped:
        assert labels[0][i] == labels[1][j]
        assert i == 0 or nodes[parents[0][i]] == parents[1][j]


@settings(deadline=None)
@given(TREES, st.sampled_from([0, MANY]))
def test_a_tree_is_mapped_onto_itself_whole(tree: Node, max_cells: int) -> None:
    mapping = _map(tree, tree, max_cells)
    assert mapping.cost == 0
    assert (mapping.nodes == np.arange(_size(tree))).all()


def test_nothing_is_mapped_below_nodes_that_differ() -> None:
    # Restricted top-down mapping: de Castro Reis et al., quoted in seed 000, definition 1.3.3.
    old = _node("r", _node("t", _node("x"), _node("y")))
    new = _node("r", _node("d", _node("x"), _node("y")))
    assert _kept(old, new) == "r"
    assert _map(old, new).cost == 5  # one replaced, two deleted, two inserted


def test_nodes_with_the_same_label_are_mapped_through_to_what_they_hold() -> None:
    old = _node("r", _node("d", _node("x"), _node("m")), _node("f"))
    new = _node("r", _node("n"), _node("d", _node("y"), _node("m")), _node("f"))
    assert _kept(old, new) == "rdmf"
    assert _map(old, new).cost == 2  # n is inserted, x replaced by y


def test_a_replacement_costs_less_than_a_deletion_and_an_insertion() -> None:
    # Keeping x would take four edits, replacing all three nodes takes three.
    old = _node("r", _node("p"), _node("q"), _node("x"))
    new = _node("r", _node("x"), _node("s"), _node("t"))
    assert _map(old, new).cost == 3
    assert _kept(old, new) == "r"


def test_of_two_mappings_with_as_many_edits_the_one_that_keeps_more_is_taken() -> None:
    old = _node("r", _node("p"), _node("x"))
    new = _node("r", _node("x"), _node("s"))
    assert _map(old, new).cost == 2
    assert _kept(old, new) == "rx"


def test_trees_with_different_roots_have_nothing_in_common() -> None:
    assert _kept(_node("a", _node("x")), _node("b", _node("x"))) == ""


def test_a_tree_without_nodes_has_nothing_in_common_with_any() -> None:
    empty = Outline(np.empty(0, np.uint64), np.empty(0, np.int64))
    assert len(map_trees(empty, _outline(_node("a")), MANY).nodes) == 0
    assert (map_trees(_outline(_node("a")), empty, MANY).nodes == -1).all()


def test_beyond_the_limit_equal_children_are_still_found_in_order() -> None:
    # One row of new entries in front: no end is equal, and the limit forbids an exact alignment.
    old = _node("r", *(_node("a", _node(letter)) for letter in "bcdefgh"))
    new = _node("r", *(_node("a", _node(letter)) for letter in "xybcdefghz"))
    assert (_map(old, new, max_cells=0).nodes >= 0).all()


def test_beyond_the_limit_what_changed_places_is_mapped_in_order() -> None:
    old = _node("r", *map(_node, "abcdef"))
    new = _node("r", *map(_node, "fxacbdey"))
    nodes = _map(old, new, max_cells=0).nodes
    assert nodes.tolist() in ([0, 3, -1, 4, 6, 7, -1], [0, 3, 5, -1, 6, 7, -1])


def _tree(html: str) -> Tree:
    return parse(Page(html)).tree


def _page(number: int, extra: str = "") -> str:
    return (
        f"<ul><li>Home</li><li>News</li></ul>{extra}<h1>Harvest {number}</h1>"
        f"<p>In year {number} rye grew.</p><footer>All rights reserved</footer>"
    )


def _learn(method: Rtdm, *pages: str) -> Memory:
    memory = Memory()
    for html in pages:
        memory = method.learn(memory, _tree(html))
    return memory


def _found(memory: Memory, html: str) -> list[str]:
    """The texts of a page that are called template."""
    tree = _tree(html)
    scores = Rtdm().score(memory, tree)
    return [tree.text(i) for i in range(len(tree)) if tree.is_text[i] and scores[i] > 0.5]


MENU = ["Home", "News", "All rights reserved"]


def test_the_template_is_what_the_pages_have_in_common() -> None:
    memory = _learn(Rtdm(), *map(_page, range(3)))
    assert _found(memory, _page(2)) == MENU


def test_the_template_is_found_in_pages_never_seen() -> None:
    memory = _learn(Rtdm(), *map(_page, range(3)))
    assert _found(memory, _page(99, "<div>Closed on Monday</div>")) == MENU


def test_there_is_no_opinion_on_the_first_page() -> None:
    assert np.isnan(Rtdm().score(_learn(Rtdm(), _page(0)), _tree(_page(0)))).all()


def test_text_that_one_page_of_the_sample_lacks_is_not_template() -> None:
    banner = "<div>We use cookies</div>"
    memory = _learn(Rtdm(), _page(0, banner), _page(1, banner))
    assert "We use cookies" in _found(memory, _page(5, banner))
    memory = Rtdm().learn(memory, _tree(_page(2)))
    assert _found(memory, _page(5, banner)) == MENU


def test_behind_the_sample_the_template_stays_as_it_is() -> None:
    method = Rtdm(sample_pages=2)
    memory = _learn(method, _page(0), _page(1))
    after = method.learn(memory, _tree("<p>Another world"))
    assert after.pages == 3
    assert after.sequences == memory.sequences
    assert _found(after, _page(7)) == MENU


@pytest.mark.parametrize("html", ["", "<p hidden>x", "<img src=a.png>"])
def test_a_page_without_text_does_not_wipe_the_template_out(html: str) -> None:
    memory = _learn(Rtdm(), _page(0), html, _page(1), html)
    assert memory.pages == 4
    assert _found(memory, _page(2)) == MENU


@pytest.mark.parametrize(("min_kept", "expected"), [(0.3, MENU), (0.0, [])])
def test_a_page_of_another_kind_is_merged_only_if_that_is_wanted(
    min_kept: float, expected: list[str]
) -> None:
    method = Rtdm(min_kept=min_kept)
    memory = _learn(method, _page(0), _page(1), "<pre>Not found</pre>")
    assert memory.pages == 3
    assert _found(memory, _page(2)) == expected


def test_an_image_is_identical_only_with_all_its_attributes() -> None:
    pages = [f"<img src=logo.png><p>{n}</p><img src={n}.png>" for n in range(3)]
    tree = _tree(pages[2])
    scores = Rtdm().score(_learn(Rtdm(), *pages), tree)
    images = [i for i in range(len(tree)) if tree.name(i) == "img"]
    assert scores[images].tolist() == [1.0, 0.0]


def test_an_element_is_identical_whatever_its_attributes() -> None:
    pages = [f'<ul><li class="n{n}">Home</li></ul><p>{n}</p>' for n in range(3)]
    assert _found(_learn(Rtdm(), *pages), pages[2]) == ["Home"]


def test_a_text_that_reads_like_a_tag_is_no_element() -> None:
    memory = _learn(Rtdm(), "<div>p</div>x", "<div>p</div>y")
    tree = _tree("<div><p></p></div>z")
    node = next(i for i in range(len(tree)) if tree.name(i) == "p")
    assert Rtdm().score(memory, tree)[node] == 0.0


def test_the_memory_never_grows_beyond_the_first_page() -> None:
    sizes = []
    memory = Memory()
    for number in range(6):
        memory = Rtdm().learn(memory, _tree(_page(number, f"<div>{number}</div>" * number)))
        sizes.append(memory.size_bytes)
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] <= 16 * len(_tree(_page(0))) + 8


def test_of_a_large_page_only_the_first_nodes_are_kept_and_still_found() -> None:
    method = Rtdm(max_nodes=5)
    memory = _learn(method, _page(0), _page(1))
    assert len(memory.sequences["labels"]) <= 5
    assert _found(memory, _page(2)) == ["Home"]


def test_memories_do_not_add_up() -> None:
    memory = _learn(Rtdm(), _page(0))
    with pytest.raises(StateError):
        memory.plus(memory)


def test_the_same_pages_give_the_same_memory() -> None:
    pages = [_page(n, f"<div>{n % 3}</div>") for n in range(6)]
    assert dump(_learn(Rtdm(), *pages), "rtdm") == dump(_learn(Rtdm(), *pages), "rtdm")


def test_long_lists_of_different_entries_are_mapped_within_the_limit() -> None:
    pages = [
        "<p>menu</p><ul>" + "".join(f"<li><a>{n * k}</a></li>" for k in range(4000)) + "</ul>"
        for n in (1, 3)
    ]
    assert "menu" in _found(_learn(Rtdm(), *pages), pages[1])


def test_a_page_as_deep_as_any_is_mapped_without_recursion() -> None:
    pages = ["<div>" * 600 + f"menu<p>{n}</p>" for n in range(3)]
    assert _found(_learn(Rtdm(), *pages), pages[2]) == ["menu"]


@pytest.mark.parametrize(
    "setting", [{"sample_pages": 1}, {"min_kept": 1.1}, {"max_cells": -1}, {"max_nodes": 0}]
)
def test_impossible_settings_are_refused(setting: dict[str, float]) -> None:
    with pytest.raises(SettingError, match="rtdm"):
        Rtdm(**setting)  # type: ignore[arg-type]
