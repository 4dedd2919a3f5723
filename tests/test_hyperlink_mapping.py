"""When nodes are equal and pages map: chapter 3 of seed 000."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dehusk.methods.papers.hyperlink import Hyperlink, mapping
from dehusk.methods.papers.hyperlink.equality import (
    Kind,
    Register,
    Weights,
    children_probability,
    kind_probability,
    overlap,
    position_probability,
)
from dehusk.methods.papers.hyperlink.mapping import Mapper, Rules
from dehusk.methods.papers.hyperlink.vote import (
    find_atypical,
    make_scores,
    mapped_nodes,
    same_nodes,
)
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Flags, Tree

RULES = Hyperlink().rules
WEIGHTS = RULES.weights
FIRST_WEIGHTS = Weights(0.4, 0.4, 0.1, 0.1, 0.8, 0.25, 1.0)
"""Those from which section 5.2.3 starts; example 3.2.5 uses them."""


def _tree(html: str) -> Tree:
    return parse(Page(html)).tree


def _rules(threshold: float = 0.3, *, ordered: bool = True) -> Rules:
    return Rules(WEIGHTS, threshold, ordered)


def _mapped_tags(html: str, other: str, rules: Rules = RULES) -> list[str]:
    tree = _tree(html)
    mapped = Mapper(tree, rules).map(_tree(other))
    return [tree.name(int(node)) for node in np.flatnonzero(mapped >= 0)]


def test_the_weights_are_those_of_000_section_5_2_3() -> None:
    assert (WEIGHTS.classes, WEIGHTS.position) == (0.5, 0.2)
    assert (WEIGHTS.attributes, WEIGHTS.children) == (0.2, 0.1)
    assert 0.75 < WEIGHTS.not_classes < 1
    assert (WEIGHTS.not_attributes, WEIGHTS.not_children) == (0.25, 1.0)


@pytest.mark.parametrize("other_count", [4, 5, 7, 20])
def test_the_positions_of_000_example_3_2_3_are_certain(other_count: int) -> None:
    """The fourth from the left and first from the right, on a page with more children."""
    assert position_probability(4, 4, 4, other_count) == 1
    assert position_probability(4, 4, other_count, other_count) == 1


@pytest.mark.parametrize("other_count", [5, 6, 8, 20])
def test_the_positions_of_000_example_3_2_4_are_certain(other_count: int) -> None:
    """The fourth from the left and second from the right."""
    assert position_probability(4, 5, 4, other_count) == 1
    assert position_probability(4, 5, other_count - 1, other_count) == 1


def test_positions_are_less_likely_the_farther_they_are() -> None:
    assert [position_probability(1, 4, place, 4) for place in (1, 2, 3, 4)] == [1, 0.75, 0.5, 0.25]
    assert [position_probability(4, 4, place, 6) for place in (1, 2, 3, 4)] == [0.25, 0.5, 0.75, 1]


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 8), st.integers(0, 8))
def test_position_probability_does_not_care_which_page_comes_first(
    count: int, other_count: int, place: int, other_place: int
) -> None:
    place, other_place = place % count + 1, other_place % other_count + 1
    found = position_probability(place, count, other_place, other_count)
    assert found == position_probability(other_place, other_count, place, count)
    assert 0 <= found <= 1


def test_the_sum_of_000_example_3_2_5_is_0_912_with_its_printed_parts() -> None:
    parts = 0.4 * 1 + 0.1 * 0.66 + 0.1 * 0.66 + 0.4 * 0.95
    assert parts == pytest.approx(0.912)


def test_by_the_definition_the_nodes_of_000_example_3_2_5_are_more_alike() -> None:
    """Definition 3.2.1 compares the names of attributes, which are the same three here."""
    names = frozenset(("float", "color", "background-color"))
    node = Kind("div", frozenset(("Author",)), names)
    by_kind = kind_probability(node, node, FIRST_WEIGHTS)
    assert by_kind == pytest.approx(0.4 * 1 + 0.1 * 1)
    whole = by_kind + 0.1 * children_probability(2, 3, 1.0) + 0.4 * 0.95
    assert whole == pytest.approx(0.4 + 0.1 + 0.1 * 2 / 3 + 0.4 * 0.95)


def test_what_neither_node_has_counts_by_000_definition_3_2_2() -> None:
    assert overlap((), (), 0.8) == 0.8
    assert overlap("a", (), 0.8) == 0
    assert overlap("ab", "bc", 0.8) == pytest.approx(1 / 3)
    assert children_probability(0, 0, 1.0) == 1
    assert children_probability(0, 3, 1.0) == 0
    assert kind_probability(Kind("div"), Kind("p"), WEIGHTS) < 0


def test_an_id_makes_nodes_equal_and_a_missing_one_does_not() -> None:
    strict = _rules(0.99)
    same = "<html id=r><body id=b><div id=x class=a></div><p class=a></p>"
    other = "<html id=r><body id=b><div id=x class=z><i></i></div><p class=z></p>"
    assert _mapped_tags(same, other, strict) == ["html", "body", "div"]


def test_nodes_of_other_tags_never_map_not_even_with_the_same_id() -> None:
    assert _mapped_tags("<div id=x></div>", "<p id=x></p>", _rules(0.0)) == ["html", "head", "body"]


def test_text_nodes_are_nodes_and_map_by_their_place() -> None:
    """Definition 3.2.1 speaks of every node of a DOM tree, and a text has no trait but its place.

    That is why the paper's equality calls parallel content template.
    """
    tree = _tree("<p>In the beginning</p>")
    mapped = Mapper(tree, RULES).map(_tree("<p>At the end</p>"))
    assert (mapped >= 0).all()


def test_a_page_whose_root_differs_maps_nowhere_by_000_algorithm_3() -> None:
    tree = _tree("<html class=a><body>x")
    assert (Mapper(tree, _rules(0.6)).map(_tree("<html class=b><body>x")) == -1).all()


def test_order_is_kept_only_with_activate_position() -> None:
    html, other = "<b id=x></b><i id=y></i>", "<i id=y></i><b id=x></b>"
    assert _mapped_tags(html, other, _rules()) == ["html", "head", "body", "b"]
    unordered = _mapped_tags(html, other, _rules(ordered=False))
    assert unordered == ["html", "head", "body", "b", "i"]


def test_of_equally_good_pairs_the_first_of_the_key_page_maps_to_the_first() -> None:
    tree, other = _tree("<p></p>"), _tree("<p></p><p></p><p></p>")
    mapped = Mapper(tree, RULES).map(other)
    first = next(node for node in range(len(other)) if other.name(node) == "p")
    assert mapped[-1] == first


Probability = Callable[[int, int], float]


def _literal_3_3_1(
    ours: list[int], theirs: list[int], probability: Probability, threshold: float
) -> set[tuple[int, int]]:
    """Definition 3.3.1 as it is printed; of equal pairs the first in document order."""
    best = max(
        ((probability(a, b), -a, -b) for a in ours for b in theirs), default=(threshold, 0, 0)
    )
    if best[0] <= threshold:
        return set()
    one, other = -best[1], -best[2]
    before = ([a for a in ours if a < one], [b for b in theirs if b < other])
    behind = ([a for a in ours if a > one], [b for b in theirs if b > other])
    return (
        {(one, other)}
        | _literal_3_3_1(*before, probability, threshold)
        | _literal_3_3_1(*behind, probability, threshold)
    )


def _literal_mapping(tree: Tree, other: Tree, threshold: float) -> set[tuple[int, int]]:
    """Algorithm 3 with definition 3.3.1, node by node."""
    register = Register()
    ours, theirs = register.traits(tree), register.traits(other)

    def probability_in(parent: int, other_parent: int) -> Probability:
        siblings = ours.children_of(parent).tolist()
        others = theirs.children_of(other_parent).tolist()

        def probability(node: int, target: int) -> float:
            by_kind = kind_probability(
                register.kinds[ours.kind[node]], register.kinds[theirs.kind[target]], WEIGHTS
            )
            if by_kind < 0:
                return by_kind
            if ours.id[node] and ours.id[node] == theirs.id[target]:
                return 1.0
            position = position_probability(
                siblings.index(node) + 1, len(siblings), others.index(target) + 1, len(others)
            )
            children = children_probability(
                len(ours.children_of(node)), len(theirs.children_of(target)), WEIGHTS.not_children
            )
            return by_kind + WEIGHTS.children * children + WEIGHTS.position * position

        return probability

    found, left = {(0, 0)}, [(0, 0)]
    while left:
        pair = left.pop()
        below = _literal_3_3_1(
            ours.children_of(pair[0]).tolist(), theirs.children_of(pair[1]).tolist(),
            probability_in(*pair), threshold,
        )  # fmt: skip
        found |= below
        left += below
    return found


_ELEMENT = st.recursive(
    st.sampled_from(
        ["<b>x</b>", "<b class=k></b>", "<i id=u></i>", "<i class='k l'>y</i>", "text"]
    ),
    lambda below: st.builds(
        lambda tag, parts: f"<{tag}>{''.join(parts)}</{tag.split()[0]}>",
        st.sampled_from(["div", "div class=k", "section", "div title=t"]),
        st.lists(below, max_size=4),
    ),
    max_leaves=10,
)
_PAGE = st.lists(_ELEMENT, max_size=4).map("".join)


@pytest.mark.slow
@pytest.mark.parametrize("few", [mapping._FEW, 0])
def test_pages_map_as_in_the_printed_definition(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pair by pair, and with arrays."""
    monkeypatch.setattr(mapping, "_FEW", few)

    @given(_PAGE, _PAGE, st.sampled_from([0.0, 0.3, 0.5, 0.7]))
    def check(html: str, other_html: str, threshold: float) -> None:
        tree, other = _tree(html), _tree(other_html)
        mapped = Mapper(tree, _rules(threshold)).map(other)
        pairs = {(int(node), int(mapped[node])) for node in np.flatnonzero(mapped >= 0)}
        assert pairs == _literal_mapping(tree, other, threshold)

    check()


