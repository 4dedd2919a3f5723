"""Near duplicates: sketches of texts, the memory of them, and the option that goes by it."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dehusk.answer.fingerprint import SHINGLE_WORDS, SKETCH_SIZE, Seen, is_duplicate, sketch
from dehusk.answer.labels import Label
from dehusk.doors.cli import main
from dehusk.errors import SettingError, UsageError
from dehusk.page.hashing import Hashes
from dehusk.page.parse import parse
from dehusk_bench.samples import SHARED_KINDS, sample_site

TEXTS = st.lists(
    st.sampled_from(["rye", "oats", "barley", "wheat", "spelt", "millet"]), max_size=30
).map(" ".join)
STORY = " ".join(f"word{n}" for n in range(60))


@given(TEXTS)
def test_a_sketch_is_the_smallest_hashes_of_all_runs_of_six_words(text: str) -> None:
    words = text.split()
    width = min(SHINGLE_WORDS, len(words))
    runs = {tuple(words[n : n + width]) for n in range(len(words) - width + 1)} if words else set()
    each = [int(sketch(" ".join(run))[0]) for run in runs]
    assert sketch(text).tolist() == sorted(each)[:SKETCH_SIZE]


@given(TEXTS, TEXTS)
def test_to_be_duplicates_is_mutual(one: str, other: str) -> None:
    assert is_duplicate(sketch(one), sketch(other)) == is_duplicate(sketch(other), sketch(one))
    assert is_duplicate(sketch(one), sketch(one)) == bool(one)


def test_case_and_punctuation_do_not_count_but_order_does() -> None:
    text = "Rye is sown in autumn and cut in July."
    assert (sketch(text) == sketch("RYE is sown: in autumn, and cut in july")).all()
    turned = " ".join(reversed(text.split()))
    assert not is_duplicate(sketch(text), sketch(turned))


def test_a_chinese_text_has_a_sketch_by_character() -> None:
    assert len(sketch("黑麦在秋天播种七月收割")) == len("黑麦在秋天播种七月收割") - 5


@given(st.lists(TEXTS, max_size=8))
def test_what_was_seen_is_what_comparing_with_each_earlier_text_finds(texts: list[str]) -> None:
    seen = Seen()
    kept: list[Hashes] = []
    for text in texts:
        own = sketch(text)
        expected = any(is_duplicate(own, other) for other in kept)
        assert seen.add(text) == expected
        if not expected:
            kept.append(own)


def test_the_oldest_texts_are_forgotten_and_the_newest_are_not() -> None:
    seen = Seen(max_texts=10)
    texts = [" ".join(f"word{n}x{place}" for place in range(30)) for n in range(40)]
    for text in texts:
        seen.add(text)
    assert all(seen.add(text) for text in texts[-10:])
    assert not seen.add(texts[0])


def test_a_line_that_all_texts_share_costs_no_more_with_every_text() -> None:
    seen = Seen()
    shared = "the same six words on all pages"
    for n in range(300):
        seen.add(f"{shared} " + " ".join(f"w{n}x{k}" for k in range(12)))
    assert max(map(len, seen._young._texts.values())) <= 8


def test_an_impossible_memory_is_refused() -> None:
    with pytest.raises(SettingError):
        Seen(max_texts=0)


def _clean(tmp_path: Path, pages: list[str], *options: str) -> int:
    source = tmp_path / "pages.jsonl"
    lines = [
        json.dumps({"url": f"https://grain{n}.example/", "html": html})
        for n, html in enumerate(pages)
    ]
    source.write_text("\n".join(lines), "utf-8")
    return main(["clean", str(source), "--method", "segments", "--format", "jsonl", *options])


def test_the_option_leaves_out_what_an_earlier_page_said_and_counts_it(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    other = " ".join(f"other{n}" for n in range(60))
    pages = [f"<p>{STORY}</p>", f"<p>{other}</p>", f"<div>{STORY} more</div>", "<p></p>", "<p></p>"]
    assert _clean(tmp_path, pages, "--unique") == 0
    out, err = capsysbinary.readouterr()
    urls = [json.loads(line)["url"] for line in out.splitlines()]
    assert urls == [f"https://grain{n}.example/" for n in (0, 1, 3, 4)]
    assert b"5 pages of 5 sites, 1 near duplicate left out" in err


def test_without_the_option_every_page_comes_out(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert _clean(tmp_path, [f"<p>{STORY}</p>"] * 3) == 0
    out, err = capsysbinary.readouterr()
    assert len(out.splitlines()) == 3
    assert b"duplicate" not in err


@pytest.mark.parametrize("kind", SHARED_KINDS)
def test_the_gold_of_a_shared_site_is_that_of_its_tree(kind: str) -> None:
    for sample in sample_site(kind, pages=8, seed=2):
        tree = parse(sample.page).tree
        assert len(sample.labels) == len(tree)
        assert (sample.labels[tree.is_text & tree.shown] != Label.HIDDEN).any()


def test_story_sites_print_the_same_stories_under_templates_of_three_weights() -> None:
    shares = []
    contents = []
    for seed in range(3):
        pages = [page for page in sample_site("stories", pages=24, seed=seed) if page.subject]
        contents.append({page.subject: sketch(page.content) for page in pages})
        tree = parse(pages[-1].page).tree
        is_template = (pages[-1].labels == Label.TEMPLATE) & tree.is_text
        shares.append(float(np.sum(tree.text_length[is_template])) / float(tree.text_length[0]))
    assert shares[0] < shares[1] < shares[2]
    assert contents[0].keys() == contents[1].keys() == contents[2].keys()
    pairs = [
        is_duplicate(one[story], other[story])
        for one, other in combinations(contents, 2)
        for story in one
    ]
    assert np.mean(pairs) > 0.9
    assert not any(is_duplicate(*pair) for pair in combinations(contents[0].values(), 2))


def test_topic_sites_share_their_topics_and_nothing_else() -> None:
    sites = [
        [page for page in sample_site("topics", pages=24, seed=seed) if page.subject]
        for seed in range(2)
    ]
    topics = {page.subject for page in sites[0]}
    assert len(topics) == 5
    assert topics == {page.subject for page in sites[1]}
    assert not {page.content for page in sites[0]} & {page.content for page in sites[1]}


def test_shared_sites_are_english_only() -> None:
    with pytest.raises(UsageError, match="stories in the language 'de'"):
        sample_site("stories", lang="de")
