"""Sites that several processes work on at the same time give what one gives, to the byte."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import dehusk
from dehusk.answer.result import Refusal
from dehusk.doors.cli import main
from dehusk.errors import PageError, UsageError
from dehusk.memory.session import Session
from dehusk.output import Rendered
from dehusk.page.page import Page
from dehusk.settings import JobSettings, Limits
from dehusk.workers.jobs import Act, Jobs, Learned
from dehusk_bench.samples import sample_site
from husk_files import contents

pytestmark = pytest.mark.slow

PAGES = [sample.page for sample in sample_site("docs", pages=40, seed=7)]
OTHERS = [sample.page for sample in sample_site("news", pages=6, seed=7)]
SMALL = JobSettings(max_ahead_pages=30)


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> str:
    """One large site, a small one, a page that comes again, and pages that are none."""
    pages = [*PAGES, *OTHERS, PAGES[3], Page("%PDF\0\0", f"{PAGES[0].url}/pdf", PAGES[0].site)]
    path = tmp_path_factory.mktemp("split") / "crawl.jsonl"
    lines = [json.dumps({"url": page.url, "html": page.html}) for page in pages]
    path.write_text("\n".join([*lines[:20], "{", *lines[20:]]))
    return str(path)


@pytest.mark.parametrize(
    "more",
    [
        [],
        ["--max-nodes", "300", "--unique"],
        ["--method", "segments", "--memory", "MEMORY"],
        ["--memory", "MEMORY", "--durable", "page", "--relearn"],
    ],
)
def test_a_site_that_is_split_gives_the_bytes_of_one_job(
    more: list[str], crawl: str, tmp_path: Path
) -> None:
    written, learned = [], []
    for name, options in {"one": [], "split": ["--jobs", "2", "--split-sites"]}.items():
        out, memory = tmp_path / f"{name}.jsonl", tmp_path / f"{name}.husk"
        given = [each.replace("MEMORY", str(memory)) for each in more]
        assert main(["clean", crawl, "-q", "--two-pass", "-o", str(out), *given, *options]) == 1
        written.append(out.read_bytes())
        learned.append(contents(memory) if memory.exists() else [])
    assert written[0] == written[1]
    assert learned[0] == learned[1]


def _asked(jobs: Jobs, pages: list[Page]) -> Iterator[Rendered | Refusal]:
    for done in jobs.run(pages, lambda _: Act.ASK):
        assert not isinstance(done.outcome, Learned)
        yield done.outcome


def _texts(answers: list[Rendered | Refusal]) -> list[object]:
    return [answer.to_json()["text"] for answer in answers]


def _expected(pages: list[Page]) -> list[object]:
    sites = Session()
    for page in pages:
        sites.learn(page)
    return [sites.ask(page).text for page in pages]


def _kill(jobs: Jobs) -> None:
    """End a process; one that was ended before and is not missed yet cannot be ended again."""
    with suppress(ProcessLookupError):
        os.kill(jobs.pids[-1], signal.SIGKILL)


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_processes_that_share_a_site_may_be_killed() -> None:
    # More than a process is behind by before another one is given pages of its site.
    pages = [Page(f"{page.html!s}<!--{' ' * 60_000}-->", page.url) for page in PAGES]
    with Jobs(jobs=2, splits_sites=True) as jobs:
        learned = []
        for outcome in jobs.learn(pages):
            learned.append(outcome)
            if len(learned) in (3, 25):
                _kill(jobs)
        assert learned == [Learned(is_new=True)] * len(pages)
        assert len(jobs.pids) == 2
        answers = []
        for answer in _asked(jobs, pages):
            answers.append(answer)
            if len(answers) in (3, 25):
                _kill(jobs)
    assert _texts(answers) == _expected(pages)


def test_what_is_learned_between_two_askings_counts() -> None:
    with Jobs(jobs=2, splits_sites=True, settings=SMALL) as jobs:
        assert len(list(jobs.learn(PAGES[:20]))) == 20
        assert _texts(list(_asked(jobs, PAGES[:20]))) == _expected(PAGES[:20])
        assert len(list(jobs.learn(PAGES[20:]))) == 20
        assert _texts(list(_asked(jobs, PAGES))) == _expected(PAGES)


def test_a_site_that_is_split_refuses_and_forgets_as_by_one_job(tmp_path: Path) -> None:
    limits, keeping = Limits(max_bytes=50_000), dehusk.Keeping(max_site_bytes=10_000)
    large = Page("x" * 50_001, f"{PAGES[0].url}/large")
    items = [PAGES[0], PAGES[0], large, *PAGES]
    with dehusk.open(tmp_path / "one.husk", limits=limits, keeping=keeping) as memory:
        expected: list[object] = []
        for page in items:
            try:
                expected.append(Learned(memory.learn(page)))
            except PageError as error:
                expected.append(str(error))
    with (
        dehusk.open(tmp_path / "split.husk", limits=limits, keeping=keeping) as memory,
        Jobs(memory, splits_sites=True) as jobs,
    ):
        outcomes = list(jobs.learn(items))
    assert [str(o.error) if isinstance(o, Refusal) else o for o in outcomes] == expected
    assert expected[:2] == [Learned(is_new=True), Learned(is_new=False)]
    assert isinstance(expected[2], str)
    assert contents(tmp_path / "one.husk") == contents(tmp_path / "split.husk")


def test_sites_are_split_only_where_that_can_be(
    crawl: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for given in (["--two-pass"], ["--jobs", "2"]):
        assert main(["clean", crawl, "--split-sites", *given]) == 2
        assert "--split-sites" in capsys.readouterr().err
    both = ["--two-pass", "--jobs", "2"]
    assert main(["clean", crawl, "--split-sites", *both, "--method", "rtdm"]) == 2
    assert "do not add up" in capsys.readouterr().err
    with Jobs(jobs=2, splits_sites=True) as jobs, pytest.raises(UsageError, match="two passes"):
        list(jobs.clean(PAGES[:2]))
