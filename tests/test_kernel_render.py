"""Labels, text, links, fingerprints and Markdown: the same by the kernel and its twins."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dehusk.page.parse as parsing
from dehusk.answer import render
from dehusk.answer.label import label
from dehusk.answer.render.addresses import addresses
from dehusk.answer.render.groups import groups_of
from dehusk.answer.render.marks import marks_of
from dehusk.answer.render.plan import plan_of
from dehusk.page import tags
from dehusk.page.page import Page
from dehusk.page.tree import Tree
from dehusk.page.urls import base_of
from dehusk.settings import Limits
from dehusk_bench.samples import KINDS, sample_site
from pages_to_scan import HOSTILE
from twins import TEXTS, assert_same_arrays, random_scores, the_kernel, without

_LINKED = (
    "<a href=/x>", "<a href='y z'>", "<a href=#top>", "<a href='#'>", "<a href=a/b.html#c>", "</a>",
    "<a href='//h.example/p'>", "<a href='http://h.example/?a=1&amp;b=\u00e9'>", "<a name=n>",
    "<a href=../up>", "<a href='?q=1'>", "<a href='javascript:x'>", "<a href='/a[1]'>", "<a href>",
    "<a href=' /s\t '>", "<a href='mailto:x'>", "<area href=z alt='Z&nbsp;z'>", "<map>", "<img>",
    "<img alt='a  &lt;b'>", "<svg><a href=s>", "</svg>", "<object>", "<p>", "<td>", "<br>", "<b>",
    "word", " ", "&nbsp;", "\u3000", "\u2003x", "&amp;lt;", "<xmp>&am", "</xmp>", "<div hidden>",
    "</div>", "<table><tr><td>", "</table>", "<base href='/b/'>", "<li>", "\u0085", "\ud800",
    "<a href='../../x?y=/&amp;z#a:b(c)'>", "<a href='../..'>", "<a href='../../../../../a/b'>",
    "<a href=../../>", "<a href='x?'>", "<a href='x#'>", "<a href='x?y?#z#'>", "<a href='x;y'>",
    "<a href=Data:x>", "<a href=JAVASCRIPT:x>", "<a href=blobs:x>", "<a href='a:b[c]'>",
    "<a href=C.d-e+f:g/../h>", "<a href='../é'>", "<a href='x#é'>", "<a href='.x'>",
    "<a href='/%7E.x/./y'>", "<a href='x//y'>", "<a href='&quot;'>", "<a href='HTTP://H.example'>",
)  # fmt: skip
_URLS = (
    None,
    "http://h.example",
    "https://h.example/a/b?q#f",
    "http://h.example//x/",
    "https://h.example/a/b/c/d.html",
    "https://h.example/a;p/b;q?r;s#t",
    "http://h.example/?#",
    "file:a",
    "",
)


@settings(max_examples=600)
@given(
    st.lists(st.sampled_from(_LINKED), max_size=30).map("".join),
    st.sampled_from(_URLS),
    st.integers(0, 2**32),
    st.sampled_from((3, 512)),
)
def test_the_kernel_gives_the_twins_links(
    html: str, url: str | None, seed: int, max_depth: int
) -> None:
    the_kernel()
    tree = parsing.parse(Page(html), Limits(max_depth=max_depth)).tree
    base, nodes = base_of(tree, url), np.flatnonzero(tree.tag == tags.NUMBERS["a"]).tolist()
    leads = addresses(tree, nodes, base)
    with without("dehusk.answer.render.addresses"):
        assert leads == addresses(tree, nodes, base)


def assert_same_plan(tree: Tree, seed: int) -> None:
    the_kernel()
    labels = label(tree, random_scores(len(tree), seed)).labels
    random = np.random.default_rng(seed)
    permalinks, images = (
        np.flatnonzero((tree.tag == tags.NUMBERS[name]) & (random.random(len(tree)) < 0.5)).tolist()
        for name in ("a", "img")
    )
    found = plan_of(tree, labels, permalinks, images)
    with without("dehusk.answer.render.plan"):
        twin = plan_of(tree, labels, permalinks, images)
    assert_same_arrays(found.texts, twin.texts)
    assert_same_arrays(replace(found, texts=None), replace(twin, texts=None))  # type: ignore[arg-type]
    marks, groups = marks_of(tree, labels), groups_of(tree, found.ends, found.kept)
    with without("dehusk.answer.render.marks"), without("dehusk.answer.render.groups"):
        assert marks == marks_of(tree, labels)
        assert_same_arrays(groups, groups_of(tree, found.ends, found.kept))


_PLANNED = (
    *TEXTS, "<hr>", "<img>", "<wbr>", "<input>", "<th>", "<br><br>", "<h2>", "</h2>", "<ul><li>",
    "</ul>", "<tr><td>", "<!--&nbsp;-->", "<svg>", "</svg>", "<option>",
)  # fmt: skip


@settings(max_examples=400)
@given(
    st.lists(st.sampled_from(_PLANNED), max_size=40).map("".join),
    st.integers(0, 2**32),
    st.sampled_from((4, 512)),
)
def test_the_kernel_plans_markdown_as_its_twin_does(html: str, seed: int, max_depth: int) -> None:
    assert_same_plan(parsing.parse(Page(html), Limits(max_depth=max_depth)).tree, seed)


@pytest.mark.parametrize("html", HOSTILE.values(), ids=HOSTILE.keys())
def test_the_kernel_plans_hostile_pages_as_its_twin_does(html: str) -> None:
    assert_same_plan(parsing.parse(Page(html), Limits(max_nodes=2_000_000)).tree, 1)


@pytest.mark.parametrize("kind", KINDS)
def test_the_kernel_plans_sample_sites_as_its_twin_does(kind: str) -> None:
    for page in sample_site(kind, pages=2):
        assert_same_plan(parsing.parse(page.page).tree, 2)


_SHAPED = (
    *_PLANNED, *_LINKED, "<h1>", "</h1>", "<h3 id=x>", "</h3>", "<a href='#x'>¶</a>", "<sup>",
    "<ol start=x>", "<ol reversed>", "</ol>", "<li value=7>", "<dl><dt>", "<dd>", "</dl>", "<code>",
    "</code>", "<pre class=language-c>", "\\_", "_x", "1\\.", "- x", "<em>", "</em>", "<strong>",
    "</strong>", "<td colspan=2>", "<td class=x>", "<th rowspan=3>", "<a href=/t title=t>",
    "<span>", "</span>", "<img src=i.png alt=i>", "<img data-src=/j.png width=1>", "<center>",
)  # fmt: skip
_SHAPERS = ("plan", "groups", "marks", "addresses")


@settings(max_examples=400)
@given(
    st.lists(st.sampled_from(_SHAPED), max_size=40).map("".join),
    st.sampled_from(_URLS),
    st.integers(0, 2**32),
)
def test_the_kernel_gives_the_twins_markdown(html: str, url: str | None, seed: int) -> None:
    the_kernel()

    def written() -> str:
        parsed = parsing.parse(Page(html))
        labels = label(parsed.tree, random_scores(len(parsed.tree), seed)).labels
        return render.markdown(parsed.tree, parsed.document, labels, url)

    found = written()
    with ExitStack() as stack:
        for name in _SHAPERS:
            stack.enter_context(without(f"dehusk.answer.render.{name}"))
        assert found == written()
