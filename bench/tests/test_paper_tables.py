"""The experiments on duplicates and on classification: what they count, and what they show."""

from __future__ import annotations

import json
from collections import Counter
from itertools import combinations, product
from math import log
from pathlib import Path

import numpy as np
import pytest

from dehusk.doors.cli import main
from dehusk.errors import UsageError
from dehusk_bench.corpora import open_corpus
from dehusk_bench.papers.classify import accuracies, classify, topic_pairs, try_all
from dehusk_bench.papers.duplicates import judge_pairs
from dehusk_bench.papers.site_texts import FULL_TEXT, GOLD, Reading, SiteTexts, read_sites


def _site(name: str, pages: dict[str, str] | list[tuple[str, str]]) -> SiteTexts:
    items = list(pages.items()) if isinstance(pages, dict) else pages
    return SiteTexts(
        name, tuple(topic for topic, _ in items), {FULL_TEXT: tuple(text for _, text in items)}
    )


def _run_of(prefix: str) -> str:
    return " ".join(f"{prefix}{n}" for n in range(30))


def test_pairs_are_of_one_subject_on_two_sites_or_of_two_on_one() -> None:
    sites = [
        _site("a", {"1": _run_of("rye"), "2": _run_of("oats"), "3": _run_of("rye")}),
        _site("b", {"1": _run_of("rye"), "2": _run_of("barley")}),
        _site("c", {"2": _run_of("oats")}),
    ]
    pairs = judge_pairs(sites, FULL_TEXT)
    assert (pairs.found, pairs.duplicates) == (2, 4)
    assert (pairs.told_apart, pairs.others) == (3, 4)
    assert (pairs.recall, pairs.rejection) == (0.5, 0.75)


def _accuracy_by_hand(sites: list[SiteTexts]) -> list[float]:
    """The mean accuracy per pair of topics, one page at a time."""
    bags = {
        (s, n): Counter(text.split())
        for s, site in enumerate(sites)
        for n, text in enumerate(site.texts[FULL_TEXT])
    }
    vocabulary = {word for bag in bags.values() for word in bag}

    def likely(bag: Counter[str], site: int, topic: str) -> float:
        own: Counter[str] = Counter()
        for (s, n), each in bags.items():
            if s == site and sites[s].subjects[n] == topic:
                own += each
        total = own.total() + len(vocabulary)
        return sum(count * log((own[word] + 1) / total) for word, count in bag.items())

    means = []
    for one, two in topic_pairs(sites):
        shares = []
        for a, b in product(range(len(sites)), repeat=2):
            if a == b or one not in sites[a].subjects or two not in sites[b].subjects:
                continue
            right = tried = 0
            for (s, n), bag in bags.items():
                topic = sites[s].subjects[n]
                if (topic == one and s != a) or (topic == two and s != b):
                    margin = likely(bag, a, one) - likely(bag, b, two)
                    tried += 1
                    right += margin > 0 if topic == one else margin < 0
            if tried:
                shares.append(right / tried)
        means.append(float(np.mean(shares)) if shares else float("nan"))
    return means


@pytest.mark.parametrize("seed", range(4))
def test_classifying_all_at_once_is_classifying_page_by_page(seed: int) -> None:
    dice = np.random.default_rng(seed)
    topics = ("kettles", "lamps", "tents")
    sites = []
    for number in range(4):
        own = [topics[place] for place in dice.integers(3, size=5)]
        texts = [" ".join(f"w{k}" for k in dice.integers(12, size=7)) for _ in own]
        sites.append(_site(str(number), list(zip(own, texts, strict=True))))
    found = accuracies(try_all(sites, FULL_TEXT), np.ones(4, np.int64), len(topic_pairs(sites)))
    assert found.tolist() == pytest.approx(_accuracy_by_hand(sites), nan_ok=True)


def test_a_template_misleads_on_the_rivals_site_and_its_removal_mends_it() -> None:
    templates = ["menu a a a a", "menu b b b b", "menu c c c c"]
    full = [
        _site(str(n), [("lamps", f"{own} bulb"), ("tents", f"{own} peg")])
        for n, own in enumerate(templates)
    ]
    clean = [_site(str(n), [("lamps", "bulb"), ("tents", "peg")]) for n in range(3)]
    assert classify(full, draws=20)[FULL_TEXT].mean == pytest.approx(0.5)
    assert classify(clean, draws=20)[FULL_TEXT].mean == 1


