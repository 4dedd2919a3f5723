"""The command line as its users meet it: real processes, real files, exit status and output."""

from __future__ import annotations

import gzip
import json
import lzma
import os
import pty
import re
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

import dehusk.page.parse
from dehusk import pipeline
from dehusk.doors.cli import main

pytestmark = pytest.mark.slow


def _page(number: int) -> str:
    return (
        f"<title>Harvest {number}</title>"
        "<nav><a href=/>Home</a> <a href=/news>All the news</a></nav>"
        f"<main><h1>Harvest {number}</h1><p>There were {number} sacks of rye.</p></main>"
        "<footer>All rights reserved</footer>"
    )


def _records(count: int) -> str:
    return "".join(
        json.dumps({"url": f"https://grain.example/{n}", "html": _page(n)}) + "\n"
        for n in range(count)
    )


def _run(*arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "dehusk", *arguments]
    return subprocess.run(command, input=given, capture_output=True, check=False, timeout=300)


def _lines(output: bytes) -> list[dict[str, object]]:
    return [json.loads(line) for line in output.decode().splitlines()]


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    path = tmp_path / "crawl.jsonl"
    path.write_text(_records(7), encoding="utf-8")
    return path


def test_json_lines_come_out_in_the_order_they_went_in(crawl: Path) -> None:
    run = _run("clean", str(crawl), "--format", "jsonl")
    assert run.returncode == 0
    lines = _lines(run.stdout)
    assert [line["url"] for line in lines] == [f"https://grain.example/{n}" for n in range(7)]
    assert lines[0]["text"] != lines[6]["text"] == "Harvest 6\nThere were 6 sacks of rye."
    assert [line["pages_seen"] for line in lines] == list(range(1, 8))


def test_the_same_input_gives_the_same_bytes(crawl: Path) -> None:
    assert _run("clean", str(crawl)).stdout == _run("clean", str(crawl)).stdout


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".xz", lzma.compress)])
def test_packed_files_are_read_as_they_are(crawl: Path, suffix: str, pack: object) -> None:
    assert callable(pack)
    packed = crawl.with_name(crawl.name + suffix)
    packed.write_bytes(pack(crawl.read_bytes()))
    assert _run("clean", str(packed)).stdout == _run("clean", str(crawl)).stdout


def test_standard_input_is_read_as_json_lines_or_as_one_page() -> None:
    assert (
        len(_lines(_run("clean", "-", "--format", "jsonl", given=_records(3).encode()).stdout)) == 3
    )
    run = _run("clean", "-", "--format", "text", given=b"<p>caf\xe9</p>")
    assert run.stdout.decode() == "café\n"


def test_a_folder_becomes_a_folder_of_markdown(tmp_path: Path) -> None:
    pages = tmp_path / "pages"
    pages.mkdir()
    for number in range(6):
        (pages / f"{number}.html").write_text(_page(number), encoding="utf-8")
    run = _run("clean", str(pages), "-o", f"{tmp_path}/out/")
    assert run.returncode == 0
    assert run.stdout == b""
    written = sorted((tmp_path / "out").rglob("*.md"))
    assert len(written) == 6
    text = written[5].read_text(encoding="utf-8")
    assert text.startswith("---\n")
    assert text.endswith("---\n\n# Harvest 5\n\nThere were 5 sacks of rye.\n")


def test_text_pages_are_separated_by_a_form_feed(crawl: Path) -> None:
    pages = _run("clean", str(crawl), "--format", "text").stdout.decode().split("\f")
    assert len(pages) == 7
    assert pages[6] == "Harvest 6\nThere were 6 sacks of rye.\n"


def test_html_marks_template_and_content(crawl: Path) -> None:
    html = _run("clean", str(crawl), "--format", "html").stdout.decode()
    assert '<nav data-dehusk="template">' in html
    assert '<h1 data-dehusk="content">Harvest 6</h1>' in html


def test_a_summary_ends_the_run_unless_it_is_quiet(crawl: Path) -> None:
    summary = _run("clean", str(crawl)).stderr.decode()
    assert summary.startswith("7 pages of 1 site in ")
    assert "tokens saved" in summary
    assert "\r" not in summary
    assert _run("clean", str(crawl), "--quiet").stderr == b""


