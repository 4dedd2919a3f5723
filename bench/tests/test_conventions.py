"""Golds made alike: headlines, captions, bylines, comments and phrases of blocks."""

from __future__ import annotations

import numpy as np

from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk_bench.corpora import GoldPage
from dehusk_bench.train.gold import BlockGold, block_gold
from dehusk_bench.train.lessons import (  # fmt: skip
    GoldReading,
    block_targets,
    kind_of,
    page_weights,
    read_plain,
)

_RYE = "Rye grew on poor soil where nothing else would grow, and so it fed the whole of the north"
_OATS = "Oats were for horses, until somebody in the hills found that they make a fine bread too"


def _gold(html: str, **gold: object) -> BlockGold:
    page = Page(html, "https://grain.example/", "grain.example")
    tree = parse(page).tree
    found = block_gold(GoldPage(page, "grain.example", 1, **gold), tree, read_plain(tree))  # type: ignore[arg-type]
    assert found is not None
    return found


def _share(gold: BlockGold) -> list[float | None]:
    """What each block should be; None for unknown."""
    share = gold.hits / np.maximum(gold.words, 1)
    return [
        float(one) if is_known else None for one, is_known in zip(share, gold.known, strict=True)
    ]


def test_a_headline_that_the_gold_lacks_is_content_and_does_not_count() -> None:
    html = f"<title>How rye came north - Grain</title><h1>How rye came north</h1><p>{_RYE}"
    gold = _gold(html, content=_RYE)
    assert _share(gold) == [1, 1]
    assert gold.counted.tolist() == [False, True]
    assert gold.right(np.array([True, True])) == gold.right(np.array([False, True])) == 1


def test_a_headline_that_the_gold_has_counts() -> None:
    html = f"<title>How rye came north</title><h1>How rye came north</h1><p>{_RYE}"
    gold = _gold(html, content=f"How rye came north {_RYE}")
    assert gold.counted.all()
    assert (gold.right(np.array([False, True])) or 1) < 1


def test_a_way_through_the_site_is_not_taken_for_the_headline() -> None:
    html = (
        "<title>How rye came north</title><p>Home > Grain > How rye came north"
        f"<h1>How rye came north</h1><p>{_RYE}"
    )
    assert _share(_gold(html, content=f"How rye came north {_RYE}")) == [0, 1, 1]


def test_the_name_of_a_site_is_not_its_headline() -> None:
    html = (
        "<title>How rye came north - The Old Grain Mill</title><h1>The Old Grain Mill</h1>"
        f"<h1>How rye came north</h1><p>{_RYE}"
    )
    gold = _gold(html, content=f"How rye came north {_RYE}")
    assert _share(gold) == [0, 1, 1]
    assert gold.counted.tolist() == [False, True, True]


def test_a_byline_that_the_gold_lacks_is_unknown() -> None:
    html = f"<h1>Rye came north</h1><p>By Ann Miller<p>7 May 2021<p>Print<p>{_RYE}<p>{_OATS}"
    gold = _gold(html, content=f"Rye came north {_RYE} {_OATS}", authors="Ann Miller")
    assert _share(gold) == [1, None, None, 0, 1, 1]
    gold = _gold(html, content=f"Rye came north By Ann Miller 7 May 2021 {_RYE} {_OATS}")
    assert _share(gold) == [1, 1, 1, 0, 1, 1]


def test_captions_are_content_where_they_are_known_and_else_unknown() -> None:
    html = (
        f"<p>{_RYE}<figure><figcaption>A field of rye in June</figcaption></figure><p>{_OATS}"
        "<figure><figcaption>A horse that waits</figcaption></figure>"
    )
    gold = _gold(html, content=f"{_RYE} {_OATS}", captions="A field of rye in June")
    assert _share(gold) == [1, 1, 1, None]
    assert gold.content_words == len(f"{_RYE} {_OATS}".split())


def test_comments_are_template_except_in_a_forum() -> None:
    html = f"<body><p>{_RYE}</p><div><p>{_OATS}</p></div>"
    nodes = {"content_nodes": ((1,),), "comments_nodes": ((1, 1),)}
    assert _share(_gold(html, **nodes)) == [1, 0]
    assert _share(_gold(html, genre="forum", **nodes)) == [1, 1]


def test_words_that_the_content_has_somewhere_do_not_make_a_menu_content() -> None:
    menu = "".join(f"<li>{word}" for word in ("Rye", "Home", "Barley", "Seed", "Mills"))
    html = f"<ul>{menu}</ul><p>Weather today<p>Prices<p>Ads<p>Maps<p>{_OATS}"
    gold = _gold(html, content=f"Rye is sown late. {_OATS}")
    assert _share(gold) == [0] * 9 + [1]


def test_a_block_in_another_order_is_content() -> None:
    gold = _gold(f"<p>{_RYE}<p>{_OATS}", content=f"{_OATS} {_RYE}")
    assert _share(gold) == [1, 1]
    assert gold.right(np.array([True, True])) == 1


def test_phrases_say_what_is_content_and_what_is_not() -> None:
    html = f"<p>{_RYE}<p>Subscribe to our letter today<p>{_OATS}<p>Ann said: so true"
    gold = _gold(
        html,
        must_keep=("fed the whole of the nor",),
        must_drop=("to our letter",),
        comments_snippets=("so true",),
    )
    assert _share(gold) == [1, 0, None, 0]
    assert gold.right(np.array([True, False, True, False])) == 1
    assert gold.right(np.array([True, True, True, True])) == 0.5
    page = _reading(gold, kind="article")
    share, weight = block_targets(page, np.zeros((4, 0), np.float32))
    assert np.array_equal(share, [1, 0, np.nan, 0], equal_nan=True)
    assert (weight > 0).all()


def _reading(gold: BlockGold, kind: str, corpus: str = "a", site: str = "s") -> GoldReading:
    tree = parse(Page("<p>x", "https://x.example/", "x")).tree
    return GoldReading(corpus, site, site, 1, tree, read_plain(tree), gold, None, kind, None)


def test_a_kind_counts_by_its_factor_whatever_number_of_pages_it_has() -> None:
    gold = _gold(f"<p>{_RYE}", content=_RYE)
    pages = [_reading(gold, "article", site=f"s{n}") for n in range(30)]
    pages += [_reading(gold, "forum"), _reading(gold, "forum", corpus="b")]
    weights = page_weights(pages, {})
    assert np.isclose(weights[:30].sum() / weights[30:].sum(), 2)
    weighed = page_weights(pages, {"b": 3.0})
    assert np.isclose(weighed[31] / weighed[30], 3)


def test_a_page_has_the_kind_of_its_genre_type_generator_or_corpus() -> None:
    page = Page("<p>x", "https://x.example/", "x")
    kinds = [
        kind_of("sites-dev", GoldPage(page, "x", 1, genre="museum", generator="omeka")),
        kind_of("wcxb-dev", GoldPage(page, "x", 1, type="listing")),
        kind_of("docs-dev", GoldPage(page, "x", 1, generator="Javadoc (JDK17)")),
        kind_of("docs-dev", GoldPage(page, "x", 1, generator="Sphinx")),
        kind_of("news-dev", GoldPage(page, "x", 1)),
    ]
    assert kinds == ["organisation", "listing", "reference", "documentation", "news"]
