"""What learning a site does to its answers is measured as it is."""

from __future__ import annotations

import argparse
import json
from operator import attrgetter
from pathlib import Path

import pytest

import dehusk
import dehusk_bench as bench
from dehusk.methods.auto import Auto
from dehusk_bench.corpora import open_corpus
from dehusk_bench.peers.contenders import learner
from dehusk_bench.quality.ablation import variants
from dehusk_bench.quality.averages import Figure
from dehusk_bench.quality.measure import run_quality
from dehusk_bench.quality.together import measure, site_means, text_alone
from dehusk_bench.record.found_tables import find_tables


def _run(*words: str) -> int:
    parser = argparse.ArgumentParser()
    bench.add_arguments(parser)
    return bench.run(parser.parse_args(words))


def test_a_page_alone_is_what_a_site_without_other_pages_says() -> None:
    add = learner(Auto())
    for gold in open_corpus("samples:shop:3:8").pages():
        result, _ = add(gold.page)
        assert text_alone(Auto(), result) == dehusk.Site().add(gold.html, gold.page.url).text


def test_both_answers_score_as_in_bench_quality() -> None:
    corpus = open_corpus("samples:docs:1:8")
    (report,) = run_quality([corpus], variants()[:2])
    found = measure(corpus, {})
    for contender, value in (("auto", "together"), ("each page alone", "alone")):
        ours = site_means(found.pages, attrgetter(value))
        assert ours == pytest.approx(report.averages[contender].site_values(Figure.F1))


def test_words_that_the_memory_moves_are_counted_once() -> None:
    for page in measure(open_corpus("samples::2:10"), {}).pages:
        now = page.kept - page.content_lost + page.content_won
        assert 0 <= now <= page.content
        assert page.content_lost == page.content_won == 0 or page.number > 1
        answer = now + page.template - page.template_removed + page.template_added
        assert page.together == pytest.approx(2 * now / max(answer + page.content, 1))


@pytest.mark.parametrize("kind", ["news", "shop", "forum", "docs", "town", "blog", "tables"])
def test_a_made_site_loses_nothing_by_being_learned(kind: str) -> None:
    pages = measure(open_corpus(f"samples:{kind}:1:12"), {}).pages
    (change,) = site_means(pages, attrgetter("change")).values()
    assert change > -0.02
    assert not any(page.has_lost_much and (page.confidence or 0) > 0.8 for page in pages)


def test_the_tables_are_of_all_pages_and_the_worst_come_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "found.json"
    corpora = "samples:docs:1:21", "samples:forum:1:6"
    assert _run("together", *corpora, "--worst", "2", "--markdown", "--json", str(file)) == 0
    tables = find_tables(capsys.readouterr().out)
    changes, words, lost, sites, pages, *_, summary = tables
    assert changes.column("pages")[:4] == ["all", "1–5", "6–19", "20+"]
    assert words.rows[0][0].startswith("content lost")
    assert lost.column("answers that lost content") == ["more than 30%"]
    assert len(sites.rows) <= 1
    falls = list(map(float, pages.column("change")))
    assert falls == sorted(falls)
    assert summary.column("corpus") == [*corpora, "all"]
    assert summary.row("all")[0] == "27"
    assert len(json.loads(file.read_text("utf-8"))[corpora[0]]) == 21


def test_a_corpus_without_known_content_says_that(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = tmp_path / "bare.jsonl"
    bare.write_text('{"site": "a", "html": "<p>x"}\n', "utf-8")
    assert _run("together", str(bare)) == 0
    assert "no content known" in capsys.readouterr().out
