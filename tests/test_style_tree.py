"""The method `style-tree` against its paper (Yi, Liu and Li, KDD 2003)."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dehusk.errors import SettingError
from dehusk.memory import Memory, dump
from dehusk.methods.papers.style_tree import Importance, StyleTree
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Tree


def _tree(html: str) -> Tree:
    return parse(Page(html)).tree


def _learn(method: StyleTree, *pages: str) -> Memory:
    memory = Memory()
    for html in pages:
        memory = method.learn(memory, _tree(html))
    return memory


def _node(tree: Tree, name: str) -> int:
    """The first node with that tag, or with that text."""
    return next(
        i for i in range(len(tree)) if (tree.text(i) if tree.is_text[i] else tree.name(i)) == name
    )


def _importance(*pages: str, method: StyleTree | None = None) -> tuple[Importance, Tree]:
    """What the pages together say of the last of them."""
    method, tree = method or StyleTree(), _tree(pages[-1])
    return method.importance(_learn(method, *pages), tree), tree


def _composite(name: str, *pages: str, method: StyleTree | None = None) -> float:
    found, tree = _importance(*pages, method=method)
    return float(found.composite[_node(tree, name)])


def _score(name: str, memory: Memory, html: str, method: StyleTree | None = None) -> float:
    tree = _tree(html)
    return float((method or StyleTree()).score(memory, tree)[_node(tree, name)])


def test_node_importance_is_the_entropy_of_the_styles_to_the_base_of_the_pages() -> None:
    # Four pages, three of them with one style, p = 3/4 and 1/4, m = 4.
    pages = ["<div><i>x</i></div>"] * 3 + ["<div><b>x</b></div>"]
    found, tree = _importance(*pages)
    expected = -(0.75 * math.log(0.75, 4) + 0.25 * math.log(0.25, 4))
    assert found.node[_node(tree, "div")] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("styles", "expected"), [(["<i>", "<i>", "<i>"], 0.0), (["<i>", "<b>", "<u>"], 1.0)]
)
def test_node_importance_is_0_for_one_style_and_1_where_each_page_has_its_own(
    styles: list[str], expected: float
) -> None:
    found, tree = _importance(*[f"<div>{style}x</div>" for style in styles])
    assert found.node[_node(tree, "div")] == pytest.approx(expected)


def test_what_only_one_page_has_is_of_importance_1() -> None:
    found, tree = _importance("<div><i>x</i></div>", "<div><b>x</b></div>")
    node = _node(tree, "b")
    assert (found.node[node], found.composite[node], found.highest[node]) == (1.0, 1.0, 1.0)


def test_a_leafs_importance_is_1_less_the_mean_entropy_of_its_features() -> None:
    # 'news' on all of four pages has H = 1, a word of one page H = 0: 1 - 1/5.
    pages = [f"<p>news {word}</p>" for word in ("rye", "oats", "wheat", "barley")]
    assert _composite("news barley", *pages) == pytest.approx(1 - 1 / 5)


def test_a_features_entropy_is_taken_to_the_base_of_the_pages() -> None:
    # Two words on two of four pages each: H = log 2 / log 4 = 1/2.
    pages = ["<p>rye</p>"] * 2 + ["<p>oats</p>"] * 2
    assert _composite("oats", *pages) == pytest.approx(1 / 2)


def test_a_word_counts_once_a_page() -> None:
    assert _composite("rye rye rye", "<p>rye</p>", "<p>rye rye rye</p>") == 0.0


def test_contents_that_never_vary_are_of_importance_0() -> None:
    assert _composite("All rights", *["<p>All rights</p>"] * 7) == 0.0


def test_composite_importance_weighs_an_elements_styles_with_what_is_in_them() -> None:
    # One style, γ = 0.9: 0.1 · 0 + 0.9 · mean of the children.
    pages = [f"<div>menu</div><p>{word}</p>" for word in ("rye", "oats")]
    found, tree = _importance(*pages)
    composite = {name: found.composite[_node(tree, name)] for name in ("div", "p", "body", "html")}
    assert composite["div"] == 0.0
    assert composite["p"] == pytest.approx(0.9 * 1)
    assert composite["body"] == pytest.approx(0.9 * (0 + 0.9) / 2)
    assert composite["html"] == pytest.approx(0.9 * 0.9 * (0 + 0.9) / 2)


def test_composite_importance_with_two_styles_as_worked_out_by_hand() -> None:
    # m = 4, l = 2: <i> on three pages, with the same text, <b> on one.
    pages = ["<div><i>x</i></div>"] * 3 + ["<div><b>y</b></div>"]
    entropy = -(0.75 * math.log(0.75, 4) + 0.25 * math.log(0.25, 4))
    expected = (1 - 0.9**2) * entropy + 0.9**2 * (0.75 * 0 + 0.25 * 1)
    assert _composite("div", *pages) == pytest.approx(expected)


def test_without_attenuation_only_the_styles_count() -> None:
    pages = [f"<p>{word}</p>" for word in ("rye", "oats")]
    assert _composite("p", *pages, method=StyleTree(attenuation=0.0)) == 0.0


def test_an_element_that_holds_content_is_not_template_however_low_its_own_importance() -> None:
    pages = [f"<div>a</div><div>b</div><p>{word}</p>" for word in ("rye", "oats")]
    method = StyleTree(threshold=0.45)
    memory = _learn(method, *pages)
    found, tree = _importance(*pages)
    assert found.composite[_node(tree, "body")] < 0.45
    assert _score("body", memory, pages[1], method) < 0.5
    assert _score("a", memory, pages[1], method) > 0.5


@pytest.mark.parametrize(("threshold", "is_template"), [(0.8, True), (0.79, False)])
def test_importance_at_the_threshold_is_template_and_above_it_is_not(
    threshold: float, is_template: bool
) -> None:
    pages = [f"<p>news {word}</p>" for word in ("rye", "oats", "wheat", "barley")]
    method = StyleTree(threshold=threshold)
    assert (_score("news barley", _learn(method, *pages), pages[3], method) > 0.5) is is_template


@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.9])
def test_a_score_falls_as_importance_rises(threshold: float) -> None:
    method = StyleTree(threshold=threshold)
    scores = []
    for texts in (["a b c d"] * 4, ["a b c d"] * 3 + ["a b c e"], ["a", "b", "c", "d"]):
        pages = [f"<p>{text}</p>" for text in texts]
        scores.append(_score(texts[-1], _learn(method, *pages), pages[-1], method))
    assert scores[0] == 1.0
    assert scores == sorted(scores, reverse=True)
    assert scores[2] == 0.0


def test_a_page_of_its_own_is_content() -> None:
    assert _score("x", _learn(StyleTree(), "<p>x</p>"), "<p>x</p>") == 0.0


def test_an_element_is_the_same_only_at_its_place_in_the_same_style() -> None:
    pages = ["<i>a</i><b>x</b>", "<b>x</b><i>a</i>", "<i>a</i><u>x</u>"]
    found, _ = _importance(*pages)
    assert found.composite[-1] == 1.0


def test_the_root_is_the_same_element_whatever_stands_in_it() -> None:
    pages = ["x", "x", "<frameset><frame src=a></frameset>"]
    found, _ = _importance(*pages)
    expected = -(2 / 3 * math.log(2 / 3, 3) + 1 / 3 * math.log(1 / 3, 3))
    assert found.node[0] == pytest.approx(expected)


def test_scripts_comments_and_white_space_do_not_part_two_styles() -> None:
    pages = [
        "<div><p>x</p></div>",
        "<div> <p>x</p>\n<script>y()</script></div>",
        "<div><!-- z --><p hidden>late</p><p>x</p></div>",
    ]
    found, tree = _importance(*pages)
    assert found.node[_node(tree, "div")] == 0.0
    assert found.composite[_node(tree, "x")] == 0.0


def test_an_image_is_known_by_its_files_name() -> None:
    same = ["<img src=/a/logo.png>", "<img src=../b/logo.png>"]
    assert _composite("img", *same) == 0.0
    assert _composite("img", "<img src=/a/1.png>", "<img src=/a/2.png>") == 1.0


def test_a_links_target_is_a_feature_of_what_stands_in_it() -> None:
    pages = [f"<p><a href=/edit/{n}><b>Edit page</b></a> now</p>" for n in range(2)]
    # Two words on both pages, a target on each: 1 - 2/4.
    assert _composite("Edit page", *pages) == pytest.approx(1 / 2)
    assert _composite(" now", *pages) == 0.0
    without = StyleTree(link_targets=False)
    assert _composite("Edit page", *pages, method=without) == 0.0


def test_an_empty_link_is_known_by_its_target_and_one_without_a_target_by_nothing() -> None:
    pages = [f"<a href=#{n}></a>x" for n in range(2)]
    assert _composite("a", *pages) == 1.0
    assert _composite("x", *["<a name=top>x</a>"] * 2) == 0.0


def test_what_holds_nothing_is_of_importance_0() -> None:
    assert _composite("hr", "<hr>a", "<hr>b") == 0.0


def test_scripts_without_spaces_are_read_by_character() -> None:
    # 猫 on both pages, one other character on each: 1 - 1/3.
    assert _composite("猫鳥", "<p>猫犬</p>", "<p>猫鳥</p>") == pytest.approx(2 / 3)


def test_words_end_at_the_end_of_their_text() -> None:
    pages = ["<p>ab<b>c</b></p>", "<p>ab<b>c</b></p>", "<p>a<b>bc</b></p>"]
    assert _composite("a", *pages) == pytest.approx(1 - math.log(2) / math.log(3) / 2)


@dataclass
class _Element:
    """An element of a style tree as the paper draws it, for comparison."""

    pages: int = 0
    styles: dict[tuple[str, ...], tuple[list[_Element], list[int]]] = field(default_factory=dict)
    words: dict[str, int] = field(default_factory=dict)

    def merge(self, tree: Tree, node: int) -> None:
        self.pages += 1
        children = _children(tree, node)
        names = tuple(tree.name(child) for child in children)
        elements, count = self.styles.setdefault(names, ([_Element() for _ in names], [0]))
        count[0] += 1
        for element, child in zip(elements, children, strict=True):
            element.merge(tree, child)
        if tree.is_text[node]:
            for word in set(re.findall(r"\w+", tree.text(node))):
                self.words[word] = self.words.get(word, 0) + 1

    def composite(self) -> float:
        if self.pages == 1:
            return 1.0
        if set(self.styles) == {()}:
            log_m = math.log(self.pages)
            entropies = [math.log(count) / log_m for count in self.words.values()]
            return 1 - sum(entropies) / len(entropies) if entropies else 0.0
        shares = [count[0] / self.pages for _, count in self.styles.values()]
        means = [
            sum(element.composite() for element in elements) / len(elements) if elements else 0.0
            for elements, _ in self.styles.values()
        ]
        node = -sum(share * math.log(share, self.pages) for share in shares)
        inner = 0.9 ** len(shares)
        return (1 - inner) * node + inner * sum(
            share * mean for share, mean in zip(shares, means, strict=True)
        )

    def highest(self) -> float:
        below = [element.highest() for elements, _ in self.styles.values() for element in elements]
        return max([self.composite(), *below])

    def find(self, tree: Tree, node: int) -> dict[int, _Element]:
        children = _children(tree, node)
        elements, _ = self.styles[tuple(tree.name(child) for child in children)]
        found = {node: self}
        for element, child in zip(elements, children, strict=True):
            found |= element.find(tree, child)
        return found


def _children(tree: Tree, node: int) -> list[int]:
    below = range(node + 1, tree.end[node])
    return [i for i in below if tree.parent[i] == node and tree.shown[i]]


TEXTS = st.sampled_from(["rye", "oats", "rye oats", "wheat", "rye wheat bran", "|"])
HTML = st.recursive(
    TEXTS,
    lambda below: st.tuples(st.sampled_from(["div", "span"]), st.lists(below, max_size=3)).map(
        lambda drawn: f"<{drawn[0]}>{'<hr>'.join(drawn[1])}</{drawn[0]}>"
    ),
    max_leaves=5,
)


@settings(deadline=None)
@given(st.lists(HTML, min_size=1, max_size=6))
def test_every_importance_is_that_of_a_style_tree_built_as_the_paper_says(pages: list[str]) -> None:
    trees = [_tree(f"<body>{html}") for html in pages]
    root, memory = _Element(), Memory()
    for tree in trees:
        root.merge(tree, 0)
        memory = StyleTree().learn(memory, tree)
    for tree in trees:
        found = StyleTree().importance(memory, tree)
        for node, element in root.find(tree, 0).items():
            assert found.composite[node] == pytest.approx(element.composite(), abs=1e-5)
            assert found.highest[node] == pytest.approx(element.highest(), abs=1e-5)


@pytest.mark.parametrize("max_features", [3, 1000])
def test_memories_add_up_whatever_the_sample(max_features: int) -> None:
    method = StyleTree(max_features=max_features)
    pages = [f"<ul><li>a b<li>c</ul><p>{n} {n % 3} {n % 5} x y z</p>" for n in range(12)]
    parts = [pages[:5], pages[5:]]
    one, other = (_learn(method, *part) for part in parts)
    for both in (one.plus(other), other.plus(one)):
        after, whole = method.learn(both, _tree("<b>")), _learn(method, *pages, "<b>")
        for name in ("styles", "features"):
            assert (after.table(name).keys == whole.table(name).keys).all()
            assert (after.table(name).count == whole.table(name).count).all()
        owner, expected = after.table("styles").owner, whole.table("styles").owner
        assert owner is not None
        assert (owner == expected).all()


def test_a_leaf_keeps_so_many_features_and_they_are_a_fair_sample() -> None:
    # 400 words on every page, 100 on each alone: half of the features vary.
    method = StyleTree(max_features=64)
    menu = " ".join(f"menu{n}" for n in range(400))
    pages = [f"<p>{menu} " + " ".join(f"w{n}x{k}" for k in range(100)) for n in range(4)]
    memory = _learn(method, *pages)
    assert len(memory.table("features")) == 64
    assert method.importance(memory, _tree(pages[0])).composite[-1] == pytest.approx(0.5, abs=0.2)


def test_the_tables_stay_within_their_limit_and_the_template_stays_in_them() -> None:
    method = StyleTree(max_keys=100)
    pages = [
        f"<ul><li>Home</li><li>News</li></ul><div>{'<b></b>' * (n % 9)}<p>{n} rye {n * n}</p></div>"
        for n in range(60)
    ]
    memory = Memory()
    for html in pages:
        memory = method.learn(memory, _tree(html))
        assert len(memory.table("styles")) + len(memory.table("features")) <= 100
    assert memory.table("styles").count.max() == 60
    assert _score("Home", memory, pages[-1], method) > 0.5
    assert _score(f"59 rye {59 * 59}", memory, pages[-1], method) < 0.5


def test_the_longest_unseen_elements_leave_first_and_with_their_features() -> None:
    method = StyleTree(max_keys=100)
    pages = [f"<i></i>{'<b></b>' * n}<p>{n}a {n}b {n}c {n}d</p>" for n in range(20)]
    memory = _learn(method, *pages)
    styles = memory.table("styles")
    assert styles.last[styles.count == 1].min() > 10
    held = np.unique(memory.table("features").keys >> np.uint64(28))
    assert np.isin(held, styles.keys >> np.uint64(28)).all()


def test_a_page_larger_than_the_limit_is_content() -> None:
    method = StyleTree(max_keys=50)
    html = "<ul>" + "".join(f"<li>{n}</li>" for n in range(500))
    memory = _learn(method, html, html)
    assert len(memory.table("styles")) + len(memory.table("features")) <= 50
    assert _score("499", memory, html, method) == 0.0


def test_the_same_pages_give_the_same_memory() -> None:
    method = StyleTree(max_keys=60)
    pages = [f"<p>a</p><div>{'<i>x</i>' * n}</div>" for n in range(12)]
    assert dump(_learn(method, *pages), "style-tree") == dump(_learn(method, *pages), "style-tree")


def test_a_page_as_deep_as_any_is_judged_without_recursion() -> None:
    pages = ["<div>" * 600 + f"menu<p>{word}</p>" for word in ("rye", "oats")]
    memory = _learn(StyleTree(), *pages)
    assert _score("menu", memory, pages[1]) > 0.5
    assert _score("oats", memory, pages[1]) < 0.5


@pytest.mark.parametrize(
    "setting",
    [{"threshold": 1.0}, {"attenuation": 1.1}, {"max_features": 0}, {"max_keys": 0}],
)
def test_impossible_settings_are_refused(setting: dict[str, float]) -> None:
    with pytest.raises(SettingError, match="style-tree"):
        StyleTree(**setting)  # type: ignore[arg-type]
