"""The method `auto`: its blocks, its memory, its networks and what it says of a page."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import Any
from weakref import ref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dehusk
from dehusk.errors import SettingError
from dehusk.memory import Memory
from dehusk.methods import auto
from dehusk.methods.auto import Auto, network
from dehusk.methods.auto.blocks import LEVELS, cut
from dehusk.methods.auto.columns import Matrix, width
from dehusk.methods.auto.evidence import COLUMNS as EVIDENCE
from dehusk.methods.auto.evidence import column, evidence, lesson
from dehusk.methods.auto.families import is_template_new
from dehusk.methods.auto.judge import Judgement, best_threshold, decide, page_look
from dehusk.methods.auto.looks import COLUMNS as LOOKS
from dehusk.methods.auto.names import read_names
from dehusk.methods.auto.network import load_model, save_model
from dehusk.methods.auto.reading import read
from dehusk.methods.auto.reasons import REASONS, Reason, reasons_of
from dehusk.methods.auto.weighing import COLUMNS as SITE
from dehusk.methods.auto.weighing import site_rows
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Tree
from dehusk.settings import Favour
from dehusk_bench.samples import sample_site

ENTRIES = ("Home", "The mill", "Rye")
MENU = f"<nav><ul>{''.join(f'<li><a href=/{entry}>{entry}</a>' for entry in ENTRIES)}</ul></nav>"
FOOT = "<footer><p>All rights reserved by the mill</p></footer>"


def _tree(html: str) -> Tree:
    return parse(Page(html, "https://grain.example/")).tree


def _extract(html: str | bytes, url: str | None = None, **settings: Any) -> dehusk.Result:
    return dehusk.extract(html, url, method="auto", **settings)


def _page(number: int) -> str:
    text = f"In the year {number} the mill ground {number * 7} sacks of rye, more than ever before."
    return (
        f"<title>Harvest {number}</title>{MENU}<main><h1>Harvest {number}</h1><p>{text}</p>"
        f"<p>It was sold in {number % 9} towns along the river, and none of it was lost.</p></main>"
        f"{FOOT}"
    )


def test_a_block_ends_where_a_block_tag_stands() -> None:
    tree = _tree("<div>one <b>two</b><p>three<br>four</p>five</div>")
    blocks = cut(tree)
    texts = [tree.text(node).strip() for node in blocks.segments.tolist()]
    assert texts == ["one", "two", "three", "four", "five"]
    assert blocks.owner.tolist() == [0, 0, 1, 2, 3]


def test_the_surroundings_of_a_block_are_the_blocks_below_its_ancestors() -> None:
    tree = _tree("<section><div><p>a</p><p>bb</p></div><p>ccc</p></section><p>dddd</p>")
    blocks = cut(tree)
    around = blocks.around(blocks.chars)
    assert around.shape == (4, len(LEVELS))
    assert around[0, :4].tolist() == [1, 3, 6, 10]


def test_a_class_with_a_digit_does_not_change_the_look() -> None:
    looks = [read_names(_tree(f"<p class='post post-{n}'>x")).look.max() for n in (1, 2)]
    assert looks[0] == looks[1] != 0


def test_text_that_looks_like_an_attribute_is_no_name() -> None:
    assert not read_names(_tree('<p>a class="menu" here')).kinds.any()


def test_a_page_is_not_its_own_evidence() -> None:
    page = read(_tree(_page(1)))
    verdict = np.full(len(page.blocks), 0.5)
    alone, _ = evidence(lesson(page, verdict), page, verdict)
    for name in ("pages", "family pages", "given place", "known anywhere", "place known"):
        assert not column(alone, name).any()


def test_evidence_is_of_the_other_pages_whatever_their_order() -> None:
    pages = [read(_tree(_page(number))) for number in range(1, 6)]
    verdicts = [np.linspace(0, 1, len(page.blocks)) for page in pages]
    lessons = [lesson(page, verdict) for page, verdict in zip(pages, verdicts, strict=True)]
    forth, back = Memory(), Memory()
    for each in lessons:
        forth = forth.plus(each)
    for each in reversed(lessons):
        back = back.plus(each)
    told = [evidence(memory, pages[0], verdicts[0])[0] for memory in (forth, back)]
    assert np.array_equal(told[0], told[1])
    assert column(told[0], "given place")[0] == 1.0  # The first entry of the menu.


def test_what_only_this_page_shares_with_one_other_did_not_repeat_before() -> None:
    first, second = read(_tree("<p>same")), read(_tree("<p>same"))
    verdict = np.ones(1)
    memory = lesson(first, verdict).plus(lesson(second, verdict))
    told, _ = evidence(memory, second, verdict)
    assert column(told, "repeats")[0] == 0.0
    assert column(told, "given place")[0] == 1.0


@given(
    st.lists(
        st.tuples(st.floats(0.01, 1), st.integers(1, 500)),
        min_size=1,
        max_size=30,
        unique_by=lambda block: block[0],
    )
)
def test_no_other_threshold_promises_a_better_f1(blocks: list[tuple[float, int]]) -> None:
    likely = np.array([probability for probability, _ in blocks])
    chars = np.array([float(length) for _, length in blocks])

    def promised(threshold: float) -> float:
        total = 0.0
        for strictness in np.arange(0.025, 1, 0.05):
            is_content, kept = likely >= strictness, likely >= threshold
            total += (
                2 * chars[is_content & kept].sum() / (chars[is_content].sum() + chars[kept].sum())
            )
        return total

    chosen = best_threshold(likely, chars)
    if chosen > 0.2:
        assert promised(chosen) == pytest.approx(max(map(promised, likely.tolist())))


def test_a_menu_is_template_and_a_text_is_content_from_page_one_on() -> None:
    site = dehusk.Site(method="auto")
    for number in range(1, 25):
        result = site.add(_page(number), f"https://grain.example/{number}")
        assert f"{number * 7} sacks" in result.text
    assert "The mill" not in result.text
    assert "rights reserved" not in result.text


def test_words_that_come_back_inside_content_stay() -> None:
    site = dehusk.Site(method="auto")
    for number in range(1, 25):
        rows = "".join(
            f"<tr><td>field_{number}_{row}</td><td>NULL</td><td>The yield of field {row} of farm"
            f" {number}, in sacks, as the farmer has written it down.</td></tr>"
            for row in range(12)
        )
        html = _page(number).replace("</main>", f"<table>{rows}</table></main>")
        result = site.add(html, f"https://grain.example/{number}")
    assert result.text.count("NULL") == 12


def test_recall_keeps_at_least_what_precision_keeps() -> None:
    for page in sample_site("news", pages=6, seed=31):
        kept = [
            len(_extract(page.page.html, page.page.url, favour=str(favour)).text)
            for favour in (Favour.PRECISION, Favour.BALANCE, Favour.RECALL)
        ]
        assert kept == sorted(kept)


@pytest.mark.parametrize("kind", ["news", "shop", "docs", "town", "blog", "tables", "forum"])
def test_no_sample_page_comes_out_empty(kind: str) -> None:
    site = dehusk.Site(method="auto")
    for page in sample_site(kind, pages=12, seed=32):
        assert site.add(page.page.html, page.page.url).text


def test_a_new_template_is_noticed_on_its_third_page_and_once() -> None:
    site, changed = dehusk.Site(method="auto"), []
    for number in range(1, 41):
        html = _page(number)
        if number > 20:
            entries = "".join(f"<a href=/{n}>Entry {n} of the new menu</a>" for n in range(12))
            html = f"<div class=new>{entries}</div><article><p>{html[-300:-90]}</article>"
        else:
            html = html.replace("</nav>", "".join(f"<p>Old line {n}" for n in range(12)) + "</nav>")
        if site.add(html, f"https://grain.example/{number}").template_changed:
            changed.append(number)
    assert changed == [23]


def test_a_young_site_has_no_template_to_change() -> None:
    assert not is_template_new(Memory(5))


def test_pages_of_one_kind_are_a_family_and_of_another_kind_are_not() -> None:
    families = {
        kind: {
            _extract(p.page.html, p.page.url).family for p in sample_site(kind, pages=4, seed=33)
        }
        for kind in ("docs", "blog")
    }
    assert not families["docs"] & families["blog"]


def test_the_memory_stays_within_its_limits() -> None:
    method, memory = Auto(max_segments=200, max_places=50), Memory()
    for page in range(6):
        html = "".join(f"<p class=c{chr(97 + n % 26)}><i>{page} {n}</i>" for n in range(300))
        memory = method.learn(memory, _tree(html))
        assert len(memory.table("segments")) <= 200
        assert len(memory.table("texts")) <= 200
        assert len(memory.table("places")) <= 50
    assert Auto().max_segments * 32 + Auto().max_places * 48 + 256 * 16 < 1_000_000


def test_nothing_of_a_page_is_kept_when_it_is_gone() -> None:
    tree = _tree(_page(1))
    method = Auto()
    memory = method.learn(Memory(), tree)
    assert auto._read(tree) is auto._read(tree)
    reading = auto._read(tree)
    assert page_look(reading, load_model()) is page_look(reading, load_model())
    page = ref(reading)
    method.score(memory, tree)
    del tree, reading
    gc.collect()
    assert page() is None
    assert auto._read._last is None
    assert page_look._last is None


def test_an_item_is_at_least_as_likely_as_its_list() -> None:
    page = read(_tree("<ul><li>long and likely<li>long and likely<li>odd</ul><p>apart<p>odd"))
    content = np.array([0.9, 0.8, 0.1, 0.2, 0.1])
    told = np.zeros((5, width(EVIDENCE)), np.float32)
    decided, threshold = decide(page, content, told, 0)
    mean = (15 * 0.9 + 15 * 0.8 + 3 * 0.1) / 33
    assert decided.tolist() == pytest.approx([0.9, 0.8, mean, 0.2, 0.1])
    judgement = Judgement(content, content, decided, 1 - decided, threshold, told)
    reasons = [REASONS[place] for place in reasons_of(judgement)]
    assert reasons[2] is Reason.GROUP
    assert Reason.GROUP not in (reasons[0], *reasons[3:])


def _told(count: int, **columns: float) -> Matrix:
    told = np.zeros((count, width(EVIDENCE)), np.float32)
    for name, value in columns.items():
        told[:, EVIDENCE[name.replace("_", " ")]] = value
    return told


def test_items_that_are_the_same_on_all_pages_are_not_kept_for_their_list() -> None:
    page = read(_tree("<ul><li>long and likely<li>long and likely<li>odd</ul>"))
    content = np.array([0.9, 0.8, 0.1])
    assert decide(page, content, _told(3, given_place=1.0), 9)[0].tolist() == [0.9, 0.8, 0.1]


def test_a_heading_is_half_way_to_what_it_stands_over() -> None:
    page = read(_tree("<h2>Values</h2><h3>Of rye</h3><p>Twelve sacks<h2>See also</h2><p>Oats"))
    decided, _ = decide(page, np.array([0.1, 0.2, 0.8, 0.3, 0.1]), _told(5), 0)
    assert decided.tolist() == pytest.approx([0.3, 0.5, 0.8, 0.3, 0.1])


def test_the_head_of_a_table_goes_with_its_rows() -> None:
    rows = "".join(f"<tr><td>rye {n}<td>{n} sacks" for n in range(9))
    page = read(_tree(f"<table><thead><tr><th>Grain<th>Harvest<tbody>{rows}</table>"))
    content = np.array([0.1, 0.1] + [0.9] * 18)
    decided, threshold = decide(page, content, _told(20), 0)
    assert (decided >= threshold).all()


@pytest.mark.parametrize(("given_place", "is_kept"), [(0.0, True), (1.0, False)])
def test_a_headline_is_kept_with_its_text_unless_the_site_repeats_it(
    given_place: float, is_kept: bool
) -> None:
    html = "<title>Rye is ripe | Mill</title><h1>Rye is ripe</h1><nav>Home</nav><p>Twelve sacks"
    page = read(_tree(html))
    told = _told(3, given_place=given_place)
    decided, threshold = decide(page, np.array([0.1, 0.1, 0.9]), told, 0)
    assert (decided >= threshold).tolist() == [is_kept, False, True]


def test_a_table_that_is_the_same_everywhere_is_template() -> None:
    hours = "".join(f"<tr><td>Day {n}<td>9 to 12" for n in range(5))
    page = read(
        _tree(f"<div><h3>Open</h3><table>{hours}</table><p>{'At the mill. ' * 9}</div><p>x")
    )
    count = len(page.blocks)
    told = _told(count, given_place=1.0, given_place_around=1.0, place_share=1.0)
    told[-1] = 0
    decided, _ = decide(page, np.full(count, 0.9), told, 8)
    assert decided.tolist() == [0.0] * (count - 1) + [0.9]


def test_a_pair_of_items_is_no_list() -> None:
    page = read(_tree("<ul><li>long and likely<li>odd</ul>"))
    told = np.zeros((2, width(EVIDENCE)), np.float32)
    assert decide(page, np.array([0.9, 0.1]), told, 0)[0].tolist() == [0.9, 0.1]


def test_an_explanation_has_a_reason_for_every_text() -> None:
    method, memory = Auto(), Memory()
    for number in range(1, 9):
        tree = _tree(_page(number))
        memory = method.learn(memory, tree)
    told = method.explain(memory, tree)
    texts = tree.is_text & tree.shown & (tree.text_length > 0)
    assert (told.reason[texts] >= 0).all()
    menu = next(n for n in np.flatnonzero(texts).tolist() if tree.text(n) == "The mill")
    assert told.reasons[told.reason[menu]] == "the same text stands here on most pages"
    assert told.site_score[menu] == 1.0
    assert np.array_equal(told.score, method.score(memory, tree), equal_nan=True)


def test_a_model_is_the_same_after_writing_and_reading(tmp_path: Path) -> None:
    model = load_model()
    save_model(model, tmp_path / "model.json")
    again = load_model(str(tmp_path / "model.json"))
    assert again.types == model.types
    assert np.array_equal(again.site.hidden, model.site.hidden)


def test_the_shipped_model_is_small() -> None:
    assert Path(network.__file__).with_name("model.json").stat().st_size < 1_000_000


@pytest.mark.parametrize("written", ["", "{}", "[1]", '{"version": 99}', "\x00"])
def test_a_file_that_is_no_model_is_refused(tmp_path: Path, written: str) -> None:
    (tmp_path / "odd.json").write_text(written)
    with pytest.raises(SettingError, match="model"):
        _extract("<p>x", model=str(tmp_path / "odd.json"))


def test_a_model_whose_parts_do_not_fit_is_refused(tmp_path: Path) -> None:
    save_model(load_model(), tmp_path / "model.json")
    written = json.loads((tmp_path / "model.json").read_text())
    written["page"]["hidden"].pop()
    (tmp_path / "model.json").write_text(json.dumps(written))
    with pytest.raises(SettingError, match="model"):
        _extract("<p>x", model=str(tmp_path / "model.json"))


def test_an_unknown_preference_is_refused() -> None:
    with pytest.raises(SettingError, match="precision, balance, recall"):
        _extract("<p>x", favour="speed")


def test_the_type_of_a_page_comes_with_a_confidence() -> None:
    for page in sample_site("forum", pages=3, seed=34):
        result = _extract(page.page.html, page.page.url)
        assert result.type
        assert 0 < (result.type_confidence or 0) <= 1


def _looks(html: str, part: str) -> np.ndarray[Any, Any]:
    return read(_tree(html)).looks[:, LOOKS[part]]


def test_the_parts_of_the_looks_are_as_wide_as_they_say() -> None:
    page = read(_tree(_page(1)))
    assert page.looks.shape[1] == width(LOOKS)
    logits = np.zeros(len(page.blocks))
    told, verdicts = evidence(lesson(page, logits), page, logits)
    assert site_rows(page, logits, told, verdicts).shape[1] == width(SITE)


COMMENTS = "".join(
    f"<div class=comment><b>Miller {n}</b><p>I too have seen it, {n} times or more.</p></div>"
    for n in range(6)
)


def test_comments_are_a_row_and_the_article_before_them_is_not() -> None:
    article = f"<article><h1>Rye</h1><p>{'The rye is ripe. ' * 9}</p></article>"
    rows = _looks(f"<main>{article}<section>{COMMENTS}</section></main>", "rows")
    assert rows[:2, 0].tolist() == [0, 0]
    assert np.allclose(rows[2:, 0], np.log1p(6))
    # Which of the six it is, and that all running text of the article stands before it.
    assert np.allclose(rows[2::2, 7], np.log1p(range(6)))
    assert np.all(rows[2:, 9] > 0)


def test_paragraphs_of_several_lines_are_no_row() -> None:
    lines = "".join(f"<p>Line {n} of the poem<br>and the next</p>" for n in range(8))
    assert not _looks(f"<main>{lines}</main>", "rows")[:, 0].any()


def test_the_columns_of_a_layout_are_no_row() -> None:
    columns = "".join(f"<div><p>{'word ' * n}</p><p>x</p></div>" for n in (2, 3, 2, 100))
    assert not _looks(f"<main>{columns}</main>", "rows")[:, 0].any()


def test_a_text_that_stands_there_twice_is_a_copy_the_second_time() -> None:
    text = "The rye was brought in before the rain, and none of it was lost."
    spaced = text.replace(" ", "\n").replace("and\nnone", "<b>and&nbsp;none</b>")
    copies = _looks(
        f"<p>{text}</p><p>Once only, but long enough to be one of two.</p><p>{spaced}</p>", "copies"
    )
    assert copies[:, 0].tolist() == [0, 0, 1]
    assert (copies[:, 1] > 0).tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("Rye.", 1),
        ("黑麦。", 1),
        ("Что это?", 1),
        ("рожь с", 0),
        ("Spaß", 0),
        ("ржи", 0),
        ("麦", 0),
        ("؟ نعم؟", 1),
    ],
)
def test_a_sentence_is_told_by_its_end_in_any_script(text: str, ends: int) -> None:
    assert _looks(f"<p>{text} </p>", "text")[0, 10] == ends


def test_the_title_of_a_drawing_is_not_the_pages() -> None:
    html = "<svg><title>Rye is ripe</title></svg><p>Rye is ripe</p>"
    assert not _looks(html, "title")[:, 0].any()
    assert _looks(f"<title>Rye is ripe | Mill</title>{html}", "title")[-1, 0] == 1


@pytest.mark.parametrize("html", ["<p>x", "<a href=/>Home</a>", "<h1>1</h1><h2>2</h2>", "<td>9"])
def test_a_page_with_text_does_not_come_out_empty(html: str) -> None:
    assert _extract(html).text


def test_a_page_that_says_only_what_others_say_is_empty() -> None:
    site = dehusk.Site(method="auto")
    for number in range(12):
        site.add(_page(number), f"https://grain.example/{number}")
    assert site.add(MENU + FOOT, "https://grain.example/empty").text == ""


def test_every_change_of_the_template_is_noticed_but_not_in_two_passes() -> None:
    pages = []
    for number in range(90):
        lines = "".join(f"<p>Line {n} of template {number // 30}" for n in range(12))
        pages.append(f"<div>{lines}</div>" + _page(number)[-300:])
    site = dehusk.Site(method="auto")
    changed = [number for number, html in enumerate(pages) if site.add(html).template_changed]
    assert changed == [32, 62]
    assert site.ask(pages[5], is_learned=True).template_changed is None


def test_a_model_of_other_features_is_refused(tmp_path: Path) -> None:
    written = json.loads(network._SHIPPED.read_text("utf-8"))
    written["page"]["hidden"] = written["page"]["hidden"][1:]
    for name in ("floor", "ceiling"):
        written["page"][name] = written["page"][name][1:]
    (tmp_path / "model.json").write_text(json.dumps(written), "utf-8")
    with pytest.raises(SettingError, match="no model of this version"):
        _extract("<p>x", model=str(tmp_path / "model.json"))


def test_prose_that_is_the_same_on_all_pages_goes_whatever_it_looks_like() -> None:
    box = "".join(
        f"<p>As so often, farmer {n} had told the council of the glass roof." for n in range(9)
    )
    site = dehusk.Site(method="auto")
    for number in range(8):
        result = site.add(
            f"<main><h1>Rye {number}</h1><p>It cost {number}.</p></main><div>{box}</div>"
        )
    assert result.text == "Rye 7\nIt cost 7."


def test_a_page_under_several_urls_does_not_come_out_empty() -> None:
    site = dehusk.Site(method="auto")
    article = _page(1).replace("</main>", f"<p>{'Rye was cheap in that year. ' * 20}</p></main>")
    for number in range(6):
        result = site.add(article, f"https://grain.example/1?from={number}")
    assert "Rye was cheap" in result.text


def test_a_label_stays_with_its_value() -> None:
    site = dehusk.Site(method="auto")
    for number in range(8):
        values = {
            "Material": ("Steel", "Brass", "Zinc")[number % 3],
            "Length": f"{number * 7} mm",
            "Head": "Hex",
            "Delivery": f"{number + 1} days",
        }
        table = "".join(
            f"<tr><th>{label}</th><td>{value}</td></tr>" for label, value in values.items()
        )
        result = site.add(_page(number).replace("</main>", f"<table>{table}</table></main>"))
    assert all(
        f"{label}" in result.text for label in ("Material", "Length", "Head", "Hex", "Delivery")
    )


def test_a_long_page_is_not_taken_for_a_list() -> None:
    random = np.random.default_rng(3)
    words = [
        "the",
        "river",
        "mill",
        "grain",
        "harvest",
        "council",
        "road",
        "bridge",
        "town",
        "year",
        "old",
        "new",
        "water",
        "stone",
    ]
    law = "".join(
        f"<h3>§ {n}</h3><p>{' '.join(random.choice(words, 22))}.</p>" for n in range(1500)
    )
    page = f"<title>Law</title>{MENU}<main><h1>Law</h1>{law}</main>{FOOT}"
    assert _extract(page).template_share < 0.1
