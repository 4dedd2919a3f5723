"""Pages made harder: what is put in is template, and all else keeps its gold."""

from __future__ import annotations

import numpy as np

from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Flags
from dehusk_bench.corpora import GoldPage, open_corpus
from dehusk_bench.train.gold import block_gold
from dehusk_bench.train.harder import (  # fmt: skip
    Donor,
    Donors,
    ReadPage,
    append_pieces,
    article_of,
    comments_of,
    donors_of,
    harder_pages,
    make_harder,
    scramble_names,
)
from dehusk_bench.train.lessons import read_corpora, read_plain, site_features

_MENU = Donor(b'<ul class="menu"><li>Wheat</li><li>Spelt</li></ul>', "en", is_linked=True)


def _read(page: GoldPage) -> ReadPage:
    tree = parse(page.page).tree
    reading = read_plain(tree)
    gold = block_gold(page, tree, reading)
    assert gold is not None
    return ReadPage(tree, reading, gold)


def _page(html: str, **gold: object) -> ReadPage:
    page = Page(html, "https://grain.example/rye", "grain.example")
    return _read(GoldPage(page, "grain.example", 1, **gold))  # type: ignore[arg-type]


def _texts(page: ReadPage, blocks: Flags) -> list[str]:
    """The texts of these blocks."""
    segments, owners = np.asarray(page.reading.segments), np.asarray(page.reading.owners)
    return [page.tree.text(int(node)) for node in segments[blocks[owners]]]


def test_what_is_put_in_is_template_and_the_rest_keeps_its_gold() -> None:
    for gold_page in open_corpus("samples:news:3:4").pages():
        page = _read(gold_page)
        harder = make_harder(page, [_MENU, _MENU], 1)
        assert harder is not None
        assert len(harder.reading) == len(page.reading) + 4
        added = np.isin(np.arange(len(harder.reading)), _old(page, harder), invert=True)
        assert sorted(_texts(harder, added)) == ["Spelt", "Spelt", "Wheat", "Wheat"]
        assert _texts(harder, harder.gold.hits > 0) == _texts(page, page.gold.hits > 0)
        assert harder.gold.content_words == page.gold.content_words
        assert harder.gold.words.sum() == page.gold.words.sum() + 4


def _old(page: ReadPage, harder: ReadPage) -> list[int]:
    """The places of the blocks of the page in the harder one: all but those of the menu."""
    owners = np.asarray(harder.reading.owners)
    menu = [
        int(owner)
        for owner, node in zip(owners, np.asarray(harder.reading.segments), strict=True)
        if harder.tree.text(int(node)) in ("Wheat", "Spelt")
    ]
    return [place for place in range(len(harder.reading)) if place not in menu]


def test_a_page_is_made_harder_the_same_way_on_every_run() -> None:
    page = _page("<body><div><p>Rye grew</p><p>Oats too</p></div>", content="Rye grew Oats too")
    first, second, other = (make_harder(page, [_MENU] * 3, seed) for seed in (1, 1, 2))
    assert first is not None
    assert second is not None
    assert other is not None
    assert first.tree.source == second.tree.source
    assert first.tree.source != other.tree.source


def test_donors_are_the_largest_pieces_without_content() -> None:
    menu = "<div><ul>" + "".join(f"<li>Field number {n}</li>" for n in range(9)) + "</ul></div>"
    page = _page(f"<body>{menu}<div><p>Rye grew</p></div>", content="Rye grew")
    (donor,) = donors_of(page, "en")
    assert donor.html.decode() == menu


def test_a_page_of_which_only_values_are_known_has_no_donors_and_stays() -> None:
    page = _page("<p>Rye 9.50 a sack", must_keep=("9.50",))
    assert not donors_of(page, None)
    assert make_harder(page, [_MENU], 1) is None


def test_a_page_is_given_donors_of_its_fold_and_language() -> None:
    donors = Donors()
    german = Donor(b"<p>Weizen</p>", "de", is_linked=False)
    donors.add(0, [_MENU, german])
    donors.add(1, [german])
    assert donors.pick(0, "de", 1, "x") == [german]
    assert donors.pick(1, "en", 2, "x") == [german]
    assert not donors.pick(2, "en", 2, "x")


