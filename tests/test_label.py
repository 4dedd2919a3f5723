"""Labels: what each node is, and why."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dehusk.answer.labels import Label, Reason, label
from dehusk.page import tags
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Floats, Tree
from pages_to_scan import TEXTS

NAN = float("nan")


def _tree(html: str) -> Tree:
    return parse(Page(html)).tree


def _verdicts(html: str, **scores: float) -> dict[str, tuple[Label, Reason]]:
    """The verdict on each node by its tag or text, where the named ones have these scores."""
    tree = _tree(html)
    names = [tree.text(i) if tree.is_text[i] else tree.name(i) for i in range(len(tree))]
    verdict = label(tree, np.array([scores.get(name, NAN) for name in names]))
    return {
        name: (Label(verdict.labels[i]), Reason(verdict.reasons[i])) for i, name in enumerate(names)
    }


def test_text_is_template_above_a_half_and_content_at_it() -> None:
    found = _verdicts("<p>a</p><b>b</b>", a=0.5, b=0.51)
    assert found["a"] == (Label.CONTENT, Reason.SCORED_CONTENT)
    assert found["b"] == (Label.TEMPLATE, Reason.SCORED_TEMPLATE)


def test_what_holds_any_content_is_content() -> None:
    found = _verdicts("<div><p>a</p><b>b</b></div>", a=0.0, b=1.0, div=1.0)
    assert found["div"] == (Label.CONTENT, Reason.HOLDS_CONTENT)


def test_what_holds_template_alone_is_template() -> None:
    found = _verdicts("<div><p>a</p><b>b</b></div>", a=0.9, b=1.0, div=0.0)
    assert found["div"] == (Label.TEMPLATE, Reason.HOLDS_TEMPLATE)


def test_an_image_goes_with_what_is_around_it() -> None:
    html = "<div><p>a</p><img></div><ul><li>b<svg></svg></ul>"
    found = _verdicts(html, a=0.0, b=1.0, div=0.9)
    assert found["img"] == (Label.CONTENT, Reason.FOLLOWS_ANCESTOR)
    assert found["svg"] == (Label.TEMPLATE, Reason.FOLLOWS_ANCESTOR)


def test_an_image_with_a_score_of_its_own_is_judged_by_it() -> None:
    assert _verdicts("<p>a<img></p>", a=0.0, img=1.0)["img"][0] is Label.TEMPLATE


def test_without_any_opinion_all_is_kept() -> None:
    found = _verdicts("<p>a</p>")
    assert found["a"] == found["p"] == (Label.CONTENT, Reason.NO_OPINION)


def test_what_is_never_shown_is_hidden_whatever_its_score() -> None:
    found = _verdicts("<p>a</p><p hidden><b>b</b></p>", a=0.0, b=1.0)
    assert found["b"] == (Label.HIDDEN, Reason.NEVER_SHOWN)
    assert found["head"][0] is Label.HIDDEN


@given(st.lists(st.sampled_from([0.0, 0.3, 0.7, 1.0, NAN]), min_size=40, max_size=40))
def test_a_template_element_never_holds_content(scores: list[float]) -> None:
    tree = _tree("<div><ul><li>a<li>b<img></ul><p>c<b>d</b></p></div><p><i>e</i>f</p><hr>" * 2)
    verdict = label(tree, np.array(scores[: len(tree)]))
    for node in np.flatnonzero(verdict.labels == Label.TEMPLATE):
        assert not (verdict.labels[node : tree.end[node]] == Label.CONTENT).any()


def test_scores_are_handed_on_as_they_came() -> None:
    tree = _tree("<p>a")
    scores = np.linspace(0, 1, len(tree))
    assert label(tree, scores).scores is scores


def _by_definition(tree: Tree, scores: Floats) -> list[tuple[Label, Reason]]:
    """What `label` says it does, node by node."""
    images = [tree.name(i) in tags.IMAGE for i in range(len(tree))]
    seen = tree.shown & ((tree.is_text & (tree.text_length > 0)) | images)
    leaf, verdicts = seen & ~np.isnan(scores), list[tuple[Label, Reason]]()
    for node in range(len(tree)):
        below = scores[node : tree.end[node]][leaf[node : tree.end[node]]]
        is_template = bool((below > 0.5).all())
        verdict = Label.TEMPLATE if is_template else Label.CONTENT
        if leaf[node]:
            is_template = bool(scores[node] > 0.5)
            verdict = Label.TEMPLATE if is_template else Label.CONTENT
            reason = Reason.SCORED_TEMPLATE if is_template else Reason.SCORED_CONTENT
        elif len(below):
            reason = Reason.HOLDS_TEMPLATE if is_template else Reason.HOLDS_CONTENT
        elif node and not leaf.any():
            verdict, reason = Label.CONTENT, Reason.NO_OPINION
        else:
            above = int(tree.parent[node])
            verdict = verdicts[above][0] if node else Label.CONTENT
            reason = Reason.FOLLOWS_ANCESTOR if leaf.any() else Reason.NO_OPINION
        verdicts.append((verdict, reason))
    return [
        verdict if tree.shown[node] else (Label.HIDDEN, Reason.NEVER_SHOWN)
        for node, verdict in enumerate(verdicts)
    ]


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.sampled_from((*TEXTS, "<img>", "<svg>")), max_size=40).map("".join),
    st.lists(st.sampled_from((0.0, 0.5, 0.6, 1.0, NAN)), min_size=1),
)
def test_labels_are_what_their_definition_says(html: str, few: list[float]) -> None:
    tree = _tree(html)
    scores = np.resize(few, len(tree))
    found = label(tree, scores)
    expected = _by_definition(tree, scores)
    assert list(zip(found.labels.tolist(), found.reasons.tolist(), strict=True)) == expected
