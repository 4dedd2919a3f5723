"""The record: experiments run once, go on after a cut, and a report of them claims no noise."""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from importlib.util import find_spec
from pathlib import Path

import pytest

import dehusk_bench as bench
from dehusk import _kernel
from dehusk.errors import SourceError, UsageError
from dehusk_bench.record import comparing, running
from dehusk_bench.record.code_versions import _closure, code_version
from dehusk_bench.record.drawing import NO_PNG, Plot, draw, write_png
from dehusk_bench.record.experiments import EXPERIMENTS, Experiment, Section
from dehusk_bench.record.found_tables import FoundTable, find_tables
from dehusk_bench.record.machine import describe_machine
from dehusk_bench.record.papers import PAPER_TABLES
from dehusk_bench.record.report import read_notes
from dehusk_bench.record.running import Run, Setup, Status, arguments_of, read_runs, run_all

pytestmark = pytest.mark.slow

CHUNKS = replace(
    next(each for each in EXPERIMENTS if each.name == "chunks-tables"),
    quick=("samples:tables:1:8",),
)


def _run(*words: str) -> int:
    parser = argparse.ArgumentParser()
    bench.add_arguments(parser)
    return bench.run(parser.parse_args(words))


def _all(setup: Setup, *experiments: Experiment) -> list[Run]:
    return [run for _, run in run_all(setup, experiments, lambda name, seconds: None)]


@pytest.fixture
def setup(tmp_path: Path) -> Setup:
    data = tmp_path / "data"
    data.mkdir()
    return Setup(tmp_path / "results", data, is_quick=True)


# --- tables


def test_tables_are_found_with_what_stands_above_them() -> None:
    text = "## One: two\n\n| a | b |\n|---|--:|\n| x | 1.5 |\n| y | – |\n\nwords\n| c |\n|---|\n"
    first, second = find_tables(text)
    assert first == FoundTable("One: two", ("a", "b"), (("x", "1.5"), ("y", "–")))
    assert (second.title, second.header, second.rows) == ("words", ("c",), ())
    assert first.csv() == "a,b\nx,1.5\ny,–\n"
    assert first.column("b") == ["1.5", "–"]
    assert first.row("y") == ("–",)
    assert (first.column("z"), first.row("z")) == ([], ())


def test_a_line_with_a_bar_is_no_table() -> None:
    assert find_tables("| alone |\n") == []


# --- plots


def test_a_plot_has_a_line_for_each_column_row_and_table() -> None:
    table = FoundTable("s: 1", ("n", "f", "g"), (("1", "0.5", "10 %"), ("2", "–", "20 %")))
    by_column = draw(Plot("t", "n", ("x", "y"), ("f", "g"), x="n"), [table])
    by_row = draw(
        Plot("t", "", ("x", "y"), ("a",)),
        [FoundTable("", ("", "size 1", "size 2"), (("a", "1", "2"),))],
    )
    by_table = draw(
        Plot("t", "n", ("x", "y"), ("g",), x="n"), [table, replace(table, title="other: 1")]
    )
    assert by_column is not None
    assert by_row is not None
    assert by_table is not None
    assert (by_column.count("<polyline"), by_row.count("<polyline")) == (2, 1)
    assert "s, g" in by_table
    assert "other, g" in by_table
    assert draw(Plot("t", "nothing", ("x", "y"), ("f",), x="n"), [table]) is None


def test_a_plot_becomes_a_png_or_a_note_says_why_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    svg = tmp_path / "p.svg"
    svg.write_text('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>', "utf-8")
    if find_spec("resvg_py") is not None:
        assert write_png(svg) is None
        assert svg.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    assert write_png(svg) == NO_PNG


# --- the list of experiments


def test_every_experiment_is_a_command_with_options_that_exist(setup: Setup) -> None:
    parser = argparse.ArgumentParser()
    bench.add_arguments(parser)
    for is_quick in (True, False):
        for experiment in EXPERIMENTS:
            given = arguments_of(replace(setup, is_quick=is_quick), experiment)
            more = ["--markdown", *(["--json", "x"] if experiment.has_json else [])]
            more += [experiment.plots_option, "x"] if experiment.plots_option else []
            more += ["--folds", "x"] if experiment.has_folds else []
            assert given is None or parser.parse_args([*given, *more]).experiment == given[0]


def test_names_are_used_once_and_papers_belong_to_experiments() -> None:
    names = [each.name for each in EXPERIMENTS]
    assert len(set(names)) == len(names)
    assert set(PAPER_TABLES) <= set(names)
    for tables in PAPER_TABLES.values():
        assert all(len(row) == len(table.header) for table in tables for row in table.rows)


