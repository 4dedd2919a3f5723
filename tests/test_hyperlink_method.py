"""The method `hyperlink` as a whole: seeds 000 and 001, and what goes beyond them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest

from dehusk.answer.labels import Label, label
from dehusk.errors import NotHtml, SettingError
from dehusk.memory import Memory
from dehusk.methods.papers.hyperlink import (
    BEST_VOTES,
    Detection,
    Equality,
    Hyperlink,
    Outcome,
    detect,
    normal_url,
)
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Flags, Tree

SITE = "https://mill.example"
NAMES = ("Oats", "Rye", "Barley", "Wheat", "Spelt", "Millet")
STORIES = {
    "Oats": "<p>Sown in spring, they like cool summers and much rain.</p><p>Horses do too.</p>",
    "Rye": "<p>It grows where nothing else will: on sand, in cold, after a bad year.</p>",
    "Barley": "<p>Most of it is malted.</p><ul><li>six rows</li><li>two rows</li></ul><p>Or not.",
    "Wheat": "<p>The bread of half the world began as a grass of the hills.</p><h2>Ploughs</h2>",
    "Spelt": "<p>An old grain that kept its husk, and found new friends late.</p>",
    "Millet": "<p>Small and round; a handful feeds a family, or a great many birds.</p>",
}
Graph = Callable[[str, str], bool]


def _page(name: str, links: list[str], extra: str = "") -> Tree:
    menu = "".join(f"<li><a href='/{link}.html'>{link}</a></li>" for link in links)
    html = (
        f"<html><body class='page {name}'><header><b>The mill</b></header>"
        f"<nav><ul>{menu}</ul></nav>"
        f"<main><h1>{name} in the field</h1>{STORIES.get(name, '')}{extra}</main>"
        "<footer><p>Ground daily since long ago</p></footer>"
    )
    return parse(Page(html, f"{SITE}/{name}.html")).tree


def _site(linked: Graph = lambda one, other: one != other) -> dict[str, Tree]:
    pages = {}
    for name in NAMES:
        links = [other for other in NAMES if linked(name, other)]
        pages[f"{SITE}/{name}.html"] = _page(name, links)
    return pages


def _key(site: dict[str, Tree]) -> Tree:
    return site[f"{SITE}/Oats.html"]


def _detect(site: dict[str, Tree], **settings: object) -> Detection:
    return detect(Hyperlink(loader=site.get, **settings), _key(site))  # type: ignore[arg-type]


def _text_of(tree: Tree, flags: Flags) -> set[str]:
    marked = flags & tree.is_text & (tree.text_length > 0)
    return {tree.text(int(node)).strip() for node in np.flatnonzero(marked)}


CONTENT = {
    "Oats in the field",
    "Sown in spring, they like cool summers and much rain.",
    "Horses do too.",
}
TEMPLATE = {"The mill", "Ground daily since long ago", *NAMES[1:]}


def test_the_defaults_are_those_of_000_section_5_2_2() -> None:
    assert (Hyperlink().size, Hyperlink().votes) == (3, 2)
    assert Hyperlink().equality == "paper"


def test_the_best_votes_are_those_of_001_table_2() -> None:
    assert list(BEST_VOTES.values()) == [1, 1, 2, 3, 3, 3, 3, 4]
    assert Hyperlink().votes == BEST_VOTES[Hyperlink().size]


def test_loads_count_the_key_page_by_001_table_2() -> None:
    assert _detect(_site(), size=1, votes=1).loads == 2
    found = _detect(_site())
    assert (found.outcome, found.loads, len(found.pages)) == (Outcome.FOUND, 4, 3)


def test_the_menu_and_the_footer_are_template_by_the_paper() -> None:
    site = _site()
    found = _detect(site)
    # The menus differ in one entry, and an item's place is all that the paper's equality sees.
    assert _text_of(_key(site), found.scores > 0.5) >= TEMPLATE


def test_the_paper_calls_parallel_content_template_and_text_does_not() -> None:
    """Every page has `main > h1, p`: equality by tag, class and place cannot tell them apart."""
    site = _site()
    tree = _key(site)
    by_paper = _text_of(tree, _detect(site).scores > 0.5)
    by_text = _text_of(tree, _detect(site, equality="text").scores > 0.5)
    assert "Oats in the field" in by_paper
    assert by_text == TEMPLATE


def test_by_text_labels_part_content_from_template() -> None:
    site = _site()
    tree = _key(site)
    labels = label(tree, _detect(site, equality="text").scores).labels
    assert _text_of(tree, np.asarray(labels == Label.CONTENT)) == CONTENT
    assert _text_of(tree, np.asarray(labels == Label.TEMPLATE)) == TEMPLATE


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_a_node_is_template_from_the_votes_asked_for_on(size: int) -> None:
    """Voting for any size and number of votes, 001 section 3.2."""
    site = _site()
    for votes in range(1, size + 1):
        found = _detect(site, size=size, votes=votes)
        assert found.needed == votes
        assert found.votes.max() == size
        assert (found.is_template == (found.votes >= votes)).all()
        shown = _key(site).shown
        assert ((found.scores > 0.5) == found.is_template)[shown].all()


def test_more_votes_never_make_more_template() -> None:
    site = _site()
    counts = [int(_detect(site, size=4, votes=votes).is_template.sum()) for votes in (1, 2, 3, 4)]
    assert counts == sorted(counts, reverse=True)


def test_two_pages_with_different_templates_both_contribute_by_001_example_2() -> None:
    """A part of the one's template and a part of the other's, where one vote is enough."""
    shared = "<div id=left><b>Left</b></div>", "<div id=right><b>Right</b></div>"
    links = [f"<a href='/{name}.html'>{name}</a>" for name in "abc"]
    html = {"a": "".join(shared), "b": shared[0] + "<i>b</i>", "c": "<i>c</i>" + shared[1]}
    site = {
        f"{SITE}/{name}.html": parse(
            Page(f"<p id=menu>{''.join(links)}</p>{body}", f"{SITE}/{name}.html")
        ).tree
        for name, body in html.items()
    }
    key = site[f"{SITE}/a.html"]
    one = detect(Hyperlink(size=2, votes=1, loader=site.get), key)
    both = detect(Hyperlink(size=2, votes=2, loader=site.get), key)
    assert {"Left", "Right"} <= _text_of(key, one.is_template)
    assert not {"Left", "Right"} & _text_of(key, both.is_template)


def test_without_a_loader_there_is_no_opinion() -> None:
    found = detect(Hyperlink(), _key(_site()))
    assert found.outcome is Outcome.NO_LOADER
    assert np.isnan(found.scores).all()
    assert "no other pages" in found.message


def test_a_page_without_a_url_says_so() -> None:
    found = detect(Hyperlink(loader=_site().get), parse(Page("<a href=x>x</a>")).tree)
    assert found.outcome is Outcome.NO_URL
    assert "URL" in found.message


def test_a_page_without_links_says_so() -> None:
    tree = parse(Page("<p>x</p><a href=https://other.example/>o</a>", f"{SITE}/x")).tree
    found = detect(Hyperlink(loader=_site().get), tree)
    assert found.outcome is Outcome.NO_LINKS
    assert np.isnan(found.scores).all()
    assert "1 link to other sites left out" in found.message


def test_links_that_lead_nowhere_say_so() -> None:
    found = detect(Hyperlink(loader=lambda _: None), _key(_site()))
    assert (found.outcome, found.loads, len(found.failed)) == (Outcome.NO_PAGES, 1, 5)
    assert "5 links led nowhere" in found.message


def test_a_page_that_cannot_be_used_leads_nowhere() -> None:
    site = _site()

    def load(url: str) -> Tree | None:
        if "Rye" in url:
            raise NotHtml(url, "binary data")
        return site.get(url)

    found = detect(Hyperlink(loader=load), _key(site))
    assert found.failed == (f"{SITE}/Rye.html",)
    assert found.outcome is Outcome.FOUND


def test_pages_of_other_sites_are_not_compared_with() -> None:
    """A link of the site that leads out of it, as a redirection does."""
    site = _site()
    other = parse(Page("<p>elsewhere</p>", "https://other.example/")).tree
    site[f"{SITE}/Rye.html"] = other
    found = _detect(site)
    assert f"{SITE}/Rye.html" in found.failed
    assert f"{SITE}/Rye.html" not in found.pages


def test_the_key_page_under_another_name_does_not_vote() -> None:
    """It has every node of the key page, so that all would be template."""
    site = _site()
    site[f"{SITE}/Rye.html"] = _key(site)
    assert f"{SITE}/Rye.html" not in _detect(site).pages


def test_a_smaller_subdigraph_answers_with_fewer_votes() -> None:
    site = _site(lambda one, other: one == "Oats" != other or {one, other} == {"Rye", "Spelt"})
    found = _detect(site, size=4, votes=3)
    assert (found.outcome, found.needed) == (Outcome.SMALLER, 2)
    assert set(found.pages) == {f"{SITE}/Rye.html", f"{SITE}/Spelt.html"}
    assert found.loads == len(NAMES)
    assert "no 4 pages link each other: 2 do" in found.message


def test_a_subdigraph_of_size_1_still_answers() -> None:
    found = _detect(_site(lambda one, other: one == "Oats" != other))
    assert (found.outcome, found.needed, len(found.pages)) == (Outcome.SINGLE, 1, 1)
    assert "compared with one page" in found.message
    assert (found.scores > 0.5).any()


def test_a_site_of_one_page_has_no_opinion() -> None:
    site = {f"{SITE}/Oats.html": _page("Oats", ["Oats"])}
    assert _detect(site).outcome is Outcome.NO_LINKS


def test_the_menu_saves_loads() -> None:
    """The article links pages that do not link back; the menu's do."""
    near = "".join(f"<p>See also <i>or</i> <a href='/note{n}.html'>n{n}</a></p>" for n in range(9))
    site = _site()
    site[f"{SITE}/Oats.html"] = _page("Oats", list(NAMES[1:]), near)
    for number in range(9):
        site[f"{SITE}/note{number}.html"] = _page(f"note{number}", [])
    plain, by_menu = _detect(site), _detect(site, menu=True)
    assert by_menu.loads == 4 < plain.loads
    assert by_menu.outcome is Outcome.FOUND


