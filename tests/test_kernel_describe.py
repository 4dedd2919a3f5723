"""What a page says of itself: the same by the kernel and its twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dehusk.page.parse as parsing
from dehusk.answer.describe import describe
from dehusk.answer.describe.stated import read_stated
from dehusk.answer.label import label
from dehusk.page.page import Page
from dehusk.settings import Limits
from dehusk_bench.samples import KINDS, sample_site
from pages_to_scan import HOSTILE
from twins import random_scores, the_kernel, without

_STATING = (
    "<html lang=en-gb>", "<html xml:lang='pt' lang=''>", "<meta name=author content='A &amp; B'>",
    "<meta name='&nbsp;Author ' content=A>", "<meta name='\u3000author' content=A>",
    "<meta property='\t\x1fOG:Title\n' content='T &nbsp; t - Site'>", "<meta content=x>",
    "<meta name=description content=d>", "<meta name=author content>", "<meta name=dat content=x>",
    "<meta property=author name=date http-equiv=content-language content=2024-05-06>",
    "<meta property=og:site_name content=Site>", "<meta itemprop=datePublished content=2021-02-03>",
    "<time pubdate datetime=2020-01-02>x</time>", "<time itemprop='a DATEPUBLISHED' datetime=2019>",
    "<time itemprop=xdatepublished>", "<div itemtype='http://h.example/Review'>",
    "<link rel=canonical href=/c>", "<link rel='x CANONICAL' href='https://h.example/&amp;x'>",
    "<link rel=uncanonical href=x>", "<link rel=canonical>", "<base href=/b/>", "<title>",
    "</title>", "<svg><title>no</title></svg>", "<svg><meta name=author content=S>", "</svg>",
    "<template><meta name=author content=I></template>", "<noscript><meta name=date content=2001>",
    "<h1>", "</h1>", "<h1 hidden>", "<h2>", "</h2>", "<br>", "<p>", "<xmp>&amp;", "</xmp>", "¶",
    "<script type=application/LD+json>{\"author\": \"L\"}</script>", "<script>ld+json</script>",
    "word", " &nbsp; ", " - Site", "&lt;b&gt;", "\u3000", "\u0085", "\ud800", "<body>", "<head>",
    "<meta name='a\"b' =\"name\"=date content=2002>", "<div>", "</div>", "x" * 200,
)  # fmt: skip


def assert_same_description(html: str, seed: int, max_depth: int = 512) -> None:
    the_kernel()
    parsed = parsing.parse(Page(html), Limits(max_depth=max_depth, max_nodes=2_000_000))
    labels = label(parsed.tree, random_scores(len(parsed.tree), seed)).labels
    stated = read_stated(parsed.tree, labels)
    found = describe(parsed.tree, parsed.document, labels, "https://www.site.example/a/b")
    with without("dehusk.answer.describe.stated"):
        assert stated == read_stated(parsed.tree, labels)
        assert found == describe(
            parsed.tree, parsed.document, labels, "https://www.site.example/a/b"
        )


@settings(max_examples=600)
@given(
    st.lists(st.sampled_from(_STATING), max_size=30).map("".join),
    st.integers(0, 2**32),
    st.sampled_from((3, 512)),
)
def test_the_kernel_reads_what_a_page_states_as_its_twin_does(
    html: str, seed: int, max_depth: int
) -> None:
    assert_same_description(html, seed, max_depth)


@pytest.mark.parametrize("html", HOSTILE.values(), ids=HOSTILE.keys())
def test_the_kernel_reads_hostile_pages_as_its_twin_does(html: str) -> None:
    assert_same_description(html, 1)


@pytest.mark.parametrize("kind", KINDS)
def test_the_kernel_reads_sample_sites_as_its_twin_does(kind: str) -> None:
    for page in sample_site(kind, pages=2):
        assert_same_description(str(page.page.html), 2)


def test_the_kernel_refuses_nodes_outside_of_the_page() -> None:
    kernel = the_kernel()
    one = np.zeros(1, np.int32)
    arrays = [one - 1, one + 1, one, one + 9, one, one.astype(np.int16), *[one.astype(np.int8)] * 3]
    with pytest.raises(ValueError, match="outside"):
        kernel.stated(b"", b"<html>", b"\0", *arrays)
    arrays[3] = one + 6
    assert kernel.stated(b"", b"<html>", b"\0", *arrays) == ([], [], [], False, False, "", [])
    with pytest.raises(ValueError, match="not of the size"):
        kernel.stated(b"", b"<html>", b"\0", *arrays[:-1], b"")
