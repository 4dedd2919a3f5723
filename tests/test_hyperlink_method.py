"""The method `hyperlink` as a whole: seeds 000 and 001, and what goes beyond them."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest

from dehusk.answer.labels import Label, label
from dehusk.errors import NotHtml, SettingError
from dehusk.memory import Memory
from dehusk.methods.papers.hyperlink import (
    BEST_VOTES,
    Equality,
    Hyperlink,
    Outcome,
    detect,
)
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Tree
from pages_of_mill import (
    NAMES,
    SITE,
    STORIES,
    detect_in,
    key_of,
    mill_page,
    mill_site,
    text_of,
)

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
    assert detect_in(mill_site(), size=1, votes=1).loads == 2
    found = detect_in(mill_site())
    assert (found.outcome, found.loads, len(found.pages)) == (Outcome.FOUND, 4, 3)


def test_the_menu_and_the_footer_are_template_by_the_paper() -> None:
    site = mill_site()
    found = detect_in(site)
    # The menus differ in one entry, and an item's place is all that the paper's equality sees.
    assert text_of(key_of(site), found.scores > 0.5) >= TEMPLATE


def test_the_paper_calls_parallel_content_template_and_text_does_not() -> None:
    """Every page has `main > h1, p`: equality by tag, class and place cannot tell them apart."""
    site = mill_site()
    tree = key_of(site)
    by_paper = text_of(tree, detect_in(site).scores > 0.5)
    by_text = text_of(tree, detect_in(site, equality="text").scores > 0.5)
    assert "Oats in the field" in by_paper
    assert by_text == TEMPLATE


def test_by_text_labels_part_content_from_template() -> None:
    site = mill_site()
    tree = key_of(site)
    labels = label(tree, detect_in(site, equality="text").scores).labels
    assert text_of(tree, np.asarray(labels == Label.CONTENT)) == CONTENT
    assert text_of(tree, np.asarray(labels == Label.TEMPLATE)) == TEMPLATE


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_a_node_is_template_from_the_votes_asked_for_on(size: int) -> None:
    """Voting for any size and number of votes, 001 section 3.2."""
    site = mill_site()
    for votes in range(1, size + 1):
        found = detect_in(site, size=size, votes=votes)
        assert found.needed == votes
        assert found.votes.max() == size
        assert (found.is_template == (found.votes >= votes)).all()
        shown = key_of(site).shown
        assert ((found.scores > 0.5) == found.is_template)[shown].all()


def test_more_votes_never_make_more_template() -> None:
    site = mill_site()
    counts = [int(detect_in(site, size=4, votes=votes).is_template.sum()) for votes in (1, 2, 3, 4)]
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
    assert {"Left", "Right"} <= text_of(key, one.is_template)
    assert not {"Left", "Right"} & text_of(key, both.is_template)


def test_without_a_loader_there_is_no_opinion() -> None:
    found = detect(Hyperlink(), key_of(mill_site()))
    assert found.outcome is Outcome.NO_LOADER
    assert np.isnan(found.scores).all()
    assert "no other pages" in found.message


def test_a_page_without_a_url_says_so() -> None:
    found = detect(Hyperlink(loader=mill_site().get), parse(Page("<a href=x>x</a>")).tree)
    assert found.outcome is Outcome.NO_URL
    assert "URL" in found.message


def test_a_page_without_links_says_so() -> None:
    tree = parse(Page("<p>x</p><a href=https://other.example/>o</a>", f"{SITE}/x")).tree
    found = detect(Hyperlink(loader=mill_site().get), tree)
    assert found.outcome is Outcome.NO_LINKS
    assert np.isnan(found.scores).all()
    assert "1 link to other sites left out" in found.message


def test_links_that_lead_nowhere_say_so() -> None:
    found = detect(Hyperlink(loader=lambda _: None), key_of(mill_site()))
    assert (found.outcome, found.loads, len(found.failed)) == (Outcome.NO_PAGES, 1, 5)
    assert "5 links could not be used" in found.message


def test_a_page_that_cannot_be_used_leads_nowhere() -> None:
    site = mill_site()

    def load(url: str) -> Tree | None:
        if "Rye" in url:
            raise NotHtml(url, "binary data")
        return site.get(url)

    found = detect(Hyperlink(loader=load), key_of(site))
    assert found.failed == (f"{SITE}/Rye.html",)
    assert found.outcome is Outcome.FOUND


def test_pages_of_other_sites_are_not_compared_with() -> None:
    """A link of the site that leads out of it, as a redirection does."""
    site = mill_site()
    other = parse(Page("<p>elsewhere</p>", "https://other.example/")).tree
    site[f"{SITE}/Rye.html"] = other
    found = detect_in(site)
    assert f"{SITE}/Rye.html" in found.failed
    assert f"{SITE}/Rye.html" not in found.pages


def test_the_key_page_under_another_name_does_not_vote() -> None:
    """It has every node of the key page, so that all would be template."""
    site = mill_site()
    site[f"{SITE}/Rye.html"] = key_of(site)
    assert f"{SITE}/Rye.html" not in detect_in(site).pages


def test_a_smaller_subdigraph_answers_with_fewer_votes() -> None:
    site = mill_site(lambda one, other: one == "Oats" != other or {one, other} == {"Rye", "Spelt"})
    found = detect_in(site, size=4, votes=3)
    assert (found.outcome, found.needed) == (Outcome.SMALLER, 2)
    assert set(found.pages) == {f"{SITE}/Rye.html", f"{SITE}/Spelt.html"}
    assert found.loads == len(NAMES)
    assert "no 4 pages link each other: 2 do" in found.message


def test_a_subdigraph_of_size_1_still_answers() -> None:
    found = detect_in(mill_site(lambda one, other: one == "Oats" != other))
    assert (found.outcome, found.needed, len(found.pages)) == (Outcome.SINGLE, 1, 1)
    assert "compared with one page" in found.message
    assert (found.scores > 0.5).any()


def test_a_site_of_one_page_has_no_opinion() -> None:
    site = {f"{SITE}/Oats.html": mill_page("Oats", ["Oats"])}
    assert detect_in(site).outcome is Outcome.NO_LINKS


def test_a_moved_menu_gets_its_votes_if_asked_for() -> None:
    site = mill_site()
    menu = "".join(f"<li><a href='/{name}.html'>{name}</a></li>" for name in NAMES)
    for place, name in enumerate(NAMES):
        bar = f"<div><ul>{menu}</ul></div>"
        before, behind = (bar, "") if place == 0 else ("", bar)
        html = f"<html><body>{before}<main>{STORIES[name]}</main><form></form>{behind}"
        url = f"{SITE}/{name}.html"
        site[url] = parse(Page(html, url)).tree
    tree = key_of(site)
    assert "Rye" not in text_of(tree, detect_in(site).is_template)
    assert "Rye" in text_of(tree, detect_in(site, moved=True).is_template)


def test_the_main_content_can_be_taken_out_first() -> None:
    site = mill_site()
    tree = key_of(site)
    found = detect_in(site, content_first=True)
    assert not text_of(tree, found.scores > 0.5) & CONTENT
    assert "Ground daily since long ago" in text_of(tree, found.scores > 0.5)
    by_text = detect_in(site, content_first=True, equality="text")
    assert not text_of(tree, by_text.scores > 0.5) & CONTENT


def test_by_text_what_no_page_repeats_is_template_outside_the_content() -> None:
    """A list of what is near, at the border of the content, differs from page to page."""
    site = mill_site()
    for name in NAMES:
        url = f"{SITE}/{name}.html"
        near = f"<div>Next: <a href='/{name}/next'>after {name}</a></div>"
        source = site[url].source.decode().replace("<footer>", f"{near}<footer>")
        site[url] = parse(Page(source, url)).tree
    tree = key_of(site)
    found = text_of(tree, detect_in(site, equality="text").scores > 0.5)
    assert found == {*TEMPLATE, "Next:", "after Oats"}


def test_by_text_repeated_words_inside_the_content_stay_content() -> None:
    site = mill_site()
    for name in NAMES:
        url = f"{SITE}/{name}.html"
        table = f"<table><tr><td>Colour</td><td>the hue of {name}, seen at noon</td></tr></table>"
        ending = f"<p>{name} keeps for long years in a dry and airy place.</p>"
        source = site[url].source.decode().replace("</main>", f"{table}{ending}</main>")
        site[url] = parse(Page(source, url)).tree
    tree = key_of(site)
    assert "Colour" not in text_of(tree, detect_in(site, equality="text").scores > 0.5)


def test_by_text_a_title_belongs_to_the_long_paragraph_beside_it() -> None:
    """One paragraph may hold nearly all new text; the content is where it stands."""
    site = mill_site()
    for name in NAMES:
        url = f"{SITE}/{name}.html"
        start, _, rest = site[url].source.decode().partition("<main>")
        story = f"<main><h1>{name}!</h1><p>{' and '.join([name] * 40)}</p></main>"
        site[url] = parse(Page(start + story + rest.partition("</main>")[2], url)).tree
    found = detect_in(site, equality="text")
    assert text_of(key_of(site), found.scores > 0.5) == TEMPLATE


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
    found = detect_in(site, equality="text")
    assert found.is_template[key_of(site).shown].all()


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
    site = mill_site()
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
    site = mill_site()
    first, second = detect_in(site), detect_in(site)
    assert np.array_equal(first.scores, second.scores, equal_nan=True)
    assert first.pages == second.pages
