"""The estimate of where nodes stand: widths shared, areas added up, nothing out of range."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dehusk.page import tags
from dehusk.page.layout import PAGE_WIDTH, estimate, layout_of
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Layout, Tree

LONG = "Rye and oats were carried to the mill on the hill. " * 20


def _tree(html: str) -> Tree:
    return parse(Page(html)).tree


def _first(tree: Tree, name: str) -> int:
    return int(np.flatnonzero(tree.tag == tags.NUMBERS[name])[0])


def test_what_a_browser_measured_is_taken_as_it_is() -> None:
    tree = _tree("<p>rye")
    side = np.ones(len(tree))
    measured = Layout(side, side, side, side, is_estimate=False)
    assert layout_of(tree.laid_out(measured)) is measured
    assert layout_of(tree).is_estimate


def test_longer_text_takes_more_room() -> None:
    tree = _tree(f"<p>Rye</p><div>{LONG}</div>")
    area = estimate(tree).area
    assert area[_first(tree, "div")] > 3 * area[_first(tree, "p")] > 0


def test_a_box_is_at_least_as_large_as_what_stands_in_it() -> None:
    tree = _tree(f"<main><h1>Mill</h1><p>{LONG}</p><table><tr><td>a<td>{LONG}</table></main>")
    area = estimate(tree).area
    assert (area[np.maximum(tree.parent, 0)] >= area - 1e-6).all()


def test_blocks_follow_each_other_down_the_page() -> None:
    tree = _tree(f"<header>Mill</header><p>{LONG}</p><footer>Imprint</footer>")
    layout = estimate(tree)
    header, middle, footer = (_first(tree, name) for name in ("header", "p", "footer"))
    assert layout.y[header] == 0
    assert layout.y[middle] == pytest.approx(layout.height[header])
    assert layout.y[footer] == pytest.approx(layout.y[middle] + layout.height[middle])
    assert layout.height[0] == pytest.approx(layout.y[footer] + layout.height[footer])


def test_a_menu_beside_the_text_stands_in_a_column_of_its_own() -> None:
    tree = _tree(f"<div><nav><ul><li>Home<li>News</ul></nav><main>{LONG}</main></div>")
    layout = estimate(tree)
    nav, main = _first(tree, "nav"), _first(tree, "main")
    assert layout.width[nav] + layout.width[main] == pytest.approx(PAGE_WIDTH)
    assert layout.width[main] > 2 * layout.width[nav]
    assert layout.x[main] == pytest.approx(layout.width[nav])
    assert layout.y[main] == layout.y[nav]


def test_cells_share_the_width_of_their_row_by_their_text() -> None:
    tree = _tree(f"<table><tr><td>1</td><th>{LONG}</th></tr></table>")
    layout = estimate(tree)
    narrow, wide = _first(tree, "td"), _first(tree, "th")
    assert layout.width[narrow] + layout.width[wide] == pytest.approx(PAGE_WIDTH, rel=0.01)
    assert layout.width[wide] > 10 * layout.width[narrow]


def test_a_declared_size_is_believed_and_fits_its_place() -> None:
    tree = _tree('<img width="300" height="100"><p><svg width="2560" height="200"></svg></p>')
    layout = estimate(tree)
    small, large = _first(tree, "img"), _first(tree, "svg")
    assert (layout.width[small], layout.height[small]) == (300, 100)
    assert (layout.width[large], layout.height[large]) == (PAGE_WIDTH, 100)


def test_what_is_never_shown_takes_no_room() -> None:
    tree = _tree(f"<p>rye</p><script>{LONG}</script><div hidden>{LONG}</div>")
    assert (estimate(tree).area[~tree.shown] == 0).all()


def test_chinese_characters_are_twice_as_wide() -> None:
    tree = _tree("<b>麦</b><i>r</i>")
    layout = estimate(tree)
    assert layout.width[_first(tree, "b")] == 2 * layout.width[_first(tree, "i")]


_TAGS = st.sampled_from(("div", "p", "a", "ul", "li", "table", "tr", "td", "nav", "main", "span"))
_PIECES = st.one_of(
    _TAGS.map(lambda tag: f"<{tag}>"),
    _TAGS.map(lambda tag: f"</{tag}>"),
    st.sampled_from(("Rye. ", LONG, "<img>", "<img width=99999 height=0>", "<select><option>x")),
)


@given(pieces=st.lists(_PIECES, max_size=30))
@settings(max_examples=200)
def test_every_box_of_any_page_is_finite_and_not_negative(pieces: list[str]) -> None:
    tree = _tree("".join(pieces))
    layout = estimate(tree)
    for side in (layout.x, layout.y, layout.width, layout.height):
        assert side.shape == (len(tree),)
        assert np.isfinite(side).all()
        assert (side >= -1e-6).all()
