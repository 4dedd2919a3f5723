"""The links of a page and their order: sections 2.2 of seed 000.

The seed's examples name a real site; here it is `www.grain.example`.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dehusk.methods.papers.hyperlink.addresses import Addresses, host_of, normal_url
from dehusk.methods.papers.hyperlink.links import (
    Link,
    dom_distance,
    find_links,
    find_menu,
    hyperlink_distance,
    hyperlink_words,
    link_relevance,
    sort_links,
)
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Tree

SITE = "www.grain.example"


def _tree(html: str, url: str | None = f"https://{SITE}/news/") -> Tree:
    return parse(Page(html, url)).tree


def _named(tree: Tree, tag: str) -> list[int]:
    return [node for node in range(len(tree)) if tree.name(node) == tag]


def _urls(html: str, url: str | None = f"https://{SITE}/news/a.html") -> list[str]:
    return [link.url for link in find_links(_tree(html, url), Addresses()).inside]


def _words(path: str) -> tuple[str, ...]:
    return tuple(path.strip("/").split("/"))


@pytest.mark.parametrize(
    ("start", "target", "distance"),
    [
        ("research/maths/", "research/maths/", 0),
        ("research/maths/", "research/maths/geometry/", 1),
        ("research/maths/", "research/", -1),
        ("research/maths/", "research/physics/dynamics", -1),
        ("research/maths/", "www.mill.example/research/", -2),
    ],
)
def test_the_hyperlink_distances_of_000_section_2_2_2_come_out(
    start: str, target: str, distance: int
) -> None:
    assert hyperlink_distance(_words(start), _words(target)) == distance


@pytest.mark.parametrize(
    ("start", "target", "distance"),
    [
        # The first is printed the other way round, which contradicts definition 2.2.5.
        (f"{SITE}/news", f"{SITE}/news/technology", 1),
        (f"{SITE}/news", SITE, -1),
        (f"{SITE}/news", f"{SITE}/news/world/europe/", 2),
        (f"{SITE}/news", f"{SITE}/weather", -1),
        (f"{SITE}/news", f"{SITE}/sport/0/formula1/26599556", -1),
    ],
)
def test_the_hyperlink_distances_of_000_example_2_2_6_come_out(
    start: str, target: str, distance: int
) -> None:
    assert hyperlink_distance(hyperlink_words(start), hyperlink_words(target)) == distance


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("https://a.example/b/c.html", ("a.example", "b")),
        ("https://a.example/b/c?x=/y/z", ("a.example", "b", "c")),
        ("https://a.example/", ("a.example",)),
        ("https://a.example", ("a.example",)),
        ("file:b/c.html", ("b",)),
        ("file:c.html", ()),
        ("file:///b/d/c.html", ("b", "d")),
    ],
)
def test_a_url_is_its_host_and_its_folders(url: str, words: tuple[str, ...]) -> None:
    assert hyperlink_words(url) == words


TREE_2_2_11 = (
    "<content><div><p><span></span></p></div><div><div><img></div></div></content>"
)  # fmt: skip


def test_the_path_of_000_example_2_2_9_has_five_nodes() -> None:
    tree = _tree(TREE_2_2_11)
    body, span = _named(tree, "body")[0], _named(tree, "span")[0]
    assert int(tree.depth[span]) - int(tree.depth[body]) + 1 == 5


def test_the_dom_distance_of_000_example_2_2_11_is_6() -> None:
    tree = _tree(TREE_2_2_11)
    span, image = _named(tree, "span")[0], _named(tree, "img")[0]
    assert dom_distance(tree, span, image) == dom_distance(tree, image, span) == 6


def test_only_a_node_itself_has_dom_distance_0_by_000_section_2_2_3() -> None:
    tree = _tree("<p><a href=x></a><a href=x></a></p>")
    first, second = _named(tree, "a")
    assert dom_distance(tree, first, first) == 0
    assert dom_distance(tree, first, second) == 2


def test_the_link_relevance_of_000_example_2_2_13_comes_out() -> None:
    links = {
        "A2": f"{SITE}/news/world/europe/",
        "A3": SITE,
        "A4": f"{SITE}/news/uk/",
        "A5": f"{SITE}/sport/0/football/28497920/",
        "A6": f"{SITE}/news/also_in_the_news/",
    }
    start = hyperlink_words(f"{SITE}/news/")
    distance = {
        name: hyperlink_distance(start, hyperlink_words(url)) for name, url in links.items()
    }
    assert distance == {"A2": 2, "A3": -1, "A4": 1, "A5": -1, "A6": 1}
    assert sorted(links, key=lambda name: link_relevance(distance[name])) == [
        "A4", "A6", "A2", "A3", "A5",
    ]  # fmt: skip


def test_link_relevance_puts_0_first_then_what_is_below_then_what_is_outside() -> None:
    distances = [-2, 3, 0, -1, 1, 2, -3]
    assert sorted(distances, key=link_relevance) == [0, 1, 2, 3, -1, -2, -3]


TREE_2_2_15 = (
    "<p><a href='/news/world/europe/'></a></p>"
    "<div><ul><a href='/'></a><li><a href='/news/uk/'></a></li></ul></div>"
    "<div><p><a href='/sport/0/football/28497920/'></a></p></div>"
    "<div><p><a href='/news/also_in_the_news/'></a></p></div>"
)


def test_the_dom_distances_of_000_example_2_2_15_come_out() -> None:
    tree = _tree(TREE_2_2_15)
    a1, a2, a3, a4, a5 = _named(tree, "a")
    printed = {
        a3: {a1: 6, a2: 3, a4: 7, a5: 7},
        a5: {a1: 5, a2: 6, a3: 7, a4: 6},
        a2: {a1: 5, a3: 3, a4: 6, a5: 6},
        a4: {a1: 5, a2: 6, a3: 7, a5: 6},
    }
    for one, row in printed.items():
        assert {other: dom_distance(tree, one, other) for other in row} == row


def test_algorithm_1_gives_the_order_of_000_example_2_2_15() -> None:
    tree = _tree(TREE_2_2_15)
    links = find_links(tree, Addresses()).inside
    paths = [link.url.partition(SITE)[2] for link in sort_links(tree, links, tree.url or "")]
    assert paths == [
        "/news/also_in_the_news/", "/news/uk/", "/news/world/europe/",
        "/sport/0/football/28497920/", "/",
    ]  # fmt: skip


def _literal_algorithm_1(tree: Tree, links: list[Link], url: str) -> list[Link]:
    """Algorithm 1 as it is printed, an empty reference set standing for all other links."""
    start = hyperlink_words(url)
    relevance = {
        link: link_relevance(hyperlink_distance(start, hyperlink_words(link.url))) for link in links
    }
    found: list[Link] = []
    for rank in sorted(set(relevance.values())):
        left = [link for link in links if relevance[link] == rank]
        chosen: list[Link] = []
        while left:
            nearest = {
                link: min(
                    (dom_distance(tree, other.node, link.node) for other in chosen or links
                     if other != link), default=0)
                for link in left
            }  # fmt: skip
            best = max(left, key=lambda link: nearest[link])
            left.remove(best)
            chosen.append(best)
        found += chosen
    return found


_SHAPE = st.recursive(
    st.sampled_from(["", "a", "b", "c/"]),
    lambda below: st.lists(below, min_size=1, max_size=5),
    max_leaves=25,
)


def _write(shape: object, numbers: list[int]) -> str:
    if isinstance(shape, list):
        return f"<div>{''.join(_write(part, numbers) for part in shape)}</div>"
    numbers.append(len(numbers))
    return f"<a href='/{shape}{numbers[-1]}/'></a>" if shape else "<i></i>"


@given(_SHAPE)
def test_links_come_in_the_order_of_the_printed_algorithm_1(shape: object) -> None:
    tree = _tree(_write(shape, []), f"https://{SITE}/c/1/")
    links = list(find_links(tree, Addresses()).inside)
    url = tree.url or ""
    assert list(sort_links(tree, links, url)) == _literal_algorithm_1(tree, links, url)


def test_links_are_made_absolute_and_counted_once_without_fragments() -> None:
    html = "<a href=b.html#x>1</a><a href='b.html'>2</a><a href='../c/?q=1&amp;r=2'>3</a>"
    assert _urls(html) == [f"https://{SITE}/news/b.html", f"https://{SITE}/c/?q=1&r=2"]


def test_a_page_does_not_link_itself() -> None:
    assert _urls("<a href=a.html></a><a href='#top'></a><a href=''></a><a href='?'></a>") == []


def test_links_to_other_sites_and_to_no_page_are_left_out() -> None:
    html = (
        "<a href=https://other.example/>o</a><a href=mailto:x>m</a><a href=javascript:x()>j</a>"
        "<a href=//mill.example/x>m</a><a href=http://[x>b</a><a>n</a><area href=/map.html>"
    )
    assert _urls(html) == [f"https://{SITE}/map.html"]
    assert find_links(_tree(html), Addresses()).outside == 2


def test_a_base_moves_relative_links() -> None:
    html = "<head><base href='/docs/v2/'></head><a href=x.html>x</a><a href=?p=2>q</a>"
    assert _urls(html) == [f"https://{SITE}/docs/v2/x.html", f"https://{SITE}/docs/v2/?p=2"]


def test_a_query_is_relative_to_the_page_even_in_a_folder_that_is_known() -> None:
    addresses = Addresses()
    first = addresses.targets(_tree("<a href=?p=2>", "https://a.example/x.html"))
    second = addresses.targets(_tree("<a href=?p=2>", "https://a.example/y.html"))
    assert list(first) == ["https://a.example/x.html?p=2"]
    assert list(second) == ["https://a.example/y.html?p=2"]


def test_saved_pages_link_files_of_their_folder() -> None:
    html = "<a href=c.html></a><a href=../d.html></a><a href=/e.html></a><a href=b.html></a>"
    assert _urls(html, "file:a/b.html") == ["file:a/c.html", "file:d.html", "file:e.html"]
    assert _urls("<a href=c.html>", "file:///a/b.html") == ["file:///a/c.html"]


def test_an_attribute_that_ends_in_href_is_not_taken_for_one() -> None:
    assert _urls("<a title='x href=' data-href=no.html href=yes.html>y</a>") == [
        f"https://{SITE}/news/yes.html"
    ]


def test_a_page_without_a_url_links_nothing() -> None:
    assert _urls("<a href=https://a.example/>x</a>", None) == []
    assert _urls("<a href=https://a.example/>x</a>", "about:blank") == []


def test_urls_of_one_page_have_one_spelling() -> None:
    spellings = ("HTTPS://A.example", "https://a.example:443/", "https://a.example/#x")
    assert {normal_url(url) for url in spellings} == {"https://a.example/"}
    assert normal_url("http://[bad") == "http://[bad"
    escapes = ("file:a%3Fx%3D1/é.html", "file:a%3fx=1/%C3%A9.html")
    assert {normal_url(url) for url in escapes} == {"file:a%3Fx=1/%C3%A9.html"}
    assert normal_url("https://a.example/x%2fy") == "https://a.example/x%2Fy"
    assert host_of("http://www.a.example/x") == host_of("https://a.example") == "a.example"


@given(st.lists(st.text(st.characters(min_codepoint=32), max_size=12), max_size=6))
@example(["0?"])
def test_any_link_is_an_address_or_none(written: list[str]) -> None:
    html = "".join(f'<a href="{text.replace(chr(34), "")}">x</a>' for text in written)
    for url in _urls(html):
        assert normal_url(url) == url


def test_the_menu_is_where_links_stand_densest() -> None:
    html = (
        "<p>Read <a href=1>one</a> and <b>then</b> <i>much</i> <u>later</u> <a href=2>two</a></p>"
        "<nav><a href=3>3</a><a href=4>4</a><a href=5>5</a></nav>"
    )
    tree = _tree(html)
    links = find_links(tree, Addresses()).inside
    menu = find_menu(tree, links, 3)
    assert menu == range(_named(tree, "nav")[0], len(tree))
    assert not find_menu(tree, links, 6)


def test_sorting_thousands_of_links_is_lazy_and_keeps_each_once() -> None:
    html = "".join(f"<div><a href=/{n % 7}/{n}></a></div>" for n in range(3000))
    tree = _tree(html)
    links = find_links(tree, Addresses()).inside
    order = list(sort_links(tree, links, tree.url or ""))
    assert sorted(order, key=lambda link: link.node) == list(links)
    ranks = [link_relevance(hyperlink_distance((SITE, "news"), hyperlink_words(x.url)))
             for x in order]  # fmt: skip
    assert all(one <= other for one, other in pairwise(ranks))
    assert np.unique([link.node for link in order]).size == 3000
