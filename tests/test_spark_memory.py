"""Pages cleaned by Spark from month to month: memories that are left, streams that forget."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dehusk
from dehusk.doors import spark as husk
from dehusk.doors.cli import main, make_parser
from dehusk.doors.spark import command as spark_command
from dehusk.doors.spark.memories import check_lasting
from dehusk.doors.spark.rows import row_of, tasks_for
from dehusk.doors.spark.session import DEFAULTS, SparkSettings
from dehusk.doors.spark.streaming import _Learner
from dehusk.errors import SettingError, UsageError, WrongMemory
from dehusk.memory import dump
from dehusk.methods import learned_with
from dehusk.page.page import Page
from dehusk_bench.samples import sample_site
from dehusk_bench.scale.cluster import (
    ClusterRun,
    ClusterStep,
    _of_largest,
    _size,
    _Watch,
    _write_months,
)
from dehusk_bench.scale.pages import Workload
from sparks import run_stream, spark

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def session(java: None) -> Iterator[Any]:
    with spark("local[2,4]") as started:
        yield started


def test_tasks_are_as_many_as_the_pages_are_worth() -> None:
    assert tasks_for(0) is None
    assert tasks_for(20_000_000) is None, "what was moved says how many"
    assert tasks_for(2_500_000_000) == 125_000, "not 1,000 of five hours each"
    with pytest.raises(SettingError, match="tasks"):
        SparkSettings(tasks=0)


def test_the_experiment_gives_each_month_other_pages_and_sees_what_is_taken(tmp_path: Path) -> None:
    _write_months(Workload(21, 3), tmp_path)
    months = [
        [json.loads(line)["url"] for line in _lines(tmp_path / f"month-{month}", "*.jsonl")]
        for month in range(2)
    ]
    assert [len(urls) for urls in months] == [10, 11]
    assert len({url for urls in months for url in urls}) == 21
    watch = _Watch(tmp_path)
    assert watch.cpu_s()[0] > 0
    watch.end()
    assert _size(tmp_path) > 21_000
    step = ClusterStep("answer", 10, 4, 5.0, 0.02, 0.05, 30_000, 1.25, 9_000_000)
    cells = ["answer", "10", "4", "5", "2", "2.00", "5.00", "3.00", "1.2", "9"]
    assert step.cells() == cells
    (tmp_path / "part-0").write_text('{"site": "site-0.example"}\n{"site": "site-1.example"}\n')
    (tmp_path / "part-1").write_text('{"site": "site-1.example"}\n')
    largest = [_of_largest(tmp_path), [3, 4]]
    told = ClusterRun([step], 1_000_000, 2_000_000, 4_000_000, 7, largest).told()
    assert "Java 1 MB, a Python process 2 MB. The memory of 7 sites: 4 MB" in told
    assert "1 pages in 1 of 2 tasks, at most 1 in one; then 7 pages in 2 of 2 tasks" in told


def test_rows_that_are_held_lie_in_no_more_tasks_than_they_need(session: Any) -> None:
    pages = session.createDataFrame(
        [(page.page.url, page.page.html) for page in sample_site("blog", pages=3)],
        "url string, html string",
    )
    session.conf.set("spark.sql.adaptive.enabled", "true")
    try:
        taught = husk.learn(pages).persist()
        assert taught.count() == 1
        assert taught.rdd.getNumPartitions() == 1, "not 1,000, nearly all of them empty"
    finally:
        session.conf.set("spark.sql.adaptive.enabled", "false")


def test_a_month_goes_on_from_the_last_as_on_one_machine(session: Any, tmp_path: Path) -> None:
    months = _write_two_months(tmp_path)
    place = str(tmp_path / "memory")
    one = str(tmp_path / "one.husk")
    out = str(tmp_path / "one.jsonl")
    main(["clean", "-q", "--two-pass", "--memory", one, str(months[0]), "-o", out])

    _run(session, months[0], tmp_path / "first", "--memory", place)
    assert _lines(tmp_path / "first", "part-*") == Path(out).read_text("utf-8").splitlines()

    moved = {"broadcast_bytes": 0, "part_pages": 8}
    options = ("--memory", place, "--one-pass", "--unordered", "--partition-by", "type")
    _run(session, months[1], tmp_path / "second", *options, **moved)
    pages = list(dehusk.read(str(months[1])))
    with dehusk.open(one) as memory:
        wanted = [memory.ask(page).to_json() for page in pages]
        for page in pages:
            memory.learn(page)
        left = {row.name: memory.memory(row.name) for row in memory.sites()} | {
            site: memory.memory(site) for site in {page.site or "" for page in pages}
        }
        used = learned_with(memory.method)
    folders = _folders(tmp_path / "second")
    found = [json.loads(line) for lines in folders.values() for line in lines]
    assert sorted(found, key=str) == sorted(wanted, key=str)
    assert {kind: {json.loads(line)["type"] for line in folders[kind]} for kind in folders} == {
        kind: {kind} for kind in {answer["type"] for answer in wanted}
    }
    rows = husk.read_memory(session, place).collect()
    assert {row["site"]: bytes(row["memory"]) for row in rows} == {
        site: dump(its, "auto", settings=used, site=site) for site, its in left.items()
    }
    with pytest.raises(WrongMemory, match="max_segments"):
        husk.read_memory(session, place, SparkSettings(settings={"max_segments": 7}))


def _write_two_months(folder: Path) -> list[Path]:
    """Two files: the second month has pages of the first again, others, and a new site."""
    docs, news, shop = (
        [sample.page for sample in sample_site(kind, pages=24)] for kind in ("docs", "news", "shop")
    )
    months = ((*docs[:16], *news[:16]), (*docs[12:], *news[12:], *shop[:6]))
    paths = [folder / f"{number}.jsonl" for number in range(2)]
    for path, pages in zip(paths, months, strict=True):
        records = [json.dumps({"url": page.url, "html": page.html}) for page in pages]
        path.write_text("".join(f"{record}\n" for record in records), "utf-8")
    return paths


def _run(session: Any, source: Path, target: Path, *options: str, **settings: Any) -> None:
    """What the command does, in the session that there is."""
    words = ["spark", "clean", "-q", str(source), "-o", str(target), *options]
    arguments = make_parser("spark").parse_args(words)
    assert spark_command._clean(arguments, session, SparkSettings(**settings), [str(source)]) == 0


def _lines(folder: Path, pattern: str) -> list[str]:
    """The lines of the files, by their names."""
    files = sorted(folder.glob(pattern))
    return [line for file in files for line in file.read_text("utf-8").split("\n")[:-1]]


def _folders(folder: Path) -> dict[str, list[str]]:
    """The lines of each folder `type=…`."""
    return {
        each.name.removeprefix("type="): _lines(each, "part-*") for each in folder.glob("type=*")
    }


def test_a_run_without_pages_as_they_come_says_so(session: Any, tmp_path: Path) -> None:
    none = session.createDataFrame([], "url string, html string")
    answers = husk.clean(none, memories=husk.read_memory(session, str(tmp_path / "none")))
    assert husk.write(answers, str(tmp_path / "out"), in_order=False) == husk.Written(0, 0)
    with pytest.raises(UsageError, match="no folders by title"):
        husk.write(answers, str(tmp_path / "other"), by=["title"])


def test_a_memory_in_a_table_is_that_of_the_last_run(session: Any, tmp_path: Path) -> None:
    session.sql(f"create database months location '{tmp_path / 'months'}'")
    place = "table:months.memory"
    schema = "site string, pages bigint, size bigint, memory binary"
    assert husk.read_memory(session, place).count() == 0
    for pages in (1, 2):
        memory = dump(dehusk.Site().memory(), "auto", site="a.example")
        rows = session.createDataFrame([("a.example", pages, len(memory), memory)], schema)
        husk.write_memory(rows, place)
        assert [row["pages"] for row in husk.read_memory(session, place).collect()] == [pages]
    session.sql("create table months.other as select 1 as one")
    with pytest.raises(UsageError, match="something else"):
        husk.read_memory(session, "table:months.other")
    session.sql("drop database months cascade")


def test_a_table_that_ends_with_the_session_is_refused(session: Any) -> None:
    check_lasting(session, "memory/")
    with pytest.raises(UsageError, match="name a folder"):
        check_lasting(session, "table:months.memory")
    session.conf.set("spark.sql.catalog.lake", "a.Catalog")
    try:
        check_lasting(session, "table:lake.months.memory")
    finally:
        session.conf.unset("spark.sql.catalog.lake")


def test_a_folder_of_something_else_is_no_memory(session: Any, tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text("Dear grain")
    with pytest.raises(UsageError, match="name a new folder"):
        husk.read_memory(session, str(tmp_path))
    with pytest.raises(UsageError, match="none"):
        husk.read_memory(session, "none://a/b")
    unfinished = tmp_path / "memory" / "run=1"
    unfinished.mkdir(parents=True)
    assert husk.read_memory(session, str(unfinished.parent)).count() == 0
    assert main(["spark", "clean", "a.warc", "-o", "out", "--one-pass"]) == 2


class _State:
    """A value or a list that Spark would keep, and the bytes that were written to it."""

    def __init__(self) -> None:
        self.rows: list[Any] = []
        self.written: list[int] = []

    def get(self) -> Any:
        return iter(self.rows)

    def appendList(self, rows: list[Any]) -> None:  # noqa: N802 - Spark's name
        self.rows += rows
        self.written += [len(row[0]) for row in rows]

    def clear(self) -> None:
        self.rows.clear()


class _Value(_State):
    def get(self) -> Any:
        return self.rows[0] if self.rows else None

    def update(self, row: Any) -> None:
        self.rows = [row]
        self.written.append(len(row[0]))


class _Handle:
    """Gives out the states of one site."""

    def __init__(self) -> None:
        self.memory, self.lessons = _Value(), _State()
        self.ttl_ms: set[int | None] = set()

    def getValueState(self, name: str, schema: str, ttl_ms: int | None) -> _Value:  # noqa: N802
        assert (name, "binary" in schema) == ("memory", True)
        self.ttl_ms.add(ttl_ms)
        return self.memory

    def getListState(self, name: str, schema: str, ttl_ms: int | None) -> _State:  # noqa: N802
        assert (name, "binary" in schema) == ("lessons", True)
        self.ttl_ms.add(ttl_ms)
        return self.lessons


class _Clock:
    def __init__(self, now_ms: int) -> None:
        self._now_ms = now_ms

    def getCurrentProcessingTimeInMs(self) -> int:  # noqa: N802 - Spark's name
        return self._now_ms


def _come(handle: Any, pages: list[Page], now_ms: int = 0, life_s: float | None = None) -> Any:
    """The lines of a micro-batch, answered by a task that begins anew."""
    learner = _Learner(DEFAULTS, life_s)
    learner.init(handle)
    frame = pd.DataFrame([row_of(page, number) for number, page in enumerate(pages)])
    frames = learner.handleInputRows((pages[0].site,), [frame], _Clock(now_ms))
    return [json.loads(line) for each in frames for line in each["line"]]


def test_a_stream_writes_what_pages_add_and_answers_as_if_it_wrote_all() -> None:
    pages = [sample.page for sample in sample_site("docs", pages=60)]
    handle = _Handle()
    found = [line for start in range(0, 60, 2) for line in _come(handle, pages[start : start + 2])]
    sites = SparkSettings().make_sites(knows_pages=True)
    assert found == [sites.add(page).to_json() for page in pages]
    whole, parts = handle.memory.written, handle.lessons.written
    assert len(whole) < 12, "of 30 micro-batches"
    assert sum(whole) + sum(parts) < 0.5 * 30 * whole[-1]
    assert len(handle.lessons.rows) <= 100
    before = [*whole], [*parts]
    _come(handle, pages[:2])
    assert before == (whole, parts), "pages that are known add nothing"


def test_a_site_that_comes_back_in_time_is_not_forgotten() -> None:
    pages = [sample.page for sample in sample_site("docs", pages=6)]
    handle = _Handle()
    for page, now_ms in ((pages[0], 0), (pages[1], 900), (pages[0], 2_000)):
        _come(handle, [page], now_ms, life_s=1.0)
    assert handle.ttl_ms == {2_000}
    assert handle.memory.rows[0][1] == 2_000, "written anew, so that it lives on"
    assert _come(handle, [pages[3]], 2_100, life_s=1.0)[0]["pages_seen"] == 3
    handle.memory.clear()  # As Spark does it, in its time; what is left behind means nothing.
    handle.lessons.rows = [(b"left",)]
    assert _come(handle, [pages[4]], 9_000, life_s=1.0)[0]["pages_seen"] == 1
    assert handle.lessons.rows == []
    with pytest.raises(SettingError, match="forget_after_s"):
        husk.stream(None, forget_after_s=0)  # type: ignore[arg-type]


def test_spark_forgets_a_site_that_sends_nothing(session: Any, tmp_path: Path) -> None:
    pages = [sample.page for sample in sample_site("docs", pages=2)]
    (tmp_path / "in").mkdir()
    for number, page in enumerate(pages):
        record = {"order": number, "url": page.url, "html": page.html}
        (tmp_path / "in" / f"{number}.json").write_text(json.dumps(record), "utf-8")
        run_stream(session, tmp_path, forget_after_s=0.1)
        time.sleep(0.3)
    found = session.read.parquet(str(tmp_path / "out")).collect()
    assert [json.loads(row["line"])["pages_seen"] for row in found] == [1, 1]
