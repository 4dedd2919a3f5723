"""The method `auto`: its blocks, its memory, its networks and what it says of a page."""

from __future__ import annotations

import gc
import json
import math
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from weakref import ref
from zlib import crc32

import numpy as np
import pytest
from msgspec.structs import replace

import dehusk
from dehusk import _kernel
from dehusk.errors import SettingError
from dehusk.memory import Memory, Table
from dehusk.methods.auto import Auto, model
from dehusk.methods.auto.features import (  # fmt: skip
    PAGE_FEATURES,
    SITE_FEATURES,
    columns_by_name,
)
from dehusk.methods.auto.model import Lexicon, Matrix, load_model, save_model
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Tree
from dehusk.settings import Favour
from dehusk_bench.samples import sample_site

ENTRIES = ("Home", "The mill", "Rye")
MENU = f"<nav><ul>{''.join(f'<li><a href=/{entry}>{entry}</a>' for entry in ENTRIES)}</ul></nav>"
WORDS = ("stone", "river", "mill", "grain", "oat", "rye", "field", "crop", "wind", "sail", "cart")
FOOT = "<footer><p>All rights reserved by the mill</p></footer>"


def _tree(html: str) -> Tree:
    return parse(Page(html, f"https://grain.example/{crc32(html.encode())}")).tree


def _extract(html: str | bytes, url: str | None = None, **settings: Any) -> dehusk.Result:
    return dehusk.extract(html, url, method="auto", **settings)


def _page(number: int) -> str:
    said = " ".join(random.Random(number).choices(WORDS, k=12))
    text = f"In the year {number} the mill ground {number * 7} sacks of {said}."
    return (
        f"<title>Harvest {number}</title>{MENU}<main><h1>Harvest {number}</h1><p>{text}</p>"
        f"<p>It was sold in {number % 9} towns, of which {said[::-1]} lost none.</p></main>"
        f"{FOOT}"
    )


def _read(html: str) -> _kernel.Reading:
    return load_model().read(_tree(html))


def _opinion(page: _kernel.Reading, content: float) -> _kernel.Opinion:
    """As if the page network saw that probability in every block."""
    return _kernel.opinion_of_logits(page, np.full(len(page), np.log(content / (1 - content))))


def _evidence(memory: Memory, page: _kernel.Reading, opinion: _kernel.Opinion, name: str) -> Matrix:
    rows = _kernel.site_features(page, opinion, memory.tables, memory.pages, np.zeros(7))
    columns = columns_by_name(SITE_FEATURES)[f"evidence.{name}"]
    return np.frombuffer(rows, np.float32).reshape(len(page), -1)[:, columns]


def test_a_block_ends_where_a_block_tag_stands() -> None:
    tree = _tree("<div>one <b>two</b><p>three<br>four</p>five</div>")
    page = load_model().read(tree)
    texts = [tree.text(node).strip() for node in page.segments.tolist()]
    assert texts == ["one", "two", "three", "four", "five"]
    assert page.owners.tolist() == [0, 0, 1, 2, 3]


def test_the_surroundings_of_a_block_are_the_blocks_below_its_ancestors() -> None:
    page = _read("<section><div><p>a</p><p>bb</p></div><p>ccc</p></section><p>dddd</p>")
    total = np.concatenate(([0], np.cumsum(page.chars)))
    around = total[np.asarray(page.high)] - total[np.asarray(page.low)]
    assert around.shape == (4, 6)
    assert around[0, :4].tolist() == [1, 3, 6, 10]


def test_a_class_with_a_digit_does_not_change_the_place() -> None:
    pages = [_read(f"<p class='{classes}'>x") for classes in ("post post-1", "post-2 post", "menu")]
    places = [page.places[0] for page in pages]
    assert places[0] == places[1] != places[2]


def test_text_that_looks_like_an_attribute_is_no_name() -> None:
    assert not _features('<p>a class="menu" here', "names").any()
    assert _features("<p class=menu>a", "names").any()


def test_the_variety_of_a_place_is_of_what_other_pages_had_there() -> None:
    # A heading of its own on each page, one of three members, and the same line at the foot.
    pages = [_read(f"<h1>Field {n}</h1><h2>Member {n % 3}</h2><h3>The mill</h3>") for n in range(7)]
    opinions = [_opinion(page, 0.5) for page in pages]
    memory = Memory()
    for each in opinions:
        memory = memory.plus(Memory(1, each.lesson))
    variety = _evidence(memory, pages[6], opinions[6], "variety")
    assert np.allclose(variety[:, 0], np.log([6, 3, 1]))
    assert not _evidence(Memory(1, opinions[6].lesson), pages[6], opinions[6], "variety").any()


