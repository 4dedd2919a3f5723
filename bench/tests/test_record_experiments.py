"""The experiments of the record that stand on their own: each measures what it says."""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter
from itertools import islice
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest

import dehusk_bench as bench
from dehusk.errors import SourceError, UsageError
from dehusk.methods.auto import Auto
from dehusk.methods.papers.hyperlink import Hyperlink
from dehusk.methods.papers.site_hash import SiteHash
from dehusk.page.parse import parse
from dehusk_bench.corpora import Caps, open_corpus
from dehusk_bench.papers.storage import BATCHES, Point, SiteCosts, Way, measure_site
from dehusk_bench.papers.teco_links import choose_links
from dehusk_bench.papers.teco_pages import read_key_pages
from dehusk_bench.quality.ablation import memory_table, variants
from dehusk_bench.quality.averages import Averages, Figure
from dehusk_bench.quality.disturbances import MIXES, PLANTED_SHARES, Kind, mixed
from dehusk_bench.quality.measure import Report, run_quality
from dehusk_bench.quality.redesigns import alarms
from dehusk_bench.quality.robustness import measure
from dehusk_bench.quality.scoring import content_gold, words
from dehusk_bench.record.found_tables import find_tables


def _run(*words: str) -> int:
    parser = argparse.ArgumentParser()
    bench.add_arguments(parser)
    return bench.run(parser.parse_args(words))


# --- storage


def test_a_table_of_segments_keeps_less_than_a_batch_of_pages() -> None:
    costs = measure_site(list(open_corpus("samples:docs:1:26").pages()), 0.8)
    assert costs is not None
    recall = costs.common_recall(0.8)
    assert 0 < recall <= 0.8
    kept = {way: costs.cheapest(way, recall) for way in Way}
    for way in (Way.CHUNKS, Way.STYLE_TREE):
        own, batch = kept[Way.SEGMENTS], kept[way]
        assert own is not None
        assert batch is not None
        assert own.average_bytes < batch.average_bytes
        assert len(costs.points[way]) == sum(size <= 26 for size in BATCHES)
    assert costs.delays["auto"] is not None


def test_the_cheapest_setting_is_of_those_that_reach_the_recall() -> None:
    points = [Point("a", 10, 0.5, 1.0), Point("b", 30, 0.8, 1.0), Point("c", 20, 0.9, 1.0)]
    costs = SiteCosts("s", dict.fromkeys(Way, points), {})
    assert costs.cheapest(Way.CHUNKS, 0.8) == points[2]
    assert costs.cheapest(Way.CHUNKS, 0.95) is None
    assert costs.common_recall(0.95) == 0.9


def test_storage_prints_three_tables_and_says_where_there_is_no_gold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run("storage", "samples:docs:1:8", "--markdown") == 0
    equal, delay, curve = find_tables(capsys.readouterr().out)
    assert [row[0] for row in equal.rows] == ["site 1", "mean", "mean of 0 at 0.8"]
    assert equal.column("saved of chunks")[-1] == "–"
    assert delay.column("first useful answer")[:2] == ["segments", "auto"]
    assert set(curve.column("way")) == set(Way)
    bare = tmp_path / "bare.jsonl"
    bare.write_text('{"site": "a", "html": "<p>x"}\n', "utf-8")
    assert _run("storage", str(bare)) == 0
    assert "nothing to measure" in capsys.readouterr().out


# --- robustness


@pytest.mark.parametrize("mix", MIXES)
def test_those_that_do_not_belong_have_their_share_and_all_others_come_once(
    mix: tuple[Kind, float],
) -> None:
    golds = list(open_corpus("samples:docs:1:24").pages())
    others = list(open_corpus("samples:news:1:3").pages())
    pages = list(mixed(golds, others, mix))
    assert [page.gold for page in pages if page.is_own] == golds
    assert {page.page.site for page in pages} == {golds[0].site}
    strangers = [page for page in pages if not page.is_own]
    if mix[0] is Kind.SECTIONS:
        sections = sum(len(page.added) for page in pages) / sum(
            len(page.added) > 0 for page in pages
        )
        assert not strangers
        assert sections == pytest.approx(6 * 80 * mix[1], rel=0.3)
        return
    assert len(strangers) / len(pages) == pytest.approx(mix[1], abs=0.03)
    if mix[0] is not Kind.COPIES:
        assert len({page.page.url for page in pages}) == len(pages)


