"""The template as an answer: slots, rules, and the site config for other tools."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import turbohtml
from hypothesis import given, settings
from hypothesis import strategies as st

import dehusk
from dehusk.answer.html import slotted_html
from dehusk.answer.labels import Label
from dehusk.answer.override import Overrides, choose
from dehusk.doors.cli import main
from dehusk.methods import METHODS
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.template.slots import LabelledPage, find_family, is_alike, shape_of
from dehusk_bench.samples import sample_site

SITE = "https://grain.example"


def _page(name: str, number: int = 0) -> Page:
    teasers = "".join(
        f"<div class=teaser><h3>{name} {n}</h3><p>Story {name}-{n}</p><a href=#>Read more</a></div>"
        for n in range(3 + number % 3)
    )
    html = (
        f"<title>{name} | Grain</title><nav class='top a:b'><a href=/>Home</a></nav>"
        f"<div id=page><div class=left>About</div><div class='post post-{number}'>"
        f"<h1 class=head>All about {name}</h1><p class=share>Share this page</p>"
        f"<div class=body><p>The grain called {name}</p><p>is old, {number} years.</p></div></div>"
        f"<div class=more>{teasers}</div><table><tr><td>Menu<td>{name} {number * 7}</table></div>"
        "<footer>All rights reserved</footer>"
    )
    return Page(html, f"{SITE}/{name}.html", "grain.example")


NAMES = ("rye", "oats", "barley", "wheat", "millet", "spelt", "emmer", "teff")
PAGES = [_page(name, number) for number, name in enumerate(NAMES)]


def _template(key: int = 0, method: str = "site-hash") -> dehusk.Template:
    others = [page for page in PAGES if page is not PAGES[key]]
    return dehusk.template_of(PAGES[key], others, method=method)


def test_what_a_head_says_of_one_page_is_not_in_the_familys_template() -> None:
    pages = [
        Page(
            f"<head><title>Harvest {n} | Rye &amp; Co</title><meta charset=utf-8>"
            f'<link rel=canonical href="https://grain.example/{n}"><meta name=author content=A{n}>'
            f"<link rel=stylesheet href=/s.css></head><nav>Home News</nav><p>{n} sacks of rye</p>",
            f"https://grain.example/{n}",
        )
        for n in range(8)
    ]
    html = dehusk.template_of(pages[0], pages[1:], method="segments").html
    assert "<title>Rye &amp; Co</title>" in html
    assert '<link rel="stylesheet" href="/s.css">' in html
    assert html.count("<!-- slot: head -->") == 1
    assert "canonical" not in html
    assert "A0" not in html


def _data_page(n: int, title: str = "Harvest {n} | Rye") -> Page:
    html = (
        f"<head><title>{title.format(n=n)}</title></head><body><nav>Home News</nav>"
        f"<!-- page {n} -->"
        f"<script type=application/json>{{'article': 'secret {n} <!-- x -->'}}</script>"
        f"<script>draw('secret {n}')</script><script>menu('<!-- all -->')</script>"
        f"<script src=/all.js></script><script src=/own-{n}.js></script><style>.p{n} {{}}</style>"
        f"<style>nav {{}}</style><div hidden><b>Login</b><i>secret {n}</i></div>"
        f"<template><p>secret {n}</p><p>Row</p></template><!-- slot: forged -->"
        f"<p>Sacks of rye: {n}</p><svg><title>secret {n}</title><path></path></svg><footer>Legal"
    )
    return Page(html, f"{SITE}/{n}", "grain.example")


def test_what_a_page_hides_from_its_readers_is_template_only_if_the_family_has_it() -> None:
    html = dehusk.template_of(_data_page(0), map(_data_page, range(1, 8)), method="site-hash").html
    for own in ("secret", "own-0", ".p0", "page 0", "forged", "Sacks"):
        assert own not in html
    for shared in ("menu('<!-- all -->')", "/all.js", "nav {}", "<b>Login</b>", "Row", "Legal"):
        assert shared in html
    assert "<title>Rye</title>" in html
    assert html.count("<!-- slot: main -->") == 1


def test_data_is_left_out_of_the_template_of_a_page_alone() -> None:
    html = dehusk.template_of(_data_page(0), [], method="site-hash", drop="nav, footer").html
    assert "article" not in html
    assert "draw(" not in html
    assert '<script src="/all.js"></script>' in html


@pytest.mark.parametrize(
    ("titles", "expected"),
    [
        (["Rye - Grain", "Oats - Grain"], "Grain"),
        (["Grain: Rye", "Grain: Oats"], "Grain"),
        (["Rye", "Oats"], ""),
        (["Grain Co", "Grain Co"], "Grain Co"),
        (["Rye - Grain"], ""),
    ],
)
def test_a_title_says_what_all_titles_begin_or_end_with(titles: list[str], expected: str) -> None:
    page, *others = (_data_page(n, title) for n, title in enumerate(titles))
    html = dehusk.template_of(page, others, method="site-hash").html
    assert f"<head><title>{expected}</title></head>" in html


def test_the_template_is_html_with_its_slots_marked_and_named() -> None:
    html = _template().html
    assert html.startswith("<!DOCTYPE html>")
    assert "All rights reserved" in html
    assert "rye" not in html.partition("</head>")[2]
    assert "<!-- slot: main -->" in html
    assert "<!-- slot: title -->" in html
    assert html.count("Read more") == 1
    again = turbohtml.parse(html)
    assert not again.errors
    assert again.select_one("nav a") is not None
    assert "<td>Menu</td><td><!-- slot:" in html


def _long_page(name: str, sentences: int) -> Page:
    """An article in a small frame, of pages that have the frame and a word in common."""
    said = " ".join(f"The {name} field {n} gave {n * 7} sacks of {name}." for n in range(sentences))
    html = (
        f"<title>{name} - Grain</title><body><header><p>Grain Co</p></header><ul><li>Home<li>News"
        f"</ul><div class=page><h1>On {name}</h1><div class=text><p>{said}</p><p>{said}</p></div>"
        "<div class=share>Share</div></div><aside>Newsletter</aside><footer>Legal</footer>"
    )
    return Page(html, f"{SITE}/{name}.html", "grain.example")


@pytest.mark.parametrize("sentences", [1, 10, 100, 1000])
@pytest.mark.parametrize("method", ["site-hash", "segments"])
def test_a_template_is_whole_however_long_the_content_is(sentences: int, method: str) -> None:
    page, *others = (_long_page(name, sentences) for name in NAMES)
    template = dehusk.template_of(page, others, method=method)
    body = template.html.partition("<body>")[2].partition("</body>")[0]
    tree, labels = template.result.tree, template.family.labels[0]
    is_template = tree.is_text & (labels == Label.TEMPLATE)
    texts = [tree.text(node) for node in np.flatnonzero(is_template).tolist()]
    assert {"Grain Co", "Home", "News", "Share", "Newsletter", "Legal"} <= set(texts)
    assert all(text in body for text in texts)
    assert "rye" not in body
    slots = {slot["name"]: slot for slot in template.slots}
    assert slots["main"]["css"] in ("div.text", "h1, div.text")
    assert all("Home" not in str(slot["examples"]) for slot in template.slots)
    assert template.rules["content"] != [{"css": "html", "xpath": "//html"}]
    assert template.rules["found"] == 1.0
    assert float(str(template.rules["clean"])) > 0.99


def test_a_page_that_is_all_content_is_still_a_page() -> None:
    page = Page("<html lang=en><title>Rye</title><body class=b>Rye is old.<p>So it is.", SITE)
    template = dehusk.template_of(page, [], method="site-hash")
    assert '<body class="b"><!-- slot: main --></body></html>' in template.html
    assert "</head>" in template.html
    assert [slot["css"] for slot in template.slots] == ["html > body"]


def test_a_piece_that_says_something_else_is_not_taken_for_a_repeat() -> None:
    pages = [
        Page(f"<div>Menu <i>{n}</i></div><div>Legal <i>{n}</i></div><div>Menu <i>{n}</i></div>")
        for n in range(8)
    ]
    html = dehusk.template_of(pages[0], pages[1:], method="site-hash").html
    assert (html.count("Menu"), html.count("Legal")) == (1, 1)


def test_slots_are_the_same_whatever_page_of_the_family_is_asked_about() -> None:
    expected = [(slot["name"], slot["css"], slot["xpath"]) for slot in _template(0).slots]
    assert len(expected) > 3
    for key in range(1, len(PAGES)):
        found = _template(key).slots
        assert [(slot["name"], slot["css"], slot["xpath"]) for slot in found] == expected


def test_a_slot_has_values_from_several_pages() -> None:
    slots = {str(slot["name"]): slot for slot in _template().slots}
    title = slots["title"]
    assert title["css"] == "h1.head"
    assert title["pages"] == len(PAGES)
    assert title["examples"] == [
        {"url": f"{SITE}/{name}.html", "value": f"All about {name}"} for name in NAMES[:5]
    ]
    assert any(slot["repeated"] for slot in slots.values())


@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_method_gives_a_template(method: str) -> None:
    template = _template(0, method)
    assert template.html.startswith("<!DOCTYPE html>")
    assert template.rules["found"] is None or float(str(template.rules["found"])) > 0.8
    assert template.site_config.startswith("# grain.example")


def test_names_come_before_positions_and_xpath_selects_what_css_selects() -> None:
    template = _template()
    for slot in template.slots:
        assert ":nth" not in str(slot["css"]) or "td" in str(slot["css"])
    family = template.family
    selectors = [*family.rules.content, *family.rules.strip]
    selectors += [selector for slot in family.slots for selector in slot.selectors]
    for page in PAGES:
        document = parse(page).document
        for selector in selectors:
            if not selector.is_text:
                found = document.xpath(selector.xpath)
                assert isinstance(found, list)
                assert set(document.select(selector.css)) == set(found)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["news", "shop", "docs", "town", "tables"])
def test_rules_learned_on_some_pages_give_the_content_of_others(kind: str) -> None:
    pages = list(sample_site(kind, pages=50, seed=4))
    learned, unseen = pages[:30], pages[30:]
    family = Counter(sample.family for sample in learned).most_common(1)[0][0]
    key = next(sample for sample in learned if sample.family == family)
    others = [sample.page for sample in learned if sample is not key]
    rules = dehusk.template_of(key.page, others, method="hyperlink", equality="text").family.rules
    wanted = Overrides(
        tuple(selector.css for selector in rules.content),
        tuple(selector.css for selector in rules.strip),
    )
    content = both = 0
    for sample in unseen:
        if sample.family != family:
            continue
        parsed = parse(sample.page)
        length = np.where(parsed.tree.is_text & parsed.tree.shown, parsed.tree.text_length, 0)
        is_given = choose(parsed.tree, parsed.document, wanted) == Label.CONTENT
        is_content = sample.labels == Label.CONTENT
        content += int(length[is_content].sum())
        both += int(length[is_content & is_given].sum())
    assert both >= 0.9 * content


def test_pages_of_another_template_are_left_out() -> None:
    pages = list(sample_site("shop", pages=30, seed=4))
    shapes = [shape_of(parse(sample.page).tree) for sample in pages]
    products = [n for n, sample in enumerate(pages) if sample.family == "product"]
    for n, sample in enumerate(pages):
        assert is_alike(shapes[products[0]], shapes[n]) == (sample.family == "product")


def test_the_site_config_is_lines_of_directives_that_graby_reads() -> None:
    lines = _template().site_config.splitlines()
    directives = [line.split(": ", 1) for line in lines if not line.startswith("#")]
    assert [name for name, _ in directives].count("body") == 1
    document = parse(PAGES[3]).document
    for name, value in directives:
        if name in ("body", "title", "strip"):
            assert document.xpath(value)
        else:
            assert (name, value) in {("prune", "no"), ("tidy", "no")} or name == "test_url"
    assert ["test_url", f"{SITE}/rye.html"] in directives


def test_the_users_selectors_decide_about_slots_too() -> None:
    others = PAGES[1:]
    template = dehusk.template_of(PAGES[0], others, method="site-hash", drop=".more, table")
    assert all("teaser" not in str(slot["css"]) for slot in template.slots)
    assert "Story rye-0" in template.html


def test_a_page_that_cannot_be_used_is_named_and_passed_over() -> None:
    broken = Page(b"\x89PNG" + bytes(99), f"{SITE}/x.png", "grain.example")
    refused: list[dehusk.PageError] = []
    template = dehusk.template_of(
        PAGES[0], [broken, *PAGES[1:]], method="site-hash", refused=refused.append
    )
    assert [error.url for error in refused] == [f"{SITE}/x.png"]
    assert len(template.results) == len(PAGES)
    with pytest.raises(dehusk.PageError):
        dehusk.template_of(broken, PAGES)


@pytest.mark.parametrize("form", ["html", "json", "slots", "rules", "graby"])
def test_the_command_writes_every_format(
    tmp_path: Path, form: str, capfd: pytest.CaptureFixture[str]
) -> None:
    crawl = tmp_path / "crawl.jsonl"
    lines = [json.dumps({"url": page.url, "html": page.html}) for page in PAGES]
    crawl.write_text("\n".join(lines), encoding="utf-8")
    arguments = ["template", f"{SITE}/oats.html", "--against", str(crawl), "--format", form]
    assert main([*arguments, "--method", "site-hash"]) == 0
    shown = capfd.readouterr()
    assert "7 pages of the same family" in shown.err
    if form in ("json", "slots", "rules"):
        answer = json.loads(shown.out)
        assert answer["pages"] == len(PAGES)
        assert {"json": "nodes", "slots": "slots", "rules": "content"}[form] in answer
    else:
        assert {"html": "<!-- slot: main -->", "graby": "body: //"}[form] in shown.out


_PIECES = st.sampled_from(
    ["<div>", "<div class='a 1b'>", "<p id=x>", "<b class=\"a'b\">", "</div>", "</b>", "word ",
     "<img src=a>", "<i hidden>", "<table><tr><td class=k>", "<svg>", "<textarea>t", "</p>",
     "<x:y>odd", "<li>", "<h1>top</h1>", "<!-- slot: x -->", "<option>"]
)  # fmt: skip


@settings(max_examples=60)
@given(st.lists(st.lists(_PIECES, max_size=25), min_size=1, max_size=4), st.randoms())
def test_any_pages_give_slots_of_all_content_and_no_template(
    pages: list[list[str]], random: object
) -> None:
    choose_label = random.choice  # type: ignore[attr-defined]
    labelled = []
    for pieces in pages:
        tree = parse(Page("".join(pieces))).tree
        labels = [choose_label([Label.CONTENT, Label.TEMPLATE]) for _ in range(len(tree))]
        given_labels = np.where(tree.shown, labels, Label.HIDDEN).astype(np.int8)
        labelled.append(LabelledPage(tree, given_labels))
    family = find_family(labelled, [None] * len(pages))
    tree, agreed = labelled[0].tree, family.labels[0]
    covered = np.zeros(len(tree), np.bool_)
    for slot in family.slots:
        for node in slot.nodes[0]:
            covered[node : tree.end[node]] = True
    ink = tree.is_text & tree.shown & (tree.text_length > 0)
    assert covered[ink & (agreed == Label.CONTENT)].all()
    assert not covered[ink & (agreed == Label.TEMPLATE)].any()
    names = {node: slot.name for slot in family.slots for node in slot.nodes[0]}
    html = slotted_html(tree, names, family.repeats)
    for node in np.flatnonzero(ink & (agreed == Label.TEMPLATE)).tolist():
        assert tree.source[tree.start[node] : tree.stop[node]].strip().decode() in html
    document = turbohtml.parse("")
    for selector in (*family.rules.content, *family.rules.strip):
        document.select(selector.css)
        document.xpath(selector.xpath)