def test_the_article_of_a_page_is_its_main_element_with_a_heading() -> None:
    title = "<head><title>Rye &amp; oats - Mill</title></head>"
    html = f'{title}<body><ul><li>Wheat</ul><div class="a"><p>Rye grew</p><p>Oats too</p></div>'
    (article,) = article_of(_page(html, content="Rye grew Oats too"), "en")
    heading = b"<h1>Rye &amp; oats</h1>"
    assert article.html == b'<div class="a">' + heading + b"<p>Rye grew</p><p>Oats too</p></div>"
    headed = html.replace("<p>Rye", "<h1>Rye</h1><p>Rye")
    (article,) = article_of(_page(headed, content="Rye Rye grew Oats too"), "en")
    assert article.html.count(b"<h1>") == 1
    for without in (html.replace(title, ""), html.replace("Oats", "Oats " * 6000)):
        assert not article_of(_page(without, content="Rye grew Oats too"), "en")


def test_articles_are_appended_behind_all_content_as_template() -> None:
    html = "<body><main><div><p>Rye grew</p><p>Oats too</p></div><p>Late</p></main><p>Mill</p>"
    page = _page(html, content="Rye grew Oats too Late")
    article = Donor(b"<div><h1>Wheat</h1><p>Spelt</p></div>", "en", is_linked=False)
    for seed in range(4):
        longer = append_pieces(page, [article] * 2, seed)
        assert longer is not None
        assert _texts(longer, longer.gold.hits > 0) == ["Rye grew", "Oats too", "Late"]
        assert _texts(longer, longer.gold.hits == 0) == ["Wheat", "Spelt"] * 2 + ["Mill"]
        assert longer.gold.known.all()
    assert append_pieces(page, [], 1) is None
    assert append_pieces(_page("<p>Rye 9.50", must_keep=("9.50",)), [article], 1) is None


def test_some_pages_with_an_article_get_articles_of_others_of_their_fold() -> None:
    pages = read_corpora([open_corpus("samples:news:6:40")], lambda *_: None, 40)
    first, second = (harder_pages(pages, [0] * len(pages), 1) for _ in range(2))
    assert [page.tree.source for page, _ in first] == [page.tree.source for page, _ in second]
    headings = [page.tree.source.count(b"<h1") for page in pages]
    longer = [page for page, _ in first if page.tree.source.count(b"<h1") > max(headings)]
    assert 0 < len(longer) < len(pages) / 3 * 0.3
    old = {page.tree.url: page.gold.hits.sum() for page in pages}
    assert all(page.gold.hits.sum() == old[page.tree.url] for page in longer)


def test_names_are_replaced_alike_on_all_pages_of_a_site() -> None:
    pages = [
        _page(f'<body><div class="a b"><p id="c">Rye {n}</p></div> class="a"', content=f"Rye {n}")
        for n in range(2)
    ]
    scrambled = [scramble_names(page, "grain.example") for page in pages]
    names = set()
    for page, old in zip(scrambled, pages, strict=True):
        assert page is not None
        assert np.array_equal(page.gold.hits, old.gold.hits)
        assert b' class="a"' in page.tree.source  # a text, not a tag
        node = int(np.flatnonzero(~page.tree.is_text)[3])
        names.add(page.tree.attributes(node)["class"])
    assert len(names) == 1
    assert "a b" not in names


def test_a_page_alone_is_read_without_the_others() -> None:
    pages = read_corpora([open_corpus("samples:news:3:6")], lambda *_: None, 40)
    blank = [np.zeros(len(page.reading)) for page in pages]
    types = np.zeros((len(pages), 7))
    *_, (together, alone) = site_features(pages, blank, types)
    ((single, same),) = site_features(pages[5:], blank[5:], types[5:])
    assert np.array_equal(alone, single)
    assert np.array_equal(same, single)
    assert not np.array_equal(alone, together)


def test_comments_are_given_to_other_pages_as_their_smallest_element_without_content() -> None:
    said = "Fine rye, says one of the readers of this, and another one says the same " * 3
    notes = f"<div id=c><p>{said}</p><p>{said[::-1]}</p></div>"
    content = "Rye grew on all the fields of the valley"
    html = f"<body><main><p>{content}</p></main>{notes}<p>Mill</p>"
    (donor,) = comments_of(_page(html, content=content, comments=said + said[::-1]), "en")
    assert donor.html.startswith(b'<div id="c">')
    assert donor.html.endswith(b"</div>")
    assert not comments_of(_page(html, content=content), "en")
    mixed = html.replace(f"<p>{content}</p>", "").replace(
        "<div id=c>", f"<div id=c><p>{content}</p>"
    )
    assert not comments_of(_page(mixed, content=content, comments=said + said[::-1]), "en")