def test_a_corpus_that_is_there_is_used_and_samples_stand_in_for_others(setup: Setup) -> None:
    experiment = Experiment("e", Section.COST, "t", ("speed", "@a", "@b", "--peers"), ("bench",))
    assert arguments_of(setup, experiment) is None
    stand_in = replace(experiment, instead=("samples",))
    assert arguments_of(setup, stand_in) == ["speed", "samples", "--peers"]
    (setup.data / "b.jsonl.xz").touch()
    assert arguments_of(setup, stand_in) == ["speed", "b.jsonl.xz", "--peers"]


# --- running


def test_what_was_done_is_kept_until_its_options_change(setup: Setup) -> None:
    (first,) = _all(setup, CHUNKS)
    assert first.status is Status.DONE, first.note
    assert first.command == "dehusk bench chunks-tables samples:tables:1:8"
    for name in (*first.tables, *first.plots, "chunks-tables.md"):
        assert (setup.output / name).stat().st_size > 0
    (again,) = _all(setup, CHUNKS)
    assert again == replace(first, status=Status.KEPT)
    (changed,) = _all(setup, replace(CHUNKS, quick=("samples:tables:2:8",)))
    assert changed.status is Status.DONE
    assert changed.key != first.key


def test_one_that_fails_is_named_and_the_others_run(setup: Setup) -> None:
    wrong = replace(CHUNKS, name="wrong", quick=("nonesuch.jsonl",), plots=())
    missing = Experiment(
        "missing", Section.COST, "t", ("speed", "@none"), ("dehusk_bench.speed.pages",)
    )
    failed, skipped, done = _all(setup, wrong, missing, CHUNKS)
    assert (failed.status, skipped.status, done.status) == tuple(
        map(Status, ("failed", "skipped", "done"))
    )
    assert "nonesuch.jsonl" in failed.note
    assert skipped.note == "there is no none"
    assert list(read_runs(setup.output)) == ["wrong", "missing", "chunks-tables"]


def test_sample_sites_taken_for_want_of_data_are_judged_without_folds(setup: Setup) -> None:
    folds = setup.output.parent / "folds"
    folds.mkdir()
    teco = replace(
        next(each for each in EXPERIMENTS if each.name == "teco-sites-saved"),
        command=("teco", "@none"), instead=("samples:docs:1:6",), quick=(), plots=(),
        has_folds=True,
    )  # fmt: skip
    (run,) = _all(replace(setup, folds=folds), teco)
    assert (run.status, run.note) == (Status.DONE, "")
    assert "--folds" not in run.command


def test_one_that_takes_too_long_is_stopped(setup: Setup) -> None:
    (run,) = _all(replace(setup, timeout_s=0.01), CHUNKS)
    assert run.status is Status.FAILED
    assert "took over 0.01 s" in run.note


def test_the_end_of_a_run_is_the_end_of_its_experiment(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "dehusk", "bench", "all", "--quick", "-o", str(tmp_path)]
    with subprocess.Popen([*command, "--only", "classify"]) as run:
        children = Path(f"/proc/{run.pid}/task/{run.pid}/children")
        if not children.parent.is_dir():
            run.kill()
            pytest.skip("this system does not list the children of a process")
        # Before its log is there, a child can only be one that was asked about the machine.
        while not (tmp_path / "classify.log").exists():
            assert run.poll() is None
            time.sleep(0.01)
        while not (found := children.read_text().split()):
            assert run.poll() is None
            time.sleep(0.01)
        run.terminate()
        assert run.wait(60) == 128 + signal.SIGTERM
    assert not Path(f"/proc/{found[0]}").exists()


def test_changed_input_or_code_is_another_key(
    setup: Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = setup.data / "c.jsonl"
    experiment = Experiment(
        "e", Section.COST, "t", ("speed", "@c"), ("dehusk_bench.quality.scoring",)
    )

    def key() -> str:
        running._file_hash.cache_clear()
        return running._key(setup, experiment, ["speed", "c.jsonl"], {})

    corpus.write_text("a", "utf-8")
    before = key()
    assert key() == before
    corpus.write_text("b", "utf-8")
    assert key() != before
    corpus.write_text("a", "utf-8")
    monkeypatch.setattr(running, "code_version", lambda modules, without: "other")
    assert key() != before


def test_runs_that_are_damaged_are_an_error_that_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "runs.json").write_text('{"runs": {"a": {}}}', "utf-8")
    with pytest.raises(SourceError, match=r"runs\.json"):
        read_runs(tmp_path)


