"""Training the page model: labels from repetition, regression, held-out figures, the command."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from dehusk.doors.cli import main
from dehusk.errors import UsageError
from dehusk.memory import Memory
from dehusk.methods.papers.page.features import NAMES
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk_bench.samples import sample_site
from dehusk_bench.train.logistic import fit, probability
from dehusk_bench.train.page import Settings, train_page
from dehusk_bench.train.site_labels import SITE_LEVEL, site_labels

MENU = "<ul>" + "".join(f"<li><a href=/{n}>Place {n}</a></li>" for n in range(30)) + "</ul>"


def _pages(count: int, site: str = "mill.example") -> list[Page]:
    story = "The miller of year {n} weighed {n} sacks of rye, {n} of oats. "
    return [
        Page(f"<div>{MENU}</div><main><p>{story.format(n=n) * 9}</p></main>", None, site)
        for n in range(count)
    ]


def _samples(seed: int, kinds: tuple[str, ...] = ("news", "docs", "shop")) -> Iterator[Page]:
    for kind in kinds:
        yield from (sample.page for sample in sample_site(kind, pages=30, seed=seed))


def test_what_comes_back_on_a_tenth_of_the_pages_is_an_example_of_template() -> None:
    trees = [parse(page).tree for page in _pages(30)]
    memory = Memory()
    for tree in trees:
        memory = SITE_LEVEL.learn(memory, tree)
    labels = site_labels(memory, trees[4])
    names = [trees[4].name(node) for node in range(len(trees[4]))]
    assert labels[names.index("ul")]
    assert labels[names.index("a")]
    assert not labels[names.index("p")]
    assert not labels[0]


def test_a_node_with_most_of_its_html_in_template_is_an_example_too() -> None:
    """The element has a number in it that differs from page to page, so it never comes back."""
    for menu, is_template in ((MENU, True), (MENU[:600] + "</ul>", False)):
        pages = [f"<section>{menu}<p>{'x' * 120}{n}</p></section>" for n in range(30)]
        trees = [parse(Page(html)).tree for html in pages]
        memory = Memory()
        for tree in trees:
            memory = SITE_LEVEL.learn(memory, tree)
        names = [trees[0].name(node) for node in range(len(trees[0]))]
        assert site_labels(memory, trees[0])[names.index("section")] == is_template


def test_a_regression_finds_the_weights_that_made_the_data() -> None:
    rng = np.random.default_rng(3)
    rows = rng.normal(5, 2, (20_000, 3))
    true = np.array([1.0, -0.5, 0.0])
    labels = rng.random(20_000) < probability(rows @ true - 2)
    slopes, bias = fit(rows, labels, np.ones(20_000), 1e-6)
    assert slopes == pytest.approx(true, abs=0.05)
    assert bias == pytest.approx(-2, abs=0.3)


def test_a_regression_stays_finite_on_data_that_it_can_separate() -> None:
    rows = np.array([[0.0, 7.0], [1.0, 7.0], [2.0, 7.0], [3.0, 7.0]])
    slopes, bias = fit(rows, np.array([False, False, True, True]), np.ones(4), 1e-3)
    assert np.isfinite([*slopes, bias]).all()
    assert ((rows @ slopes + bias > 0) == [False, False, True, True]).all()
    assert slopes[1] == 0


@pytest.mark.parametrize("label", [True, False])
def test_a_regression_of_one_label_says_that_label(label: bool) -> None:
    rows = np.random.default_rng(0).random((50, 2))
    slopes, bias = fit(rows, np.full(50, label), np.ones(50), 1e-3)
    assert ((rows @ slopes + bias > 0) == label).all()


@pytest.mark.slow
def test_sites_that_were_held_out_are_told_apart_better_than_by_chance() -> None:
    training = train_page(lambda: _samples(1), Settings(folds=3))
    assert (training.sites, training.pages, training.left_out) == (3, 90, 0)
    assert training.overall is not None
    assert training.overall.auc > 0.65  # Chance is 0.5; with 135 sites it is 0.84.
    assert sum(band.nodes for band in training.bands) == training.overall.nodes
    assert len(training.model.weights) == len(training.bands) == 4


def test_the_same_pages_give_the_same_model() -> None:
    models = [train_page(lambda: _pages(30)).model.dump() for _ in range(2)]
    assert models[0] == models[1]


def test_sites_with_few_pages_are_left_out_and_one_alone_holds_nothing_out() -> None:
    pages = [*_pages(30), *_pages(7, "small.example"), Page(b"%PDF-1.4", None, "mill.example")]
    training = train_page(lambda: pages)
    assert (training.sites, training.left_out, training.failed) == (1, 1, 1)
    assert training.overall is None


def test_without_a_site_large_enough_there_is_no_model() -> None:
    with pytest.raises(UsageError, match="the largest has 9"):
        train_page(lambda: _pages(9))


def test_the_command_writes_a_model_that_the_method_reads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, model = tmp_path / "pages.jsonl", tmp_path / "model.json"
    lines = [{"html": p.html, "url": None, "site": p.site} for p in _pages(30)]
    source.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    sources = [str(source), "samples:docs:1:30"]
    assert main(["train", "page", *sources, "-o", str(model)]) == 0
    shown = capsys.readouterr().out
    assert "60 pages of 2 sites" in shown
    assert "held-out sites" in shown
    assert list(json.loads(model.read_text("utf-8"))["bands"][0]["weights"]) == list(NAMES)
    page = tmp_path / "page.html"
    page.write_text(str(_pages(1)[0].html), "utf-8")
    method = ["--method", "page", "--set", f"model={model}"]
    assert main(["clean", str(page), *method, "--format", "text", "-q"]) == 0


@pytest.mark.parametrize(
    "arguments",
    [["-", "-o", "m.json"], ["samples", "-o", "nonesuch/m.json"], ["nonesuch", "-o", "m.json"]],
)
def test_wrong_use_is_said_before_anything_is_trained(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["train", "page", *arguments]) == 2
    assert not list(tmp_path.iterdir())
