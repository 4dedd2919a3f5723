"""Several processes give what one gives, to the byte."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import dehusk
import warcs
from dehusk.answer.result import Refusal
from dehusk.doors.cli import main
from dehusk.errors import UsageError
from dehusk.memory.session import Session
from dehusk.output import Format, Rendered, Shape
from dehusk.page.page import Page
from dehusk.settings import JobSettings, Limits
from dehusk.sources import Failure
from dehusk.workers.jobs import Jobs, Learned
from dehusk_bench.samples import sample_site, write_site
from husk_files import contents

pytestmark = pytest.mark.slow

KINDS = ("news", "shop", "forum", "docs")


def _pages(count: int) -> list[Page]:
    """Pages of four sites, by turns."""
    sites = [list(sample_site(kind, pages=count, seed=3)) for kind in KINDS]
    return [site[number].page for number in range(count) for site in sites]


PAGES = _pages(10)


def _records(pages: list[Page]) -> bytes:
    lines = [json.dumps({"url": page.url, "html": page.html}).encode() for page in pages]
    # A line that is none, a page that is none, one that comes again, and one without a URL.
    lines[5:5] = [b"{", json.dumps({"url": "https://a.example/", "html": "%PDF\0\0"}).encode()]
    lines += [lines[0], json.dumps({"html": "<p>Half a pair: \ud800, a feed: \f."}).encode()]
    return b"\n".join(lines) + b"\n"


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same kind of pages as JSON lines, as a folder, and as an archive."""
    folder = tmp_path_factory.mktemp("sources")
    (folder / "crawl.jsonl").write_bytes(_records(PAGES))
    for kind in KINDS[:2]:
        write_site(sample_site(kind, pages=9, seed=5), folder / "mirror" / kind)
    (folder / "mirror" / "bad.html").write_bytes(b"%PDF-1.4\0\0\0")
    records = [warcs.response(number) for number in range(12)]
    (folder / "crawl.warc.gz").write_bytes(warcs.archive(records)[:-40])
    return folder


def _tree(path: Path) -> dict[str, bytes]:
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return {str(file.relative_to(path)): file.read_bytes() for file in files}


def _said(text: str) -> str:
    """What was said, without how long it took."""
    return re.sub(r" in [\d.]+ s( \([\d,]+ a second\))?", "", text)


def _both(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, output: str, *arguments: str
) -> tuple[int, str]:
    """Run with one job and with two, which must agree; the status and what was said."""
    runs = []
    for jobs in ("1", "2"):
        folder = tmp_path / jobs
        folder.mkdir(exist_ok=True)
        given = [each.replace("MEMORY", str(folder / "memory.husk")) for each in arguments]
        status = main([*given, "--jobs", jobs, "-o", f"{folder}/{output}"])
        said = _said(capsys.readouterr().err).replace(str(folder), "")
        runs.append((status, said, _tree(folder / output)))
    assert runs[0] == runs[1]
    assert runs[0][2]
    return runs[0][:2]