def test_the_code_of_an_experiment_is_what_it_imports_and_the_models_beside() -> None:
    def names(modules: Sequence[str], without: Sequence[str] = ()) -> set[str]:
        return {"/".join(path.parts[-2:]) for path in _closure(modules, without)}

    assert names(["dehusk_bench.tables"]) == {"dehusk_bench/tables.py"}
    assert f"dehusk/{Path(_kernel.__file__).name}" in names(["dehusk.page.tree"])
    with_methods = names(["dehusk_bench.quality.command"])
    assert {
        "quality/measure.py",
        "peers/pages.py",
        "papers/segments.py",
    } <= with_methods
    assert any(name.startswith("auto/") and name.endswith(".json") for name in with_methods)
    assert "papers/teco.py" not in with_methods
    assert not any(
        "auto" in name for name in names(["dehusk_bench.quality.command"], ["dehusk.methods"])
    )
    assert code_version(["dehusk_bench.plots"]) != code_version(["dehusk_bench.tables"])


def test_the_machine_is_described_without_its_name() -> None:
    about = describe_machine()
    assert {"CPU", "cores", "memory", "Python", "dehusk", "trafilatura"} <= set(about)
    assert all(about.values())
    assert not {"node", "host"} & set(about)


# --- comparing and reporting


def _figures(name: str, f1: float, sites: int = 8) -> dict[str, object]:
    by_site = {
        f"s{n}": {"f1": {"all": f1 + 0.01 * (n % 2)}, "pages": {"all": 1}} for n in range(sites)
    }
    curve = [[1, f1], [2, f1 + 0.01]]
    return {name: {"mean": {"f1": {"all": f1, "1–5": f1}}, "by_site": by_site, "curve": curve}}


def _write(
    folder: Path,
    part: str,
    contenders: dict[str, object],
    groups: object = None,
    corpus: str = "docs-dev",
) -> None:
    report = {"corpus": corpus, "pages": 8, "sites": 8, "contenders": contenders,
              "groups": groups or {}}  # fmt: skip
    (folder / f"{part}-{corpus}.json").write_text(json.dumps([report]), "utf-8")


def test_auto_is_compared_with_all_that_were_measured_on_a_corpus(tmp_path: Path) -> None:
    groups = {"en": {"auto": {"mean": {"f1": {"all": 0.9}}}}, "de": {"auto": {"mean": {}}}}
    _write(tmp_path, "auto", _figures("auto", 0.9), groups)
    _write(tmp_path, "methods", _figures("segments", 0.8) | _figures("site-hash", 0.95, 4))
    _write(tmp_path, "peers", _figures("all-text", 0.9) | {"gold": {"mean": {}, "by_site": {}}})
    found = comparing.read_comparison(tmp_path, "docs-dev")
    assert found is not None
    header, rows = comparing.comparison_table(found)
    assert [row[0] for row in rows] == ["`site-hash`", "**`auto`**", "`all-text`", "`segments`"]
    assert all(len(row) == len(header) for row in rows)
    assert list(comparing.claims(found)) == [
        "`auto` is better than `segments` (+0.100).",
        "`auto` is within noise of `site-hash` (-0.050), `all-text` (+0.000).",
    ]
    summary = comparing.summary_table([found])
    assert summary is not None
    assert [cell for cell in summary[1][0] if "…" not in cell] == [
        "docs-dev", "0.900", "`site-hash`", "0.950", "`all-text`", "0.900",
    ]  # fmt: skip
    table = comparing.group_table(found)
    assert table is not None
    assert [row[0] for row in table[1]] == ["en"]
    assert "segments" in (comparing.curve_plot(found) or "")
    assert comparing.read_comparison(tmp_path, "news-dev") is None


def _snippet_figures(name: str, kept: int) -> dict[str, object]:
    by_site = {f"s{n}": {"snippet_f1": {"all": [2 * kept, 3 + kept]}} for n in range(8)}
    return {name: {"mean": {"snippet_f1": {"all": 2 * kept / (3 + kept)}}, "by_site": by_site}}


def test_a_corpus_of_snippets_is_compared_by_them(tmp_path: Path) -> None:
    _write(tmp_path, "auto", _snippet_figures("auto", 3), corpus="snippets-dev")
    _write(tmp_path, "peers", _snippet_figures("all-text", 1), corpus="snippets-dev")
    found = comparing.read_comparison(tmp_path, "snippets-dev")
    assert found is not None
    header, rows = comparing.comparison_table(found)
    assert "snippet F1, 95 %" in header
    assert rows[1][header.index("`auto` is above it by")] == "+0.500"
    assert list(comparing.claims(found)) == ["`auto` is better than `all-text` (+0.500)."]
    summary = comparing.summary_table([found])
    assert summary is not None
    assert summary[1][0][:2] == ["snippets-dev", "1.000"]


def test_only_corpora_that_models_are_fitted_to_are_judged_by_folds() -> None:
    by_name = {each.name: each for each in EXPERIMENTS}
    assert by_name["auto-articles-dev"].has_folds
    assert not by_name["auto-articles-measure"].has_folds
    reaching = [each.name for each in EXPERIMENTS if "@articles-measure" in each.command]
    assert reaching == [f"{part}-articles-measure" for part in comparing.PARTS]