def test_where_the_content_of_other_pages_stood_is_evidence() -> None:
    pages = [_read(_page(number)) for number in range(1, 6)]
    is_main = np.array([0, 0, 0, 1, 1, 1, 0])
    opinions = [_kernel.opinion_of_logits(page, 8.0 * is_main - 4) for page in pages]
    memory = Memory()
    for each in opinions:
        memory = memory.plus(Memory(1, each.lesson))
    page, own = pages[0], opinions[0]
    assert _evidence(memory, page, own, "family_place")[:, 0].tolist() == is_main.tolist()
    assert _evidence(memory, page, own, "page_family_place").all()
    # A page that has nothing where the content of the others stood.
    other = _read(_page(9).replace("main>", "section>"))
    own = _opinion(other, 0.5)
    memory = memory.plus(Memory(1, own.lesson))
    assert not _evidence(memory, other, own, "family_place").any()
    assert not _evidence(memory, other, own, "page_family_place").any()


def test_the_opinion_says_what_stands_in_the_main_part_of_the_page_and_behind() -> None:
    page = _read(_page(1))
    opinion = _kernel.opinion_of_logits(page, np.array([-4.0, -4, -4, 4, 4, 4, -4]))
    lesson = Memory(1, opinion.lesson)
    rows = _kernel.site_features(page, opinion, lesson.tables, 1, np.zeros(7))
    features = np.frombuffer(rows, np.float32).reshape(len(page), -1)
    columns = columns_by_name(SITE_FEATURES)
    assert features[:, columns["opinion.in_family"]].ravel().tolist() == [0, 0, 0, 1, 1, 1, 0]
    assert features[:, columns["opinion.behind_family"]].ravel().tolist() == [0, 0, 0, 0, 0, 0, 1]


def test_a_page_is_not_its_own_evidence() -> None:
    page = _read(_page(1))
    opinion = _opinion(page, 0.5)
    alone = Memory(1, opinion.lesson)
    for name in (
        "pages",
        "family_pages",
        "given_place",
        "known_anywhere",
        "place_known",
        "variety",
        "family_place",
    ):
        assert not _evidence(alone, page, opinion, name).any()


def test_evidence_is_of_the_other_pages_whatever_their_order() -> None:
    pages = [_read(_page(number)) for number in range(1, 6)]
    opinions = [_opinion(page, 0.1 + 0.2 * n) for n, page in enumerate(pages[:4])]
    forth, back = Memory(), Memory()
    for each in opinions:
        forth = forth.plus(Memory(1, each.lesson))
    for each in reversed(opinions):
        back = back.plus(Memory(1, each.lesson))
    rows = [
        _kernel.site_features(pages[0], opinions[0], memory.tables, memory.pages, np.zeros(7))
        for memory in (forth, back)
    ]
    assert rows[0] == rows[1]
    # The first entry of the menu.
    assert _evidence(forth, pages[0], opinions[0], "given_place")[0] == 1.0


def test_what_only_this_page_shares_with_one_other_did_not_repeat_before() -> None:
    first, second = _read("<p>same"), _read("<p>same")
    opinion = _opinion(second, 0.9)
    memory = Memory(1, _opinion(first, 0.9).lesson).plus(Memory(1, opinion.lesson))
    assert _evidence(memory, second, opinion, "repeats")[0] == 0.0
    assert _evidence(memory, second, opinion, "given_place")[0] == 1.0


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


def test_a_table_of_data_is_kept_by_whole_rows() -> None:
    site = dehusk.Site(method="auto")
    for number in range(1, 13):
        sail = ("red", "blue", "green")[number % 3]
        rows = (
            ("Weight", f"{number * 7} kg"), ("Maker", f"{sail} & Sons"), ("Sails", sail),
            ("Code", f"N{number * 4321 % 9973}"), ("Height", f"{number * 13 % 89} m"),
        )  # fmt: skip
        cells = "".join(f"<tr><td>{name}</td><td>{value}</td></tr>" for name, value in rows)
        prose = " ".join(WORDS[number * at % 11] for at in range(1, 60))
        html = f"{MENU}<h1>Mill {number}</h1><p>{prose}.</p><table>{cells}</table>{FOOT}"
        result = site.add(html, f"https://grain.example/{number}")
        for name, value in rows:
            assert f"{name}\t{value}" in result.text
            assert f"| {name} | {value} |" in result.markdown
            assert f"<td>{name}</td>" in result.content


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


