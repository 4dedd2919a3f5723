"""Training `auto`: gold of blocks, fitting, folds and figures."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dehusk import _kernel
from dehusk.errors import UsageError
from dehusk.methods.auto.model import Lexicon, Matrix, load_model, save_model
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk_bench.corpora import GoldPage, open_corpus, watch_nothing
from dehusk_bench.peers.contenders import make_contenders, read_folds
from dehusk_bench.quality.measure import run_quality
from dehusk_bench.train.auto import PARTS, Settings, Training, train_auto
from dehusk_bench.train.context import context_rows, fit_context, held_out
from dehusk_bench.train.fit import Example, Fitting, Rows, fit, load_jax
from dehusk_bench.train.gold import BlockGold, block_gold
from dehusk_bench.train.lessons import PAGE_COLUMNS, SITE_COLUMNS, read_corpora, read_plain
from dehusk_bench.train.lexicon import Vocabulary, Words

CORPORA = [open_corpus(f"samples:{kind}:7:5") for kind in ("news", "docs", "shop")]
_QUICK = Fitting(epochs=4, width=8, members=1, batch=256)
QUICK = Settings(fitting=_QUICK, folds=3)

_NAMES, _WORDING = PAGE_COLUMNS["names"], PAGE_COLUMNS["wording"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Training, Path]:
    folder = tmp_path_factory.mktemp("folds")
    return train_auto(CORPORA, QUICK, folder), folder


def _gold(html: str, **gold: object) -> tuple[list[str], BlockGold | None]:
    page = Page(html, "https://grain.example/", "grain.example")
    tree = parse(page).tree
    reading = read_plain(tree)
    texts = [tree.text(node) for node in reading.segments.tolist()]
    return texts, block_gold(GoldPage(page, "grain.example", 1, **gold), tree, reading)  # type: ignore[arg-type]


def test_words_of_the_content_are_found_in_their_block() -> None:
    _, gold = _gold("<p>Home Mill<p>Rye and oats grew<p>Barley", content="Rye and oats grew")
    assert gold is not None
    assert gold.hits.tolist() == [0, 4, 0]
    assert gold.content_words == 4


def test_nodes_of_the_content_decide_where_they_are_known() -> None:
    _, gold = _gold(
        "<body><nav>Menu<div>Deep</div></nav><main>One two<aside>Ad</aside></main>",
        content_nodes=((1, 1),),
        excluded_nodes=((1, 1, 0),),
    )
    assert gold is not None
    assert gold.hits.tolist() == [0, 0, 2, 0]


def test_a_path_that_leads_nowhere_is_no_gold() -> None:
    assert _gold("<p>x", content_nodes=((9, 9),))[1] is None


def test_a_block_with_a_value_that_must_survive_is_content() -> None:
    _, gold = _gold("<p>Price: 9.50 a sack<p>Menu", must_keep=("9.50",))
    assert gold is not None
    assert gold.hits.tolist() == [5, 0]
    assert np.isnan(gold.content_words)


def _lessons(rows: Matrix, wanted: Matrix, size: int) -> tuple[list[Example], Rows]:
    """Pages of so many rows, each of one word."""
    pages = [slice(start, start + size) for start in range(0, len(rows), size)]
    words = np.ones(size)
    examples = [
        Example(
            wanted[page], words, words, wanted[page][:, 0].astype(np.float64),
            float(wanted[page].sum()), 1.0,
        )
        for page in pages
    ]  # fmt: skip
    return examples, lambda place, _: rows[pages[place]]


def test_the_cut_for_the_best_f1_differs_from_that_of_the_fewest_errors() -> None:
    """Where nothing tells blocks apart and three in ten are content, F1 is best if all are kept."""
    rows = np.zeros((2000, 2), np.float32)
    wanted = (np.arange(2000) % 10 < 3).astype(np.float32)[:, None]
    settings = Fitting(epochs=20, batch=200, width=4, members=1)
    by_page = replace(settings, by_page=1.0, by_block=0.0)
    assert fit(*_lessons(rows, wanted, 20), settings)(rows[:1])[0, 0] < 0
    assert fit(*_lessons(rows, wanted, 20), by_page)(rows[:1])[0, 0] > 0


def test_a_network_learns_what_a_line_cannot_tell() -> None:
    random = np.random.default_rng(1)
    rows = random.standard_normal((1000, 2)).astype(np.float32)
    wanted = ((rows[:, 0] * rows[:, 1]) > 0).astype(np.float32)[:, None]
    settings = Fitting(epochs=30, batch=100, rate=0.03, dropout=0.0, members=1)
    network = fit(*_lessons(rows, wanted, 20), settings)
    right = (network(rows)[:, 0] > 0) == (wanted[:, 0] > 0.5)
    assert right.mean() > 0.95


def test_a_network_is_the_same_on_every_run() -> None:
    random = np.random.default_rng(2)
    rows = random.standard_normal((300, 3)).astype(np.float32)
    wanted = (rows[:, :1] > 0).astype(np.float32)
    first, second = (fit(*_lessons(rows, wanted, 20), Fitting(batch=100)) for _ in range(2))
    assert np.array_equal(first.hidden, second.hidden)


def test_training_gives_a_model_and_a_figure_for_sites_not_seen(
    trained: tuple[Training, Path],
) -> None:
    training, _ = trained
    assert training.pages == 15
    assert training.sites == 3
    assert 0.3 < training.figures["samples"] <= 1
    assert 0 <= training.right_types["samples"] <= 1


def test_training_twice_gives_the_same_bytes(
    trained: tuple[Training, Path], tmp_path: Path
) -> None:
    for name, training in (("a", trained[0]), ("b", train_auto(CORPORA, QUICK))):
        save_model(training.model, tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_each_site_is_judged_by_a_model_that_has_not_seen_it(
    trained: tuple[Training, Path],
) -> None:
    folder = trained[1]
    assert len(set(read_folds(folder).values())) == 3
    for path in read_folds(folder).values():
        assert load_model(str(path)).types


def test_quality_takes_the_models_of_the_folds(trained: tuple[Training, Path]) -> None:
    contenders, _ = make_contenders(["auto"], with_peers=False, folds=trained[1])
    (report,) = run_quality([open_corpus("samples:news:7:3")], contenders)
    assert report.pages == 3
    assert not report.failures


def test_a_folder_without_folds_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="train auto"):
        read_folds(tmp_path)
    (tmp_path / "folds.json").write_text(json.dumps([1]))
    with pytest.raises(UsageError, match="train auto"):
        read_folds(tmp_path)


@pytest.mark.parametrize("part", sorted(PARTS))
def test_a_part_left_out_has_no_say(part: str) -> None:
    training = train_auto(CORPORA[:2], Settings(fitting=_QUICK, folds=2, without=(part,)))
    moved = np.zeros((2, training.model.site.hidden.shape[0]), np.float32)
    for name in PARTS[part]:
        moved[1, SITE_COLUMNS[name]] = 1
    first, second = training.model.site(moved)[:, 0]
    assert first == second


def test_nothing_to_train_on_is_refused(tmp_path: Path) -> None:
    (tmp_path / "none.jsonl").write_text("")
    with pytest.raises(UsageError, match="no page"):
        train_auto([open_corpus(str(tmp_path / "none.jsonl"))])


def test_fewer_sites_than_folds_are_refused() -> None:
    with pytest.raises(UsageError, match="1 sites"):
        train_auto(CORPORA[:1], QUICK)


def test_a_weight_for_a_corpus_that_is_not_there_is_refused() -> None:
    with pytest.raises(UsageError, match="no corpus news-dev"):
        train_auto(CORPORA, Settings(factors=(("news-dev", 2.0),)))


def test_gold_that_says_nothing_is_refused(tmp_path: Path) -> None:
    lines = [
        {"site": f"s{n}", "url": f"https://s{n}.example/", "html": "<p>x", "must_keep": ["nowhere"]}
        for n in range(6)
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    with pytest.raises(UsageError, match="nothing to train on"):
        train_auto([open_corpus(str(tmp_path / "a.jsonl"))], QUICK)


def test_what_words_tell_in_training_is_what_the_kernel_reads() -> None:
    corpora = [open_corpus("samples:forum:7:3"), open_corpus("samples:shop:8:3:de")]
    pages = read_corpora(corpora, watch_nothing, 40)
    words = Words.of_pages(pages, len(pages), [True] * len(pages), least=(1, 1))
    random = np.random.default_rng(3)
    tables = [
        random.standard_normal((listed.rows, columns.stop - columns.start))
        for listed, columns in ((words.names, _NAMES), (words.texts, _WORDING))
    ]
    lexicon = Lexicon(
        *(
            {word: table[number].tolist() for word, number in listed.number.items()}
            for listed, table in zip((words.names, words.texts), tables, strict=True)
        )
    )
    for page, said in zip(pages, words.said, strict=True):
        read = np.asarray(_kernel.read(page.tree.kernel, lexicon.kernel).page_features)
        for own, table, columns in zip(said, tables, (_NAMES, _WORDING), strict=True):
            told = np.zeros((len(read), table.shape[1]))
            np.add.at(told, own.blocks, table[own.words] * own.shares[:, None])
            assert np.abs(told).max() > 1
            assert np.allclose(told, read[:, columns], atol=0.02)


def test_rare_words_of_a_kind_share_what_they_tell_in_small_letters_and_capitals() -> None:
    kinds = {"comment": "comments komentarze комментарии", "share": "teilen"}
    listed = Vocabulary(Counter({"comments": 9, "main": 9, "teilen": 1}), 5, kinds)
    number = listed.number
    assert number["comments"] != number["komentarze"]
    assert number["komentarze"] == number["комментарии"] == number["Комментарии"]
    assert len({number[word] for word in ("main", "comments", "komentarze", "teilen")}) == 4
    assert listed.rows == 1 + max(number.values())


def test_what_is_carried_in_training_is_what_the_kernel_carries() -> None:
    random = np.random.default_rng(5)
    pages = [random.standard_normal((count, 9)).astype(np.float32) for count in (1, 7, 4)]
    examples = [
        Example(
            (random.random((len(rows), 2)) > 0.5).astype(np.float32), np.ones(len(rows)),
            np.ones(len(rows)), np.ones(len(rows)), 3.0, 1.0,
        )
        for rows in pages
    ]  # fmt: skip
    settings = Fitting(members=1, width=4, epochs=2, batch=16, dropout=0.0)
    site, context = fit_context(examples, lambda place, _: pages[place], settings)
    given = np.concatenate([site(rows) for rows in pages]).astype(np.float32)
    owner = np.repeat(np.arange(3), [len(rows) for rows in pages])
    # Compiled as one, not each of its operations by itself.
    together = context(np.asarray(load_jax()[0].jit(context_rows)(given, owner)))
    alone = np.concatenate([held_out(site, context, rows) for rows in pages])
    assert np.allclose(together, alone, atol=1e-4)
    assert np.ptp(alone[:, 0]) > 0