def test_a_report_says_which_corpus_no_model_was_fitted_to(setup: Setup, tmp_path: Path) -> None:
    _all(setup, CHUNKS)
    for corpus in ("articles-dev", "articles-measure"):
        _write(setup.output, "auto", _figures("auto", 0.9), corpus=corpus)
    target = tmp_path / "record.md"
    _run("report", str(setup.output), "-o", str(target))
    parts = {part.partition(":")[0]: part for part in target.read_text("utf-8").split("### ")}
    assert "not fitted to this corpus" in parts["articles-measure"]
    assert "not fitted to this corpus" not in parts["articles-dev"]
    assert (tmp_path / "record" / "articles-dev.csv").is_file()


def test_a_report_shows_ours_beside_the_papers_and_says_what_is_missing(
    setup: Setup, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _all(setup, CHUNKS)
    _write(setup.output, "auto", _figures("auto", 0.9))
    notes = tmp_path / "notes.md"
    notes.write_text(
        "Before.\n\n## in short\n\nIt works.\n\n## chunks-tables\n\nAs told.\n", "utf-8"
    )
    target = tmp_path / "docs" / "results.md"
    target.parent.mkdir()
    assert _run("report", str(setup.output), "-o", str(target), "--notes", str(notes)) == 1
    assert "not in it: teco\n" in capsys.readouterr().out
    text = target.read_text("utf-8")
    for expected in (
        "It works.", "As told.", "This is a quick run", "dehusk bench chunks-tables samples",
        "004 (CIKM 2003), tables 1 and 2", "Not measured: it was not run", "Measured on: CPU",
    ):  # fmt: skip
        assert expected in text
    assert "Before." not in text
    assert (target.parent / "results" / "chunks-tables-1.csv").is_file()
    assert (target.parent / "results" / "docs-dev.csv").is_file()
    assert (target.parent / "results" / "chunks-tables-plot-1.svg").is_file()


def test_what_was_not_run_is_kept_with_the_notes_as_they_are_now(
    setup: Setup, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _all(setup, CHUNKS)
    notes, target = tmp_path / "notes.md", tmp_path / "docs.md"
    words = ("report", str(setup.output), "-o", str(target), "--notes", str(notes), "--keep")
    notes.write_text("## chunks-tables\n\nAs told.\n", "utf-8")
    with pytest.raises(UsageError, match="--keep"):
        _run(*words)
    _run(*words[:-1])
    table = next(line for line in target.read_text("utf-8").splitlines() if "| table R" in line)
    other = Run("storage", Status.FAILED, note="no room")
    (setup.output / "runs.json").write_text(
        json.dumps({"runs": {"storage": asdict(other)}}), "utf-8"
    )
    notes.write_text("## chunks-tables\n\nAs mended.\n", "utf-8")
    target.write_text(target.read_text("utf-8") + "\n### Renamed since\n\nFigures.\n", "utf-8")
    quoting = tmp_path / "quoting.md"
    quoting.write_text("9.99<!-- chunks-tables-2.csv; 2; ttdr -->\n", "utf-8")
    assert _run(*words, "--quoted-in", str(quoting)) == 0
    text = target.read_text("utf-8")
    assert table in text
    assert "As mended." in text
    assert "As told." not in text
    assert "Not measured: no room" in text
    assert (tmp_path / "docs" / "chunks-tables-1.csv").is_file()
    assert "no longer in it: Renamed since\n" in capsys.readouterr().out
    assert "9.99" not in quoting.read_text("utf-8")


def test_a_report_of_nothing_and_notes_that_are_not_there_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no results"):
        _run("report", str(tmp_path))
    with pytest.raises(UsageError, match="no such file"):
        read_notes(tmp_path / "none.md")
    assert read_notes(None) == {}


def test_wrong_options_of_all_are_refused_and_the_list_runs_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = ("-o", str(tmp_path / "results"))
    for wrong in (("--only", "none"), ("--data", str(tmp_path / "x")), ("--folds", "x")):
        with pytest.raises(UsageError, match=wrong[0]):
            _run("all", *output, *wrong)
    assert _run("all", *output, "--list") == 0
    assert "chunks-tables" in capsys.readouterr().out
    assert not (tmp_path / "results").exists()


def test_all_runs_what_is_asked_for_and_sums_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("all", "-o", str(tmp_path / "r"), "--quick", "--only", "chunks-tables")
    assert _run(*words) == 0
    shown = capsys.readouterr().out
    assert "1/1  chunks-tables: " in shown
    assert "1 experiments: 1 done" in shown
    assert _run(*words) == 0
    assert "1 experiments: 1 kept" in capsys.readouterr().out