def _changes(menus: Sequence[str]) -> list[int]:
    """The numbers of the pages that tell of a new template, on a site whose pages have these menus.

    Twenty pages are read again and again; all have three headings within their content.
    """
    site = dehusk.Site(method="auto")
    told = []
    for number, menu in enumerate(menus):
        lines = "".join(f"<li>Entry {n} of the {menu} menu" for n in range(8))
        parts = "".join(
            f"<h2>{heading}</h2><p>" + " ".join(f"{heading[0]}{number % 20}x{n}" for n in range(40))
            for heading in ("Synopsis", "Description", "Examples")
        )
        html = f"<ul class={menu}>{lines}</ul><main class={menu}-main>{parts}</main>"
        if site.add(html, f"https://grain.example/{number % 20}").template_changed:
            told.append(number)
    return told


def test_a_new_template_is_noticed_where_headings_stay_and_pages_are_read_again() -> None:
    assert _changes(["old"] * 20 + ["new"] * 8) == [22]


def test_a_part_of_a_site_that_was_seen_before_is_no_new_template() -> None:
    assert _changes(["guide"] * 3 + ["help"] * 3 + (["guide"] * 8 + ["help"] * 6)) == []


def test_a_young_site_has_no_template_to_change() -> None:
    assert not Auto().has_new_template(Memory(5))


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


def test_a_page_is_read_once_and_nothing_of_it_is_kept_when_it_is_gone() -> None:
    tree = _tree(_page(1))
    method = Auto()
    memory = method.learn(Memory(), tree)
    assert tree.once(load_model().read) is tree.once(load_model().read)
    method.score(memory, tree)
    gone, network = ref(tree), load_model(None).page.kernel
    with_page = sys.getrefcount(network)
    del tree
    gc.collect()
    assert gone() is None
    without_page = sys.getrefcount(network)
    assert without_page == with_page - 1  # The reading is gone too.


def test_an_answer_does_not_depend_on_what_was_asked_before() -> None:
    trees = [_tree(_page(number)) for number in range(1, 5)]
    memory = Memory()
    for tree in trees:
        memory = Auto().learn(memory, tree)
    scores = Auto().score(memory, _tree(_page(4)))
    Auto().explain(memory, trees[0])
    Auto(favour="recall").verdict(memory, trees[3])
    assert np.array_equal(Auto().score(memory, trees[3]), scores, equal_nan=True)


def _judged(html: str, logit: float, tables: dict[str, Table] | None = None) -> _kernel.Judgement:
    """As if the context network said that of every block."""
    page, shipped = _read(html), load_model()
    context = replace(
        shipped.context,
        output=np.zeros_like(shipped.context.output),
        output_bias=np.array([logit, -3], np.float32),
    )
    return _kernel.judge(
        reading=page,
        opinion=_kernel.opinion(page, shipped.page.kernel),
        tables=tables or {},
        pages=9,
        type_network=shipped.type.kernel,
        site_network=shipped.site.kernel,
        context_network=context.kernel,
        shift=0.0,
    )


@pytest.mark.parametrize(
    ("logit", "threshold"),
    [(3.0, 0.5), (0.0, 0.5), (-1.0, 1 / (1 + np.e)), (-20.0, 1 / (1 + np.exp(20)))],
)
def test_the_context_network_decides_but_for_a_page_that_would_keep_nothing(
    logit: float, threshold: float
) -> None:
    judgement = _judged(_page(1), logit)
    content, scores = np.asarray(judgement.content), np.asarray(judgement.scores)
    assert content == pytest.approx(1 / (1 + np.exp(-logit)))
    assert judgement.threshold == pytest.approx(threshold)
    assert (scores <= 0.5).all()


