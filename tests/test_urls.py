"""URLs: the fast ways of joining them against the standard library's."""

from __future__ import annotations

import random
import time
from html import escape
from urllib.parse import urljoin, urlsplit

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dehusk.answer.text import links
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.urls import base_of, host_of, is_web

_PARTS = st.sampled_from(
    [
        "a",
        "b.html",
        "..",
        ".",
        "",
        "c-d",
        "~e",
        "%20",
        "x#f",
        "#g",
        "?q=1",
        ";p",
        "x?q=/../&r",
        "x#a:b(c),d/../e",
        "x?y?z#s#t",
        "x;p?q",
    ]
)
_BASES = st.sampled_from(
    [
        "https://grain.example",
        "https://grain.example/",
        "https://grain.example/a/b/c.html?x=/y/z#f",
        "https://grain.example/a//b/",
        "https://grain.example/a/../b/c",
        "http://grain.example:8080/x;y/z",
        "http://grain.example:8080/x/y?",
        "http://grain.example/x/y?z#",
        "http://grain.example/x;/y;?a;b=c,d:e#f",
        "HTTPS://Grain.example/x",
        "https://user@grain.example/x",
    ]
)


@pytest.mark.slow
@settings(max_examples=500)
@given(_BASES, st.lists(_PARTS, min_size=1, max_size=5).map("/".join))
def test_a_link_leads_where_the_standard_library_says(base: str, written: str) -> None:
    tree = parse(Page("<p>x")).tree
    found = base_of(tree, base).absolute(written)
    if written in ("", "#"):
        assert found is None
    else:
        assert found == urljoin(base, written)


@given(_BASES)
def test_a_place_on_the_page_stands_behind_what_the_kernel_is_told(url: str) -> None:
    origin, folder, here = base_of(parse(Page("<p>x")).tree, url).begins()
    assert here.decode() + "#x" == urljoin(url, "#x")
    assert not folder or folder.startswith(origin)


_ORIGINS = st.sampled_from(
    ["http:", "https:", "HTTP:", "ftp:", "//", "/", "Grain.example", "grain_1.example", "é.example",
     "user@", ":80", ":x", ":", "?q", "#f", "[::1]", "[", "\t", " ", "-", "..", "K", "\\"]
)  # fmt: skip


@settings(max_examples=500)
@given(st.lists(_ORIGINS, max_size=6).map("".join))
def test_the_host_is_the_one_that_the_standard_library_finds(url: str) -> None:
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        assert host_of(url) == ""
        assert not is_web(url)
    else:
        assert host_of(url) == host
        assert is_web(url) == (bool(host) and parts.scheme in ("http", "https"))


@pytest.mark.parametrize("written", ["javascript:x", "data:,x", " ", "#", "https://[x"])
def test_what_leads_nowhere_has_no_address(written: str) -> None:
    tree = parse(Page("<p>x")).tree
    assert base_of(tree, "https://grain.example/").absolute(written) is None


def test_links_far_up_from_a_long_base_cost_no_more_than_their_length() -> None:
    tree = parse(Page("<p>x")).tree

    def least(levels: int) -> float:
        base = base_of(tree, "https://grain.example/" + "a/" * levels)
        link = "../" * levels + "x"
        spent = []
        for _ in range(5):
            began = time.process_time()
            assert base.absolute(link) == "https://grain.example/x"
            spent.append(time.process_time() - began)
        return min(spent)

    # Four times as long: a copy of the folder for each level would take sixteen times as much.
    assert least(200_000) <= 8 * least(50_000)


def test_a_base_that_is_longer_than_any_address_is_none() -> None:
    for size, expected in ((1_900, "https://b.example/"), (2_100, "https://a.example/")):
        written = "https://b.example/" + "x" * size + "/"
        tree = parse(Page(f"<base href='{written}'><p>x")).tree
        assert (base_of(tree, "https://a.example/").absolute("y") or "").startswith(expected)


_SIGNS = (
    *("//", "/", "?", "#", ";", ":", "a", "Z", "9", ".", "..", "../", "-", "_", "~", "%20", "é"),
    *("host.example", "https:", "http://", "mailto:", "javascript:", "JavaScript :", "data:"),
    *(" ", "\t", "\n", "\x01", "[", "]", "&", "=", "+", ",", "(", "@", '"', "<", "`", "\\"),
)


@pytest.mark.parametrize(
    "url", ["https://site.example/a/b/c.html", "http://h", "https://h:80/x//y", "file:///x", None]
)
def test_the_kernel_makes_addresses_absolute_as_python_does(url: str | None) -> None:
    rng = random.Random(3)
    for _ in range(2000):
        written = "".join(rng.choices(_SIGNS, k=rng.randint(0, 7)))
        tree = parse(Page(f'<a href="{escape(written)}">x</a>')).tree
        found = links(tree, np.zeros(len(tree), np.int8), url)
        expected = base_of(tree, url).absolute(written)
        assert [link.url for link in found] == ([] if expected is None else [expected]), written