@given(_PAGE, _PAGE, st.booleans())
def test_a_mapping_is_top_down_and_maps_no_two_nodes_to_one(
    html: str, other_html: str, ordered: bool
) -> None:
    """Definitions 1.3.1 and 1.3.2."""
    tree, other = _tree(html), _tree(other_html)
    mapped = Mapper(tree, _rules(ordered=ordered)).map(other)
    targets = mapped[mapped >= 0]
    assert len(np.unique(targets)) == len(targets)
    for node in np.flatnonzero(mapped >= 0)[1:].tolist():
        assert mapped[tree.parent[node]] == other.parent[mapped[node]]


def test_a_page_maps_onto_itself() -> None:
    tree = _tree("<div class=a><p>one<p>two</div>" * 20)
    assert (Mapper(tree, RULES).map(tree) == np.arange(len(tree))).all()


def test_thousands_of_siblings_map_without_looking_at_all_pairs() -> None:
    tree = _tree("".join(f"<p>{number}</p>" for number in range(5000)))
    other = _tree("<h1>new</h1>" + "".join(f"<p>{number}</p>" for number in range(5000)))
    mapped = Mapper(tree, RULES).map(other)
    assert np.count_nonzero(mapped >= 0) >= len(tree) - 10


def test_a_page_of_many_different_start_tags_still_maps_its_equal_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mapping, "_MAX_KIND_PAIRS", 10)
    html = "".join(f"<p class=c{number}></p>" for number in range(100))
    tree = _tree(html)
    mapped = Mapper(tree, _rules(0.5)).map(_tree(html + "<i></i>"))
    assert np.count_nonzero(mapped >= 0) == len(tree)