def test_outside_the_menu_only_so_many_are_loaded_as_must_vote() -> None:
    def linked(one: str, other: str) -> bool:
        return one == "Oats" != other or {one, other} == {"Spelt", "Millet"}

    near = "<p>a</p><i>b</i><p>c <a href='/Spelt.html'>s</a> <a href='/Millet.html'>m</a></p>"
    site = _site(linked)
    site[f"{SITE}/Oats.html"] = _page("Oats", ["Rye", "Barley", "Wheat"], near)
    found = _detect(site, menu=True, size=2)
    assert set(found.pages) == {f"{SITE}/Spelt.html", f"{SITE}/Millet.html"}


def _with_odd_page() -> dict[str, Tree]:
    site = _site()
    links = "".join(f"<a href='/{name}.html'><img src={name}.png></a>" for name in NAMES)
    html = f"<html><body><table><tr><td>Log in{links}</td></tr></table>"
    for name in ("Rye", "Barley", "Wheat", "Spelt", "Millet"):
        url = f"{SITE}/{name}.html"
        if url == _detect(_site()).pages[0]:
            site[url] = parse(Page(html, url)).tree
    return site


@pytest.mark.parametrize("equality", list(Equality))
def test_an_atypical_page_is_replaced_if_asked_for(equality: Equality) -> None:
    site = _with_odd_page()
    odd = _detect(_site()).pages[0]
    kept = _detect(site, equality=equality.value)
    found = _detect(site, equality=equality.value, replace_atypical=True)
    assert odd in kept.pages
    assert found.replaced == (odd,)
    assert len(found.pages) == 3
    assert found.loads == kept.loads + 1
    assert "1 atypical page replaced" in found.message


