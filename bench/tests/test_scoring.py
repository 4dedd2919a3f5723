"""Scores that gold sets of different conventions can share: headlines, snippets, comments."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from dehusk_bench.corpora import Corpus, GoldPage
from dehusk_bench.peers.contenders import Answer, Contender
from dehusk_bench.quality.averages import Averages, Figure, Place
from dehusk_bench.quality.bootstrap import difference, interval
from dehusk_bench.quality.measure import By, Report, run_quality
from dehusk_bench.quality.report import quality_json, render_report
from dehusk_bench.quality.scoring import comment_lines, content_gold, words

BODY = "Oats grow well in wet and cool summers"
PAGE = f"<title>Oats | Farm</title><body><h1>How oats grow</h1><p>{BODY}</p>"


def _record(html: str = PAGE, *, site: str = "farm", **gold: Any) -> dict[str, Any]:
    return {"site": site, "url": f"https://{site}.example/", "html": html, **gold}


def _gold(html: str = PAGE, **gold: Any) -> GoldPage:
    (page,) = Corpus("c", lambda: iter([_record(html, **gold)])).pages()
    return page


def _f1(answer: str, html: str = PAGE, **gold: Any) -> float:
    found = content_gold(_gold(html, **gold))
    assert found is not None
    return found.score(words(answer)).f1


# --- the headline


def test_a_headline_that_the_gold_lacks_neither_costs_nor_wins() -> None:
    assert _f1(f"How oats grow\n{BODY}", content=BODY) == 1
    assert _f1(BODY, content=BODY) == 1


def test_a_headline_that_the_gold_has_is_asked_for() -> None:
    content = f"How oats grow\n\n{BODY}"
    assert _f1(content, content=content) == 1
    assert _f1(BODY, content=content) < 1


def test_a_headline_is_taken_out_once() -> None:
    twice = f"How oats grow\nHow oats grow\n{BODY}"
    assert 0.8 < _f1(twice, content=BODY) < 1
    # Nor twice where the gold tells what the first `<h1>` says.
    assert _f1(twice, content=BODY, headline="How oats grow") == _f1(twice, content=BODY)


def test_the_headlines_words_stay_where_they_do_not_stand_together() -> None:
    # Each of them is in the text; were they taken out one by one, a right answer would lose them.
    content = "Grow oats: how? Sow them early, and how they grow"
    assert _f1(content, content=content) == 1


def test_a_page_without_a_headline_is_scored_as_it_is() -> None:
    html = f"<body><h1><img src=logo.png></h1><p>{BODY}</p>"
    assert _f1(BODY, html, content=BODY) == 1
    assert _f1(f"How oats grow {BODY}", html, content=BODY) < 1
    assert _f1(BODY, "", content=BODY) == 1


def test_the_first_h1_that_shows_a_word_is_the_headline() -> None:
    html = (
        "<body><h1><img src=logo.png></h1><h1 hidden>Menu</h1><h1>How <b>oat</b>s grow</h1>"
        f"<p>{BODY}</p><aside><h1>Other news</h1></aside>"
    )
    assert _f1(f"How oats grow {BODY}", html, content=BODY) == 1
    assert _f1(f"{BODY} Other news", html, content=BODY) < 1


def test_where_the_h1_is_the_sites_name_the_golds_headline_counts_too() -> None:
    html = f"<body><h1>Farm weekly</h1><h2>How oats grow</h2><p>{BODY}</p>"
    given = {"content": BODY, "headline": "How oats grow!"}
    assert _f1(f"Farm weekly How oats grow {BODY}", html, **given) == 1
    assert _f1(f"How oats grow {BODY}", html, content=BODY) < 1
    # The gold has the headline and, rightly, not the name.
    content = f"How oats grow {BODY}"
    assert _f1(content, html, content=content, headline="How oats grow") == 1


def test_headlines_of_scripts_without_spaces_are_found() -> None:
    html = "<body><h1>燕麦的种植</h1><p>燕麦喜欢凉爽的夏天"
    assert _f1("燕麦的种植\n燕麦喜欢凉爽的夏天", html, content="燕麦喜欢凉爽的夏天") == 1


def test_without_content_there_is_nothing_to_score_against() -> None:
    assert content_gold(_gold(must_keep=["oats"])) is None


# --- snippets


def _says(answers: Mapping[str, str], name: str = "one") -> Contender:
    """Answers on each site what it is given."""
    return Contender(name, lambda _: lambda page: Answer(answers[str(page.site)]))


SNIPPETS = [
    _record(site="a", must_keep=["red oats", "oat straw"], must_drop=["cookies", "sign in"]),
    _record(site="b", must_keep=["barley"], must_drop=["newsletter"]),
    _record(site="c", must_keep=["rye"], must_drop=[]),
]


def _snippet_report(answers: Mapping[str, str], *more: Contender) -> Report:
    corpus = Corpus("snippets", lambda: iter(SNIPPETS))
    (report,) = run_quality([corpus], [_says(answers), *more], by=By.SITE)
    return report


def test_snippets_are_counted_over_all_pages_together() -> None:
    # Kept: red oats, barley, rye. Left: cookies. Missing: oat straw.
    report = _snippet_report({"a": "Red oats, cookies", "b": "Barley", "c": "Rye"})
    averages = report.averages["one"]
    assert averages.mean(Figure.SNIPPET_PRECISION) == 3 / 4
    assert averages.mean(Figure.SNIPPET_RECALL) == 3 / 4
    assert averages.mean(Figure.SNIPPET_F1) == 3 / 4
    assert averages.mean(Figure.KEPT) == pytest.approx((1 / 2 + 1 + 1) / 3)
    assert report.groups["a"]["one"].mean(Figure.SNIPPET_F1) == 1 / 2
    assert "snippet F1, 95 %" in render_report(report)


def test_an_answer_without_any_snippet_has_no_precision_and_f1_zero() -> None:
    averages = _snippet_report(dict.fromkeys("abc", "")).averages["one"]
    assert averages.mean(Figure.SNIPPET_PRECISION) is None
    assert averages.mean(Figure.SNIPPET_F1) == 0


def test_values_alone_are_no_snippets() -> None:
    corpus = Corpus("values", lambda: iter([_record(must_keep=["oats"])]))
    (report,) = run_quality([corpus], [_says({"farm": "oats"})])
    assert report.averages["one"].mean(Figure.SNIPPET_F1) is None
    assert "kept, 95 %" in render_report(report)


def test_contenders_are_compared_by_the_snippets_where_there_is_no_text() -> None:
    every = {"a": "red oats, oat straw", "b": "barley", "c": "rye"}
    report = _snippet_report(every, _says({**every, "b": "newsletter"}, "two"))
    shown = render_report(report)
    assert "snippet F1 of one against" in shown
    # All four are kept by the first; the second keeps three, and one that must go.
    (row,) = (line for line in shown.splitlines() if line.startswith("two") and "+" in line)
    assert row.split()[1] == "+0.250"


def test_readers_comments_are_looked_for_by_snippets_or_by_long_lines() -> None:
    lines = "Ann\nI would sow them a week earlier\nReply"
    assert comment_lines(_gold(comments=lines)) == ["I would sow them a week earlier"]
    records = [
        _record(site="a", content=BODY, comments=lines),
        _record(site="b", content=BODY, comments_snippets=["thank you", "great"]),
    ]
    answers = {"a": BODY, "b": f"{BODY} Thank you all"}
    (report,) = run_quality([Corpus("c", lambda: iter(records))], [_says(answers)])
    assert report.averages["one"].mean(Figure.COMMENTS) == 0.25


# --- intervals


def test_a_pooled_figure_has_an_interval_that_holds_it() -> None:
    values = [(4, 5), (1, 4), (3, 3), (0, 2), (5, 6), (2, 3)]
    found = interval(values)
    assert found is not None
    assert found.mean == sum(part for part, _ in values) / sum(whole for _, whole in values)
    assert found.low < found.mean < found.high
    assert interval([(0, 0)]) is None


def test_shares_of_the_same_weight_have_the_interval_of_means() -> None:
    means = {"a": 0.5, "b": 0.25, "c": 1.0, "d": 0.75, "e": 0.0, "f": 0.5}
    shares = {site: (4 * mean, 4) for site, mean in means.items()}
    assert interval(list(shares.values())) == interval(list(means.values()))
    other = dict.fromkeys(means, 0.25)
    assert difference(shares, other) == difference(means, other)


def test_every_figure_with_gold_has_its_interval_in_the_json() -> None:
    report = _snippet_report({"a": "Red oats, cookies", "b": "Barley", "c": "Rye"})
    (written,) = json.loads(json.dumps(quality_json([report])))
    one = written["contenders"]["one"]
    gold_figures = set(one["mean"]) - {"words", "cpu_ms", "failed"}
    assert set(one["interval"]) == gold_figures >= {"kept", "left", "snippet_f1"}
    low, high = one["interval"]["snippet_f1"]["all"]
    assert low <= one["mean"]["snippet_f1"]["all"] <= high
    assert one["by_site"]["a"]["snippet_f1"]["all"] == [2, 4]
    assert one["by_site"]["a"]["pages"] == {"all": 1, "1–5": 1}
    assert "interval" in written["groups"]["a"]["one"]


def test_figures_can_be_broken_down_by_source_and_by_place() -> None:
    records = [_record(content=BODY, source=source) for source in ["x"] * 5 + ["y"]]
    corpus = Corpus("c", lambda: iter(records))
    for by, groups in ((By.SOURCE, {"x", "y"}), (By.PLACE, {Place.EARLY, Place.MIDDLE})):
        (report,) = run_quality([corpus], [_says({"farm": BODY})], by=by)
        assert set(report.groups) == groups


def test_an_average_of_no_page_has_no_interval() -> None:
    assert Averages().interval(Figure.F1) is None
