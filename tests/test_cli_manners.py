"""Wrong use of the command line: status 2, one line that says what, nothing written."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dehusk
from dehusk.doors.cli import COMMANDS, main, make_parser
from dehusk.output.writers import GrowingFile


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["clean"], "dehusk: the following arguments are required: SOURCE; see `dehusk clean -"),
        (["clean", "x", "--nonesuch"], "unknown option --nonesuch; see `dehusk clean -"),
        (["template", "x", "--concurrency", "2"], "--concurrency; see `dehusk template --help`"),
        (["methods", "auto", "x"], "unexpected argument 'x'; see `dehusk methods --help`"),
        (["bench", "speed", "--nonesuch"], "--nonesuch; see `dehusk bench speed -"),
        (["bench", "speed", "--rounds", "0"], "whole number above 0; see `dehusk bench speed -"),
    ],
)
def test_a_wrong_option_is_named_in_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    assert exit_.value.code == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


def test_the_help_of_clean_begins_with_what_most_need(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main(["clean", "--help"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["usage: dehusk clean [options] SOURCE [SOURCE ...]", ""]
    screen = "\n".join(lines[:40])
    assert all(option in screen for option in ("SOURCE ", "-o", "--format", "--memory FILE"))
    assert "examples:" in lines[-10:]
    assert len(lines) <= 50


_LONG = ["clean", "crawl", "template", "explain", "review", "report", "learn", "view", "serve"]


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS), ["spark", "clean"]])
def test_help_fits_a_screen_and_all_of_it_is_one_option_away(
    command: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    said = []
    for option in ("--help", "--help-all"):
        with pytest.raises(SystemExit) as exit_:
            main([*command, option])
        assert exit_.value.code == 0
        said.append(capsys.readouterr().out)
    short, whole = said
    assert short.count("\n") <= 50
    if command[-1:] in ([name] for name in _LONG):
        assert "--help-all shows" in short
        assert "--max-bytes" in whole
        assert "--max-bytes" not in short
    else:
        assert short == whole


@pytest.mark.parametrize("command", [[], ["spark"], ["bench"]])
def test_without_a_command_there_is_help_and_status_2(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(command)
    assert exit_.value.code == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("usage: dehusk ")
    assert " clean " in said.err or " quality " in said.err


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        ("claen page.html", "no command is called 'claen'; did you mean clean?"),
        ("sites shwo a.example", "no command is called 'shwo'; did you mean show?"),
        ("bench qualty", "no command is called 'qualty'; did you mean quality?"),
        ("--verison", "unknown option --verison; did you mean --version?"),
        ("clean --memroy a.husk", "unknown option --memroy; did you mean --memory?"),
        ("clean a.html --fromat=text", "unknown option --fromat; did you mean --format?"),
        ("clean a.html --format markdwon", "parquet; did you mean markdown?"),
        ("sites --memory a.husk --jsno", "unknown option --jsno; did you mean --json?"),
        ("https://a.example/", "did you mean `dehusk clean https://a.example/`?"),
        ("clean a.html --url-fiel a", "unknown option --url-fiel; did you mean --url-field?"),
        ("clean a.html --form text", "unknown option --form; did you mean --format?"),
        ("bench speed --round 1", "unknown option --round; did you mean --rounds?"),
        ("sites --memory a.husk show a.example --jso", "--jso; did you mean --json?"),
    ],
)
def test_a_slip_of_the_fingers_is_answered_with_what_was_meant(
    arguments: str, meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(arguments.split())
    assert exit_.value.code == 2
    said = capsys.readouterr().err
    assert f"{meant} See `dehusk" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("clean https://a.example/ --pages 5", "--pages: `dehusk clean` takes the pages that you"),
        ("clean a.html --state=x", "name; `dehusk crawl URL` takes a whole site"),
        ("crawl https://a.example/ --two-pass", "--two-pass: not while a site is crawled; save"),
        ("crawl https://a.example/ --url https://b.example/", "and `dehusk clean FILE`"),
    ],
)
def test_an_option_of_the_other_command_is_refused_by_its_name(
    arguments: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(arguments.split())
    assert exit_.value.code == 2
    found = capsys.readouterr().err
    assert said in found
    assert found.count("\n") == 1


_EXAMPLES = [line for command in COMMANDS.values() for line in command.examples]


@pytest.mark.parametrize("line", _EXAMPLES)
def test_an_example_in_help_is_a_command_that_there_is(line: str) -> None:
    words = re.split("[#>]", line)[0].split()
    assert words[0] == "dehusk"
    make_parser().parse_args(words[1:])
    assert len(line) <= 88


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a page and a memory."""
    (tmp_path / "page.html").write_text("<p>Forty sacks of rye", encoding="utf-8")
    with dehusk.open(tmp_path / "grain.husk", method="segments") as memory:
        memory.add(dehusk.Page("<p>Rye", "https://grain.example/"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The line that wrong use is answered with; nothing else may have happened."""
    before = {path: path.read_bytes() for path in Path().iterdir() if path.is_file()}
    assert main(arguments) == 2
    after = {path: path.read_bytes() for path in Path().iterdir() if path.is_file()}
    assert after == before
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    return said.err


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("clean page.html -o grain.husk", "cannot write to grain.husk: it is a memory"),
        ("clean page.html -o ./grain.husk --memory grain.husk", "-o and --memory are the same"),
        ("clean page.html -o new.husk --memory new.husk", "-o and --memory are the same file"),
        ("clean page.html -o grain.husk --memory new.husk", "cannot write to grain.husk"),
        ("clean page.html -o page.html", "-o and SOURCE are the same file"),
        ("clean page.html --memory page.html", "--memory and SOURCE are the same file"),
        ("crawl http://a.example -o o.jsonl --state o.jsonl", "-o and --state are the same file"),
        ("crawl http://a.example --memory s --state s", "--memory and --state are the same file"),
        ("learn grain.husk --memory grain.husk", "--memory and SOURCE are the same file"),
        ("template page.html -o grain.husk", "cannot write to grain.husk: it is a memory"),
        ("sites export --memory grain.husk -o grain.husk", "-o and --memory are the same file"),
        ("train page page.html -o grain.husk", "cannot write to grain.husk: it is a memory"),
    ],
)
def test_what_is_read_or_kept_is_never_written_over(
    arguments: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in _refused(arguments.split(), capsys)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("clean page.html --retries 5 --delay 0", "--delay, --retries: only for web addresses"),
        ("clean page.html --allow-private ::1", "--allow-private: only for web addresses"),
        ("clean http://a.example --resume -o new/", "`dehusk crawl` can be resumed"),
        ("clean http://a.example --two-pass", "save it first (--save FILE)"),
        ("clean page.html --format text --no-front-matter", "--no-front-matter is about Markdown"),
        ("clean page.html -o new.jsonl --front-matter", "--front-matter is about Markdown"),
        ("clean page.html -o new/ --llms-txt --no-front-matter", "Markdown with front matter"),
        ("clean page.html page.html --url http://a.example/", "the address of one page"),
        ("clean . --url http://a.example/", "the address of one page"),
        ("clean http://b.example/ --url http://a.example/", "the address of one page"),
        ("clean http://b.example/ --method hyperlink --url http://a.example/", "--url: not with"),
        ("clean page.html --url a.example/x", "did you mean https://a.example/x ?"),
        ("explain http://b.example/ --url http://a.example/", "http://b.example/ is none"),
        ("crawl page.html", "page.html: not a web address; `dehusk clean` reads files"),
        ("crawl a.example", "did you mean https://a.example ?"),
        ("crawl http://a.example --method hyperlink", "`dehusk clean URL --method hyperlink`"),
        ("clean http://a.example --user-agent=", "must begin with a name"),
        ("clean page.html --relearn", "--relearn needs --memory"),
        ("clean page.html --durable page", "--durable needs --memory"),
        ("clean page.html --format jsonl -o a.parquet", "cannot write jsonl to a.parquet"),
        ("clean page.html --format text -o a.warc.gz", "its name stands for warc"),
        ("clean page.html --method auto --set model=none.json", "none.json"),
    ],
)
def test_no_option_is_passed_over_in_silence(
    arguments: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in _refused(arguments.split(), capsys)


@pytest.mark.usefixtures("folder")
def test_a_revision_that_is_yet_to_come_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["clean", "page.html", "--memory", "grain.husk", "--revise", "99"]) == 2
    assert "has reached that revision; the highest is 1" in capsys.readouterr().err
    assert main(["clean", "page.html", "--memory", "grain.husk", "--revise", "1"]) == 0


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("sites --memory page.html", "page.html: not a memory of dehusk"),
        ("sites forget nope none --memory grain.husk", "knows no site 'nope', 'none'"),
        ("sites forget nope --memory none.husk", "none.husk: no such memory"),
        ("sites vacuum --memory none.husk", "none.husk: no such memory"),
        ("review page.html --memory none.husk", "; `dehusk learn SOURCE --memory FILE` makes one"),
        ("sites show grain.exmple --memory grain.husk", "; did you mean grain.example?"),
        ("sites rules gain.example --drop p --memory grain.husk", "; did you mean grain.example?"),
        ("sites show barley --memory grain.husk", "; `dehusk sites --memory FILE` lists those"),
        ("clean page.html --memory none/a.husk", "there is no folder none; make it first"),
        ("serve --token-file none.txt", "none.txt: No such file or directory"),
        ("sites --json check --memory grain.husk", "--json: check has no JSON"),
        ("clean page.html --method hyprlink", "words-leaves; did you mean hyperlink?"),
        ("clean page.html --set agse=false", "; did you mean ages?"),
        ("methods atuo", "; did you mean auto?"),
        ("sites import page.html --memory new.husk", "not an export of memories"),
        ("train auto page.html -o model.json", "page.html: not a corpus"),
        ("demo -o page.html/below", "cannot write to page.html/below"),
        ("clean ftp://a.example/", "of addresses only http:// and https:// are read"),
        ("clean a.example", "did you mean https://a.example ?"),
        ("clean www.a.example:80/x", "did you mean https://www.a.example:80/x ?"),
        ("clean localhost:8080", "did you mean http://localhost:8080 ?"),
        ("clean [::1]:80/x", "did you mean http://[::1]:80/x ?"),
        ("clean page.html --method hyperlink --set a=1", "sure_score, model, max_loads\n"),
        ("template 127.0.0.1:80/x --delay 1", "did you mean http://127.0.0.1:80/x ?"),
        ("template https://a.example/x --against page.html", "the URL of a page in --against\n"),
    ],
)
def test_wrong_use_says_what_could_be_meant(
    arguments: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in _refused(arguments.split(), capsys)


@pytest.mark.usefixtures("folder")
def test_a_memory_of_another_method_is_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["clean", "page.html", "--memory", "grain.husk", "--method", "chunks"]) == 2
    assert "a memory of the method segments, not chunks" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["missing.html", "missing.jsonl.gz", "missing.warc", "x.husk"])
def test_a_missing_file_is_not_taken_for_a_host(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["clean", name]) == 2
    assert "did you mean" not in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["sites", "grain.husk"], "`dehusk sites --memory grain.husk`"),
        (["page.html"], "`dehusk clean page.html`"),
    ],
)
def test_a_file_in_the_place_of_a_command_gets_a_hint(
    arguments: list[str], meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(arguments)
    assert f"did you mean {meant}" in capsys.readouterr().err


def test_the_parser_reads_the_command_line_where_nothing_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "argv", ["dehusk", "methods"])
    assert make_parser().parse_args().command == "methods"


@pytest.mark.usefixtures("folder")
def test_a_damaged_site_is_named_once(capsys: pytest.CaptureFixture[str]) -> None:
    with closing(sqlite3.connect("grain.husk", isolation_level=None)) as file:
        file.execute("update log set body = zeroblob(length(body))")
    lines = [json.dumps({"url": f"https://grain.example/{n}", "html": "<p>a"}) for n in range(5)]
    Path("crawl.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert main(["clean", "crawl.jsonl", "--memory", "grain.husk", "-o", "out.jsonl"]) == 1
    said = capsys.readouterr().err
    assert said.count("is damaged") == 1
    assert "`dehusk sites check --repair --memory grain.husk`" in said
    assert "5  failed: memory_damaged" in said
    assert "visible characters" not in said


def test_an_archive_that_is_none_is_named_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.wacz").write_bytes(b"nothing of the kind")
    assert main(["clean", str(tmp_path / "a.wacz")]) == 1
    assert capsys.readouterr().err.count("a.wacz") == 1


@pytest.mark.slow
@pytest.mark.parametrize("more", [[], ["--two-pass"]])
def test_ctrl_c_while_standard_input_is_read_is_status_130(more: list[str]) -> None:
    # What a shell starts in the background ignores SIGINT, and so would all that it starts.
    interruptible = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(
        [sys.executable, "-m", "dehusk", "clean", "-", *more],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=interruptible,  # noqa: PLW1509
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        # More than a pipe holds: once it is written, the command reads.
        process.stdin.write(b" " * 1_000_000)
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=300) == 130
        assert process.stderr.read() == b"dehusk: interrupted\n"


def test_a_name_in_two_lines_is_no_user_agent(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["clean", "http://a.example", "--user-agent", "me/1\nX-Trick: yes"]) == 2
    assert "user_agent must be plain ASCII, on one line" in capsys.readouterr().err


def test_the_memory_may_stand_before_or_behind_what_is_done(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for order in (["--memory", "grain.husk", "check"], ["check", "--memory", "grain.husk"]):
        assert main(["sites", *order]) == 0
        assert "sites that are good: 1" in capsys.readouterr().out
    assert "name the memory with --memory FILE" in _refused(["sites", "check"], capsys)
    merge = ["merge", "grain.husk", "other.husk", "-o", "new.husk"]
    assert "not by --memory" in _refused(["sites", "--memory", "grain.husk", *merge], capsys)
    assert (folder / "grain.husk").exists()


@pytest.mark.usefixtures("folder")
def test_a_site_is_shown_as_json_wherever_that_is_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show = ["show", "grain.example", "--memory", "grain.husk"]
    for words in (["--json", *show], [*show, "--json"]):
        assert main(["sites", *words]) == 0
        fields = json.loads(capsys.readouterr().out)
        assert (fields["site"], fields["pages"]) == ("grain.example", 1)
        assert {"table", "rows", "bytes", "on_5_pages", "most_pages"} == set(fields["tables"][0])
        assert fields["families_seen"] == []
    assert "not with --against" in _refused(
        ["sites", *show, "--json", "--against", "page.html"], capsys
    )


@pytest.mark.usefixtures("folder")
def test_a_memory_is_not_merged_with_itself(capsys: pytest.CaptureFixture[str]) -> None:
    Path("link.husk").symlink_to("grain.husk")
    for other in ("grain.husk", "link.husk"):
        said = _refused(["sites", "merge", "grain.husk", other, "-o", "new.husk"], capsys)
        assert "the same memory" in said


def test_a_wrong_field_is_answered_once_with_those_that_are_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records, table = tmp_path / "a.jsonl", tmp_path / "a.parquet"
    rows = [{"address": f"https://grain.example/{n}", "body": "<p>Rye"} for n in range(3)]
    records.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    pq.write_table(pa.Table.from_pylist(rows), table)
    for source in (records, table):
        assert main(["clean", str(source), "-o", str(tmp_path / "out.jsonl")]) == 1
        said = capsys.readouterr().err
        hint = "; there are `address`, `body`: --html-field names the one with the page"
        assert said.count(hint) == 1


@pytest.mark.parametrize("name", ["empty.html", "empty", "empty.jsonl"])
def test_an_empty_file_is_nothing_to_clean(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).touch()
    assert main(["clean", str(tmp_path / name)]) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("nothing to clean: ")


@pytest.mark.parametrize("command", ["clean -o out.jsonl", "learn --memory new.husk"])
def test_a_folder_without_a_page_is_wrong_use(
    command: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "none" / "below").mkdir(parents=True)
    (folder / "none" / "below" / "notes.txt").write_text("Rye", "utf-8")
    said = _refused([*command.split(), "page.html", "none"], capsys)
    assert said == "dehusk: none: no page in this folder: no file ends in .html, .htm or .xhtml\n"


def test_a_full_disk_is_said_with_the_name_of_the_file(tmp_path: Path) -> None:
    sink = GrowingFile(tmp_path / "out.jsonl")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
        with pytest.raises(OSError, match=r"out\.jsonl"):
            sink.put(b"x" * 2000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
        sink.close()


def test_a_run_goes_on_when_nobody_reads_its_messages(tmp_path: Path) -> None:
    lines = [json.dumps({"html": "<p>Rye" if n % 2 else None}) for n in range(40)]
    (tmp_path / "a.jsonl").write_text("\n".join(lines), encoding="utf-8")
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "dehusk", "clean", "a.jsonl", "-o", "out.jsonl"]
    done = subprocess.run(command, cwd=tmp_path, stderr=writer, timeout=300, check=False)
    os.close(writer)
    assert done.returncode == 1
    assert len((tmp_path / "out.jsonl").read_text("utf-8").splitlines()) == 40


def test_out_of_memory_is_said_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> None:
        raise MemoryError

    page = tmp_path / "page.html"
    page.write_text("<p>x", encoding="utf-8")
    monkeypatch.setattr("dehusk.doors.cli.learn.learning_progress", refuse)
    assert main(["learn", str(page), "--memory", str(tmp_path / "a.husk")]) == 1
    assert capsys.readouterr().err == "dehusk: out of memory; what was committed is kept\n"


@pytest.mark.parametrize("flag", ["--help", "--help-all"])
def test_help_is_shown_where_only_ascii_is(flag: str) -> None:
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "dehusk", "clean", flag]
    shown = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert (shown.returncode, shown.stderr) == (0, b"")
    assert b"usage: dehusk clean" in shown.stdout


def test_a_port_that_is_none_and_a_delay_that_is_none_are_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for words in (
        ["view", ".", "--port", "99999"],
        ["clean", "https://a.example", "--delay", "-1"],
    ):
        with pytest.raises(SystemExit):
            main(words)
    assert "'99999' is not a port" in (told := capsys.readouterr().err)
    assert "'-1' is not a number of seconds" in told
