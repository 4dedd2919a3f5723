"""Other extractors: each finds an article, those of a site drop what repeats, none is required."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

import dehusk_bench as bench
from dehusk.errors import UsageError
from dehusk.methods import auto
from dehusk.page.page import Page
from dehusk_bench.corpora import open_corpus
from dehusk_bench.peers.contenders import make_contenders, peer_contender
from dehusk_bench.peers.node import NODE_PEERS, Worker
from dehusk_bench.peers.pages import PEERS, language_of, load_all, load_peers
from dehusk_bench.peers.sites import SITE_PEERS, plain_line, without_known_runs
from dehusk_bench.quality.averages import Figure
from dehusk_bench.quality.measure import run_quality
from dehusk_bench.quality.scoring import find_phrases, words

MODULES = {
    "trafilatura-fast": "trafilatura",
    "trafilatura-precision": "trafilatura",
    "trafilatura-comments": "trafilatura",
    "boilerpy3-article": "boilerpy3",
    "newspaper4k": "newspaper",
    "rs-trafilatura": "rs_trafilatura",
}
"""The module of a peer, where it has another name."""
OURS = {"all-text", "lines-once", "lines-unique", "runs-once"}

ARTICLE = (
    "<html lang=en><head><title>Tides</title></head><body><ul><li><a href=/>Home</a></ul><article>"
    "<h1>How tides work</h1>"
    + "".join(
        f"<p>Paragraph {number} tells how the sea rises and falls twice a day, because the moon and"
        " the sun pull at the water, and why the height of it is not the same from bay to bay, nor"
        " from one week to the next in any of them.</p>"
        for number in range(1, 9)
    )
    + "</article><footer>All rights reserved</footer></body></html>"
)
MENU = "<div class=menu><ul><li>Harbours<li>Tide tables<li>Boats for hire</ul></div>"


def _need(name: str) -> None:
    module = MODULES.get(name, name)
    if name not in OURS and find_spec(module) is None:
        pytest.skip(f"{module} is not installed: it comes with dehusk-bench[peers]")
    if name == "deboiler" and sys.version_info >= (3, 13):
        pytest.skip("deboiler imports `cgi`, which this Python no longer has")


@pytest.mark.parametrize("name", PEERS)
def test_a_peer_finds_the_text_of_an_article(name: str) -> None:
    _need(name)
    text = PEERS[name]()(ARTICLE, "https://sea.example/tides")
    assert find_phrases([f"Paragraph {n} tells how" for n in range(1, 9)], words(text)).share == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", NODE_PEERS)
def test_a_peer_in_node_finds_the_text_of_an_article(name: str) -> None:
    try:
        extract = NODE_PEERS[name]()
    except ImportError as missing:
        pytest.skip(f"{missing}: `make node-peers` installs it")
    for url in ("https://sea.example/tides", "no address", None):
        text = extract(ARTICLE, url)
        assert find_phrases([f"Paragraph {n} tells how" for n in range(1, 9)], words(text)).share
    assert words(extract("", None)) == []


WORKER = """
import json, sys, time
print('{"ready": true}', flush=True)
for line in sys.stdin:
    html = json.loads(line)["html"]
    if html == "hang":
        time.sleep(600)
    if html == "end":
        sys.exit(3)
    print(json.dumps({"error": "no"} if html == "bad" else {"html": html.upper()}), flush=True)