def test_drawing_every_site_once_changes_nothing() -> None:
    sites = list(read_sites([open_corpus(f"samples:topics:{n}:24") for n in range(4)], [],
                            Reading([])))  # fmt: skip
    trials = try_all(sites, GOLD)
    pairs = len(topic_pairs(sites))
    once = accuracies(trials, np.ones(4, np.int64), pairs)
    assert accuracies(trials, np.full(4, 3), pairs).tolist() == pytest.approx(once.tolist())
    assert np.isnan(accuracies(trials, np.array([4, 0, 0, 0]), pairs)).all()
    assert (once > 0.6).all()


def test_one_topic_or_one_site_cannot_be_classified() -> None:
    for sites in (
        [_site("a", {"lamps": "bulb"}), _site("b", {"lamps": "bulb"})],
        [_site("a", {"lamps": "bulb", "tents": "peg"})],
    ):
        with pytest.raises(UsageError, match="two topics"):
            classify(sites, draws=5)


def test_a_page_is_judged_by_a_memory_of_the_whole_site() -> None:
    (site,) = read_sites([open_corpus("samples:stories:2:30")], ["segments"], Reading([]))
    words = [len(text.split()) for text in site.texts["segments"]]
    gold = [len(text.split()) for text in site.texts[GOLD]]
    full = [len(text.split()) for text in site.texts[FULL_TEXT]]
    assert words[0] < 0.6 * full[0], "the first page too"
    assert gold[0] <= words[0] + 30


def test_sites_without_subjects_go_by_the_beginning_of_their_name(tmp_path: Path) -> None:
    records = [
        {"site": "lamps-one", "html": "<p>bulb</p>"},
        {"site": "tents", "html": "<p>peg</p>"},
    ]
    file = tmp_path / "pages.jsonl"
    file.write_text("\n".join(map(json.dumps, records)), "utf-8")
    sites = list(read_sites([open_corpus(str(file))], [], Reading([])))
    assert [site.subjects for site in sites] == [("lamps",), ("tents",)]
    assert all(GOLD not in site.texts for site in sites)


def test_a_damaged_corpus_is_used_up_to_the_damage(tmp_path: Path) -> None:
    file = tmp_path / "pages.jsonl"
    file.write_text('{"site": "lamps-one", "html": "<p>bulb</p>"}\n{"site": 7}\n', "utf-8")
    reading = Reading([])
    list(read_sites([open_corpus(str(file))], [], reading))
    assert reading.is_cut
    assert "what came before it was used" in reading.notes[0]


@pytest.mark.slow
def test_content_finds_the_duplicates_that_the_template_hides(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "figures.json"
    assert main(["bench", "duplicates", "--method", "segments", "--json", str(file)]) == 0
    out = capsys.readouterr().out
    assert "the paper: PageLevel" in out
    figures = json.loads(file.read_text("utf-8"))
    full, content = figures["full text"], figures["segments"]
    assert 0.25 <= full["found"] / full["duplicates"] <= 0.40
    assert content["found"] / content["duplicates"] >= 0.90
    assert content["told_apart"] / content["non_duplicates"] >= 0.95


@pytest.mark.slow
def test_content_is_classified_better_than_full_text(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "figures.json"
    given = ["--method", "segments", "--draws", "50", "--json", str(file), "--markdown"]
    assert main(["bench", "classify", *given]) == 0
    assert "| bicycles / kettles" in capsys.readouterr().out
    figures = json.loads(file.read_text("utf-8"))
    low, high = figures["segments"]["gain_interval"]
    assert 0.18 < low <= figures["segments"]["gain"] <= high


def test_every_pair_of_topics_is_in_order() -> None:
    sites = [_site("a", {"tents": "peg", "lamps": "bulb"}), _site("b", {"kettles": "spout"})]
    assert topic_pairs(sites) == list(combinations(("kettles", "lamps", "tents"), 2))
