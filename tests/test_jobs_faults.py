"""Processes that judge pages may die, hang or stand still: no page is lost, none counted twice."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

import dehusk
from dehusk.answer.result import Refusal
from dehusk.errors import DehuskError, PageTimeout, ProcessLost
from dehusk.memory.session import Session
from dehusk.output import Rendered
from dehusk.page.page import Page
from dehusk.settings import JobSettings, Limits
from dehusk.workers.jobs import Jobs
from dehusk_bench.samples import sample_site
from husk_files import contents

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name != "posix", reason="needs signals")]

PAGES = [
    page.page
    for pages in zip(
        *(sample_site(kind, pages=40, seed=2) for kind in ("news", "shop", "docs")), strict=True
    )
    for page in pages
]

_TRAP = """
import os, time
from dehusk import pipeline
from dehusk.workers import messages

def trapped(act):
    def meet(page, *given, **more):
        html = page.html if isinstance(page.html, str) else page.html.decode("latin-1")
        if "die once" in html and not os.path.exists(os.environ["TRAP"]):
            open(os.environ["TRAP"], "w").close()
            os.kill(os.getpid(), 9)
        if "die always" in html:
            os.kill(os.getpid(), 9)
        while "never end" in html:
            open(os.environ["TRAP"], "w").close()
            time.sleep(1)
        return act(page, *given, **more)
    return meet

pipeline.clean, pipeline.learn = trapped(pipeline.clean), trapped(pipeline.learn)

def packed(header, blobs=(), pack=messages.pack):
    if any(b"die sending" in blob for blob in blobs):
        os.kill(os.getpid(), 9)
    if any(b"talk nonsense" in blob for blob in blobs):
        text = b'{"sizes": [%d]}' % 10**21
        return len(text).to_bytes(messages.LENGTH, "big") + text
    return pack(header, blobs)

messages.pack = packed
"""


@pytest.fixture
def trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages on which a process that judges them ends, or never ends."""
    (tmp_path / "trap").mkdir()
    (tmp_path / "trap" / "sitecustomize.py").write_text(_TRAP)
    path = [str(tmp_path / "trap"), str(Path(dehusk.__file__).parents[1])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path))
    monkeypatch.setenv("TRAP", str(tmp_path / "sprung"))


def _bad(word: str, after: int) -> Page:
    return Page(f"<p>{word}</p>", f"{PAGES[after].url}?bad={after}", PAGES[after].site)


def _expected(pages: list[Page], lost: set[str | None]) -> list[str | None]:
    """The texts of one job that is not given the pages that were lost."""
    sites = Session()
    return [None if page.url in lost else sites.add(page).text for page in pages]


def _texts(answers: list[Rendered | Refusal]) -> list[str | None]:
    return [a.to_json()["text"] if isinstance(a, Rendered) else None for a in answers]


def test_a_page_on_which_a_process_ends_is_tried_again_and_then_refused(trap: None) -> None:
    pages = PAGES[:30]
    pages[9:9] = [_bad("die once", 9)]
    pages[20:20] = [_bad("die always", 20), _bad("die always", 21)]
    with Jobs(jobs=2) as jobs:
        answers = list(jobs.clean(pages))
    assert [answer.url for answer in answers] == [page.url for page in pages]
    refused = [answer for answer in answers if isinstance(answer, Refusal)]
    assert [refusal.url for refusal in refused] == [pages[20].url, pages[21].url]
    assert all(isinstance(refusal.error, ProcessLost) for refusal in refused)
    assert all(refusal.to_json()["error"]["code"] == "process_lost" for refusal in refused)  # type: ignore[index]
    assert _texts(answers) == _expected(pages, {refusal.url for refusal in refused})


@pytest.mark.parametrize(
    ("word", "after"), [("die sending", 9), ("die sending", 12), ("talk nonsense", 9)]
)
def test_a_page_whose_answer_cannot_be_sent_is_refused_and_no_other(
    word: str, after: int, trap: None
) -> None:
    pages = [*PAGES[:after], _bad(word, after), *PAGES[after:12]]
    with Jobs(jobs=1) as jobs:
        answers = list(jobs.clean(pages))
    refused = [answer for answer in answers if isinstance(answer, Refusal)]
    assert [refusal.url for refusal in refused] == [pages[after].url]
    assert isinstance(refused[0].error, ProcessLost)
    assert _texts(answers) == _expected(pages, {pages[after].url})