@pytest.mark.parametrize(
    ("kind", "least"), [(Kind.COPIES, 0.85), (Kind.VARIANTS, 0.7), (Kind.VERSIONS, 0.94)]
)
def test_a_made_page_says_the_content_with_the_words_that_it_changed(
    kind: Kind, least: float
) -> None:
    golds = list(open_corpus("samples:news:1:6").pages())
    made = [page for page in mixed(golds, golds, (kind, 0.75)) if not page.is_own]
    assert any(page.changed for page in made)
    for page, gold, _, changed, _ in made:
        assert gold is not None
        content = content_gold(gold)
        assert content is not None
        wanted = Counter(changed.get(word, word) for word in content.words.elements())
        tree = parse(page).tree
        texts = np.flatnonzero(tree.is_text & tree.shown)
        assert not wanted - Counter(words(" ".join(tree.text(int(node)) for node in texts)))
        assert least <= (wanted & content.words).total() / wanted.total() <= 1


def test_copies_are_at_the_same_and_at_other_urls() -> None:
    golds = list(open_corpus("samples:news:1:12").pages())
    made = [page for page in mixed(golds, golds, (Kind.COPIES, 0.9)) if not page.is_own]
    at_home = [page for page in made if page.gold and page.page.url == page.gold.page.url]
    assert 0 < len(at_home) < len(made)


def test_copies_of_a_page_hurt_what_counts_repetition() -> None:
    scores, fault = measure(open_corpus("samples:docs:1:6"), {"h": SiteHash()}, {})
    assert fault is None
    (alone,) = scores["h", (Kind.NONE, 0.0)].values()
    (copied,) = scores["h", (Kind.COPIES, 0.75)].values()
    assert copied.f1 < alone.f1 - 0.1
    assert alone.lost == alone.emptied == 0
    assert alone.agreement == 1
    assert copied.lost > 0.2
    assert copied.emptied > 0.2


@pytest.mark.parametrize("kind", [Kind.COPIES, Kind.VERSIONS, Kind.SECTIONS, Kind.VARIANTS])
def test_content_that_comes_back_takes_nothing_from_auto(kind: Kind) -> None:
    mix = kind, 0.75
    scores, _ = measure(open_corpus("samples::1:10"), {"auto": Auto()}, {}, mixes=[mix])
    sites = scores["auto", mix].values()
    assert fmean(site.agreement for site in sites) >= 0.98
    assert fmean(site.lost for site in sites) <= 0.015
    if kind is not Kind.VARIANTS:
        assert min(site.agreement for site in sites) >= 0.98
        assert max(site.emptied for site in sites) == 0


def test_planted_pages_say_what_the_page_says_where_it_says_it_not() -> None:
    golds = list(open_corpus("samples:docs:1:3").pages())
    planted, own = islice(mixed(golds, golds, (Kind.PLANTED, 0.5)), 2)
    texts = [
        [tree.text(node) for node in np.flatnonzero(tree.is_text & (tree.text_length > 0)).tolist()]
        for tree in (parse(planted.page).tree, parse(own.page).tree)
    ]
    assert sorted(texts[0]) == sorted(texts[1])
    assert texts[0] != texts[1]


def test_planted_pages_do_not_mislead_auto() -> None:
    mixes = [MIXES[0], *((Kind.PLANTED, share) for share in PLANTED_SHARES)]
    scores, _ = measure(open_corpus("samples::1:20"), {"auto": Auto()}, {}, mixes=mixes)
    alone = fmean(each.f1 for each in scores["auto", (Kind.NONE, 0.0)].values())
    for share in PLANTED_SHARES:
        planted = fmean(each.f1 for each in scores["auto", (Kind.PLANTED, share)].values())
        assert planted > alone - 0.005, share


