"""The method `site-hash` against SiteLevel(θ) of Chakrabarti, Kumar and Punera, WWW 2007."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dehusk.errors import SettingError
from dehusk.memory import Memory, Table
from dehusk.methods.papers.forget import trim
from dehusk.methods.papers.site_hash import SiteHash
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Tree


def _tree(html: str) -> Tree:
    return parse(Page(html)).tree


def _learn(method: SiteHash, *pages: str) -> Memory:
    memory = Memory()
    for html in pages:
        memory = method.learn(memory, _tree(html))
    return memory


def _node(tree: Tree, what: str) -> int:
    """The first text node with this text, or the first element of this tag."""
    return next(
        i
        for i in range(len(tree))
        if (tree.text(i).strip() if tree.is_text[i] else f"<{tree.name(i)}>") == what
    )


def _score(method: SiteHash, memory: Memory, html: str, what: str) -> float:
    tree = _tree(html)
    return float(method.score(memory, tree)[_node(tree, what)])


def _site(count: int, pages: int, node: str = "<div>menu</div>") -> list[str]:
    """Pages of a site, the first so many of them with the node."""
    return [f"{node if n < count else ''}<p>page {n}</p>" for n in range(pages)]


@pytest.mark.parametrize(
    ("share", "pages", "least"),
    [(0.1, 30, 3), (0.1, 100, 10), (0.3, 10, 3), (0.5, 7, 4), (1.0, 5, 5), (0.07, 100, 7)],
)
def test_a_node_is_template_from_a_share_theta_of_pages_on(
    share: float, pages: int, least: int
) -> None:
    # Section 3, step 1: nodes 'that occur on at least θ fraction of pages'.
    method = SiteHash(share=share, min_count=1)
    for count, is_template in ((least - 1, False), (least, True)):
        memory = _learn(method, *_site(count, pages))
        assert (_score(method, memory, "<div>menu</div>", "menu") > 0.5) is is_template
        assert (_score(method, memory, "<div>menu</div>", "<div>") > 0.5) is is_template


def test_the_share_is_ten_percent_unless_told_otherwise() -> None:
    # Sections 5.1 and 6.2: 10 % of the pages of a website.
    assert SiteHash().share == 0.1
    assert SiteHash().pages_needed(200) == 20


def test_a_node_on_few_pages_is_not_template_however_small_the_site() -> None:
    memory = _learn(SiteHash(), *_site(2, 2))
    assert _score(SiteHash(), memory, "<div>menu</div>", "menu") <= 0.5
    memory = _learn(SiteHash(), *_site(3, 3))
    assert _score(SiteHash(), memory, "<div>menu</div>", "menu") > 0.5


def test_by_the_letter_all_of_a_first_page_is_template() -> None:
    method = SiteHash(min_count=1)
    assert _score(method, _learn(method, "<p>x</p>"), "<p>x</p>", "x") > 0.5


def test_a_node_that_stands_on_a_page_twice_counts_once() -> None:
    method = SiteHash(share=0.5, min_count=1)
    memory = _learn(method, "<p>a</p><p>a</p>", "<p>b</p>", "<p>c</p>", "<p>d</p>")
    assert _score(method, memory, "<p>a</p>", "a") <= 0.5


def test_a_node_is_its_tag_and_all_that_is_below_it() -> None:
    method = SiteHash(min_count=2)
    memory = _learn(method, *["<div><b>menu</b><i>one</i></div>"] * 5)
    html = "<div><b>menu</b><i>two</i></div>"
    memory = method.learn(memory, _tree(html))
    assert _score(method, memory, html, "<div>") <= 0.5
    assert _score(method, memory, html, "<b>") > 0.5
    assert _score(method, memory, html, "two") <= 0.5


def test_a_node_is_known_wherever_it_stands() -> None:
    method = SiteHash(min_count=2)
    memory = _learn(method, *["<div><ul><li>menu</ul></div>"] * 5)
    moved = "<section><p>new</p><article><ul><li>menu</ul></article></section>"
    assert _score(method, method.learn(memory, _tree(moved)), moved, "<ul>") > 0.5


def test_attributes_of_anything_but_images_do_not_count() -> None:
    method = SiteHash(min_count=2)
    memory = _learn(method, *[f'<p class="c{n}"><a href="/{n}">menu</a></p>' for n in range(4)])
    assert _score(method, memory, "<p><a>menu</a></p>", "<p>") > 0.5


def test_two_pictures_are_two_nodes() -> None:
    pages = [f'<p><img src="logo.png"></p><div><img src="photo{n}.jpg"></div>' for n in range(5)]
    memory = _learn(SiteHash(), *pages)
    scores = SiteHash().score(memory, _tree(pages[4]))
    images = [i for i in range(len(scores)) if _tree(pages[4]).name(i) == "img"]
    assert scores[images[0]] == 1.0
    assert scores[images[1]] <= 0.5


def test_what_shows_nothing_has_no_score() -> None:
    html = "<p>x</p><hr><div></div><p hidden>y</p>"
    tree = _tree(html)
    scores = SiteHash().score(_learn(SiteHash(), *[html] * 4), tree)
    assert np.isnan(scores[_node(tree, "<hr>")])
    assert np.isnan(scores[_node(tree, "<div>")])
    assert np.isnan(scores[_node(tree, "y")])
    assert scores[_node(tree, "x")] == 1.0


_LEAVES = st.sampled_from(["a", "b", "<img src=a>", "<img src=b>", "<hr>"])
_TREES = st.recursive(
    _LEAVES,
    lambda inner: st.tuples(st.sampled_from(["div", "b"]), st.lists(inner, max_size=3)).map(
        lambda pair: f"<{pair[0]}>{'|'.join(pair[1])}</{pair[0]}>"
    ),
    max_leaves=6,
)


def _content(tree: Tree, node: int) -> object:
    """All that a node says, as nested tuples: what the hash stands for."""
    if tree.is_text[node]:
        return tree.text(node).strip()
    below = [i for i in range(node + 1, int(tree.end[node])) if tree.parent[i] == node]
    source = tree.attributes(node).get("src")
    return (tree.name(node), source, *(_content(tree, i) for i in below))


@settings(max_examples=60, deadline=None)
@given(st.lists(_TREES, min_size=1, max_size=6), st.sampled_from([0.1, 0.34, 0.5, 1.0]))
def test_the_hashes_find_what_comparing_whole_nodes_finds(pages: list[str], share: float) -> None:
    # Section 3, step 1: I+θ, found by brute force.
    trees = [_tree(html) for html in pages]
    on_pages = Counter(
        content
        for tree in trees
        for content in {_content(tree, i) for i in range(len(tree)) if tree.shown[i]}
    )
    method = SiteHash(share=share, min_count=1)
    memory = _learn(method, *pages)
    for tree in trees:
        scores = method.score(memory, tree)
        for node in np.flatnonzero(~np.isnan(scores)).tolist():
            in_set = on_pages[_content(tree, node)] >= share * len(pages) - 1e-9
            assert bool(scores[node] > 0.5) is in_set


def test_memories_add_up() -> None:
    method = SiteHash()
    pages = [f"<div>menu</div><p>{n % 7}</p>" for n in range(20)]
    whole = _learn(method, *pages)
    parts = _learn(method, *pages[:8]).plus(_learn(method, *pages[8:]))
    assert parts.pages == whole.pages
    assert (whole.table("nodes").keys == parts.table("nodes").keys).all()
    assert (whole.table("nodes").count == parts.table("nodes").count).all()


def test_the_table_stays_within_its_limit_and_keeps_the_template() -> None:
    method = SiteHash(max_keys=200)
    memory = Memory()
    for n in range(50):
        page = "<div>menu</div>" + "".join(f"<p>{n} {k}</p>" for k in range(40))
        memory = method.learn(memory, _tree(page))
        assert len(memory.table("nodes")) <= 200
    assert _score(method, memory, "<div>menu</div>", "menu") == 1.0


def test_one_hostile_page_does_not_push_the_template_out() -> None:
    method = SiteHash(max_keys=200)
    memory = _learn(method, *["<div>menu</div><p>x</p>"] * 30)
    memory = method.learn(memory, _tree("".join(f"<p>{k}</p>" for k in range(5000))))
    assert len(memory.table("nodes")) <= 200
    assert _score(method, memory, "<div>menu</div>", "menu") > 0.5


def _table(*rows: tuple[int, int, int]) -> Table:
    """A table of (key, count, last page), in the order of their keys."""
    keys, count, last = zip(*rows, strict=True)
    return Table(np.array(keys, np.uint64), np.array(count, np.uint32), np.array(last, np.uint32))


def test_a_table_below_its_limit_is_left_alone() -> None:
    table = _table((1, 1, 1), (2, 1, 2), (3, 1, 3), (4, 1, 4))
    assert trim(table, 4, 10.0) is table


def test_rare_keys_that_are_long_gone_leave_first() -> None:
    # Worth: 1 + 10·9 = 91, 90 + 10 = 100, 20 + 10 = 30, 25 + 20 = 45, 100 + 10 = 110.
    table = _table((1, 9, 1), (2, 1, 90), (3, 1, 20), (4, 2, 25), (5, 1, 100))
    assert trim(table, 4, 10.0).keys.tolist() == [1, 2, 5]


def test_of_equal_keys_the_smaller_ones_stay() -> None:
    table = _table(*[(key, 1, 1) for key in range(8)])
    assert trim(table, 4, 10.0).keys.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "wrong", [{"share": 0.0}, {"share": 1.1}, {"min_count": 0}, {"max_keys": 3}]
)
def test_impossible_settings_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(SettingError, match="site-hash"):
        SiteHash(**wrong)  # type: ignore[arg-type]
