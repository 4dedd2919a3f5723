"""The method `words-leaves`: words are counted, and the block of many on few leaves is found."""

from __future__ import annotations

import numpy as np
import pytest

from dehusk.errors import SettingError
from dehusk.memory import Memory
from dehusk.methods.papers.words_leaves import WordsLeaves, _words
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Tree

PROSE = "The mill by the river stood still until rain came back in the last week of September."
MENU = "".join(f"<li><a href=/{n}>Year {n}</a></li>" for n in range(12))


def _tree(html: str) -> Tree:
    return parse(Page(html, "https://grain.example/")).tree


def _scores(html: str, **settings: float) -> dict[str, float]:
    tree = _tree(html)
    scores = WordsLeaves(**settings).score(Memory(), tree)
    known = np.flatnonzero(~np.isnan(scores)).tolist()
    return {tree.text(node).strip(): float(scores[node]) for node in known}


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Rain came back.", 3),
        ("  42 mills &amp; one river  ", 4),
        ("caf&eacute; &lt; 3&nbsp;km", 3),
        ("水車は川", 4),
        ("mill、水車。", 3),
        ("»  — … ©", 0),
        (" . ", 0),
    ],
)
def test_words_are_counted_as_they_are_read(text: str, count: int) -> None:
    assert int(_words(_tree(f"<p>{text}</p>")).sum()) == count


def test_words_and_leaves_are_those_of_the_whole_subtree() -> None:
    tree = _tree("<div><p>One two <b>three</b></p><p hidden>four</p><script>five</script></div>")
    words = _words(tree)
    assert int(tree.sums(words)[0]) == 3
    assert int(tree.sums(words > 0)[0]) == 2


def test_the_block_around_the_prose_is_content_and_menus_are_template() -> None:
    paragraphs = "".join(f"<p>{n} {PROSE}</p>" for n in range(5))
    scores = _scores(
        f"<ul>{MENU}</ul><div><h1>Mills</h1>{paragraphs}</div><ul><li>Imprint</li></ul>"
    )
    assert {scores[f"{n} {PROSE}"] for n in range(5)} == {0}
    assert scores["Mills"] == 0
    assert scores["Year 3"] == scores["Imprint"] == 1


def test_without_the_ratio_the_whole_page_is_content() -> None:
    scores = _scores(f"<ul>{MENU}</ul><p>{PROSE}</p>", weight=0)
    assert set(scores.values()) == {0}


def test_with_the_ratio_alone_one_paragraph_is_content() -> None:
    scores = _scores(f"<p>{PROSE} {PROSE}</p><p>{PROSE}</p>", weight=10)
    assert scores == {f"{PROSE} {PROSE}": 0, PROSE: 1}


def test_a_page_without_words_has_no_opinion() -> None:
    assert _scores("<p>…&nbsp;</p><img src=a.png>") == {}


@pytest.mark.parametrize("weight", [-1.0, 11.0, float("nan"), float("inf")])
def test_a_weight_out_of_range_is_refused(weight: float) -> None:
    with pytest.raises(SettingError, match="weight"):
        WordsLeaves(weight=weight)
