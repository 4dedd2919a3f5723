"""The method `chunks` against its paper (Ma, Goharian, Chowdhury and Chung, CIKM 2003)."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dehusk.errors import SettingError
from dehusk.memory import Memory
from dehusk.methods.papers.chunks import Chunks
from dehusk.methods.papers.chunks.cutting import SEPARATORS, cut
from dehusk.methods.papers.chunks.images import image_words
from dehusk.methods.papers.chunks.look import distances, look_of
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Tree
from dehusk_bench.corpora import GoldPage
from dehusk_bench.papers import chunks_tables
from dehusk_bench.papers.chunks_tables import (
    ChunkedPage,
    atf,
    chunk_page,
    find,
    find_by_size,
    largest_group,
    ttdr,
)

PLAIN = Chunks(group="none")


def _tree(html: str, url: str | None = None) -> Tree:
    return parse(Page(html, url)).tree


def _learn(method: Chunks, *pages: str) -> Memory:
    memory = Memory()
    for html in pages:
        memory = method.learn(memory, _tree(html))
    return memory


def _texts(html: str, separators: str = "tables") -> list[str]:
    return list(cut(_tree(html), SEPARATORS[separators]).texts)


def _table(text: str) -> str:
    return f"<table><tr><td>{text}</td></tr></table>"


def _score(text: str, memory: Memory, html: str, method: Chunks = PLAIN) -> float:
    tree = _tree(html)
    node = next(i for i in range(len(tree)) if tree.is_text[i] and tree.text(i).strip() == text)
    return float(method.score(memory, tree)[node])


def _counts(memory: Memory) -> list[int]:
    return sorted(memory.table("chunks").count.tolist())


# Cutting


def test_a_chunk_is_the_text_between_two_table_tags() -> None:
    # Figure 2, lines 6 to 14; definition 3.1: consecutive terms of a common table.
    html = f"before <b>the</b> table{_table('Home <i>News</i> Sport')}<p>between</p>{_table('x')}"
    assert _texts(html) == ["before the table", "Home News Sport", "between", "x"]


def test_a_table_in_a_table_cuts_the_outer_one() -> None:
    html = f"<table><tr><td>left</td><td>{_table('inner')}</td><td>right</td></tr></table>"
    assert _texts(html) == ["left", "inner", "right"]


def test_rows_and_cells_do_not_cut() -> None:
    assert _texts("<table><tr><td>a<td>b<tr><td>c</table>") == ["a b c"]


def test_the_buffer_is_empty_after_a_known_chunk() -> None:
    # Figure 2 clears it in the else branch only: 'menu' would then be stuck to all that follows.
    page = _table("menu") + _table("one") + _table("two")
    memory = _learn(PLAIN, page, page)
    assert _counts(memory) == [2, 2, 2]


def test_the_text_behind_the_last_table_is_a_chunk_too() -> None:
    # Figure 2 handles the buffer at table nodes only and forgets what is left at the end.
    pages = [f"{_table(str(n))}<p>All rights reserved</p>" for n in range(4)]
    assert _score("All rights reserved", _learn(PLAIN, *pages), pages[0]) > 0.5


def test_blocks_cut_where_pages_are_cut_today() -> None:
    html = "<nav><ul><li>Home<li>News</ul></nav><main><p>Words <b>here</b></p></main>"
    assert _texts(html, "blocks") == ["Home", "News", "Words here"]


def test_entities_are_decoded() -> None:
    # Section 3.3: '&nbsp;' and '&lt' as 'space' and '<'.
    assert _texts("<p>a&nbsp;b &lt c &amp;lt; d</p>") == ["a b < c &lt; d"]
    pages = [_table("Home&nbsp;News"), _table("Home News"), _table("Home\n  News")]
    assert _counts(_learn(PLAIN, *pages)) == [3]


def test_what_is_hidden_is_in_no_chunk() -> None:
    assert _texts("<title>t</title><p hidden>x</p><script>y</script><img hidden alt=dog>z") == ["z"]


# Images


@pytest.mark.parametrize("name", ["spacer", "img9", "graphic", "IMG_0042", "pixel", "7", ""])
def test_worthless_names_of_images_are_dropped(name: str) -> None:
    # Section 5: 'getting rid of worthless values such as “img9”, “spacer” or “graphic”'.
    assert image_words({"src": f"/i/{name}.gif", "alt": name}) == ""


def test_names_and_alt_texts_of_images_are_kept() -> None:
    attributes = {"src": "https://x.example/i/autumn_coats-2%20new.jpg?w=9", "alt": "Coats & hats"}
    assert image_words(attributes) == "autumn coats 2 new Coats & hats"
    assert image_words({"src": "data:image/gif;base64,R0lGOD", "alt": "Map"}) == "Map"


def test_images_stand_among_the_words_of_their_chunk() -> None:
    html = '<p>See <img src="/i/harbour.png" alt="The harbour"> &amp; more <img src=spacer.gif></p>'
    assert _texts(html) == ["See harbour The harbour & more"]


def test_the_areas_of_an_image_map_are_words() -> None:
    # Observation 3.1.1: a navigation bar may be an image map.
    bar = '<img src="menu.gif" usemap="#m"><map name=m><area alt=Home><area alt=News></map>'
    assert _texts(_table(bar)) == ["menu Home News"]


def test_a_picture_that_comes_back_is_template_and_another_is_not() -> None:
    pages = [
        f'{_table("<img src=banner.gif alt=Banner>")}<p><img src=coat-{n}.jpg alt="Coat {n}"></p>'
        for n in range(5)
    ]
    tree = _tree(pages[4])
    scores = PLAIN.score(_learn(PLAIN, *pages), tree)
    images = [i for i in range(len(tree)) if tree.name(i) == "img"]
    assert scores[images[0]] > 0.5
    assert scores[images[1]] <= 0.5


def test_a_button_that_is_a_picture_has_words_and_a_field_has_none() -> None:
    assert _texts("<input type=image src=search.gif alt=Go><input type=text alt=no>") == [
        "search Go"
    ]


# Counting


def test_a_chunk_counts_once_a_page() -> None:
    # Figure 2, line 10: only if it is in a different document.
    assert _counts(_learn(PLAIN, _table("menu") + _table("menu"))) == [1]


@pytest.mark.parametrize("threshold", [1, 3, 4])
def test_a_chunk_is_template_from_the_threshold_on(threshold: int) -> None:
    # Figure 2, line 19: document frequency ≥ threshold.
    method = Chunks(threshold=threshold, group="none")
    page = _table("menu")
    for pages, is_template in ((threshold - 1, False), (threshold, True)):
        others = [_table(f"other {n}") for n in range(10)]
        assert (_score("menu", _learn(method, *[page] * pages, *others), page, method) > 0.5) is (
            is_template
        )


def test_the_threshold_is_that_of_figure_4() -> None:
    assert Chunks().threshold == 4


def test_an_optional_chunk_need_not_be_on_all_pages() -> None:
    # Section 4.2: the threshold 'should not be set to the total number of pages'.
    pages = [_table("watch preview" if n % 2 else f"n {n}") + _table(str(n)) for n in range(9)]
    assert _score("watch preview", _learn(PLAIN, *pages), pages[1]) > 0.5


def test_a_page_never_seen_before_is_cleaned_with_a_learned_table() -> None:
    # Section 3.3, second pass: each chunk is looked up in the map.
    memory = _learn(PLAIN, *[_table("menu") + _table(f"text {n}") for n in range(4)])
    new = _table("menu") + _table("new text")
    assert _score("menu", memory, new) > 0.5
    assert _score("new text", memory, new) == 0.0


def test_the_tag_path_is_a_second_key() -> None:
    # Section 4.2.
    inner = _table("menu")
    outer = f"<center>{_table('menu')}</center>"
    assert _counts(_learn(PLAIN, inner, outer)) == [2]
    assert _counts(_learn(Chunks(group="none", tag_path=True), inner, outer)) == [1, 1]


def test_an_elements_score_is_the_mean_of_what_is_below_it() -> None:
    memory = _learn(PLAIN, *[_table("1234")] * 4)
    assert PLAIN.score(memory, _tree(f"{_table('1234')}<p>12345678</p>"))[0] == pytest.approx(
        4 / 12
    )


# Groups of pages that look alike

ARTICLE = "<h1>T</h1>" + "<p>Words <a href=#>and</a> words</p>" * 6
LISTING = "<ul>" + "<li><img src=a.png><a href=#>Item</a></li>" * 12 + "</ul>"


def _alike(*trees: Tree) -> int:
    one, other = (look_of(tree) for tree in trees)
    return int(distances(one, np.array([other], np.uint64))[0])


def test_pages_of_the_same_tags_look_alike_whatever_they_say() -> None:
    # Section 2: tag probability and tag periodicity.
    longer = "<h1>T</h1>" + "<p>Other <a href=#>text</a></p>" * 8
    assert _alike(_tree(ARTICLE), _tree(longer)) <= 2
    assert _alike(_tree(ARTICLE), _tree(LISTING)) > Chunks().max_distance


def test_the_distance_from_the_home_page_is_part_of_a_look() -> None:
    # Section 2. It is taken from the URL: one step of its path is one click.
    base = "https://x.example"
    home, near, far = (_tree(ARTICLE, base + path) for path in ("/", "/a/", "/a/b/c/d/"))
    assert _alike(home, near) < _alike(home, far)


def test_urls_that_are_alike_look_alike() -> None:
    # Section 2: URL similarity.
    base = "https://x.example/shop/"
    one = _tree(ARTICLE, base + "item.php?id=7")
    assert _alike(one, _tree(ARTICLE, base + "item.php?id=12&id=3")) == 0
    assert _alike(one, _tree(ARTICLE, base + "about.html")) > 0


@pytest.mark.parametrize("url", [None, "", "http://[", "mailto:x", "x" * 100_000, "//?&=&;"])
def test_any_url_has_a_look(url: str | None) -> None:
    assert _alike(_tree(ARTICLE, url), _tree(ARTICLE, url)) == 0


def test_pages_of_another_look_are_not_counted() -> None:
    method = Chunks(min_group=1)
    lists = [_table("Related") + LISTING + _table(str(n)) for n in range(6)]
    articles = [_table("Related") + ARTICLE + _table(f"a {n}") for n in range(3)]
    memory = _learn(method, *lists, *articles)
    assert _score("Related", memory, lists[0], method) > 0.5
    assert _score("Related", memory, articles[0], method) <= 0.5
    assert _score("Related", _learn(PLAIN, *lists, *articles), articles[0]) > 0.5


def test_a_group_that_is_too_small_takes_in_the_next_looks() -> None:
    method = Chunks(min_group=6)
    memory = _learn(method, *[_table("menu") + LISTING + _table(str(n)) for n in range(6)])
    article = _table("menu") + ARTICLE
    assert _score("menu", memory, article, method) > 0.5


def test_a_site_that_never_repeats_a_look_has_a_bounded_memory() -> None:
    method = Chunks(max_keys=40)
    memory = Memory()
    for n in range(60):
        html = _table("menu") + "<p>x</p>" * n + "<ul>" + "<li>y" * (60 - n) + "</ul>"
        memory = method.learn(memory, _tree(html, f"https://x.example/{'a/' * (n % 5)}{n}.html"))
        assert len(memory.table("chunks")) <= 40


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 5), min_size=2, max_size=12), st.integers(1, 11))
def test_memories_add_up(numbers: list[int], where: int) -> None:
    pages = [_table("menu") + (ARTICLE, LISTING)[n % 2] + _table(str(n)) for n in numbers]
    method = Chunks()
    whole = _learn(method, *pages)
    parts = _learn(method, *pages[where:]).plus(_learn(method, *pages[:where]))
    assert parts.pages == whole.pages
    for name in ("chunks", "looks"):
        assert (whole.table(name).keys == parts.table(name).keys).all()
        assert (whole.table(name).count == parts.table(name).count).all()
    tree = _tree(pages[0])
    assert np.array_equal(method.score(whole, tree), method.score(parts, tree), equal_nan=True)


@pytest.mark.parametrize(
    "wrong",
    [
        {"threshold": 0},
        {"max_distance": -1},
        {"min_group": 0},
        {"max_keys": 3},
        {"separators": "rows"},
        {"group": "colour"},
    ],
)
def test_impossible_settings_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(SettingError, match="chunks"):
        Chunks(**wrong)  # type: ignore[arg-type]


# atf and ttdr


def _pages(*pages: str, method: Chunks = PLAIN) -> list[ChunkedPage]:
    """Pages whose content is what stands in <main>, as the experiments read them."""
    chunked = []
    for number, html in enumerate(pages, 1):
        tree = _tree(html)
        path: list[int] = []
        node = next((i for i in range(len(tree)) if tree.name(i) == "main"), 0)
        while node:
            parent = int(tree.parent[node])
            before = range(parent + 1, node)
            path.insert(0, sum(tree.parent[i] == parent and not tree.is_text[i] for i in before))
            node = parent
        gold = GoldPage(Page(html), "x.example", number, content_nodes=(tuple(path),))
        page = chunk_page(gold, method)
        assert page is not None
        chunked.append(page)
    return chunked


def _site(*bars: str, pages: int) -> list[str]:
    """Pages with these tables, and a table of their own in the content."""
    return [
        "".join(map(_table, bars)) + f"<main><p>Page {n}</p>{_table(f'value {n}')}</main>"
        for n in range(pages)
    ]


def test_atf_is_template_tokens_over_tokens_of_a_page() -> None:
    # Definition 4.1.1.
    assert atf(30, [80, 120]) == 0.3
    assert atf(0, []) == 0.0
    # Two template tokens; a page has them and 'Page n', 'value n': six.
    assert find(_pages(*_site("Home News", pages=5)), 4).atf == pytest.approx(2 / 6)


def test_ttdr_is_discovered_tables_over_template_tables() -> None:
    # Definition 4.1.2.
    assert ttdr(6, 7) == pytest.approx(0.857, abs=1e-3)
    assert ttdr(1, 0) is None
    assert find(_pages(*_site("one", "two", "three", pages=5)), 4).ttdr == 1.0


def test_a_bar_that_stands_on_a_page_twice_is_discovered_once() -> None:
    # Section 4.2, nba.com: 0.86; the tag path as second key finds both if their paths differ.
    bars = ("1", "2", "3", "4", "5", "menu")
    twice = [page + f"<center>{_table('menu')}</center>" for page in _site(*bars, pages=5)]
    assert find(_pages(*twice), 4).ttdr == pytest.approx(0.86, abs=0.005)
    by_path = Chunks(group="none", tag_path=True)
    assert find(_pages(*twice, method=by_path), 4).ttdr == 1.0


def test_a_lower_threshold_takes_variants_for_template() -> None:
    # Section 4.2, figure 3, Amazon: 13 pages; from threshold 4 to 3 the ratio rises to 1.17.
    pages = _site("1", "2", "3", "4", "5", "6", pages=13)
    pages[:3] = [page.replace("value", "advertisement of") for page in pages[:3]]
    pages[:3] = [page.replace(f"of {n}", "of today") for n, page in enumerate(pages[:3])]
    chunked = _pages(*pages)
    assert find(chunked, 4).ttdr == 1.0
    assert find(chunked, 3).ttdr == pytest.approx(1.17, abs=0.005)


def test_fewer_pages_discover_fewer_of_the_tables() -> None:
    # Section 4.2, figure 4, Amazon: 9 of 13 pages still find 86 % of the tables.
    pages = _site("1", "2", "3", "4", "5", "6", pages=13)
    chunked = _pages(
        *(_table("optional") + page if n > 8 else page for n, page in enumerate(pages))
    )
    assert find(chunked, 4).ttdr == 1.0
    assert find(chunked, 4, chunked[:9]).ttdr == pytest.approx(0.86, abs=0.005)
    ratio, _ = find_by_size(chunked, 9, 4, seed=1)
    assert ratio is not None
    assert 0.85 < ratio < 1.0
    assert find_by_size(chunked, 13, 4, seed=1)[0] == 1.0


def test_a_table_is_found_if_all_its_chunks_are() -> None:
    pages = [
        f"{_table('menu')}{_table(f'date {n}')}<main>{_table('NULL')}{n}</main>" for n in range(5)
    ]
    findings = find(_pages(*pages), 4)
    assert findings.table_recall == 0.5
    assert findings.table_precision == 0.5


def test_the_largest_group_leaves_out_pages_that_look_different() -> None:
    pages = _pages(*[ARTICLE + f"<main>{n}</main>" for n in range(3)], LISTING + "<main>x</main>")
    assert len(largest_group(pages, 7)) == 3


def test_the_command_prints_the_tables_of_the_paper(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = tmp_path / "site.jsonl"
    records = [
        {"site": "x.example", "html": f"<body>{page}</body>", "content_nodes": [[1, 2]]}
        for page in _site("Home News", "Foot", pages=6)
    ]
    corpus.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    parser = argparse.ArgumentParser()
    chunks_tables.add_arguments(parser)
    assert chunks_tables.run(parser.parse_args([str(corpus)])) == 0
    printed = capsys.readouterr().out
    assert "site: 1 collections" in printed
    assert printed.count("100%") == 1
    assert "1.00" in printed


def test_a_corpus_that_ends_in_the_middle_gives_what_came_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = tmp_path / "cut.jsonl"
    corpus.write_text('{"site": "x", "html": "<p>a", "content_nodes": []}\n{"si', encoding="utf-8")
    parser = argparse.ArgumentParser()
    chunks_tables.add_arguments(parser)
    assert chunks_tables.run(parser.parse_args([str(corpus)])) == 1
    assert "what came before it was measured" in capsys.readouterr().out