def test_a_moved_menu_gets_its_votes_if_asked_for() -> None:
    site = _site()
    menu = "".join(f"<li><a href='/{name}.html'>{name}</a></li>" for name in NAMES)
    for place, name in enumerate(NAMES):
        bar = f"<div><ul>{menu}</ul></div>"
        before, behind = (bar, "") if place == 0 else ("", bar)
        html = f"<html><body>{before}<main>{STORIES[name]}</main><form></form>{behind}"
        url = f"{SITE}/{name}.html"
        site[url] = parse(Page(html, url)).tree
    tree = _key(site)
    assert "Rye" not in _text_of(tree, _detect(site).is_template)
    assert "Rye" in _text_of(tree, _detect(site, moved=True).is_template)


def test_the_main_content_can_be_taken_out_first() -> None:
    site = _site()
    tree = _key(site)
    found = _detect(site, content_first=True)
    assert not _text_of(tree, found.scores > 0.5) & CONTENT
    assert "Ground daily since long ago" in _text_of(tree, found.scores > 0.5)
    by_text = _detect(site, content_first=True, equality="text")
    assert not _text_of(tree, by_text.scores > 0.5) & CONTENT


def test_by_text_what_no_page_repeats_is_template_outside_the_content() -> None:
    """A list of what is near, at the border of the content, differs from page to page."""
    site = _site()
    for name in NAMES:
        url = f"{SITE}/{name}.html"
        near = f"<div>Next: <a href='/{name}/next'>after {name}</a></div>"
        source = site[url].source.decode().replace("<footer>", f"{near}<footer>")
        site[url] = parse(Page(source, url)).tree
    tree = _key(site)
    found = _text_of(tree, _detect(site, equality="text").scores > 0.5)
    assert found == {*TEMPLATE, "Next:", "after Oats"}