def test_a_moved_subtree_is_recognised_by_its_hash() -> None:
    menu = "<ul><li>Rye</li><li>Oats</li></ul>"
    tree = _tree(f"<header>{menu}</header><main>x</main>")
    page = _tree(f"<footer>{menu}</footer><main>y</main>")
    mapper = Mapper(tree, RULES)
    rye = next(node for node in range(len(tree)) if tree.is_text[node] and tree.text(node) == "Rye")
    assert not mapped_nodes(mapper, tree, page, moved=False)[rye]
    assert mapped_nodes(mapper, tree, page, moved=True)[rye]


def test_a_small_subtree_elsewhere_is_not_taken_for_the_same() -> None:
    tree, page = _tree("<nav><b>Rye</b></nav>"), _tree("<aside><b>Rye</b></aside>")
    assert not mapped_nodes(Mapper(tree, RULES), tree, page, moved=True)[-1]


def test_by_text_a_wrapper_is_what_it_wraps_and_the_root_is_always_the_same() -> None:
    tree = _tree("<html class=a><body class=b><div class=c>Rye <i>Oats</i></div><p>Bread</p>")
    page = _tree("<html class=x><body class=y><p>Oats</p><section>Rye</section>")
    same = same_nodes(tree, page)
    by_name = {tree.name(n): bool(same[n]) for n in range(len(tree)) if not tree.is_text[n]}
    assert by_name == {
        "html": True,
        "head": False,
        "body": False,
        "div": True,
        "i": True,
        "p": False,
    }


def _flags(*rows: str) -> list[Flags]:
    return [np.array([mark == "x" for mark in row]) for row in rows]


def test_a_page_that_lacks_what_all_others_have_is_atypical_by_000_chapter_8() -> None:
    assert find_atypical(_flags("xxxx.", "xxxxx", "x....")) == 2
    assert find_atypical(_flags("xxxx.", "xxx.x", "xx.xx")) is None


def test_of_two_pages_none_is_atypical() -> None:
    assert find_atypical(_flags("xxxx", "....")) is None


def test_a_score_is_above_one_half_for_template_alone() -> None:
    tree = _tree("<b>x</b><i>y</i><script>z</script>")
    votes = np.arange(len(tree), dtype=np.int32) % 4
    is_template = votes >= 2
    scores = make_scores(tree, votes, 3, is_template)
    assert np.isnan(scores[~tree.shown]).all()
    shown = tree.shown
    assert ((scores[shown] > 0.5) == is_template[shown]).all()
    assert scores[shown].min() >= 0
    assert scores[shown].max() <= 1
