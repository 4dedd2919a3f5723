"""The sweep over the settings of `segments`, after table 1 of its paper (Wang et al., WWW 2008)."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from dehusk.methods.papers.segments import Segments
from dehusk_bench.corpora import Corpus, open_corpus
from dehusk_bench.papers import sweep_segments
from dehusk_bench.papers.sweep_segments import SEPARATOR_NAMES
from dehusk_bench.papers.table_sizes import (
    SEPARATOR_LISTS,
    Hits,
    Row,
    Tally,
    Variant,
    choose,
    make_variants,
    mean_rows,
    measure,
)

PAGES = [
    f"<body><div>menu</div><div>foot</div><main><p>story {n}</p></main></body>" for n in range(10)
]


def _corpus(tmp_path: Path, sites: int = 1) -> Corpus:
    return open_corpus(str(_file(tmp_path, sites)))


def _file(tmp_path: Path, sites: int = 1) -> Path:
    path = tmp_path / "corpus.jsonl"
    gold = {"content_nodes": [[1, 2]]}
    lines = [
        json.dumps({"site": f"{site}.example", "html": html, "content": f"story {n}", **gold})
        for site in range(sites)
        for n, html in enumerate(PAGES)
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def _arguments(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    sweep_segments.add_arguments(parser)
    return parser.parse_args(words)


def test_the_average_size_is_the_mean_of_the_sizes_after_each_page() -> None:
    # Section 3: AverageSize = Σ s_i / Σ 1.
    assert Tally(sizes=[100, 200, 600]).average_size == 300


def test_the_share_is_of_what_a_batch_of_24_pages_would_cache() -> None:
    # Section 3: 'the average number of pages in each batch is 24'.
    tally = Tally(sizes=[2400, 2400], page_bytes=[500, 1500])
    assert tally.batch_share == pytest.approx(0.1)


def test_recall_and_precision_count_what_is_not_known_as_none() -> None:
    assert Hits().recall is None
    assert Hits().precision is None
    assert Hits(template=4, called=3, found=2).recall == 0.5
    assert Hits(template=4, called=4, found=1).precision == 0.25


def test_template_is_found_from_the_fifth_page_on(tmp_path: Path) -> None:
    variants = make_variants([50], [20], ["default"])
    sites, fault = measure(_corpus(tmp_path), variants)
    assert fault is None
    for tally in sites["0.example"]:
        # Two template blocks of ten pages, found on the last six; nothing else is called so.
        assert (tally.blocks.template, tally.blocks.found, tally.blocks.called) == (20, 12, 12)
        assert tally.text.recall == pytest.approx(0.6)
        # Each page adds one segment of its own to the two that all share.
        assert tally.sizes == [16 * (2 + n) for n in range(1, 11)]


def test_ageing_makes_the_table_smaller(tmp_path: Path) -> None:
    variants = make_variants([1], [20], ["default"])
    sites, _ = measure(_corpus(tmp_path), variants)
    free, aged = sites["0.example"]
    assert aged.average_size < free.average_size
    assert aged.blocks.found == free.blocks.found


def test_a_site_is_learned_from_nothing(tmp_path: Path) -> None:
    sites, _ = measure(_corpus(tmp_path, sites=2), make_variants([50], [20], ["default"]))
    assert sites["0.example"] == sites["1.example"]


def test_every_list_of_separators_has_a_variant_without_ageing() -> None:
    variants = make_variants([2, 5], [20], ["default", "named"])
    assert [(v.separators, v.method.ages, v.method.base_life) for v in variants] == [
        ("default", False, 10.0), ("default", True, 2), ("default", True, 5),
        ("named", False, 10.0), ("named", True, 2), ("named", True, 5),
    ]  # fmt: skip


def test_the_command_offers_the_lists_that_there_are() -> None:
    assert tuple(SEPARATOR_LISTS) == SEPARATOR_NAMES
    assert SEPARATOR_LISTS["named"] == ("div", "table")
    for names in SEPARATOR_LISTS.values():
        Segments(separators=names)


def _row(recall: float | None, share: float, *, ages: bool = True) -> Row:
    variant = Variant("default", Segments(ages=ages))
    return Row(variant, recall, None, None, None, 1.0, share, share)


def test_the_choice_is_the_smallest_table_that_costs_little_recall() -> None:
    rows = [_row(0.80, 0.5, ages=False), _row(0.79, 0.1), _row(0.785, 0.05), _row(0.7, 0.01)]
    assert choose(rows, 0.02) is rows[2]
    assert choose(rows, 0.0) is rows[0]
    assert choose([_row(None, 0.1, ages=False)], 0.02) is None


def test_there_are_no_rows_without_sites() -> None:
    assert mean_rows([], make_variants([2], [5], ["default"])) == []


def test_the_command_prints_a_table_and_a_choice_tested_on_other_sites(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(_file(tmp_path, sites=4))
    assert sweep_segments.run(_arguments(file, "--base-life", "1,5", "--life-factor", "20")) == 0
    printed = capsys.readouterr().out
    assert "corpus: 4 sites" in printed
    assert "Smallest table within 0.02 of the best recall: default separators, Tb 1" in printed
    assert printed.count("Chosen on 2 sites") == 2
    assert "loses 0.000" in printed


def test_without_gold_of_nodes_there_is_nothing_to_choose_by(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "news.jsonl"
    path.write_text('{"site": "a", "html": "<p>x</p>", "content": "x"}\n{"si', encoding="utf-8")
    assert sweep_segments.run(_arguments(str(path), "--markdown")) == 1
    printed = capsys.readouterr().out
    assert "nothing to choose by" in printed
    assert "what came before it was measured" in printed


def test_pages_that_cannot_be_used_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "odd.jsonl"
    records = [{"site": "a", "html": "%PDF-1.4"}, {"site": "b", "html": "<p>x</p>"}]
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    sites, _ = measure(open_corpus(str(path)), make_variants([5], [5], ["default"]))
    assert list(sites) == ["b"]