def _on_terminal(*arguments: str, is_shown: bool) -> str:
    """What a terminal is sent; the pages too, if they are shown on it."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "dehusk", *arguments]
    stdout = theirs if is_shown else subprocess.DEVNULL
    with subprocess.Popen(command, stdout=stdout, stderr=theirs) as process:
        assert process.wait(timeout=300) == 0
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    return shown


def test_a_terminal_sees_progress(crawl: Path) -> None:
    shown = _on_terminal("clean", str(crawl), is_shown=False)
    assert "pages ·" in shown
    assert "7 pages of 1 site" in shown


@pytest.mark.parametrize("more", [[], ["-o", "-", "--format", "text"]])
def test_no_line_of_progress_stays_between_pages_on_a_terminal(
    crawl: Path, more: list[str]
) -> None:
    shown = _on_terminal("clean", str(crawl), *more, is_shown=True)
    assert "pages ·" not in shown
    assert "\x1b" not in shown
    assert "There were 6 sacks of rye." in shown
    assert "7 pages of 1 site" in shown


BAD = {
    "binary": {"url": "https://grain.example/b", "html": "\0\1\2\3" * 99},
    "no html": {"url": "https://grain.example/n"},
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
def test_a_page_that_fails_is_named_and_the_run_goes_on(
    tmp_path: Path, bad: dict[str, str]
) -> None:
    path = tmp_path / "crawl.jsonl"
    path.write_text(_records(1) + json.dumps(bad) + "\n" + _records(2), encoding="utf-8")
    run = _run("clean", str(path), "--format", "jsonl")
    assert run.returncode == 1
    lines = _lines(run.stdout)
    assert [line["error"] is None for line in lines] == [True, False, True, True]
    assert lines[1]["url"] == bad["url"]
    assert lines[1]["text"] is None
    assert bad["url"] in run.stderr.decode()
    assert "1 failed" in run.stderr.decode()


def test_a_failed_page_gives_nothing_in_other_formats(tmp_path: Path) -> None:
    path = tmp_path / "crawl.jsonl"
    path.write_text(json.dumps(BAD["binary"]) + "\n" + _records(1), encoding="utf-8")
    run = _run("clean", str(path), "--format", "text")
    assert run.returncode == 1
    assert run.stdout.decode().count("Harvest 0") == 1
    assert "\f" not in run.stdout.decode()


def test_a_damaged_file_gives_what_can_be_read(crawl: Path) -> None:
    packed = crawl.with_name("cut.jsonl.gz")
    packed.write_bytes(gzip.compress(_records(2000).encode())[:-4000])
    run = _run("clean", str(packed), "--format", "jsonl")
    assert run.returncode == 1
    lines = _lines(run.stdout)
    assert len(lines) > 100
    assert lines[-1]["error"] is not None
    assert all(line["error"] is None for line in lines[:-1])


@pytest.mark.parametrize(
    ("option", "value", "code"),
    [("--max-bytes", "100", "too_large"), ("--max-nodes", "5", "too_many_nodes")],
)
def test_limits_refuse_pages(crawl: Path, option: str, value: str, code: str) -> None:
    run = _run("clean", str(crawl), option, value, "--format", "jsonl")
    assert run.returncode == 1
    errors = [line["error"] for line in _lines(run.stdout)]
    assert all(isinstance(error, dict) and error["code"] == code for error in errors)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["clean", "no-such-file.html"], "no-such-file.html"),
        (["clean", "-", "--method", "nonesuch"], "nonesuch"),
        (["clean", "-", "--set", "wobble=1"], "wobble"),
        (["clean", "-", "--set", "max_places=many"], "not a whole number"),
        (["clean", "-", "--set", "min_count"], "NAME=VALUE"),
        (["clean", "-", "--set", "ages=perhaps"], "neither true nor false"),
        (["clean", "-", "-o", "no/such/folder/file.jsonl"], "no/such/folder"),
        (["clean", "https://grain.example/", "--user-agent", "/1"], "user_agent"),
        (["template", "-", "--against", "https://grain.example/"], "must be saved first"),
        (["methods", "nonesuch"], "nonesuch"),
        (["clean"], "SOURCE"),
        (["clean", "-", "--timeout", "0"], "0"),
        ([], "COMMAND"),
    ],
)
def test_wrong_use_is_status_2_and_says_why(arguments: list[str], message: str) -> None:
    run = _run(*arguments)
    assert run.returncode == 2
    assert message in run.stderr.decode()
    assert "Traceback" not in run.stderr.decode()
    assert run.stdout == b""


def test_a_setting_changes_the_answer(crawl: Path) -> None:
    lines = _lines(
        _run(
            "clean", str(crawl), "--method", "segments", "--set", "min_count=2", "--format", "jsonl"
        ).stdout
    )
    assert lines[1]["text"] == "Harvest 1\nThere were 1 sacks of rye."


def test_the_site_can_be_named(crawl: Path) -> None:
    lines = _lines(_run("clean", str(crawl), "--site", "grain", "--format", "jsonl").stdout)
    assert {line["site"] for line in lines} == {"grain"}


def test_a_reader_that_has_seen_enough_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "crawl.jsonl"
    path.write_text(_records(3000), encoding="utf-8")
    command = [sys.executable, "-m", "dehusk", "clean", str(path), "-q"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=300) == 0


def test_an_interrupted_run_leaves_whole_lines(tmp_path: Path) -> None:
    path, output = tmp_path / "crawl.jsonl", tmp_path / "out.jsonl"
    path.write_text(_records(20_000), encoding="utf-8")
    command = [sys.executable, "-m", "dehusk", "clean", str(path), "-o", str(output)]
    # What a shell starts in the background ignores SIGINT, and so would all that it starts.
    interruptible = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        preexec_fn=interruptible,  # noqa: PLW1509
    ) as process:
        while not (output.exists() and output.stat().st_size > 10_000):
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=300) == 130
        assert process.stderr is not None
        assert b"Traceback" not in process.stderr.read()
    lines = _lines(output.read_bytes())
    assert 0 < len(lines) < 20_000
    assert output.read_bytes().endswith(b"\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_said_in_one_line(crawl: Path) -> None:
    run = _run("clean", str(crawl), "-q", "-o", "/dev/full")
    assert run.returncode == 1
    assert "No space left" in run.stderr.decode()
    assert "Traceback" not in run.stderr.decode()


def test_a_fault_on_one_page_does_not_end_the_run(
    crawl: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    parse = dehusk.page.parse.parse
    calls = iter(range(100))

    def failing(page: object, limits: object) -> object:
        if next(calls) == 2:
            raise ZeroDivisionError("odd")
        return parse(page, limits)  # type: ignore[arg-type]

    monkeypatch.setattr(pipeline, "parse", failing)
    assert main(["clean", str(crawl), "--format", "jsonl"]) == 1
    output, errors = capfdbinary.readouterr()
    lines = _lines(output)
    assert len(lines) == 7
    assert lines[2]["error"] == {"code": "fault", "message": "ZeroDivisionError: odd"}
    assert b"ZeroDivisionError: odd" in errors


def test_methods_are_listed_with_their_settings() -> None:
    assert "auto (default)" in _run("methods").stdout.decode()
    shown = _run("methods", "segments").stdout.decode()
    assert "min_count=5\n        Pages from which a segment is template" in shown


def test_the_demo_shows_what_happened_and_where(tmp_path: Path) -> None:
    run = _run("demo", "--pages", "8", "-o", str(tmp_path / "demo"))
    assert run.returncode == 0, run.stderr.decode()
    table = run.stdout.decode()
    for heading in ("pages", "words in", "words out", "template", "tokens saved"):
        assert heading in table
    assert len(list((tmp_path / "demo" / "clean").rglob("*.md"))) == 8 * 7


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["clean", "--help"]])
def test_help_answers_without_loading_numpy_or_the_parser(arguments: list[str]) -> None:
    code = (
        "import sys; from dehusk.doors.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "print([name for name in ('numpy', 'turbohtml') if name in sys.modules])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, check=True, timeout=300
    )
    assert run.stdout.decode().splitlines()[-1] == "[]"


def test_one_page_loads_nothing_that_only_other_runs_need(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<h1>Rye</h1><p>Rye grows where wheat does not, and asks for little.</p>")
    spared = (
        "dehusk.memory.store", "dehusk.sources.warc", "dehusk.output.warc", "dehusk.workers.jobs",
        "hashlib", "logging", "sqlite3", "tempfile", "turbohtml", "zipfile",
    )  # fmt: skip
    code = (
        "import sys; from dehusk.doors.cli import main; status = main(sys.argv[1:]);"
        f"sys.exit(status or str([name for name in {spared} if name in sys.modules]))"
    )
    command = [sys.executable, "-c", code, "clean", "-q", "--format", "markdown", str(page)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "Rye grows" in run.stdout
    assert run.stderr == "[]\n"


def test_the_version_names_kernel_and_model(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["--version"])
    assert not exit_.value.code
    said = capsys.readouterr().out
    assert said.split()[:2] == ["dehusk", dehusk.__version__]
    assert re.search(r"\(kernel \S+ [0-9a-f]{8}, model \d+ [0-9a-f]{8}\)$", said.strip())


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_markdown_is_written_as_the_options_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], jobs: str
) -> None:
    page = tmp_path / "page.html"
    page.write_text("<p>Some words and <a href=/x>a link</a>.</p><img src=y alt=z>", "utf-8")
    options = ["--format", "markdown", "--links", "text", "--images", "alt", "--jobs", jobs]
    assert main(["clean", str(page), *options, "--method", "segments", "-q"]) == 0
    assert capsys.readouterr().out.endswith("\nSome words and a link.\n\nz\n")
