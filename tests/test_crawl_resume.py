"""A crawl that is cut off at any moment ends as if it had not been."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from dehusk_bench.samples import sample_site
from dehusk_bench.samples.server import serve_site
from dehusk_bench.speed.crawl import arguments_for, crawl_and_kill
from hostile_server import home, serve

pytestmark = pytest.mark.slow


def command(site: str, output: str, *more: str) -> list[str]:
    """The command line of a crawl in haste."""
    haste = ["--allow-private", "127.0.0.1", "--delay", "0", "--pages", "1000"]
    return [sys.executable, "-m", "dehusk", "crawl", site, "-o", output, "-q", *haste, *more]


def output_of(path: Path) -> dict[str, bytes]:
    """All files that a crawl has written, but for its state."""
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    kept = [file for file in files if not file.name.startswith("dehusk.crawl")]
    return {str(file.relative_to(path)): file.read_bytes() for file in kept}


@pytest.mark.parametrize(
    ("output", "kills", "more"),
    [
        ("out.jsonl", 8, []),
        ("site/", 4, ["--concurrency", "3", "--format", "text"]),
        ("out.jsonl", 4, ["--memory", "crawl.husk"]),
    ],
)
def test_a_crawl_killed_many_times_writes_what_one_without_a_kill_does(
    output: str, kills: int, more: list[str], tmp_path: Path
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    with serve_site(sample_site("town", pages=60, seed=4)) as site:
        dice = random.Random(1)
        for folder, times in (("a", 0), ("b", kills)):
            site.requests.clear()
            place = f"{tmp_path}/{folder}/"
            named = [place + option if option == "crawl.husk" else option for option in more]
            done = crawl_and_kill(site, arguments_for(site, place + output, *named), times, dice)
        asked = Counter(path for path, _ in site.requests)
    assert done >= kills / 2
    expected = output_of(tmp_path / "a" / output.rstrip("/"))
    assert output_of(tmp_path / "b" / output.rstrip("/")) == expected
    # A page is asked for again only if it was on its way when the process was killed.
    pages = {path: count for path, count in asked.items() if path in site.pages}
    assert set(pages) == set(site.pages)
    assert sum(pages.values()) <= len(pages) + done * 3


def test_ctrl_c_leaves_a_crawl_that_can_be_gone_on_with(tmp_path: Path) -> None:
    output = str(tmp_path / "out.jsonl")
    with serve_site(sample_site("docs", pages=60, seed=5)) as site:
        # What a shell starts in the background ignores SIGINT, and so would all that it starts.
        interruptible = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
        with subprocess.Popen(
            command(site.url, output),
            stderr=subprocess.PIPE,
            preexec_fn=interruptible,  # noqa: PLW1509
        ) as process:
            while len(site.requests) < 12:
                time.sleep(0.005)
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=300) == 130
        lines = Path(output).read_text("utf-8").splitlines()
        assert all(json.loads(line)["url"] for line in lines)
        refused = subprocess.run(command(site.url, output), check=False, capture_output=True)
        assert refused.returncode == 2
        assert b"--resume goes on with it, --fresh starts over" in refused.stderr
        subprocess.run(command(site.url, output, "--resume"), check=False)
        urls = [json.loads(line)["url"] for line in Path(output).read_text("utf-8").splitlines()]
        assert len(urls) == len(set(urls))
        assert {url.removeprefix(site.url) for url in urls} >= set(site.pages)


def test_the_summary_says_how_to_go_on_and_what_was_left_out(tmp_path: Path) -> None:
    output = str(tmp_path / "site") + "/"
    with serve({"*": home("/a", "/b", "/c", "/x.pdf", "http://other.example/")}) as server:
        line = [*command(server.url, output), "--pages", "2"]
        line.remove("-q")
        run = subprocess.run(line, check=False, capture_output=True, text=True)
        assert run.returncode == 0
        assert "2 pages of 1 site in " in run.stderr
        assert "1  left out: not HTML" in run.stderr
        assert "1  left out: on another site" in run.stderr
        state = tmp_path / "site" / "dehusk.crawl"
        assert f"2 URLs wait in {state}" in run.stderr
        assert "the same command with --resume and more --pages" in run.stderr
        assert "\r" not in run.stderr


def test_a_log_for_programs_is_json_from_end_to_end(tmp_path: Path) -> None:
    with serve({"/": home("/a", "/b"), "/a": home()}) as server:
        line = [*command(server.url, str(tmp_path / "out.jsonl")), "--log-format", "json"]
        line.remove("-q")
        run = subprocess.run(line, check=False, capture_output=True, text=True)
        failed, summary = map(json.loads, run.stderr.splitlines())
        assert failed == {
            "event": "failed",
            "url": f"{server.url}/b",
            "code": "status",
            "message": f"{server.url}/b: status 404 Not Found",
        }
        assert summary["event"] == "summary"
        assert summary["pages"] == 2
        assert summary["failed"] == {"status": 1}


def test_private_addresses_need_to_be_allowed_on_the_command_line(tmp_path: Path) -> None:
    with serve({"/": home()}) as server:
        line = command(server.url, str(tmp_path / "out.jsonl"))
        line.remove("--allow-private")
        line.remove("127.0.0.1")
        run = subprocess.run(line, check=False, capture_output=True, text=True)
        assert run.returncode == 1
        assert "not public (loopback)" in run.stderr
        assert server.requests == []


def test_a_file_is_nothing_to_crawl(tmp_path: Path) -> None:
    line = command("http://a.example/", str(tmp_path / "o.jsonl"))
    line.insert(4, str(tmp_path))
    run = subprocess.run(line, check=False, capture_output=True, text=True)
    assert run.returncode == 2
    assert "not a web address; `dehusk clean` reads files" in run.stderr
