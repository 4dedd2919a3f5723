"""What `auto` adds to the votes of linked pages: `page_verdict` of the method `hyperlink`."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dehusk.answer.labels import Label, label
from dehusk.errors import SettingError
from dehusk.methods.papers.hyperlink import (
    BEST,
    BEST_VOTES,
    Detection,
    Hyperlink,
    Outcome,
    PageVerdict,
    best_settings,
    detect,
)
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Flags, Tree

SITE = "https://mill.example"
NAMES = ("oats", "rye", "barley", "wheat")
PROSE = (
    "<p>{0} was sown by the river in the cold days of early spring, when the miller's daughter"
    " walked the furrows with a sack on her hip and counted every step she took.</p>"
    "<p>By the first week of August the ears of {0} had turned, and the whole village came out to"
    " cut and to bind, to carry and to thresh, until the barn could hold no more of it.</p>"
)


def _page(name: str, links: tuple[str, ...] = NAMES, *, content: str = PROSE) -> Tree:
    menu = "".join(f"<li><a href='/{link}.html'>{link}</a></li>" for link in links)
    html = (
        f"<html><head><title>{name}</title></head><body><header><a href='/'>The mill</a></header>"
        f"<nav><ul>{menu}</ul></nav><main><h1>All about {name}</h1>{content.format(name)}</main>"
        "<footer><p>Imprint</p><p>Privacy</p><p>© The mill</p></footer>"
    )
    return parse(Page(html, f"{SITE}/{name}.html")).tree


def _site(*, content: str = PROSE) -> dict[str, Tree]:
    return {f"{SITE}/{name}.html": _page(name, content=content) for name in NAMES}


def _detect(tree: Tree, site: dict[str, Tree], **settings: object) -> Detection:
    return detect(Hyperlink(loader=site.get, **(dict(BEST) | settings)), tree)


def _texts(tree: Tree, flags: Flags) -> str:
    marked = flags & tree.is_text & (tree.text_length > 0)
    return " ".join(tree.text(int(node)).strip() for node in np.flatnonzero(marked))


def test_the_papers_method_asks_nobody_else() -> None:
    assert Hyperlink().page_verdict == PageVerdict.OFF
    found = _detect(_page("oats"), _site(), page_verdict="off")
    assert not found.page_counts
    assert "look" not in found.message


def test_the_best_settings_load_little_where_no_pages_link_each_other() -> None:
    names = tuple(f"grain{number}" for number in range(40))
    site = {f"{SITE}/{name}.html": _page(name, ()) for name in names}
    tree = _page("oats", names)
    assert detect(Hyperlink(loader=site.get), tree).loads == 41
    found = _detect(tree, site)
    assert (found.outcome, found.requests) == (Outcome.SINGLE, 5)
    content = _texts(tree, ~found.is_template)
    assert "counted every step" in content
    assert "Privacy" not in content


def test_an_unknown_choice_is_refused() -> None:
    with pytest.raises(SettingError, match="off, few, always"):
        Hyperlink(page_verdict="never")


@pytest.mark.parametrize("verdict", ["few", "always"])
def test_a_page_whose_links_lead_nowhere_is_judged_by_itself(verdict: str) -> None:
    tree = _page("oats", ("gone", "lost"))
    found = _detect(tree, {}, page_verdict=verdict)
    assert found.outcome == Outcome.NO_PAGES
    assert "the page was judged by itself; 3 links could not be used" in found.message
    content = _texts(tree, np.asarray(label(tree, found.scores).labels == Label.CONTENT))
    assert "counted every step" in content
    assert "Privacy" not in content


@pytest.mark.parametrize("url", [f"{SITE}/oats.html", None])
def test_a_page_without_links_is_judged_by_itself(url: str | None) -> None:
    html = f"<body><nav>Menu</nav><main><h1>Oats</h1>{PROSE}</main><footer>Privacy</footer>"
    tree = parse(Page(html.format("oats"), url)).tree
    found = _detect(tree, {})
    assert found.outcome == (Outcome.NO_LINKS if url else Outcome.NO_URL)
    assert "the page was judged by itself" in found.message
    assert "counted every step" in _texts(tree, ~found.is_template)


def test_without_it_a_page_without_others_has_no_answer() -> None:
    found = _detect(_page("oats", ("gone",)), {}, page_verdict="off")
    assert np.isnan(found.scores).all()


def test_few_asks_auto_only_where_pages_are_few() -> None:
    site = _site()
    tree = site[f"{SITE}/oats.html"]
    assert not _detect(tree, site, page_verdict="few").page_counts
    one = {f"{SITE}/rye.html": site[f"{SITE}/rye.html"]}
    found = _detect(tree, one, page_verdict="few")
    assert (len(found.pages), found.page_counts) == (1, True)
    assert "`auto` has a say too" in found.message


def test_prose_beside_the_main_content_is_content_where_auto_says_so() -> None:
    """The votes know one place of content, and all that is beside it is template."""
    second = (
        "</main><article><h2>The millers of {0}</h2>"
        "<p>By the old road stands a second story of {0}, told by the millers"
        " themselves, and it goes on for a good while before it comes to an end that nobody in the"
        " valley had seen.</p><p>They had sown {0} in the wrong month, and the river had taken"
        " the lower field. What was left they shared, and in the next year all of them had"
        " enough.</p><p>Nobody has told it since without a cup of beer in his hand, says the"
        " oldest of the millers, and nobody has told it twice in the same way. He himself would"
        " rather sow {0} again, and see.</p></article><main>"
    )
    site = _site(content=PROSE * 4 + second)
    tree = site[f"{SITE}/oats.html"]
    by_votes = _texts(tree, ~_detect(tree, site, page_verdict="off").is_template)
    together = _texts(tree, ~_detect(tree, site).is_template)
    assert "second story" not in by_votes
    assert "second story" in together
    assert "Privacy" not in together


def test_amid_the_content_auto_is_believed_from_the_sure_score_on() -> None:
    site = _site(content=PROSE + "<p>{0} is sold by the sack.</p>")
    tree = site[f"{SITE}/oats.html"]
    judged = [_detect(tree, site, sure_score=score).is_template for score in (0.0, 0.95)]
    assert judged[0].sum() > judged[1].sum()
    assert "counted every step" in _texts(tree, ~judged[1])


def test_blank_nodes_beside_the_content_are_template() -> None:
    site = _site(content=PROSE + "</main>\n<div>\n<hr></div>\n<main>")
    tree = site[f"{SITE}/oats.html"]
    blank = tree.is_text & tree.shown & (tree.text_length == 0)
    assert blank.sum() >= 3
    assert _detect(tree, site).is_template[blank].all()


_BIG = {
    "alike": lambda name, number: f"<p>{name} <b>x</b></p>",
    "each of its own kind": lambda name, number: f"<p class='{name} c{number}'>{name} <b>x</b></p>",
}


@pytest.mark.parametrize("settings", [{}, BEST], ids=["paper", "best"])
@pytest.mark.parametrize("paragraph", _BIG.values(), ids=_BIG.keys())
def test_big_pages_that_link_each_other_cost_little(
    settings: dict[str, Any], paragraph: Callable[[str, int], str]
) -> None:
    def load(url: str) -> Tree:
        name = url.rpartition("/")[2]
        links = "".join(f"<li><a href='/{number}'>{number}</a></li>" for number in range(10_000))
        body = "".join(paragraph(name, number) for number in range(10_000))
        return parse(Page(f"<body><ul>{links}</ul>{PROSE.format(name)}{body}", url)).tree

    key = load(f"{SITE}/oats")
    assert len(key) > 60_000
    start = time.process_time()
    found = detect(Hyperlink(loader=load, **settings), key)
    assert time.process_time() - start < 15  # Up to three on an idle machine.
    assert (found.outcome, found.loads) == (Outcome.FOUND, 4)
    assert found.page_counts == bool(settings)
    assert found.votes.max() == 3


def test_pages_that_say_the_same_are_not_emptied_without_a_word() -> None:
    source = _page("oats").source
    site = {url: parse(Page(source, url)).tree for url in _site()}
    key = _page("oats", content=PROSE + "<img src='a.png'>")
    empty = _detect(key, site, page_verdict="off")
    assert empty.is_template[key.is_text & key.shown].all()
    assert "all text of the page is template" in empty.message
    found = _detect(key, site)
    assert found.pages == empty.pages != ()
    assert "all text of the page is template" not in found.message
    content = _texts(key, ~found.is_template)
    assert "counted every step" in content
    assert "Privacy" not in content


def test_every_request_counts_against_the_limit() -> None:
    tree = _page("oats", tuple(f"gone{number}" for number in range(40)))
    found = _detect(tree, {})
    assert (found.loads, len(found.failed), found.requests) == (1, 4, BEST["max_loads"])


def test_scores_and_verdict_agree() -> None:
    site = _site()
    tree = site[f"{SITE}/oats.html"]
    found = _detect(tree, site)
    assert ((found.scores > 0.5) == (found.is_template & tree.shown)).all()


def test_a_model_that_is_missing_is_refused(tmp_path: Path) -> None:
    site = _site()
    with pytest.raises(SettingError):
        _detect(site[f"{SITE}/oats.html"], site, model=str(tmp_path / "none.json"))


def test_the_best_settings_complete_those_that_are_given() -> None:
    assert best_settings({}) == BEST
    assert best_settings({"size": 6}) == {**BEST, "size": 6, "votes": 3, "max_loads": 8}
    assert best_settings({"size": 2, "votes": 2, "max_loads": 9})["max_loads"] == 9


def test_whoever_asks_for_the_papers_equality_gets_the_papers_method() -> None:
    given = {"equality": "paper", "size": 4}
    assert Hyperlink(**best_settings(given)) == Hyperlink(size=4, votes=BEST_VOTES[4])
