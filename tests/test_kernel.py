"""The compiled kernel and its twins: the same bytes, whatever the page."""

from __future__ import annotations

from contextlib import ExitStack

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dehusk.page.parse as parsing
from dehusk.memory import Memory, Table
from dehusk.methods import auto
from dehusk.methods.auto import Auto
from dehusk.methods.auto.weighing import probability
from dehusk.page.page import Page
from dehusk.page.tree import Tree
from dehusk_bench.samples import KINDS, sample_site
from pages_to_scan import HOSTILE
from twins import TEXTS, assert_same_arrays, the_kernel, without

AUTO = tuple(
    f"dehusk.methods.auto{module}"
    for module in (
        "",
        ".evidence",
        ".judge",
        ".network",
        ".reading",
    )
)


def _judged(trees: list[Tree]) -> list[object]:
    """All that `auto` computes of the pages of a site, one after another."""
    auto._read.forget()
    method, memory = Auto(), Memory()
    found: list[object] = []
    for tree in trees:
        memory = method.learn(memory, tree)
        page = auto._read(tree)
        found += [page.blocks, page.looks, page.places, page.surroundings, page.keys, page.texts]
        found += [memory.tables[name] for name in sorted(memory.tables)]
        if len(page.blocks):
            judgement = method._judge(memory, page)
            found += [judgement, method.score(memory, tree), method.verdict(memory, tree)]
    return found


def assert_same_judgement(pages: list[str]) -> None:
    the_kernel()
    trees = [parsing.parse(Page(html)).tree for html in pages]
    found = _judged(trees)
    with ExitStack() as stack:
        for module in (*AUTO, "dehusk.memory.tables"):
            stack.enter_context(without(module))
        twin = _judged(trees)
    for mine, theirs in zip(found, twin, strict=True):
        if isinstance(mine, np.ndarray):
            assert isinstance(theirs, np.ndarray)
            assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
            assert mine.tobytes() == theirs.tobytes()
        else:
            assert_same_arrays(mine, theirs)


@pytest.mark.parametrize("kind", KINDS)
def test_the_kernel_judges_sample_sites_as_its_twin_does(kind: str) -> None:
    assert_same_judgement([str(page.page.html) for page in sample_site(kind, pages=6)])


_NAMED = (
    "<div class='post Main-menu'>", "<div class='a1 sideBar'>", "<p id=navTop>", "<h1>", "</h1>",
    "<main role=main>", "<ul><li><a href=x>", "</ul>", "<section class='card'><p>", "</section>",
    "<title>a long title of the page</title>", "A long title of ", "Ends here.", "终。", "x" * 90,
    "&nbsp;", 'text class="foot', "\xa0\u2009mixed CASE, 12", "<footer class='\tteaser  more'>",
)  # fmt: skip


@settings(max_examples=150)
@given(
    st.lists(
        st.lists(st.sampled_from(_NAMED) | st.sampled_from(TEXTS), max_size=30).map("".join),
        min_size=1,
        max_size=3,
    )
)
def test_the_kernel_judges_any_mixture_as_its_twin_does(pages: list[str]) -> None:
    assert_same_judgement(pages)


@pytest.mark.parametrize(
    "name", ["nested elements", "unclosed", "entities", "white space", "hidden"]
)
def test_the_kernel_judges_hostile_pages_as_its_twin_does(name: str) -> None:
    assert_same_judgement([HOSTILE[name], HOSTILE[name]])


def test_probabilities_are_those_of_the_exponential_function_to_fifteen_digits() -> None:
    logits = np.concatenate((np.linspace(-40, 40, 20_001), [0.0, -0.0, 30.0, -30.0]))
    found = probability(logits)
    true = 1 / (1 + np.exp(-np.clip(logits, -30, 30)))
    assert np.allclose(found, true, rtol=1e-15, atol=0)
    assert (np.diff(found[:20_001]) >= 0).all()


_SAME = "<div><section><p>The mill stands by the river.<p>It is open all year, but for Sunday.\
<p>Guided tours begin at the door of the old barn.</section></div>"


@settings(max_examples=60)
@given(
    st.lists(
        st.lists(
            st.sampled_from(
                ("<table>", "<tr>", "<td>", "<th>", "</table>", "Weight", "12 kg", "rye and oats",
                 "<p>", "<a href=x>", "</a>", "A long text of the page that goes on and on. ",
                 "<ul>", "<li>", "</ul>", "<dl>", "<dt>", "<dd>", _SAME)
            ),
            max_size=30,
        ).map("".join),
        min_size=5,
        max_size=7,
    )
)  # fmt: skip
def test_the_kernel_judges_tables_lists_and_what_is_the_same_as_its_twin_does(
    pages: list[str],
) -> None:
    assert_same_judgement([page + _SAME for page in pages])