def test_by_text_repeated_words_inside_the_content_stay_content() -> None:
    site = _site()
    for name in NAMES:
        url = f"{SITE}/{name}.html"
        table = f"<table><tr><td>Colour</td><td>the hue of {name}, seen at noon</td></tr></table>"
        ending = f"<p>{name} keeps for long years in a dry and airy place.</p>"
        source = site[url].source.decode().replace("</main>", f"{table}{ending}</main>")
        site[url] = parse(Page(source, url)).tree
    tree = _key(site)
    assert "Colour" not in _text_of(tree, _detect(site, equality="text").scores > 0.5)


def test_by_text_a_title_belongs_to_the_long_paragraph_beside_it() -> None:
    """One paragraph may hold nearly all new text; the content is where it stands."""
    site = _site()
    for name in NAMES:
        url = f"{SITE}/{name}.html"
        start, _, rest = site[url].source.decode().partition("<main>")
        story = f"<main><h1>{name}!</h1><p>{' and '.join([name] * 40)}</p></main>"
        site[url] = parse(Page(start + story + rest.partition("</main>")[2], url)).tree
    found = _detect(site, equality="text")
    assert _text_of(_key(site), found.scores > 0.5) == TEMPLATE


def test_a_page_that_says_nothing_new_is_template_by_text() -> None:
    site = {
        f"{SITE}/{name}.html": parse(
            Page(
                "<nav>"
                + "".join(f"<a href=/{other}.html>{other}</a>" for other in NAMES)
                + f"</nav><div class=x{name}></div>"
                + "<hr>" * place,
                f"{SITE}/{name}.html",
            )
        ).tree
        for place, name in enumerate(NAMES)
    }
    found = _detect(site, equality="text")
    assert found.is_template[_key(site).shown].all()


def test_no_more_is_loaded_than_allowed() -> None:
    site = _site(lambda one, other: one == "Oats" != other)
    found = _detect(site, max_loads=3)
    assert found.loads == 3
    assert found.outcome is Outcome.SINGLE


def test_too_many_links_are_told() -> None:
    links = [f"x{number}" for number in range(10_050)]
    tree = _page("Oats", [*NAMES[1:], *links])
    site = {**_site(), f"{SITE}/Oats.html": tree}
    found = detect(Hyperlink(loader=site.get), tree)
    assert found.unread == 55
    assert "55 links too many" in found.message
    nowhere = detect(Hyperlink(loader=lambda _: None, max_loads=5), tree)
    assert (nowhere.outcome, nowhere.asked) == (Outcome.NO_PAGES, 3)
    assert "4 links led nowhere; 55 links too many, not looked at" in nowhere.message


@pytest.mark.parametrize(
    "settings",
    [
        {"size": 0}, {"size": 65}, {"votes": 0}, {"votes": 4}, {"equality": "looks"},
        {"similarity_threshold": 1.1}, {"classes_weight": -0.1}, {"max_loads": 1},
        {"content_share": 0.5}, {"content_share": 0.95}, {"sure_share": 1.1},
        {"loader": "pages"},
    ],
)  # fmt: skip
def test_impossible_settings_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(SettingError, match="hyperlink"):
        Hyperlink(**settings)  # type: ignore[arg-type]


def test_it_is_a_frozen_dataclass_that_inherits_from_nothing() -> None:
    assert Hyperlink.__bases__ == (object,)
    assert Hyperlink.name == "hyperlink"
    with pytest.raises(FrozenInstanceError):
        setattr(Hyperlink(), fields(Hyperlink)[0].name, 1)