"""
"""As the worker in Node: one line for another."""


@pytest.fixture
def worker() -> Iterator[Worker]:
    started = Worker([sys.executable, "-c", WORKER])
    yield started
    started.close()


def test_a_worker_answers_one_page_after_the_other(worker: Worker) -> None:
    pages = ["one", "zwei \u2028 \ud800", "x" * 500_000]
    assert [worker.ask({"html": page})["html"] for page in pages] == [p.upper() for p in pages]


def test_a_page_that_a_worker_fails_on_costs_only_itself(worker: Worker) -> None:
    with pytest.raises(RuntimeError, match=r"^no$"):
        worker.ask({"html": "bad"})
    assert worker.ask({"html": "next"}) == {"html": "NEXT"}


def test_a_worker_that_ends_is_started_anew(worker: Worker) -> None:
    with pytest.raises(RuntimeError, match="has ended"):
        worker.ask({"html": "end"})
    assert worker.ask({"html": "next"}) == {"html": "NEXT"}


def test_a_worker_that_hangs_is_ended_and_started_anew(worker: Worker) -> None:
    worker.timeout_s = 0.2
    with pytest.raises(RuntimeError, match="took too long"):
        worker.ask({"html": "hang"})
    worker.timeout_s = 60
    assert worker.ask({"html": "next"}) == {"html": "NEXT"}


def test_without_node_or_its_packages_a_peer_is_left_out_with_a_note(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DEHUSK_NODE_PEERS", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    peers, notes = load_all(NODE_PEERS, "make node-peers")
    assert peers == {}
    assert notes[0] == "mozilla-readability is left out (there is no node): make node-peers"


def test_no_time_is_told_of_work_in_another_process() -> None:
    contenders = [
        peer_contender("here", lambda html, _: html),
        peer_contender("there", lambda html, _: html, is_timed=False),
    ]
    (report,) = run_quality([open_corpus("samples:blog:1:2")], contenders)
    assert report.averages["here"].mean(Figure.CPU_MS) is not None
    assert report.averages["there"].mean(Figure.CPU_MS) is None


@pytest.mark.parametrize("name", SITE_PEERS)
def test_a_peer_of_a_site_drops_what_its_pages_share(name: str) -> None:
    _need(name)
    pages = [
        Page(
            f"<html lang=en><body>{MENU}<div><h1>{bay} Bay</h1><p>At {bay} the sea is deep."
            f" Ships of {bay} stay away! Whales come to {bay}.</p></div></body></html>",
            f"https://sea.example/{place}",
        )
        for place, bay in enumerate(("Amber", "Birch", "Cedar", "Dune"))
    ]
    extract = SITE_PEERS[name]().start(pages)
    texts = [extract(str(page.html), page.url) for page in pages]
    assert "Whales come to Amber" in texts[0]
    assert "Whales come to Dune" in texts[-1]
    assert "Tide tables" not in texts[-1]
    assert extract(str(pages[1].html), pages[1].url) is not None


def test_each_site_begins_with_nothing_seen() -> None:
    peer = SITE_PEERS["lines-once"]()
    html = "<p>Only here"
    assert [peer.start([])(html, None) for _ in range(2)] == ["Only here"] * 2


def test_lines_differ_by_more_than_case_digits_and_signs() -> None:
    assert plain_line("Seen 12 times!") == plain_line("  SEEN 34 times")
    assert plain_line("Seen 12 times") != plain_line("Seen 123 times")
    assert plain_line("– · –") == ""


def test_three_sentences_that_were_there_before_go_and_two_stay() -> None:
    seen: set[tuple[str, ...]] = set()
    assert without_known_runs("One. Two. Three. Four.", seen) == "One.\nTwo.\nThree.\nFour."
    assert without_known_runs("New. Two. Three. Four. Five.", seen) == "New.\nFive."
    assert without_known_runs("One. Two. Other.", seen) == "One.\nTwo.\nOther."


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ("<HTML dir=ltr LANG='pt-BR'>", "pt"),
        ("<html data-lang=fr><p>no", ""),
        (f"<html><p>{'Как дела, друзья? ' * 20}", "ru"),
        (f"<html><p>{'東京タワーへようこそ。' * 20}", "ja"),
        ("", ""),
    ],
)
def test_a_page_names_its_language_or_its_letters_do(html: str, language: str) -> None:
    assert language_of(html) == language


def test_a_peer_that_is_not_installed_is_left_out_with_a_note(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "readability", None)
    monkeypatch.setitem(sys.modules, "deboiler", None)
    peers, notes = load_peers()
    assert "readability" not in peers
    assert "all-text" in peers
    assert any(note.startswith("readability is left out") for note in notes)
    contenders, more_notes = make_contenders((), with_peers=True, with_methods=False)
    names = [contender.name for contender in contenders]
    assert "auto" not in names
    assert {"all-text", "lines-once"} <= set(names)
    assert any(note.startswith("deboiler is left out") for note in more_notes)


def test_a_peer_that_breaks_as_it_loads_is_left_out_with_a_note() -> None:
    def broken() -> Callable[[], None]:
        raise AttributeError("module has no such thing")

    loaded, notes = load_all({"odd": broken})
    assert loaded == {}
    assert notes == ["odd is left out: AttributeError as it loads (module has no such thing)"]


def test_folds_of_another_version_are_refused_before_the_first_page(tmp_path: Path) -> None:
    (tmp_path / "folds.json").write_text('{"a": 0}', "utf-8")
    (tmp_path / "fold-0.json").write_text('{"version": 0}', "utf-8")
    with pytest.raises(UsageError, match=r"fold-0\.json is not a model of this version"):
        make_contenders(["auto"], with_peers=False, folds=tmp_path)


def test_sites_without_a_model_of_their_own_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(Path(str(auto.__file__)).with_name("model.json"), tmp_path / "fold-0.json")
    (tmp_path / "folds.json").write_text('{"news-1.example": 0}', "utf-8")
    parser = argparse.ArgumentParser()
    bench.add_arguments(parser)
    options = ("samples::1:1", "--method", "auto", "--folds", str(tmp_path))
    assert bench.run(parser.parse_args(("quality", *options))) == 0
    assert "1 of 7 sites by a model of `auto` that has not seen them" in capsys.readouterr().out


def test_only_peers_and_a_method_exclude_each_other() -> None:
    parser = argparse.ArgumentParser()
    bench.add_arguments(parser)
    wrong = ["quality", "samples:docs:1:2", "--peers-only", "--method", "segments"]
    with pytest.raises(UsageError, match="name none"):
        bench.run(parser.parse_args(wrong))