def test_closed_standard_input_is_no_hindrance(tmp_path: Path) -> None:
    for number, page in enumerate(PAGES[:4]):
        (tmp_path / f"{number}.html").write_text(str(page.html))
    command = f"{sys.executable} -m dehusk clean --format jsonl --jobs 2 {tmp_path} <&-"
    run = subprocess.run(["sh", "-c", command], capture_output=True, check=False, timeout=100)
    assert run.returncode == 0, run.stderr
    assert len(run.stdout.splitlines()) == 4


def test_processes_are_not_ended_for_answers_that_nobody_took(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ahead_s = 0.0
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + ahead_s)
    monkeypatch.setattr("dehusk.workers.jobs.time", clock)
    monkeypatch.setattr("dehusk.workers.worker.time", clock)
    with Jobs(jobs=1) as jobs:
        answers = jobs.clean(PAGES)
        given = [next(answers) for _ in range(10)]
        pids = jobs.pids
        time.sleep(2)  # Time to answer more, which nobody takes for an hour.
        ahead_s = 3600.0
        given += answers
        assert jobs.pids == pids
    assert _texts(given) == _expected(PAGES, set())


def test_a_page_that_cannot_be_learned_is_refused_when_it_is_asked_about(
    trap: None, tmp_path: Path
) -> None:
    pages = [*PAGES[:12], _bad("die always", 0), *PAGES[12:18]]
    crawl = tmp_path / "crawl.jsonl"
    crawl.write_text("".join(json.dumps({"url": p.url, "html": p.html}) + "\n" for p in pages))
    command = [sys.executable, "-m", "dehusk", "clean", str(crawl), "--two-pass", "--jobs", "2"]
    command += ["--format", "jsonl"]
    run = subprocess.run(command, capture_output=True, check=False, timeout=100)
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    assert run.returncode == 1
    assert [line["url"] for line in lines if line["error"]] == [pages[12].url]
    sites = Session()
    good = [page for page in pages if page is not pages[12]]
    for page in good:
        sites.learn(page)
    assert [line["text"] for line in lines if not line["error"]] == [
        sites.ask(page).text for page in good
    ]


def test_a_page_on_which_a_process_hangs_is_given_up_in_time(trap: None) -> None:
    pages = [*PAGES[:6], _bad("never end", 0), *PAGES[6:9]]
    # Time for the first page of a process on a slow machine too. One page at a time: then it is
    # known at once which one hangs, and that is waited for twice only.
    sites = Session(limits=Limits(timeout_s=0.2))
    settings = JobSettings(patience_s=2.0, max_ahead_pages=1)
    with Jobs(sites, jobs=2, settings=settings) as jobs:
        answers = list(jobs.clean(pages))
    refused = [answer for answer in answers if isinstance(answer, Refusal)]
    assert [type(refusal.error) for refusal in refused] == [PageTimeout]
    assert _texts(answers) == _expected(pages, {pages[6].url})


def _killing(
    jobs: Jobs, answers: Iterator[Rendered | Refusal], dice: random.Random
) -> Iterator[Rendered | Refusal]:
    """The answers; now and then one of the processes is killed in the middle of its work."""
    wait = 3
    for answer in answers:
        yield answer
        wait -= 1
        if wait == 0:
            with suppress(ProcessLookupError):  # One that died before may not be missed yet.
                os.kill(dice.choice(jobs.pids), signal.SIGKILL)
            wait = dice.randint(10, 25)


