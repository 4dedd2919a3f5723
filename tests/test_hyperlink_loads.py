"""Which pages the method `hyperlink` loads, how many, and how soon it answers."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from dehusk.methods.papers.hyperlink import (
    Equality,
    Hyperlink,
    Outcome,
    detect,
    normal_url,
)
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Tree
from pages_of_mill import (
    NAMES,
    SITE,
    detect_in,
    mill_page,
    mill_site,
)


def test_the_menu_saves_loads() -> None:
    """The article links pages that do not link back; the menu's do."""
    near = "".join(f"<p>See also <i>or</i> <a href='/note{n}.html'>n{n}</a></p>" for n in range(9))
    site = mill_site()
    site[f"{SITE}/Oats.html"] = mill_page("Oats", list(NAMES[1:]), near)
    for number in range(9):
        site[f"{SITE}/note{number}.html"] = mill_page(f"note{number}", [])
    plain, by_menu = detect_in(site), detect_in(site, menu=True)
    assert by_menu.loads == 4 < plain.loads
    assert by_menu.outcome is Outcome.FOUND


def test_outside_the_menu_only_so_many_are_loaded_as_must_vote() -> None:
    def linked(one: str, other: str) -> bool:
        return one == "Oats" != other or {one, other} == {"Spelt", "Millet"}

    near = "<p>a</p><i>b</i><p>c <a href='/Spelt.html'>s</a> <a href='/Millet.html'>m</a></p>"
    site = mill_site(linked)
    site[f"{SITE}/Oats.html"] = mill_page("Oats", ["Rye", "Barley", "Wheat"], near)
    found = detect_in(site, menu=True, size=2)
    assert set(found.pages) == {f"{SITE}/Spelt.html", f"{SITE}/Millet.html"}


def _with_odd_page() -> dict[str, Tree]:
    site = mill_site()
    links = "".join(f"<a href='/{name}.html'><img src={name}.png></a>" for name in NAMES)
    html = f"<html><body><table><tr><td>Log in{links}</td></tr></table>"
    for name in ("Rye", "Barley", "Wheat", "Spelt", "Millet"):
        url = f"{SITE}/{name}.html"
        if url == detect_in(mill_site()).pages[0]:
            site[url] = parse(Page(html, url)).tree
    return site


@pytest.mark.parametrize("equality", list(Equality))
def test_an_atypical_page_is_replaced_if_asked_for(equality: Equality) -> None:
    site = _with_odd_page()
    odd = detect_in(mill_site()).pages[0]
    kept = detect_in(site, equality=equality.value)
    found = detect_in(site, equality=equality.value, replace_atypical=True)
    assert odd in kept.pages
    assert found.replaced == (odd,)
    assert len(found.pages) == 3
    assert found.loads == kept.loads + 1
    assert "1 atypical page replaced" in found.message


def test_no_more_is_loaded_than_allowed() -> None:
    site = mill_site(lambda one, other: one == "Oats" != other)
    found = detect_in(site, max_loads=3)
    assert found.loads == 3
    assert found.outcome is Outcome.SINGLE


def test_too_many_links_are_told() -> None:
    links = [f"x{number}" for number in range(10_050)]
    tree = mill_page("Oats", [*NAMES[1:], *links])
    site = {**mill_site(), f"{SITE}/Oats.html": tree}
    found = detect(Hyperlink(loader=site.get), tree)
    assert found.unread == 55
    assert "55 links beyond the first 10,000 not looked at" in found.message
    nowhere = detect(Hyperlink(loader=lambda _: None, max_loads=5), tree)
    assert (nowhere.outcome, nowhere.asked) == (Outcome.NO_PAGES, 3)
    assert "4 links could not be used; 55 links beyond the first" in nowhere.message


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
    site = mill_site()
    key = mill_page("Oats", list(NAMES[1:]), f"<p>{bar}</p>")
    site[f"{SITE}/Oats.html"] = key
    found = detect(Hyperlink(loader=site.get, menu=True, max_loads=6), key)
    assert (len(found.failed), len(found.pages)) == (2, 3)


@pytest.mark.parametrize("max_loads", range(2, 9))
def test_pages_that_replace_others_count_against_the_limit(max_loads: int) -> None:
    """What has failed changes the order of the links, and so which of them are left."""
    bar = "".join(f"<a href='/{code}/'>{code}</a>" for code in ("de", "fr", "it", "nl", "pl", "sv"))
    site = _with_odd_page()
    key = mill_page("Oats", list(NAMES[1:]), f"<p>{bar}</p>")
    site[f"{SITE}/Oats.html"] = key
    asked: list[str] = []

    def load(url: str) -> Tree | None:
        asked.append(url)
        return site.get(url)

    method = Hyperlink(loader=load, menu=True, replace_atypical=True, max_loads=max_loads)
    found = detect(method, key)
    assert len(asked) + 1 == found.requests <= max_loads
    assert found.replaced or max_loads < 6