def test_the_types_of_a_page_are_those_of_the_network_asked() -> None:
    page, shipped = _read(_page(1)), load_model()
    opinion = _kernel.opinion(page, shipped.page.kernel)
    other = replace(shipped.type, output=-shipped.type.output)
    first = _kernel.kind(page, opinion, {}, 1, shipped.type.kernel)
    assert sum(first[0]) == pytest.approx(1)
    assert _kernel.kind(page, opinion, {}, 1, other.kernel) != first
    assert _kernel.kind(page, opinion, {}, 1, shipped.type.kernel) == first


def _last_of(pages: list[str]) -> str:
    """The text of the last of these pages of a site."""
    site = dehusk.Site(method="auto")
    return [site.add(page, f"https://grain.example/{n}").text for n, page in enumerate(pages)][-1]


def test_the_head_of_a_table_goes_with_its_rows() -> None:
    head = "<table><thead><tr><th>Grain<th>Harvest<tbody>"
    tables = [
        head + "".join(f"<tr><td>rye {n + 9 * page}<td>{n * page + 3} sacks" for n in range(9))
        for page in range(1, 9)
    ]
    text = _last_of(
        [_page(n).replace("</main>", f"{rows}</table></main>") for n, rows in enumerate(tables)]
    )
    assert all(word in text for word in ("Grain", "Harvest", "rye 80", "67 sacks"))


def test_a_headline_is_kept_with_its_text() -> None:
    assert _last_of([_page(number) for number in range(8)]).startswith("Harvest 7")


def test_a_heading_that_comes_back_stays_with_its_text() -> None:
    def section(number: int) -> str:
        return (
            f"<h2>Parameters</h2><p>The sack of {number} kilos is filled {number * 3} times a day,"
            f" and weighed by miller {number}.</p></main>"
        )

    text = _last_of([_page(number).replace("</main>", section(number)) for number in range(8)])
    assert "Parameters" in text
    assert "7 kilos" in text


def test_a_heading_is_not_kept_without_what_stands_under_it() -> None:
    status = "<h2>Exit status</h2><p>0 if all went well, 1 if a page could not be read.</p>"
    site = dehusk.Site()
    for number in range(1, 13):
        answer = site.add(_page(number).replace("</main>", f"{status}</main>"))
        assert ("Exit status" in answer.text) <= ("0 if all went well" in answer.text)


def test_the_lines_of_code_stay_together() -> None:
    def code(number: int) -> str:
        lines = ["import mill", "mill.open()", f"mill.grind({number * 7})", "mill.close()"]
        return "".join(f"<div class=line>{line}</div>" for line in lines)

    text = _last_of(
        [_page(n).replace("</main>", f"<pre>{code(n)}</pre></main>") for n in range(1, 13)]
    )
    assert "import mill\nmill.open()\nmill.grind(84)\nmill.close()" in text


def _prose(dice: random.Random, words: int) -> str:
    return f"{' '.join(dice.choice(WORDS) for _ in range(words)).capitalize()}."


def _learned(contents: Sequence[str]) -> list[str]:
    """What pages with these contents say after all were learned."""
    site = dehusk.Site()
    pages = [
        f"<header><nav><a href=/>Home</a> <a href=/n>News</a></nav></header><main>{content}</main>"
        f"<footer>Copyright 2024 Grainfield</footer>"
        for content in contents
    ]
    urls = [f"https://grain.example/{number}" for number in range(len(pages))]
    for page, url in zip(pages, urls, strict=True):
        site.learn(page, url)
    return [
        site.ask(page, url, is_learned=True).text for page, url in zip(pages, urls, strict=True)
    ]


def test_a_table_with_a_value_of_its_own_loses_no_row() -> None:
    dice = random.Random(84)
    rows = [
        ("Energy", f"{300 + 7 * number} kJ", "Salt", f"{number % 2} g", "Gluten", "none")
        for number in range(40)
    ]
    cells = "<tr><td>{}</td><td>{}</td></tr>" * 3
    texts = _learned(
        [
            f"<h1>{_prose(dice, 3)}</h1><p>{_prose(dice, 40)}</p><h2>Per 100 g</h2>"
            f"<table>{cells.format(*row)}</table>"
            for row in rows
        ]
    )
    for row, text in zip(rows, texts, strict=True):
        assert "{}\t{}\n{}\t{}\n{}\t{}".format(*row) in text