@pytest.mark.parametrize("equality", list(Equality))
@pytest.mark.parametrize(
    "html", ["", " ", "<p>", "<p hidden>x", "no tags", "<script>a<b</script>", "<svg><text>t"]
)
def test_odd_pages_have_scores_in_range_or_none(equality: Equality, html: str) -> None:
    links = "".join(f"<a href=/{name}.html>.</a>" for name in NAMES)
    site = _site()
    for start in ("", links):
        tree = parse(Page(start + html, f"{SITE}/odd.html")).tree
        site[f"{SITE}/Rye.html"] = parse(Page(html, f"{SITE}/Rye.html")).tree
        method = Hyperlink(loader=site.get, equality=equality.value)
        memory = method.learn(Memory(), tree)
        assert memory.pages == 1
        scores = method.score(memory, tree)
        assert scores.shape == (len(tree),)
        assert np.isnan(scores[~tree.shown]).all()
        seen = scores[~np.isnan(scores)]
        assert ((seen >= 0) & (seen <= 1)).all()


def test_asking_twice_gives_the_same_answer() -> None:
    site = _site()
    first, second = _detect(site), _detect(site)
    assert np.array_equal(first.scores, second.scores, equal_nan=True)
    assert first.pages == second.pages


def _many(count: int, linked: Callable[[int, int], bool]) -> dict[str, Tree]:
    pages = {}
    for number in range(count):
        links = "".join(
            f"<a href=/d{other % 5}/p{other}.html>{other}</a>"
            for other in range(count)
            if linked(number, other)
        )
        url = f"{SITE}/d{number % 5}/p{number}.html"
        html = f"<nav>{links}</nav><main><h1>No. {number}</h1><p>About {number}</p></main>"
        pages[url] = parse(Page(html, url)).tree
    return pages


_GRAPHS: dict[str, Callable[[int, int], bool]] = {
    "all": lambda one, other: one != other,
    "two camps": lambda one, other: one == 0 or (one + other) % 2 == 1,
    "in a ring": lambda one, other: one == 0 or (other - one) % 501 < 250,
}
"""In all but the first no three pages link each other, so that all are loaded."""


@pytest.fixture(scope="module", params=list(_GRAPHS))
def many(request: pytest.FixtureRequest) -> tuple[str, dict[str, Tree]]:
    return request.param, _many(501, _GRAPHS[request.param])


@pytest.mark.slow
@pytest.mark.parametrize("equality", list(Equality))
def test_a_page_with_500_links_answers_soon(
    many: tuple[str, dict[str, Tree]], equality: Equality
) -> None:
    name, site = many
    key = site[f"{SITE}/d0/p0.html"]
    start = time.process_time()
    found = detect(Hyperlink(loader=site.get, equality=equality.value), key)
    assert time.process_time() - start < 3  # Half a second on an idle machine.
    assert found.loads == (4 if name == "all" else 501)
    assert (found.outcome is Outcome.FOUND) == (name == "all")


def test_loaders_can_look_pages_up_by_their_normal_url() -> None:
    asked: list[str] = []

    def load(url: str) -> None:
        asked.append(url)

    tree = parse(Page("<a href='//MILL.example:443/x#y'>x</a>", f"{SITE}/a")).tree
    detect(Hyperlink(loader=load), tree)
    assert asked == [normal_url(f"{SITE}/x")]


def test_a_menu_that_leads_nowhere_is_given_up() -> None:
    """Of a bar of languages no link may be there; the list beside it is worth more."""
    bar = "".join(f"<a href='/{code}/'>{code}</a>" for code in ("de", "fr", "it", "nl", "pl", "sv"))
    site = _site()
    key = _page("Oats", list(NAMES[1:]), f"<p>{bar}</p>")
    site[f"{SITE}/Oats.html"] = key
    found = detect(Hyperlink(loader=site.get, menu=True, max_loads=6), key)
    assert (len(found.failed), len(found.pages)) == (2, 3)


@pytest.mark.parametrize("max_loads", range(2, 9))
def test_pages_that_replace_others_count_against_the_limit(max_loads: int) -> None:
    """What has failed changes the order of the links, and so which of them are left."""
    bar = "".join(f"<a href='/{code}/'>{code}</a>" for code in ("de", "fr", "it", "nl", "pl", "sv"))
    site = _with_odd_page()
    key = _page("Oats", list(NAMES[1:]), f"<p>{bar}</p>")
    site[f"{SITE}/Oats.html"] = key
    asked: list[str] = []

    def load(url: str) -> Tree | None:
        asked.append(url)
        return site.get(url)

    method = Hyperlink(loader=load, menu=True, replace_atypical=True, max_loads=max_loads)
    found = detect(method, key)
    assert len(asked) + 1 == found.requests <= max_loads
    assert found.replaced or max_loads < 6