@pytest.mark.parametrize("has_memory", [False, True])
def test_processes_killed_at_random_lose_no_page_and_count_none_twice(
    has_memory: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Three that chance kills before they have begun would end the run.
    monkeypatch.setattr("dehusk.workers.worker._MAX_STARTS", 100)
    memory = dehusk.open(tmp_path / "a.husk") if has_memory else None
    with Jobs(memory, jobs=2) as jobs:
        given = list(_killing(jobs, jobs.clean(PAGES), random.Random(has_memory)))
    assert [answer.url for answer in given] == [page.url for page in PAGES]
    # A page that was met twice by chance is refused; all others are as if it had not been.
    lost = {answer.url for answer in given if isinstance(answer, Refusal)}
    assert _texts(given) == _expected(PAGES, lost)
    if memory is not None:
        memory.close()
        with dehusk.open(tmp_path / "b.husk") as other:
            list(other.clean(page for page in PAGES if page.url not in lost))
        assert contents(tmp_path / "a.husk") == contents(tmp_path / "b.husk")


def test_reading_waits_for_a_process_that_stands_still() -> None:
    read = 0

    def counted() -> Iterator[Page]:
        nonlocal read
        for page in PAGES:
            read += 1
            yield page

    with Jobs(jobs=2, settings=JobSettings(max_ahead_pages=10)) as jobs:
        answers = jobs.clean(counted())
        given = [next(answers)]
        stopped = jobs.pids[0]
        os.kill(stopped, signal.SIGSTOP)
        timer = threading.Timer(1.0, os.kill, (stopped, signal.SIGCONT))
        timer.start()
        while timer.is_alive():
            given.append(next(answers))
            assert read <= len(given) + 11
        given += answers
    assert _texts(given) == _expected(PAGES, set())


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except FileNotFoundError:
        return False


def _below(pid: int) -> list[int]:
    """The processes that one has started."""
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(each) for each in found]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_the_processes_end_with_the_run_and_what_was_written_is_whole(
    end: signal.Signals, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    command = [sys.executable, "-m", "dehusk", "clean", "-", "--jobs", "2", "-o", str(out)]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=_take_interrupts,  # noqa: PLW1509 - no thread runs here
    ) as run:
        _feed_until_some_is_written(run, out)
        workers = _below(run.pid)
        assert len(workers) == 2
        run.send_signal(end)
        assert run.wait(100) == (130 if end is signal.SIGINT else -end)
        said = run.stderr.read() if run.stderr else b""
    assert b"Traceback" not in said
    assert b"Fatal" not in said
    _wait_until(lambda: not any(map(_alive, workers)))
    assert not any(map(_alive, workers))
    lines = [json.loads(line) for line in out.read_bytes().splitlines()]
    assert [line["url"] for line in lines] == [page.url for page in PAGES[: len(lines)]]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
def test_a_process_that_a_page_holds_up_ends_with_the_run_too(trap: None, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "dehusk", "clean", "-", "--jobs", "2"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as run:
        assert run.stdin is not None
        page = {"url": PAGES[0].url, "html": "<p>never end</p>"}
        run.stdin.write(json.dumps(page).encode() + b"\n")
        run.stdin.flush()
        _wait_until((tmp_path / "sprung").exists)
        workers = _below(run.pid)
        run.kill()
    _wait_until(lambda: not any(map(_alive, workers)))
    assert workers
    assert not any(map(_alive, workers))


def _wait_until(is_so: Callable[[], bool]) -> None:
    """Wait for something to become so, or for 100 seconds."""
    deadline = time.monotonic() + 100
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.02)


def _feed_until_some_is_written(run: subprocess.Popen[bytes], out: Path) -> None:
    """Give a run some pages, and leave it waiting for more."""
    assert run.stdin is not None
    for page in PAGES[:20]:
        run.stdin.write(json.dumps({"url": page.url, "html": page.html}).encode() + b"\n")
    run.stdin.flush()
    _wait_until(
        lambda: run.poll() is not None or (out.exists() and out.read_bytes().count(b"\n") >= 5)
    )
    assert run.poll() is None
    assert out.read_bytes().count(b"\n") >= 5


def _take_interrupts() -> None:
    """Let the process be interrupted, whatever the shell of the tests does."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_processes_that_cannot_begin_end_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text("import os; os._exit(3)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with Jobs(jobs=2) as jobs, pytest.raises(DehuskError, match="before they had begun"):
        list(jobs.clean(PAGES[:3]))