def test_code_with_a_line_of_its_own_loses_no_line() -> None:
    dice, lines = (
        random.Random(5),
        ["import sys", "args = sys.argv", "", "print(grain)", "return 0"],
    )
    codes = ["\n".join(lines).replace("\n\n", f"\ngrain = {n * 7}\n") for n in range(40)]
    texts = _learned(
        [
            f"<h1>{_prose(dice, 2)}</h1><p>{_prose(dice, 60)}</p><pre><code>"
            + "\n".join(f"<span class=line>{line}</span>" for line in code.splitlines())
            for code in codes
        ]
    )
    assert all(code in text for code, text in zip(codes, texts, strict=True))


def test_the_common_answer_to_a_question_stays() -> None:
    dice = random.Random(1)
    answers = ["Yes, it is." if dice.random() < 0.3 else "No, it is not." for _ in range(60)]
    texts = _learned([f"<h1>{_prose(dice, 8)[:-1]}?</h1><p>{each}</p>" for each in answers])
    assert all(answer in text for answer, text in zip(answers, texts, strict=True))


@pytest.mark.parametrize("pages", [2, 3])
def test_what_one_or_two_other_pages_say_stays(pages: int) -> None:
    dice = random.Random(1)
    for _ in range(10):
        shared = _prose(dice, 30)
        own = [f"<h1>{_prose(dice, 3)}</h1><p>{_prose(dice, 60)}</p>" for _ in range(pages)]
        texts = _learned([f"<article>{each}<p>{shared}</p></article>" for each in own])
        assert all(shared in text for text in texts)


def test_the_entries_of_a_list_keep_what_most_pages_say_of_theirs() -> None:
    dice = random.Random(3)
    cups = [f"{_prose(dice, 2)[:-1]} {n}:{n % 7}" for n in range(240)]
    entry = "<div class=game><span>First round</span><div>{}</div><div>Grain cup</div></div>"
    texts = _learned(
        [
            f"<h1>{_prose(dice, 3)}</h1><p>{_prose(dice, 40)}</p>"
            + "".join(map(entry.format, cups[6 * number : 6 * number + 6]))
            for number in range(40)
        ]
    )
    assert all(text.count("First round") == text.count("Grain cup") == 6 for text in texts)


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
    shipped = load_model()
    save_model(shipped, tmp_path / "model.json")
    again = load_model(str(tmp_path / "model.json"))
    assert again.types == shipped.types
    assert np.array_equal(again.site.hidden, shipped.site.hidden)
    assert np.array_equal(again.context.hidden, shipped.context.hidden)


def test_the_shipped_model_is_small() -> None:
    assert Path(model.__file__).with_name("model.json").stat().st_size < 1_000_000


@pytest.mark.parametrize("written", ["", "{}", "[1]", '{"version": 99}', "\x00"])
def test_a_file_that_is_no_model_is_refused(tmp_path: Path, written: str) -> None:
    (tmp_path / "odd.json").write_text(written)
    with pytest.raises(SettingError, match="model"):
        _extract("<p>x", model=str(tmp_path / "odd.json"))


@pytest.mark.parametrize("part", ["page", "site", "type", "context", "confidence"])
def test_a_model_whose_parts_do_not_fit_is_refused(tmp_path: Path, part: str) -> None:
    save_model(load_model(), tmp_path / "model.json")
    written = json.loads((tmp_path / "model.json").read_text())
    written[part]["hidden"].pop()
    (tmp_path / "model.json").write_text(json.dumps(written))
    with pytest.raises(SettingError, match="model"):
        _extract("<p>x", model=str(tmp_path / "model.json"))


@pytest.mark.parametrize(
    ("words", "row"),
    [
        ("names", {"menu": [1.0]}),
        ("names", {"menu": [1.0, 2.0], "main": [1.0] * 6}),
        ("texts", {"a\nb": [1.0, 2.0]}),
        ("texts", {"a": [1.0, None]}),
    ],
)
def test_a_model_whose_words_do_not_fit_is_refused(
    tmp_path: Path, words: str, row: dict[str, object]
) -> None:
    save_model(load_model(), tmp_path / "model.json")
    written = json.loads((tmp_path / "model.json").read_text("utf-8"))
    written["lexicon"][words] = row
    (tmp_path / "model.json").write_text(json.dumps(written), "utf-8")
    with pytest.raises(SettingError, match="model"):
        _extract("<p>x", model=str(tmp_path / "model.json"))


