"""The method `cetr`: the formulas of the paper, and pages of one line."""

from __future__ import annotations

import numpy as np
import pytest

from dehusk.errors import SettingError
from dehusk.memory import Memory
from dehusk.methods.papers.cetr import Cetr, _clusters
from dehusk.page.page import Page
from dehusk.page.parse import parse

PROSE = "The mill by the river stood still until rain came back in the last week of September. " * 3
MENU = "".join(f"<li><a href=/{n}>Year {n}</a></li>\n" for n in range(12))


def _scores(html: str, **settings: object) -> dict[str, float]:
    tree = parse(Page(html, "https://grain.example/")).tree
    scores = Cetr(**settings).score(Memory(), tree)  # type: ignore[arg-type]
    return {
        tree.text(node).strip(): float(scores[node])
        for node in np.flatnonzero(~np.isnan(scores)).tolist()
    }


def test_ratios_are_smoothed_by_a_bell_that_adds_up_to_one() -> None:
    smoothed = Cetr()._smoothed(np.array([0.0, 0.0, 10.0, 0.0, 0.0]))
    side = np.exp(-0.5) / (1 + 2 * np.exp(-0.5))
    assert smoothed == pytest.approx([0, 10 * side, 10 * (1 - 2 * side), 10 * side, 0])


def test_the_first_cluster_stays_at_the_origin() -> None:
    points = np.array([[0.0, 0.0], [1.0, 0.0], [9.0, 1.0], [10.0, 0.0], [30.0, 5.0]])
    assert _clusters(points, 3).tolist() == [0, 0, 1, 1, 2]


def test_points_that_are_all_alike_are_one_cluster() -> None:
    assert len(set(_clusters(np.full((4, 2), 3.0), 3).tolist())) == 1


def test_prose_is_content_and_a_menu_is_template() -> None:
    scores = _scores(f"<ul>\n{MENU}</ul>\n<p>{PROSE}</p>\n<p>{PROSE}</p>\n<ul>\n{MENU}</ul>")
    assert scores[PROSE.strip()] == 0
    assert scores["Year 0"] == 1
    assert scores["Year 11"] == 1


def test_a_page_in_one_line_is_divided_only_where_blocks_begin_lines() -> None:
    html = f"<ul>{MENU}</ul><p>{PROSE}</p><p>{PROSE}</p><ul>{MENU}</ul>".replace("\n", "")
    assert _scores(html)["Year 0"] == 1
    assert len(set(_scores(html, breaks_blocks=False).values())) == 1


def test_only_characters_that_are_shown_count() -> None:
    hidden = f"<script>{PROSE}</script><p hidden>{PROSE}</p><!-- {PROSE} -->"
    html = f"<ul>\n{MENU}</ul>\n<p>{PROSE}</p>\n<p>{PROSE}</p>"
    assert _scores(html + hidden) == _scores(html)


def test_settings_out_of_range_are_refused() -> None:
    with pytest.raises(SettingError, match="clusters"):
        Cetr(clusters=1)
