"""Why a page's regions are kept or dropped: the library and the command `dehusk explain`."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import dehusk
from dehusk import Site, pipeline
from dehusk.answer.labels import Label, label
from dehusk.answer.regions import Region
from dehusk.answer.regions import regions as find_regions
from dehusk.answer.result import Result
from dehusk.answer.text import visible_lengths
from dehusk.memory import Memory
from dehusk.methods import METHODS
from dehusk.methods.contract import Explanation
from dehusk.page import tags
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Floats, Tree

pytestmark = pytest.mark.slow

PAGES = [
    f"<nav>Home News About</nav><main><h1>Harvest {n}</h1><p>In year {n}, {n * 7} sacks.</p></main>"
    for n in range(6)
]


@dataclass(frozen=True, slots=True)
class Halves:
    """Calls template what the site says is, and content what the page says is."""

    share: float = 0.5

    name = "halves"

    def learn(self, memory: Memory, tree: Tree) -> Memory:
        return memory.after_page()

    def score(self, memory: Memory, tree: Tree) -> Floats:
        return self.explain(memory, tree).score

    def explain(self, memory: Memory, tree: Tree) -> Explanation:
        page = np.where(tree.shown, self.share, np.nan)
        site = np.where(tree.shown, min(1.0, memory.pages / 4), np.nan)
        size = len(tree)
        return Explanation(page, site, (page + site) / 2, np.zeros(size, np.int16), ("halfway",))


def test_an_explanation_is_of_the_memory_that_the_answer_is_of() -> None:
    result = pipeline.explain(Page(PAGES[0]), Memory(1), pipeline.Setup(Halves()))
    assert result.explanation is not None
    assert result.pages_seen == 2
    assert result.explanation.site_score[0] == 0.5
    assert np.array_equal(result.explanation.score, result.labels.scores, equal_nan=True)


def test_a_method_that_cannot_explain_still_answers() -> None:
    site = Site(method="segments")
    for html in PAGES[:5]:
        site.learn(html)
    result = site.explain(PAGES[5])
    assert result.explanation is None
    assert result.text == site.ask(PAGES[5]).text == "Harvest 5\nIn year 5, 35 sacks."
    assert site.memory().pages == 5


def _explained(html: str = PAGES[5]) -> tuple[Region, ...]:
    site = Site(method="segments")
    for page in PAGES:
        site.learn(page)
    return site.explain(html, is_learned=True).regions


def test_regions_are_the_largest_pieces_of_one_label() -> None:
    regions = _explained()
    assert [(region.label, region.place) for region in regions] == [
        (Label.TEMPLATE, "body > nav"),
        (Label.CONTENT, "body > main"),
    ]
    assert regions[1].text == "Harvest 5 In year 5, 35 sacks."
    assert regions[1].characters == len("Harvest 5") + len("In year 5, 35 sacks.")
    assert [region.reason for region in regions] == ["scored template", "scored content"]
    assert (regions[0].score, regions[1].score) == (1.0, 0.0)
    assert math.isnan(regions[0].page_score)


def test_every_visible_text_is_in_one_region_and_regions_are_in_order() -> None:
    for html in (PAGES[2], "<p>a<b>b</b>c", "<p>", "", "<table><tr><td>x<td>y</table><p hidden>z"):
        tree = parse(Page(html)).tree
        for seed in range(20):
            dice = np.random.default_rng(seed)
            found = dice.random(len(tree)) < 0.5
            labels = label(tree, np.where(tree.shown, found.astype(np.float64), np.nan))
            regions = find_regions(tree, labels)
            ends = [0, *(region.end for region in regions)]
            assert all(r.node >= end for r, end in zip(regions, ends, strict=False))
            covered = [set(range(region.node, region.end)) for region in regions]
            for node in np.flatnonzero(tree.is_text & tree.shown & (tree.text_length > 0)).tolist():
                holders = [r for r, nodes in zip(regions, covered, strict=True) if node in nodes]
                assert [r.label for r in holders] == [labels.labels[node]]
            assert sum(region.characters for region in regions) == visible_lengths(tree).sum()


def test_neighbours_that_were_judged_alike_are_one_region() -> None:
    tree = parse(Page("<ul><li>a<li>b<li>c<li>d</ul>")).tree
    scores = np.where(
        [tree.text(i) == "c" if t else False for i, t in enumerate(tree.is_text)], 1, 0
    )
    regions = find_regions(tree, label(tree, scores.astype(np.float64)))
    assert [(r.elements, r.text, r.place) for r in regions] == [
        (2, "a b", "ul > li"),
        (1, "c", "ul > li"),
        (1, "d", "ul > li"),
    ]


def test_a_place_names_the_id_or_the_first_class() -> None:
    html = "<div id=main class=x><p class='lead big'>a</p></div>"
    tree = parse(Page(html)).tree
    labels = label(tree, np.zeros(len(tree)))
    assert find_regions(tree, labels)[0].place == "html"
    body = f"{html}<nav>b</nav>"
    tree = parse(Page(body)).tree
    in_nav = np.array([tree.name(max(p, 0)) == "nav" for p in tree.parent.tolist()])
    regions = find_regions(tree, label(tree, in_nav.astype(np.float64)))
    assert [region.place for region in regions] == ["body > div#main", "body > nav"]


def test_the_methods_reason_and_both_scores_are_told_where_it_has_them() -> None:
    result = pipeline.explain(Page("<p>Hello"), Memory(3), pipeline.Setup(Halves(0.25)))
    (region,) = result.regions
    assert (region.page_score, region.site_score, region.score) == (0.25, 1.0, 0.625)
    assert region.reason == "halfway"
    assert region.label is Label.TEMPLATE


def test_a_long_text_is_cut_and_a_hostile_page_is_explained_in_linear_time() -> None:
    (region,) = Site().explain("<p>" + "word " * 100_000).regions
    assert len(region.text) == 200
    assert region.text.endswith("…")
    html = f"<div {' '.join(f'a{n}=1' for n in range(2000))}>" + "<b>x</b><i>y</i>" * 10_000
    tree = parse(Page(html)).tree
    scores = np.where(np.asarray(tree.tag == tags.NUMBERS["b"])[tree.parent], 1.0, 0.0)
    assert len(find_regions(tree, label(tree, scores))) == 20_000


def _folder(path: Path) -> Path:
    for number, html in enumerate(PAGES):
        (path / f"{number}.html").write_text(html, encoding="utf-8")
    return path


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "dehusk", *arguments]
    return subprocess.run(
        command, capture_output=True, check=False, timeout=300, text=True, encoding="utf-8"
    )


def test_the_command_shows_a_line_for_each_region(tmp_path: Path) -> None:
    run = _run(
        "explain",
        str(_folder(tmp_path) / "5.html"),
        "--against",
        str(tmp_path),
        "--method",
        "segments",
    )
    assert run.returncode == 0
    lines = run.stdout.splitlines()
    assert lines[0] == "file:5.html"
    assert "6 pages" in lines[1]
    verdicts = [line.split()[0] for line in lines[3:] if not line.startswith("-")]
    assert verdicts == ["verdict", "dropped", "kept"]
    assert "page" not in lines[3].split()
    assert "\x1b" not in run.stdout


def test_a_page_is_explained_as_clean_answers_on_it(tmp_path: Path) -> None:
    folder, file = _folder(tmp_path), str(tmp_path / "grain.husk")
    page = str(folder / "5.html")
    address = ["--url", "https://grain.example/5", "--memory", file]
    learned = ["learn", str(folder), "--site", "grain.example", "--memory", file, "-q"]
    assert _run(*learned).returncode == 0
    rule = ["sites", "rules", "grain.example", "--drop", "h1", "--memory", file]
    assert _run(*rule).returncode == 0
    for options in ([], ["--url", "https://grain.example/5"], address):
        run = _run("explain", page, *options, "--format", "json")
        explained = json.loads(run.stdout)
        answer = json.loads(_run("clean", page, *options, "--format", "jsonl", "-q").stdout)
        for name in ("url", "site", "pages_seen", "template_share"):
            assert explained[name] == answer[name], options
        kept = [region["text"] for region in explained["regions"] if region["label"] == "content"]
        assert " ".join(kept) == " ".join(answer["text"].split())
        assert run.stderr == ""
    assert "Harvest" not in answer["text"]


def test_other_pages_are_learned_only_if_they_are_named(tmp_path: Path) -> None:
    page = _folder(tmp_path) / "5.html"
    seen = [
        json.loads(_run("explain", str(page), *more, "--format", "json").stdout)["pages_seen"]
        for more in ([], ["--against", str(page.parent)])
    ]
    assert seen == [1, len(PAGES)]


@pytest.mark.parametrize("method", ["auto", "segments"])
def test_what_the_user_knows_better_is_explained_as_such(method: str, tmp_path: Path) -> None:
    page = str(_folder(tmp_path) / "5.html")
    told = ["--keep", "nav", "--drop", "p", "--format", "json", "--method", method]
    regions = json.loads(_run("explain", page, *told).stdout)["regions"]
    said = [(region["label"], region["reason"], region["text"]) for region in regions]
    assert said[0] == ("content", "your rule keeps it", "Home News About")
    assert said[1][::2] == ("content", "Harvest 5")
    assert said[2] == ("template", "your rule drops it", "In year 5, 35 sacks.")


def test_a_method_that_cannot_be_told_what_to_favour_says_so(tmp_path: Path) -> None:
    page = str(_folder(tmp_path) / "5.html")
    refused = _run("explain", page, "--method", "segments", "--favour", "recall")
    assert refused.returncode == 2
    assert "--favour recall: the method segments does not support it" in refused.stderr


@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_method_can_be_explained(method: str, tmp_path: Path) -> None:
    page = str(_folder(tmp_path) / "5.html")
    run = _run("explain", page, "--method", method, "--format", "json")
    assert run.returncode == 0, run.stderr
    answer = json.loads(run.stdout)
    assert answer["method"] == method
    assert answer["regions"]
    for region in answer["regions"]:
        assert region["label"] in {"template", "content"}
        assert region["reason"]


def test_a_page_is_explained_by_what_a_memory_knows(tmp_path: Path) -> None:
    file = str(tmp_path / "grain.husk")
    pages = [Page(html, f"https://grain.example/{n}") for n, html in enumerate(PAGES)]
    with dehusk.open(file) as memory:
        answers = list(memory.clean(pages))
        explained = memory.explain(pages[0])
    assert isinstance(answers[0], Result)
    assert explained.pages_seen == len(PAGES)
    assert explained.text == "Harvest 0\nIn year 0, 0 sacks."
    page = tmp_path / "0.html"
    page.write_text(PAGES[0], encoding="utf-8")
    run = _run(
        "explain", str(page), "--memory", file, "--site", "grain.example", "--format", "json"
    )
    answer = json.loads(run.stdout)
    # The file has another URL, but says what a known page says: it is not learned.
    assert answer["pages_seen"] == len(PAGES)
    assert [region["label"] for region in answer["regions"]] == ["template", "content"]


def test_pages_that_a_memory_knows_are_not_learned_again_to_explain_one(tmp_path: Path) -> None:
    source, file = tmp_path / "crawl.jsonl", str(tmp_path / "grain.husk")
    rows = [{"url": f"https://grain.example/{n}", "html": html} for n, html in enumerate(PAGES)]
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert _run("learn", str(source), "--memory", file, "-q").returncode == 0
    url = "https://grain.example/3"
    run = _run("explain", url, "--memory", file, "--against", str(source), "--format", "json")
    answer = json.loads(run.stdout)
    assert answer["url"] == url
    assert answer["pages_seen"] == len(PAGES)


def test_what_a_page_writes_cannot_command_the_terminal(tmp_path: Path) -> None:
    page = tmp_path / "odd.html"
    page.write_text("<p id='\x1b[2J'>a\x1b[31mb<nav>c", encoding="utf-8")
    run = _run("explain", str(page))
    assert run.returncode == 0
    assert "\x1b" not in run.stdout


def test_a_page_without_text_says_so(tmp_path: Path) -> None:
    page = tmp_path / "shell.html"
    page.write_text("<div id=root></div><script src=app.js></script>", encoding="utf-8")
    run = _run("explain", str(page))
    assert run.returncode == 0
    assert "needs --render" in run.stdout
    assert run.stdout.endswith("no visible text\n")