def test_words_tell_what_the_lexicon_says() -> None:
    told = Lexicon(
        {"menu": [1, 0, 0, 0], "article": [0, 1, 0, 0]}, {"привет": [0.5, 0], "reply": [0, 3]}
    )
    html = (
        '<div class="topMenu menu-2"><p id="ARTICLE">Reply: «привет», REPLY!</p></div>'
        "<p>one two three four five six seven eight nine ten reply</p>"
    )
    rows = np.asarray(_kernel.read(_tree(html).kernel, told.kernel).page_features)
    columns = columns_by_name(PAGE_FEATURES)
    names = np.array([[1.6, 1, 0, 0], [0, 0, 0, 0]])
    assert np.allclose(rows[:, columns["names"]], names)
    words = np.array([[0.5, 6], [0, 0]]) / math.sqrt(3)
    assert np.allclose(rows[:, columns["wording"]], words)


def test_an_unknown_preference_is_refused() -> None:
    with pytest.raises(SettingError, match="precision, balance, recall"):
        _extract("<p>x", favour="speed")


def test_the_type_of_a_page_comes_with_a_confidence() -> None:
    for page in sample_site("forum", pages=3, seed=34):
        result = _extract(page.page.html, page.page.url)
        assert result.type
        assert 0 < (result.type_confidence or 0) <= 1


def _features(html: str, group: str) -> np.ndarray[Any, Any]:
    return np.asarray(_read(html).page_features)[:, columns_by_name(PAGE_FEATURES)[group]]


COMMENTS = "".join(
    f"<div class=comment><b>Miller {n}</b><p>I too have seen it, {n} times or more.</p></div>"
    for n in range(6)
)


def test_comments_are_a_row_and_the_article_before_them_is_not() -> None:
    article = f"<article><h1>Rye</h1><p>{'The rye is ripe. ' * 9}</p></article>"
    html = f"<main>{article}<section>{COMMENTS}</section></main>"
    rows = _features(html, "rows")
    assert rows[:2, 0].tolist() == [0, 0]
    assert np.allclose(rows[2:, 0], np.log1p(6))
    # Which of the six it is, and that all running text of the article stands before it.
    assert np.allclose(rows[2::2, 7], np.log1p(range(6)))
    assert np.all(np.array(_named(html, "rows.alone_before"))[2:] > 0)
    assert _named(html, "rows.behind_main") == [0, 0, *[1] * 12]


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("headed_members", "<h4>On rye</h4>"),
        ("pictured_members", "<img src=miller.png alt=''>"),
        ("timed_members", "<time>yesterday</time>"),
        ("dated_members", "<i>12 March 2026</i><br>"),
        ("form_members", "<button>Answer</button>"),
        ("nested_members", "<div class=comment><b>Reeve</b><p>Me too.</p></div>"),
    ],
)
def test_rows_say_what_share_of_their_members_has_a_part(name: str, part: str) -> None:
    member = "<div class=comment><b>Miller</b><p>I have seen it.</p>{}</div>"
    row = "".join(member.format(part if n % 2 else "") for n in range(6))
    others = member.format("") * 6
    html = f"<main><section>{row}</section><section>{others}</section></main>"
    shares = _named(html, f"rows.{name}")
    assert shares[:2] == [0.5, 0.5]
    assert shares[-2:] == [0, 0]


def test_a_row_says_in_which_member_the_headline_stands() -> None:
    posts = "".join(f"<div><h1>Rye {n}</h1><p>I have seen it.</p></div>" for n in range(5))
    html = f"<main>{posts}</main><footer>{COMMENTS}</footer>"
    assert _named(html, "rows.headline") == [1, 1, *[0.5] * 8, *[0] * 12]


@pytest.mark.parametrize(("heading", "further"), [("h1", 1), ("h2", 0.5)])
def test_an_article_that_is_appended_is_a_further_one(heading: str, further: float) -> None:
    text = f"<p>{'The rye is ripe. ' * 15}</p>"
    article = f"<article><h1>Rye</h1>{text}<ul><li>Reap it</ul></article>"
    behind = f"<article><{heading}>Barley</{heading}>{text}</article>"
    short = "<article><p>No more of it.</p></article>"
    html = f"{MENU}<main>{article}{short}{behind}</main>{FOOT}"
    assert _named(html, "main.further_article") == [0] * 7 + [further] * 3
    assert not any(_named(html.replace(behind, "<section>" + behind), "main.further_article"))


