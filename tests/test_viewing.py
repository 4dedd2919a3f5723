"""Pages to look at: verdicts as they grew, selectors of what is pointed at, gold that comes out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock

import pytest
from fastapi import Request
from hypothesis import given
from hypothesis import strategies as st

import dehusk
from dehusk.answer.labels import Label
from dehusk.answer.view import Showing, view_html
from dehusk.doors.service import shown
from dehusk.doors.service.frames import ViewerState
from dehusk.doors.service.gold import gold_nodes, gold_record, node_gold, strip_marks, teco_html
from dehusk.errors import TooManyNodes
from dehusk.methods.papers.hyperlink import Hyperlink
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.settings import Limits
from dehusk.template.graph import link_graph
from dehusk.template.templates import PageLoader, redirected
from dehusk.template.viewing import Viewed, element_path, exact_selector, named_selectors
from dehusk_bench.samples import sample_site

SHOWING = Showing("/s/pick/0/", "p{}", ())


def _page(number: int) -> Page:
    html = f"<nav id=top>Home News</nav><div class='sign up'>Join</div><p>Page {number}</p>"
    return Page(html, f"https://grain.example/{number}")


@pytest.fixture
def viewed(tmp_path: Path) -> Iterator[Viewed]:
    with dehusk.open(tmp_path / "a.husk", method="segments") as memories:
        made = Viewed(memories)
        made.add_all(_page(number) for number in range(8))
        yield made


def test_the_verdict_on_a_page_grows_with_the_pages_seen(viewed: Viewed) -> None:
    shares = [viewed.result(0, seen).template_share for seen in range(9)]
    assert shares[0] == shares[3] == 0
    assert shares[8] == shares[5] > 0.5
    assert viewed.result(7).text == "Page 7"
    assert viewed.result(0, 3).pages_seen == 3
    assert viewed.result(7, 3).pages_seen == 4  # It had not come, so it is the next.


def test_looking_at_pages_teaches_the_memory_nothing(viewed: Viewed) -> None:
    viewed.result(3)
    assert viewed.memories.memory("grain.example").pages == 0


def test_what_the_memory_knows_is_not_learned_twice(tmp_path: Path) -> None:
    with dehusk.open(tmp_path / "a.husk", method="segments") as memories:
        for number in range(6):
            memories.learn(_page(number))
        made = Viewed(memories)
        made.add(_page(2))
        assert made.result(0).pages_seen == 6
        assert made.result(0, 0).text == "Page 2"


def test_a_page_that_cannot_be_used_is_left_out_and_named(viewed: Viewed) -> None:
    assert not viewed.add(Page(b"%PDF-1.7", "https://grain.example/pdf"))
    assert len(viewed.pages) == 8
    assert "not HTML" in str(viewed.refusals[0])


def test_of_many_pages_not_every_state_is_held(viewed: Viewed) -> None:
    viewed.add_all(_page(number) for number in range(8, 130))
    site = viewed.site_of(0)
    assert len(site.states) <= 97
    assert (min(site.states), max(site.states)) == (0, 130)
    assert viewed.result(5, 77).pages_seen in range(60, 78)


def test_a_correction_of_one_page_leaves_the_others_alone(viewed: Viewed) -> None:
    viewed.correct(1, "keep", "nav")
    assert "Home" in viewed.result(1).text
    assert "Home" not in viewed.result(2).text
    viewed.correct(1, "undo", "nav")
    assert "Home" not in viewed.result(1).text


def test_a_rule_counts_on_all_pages(viewed: Viewed) -> None:
    viewed.memories.add_rule("grain.example", "keep", ".sign")
    assert "Join" in viewed.result(1).text
    assert "Join" in viewed.result(2).text


def test_the_template_and_the_links_of_a_page_are_found_in_the_source(viewed: Viewed) -> None:
    assert "Home News" in viewed.template(0).html
    pages = [sample.page for sample in sample_site("docs", pages=20, seed=1)]
    graph = link_graph(pages[3], pages)
    assert graph.urls[0] == pages[3].url
    voters = range(1, graph.voters + 1)
    assert all((a, b) in graph.links for a in voters for b in voters if a != b)
    assert link_graph(Page("<p>x</p>"), []).voters == 0


def test_links_that_redirect_lead_to_the_pages_that_an_archive_has() -> None:
    site, names = "https://grain.example", ("rye", "oats", "wheat", "barley")
    menu = "".join(f'<a href="/{name}">{name}</a>' for name in names)
    pages = [Page(f"{menu}<p>All about {name}</p>", f"{site}/{name}/") for name in names]
    leads = {f"{site}/{name}": f"{site}/old/{name}" for name in names}
    leads |= {f"{site}/old/{name}": f"{site}/{name}/" for name in names}
    loader = PageLoader(pages, names=redirected(pages, leads))
    assert link_graph(pages[0], pages, method=Hyperlink(loader=loader)).voters == 3
    assert link_graph(pages[0], pages).voters == 0
    circle = {f"{site}/a": f"{site}/b", f"{site}/b": f"{site}/a"}
    assert redirected(pages, circle) == {}


def test_selectors_go_from_names_to_the_one_element(viewed: Viewed) -> None:
    tree = parse(_page(0)).tree
    (text,) = (n for n in range(len(tree)) if tree.is_text[n] and tree.text(n) == "Join")
    *named, exact = viewed.selectors(0, text)
    assert named == [("div.sign.up", 1)]
    viewed.correct(0, "keep", exact[0])
    assert viewed.result(0).text == "Join\nPage 0"


NAMES = st.text(alphabet='aZ0-_.:#é \\"\n', max_size=6)


@given(st.lists(st.tuples(st.sampled_from(["div", "p", "my-tag", "td", "a"]), NAMES, NAMES)))
def test_every_element_is_selected_by_its_selectors(given: list[tuple[str, str, str]]) -> None:
    def quoted(name: str) -> str:
        return name.replace("\\", "").replace('"', "&quot;")

    html = "".join(f'<{tag} id="{quoted(a)}" class="{quoted(b)}">x' for tag, a, b in given)
    parsed = parse(Page(html))
    tree = parsed.tree
    elements = list(parsed.document.iter_elements())
    numbers = [n for n in range(len(tree)) if not tree.is_text[n]]
    for element, node in zip(elements, numbers, strict=True):
        assert parsed.document.select(exact_selector(tree, node)) == [element]
        named = named_selectors(tree, node)
        if named and (tree.attributes(node).get("id") or tree.attributes(node).get("class")):
            ids = [e.attrs.get("id") for e in parsed.document.select(named[0])]
            assert ids


@pytest.mark.parametrize("kind", ["news", "forum", "tables"])
def test_gold_says_of_elements_what_the_verdict_says(kind: str) -> None:
    site = dehusk.Site(method="segments")
    for sample in sample_site(kind, pages=9, seed=3):
        result = site.add(sample.page)
    record = gold_record(sample.page, result)
    assert json.loads(json.dumps(record))["content"] == result.text
    roots, excluded = gold_nodes(result)
    assert [element_path(result.tree, node) for node in roots] == record["content_nodes"]
    paths = [[element_path(result.tree, node) for node in nodes] for nodes in (roots, excluded)]
    gold = node_gold(result.tree, *paths)
    assert gold is not None
    called = gold.judged & (result.labels.labels == Label.TEMPLATE) & ~result.tree.is_text
    assert (gold.template <= (called | gold.judged)).all()
    assert (called & ~gold.template).sum() == 0


def test_teco_marks_come_back_as_the_contents_roots() -> None:
    site = dehusk.Site(method="segments")
    for sample in sample_site("docs", pages=9, seed=3):
        result = site.add(sample.page)
    tree, marks = strip_marks(Page(teco_html(result), result.url))
    assert len(tree) == len(result.tree)
    assert (
        marks.main_content
        == marks.not_template
        == [element_path(result.tree, node) for node in gold_nodes(result)[0]]
    )


def test_marks_are_read_within_the_limits_of_the_session() -> None:
    page = Page("<body><p class=TECO_notTemplate>Rye" + "<p>Oats" * 50)
    with pytest.raises(TooManyNodes):
        strip_marks(page, Limits(max_nodes=20))
    assert strip_marks(page)[1].not_template


def test_a_view_has_every_text_once_and_no_script() -> None:
    page = Page(
        "<html lang=de><body class=b onload=alert(1)><p onclick=x>Rye &amp; <b>oats</b></p>"
        "<script>alert(1)</script><a href='javascript:x'>Go <i>on</i></a><img src=http://x/y alt=A>"
        "<img src='data:image/png;base64,AA' alt=B><iframe src=x></iframe><x-y>Odd</x-y>",
    )
    result = dehusk.extract(page, method="segments")
    html = view_html(result.tree, result.labels, None, SHOWING)
    seen = dehusk.extract(html, method="segments")
    words = [node.text for node in seen.nodes if node.text and node.text.strip()]
    assert [word.strip() for word in words if word.strip() not in ("img", "iframe", "A")][-5:] == [
        "Rye &", "oats", "Go", "on", "Odd",
    ]  # fmt: skip
    for evil in ("<script", "onclick", "onload", "javascript:", "http://x/y", "<iframe"):
        assert evil not in html
    assert 'src="data:image/png;base64,AA"' in html
    assert '<body class="b">' in html


def test_the_views_own_marks_cannot_be_left_by_what_a_page_writes() -> None:
    page = Page('<style>a</style><p class="a&quot;><script>x</script>">x</p><style>b<!--</style>')
    result = dehusk.extract(page, method="segments")
    html = view_html(result.tree, result.labels, None, SHOWING)
    assert html.count("<style>") == 3  # Plain type, the page's own, the marks.
    assert "<script>" not in html


def test_a_page_whose_request_was_given_up_is_not_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    viewed = Viewed(dehusk.open())
    viewed.add_all(Page(f"<p>Rye {n}", f"https://x.example/{n}") for n in range(3))
    state = ViewerState(viewed, "", is_kept=False)
    request = Request({"type": "http", "app": SimpleNamespace(state=SimpleNamespace(viewer=state))})
    monkeypatch.setattr(state.thread, "do", AsyncMock(side_effect=asyncio.CancelledError))
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(shown.site(request, "x.example"))
    monkeypatch.undo()

    async def both() -> list[dict[str, Any]]:
        return await asyncio.gather(*(shown.site(request, "x.example") for _ in range(2)))

    assert [found["looked"] for found in asyncio.run(both())] == [3, 3]
    assert state.surveys["x.example"].taken == [0, 1, 2]
