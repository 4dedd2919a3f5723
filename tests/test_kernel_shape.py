"""Markdown by way of the kernel's HTML: the same as with the parser's document put into shape."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
import turbohtml
from hypothesis import example, given, settings
from hypothesis import strategies as st

import dehusk.page.parse as parsing
from dehusk.answer import render
from dehusk.answer.label import label
from dehusk.answer.render import shape
from dehusk.answer.render.nodes import LabelArray
from dehusk.page import tags
from dehusk.page.page import Page
from dehusk.page.urls import base_of
from dehusk.settings import Limits
from dehusk_bench.samples import KINDS, sample_site
from odd_pages import ODD_PAGES
from pages_to_scan import HARD, HOSTILE, PIECES
from twins import random_scores, the_kernel, without

_TWINS = ("as_markdown", "plan", "groups", "marks", "addresses")
_URLS = (
    None, "http://h.example", "https://h.example/a/b/c?q#f", "http://h.example//x/", "file:a",
    "http://h.example/a b/c>.html",
)  # fmt: skip


def _shown(html: str, seed: int, limits: Limits) -> tuple[parsing.ParsedPage, LabelArray]:
    """A page, and labels: by chance, or with seed 0 all that is shown as content."""
    parsed = parsing.parse(Page(html), limits)
    if not seed:
        return parsed, np.where(parsed.tree.shown, 0, 2).astype(np.int8)
    return parsed, label(parsed.tree, random_scores(len(parsed.tree), seed)).labels


def assert_same_markdown(html: str, url: str | None, seed: int, limits: Limits = Limits()) -> None:
    the_kernel()

    def written() -> str:
        parsed, labels = _shown(html, seed, limits)
        return render.markdown(parsed.tree, parsed.document, labels, url)

    found = written()
    with without("dehusk.answer.render.as_markdown"):
        assert found == written()
    with ExitStack() as stack:
        for name in _TWINS:
            stack.enter_context(without(f"dehusk.answer.render.{name}"))
        assert found == written()


def is_shaped(html: str, seed: int = 0) -> bool:
    """Does the kernel shape the page itself?"""
    parsed, labels = _shown(html, seed, Limits())
    base = base_of(parsed.tree, None)
    return shape.shaped(the_kernel(), parsed.tree, labels, base) is not None


_TAGS = (
    "<table>", "</table>", "<tr>", "<td>", "<th>", "<thead>", "<tbody>", "<caption>", "</td>",
    "<td colspan=3>", "<td rowspan=2>", "<th rowspan=2 colspan=2>", "<table role=presentation>",
    "<dl>", "<dt>", "<dd>", "</dl>", "<div><dt>", "<pre>", "</pre>", "<pre>\n\n", "<code>",
    "</code>", "<kbd>", "<br>", "<br><br>", "<p>", "<div>", "</div>", "<b>", "</b>", "<strong>",
    "<i>", "</i>", "<em>", "</em>", "<del>", "</del>", "<s>", "<h2>", "</h2>", "<a href=/x>",
    "<a href=../y#z:q()>", "</a>", "<a href='#x'>¶</a>", "<img src=a.png alt='x  y'>",
    "<img srcset='b.png 2x, c' alt=q>", "<img alt=' only '>", "<img data-src=' /j.png ' width=1>",
    "<ul>", "</ul>", "<ol start=3>", "<ol start=-1>", "</ol>", "<li>", "<li value=4>",
    "<option value=3>", "<select>", "</select>", "<button>", "</button>", "<center>", "<form>",
    "<textarea>", "</textarea>", "<xmp>", "</xmp>", "<sup>2</sup>", "<sup>10<!--x--></sup>",
    "<sup>", "</sup>", "<div style='white-space: pre'>", "<span style='WHITE-SPACE:pre-wrap'>",
    "<input type=checkbox checked>", "<!-- c -->", "<blockquote>", "</blockquote>", "<q>", "</q>",
    "<ruby>a<rt>b</rt></ruby>", "<nobr>", "<font>", "<x-y>", "</x-y>", "<hr>", "<wbr>",
    "<details><summary>", "<pre class='brush: c'>", "<div class='highlight-python'>",
    "<code class=language-js>", "<object>", "<marquee>", "<label>", "<figure>", "<section>",
    "<address>", "<dir>", "<fieldset>", "<p hidden>t</p>",
)  # fmt: skip
_TEXTS = (
    "word ", "a", "1", "é", " ", "\n", "&nbsp;", "&amp;lt;", "&lt;x&gt;", "\\", "_x_", "1. ", "# ",
    "- ", "`", "|", "*", "٣", "¶", "\ufdf2",
)  # fmt: skip
_RARE = (
    "&#13;", "\ufdd0", "<svg>", "</svg>", "<math>", "<body>", "<frameset>", "<template>",
    "<noscript>", "<plaintext>", "<rp>", "\ud800",
)  # fmt: skip


@example("<em><!-- c --><ins><blockquote><pre>x", None, 0)
@example("<ol><label><option value=3>a", None, 0)
@example("<pre><code class=language-c>x</code><!-- c --></pre>", None, 0)
@example("<ul><li><input type=checkbox checked>a</ul>", None, 0)
@example("<p>a&lt;<a href=x> </a>b", None, 0)
@settings(max_examples=600)
@given(
    st.lists(st.sampled_from(_TAGS + _TEXTS * 3), max_size=40).map("".join),
    st.sampled_from(_URLS),
    st.integers(0, 9),
)
def test_the_kernel_shapes_any_mixture_as_its_twin_does(
    html: str, url: str | None, seed: int
) -> None:
    assert_same_markdown(html, url, seed)


@settings(max_examples=200)
@given(
    st.lists(st.sampled_from(_TAGS + _TEXTS + _RARE), max_size=30).map("".join)
    | st.lists(PIECES, max_size=12).map("".join),
    st.integers(0, 9),
    st.sampled_from((5, 512)),
)
def test_the_kernel_shapes_odd_mixtures_as_its_twin_does(
    html: str, seed: int, max_depth: int
) -> None:
    assert_same_markdown(html, _URLS[2], seed, Limits(max_depth=max_depth))


@pytest.mark.parametrize("html", [*ODD_PAGES, *HARD.values()])
def test_the_kernel_shapes_hard_pages_as_its_twin_does(html: str) -> None:
    for seed in range(3):
        assert_same_markdown(html, _URLS[2], seed)


@pytest.mark.parametrize("html", HOSTILE.values(), ids=HOSTILE.keys())
def test_the_kernel_shapes_hostile_pages_as_its_twin_does(html: str) -> None:
    assert_same_markdown(html, _URLS[2], 0, Limits(max_nodes=2_000_000))


@pytest.mark.parametrize("kind", KINDS)
def test_the_kernel_shapes_sample_sites_by_itself_and_as_its_twin_does(kind: str) -> None:
    for page in sample_site(kind, pages=2):
        html = str(page.page.html)
        assert is_shaped(html, 2)
        assert_same_markdown(html, page.page.url, 2)


@pytest.mark.parametrize(
    "html",
    [
        "<li>a<center><li>b",
        "<table><tr><td><a href=x>a<table><tr><td><a href=y>b",
        "<p><svg><text>a</text></svg>",
        "<p>a&#13;b",
        "<pre>a&#13;b</pre>",
        "<div style='white-space:pre&#13;'>a",
        "<dt>a<center><dd>b",
        "<div>" * 450 + "a",
    ],
)
def test_what_would_be_read_in_another_way_than_it_was_written_is_left_to_the_twin(
    html: str,
) -> None:
    assert not is_shaped(html)
    assert_same_markdown(html, None, 0)


@pytest.mark.parametrize(
    "html",
    [
        "<p>a<br><br>b<button>c<div>d</div></button>",
        "<p>a<code>b<br>c</code><select><option>d<option>e</select>",
        "<p>a<table><tr><td>b<td>c<tr><td>d<td>e</table>",
        "<dl><dt>a<dd>b<dd><p>c</dl>",
        "<div><dt>a<dd>b</div>",
        "<noscript><p>a<table><tr><td>b</table></noscript>",
        "<a href=/x><h2>a</h2></a><p><b>a</b><b>b</b>",
        "<table><tr><td colspan=2>a<tr><td rowspan=2>b<td>c<tr><td>d</table>",
        "<ul><li><p>a<ul><li>b</ul></ul><ol><li value=3>c</ol>",
    ],
)
def test_what_an_html_parser_would_not_allow_in_a_paragraph_is_shaped(html: str) -> None:
    assert is_shaped(html)
    assert_same_markdown(html, _URLS[1], 0)


_PARAGRAPHS = st.recursive(
    st.sampled_from(("word", " ", "1. a", "- b", "# c", "<br>", "<img src=i alt=j>", "`", "|")),
    lambda inner: st.tuples(
        st.sampled_from(("div", "x-p", "x-p", "li", "ul", "ol", "b", "em", "a", "h2", "q", "pre")),
        st.lists(inner, max_size=4).map("".join),
    ).map(lambda pair: "<{0}>{1}</{0}>".format(*pair)),
    max_leaves=25,
)


@settings(max_examples=300)
@given(st.lists(_PARAGRAPHS, max_size=5).map("".join))
def test_a_paragraph_is_the_same_to_the_markdown_writer_as_a_div(html: str) -> None:
    document = turbohtml.parse("<body>" + html)
    paragraphs = document.select("x-p")
    for element in paragraphs:
        element.tag = "p"
    written = document.to_markdown()
    for element in paragraphs:
        element.tag = "div"
    assert document.to_markdown() == written


def test_arrays_that_do_not_fit_are_refused() -> None:
    kernel = the_kernel()
    tree = parsing.parse(Page("<ul><li>a<p>b</ul>")).tree
    labels = np.zeros(len(tree), np.int8)
    known = [
        tree.tag, tree.parent, tree.end, tree.start, tree.stop, tree.close, tree.text_length,
        tree.shown, tree.raw, labels,
    ]  # fmt: skip
    tables = list(shape.TABLES)
    moved = (np.frombuffer(tables[1], np.int16) + 1).tobytes()

    def call(source: bytes, tables: list[Any], arrays: list[Any]) -> object:
        return kernel.shape(
            str, str, str, str, b"", b"", b"", source, b"", b"", *tables, *arrays
        )  # fmt: skip

    assert isinstance(call(tree.source, tables, known), str)
    wrong_tag, wrong_end = tree.tag.copy(), tree.end.copy()
    wrong_tag[2], wrong_end[2] = len(tags.NAMES), 99
    for source, given_tables, arrays in (
        (tree.source[:9], tables, known),
        (tree.source, tables, [*known[:-1], labels[1:]]),
        (tree.source, tables, [wrong_tag, *known[1:]]),
        (tree.source, tables, [*known[:2], wrong_end, *known[3:]]),
        (tree.source, [tables[0][1:], *tables[1:]], known),
        (tree.source, [tables[0], moved, *tables[2:]], known),
        (tree.source, [*tables[:3], tables[3][1:]], known),
    ):
        with pytest.raises(ValueError, match=r"shape|draft"):
            call(source, given_tables, arrays)