def test_an_article_is_another_one_behind_a_heading_that_is_not_in_the_title() -> None:
    text = f"<p>{'The rye is ripe. ' * 15}</p>"
    own = f"<div><h1>Rye of the north</h1></div><div>{text}</div>"
    teaser = "<h1>Oats are yellow</h1><p>Soon.</p>"
    other = f"<section><h1>Barley is late</h1></section><article>{text}</article>"
    html = f"<head><title>Rye of the north | Mill</title></head>{MENU}{own}{teaser}{other}{FOOT}"
    assert _named(html, "title.other_heading") == [0] * 7 + [1] * 3
    untitled = html.replace("<title>Rye", "<title>Sheaves")
    assert _named(untitled, "title.other_heading") == [0] * 7 + [0.5] * 3
    last = html.replace("<title>Rye of the north", "<title>Barley is late")
    same = html.replace("Barley is late", "Rye of the north")
    for alone in (last, same):
        assert not any(_named(alone, "title.other_heading"))


def _named(html: str, name: str) -> list[float]:
    """A page feature of each block."""
    column = columns_by_name(PAGE_FEATURES)[name]
    return [float(number) for number in np.asarray(_read(html).page_features)[:, column].ravel()]


def test_the_main_element_is_around_the_article_however_much_the_comments_say() -> None:
    article = f"<article><h1>Rye</h1><p>{'The rye is ripe. ' * 9}</p><p>Soon.</p></article>"
    html = f"{MENU}<main>{article}<section>{COMMENTS * 4}</section></main>{FOOT}"
    comments = [0.0] * 48
    assert _named(html, "main.before") == [1, 1, 1, 0, 0, 0, *comments, 0]
    assert _named(html, "main.inside") == [0, 0, 0, 1, 1, 1, *comments, 0]
    assert _named(html, "main.behind") == [0, 0, 0, 0, 0, 0, *(1 + n for n in comments), 1]
    assert np.allclose(_named(html, "main.from_end")[6:], np.log1p(range(1, 50)))
    assert np.allclose(_named(html, "main.levels")[3:6], np.log1p(1))
    assert _named(html, "main.running_share") == [1] * 55
    assert _named(html, "main.link_share") == [0] * 55


def test_the_main_element_of_a_discussion_is_around_all_its_posts() -> None:
    text = "This is what I have seen of the rye, and I have seen it for twenty years or more."
    posts = "".join(f"<div class=post><b>Miller {n}</b><p>{text}</p></div>" for n in range(6))
    html = f"{MENU}<main>{posts}</main>{FOOT}"
    assert _named(html, "main.inside") == [0, 0, 0, *[1] * 12, 0]


@pytest.mark.parametrize("text", ["<p>{0}</p>", "<p>{0}<br>{0}</p>", "<p><span>{0}</span></p>"])
def test_one_long_paragraph_is_not_the_main_element(text: str) -> None:
    article = f"<h1>Rye</h1>{text.format('The rye is ripe. ' * 9)}"
    inside = _named(f"{MENU}<article>{article}</article>{FOOT}", "main.inside")
    assert inside == [0, 0, 0, *[1] * (len(inside) - 4), 0]


def test_paragraphs_of_several_lines_are_no_row() -> None:
    lines = "".join(f"<p>Line {n} of the poem<br>and the next</p>" for n in range(8))
    assert not _features(f"<main>{lines}</main>", "rows")[:, 0].any()


def test_the_columns_of_a_layout_are_no_row() -> None:
    columns = "".join(f"<div><p>{'word ' * n}</p><p>x</p></div>" for n in (2, 3, 2, 100))
    assert not _features(f"<main>{columns}</main>", "rows")[:, 0].any()


def test_a_text_that_stands_there_twice_is_a_copy_the_second_time() -> None:
    text = "The rye was brought in before the rain, and none of it was lost."
    spaced = text.replace(" ", "\n").replace("and\nnone", "<b>and&nbsp;none</b>")
    copies = _features(
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
        ("«Рожь!»", 1),
        ("「黑麦。」", 1),
        ("Rye.&nbsp;", 1),
        ("Rye: “so”", 0),
    ],
)
def test_a_sentence_is_told_by_its_end_in_any_script(text: str, ends: int) -> None:
    assert _features(f"<p>{text} </p>", "text")[0, 10] == ends