@settings(max_examples=100)
@given(st.lists(st.integers(0, 9), unique=True), st.lists(st.integers(0, 9), unique=True))
def test_the_kernel_adds_tables_up_as_its_twin_does(one: list[int], other: list[int]) -> None:
    the_kernel()
    tables = [
        Table.of_page(np.array(keys, np.uint64), page, sums=np.ones((len(keys), 2), np.uint64))
        for page, keys in ((3, one), (7, other))
    ]
    both, later = tables[0].plus(tables[1]), tables[0].then(tables[1], 5)
    with without("dehusk.memory.tables"):
        assert_same_arrays(both, tables[0].plus(tables[1]))
        assert_same_arrays(later, tables[0].then(tables[1], 5))


def test_the_kernel_refuses_pages_and_tables_that_do_not_fit() -> None:
    kernel = the_kernel()
    page = auto._read(parsing.parse(Page("<p>some text<p>and more")).tree)
    chars, verdict = page.blocks.chars, np.ones(2)
    bad = np.array([0, 9], np.int32)
    with pytest.raises(ValueError, match="lesson"):
        kernel.lesson(
            page.keys, page.texts, bad, page.places, chars, page.surroundings, page.blocks.low,
            page.blocks.high, verdict,
        )  # fmt: skip
    columns = (np.array([2, 1], np.uint64), *np.ones((2, 2), np.uint32), b"")
    with pytest.raises(ValueError, match="rise"):
        kernel.merge(0, 0, *columns, *columns)
    with pytest.raises(ValueError, match="network"):
        kernel.network(page.looks, *[np.ones(3, np.float32)] * 6)
    with pytest.raises(ValueError, match="columns"):
        kernel.read(3, 0, 0, 0, *[b""] * 23)
    with pytest.raises(ValueError, match="columns"):
        kernel.judge(0.0, 1.0, 3, *[b""] * 39)
    with pytest.raises(ValueError, match="judge"):
        kernel.judge(0.0, 1.0, 51, *[np.ones(10)] * 39)
    with pytest.raises(ValueError, match="look"):
        kernel.look(*[page.keys] * 15)
    with pytest.raises(ValueError, match="pool"):
        kernel.pool(page.looks, b"")
    with pytest.raises(ValueError, match="pool"):
        kernel.pool(page.looks, np.ones(3))
    with pytest.raises(ValueError, match="outside of its memory"):
        kernel.pool((page.packed, (3, 2), *page.cut(b"\7")[2:]), chars)
    with pytest.raises(ValueError, match="outside of its memory"):
        kernel.pool((page.packed, (2, 2), b"", b"\0"), chars)
    with pytest.raises(TypeError, match="arrays"):
        kernel.pool(page.cut(b"\7\7\7"))
    with pytest.raises(TypeError, match="pool takes 2 arrays"):
        kernel.pool(page.cut(b"\7"))
    with pytest.raises(ValueError, match="spread"):
        kernel.spread(chars, page.lengths, page.blocks.segments, bad, bad, b"11")


def test_the_kernel_refuses_arrays_that_do_not_fit() -> None:
    kernel = the_kernel()
    tree = parsing.parse(Page("<p>x")).tree
    labels = np.zeros(len(tree), np.int8)
    nodes = (tree.parent, tree.end, tree.start, tree.stop, tree.close, tree.text_length)
    none = np.zeros(0, np.int32)
    for source, pointed in ((tree.source[:9], none), (tree.source, np.array([99], np.int32))):
        with pytest.raises(ValueError, match="draft"):
            kernel.draft(source, b"", b"", tree.tag, *nodes, tree.shown, labels, none, pointed)
    with pytest.raises(ValueError, match="draft"):
        kernel.draft(*[b""] * 11, b"1", none, none)
    with pytest.raises(ValueError, match="groups"):
        kernel.groups(b"", tree.tag, tree.end, tree.shown[1:])
    with pytest.raises(ValueError, match="marks"):
        kernel.marks(8, b"", tree.tag, tree.end, tree.text_length, tree.shown[1:], labels)
    for source, node in ((tree.source[:9], 1), (tree.source, 99)):
        place = np.array([node], np.int32)
        with pytest.raises(ValueError, match="addresses"):
            kernel.addresses(str, b"", b"", b"", source, tree.start, tree.stop, place)
