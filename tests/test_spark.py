"""Pages cleaned by Spark: the same bytes as on one machine, whoever does the work."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark import StorageLevel

import dehusk
from dehusk.doors import spark as husk
from dehusk.doors.cli import main
from dehusk.doors.spark import command as spark_command
from dehusk.doors.spark.cleaning import _Asker
from dehusk.doors.spark.learning import added_up
from dehusk.doors.spark.reading import _Reader
from dehusk.doors.spark.rows import held, in_order, page_of, row_of
from dehusk.doors.spark.session import DEFAULTS
from dehusk.errors import UsageError
from dehusk.memory import Memory, dump, load
from dehusk.memory.session import Session
from dehusk.methods import METHODS, AdditiveMethod, make_method
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.settings import Limits, SourceSettings
from dehusk_bench.samples import sample_site
from dehusk_bench.scale.spark import ANSWERING, LEARNING, Step, _taken, measured_steps, spark_runner
from sparks import on_one_machine, run_stream, spark, write_pages

pytestmark = pytest.mark.slow

SMALL = {"ages": False, "max_segments": 500}
"""Limits that the sites here reach."""
ADDITIVE = [name for name in METHODS if isinstance(make_method(name), AdditiveMethod)]


@pytest.fixture(scope="module")
def session(java: None) -> Iterator[Any]:
    with spark("local[2,4]", **{"spark.sql.shuffle.partitions": "4"}) as started:
        yield started


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("spark") / "pages.jsonl"
    write_pages(path)
    return path


def _lines(answers: Any) -> list[str]:
    """The lines in the order of the input."""
    rows = sorted(answers.collect(), key=lambda row: (row["order"], row["url"] or ""))
    return [row["line"] for row in rows]


@pytest.mark.parametrize("name", ADDITIVE)
def test_lessons_that_were_sent_add_up_to_what_one_machine_learns(name: str) -> None:
    fields = METHODS[name].__dataclass_fields__
    limits = {"max_keys": 200, "max_segments": 200, "max_places": 40}
    method = make_method(name, **{each: limits[each] for each in limits if each in fields})
    assert isinstance(method, AdditiveMethod)
    trees = [parse(sample.page, Limits()).tree for sample in sample_site("forum", pages=60)]
    sent = [load(dump(method.lesson(tree), name), name) for tree in trees]
    learned = Memory()
    for tree in trees:
        learned = method.learn(learned, tree)
    assert dump(added_up(sent, method), name) == dump(learned, name)


def test_a_page_comes_back_from_its_row_as_it_was() -> None:
    for html in ("<p>half a \ud800 pair", b"<p>\xff\xfe", "", b""):
        page = Page(html, "https://a.example/b", "a.example", "latin-1")
        assert page_of(row_of(page, 7), SourceSettings()) == page


def test_a_remote_file_is_read_as_if_it_were_here(tmp_path: Path) -> None:
    path = tmp_path / "crawl" / "some.jsonl"
    path.parent.mkdir()
    path.write_text('{"html": "<p>Rye</p>"}\n{damaged\n{"html": null}\n', encoding="utf-8")
    (here,), (remote,) = (
        list(
            _Reader(SourceSettings())(
                iter([pa.RecordBatch.from_pylist([{"file": 1, "path": each}])])
            )
        )
        for each in (str(path), path.as_uri())
    )
    assert here.column("site").to_pylist() == ["crawl"] * 3
    for name in here.schema.names:
        found = [str(value).replace(path.as_uri(), str(path)) for value in remote.column(name)]
        assert found == [str(value) for value in here.column(name)], name
    missing = f"{path.as_uri()}.gone"
    told = pa.RecordBatch.from_pylist([{"file": 0, "path": missing}])
    (rows,) = _Reader(SourceSettings())(iter([told]))
    assert missing in rows.column("failure").to_pylist()[0]


def test_rows_without_a_place_come_first_and_end_no_stream() -> None:
    rows: list[dict[str, Any]] = [
        {"order": 2, "url": "a"},
        {"order": None, "url": "c"},
        {"order": 1, "url": None},
    ]
    rows += [{"order": 1, "url": "b"}, {"order": None, "url": None}]
    found = [(row["order"], row["url"]) for row in in_order({**row, "html": b""} for row in rows)]
    assert found == [(None, None), (None, "c"), (1, None), (1, "b"), (2, "a")]


def test_rows_that_wait_for_their_order_wait_on_the_disk_and_come_back_whole() -> None:
    def rows() -> Iterator[dict[str, Any]]:
        for order in range(999, -1, -1):
            html = None if order == 500 else b"%03d\xff" % order * 25_000
            yield {"order": order, "url": f"https://a.example/ü{order}", "html": html}

    tracemalloc.start()
    try:
        found = [
            (row["order"], row["url"], (row["html"] or b"")[:4] or None) for row in in_order(rows())
        ]
        most_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found == [
        (i, f"https://a.example/ü{i}", None if i == 500 else b"%03d\xff" % i) for i in range(1_000)
    ]
    assert most_bytes < 20_000_000, "of the 100 MB that have passed"


def test_a_task_that_holds_many_sites_takes_no_longer_for_the_next() -> None:
    asker, memory, costs = _Asker(DEFAULTS), Memory(1), []
    for start in range(0, 16_000, 2_000):
        names = [f"s{number}.example" for number in range(start, start + 2_000)]
        taught = {name: (dump(memory, "auto", site=name), b"") for name in names}
        began = time.process_time()
        for name in names:
            asker._hold(name, taught.get)
        costs.append(time.process_time() - began)
    assert min(costs[-2:]) < 2 * max(costs[:3])


def test_a_method_that_does_not_add_up_is_refused_by_name() -> None:
    with pytest.raises(UsageError, match="rtdm do not add up"):
        husk.SparkSettings(method="rtdm").make_method()


def test_wrong_use_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "out")
    assert main(["spark", "clean", "-o", out]) == 2
    assert main(["spark", "clean", "-", "-o", out]) == 2
    assert main(["spark", "clean", "a.warc", "-o", out, "--conf", "x"]) == 2
    assert main(["spark", "clean", "--paths", str(tmp_path / "none.gz"), "-o", out]) == 2
    assert main(["spark", "clean", "a.warc", "-o", out, "--method", "hyperlink"]) == 2
    told = capsys.readouterr().err
    for word in ("nothing to read", "standard input", "NAME=VALUE", "none.gz", "do not add up"):
        assert word in told


def test_the_experiment_counts_what_a_process_and_those_below_it_take(tmp_path: Path) -> None:
    sleeper = [sys.executable, "-c", "import time; time.sleep(60)", "-m", "pyspark.daemon"]
    with subprocess.Popen(sleeper) as below:
        taken = _taken(os.getpid())
        below.kill()
    assert taken["reader_s"] > 0
    assert taken["worker_bytes"] > 0
    with pytest.raises(UsageError, match="JSON lines"):
        spark_runner(2).run(tmp_path, tmp_path, "text")
    step = Step("answers", [1.0, 3.0], [10, 30])
    assert step.cells() == ["answers", "2", "2", "75%", "3.0", "4.0"]


def test_without_java_it_is_said_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert main(["spark", "clean", "a.warc", "-o", "out"]) == 2
    assert "needs Java 17" in capsys.readouterr().err


@pytest.mark.parametrize("broadcast_bytes", [64_000_000, 0], ids=["broadcast", "joined"])
def test_files_give_the_bytes_of_one_machine_and_a_large_site_is_spread(
    session: Any, source: Path, broadcast_bytes: int
) -> None:
    settings = husk.SparkSettings(
        settings=SMALL, broadcast_bytes=broadcast_bytes, part_pages=8, tasks=4
    )
    pages = husk.read_pages(session, [str(source)])
    session.sparkContext.setJobGroup(LEARNING, LEARNING)
    answers = husk.clean(pages, settings).cache()
    session.sparkContext.setJobGroup(ANSWERING, ANSWERING)
    rows = sorted(answers.collect(), key=lambda row: row["order"])
    options = ("--set", "ages=false", "--set", "max_segments=500")
    assert [row["line"] for row in rows] == on_one_machine(source, *options)
    assert sorted(filter(None, (row["error"] for row in rows))) == ["damaged", "not_html"]
    lessons, added, answered = measured_steps(pages, answers)
    answers.unpersist()
    size = sum(row["site"] == "news-0.example" for row in rows)
    assert [sum(step.site_pages) for step in (added, answered)] == [size, size]
    for step in (lessons, answered):
        assert len(step.site_pages) >= 4
        assert max(step.site_pages) < 0.5 * size
    assert [len(step.tasks_s) for step in (lessons, added)] == [4, 4]


def test_no_pages_at_all_are_written_as_none(session: Any, tmp_path: Path) -> None:
    none = session.createDataFrame([], "url string, html string")
    assert husk.write(husk.clean(none), str(tmp_path / "out")) == husk.Written(0, 0)
    assert (tmp_path / "out" / "_SUCCESS").exists()


def test_a_row_without_html_is_refused_and_columns_of_others_mean_nothing(session: Any) -> None:
    rows = [("https://a.example/1", "<p>Rye</p>", False), ("https://a.example/2", None, False)]
    frame = session.createDataFrame(rows, "url string, html string, failure boolean")
    answers = husk.clean(frame).cache()
    found = {row["url"]: (row["error"], row["line"]) for row in answers.collect()}
    assert found["https://a.example/1"][0] is None
    assert json.loads(found["https://a.example/1"][1])["pages_seen"] == 1
    assert found["https://a.example/2"][0] == "not_html"
    assert "`html` is null" in json.loads(found["https://a.example/2"][1])["error"]["message"]
    _check_that_caches_stay(answers)


def _check_that_caches_stay(answers: Any) -> None:
    """What the caller has cached is still cached when we have used it as well."""
    with held(answers, StorageLevel.DISK_ONLY):
        assert answers.storageLevel.useMemory
    assert answers.storageLevel.useMemory
    answers.unpersist()
    with held(answers, StorageLevel.DISK_ONLY):
        assert answers.storageLevel.useDisk
    assert not answers.storageLevel.useDisk


def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_learned(
    session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(husk, "clean", lambda *_: pytest.fail("learned first"))
    for target, told in ((str(tmp_path), "already exists"), ("none://a/b", "none")):
        arguments = argparse.Namespace(output=target)
        with pytest.raises(UsageError, match=told):
            spark_command._clean(arguments, session, husk.SparkSettings(), ["a.warc"])


def test_a_frame_without_order_is_learned_in_the_order_of_urls_ageing_too(session: Any) -> None:
    pages = [s.page for kind in ("docs", "blog") for s in sample_site(kind, pages=50)]
    frame = session.createDataFrame(
        [(page.url, page.html) for page in reversed(pages)], "url string, html string"
    )
    pages.sort(key=lambda page: page.url or "")
    sites = Session()
    for page in pages:
        sites.learn(page)
    wanted = {page.url: sites.ask(page).to_json() for page in pages}
    answers = husk.clean(frame)
    assert {row["url"]: json.loads(row["line"]) for row in answers.collect()} == wanted
    row = husk.fields(answers).where("error is null").first()
    assert row is not None
    assert row["text"] == wanted[row["url"]]["text"]
    assert row["links"][0]["template"] in {True, False}
    with pytest.raises(UsageError, match="no column 'html'"):
        husk.clean(frame.drop("html"))


def test_a_task_that_is_killed_loses_no_page_and_counts_none_twice(
    session: Any, source: Path, tmp_path: Path
) -> None:
    marks = str(tmp_path)

    def kill_once(batches: Iterator[Any]) -> Iterator[Any]:
        """Once in each pass, the worker dies after half of its pages."""
        for number, batch in enumerate(batches):
            yield batch.slice(0, batch.num_rows // 2)
            for mark in ("first", "second"):
                try:
                    os.close(os.open(f"{marks}/{mark}", os.O_CREAT | os.O_EXCL))
                except FileExistsError:
                    continue
                if number == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
            yield batch.slice(batch.num_rows // 2)

    pages = husk.read_pages(session, [str(source)])
    dying = pages.mapInArrow(kill_once, pages.schema)
    answers = husk.clean(dying, husk.SparkSettings(method="segments"))
    counts = husk.write(answers, str(tmp_path / "out"))
    assert {path.name for path in tmp_path.iterdir()} >= {"first", "second"}
    written = [
        line
        for part in sorted((tmp_path / "out").glob("part-*"))
        for line in part.read_text("utf-8").split("\n")[:-1]
    ]
    assert written == on_one_machine(source, "--method", "segments")
    assert (counts.pages, counts.failed) == (len(written), 2)
    with pytest.raises(UsageError, match="already exists"):
        husk.write(answers, str(tmp_path / "out"))


def test_a_stream_that_is_killed_and_started_again_learns_every_page_once(
    session: Any, tmp_path: Path
) -> None:
    pages = _write_stream(tmp_path / "in")
    script = [sys.executable, str(Path(__file__).with_name("sparks.py")), str(tmp_path)]
    killed = subprocess.Popen(script, start_new_session=True)
    commits = tmp_path / "checkpoint" / "commits"
    while not (commits / "0").exists():
        assert killed.poll() is None
        time.sleep(0.05)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    assert not (commits / "3").exists(), "it was not killed in the middle"

    run_stream(session, tmp_path)
    found = session.read.parquet(str(tmp_path / "out")).collect()
    lines = [row["line"] for row in sorted(found, key=itemgetter("order"))]
    with dehusk.open(tmp_path / "one.husk") as memory:
        wanted = [answer.to_json() for answer in memory.clean(pages)]
    assert [json.loads(line) for line in lines] == wanted
    assert {answer["pages_seen"] for answer in wanted} == set(range(1, 41))


def _write_stream(folder: Path) -> list[Page]:
    """Four files of 20 pages of two sites, and the last page again; the pages in their order."""
    folder.mkdir()
    sites = [[s.page for s in sample_site(kind, pages=40)] for kind in ("docs", "news")]
    pages = [page for pair in zip(*sites, strict=True) for page in pair]
    pages.append(pages[-1])
    for file in range(4):
        some = range(file * 20, file * 20 + 20 + (file == 3))
        records = [{"order": i, "url": pages[i].url, "html": pages[i].html} for i in some]
        path = folder / f"{file}.json"
        path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
        os.utime(path, (1_000_000 + file, 1_000_000 + file))
    return pages


def test_executors_of_their_own_give_the_bytes_of_one_machine(source: Path, session: Any) -> None:
    session.stop()  # One session a process.
    with spark("local-cluster[2,1,512]") as cluster:
        settings = husk.SparkSettings(settings=SMALL)
        answers = husk.clean(husk.read_pages(cluster, [str(source)]), settings)
        options = ("--set", "ages=false", "--set", "max_segments=500")
        assert _lines(answers) == on_one_machine(source, *options)