def test_the_sites_before_a_broken_record_are_measured(tmp_path: Path) -> None:
    corpus = tmp_path / "x.jsonl"
    pages = [{"site": site, "html": "<p>Rye", "content": "Rye"} for site in "abc"]
    corpus.write_text("".join(json.dumps(each) + "\n" for each in pages) + "{", "utf-8")
    scores, fault = measure(open_corpus(str(corpus)), {"h": SiteHash()}, {})
    assert fault is not None
    assert scores["h", (Kind.NONE, 0.0)].keys() == {"a", "b"}


def test_a_redesign_is_seen_and_a_site_as_it_is_raises_no_alarm(tmp_path: Path) -> None:
    paragraphs = [" ".join(f"w{page}x{n}" for n in range(60)) for page in range(14)]
    menu = "".join(f"<li>Entry {letter}" for letter in "abcdef")
    pages = [
        {
            "site": "grain.example",
            "url": f"https://grain.example/{page}",
            "html": f"<body><ul class=menu>{menu}</ul><main><h2>About</h2><p>{text}</p></main>",
            "content_nodes": [[1, 1]],
        }
        for page, text in enumerate(paragraphs)
    ]
    file = tmp_path / "site.jsonl"
    file.write_text("".join(json.dumps(page) + "\n" for page in pages), "utf-8")
    assert alarms(open_corpus(str(file), Caps()), Auto()) == (14, 0, 1, 1)