@pytest.mark.parametrize(
    ("text", "name", "number"),
    [
        ("Äöüß łódź", "foreign_share", 0.0),
        ("ржи и ржи", "foreign_share", 7 / 9),
        ("ÄRGER ärger", "upper_share", 0.5),
        ("РОЖЬ рожь", "upper_share", 0.5),
        ("黑麦，黑麦", "comma_share", 1 / 10),
        ("جاودار، و", "comma_share", 1 / 9),
        ("黑麦！", "stops", np.log(2)),
        ("黑麦黑麦黑麦", "chars", np.log(13)),
        ("호밀 호밀", "chars", np.log(10)),
        ("黑麦黑麦黑麦", "spaces", np.log(3)),
        ("rye&nbsp;rye", "spaces", np.log(2)),
        ("黑麦：", "ends_colon", 1.0),
        ("१२ है", "digit_share", 2 / 5),
    ],
)
def test_letters_of_all_scripts_are_counted(text: str, name: str, number: float) -> None:
    place = next(f.first for f in PAGE_FEATURES if (f.group, f.name) == ("text", name))
    read = _read(f"<p>{text}</p>")
    assert np.asarray(read.page_features)[0, place] == pytest.approx(number)
    assert read.chars[0] == read.lengths[0]


def test_aria_hidden_above_a_block_is_read() -> None:
    html = "<div aria-hidden=true><p>a</p></div><p aria-hidden=false>b</p><p aria-hidden=TRUE>c</p>"
    assert _features(html, "attributes")[:, 0].tolist() == pytest.approx([0.5**0.5, 0, 1])


def test_what_a_page_states_as_its_article_is_found_in_its_blocks() -> None:
    said = "The rye is ripe, and the mill turns &quot;day&quot; and <b>night</b>."
    body = r"The rye is ripe, and the mill\n turns \u201cday\" and night."
    json = f'{{"@type": "Article", "articleBody": "{body}"}}'
    html = (
        f"<script type=application/ld+json>{json}</script><p>{said}</p><p>Read what others read now"
    )
    stated = _features(html, "stated")
    assert stated[:, 0].tolist() == [1, 0]
    assert 0 < stated[0, 1] < 1
    assert stated[0, 2:].tolist() == [1, 1]
    assert not _features(f"<p>{said}</p>", "stated").any()
    assert _features("<meta property=og:type content=website><p>x", "stated")[0, 3] == -1


def test_the_title_of_a_drawing_is_not_the_pages() -> None:
    html = "<svg><title>Rye is ripe</title></svg><p>Rye is ripe</p>"
    assert not _features(html, "title")[:, 0].any()
    assert _features(f"<title>Rye is ripe | Mill</title>{html}", "title")[-1, 0] == 1


@pytest.mark.parametrize(
    "html",
    [
        "<p>x",
        "<h1>1</h1><h2>2</h2>",
        "<td>9",
    ],
)
def test_a_page_with_text_does_not_come_out_empty(html: str) -> None:
    assert _extract(html).text


def test_a_page_of_links_alone_is_empty_and_says_so() -> None:
    result = _extract("<a href=/>Home</a>")
    assert (result.text, result.problem) == ("", "empty_page")


def test_every_change_of_the_template_is_noticed_but_not_in_two_passes() -> None:
    pages = []
    for number in range(90):
        lines = "".join(f"<p>Line {n} of template {number // 30}" for n in range(12))
        pages.append(f"<div>{lines}</div>" + _page(number).partition(MENU)[2])
    site = dehusk.Site(method="auto")
    changed = [number for number, html in enumerate(pages) if site.add(html).template_changed]
    assert changed == [32, 62]
    assert site.ask(pages[5], is_learned=True).template_changed is None


def test_a_model_of_other_features_is_refused(tmp_path: Path) -> None:
    written = json.loads(model._SHIPPED.read_text("utf-8"))
    written["page"]["hidden"] = written["page"]["hidden"][1:]
    for name in ("floor", "ceiling"):
        written["page"][name] = written["page"][name][1:]
    (tmp_path / "model.json").write_text(json.dumps(written), "utf-8")
    with pytest.raises(SettingError, match="not a model of this version"):
        _extract("<p>x", model=str(tmp_path / "model.json"))


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