@pytest.mark.parametrize(
    ("source", "output", "more"),
    [
        ("crawl.jsonl", "out.jsonl", ["--pieces", "60", "--drop", "nav", "--keep", "h1"]),
        ("crawl.jsonl", "out.txt.gz", ["--format", "text", "--unique"]),
        ("crawl.jsonl", "out/", ["--two-pass", "--max-nodes", "400"]),
        ("crawl.jsonl", "out.jsonl", ["--method", "style-tree"]),
        ("crawl.jsonl", "out.jsonl", ["--format", "pieces"]),
        ("crawl.jsonl", "out.parquet", ["--method", "segments", "--pieces", "60"]),
        ("mirror", "out.html", ["--format", "html", "--method", "chunks"]),
        ("crawl.warc.gz", "out.warc.gz", ["--method", "site-hash"]),
    ],
)
def test_two_jobs_write_the_bytes_of_one_and_say_the_same(
    source: str,
    output: str,
    more: list[str],
    sources: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    status, _ = _both(capsys, tmp_path, output, "clean", str(sources / source), *more)
    assert status == 1


@pytest.mark.parametrize("durable", ["page", "batch"])
def test_the_memory_holds_what_that_of_one_job_does(
    durable: str, sources: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    crawl = str(sources / "crawl.jsonl")
    memory = ["--memory", "MEMORY", "--durable", durable]
    for folder in ("1", "2"):
        (tmp_path / folder).mkdir()
        with dehusk.open(tmp_path / folder / "memory.husk") as opened:
            opened.add_rule(str(PAGES[0].site), "drop", "h1")
            opened.add(PAGES[3])
    _both(capsys, tmp_path, "out.jsonl", "clean", crawl, *memory)
    learned = contents(tmp_path / "1" / "memory.husk")
    assert len(learned) == 7
    assert learned == contents(tmp_path / "2" / "memory.husk")
    _, said = _both(
        capsys, tmp_path, "more.jsonl", "clean", crawl, *memory, "--revise", "last", "--relearn"
    )
    assert "unchanged" in said
    assert contents(tmp_path / "1" / "memory.husk") == contents(tmp_path / "2" / "memory.husk")


def test_two_jobs_learn_what_one_learns(sources: Path, tmp_path: Path) -> None:
    for jobs in ("1", "2"):
        more = ["--memory", f"{tmp_path}/{jobs}", "--jobs", jobs, "--method", "segments"]
        assert main(["learn", str(sources / "crawl.jsonl"), "-q", *more]) == 1
    assert contents(tmp_path / "1") == contents(tmp_path / "2")


@pytest.mark.parametrize(
    ("output", "more"),
    [("out.jsonl", []), ("out/", ["--format", "text"]), ("out/", ["--two-pass"])],
)
def test_two_jobs_go_on_where_a_run_was_cut_off(
    output: str, more: list[str], sources: Path, tmp_path: Path
) -> None:
    whole, part = f"{tmp_path}/whole/{output}", f"{tmp_path}/part/{output}"
    more = [*more, "-q", "--method", "segments"]
    for target in (whole, part):
        Path(target).parent.mkdir(parents=True, exist_ok=True)
        main(["clean", str(sources / "crawl.jsonl"), "-o", target, *more])
    files = sorted(file for file in Path(part).rglob("*") if file.is_file())
    for file in files[1::2]:
        file.unlink()
    if not files:
        written = Path(part).read_bytes()
        Path(part).write_bytes(written[: len(written) // 2])
    main(["clean", str(sources / "crawl.jsonl"), "-o", part, "--resume", "--jobs", "2", *more])
    assert _tree(Path(whole)) == _tree(Path(part))


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["https://grain.example"], "pages of the web"),
        (["SOURCE", "--render"], "--render"),
        (["SOURCE", "--method", "hyperlink"], "hyperlink"),
    ],
)
def test_what_several_processes_cannot_do_is_refused(
    arguments: list[str], word: str, sources: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [each.replace("SOURCE", str(sources / "mirror")) for each in arguments]
    assert main(["clean", *given, "--jobs", "2"]) == 2
    assert word in capsys.readouterr().err


def test_a_model_that_is_not_there_ends_the_run_as_with_one_job(
    sources: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = []
    for jobs in ("1", "2"):
        crawl, model = str(sources / "crawl.jsonl"), "model=nowhere.json"
        assert main(["clean", crawl, "--set", model, "--jobs", jobs]) == 2
        said.append(capsys.readouterr())
    assert said[0].out == said[1].out
    assert said[0].err.splitlines()[0] == said[1].err.splitlines()[0]


# The library


def _texts(pages: list[Page]) -> list[str]:
    sites = Session()
    return [sites.add(page).text for page in pages]


def test_the_library_gives_answers_in_order(tmp_path: Path) -> None:
    with Jobs(jobs=3) as jobs:
        answers = list(jobs.clean(PAGES))
        assert [answer.url for answer in answers] == [page.url for page in PAGES]
        assert all(isinstance(answer, Rendered) for answer in answers)
        assert [answer.to_json()["text"] for answer in answers] == _texts(PAGES)
    with dehusk.open(tmp_path / "a.husk") as memory:
        with Jobs(memory, shape=Shape(Format.TEXT)) as jobs:
            texts = [a.data for a in jobs.clean(PAGES) if isinstance(a, Rendered)]
        assert [text.decode().rstrip("\n") for text in texts if text] == _texts(PAGES)
        assert list(memory.revise(PAGES[-1:])) == []


def test_a_site_that_finds_no_room_in_a_process_is_lent_again() -> None:
    settings = JobSettings(max_held_bytes=1)
    with Jobs(jobs=2, settings=settings) as jobs:
        answers = [answer.to_json()["text"] for answer in jobs.clean(PAGES)]
    assert answers == _texts(PAGES)


def test_no_more_processes_are_started_than_there_are_sites() -> None:
    with Jobs(jobs=50) as jobs:
        first = PAGES[0].site
        assert list(jobs.clean(page for page in PAGES if page.site == first))
        assert len(jobs.pids) == 1
        assert list(jobs.clean(PAGES))
        assert 1 <= len(jobs.pids) <= len({page.site for page in PAGES})


def test_reading_does_not_run_ahead_of_the_answers() -> None:
    read = 0

    def counted() -> Iterator[Page]:
        nonlocal read
        for page in PAGES:
            read += 1
            yield page

    ahead = []
    with Jobs(jobs=2, settings=JobSettings(max_ahead_pages=6)) as jobs:
        for given, _ in enumerate(jobs.clean(counted())):
            ahead.append(read - given)
    assert max(ahead) <= 6 + 2
    small = JobSettings(max_ahead_bytes=1)
    with Jobs(jobs=2, settings=small) as jobs:
        assert len(list(jobs.clean(PAGES[:4]))) == 4


def test_a_page_is_answered_on_while_the_next_is_waited_for() -> None:
    is_answered = threading.Event()

    def trickle() -> Iterator[Page]:
        yield PAGES[0]
        assert is_answered.wait(60)
        yield PAGES[1]

    with Jobs(jobs=2) as jobs:
        answers = jobs.clean(trickle())
        assert isinstance(next(answers), Rendered)
        is_answered.set()
        assert len(list(answers)) == 1


def test_what_reading_raises_comes_behind_the_answers_before_it() -> None:
    def broken() -> Iterator[Page]:
        yield PAGES[0]
        raise OSError("no disk")

    answers: list[Rendered | Refusal] = []
    with Jobs(jobs=2) as jobs, pytest.raises(OSError, match="no disk"):
        answers.extend(jobs.clean(broken()))
    assert [answer.url for answer in answers] == [PAGES[0].url]


def test_a_run_that_was_left_cannot_be_gone_on_with() -> None:
    with Jobs(jobs=2) as jobs:
        next(jobs.clean(PAGES))
        with pytest.raises(UsageError, match="left"):
            next(jobs.clean(PAGES))


def test_what_was_not_given_is_not_in_the_memory(tmp_path: Path) -> None:
    with dehusk.open(tmp_path / "a.husk", method="segments") as memory:
        with Jobs(memory, jobs=2) as jobs:
            answers = jobs.clean(PAGES)
            for _ in range(7):
                next(answers)
        memory.commit()
        assert sum(row.pages for row in memory.sites()) == 7


def test_learning_tells_what_is_new(tmp_path: Path) -> None:
    limits = Limits(max_bytes=200_000)
    items = [PAGES[0], PAGES[0], Page("x" * 200_001, "https://a.example/")]
    failed = Failure(None, None, UsageError("none"))
    with dehusk.open(tmp_path / "a.husk", limits=limits) as memory, Jobs(memory) as jobs:
        outcomes = list(jobs.learn([*items, failed]))
    assert outcomes[:2] == [Learned(is_new=True), Learned(is_new=False)]
    assert [type(outcome) for outcome in outcomes[2:]] == [Refusal, Refusal]


def test_settings_that_make_no_sense_are_refused() -> None:
    with pytest.raises(UsageError, match="jobs"):
        Jobs(jobs=0)
    with pytest.raises(UsageError, match="max_ahead_pages"):
        JobSettings(max_ahead_pages=0)


@pytest.mark.parametrize("form", [tuple, list])
def test_processes_take_pages_in_the_forms_of_a_session(form: type) -> None:
    page = PAGES[0]
    pages = [page, form((page.html, page.url, "named")), form((page.html, page.url)), page.html]
    expected = [answer.site for answer in Session().clean(pages)]
    with Jobs(jobs=1) as jobs:
        assert [answer.site for answer in jobs.clean(pages)] == expected


def test_what_a_session_in_memory_has_learned_is_not_passed_over() -> None:
    session = Session()
    session.add(PAGES[0])
    with pytest.raises(UsageError, match="in memory"):
        Jobs(session)