def test_robustness_prints_a_row_for_each_mix(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("robustness", "samples:docs:1:4", "--method", "segments", "--markdown") == 0
    (table,) = find_tables(capsys.readouterr().out)
    assert len(table.rows) == len(MIXES)


# --- ablation


def test_parts_of_auto_are_taken_away_one_by_one() -> None:
    (report,) = run_quality([open_corpus("samples:docs:1:8")], variants())
    names = [name for name in report.averages if name != "gold"]
    assert names[:3] == ["auto", "each page alone", "two passes"]
    assert not report.failures
    assert report.averages["each page alone"].mean(Figure.STATE_BYTES) == 0
    assert (report.averages["auto"].mean(Figure.STATE_BYTES) or 0) > 0
    precise = report.averages["favour precision"].mean(Figure.WORDS) or 0
    assert precise < (report.averages["favour recall"].mean(Figure.WORDS) or 0)


def _report(corpus: str, together: dict[int, float], alone: float, figure: Figure) -> Report:
    """Eight sites alike, each with these pages by number."""
    report = Report(corpus, 8 * len(together), 8)
    report.averages = {"auto": Averages(), "each page alone": Averages()}
    for site in map(str, range(8)):
        for number, value in together.items():
            report.averages["auto"].add(site, number, {figure: value})
            report.averages["each page alone"].add(site, number, {figure: alone})
    return report


def test_the_corpus_is_named_on_which_the_memory_is_worth_least() -> None:
    reports = [
        _report("docs", {1: 0.8, 20: 1.0}, 0.8, Figure.F1),
        _report("news", {1: 0.9}, 0.92, Figure.F1),
        _report("values", {1: 0.7}, 0.6, Figure.KEPT),
        Report("empty"),
    ]
    shown = memory_table(reports, markdown=True)
    (table,) = find_tables(shown)
    assert table.column("corpus") == ["docs", "news", "values"]
    assert table.column("figure") == ["F1", "F1", "kept"]
    assert table.column("together − alone") == ["+0.100", "-0.020", "+0.100"]
    assert table.column("verdict") == ["better", "worse", "better"]
    assert table.column("20+ − 1–5") == ["+0.200", "–", "–"]
    assert "Least on news: -0.020" in shown


def test_ablation_ends_with_what_the_memory_is_worth(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text("", "utf-8")
    assert _run("ablation", "samples:docs:1:3", str(empty), "--markdown") == 0
    tables = find_tables(capsys.readouterr().out)
    assert tables[-1].title == "Pages together against each page alone"
    assert tables[-1].column("corpus") == ["samples:docs:1:3"]


# --- links


def test_every_chosen_link_is_one_of_the_links() -> None:
    keys = list(read_key_pages("samples:docs:1:6", []))
    found = choose_links(keys, Hyperlink())
    assert found.sizes.total() == len(keys)
    assert all(found.chosen[kind] <= count for kind, count in found.links.items())
    voting = sum(size * count for size, count in found.sizes.items())
    assert len(found.ranks) == voting
    assert sum(n for kind, n in found.chosen.items() if kind.startswith("is ")) == voting


def test_the_chosen_links_are_written_as_json(tmp_path: Path) -> None:
    file = tmp_path / "links.json"
    assert _run("teco", "samples:docs:1:4", "--links", "--json", str(file)) == 0
    written = json.loads(file.read_text("utf-8"))["samples:docs:1:4"]["hyperlink"]
    assert sum(written["which links are chosen"]["sizes"].values()) == 4


def test_links_are_about_hyperlink_alone() -> None:
    with pytest.raises(UsageError, match="about hyperlink"):
        _run("teco", "samples:docs:1:4", "--links", "--method", "segments")


# --- data


def test_what_is_missing_is_named_with_where_it_comes_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "docs-dev.jsonl.xz").touch()
    assert _run("data", "-o", str(tmp_path)) == 0
    shown = capsys.readouterr().out
    assert f"docs-dev: {tmp_path / 'docs-dev.jsonl.xz'}" in shown
    assert "wcxb-dev: not there\n    WCXB, CC-BY-4.0: git clone https://" in shown


@pytest.mark.slow
def test_sample_corpora_are_the_same_every_time_and_leave_files_alone(tmp_path: Path) -> None:
    own = tmp_path / "a" / "news-dev.jsonl"
    own.parent.mkdir()
    own.write_text("mine", "utf-8")
    for folder in ("a", "b"):
        assert _run("data", "-o", str(tmp_path / folder), "--samples", "--pages", "2") == 0
    assert own.read_text("utf-8") == "mine"
    assert not (own.parent / "news-dev.jsonl.gz").exists()
    for name in ("docs-dev", "linked-dev", "wcxb-dev"):
        one, other = (tmp_path / folder / f"{name}.jsonl.gz" for folder in "ab")
        assert one.read_bytes() == other.read_bytes()
        assert sum(1 for _ in open_corpus(str(one)).pages()) > 20
    assert list(read_key_pages(str(tmp_path / "a" / "linked-dev.jsonl.gz"), []))


def _wcxb(folder: Path, number: str, gold: object) -> None:
    for name in ("ground-truth", "html"):
        (folder / "dev" / name).mkdir(parents=True, exist_ok=True)
    (folder / "dev" / "ground-truth" / f"{number}.json").write_text(json.dumps(gold), "utf-8")
    with gzip.open(folder / "dev" / "html" / f"{number}.html.gz", "wt", encoding="utf-8") as page:
        page.write("<p>Rye and oats")


def test_a_copy_of_wcxb_becomes_a_corpus(tmp_path: Path) -> None:
    for number, host in (("1", "b.example"), ("2", "a.example"), ("3", "b.example")):
        truth = {"main_content": "Rye", "with": ["Rye"], "without": ["oats"]}
        kind = {"page_type": {"primary": "article"}}
        url = f"https://{host}/{number}"
        _wcxb(tmp_path, number, {"url": url, "ground_truth": truth, "_internal": kind})
    assert _run("data", "-o", str(tmp_path / "data"), "--wcxb", str(tmp_path)) == 0
    pages = list(open_corpus(str(tmp_path / "data" / "wcxb-dev.jsonl.gz")).pages())
    assert [page.site for page in pages] == ["a.example", "b.example", "b.example"]
    assert (pages[0].content, pages[0].type, pages[0].must_drop) == ("Rye", "article", ("oats",))


def test_what_is_no_copy_of_wcxb_is_refused_and_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="ground-truth"):
        _run("data", "-o", str(tmp_path / "data"), "--wcxb", str(tmp_path))
    _wcxb(tmp_path, "1", {"url": "https://a.example/"})
    with pytest.raises(SourceError, match=r"1\.json"):
        _run("data", "-o", str(tmp_path / "data"), "--wcxb", str(tmp_path))
    assert list((tmp_path / "data").iterdir()) == []
