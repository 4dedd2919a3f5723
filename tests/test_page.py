"""The methods `page` and `page-basic`: features, the model and its file, scores and sections."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dehusk
from dehusk.answer.labels import Label
from dehusk.doors.cli import main
from dehusk.errors import SettingError
from dehusk.memory import Memory
from dehusk.methods import METHODS, Smooths, make_method
from dehusk.methods.papers.page import PageSmooth, hidden_nodes, model_scores
from dehusk.methods.papers.page.classifier import Model, read_model
from dehusk.methods.papers.page.features import NAMES, features, judged
from dehusk.methods.smooth import smooth
from dehusk.page.layout import layout_of
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Tree

LONG = "Rye and oats were carried to the mill, where the miller weighed them. " * 8
HTML = (
    "<html><head><title>The mill of the valley</title></head><body>"
    "<nav><ul>" + "".join(f"<li><a href=/{n}>Place {n}</a></li>" for n in range(12)) + "</ul></nav>"
    f"<main><h1>The mill</h1><p>{LONG}</p><p>See <a href=#top>above</a>. {LONG}</p></main>"
    "<footer><a href=https://bread.example/>Bakers</a> <a href=mailto:a@mill.example>Write</a>"
    "</footer></body></html>"
)


def _tree(html: str = HTML, url: str = "https://mill.example/a") -> Tree:
    return parse(Page(html, url)).tree


def _named(tree: Tree) -> dict[str, Any]:
    return dict(zip(NAMES, features(tree, layout_of(tree)).T, strict=True))


def _node(tree: Tree, name: str) -> int:
    return next(i for i in range(len(tree)) if tree.name(i) == name)


def test_every_feature_is_finite_and_of_the_order_of_one() -> None:
    for html in (HTML, "", "<p>", "no tags", "<title></title>", "<p hidden>x", "<a href>x</a>"):
        tree = _tree(html)
        columns = features(tree, layout_of(tree))
        assert columns.shape == (len(tree), len(NAMES))
        assert np.isfinite(columns).all()
        assert np.abs(columns).max() < 20


def test_the_share_of_text_in_anchors_is_all_in_a_menu_and_little_in_an_article() -> None:
    tree = _tree()
    share = _named(tree)["anchor_share"]
    assert share[_node(tree, "nav")] == 1
    assert share[_node(tree, "main")] < 0.05


def test_links_are_told_apart_by_where_they_lead() -> None:
    tree = _tree()
    named = _named(tree)
    assert named["site_links"][_node(tree, "nav")] == 1
    assert named["site_links"][_node(tree, "footer")] == 0
    assert named["page_links"][_node(tree, "main")] == 1
    same_site = _tree('<a href="http://www.mill.example/b">x</a><a href="//mill.example">y</a>')
    assert _named(same_site)["site_links"][0] == 1


def test_links_per_word_and_the_size_of_anchors_are_counted() -> None:
    tree = _tree("<p>one <a href=/>two three</a> four</p>")
    named, node = _named(tree), _node(tree, "p")
    assert named["links_per_word"][node] == pytest.approx(1 / 4)
    assert named["log_words"][node] == pytest.approx(np.log1p(4))
    assert named["log_anchor_words"][_node(tree, "a")] == pytest.approx(np.log1p(2))


def test_words_of_the_title_are_found_whatever_their_case() -> None:
    tree = _tree("<title>Rye bread</title><h1>RYE BREAD</h1><p>Nothing of it</p>")
    share = _named(tree)["title_share"]
    assert share[_node(tree, "h1")] == 1
    assert share[_node(tree, "p")] == 0


def test_visible_characters_are_compared_with_the_html() -> None:
    tree = _tree("<p>1234567890</p>")
    assert _named(tree)["visible_share"][_node(tree, "p")] == pytest.approx(10 / 17)


def test_what_stands_at_the_margins_is_far_from_the_centre() -> None:
    tree = _tree()
    named = _named(tree)
    nav, main, footer = (_node(tree, name) for name in ("nav", "main", "footer"))
    assert named["to_top"][nav] < named["to_top"][main]
    assert named["to_bottom"][footer] < named["to_bottom"][main]
    assert named["from_centre"][main] < min(named["from_centre"][[nav, footer]])


def test_names_of_classes_and_ids_change_no_score() -> None:
    plain = "<nav><a href=/>Home</a></nav><main><p>" + LONG + "</p></main>"
    named = plain.replace("<main", '<main class="body" id="c"').replace("<nav", '<nav class="menu"')
    other = plain.replace("<main", '<main class="menu" id="c"').replace("<nav", '<nav class="body"')
    first, second = (model_scores(_tree(html)) for html in (named, other))
    assert np.array_equal(first, second, equal_nan=True)


def test_a_small_node_has_the_score_of_what_it_stands_in() -> None:
    tree = _tree()
    layout, scores = layout_of(tree), model_scores(tree)
    hidden = hidden_nodes(tree, layout)
    small = np.flatnonzero(hidden & judged(tree))
    assert len(small) > 10
    assert (layout.area[small] < 2000).all()
    assert (scores[small] == scores[tree.parent[small]]).all()


def test_a_node_with_small_children_weighs_one_more_than_there_are() -> None:
    tree = _tree("<p>" + LONG + "<a>b</a><i>c</i><b>d</b></p>")
    smoothing = PageSmooth().smoothing(Memory(), tree)
    assert smoothing.weight is not None
    assert smoothing.hidden is not None
    node = _node(tree, "p")
    children = np.flatnonzero(tree.parent == node)
    assert smoothing.hidden[children].tolist() == [False, True, True, True]
    assert smoothing.weight[children[1:]].tolist() == [1, 1, 1]
    assert smoothing.weight[children[1:] + 1].tolist() == [0, 0, 0]


@pytest.mark.parametrize("by", ["area", "nodes", "parent"])
def test_a_section_costs_more_the_smaller_its_node_is(by: str) -> None:
    tree = _tree()
    penalty = PageSmooth(penalty=0.01, penalty_by=by).smoothing(Memory(), tree).penalty
    layout = layout_of(tree)
    nav, body = _node(tree, "nav"), _node(tree, "body")
    size = np.arange(len(tree))
    ratio = {
        "area": layout.area[0] / layout.area[nav],
        "nodes": len(tree) / (tree.end - size)[nav],
        "parent": layout.area[body] / layout.area[nav],
    }[by]
    assert penalty[nav] == pytest.approx(0.01 * ratio)
    assert penalty[nav] > penalty[body]


def test_page_smooths_and_page_basic_does_not() -> None:
    assert isinstance(make_method("page"), Smooths)
    assert not isinstance(make_method("page-basic"), Smooths)
    assert not any(
        isinstance(kind(), Smooths) for kind in METHODS.values() if kind is not PageSmooth
    )


def test_the_scores_of_page_are_those_of_page_basic_smoothed() -> None:
    tree = _tree()
    method = PageSmooth()
    smoothed = smooth(tree, model_scores(tree), method.smoothing(Memory(), tree))
    result = dehusk.extract(HTML, "https://mill.example/a", method="page")
    assert np.array_equal(result.labels.scores, smoothed.scores, equal_nan=True)
    up = np.maximum(tree.parent, 0)
    shown = tree.shown & tree.shown[up]
    assert (smoothed.scores[shown] >= smoothed.scores[up][shown]).all()


@pytest.mark.parametrize("method", ["page", "page-basic"])
def test_a_page_alone_loses_its_menu_and_keeps_its_article(method: str) -> None:
    result = dehusk.extract(HTML, "https://mill.example/a", method=method)
    assert "the miller weighed them" in result.text
    assert "Place 7" not in result.text


@pytest.mark.parametrize("method", ["page", "page-basic"])
def test_the_answer_on_a_page_does_not_depend_on_other_pages(method: str) -> None:
    site = dehusk.Site(method=method)
    first = site.add(HTML).text
    for number in range(5):
        site.add(HTML.replace("mill", f"mill {number}"))
    assert site.add(HTML).text == first


def test_labels_follow_sections() -> None:
    result = dehusk.extract(HTML, method="page")
    sections = result.labels.sections
    assert sections is not None
    text = result.tree.is_text & result.tree.shown & (result.tree.text_length > 0)
    for section in np.unique(sections[text]):
        assert len(set(result.labels.labels[text & (sections == section)].tolist())) == 1
    assert Label.TEMPLATE in result.labels.labels


def test_sections_hold_all_the_text_of_the_page_once() -> None:
    result = dehusk.extract(HTML, method="page")
    assert result.sections is not None
    words = sorted(word for section in result.sections for word in section.text.split())
    tree = result.tree
    texts = np.flatnonzero(tree.text_length * tree.is_text).tolist()
    shown = [tree.text(node).split() for node in texts]
    assert words == sorted(word for text in shown for word in text)
    assert {section.label for section in result.sections} == {Label.CONTENT, Label.TEMPLATE}
    assert dehusk.extract(HTML, method="segments").sections is None


def test_the_template_command_gives_sections(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    page.write_text(HTML, "utf-8")
    command = ["template", str(page), "--format", "sections", "--method"]
    assert main([*command, "page"]) == 0
    written = json.loads(capsys.readouterr().out)
    assert written["method"] == "page"
    labels = {section["label"] for section in written["sections"]}
    assert labels == {"content", "template"}
    assert main([*command, "page-basic"]) == 2
    assert "does not smooth" in capsys.readouterr().err


def test_a_page_of_a_hundred_thousand_paragraphs_is_judged_in_bounded_memory() -> None:
    tree = _tree("<p>rye" * 100_000)
    assert not hidden_nodes(tree, layout_of(tree))[_node(tree, "p")]
    tracemalloc.start()
    smoothing = PageSmooth().smoothing(Memory(), tree)
    smooth(tree, model_scores(tree), smoothing)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200e6


def _model() -> dict[str, Any]:
    written: dict[str, Any] = json.loads(read_model("").dump())
    return written


def test_a_model_is_read_as_it_was_written(tmp_path: Path) -> None:
    file = tmp_path / "model.json"
    file.write_text(read_model("").dump(), "utf-8")
    again, shipped = read_model(str(file)), read_model("")
    assert np.array_equal(again.weights, shipped.weights)
    assert again.bounds == shipped.bounds
    assert again.dump() == shipped.dump()
    tree = _tree()
    assert np.array_equal(model_scores(tree, str(file)), model_scores(tree), equal_nan=True)


@pytest.mark.parametrize(
    "change",
    [
        {"format": "another"},
        {"version": 2},
        {"bands": []},
        {"bands": [{"bias": "x", "weights": {}}]},
        {"area_bounds": [3.0, 2.0, 1.0]},
        {"area_bounds": 7},
        {"bands": [{"bias": float("nan"), "weights": dict.fromkeys(NAMES, 0)}] * 4},
        {"trained_on": 3},
    ],
)
def test_a_file_that_is_no_model_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    file = tmp_path / "model.json"
    file.write_text(json.dumps(_model() | change), "utf-8")
    with pytest.raises(SettingError, match="no page model"):
        make_method("page", model=str(file))


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000, "1" * 1_000_001])
def test_garbage_is_refused_as_a_model(tmp_path: Path, text: str) -> None:
    file = tmp_path / "model.json"
    file.write_text(text, "utf-8")
    with pytest.raises(SettingError, match="no page model"):
        make_method("page-basic", model=str(file))


def test_a_model_that_is_not_there_is_named() -> None:
    with pytest.raises(SettingError, match="nonesuch"):
        make_method("page", model="nonesuch.json")


@pytest.mark.parametrize(
    "settings",
    [{"penalty": -1.0}, {"penalty": float("nan")}, {"penalty_by": "x"}, {"min_area": -1.0}],
)
def test_impossible_settings_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(SettingError):
        make_method("page", **settings)


def test_each_range_of_areas_has_its_own_regression() -> None:
    weights = np.zeros((4, len(NAMES)))
    model = Model((10.0, 20.0, 30.0), weights, np.array([-9.0, 0.0, 1.0, 9.0]))
    columns = np.zeros((len(NAMES), 5))
    scores = model.scores(columns, np.array([5.0, 10.0, 19.0, 20.0, 99.0]))
    assert scores.round(2).tolist() == [0.0, 0.5, 0.5, 0.73, 1.0]
