"""Answers come out whole, in the format asked for, under names that every system takes.

Over 400 lines because formats, files and file names are tested with the same stand-in for an
answer; the headings part it.
"""

from __future__ import annotations

import errno
import gzip
import io
import json
import math
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dehusk.errors import DehuskError, NotHtml, NotWritten, UsageError
from dehusk.output import Format, open_writer
from dehusk.output.formats import json_line
from dehusk.output.names import FileNames, is_page_name
from dehusk.page.page import Capture
from dehusk.sources.folders import is_html_name

STREAMED = [form for form in Format if form is not Format.PARQUET]
DEVICES = {"con", "prn", "aux", "nul", "com1", "lpt9"}


@dataclass(frozen=True)
class StandIn:
    """An answer as the writers need one."""

    url: str | None = "https://example.org/a"
    site: str | None = "example.org"
    text: str | None = "Flour is ground on Tuesdays."
    markdown: str | None = "# Mill\n\nFlour is ground on Tuesdays."
    html: str | None = "<!doctype html><p>Flour"
    error: DehuskError | None = None
    capture: Capture | None = None
    more: dict[str, object] = field(default_factory=dict)

    def to_json(
        self, piece_tokens: int | None = None, *, has_structured: bool = False
    ) -> dict[str, object]:
        del has_structured
        error = self.error and {"code": "not_html", "message": str(self.error)}
        start = {"url": self.url, "site": self.site, "text": self.text}
        fields = {**start, "markdown": self.markdown, **self.more, "error": error}
        if piece_tokens is None:
            return fields
        unknown = dict.fromkeys(("title", "lang", "author", "published"))
        return unknown | fields | {"pieces": [{"text": self.text}]}


FAILED = StandIn(text=None, markdown=None, html=None, error=NotHtml("https://example.org/a", "no"))


def written(
    answers: Iterable[StandIn], form: Format = Format.JSONL, *, is_bare: bool = False
) -> str:
    stream = io.BytesIO()
    with open_writer(None, form, stream, is_bare=is_bare) as writer:
        for answer in answers:
            writer.write(answer)
    return stream.getvalue().decode("utf-8")


def write_to(target: str, answers: Iterable[StandIn], form: Format | None = None) -> None:
    with open_writer(target, form, io.BytesIO()) as writer:
        for answer in answers:
            writer.write(answer)


def files_in(folder: Path) -> list[str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return sorted(path.relative_to(folder).as_posix() for path in files)


# Formats


def test_markdown_is_written_wherever_no_name_says_otherwise(tmp_path: Path) -> None:
    for target, expected in (
        (None, Format.MARKDOWN),
        ("-", Format.MARKDOWN),
        (str(tmp_path / "a.out"), Format.MARKDOWN),
        (str(tmp_path), Format.MARKDOWN),
        (f"{tmp_path}/new/", Format.MARKDOWN),
    ):
        with open_writer(target, None, io.BytesIO()) as writer:
            assert writer.shape.format is expected


def test_json_lines_keep_the_order_of_fields_and_pages() -> None:
    answers = [StandIn(url=f"https://example.org/{n}", more={"z": n, "b": None}) for n in (1, 2)]
    lines = written(answers).splitlines()
    assert [json.loads(line) for line in lines] == [answer.to_json() for answer in answers]
    assert list(json.loads(lines[0])) == list(answers[0].to_json())


@given(text=st.text())
def test_a_json_line_is_one_line_of_utf_8_whatever_the_page_says(text: str) -> None:
    line = written([StandIn(text=text)])
    assert line.endswith("\n")
    assert len(line.splitlines()) == 1
    assert json.loads(line)["text"] == text


_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.sampled_from('ab"\\/\n\t\b\x1f\x7f\x85\xa0é\u2027\u2028\u2029€𝄞'), max_size=90),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.text(max_size=9), _VALUES, max_size=5))
def test_any_fields_are_one_line_of_json(fields: dict[str, object]) -> None:
    line = json_line(fields).decode()
    assert line.splitlines() == [line[:-1]]
    assert json.loads(line) == fields


def test_a_json_line_is_what_the_standard_library_writes() -> None:
    fields = {
        "a": None,
        "b": [1, -0.5, 0.125, True],
        "c": {"d": 'ü"\\/\n\t\b\x01\x7f€𝄞', "e": []},
        "f": {},
    }
    assert json_line(fields).decode() == json.dumps(fields, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_number_that_is_not_finite_is_null(value: float) -> None:
    assert json_line({"a": value}) == b'{"a": null}\n'


class _Name(str):
    """A text of a class of its own."""


def test_texts_and_numbers_of_other_classes_are_written_as_they_are() -> None:
    assert json_line({"a": _Name("ü"), "b": np.str_("x"), "c": np.float64(0.5)}).decode() == (
        '{"a": "ü", "b": "x", "c": 0.5}\n'
    )


def test_what_is_not_json_is_refused() -> None:
    with pytest.raises(TypeError):
        json_line({"a": object()})


def test_half_a_surrogate_pair_is_replaced_and_a_whole_one_joined() -> None:
    for form in STREAMED:
        broken = "a\ud800b \ud83d\ude00"
        output = written([StandIn(text=broken, markdown=broken, html=broken)], form)
        assert "a\ufffdb \U0001f600" in output


def test_letters_are_written_as_they_are() -> None:
    assert "Mühle 磨坊" in written([StandIn(text="Mühle 磨坊")])


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("a.md", Format.MARKDOWN),
        ("a.MD", Format.MARKDOWN),
        ("a.markdown", Format.MARKDOWN),
        ("a.txt", Format.TEXT),
        ("a.html", Format.HTML),
        ("a.htm", Format.HTML),
        ("a.json", Format.JSONL),
        ("a.jsonl", Format.JSONL),
        ("a.ndjson", Format.JSONL),
        ("a.out", Format.MARKDOWN),
        ("jsonl", Format.MARKDOWN),
    ],
)
def test_without_a_format_the_end_of_a_file_name_chooses_it(
    tmp_path: Path, name: str, form: Format
) -> None:
    write_to(str(tmp_path / name), [StandIn(), FAILED])
    write_to(str(tmp_path / "asked"), [StandIn(), FAILED], form)
    assert (tmp_path / name).read_bytes() == (tmp_path / "asked").read_bytes()
    write_to(str(tmp_path / f"{name}.gz"), [StandIn(), FAILED])
    unpacked = gzip.decompress((tmp_path / f"{name}.gz").read_bytes())
    assert unpacked == (tmp_path / name).read_bytes()


@pytest.mark.parametrize("name", ["a.jsonl.zst", "a.xz", "A.ZIP"])
def test_a_way_to_pack_that_is_not_written_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"only \.gz is written"):
        write_to(str(tmp_path / name), [StandIn()])
    assert not list(tmp_path.iterdir())


def test_a_format_that_is_asked_for_wins_over_the_end_of_the_name(tmp_path: Path) -> None:
    write_to(str(tmp_path / "a.md"), [StandIn()], Format.TEXT)
    assert (tmp_path / "a.md").read_text("utf-8") == "Flour is ground on Tuesdays.\n"
    write_to(str(tmp_path / "a.jsonl"), [StandIn()], Format.PIECES)
    assert '"piece":' in (tmp_path / "a.jsonl").read_text("utf-8")


def test_a_failed_page_is_a_json_line_and_nothing_in_other_formats(tmp_path: Path) -> None:
    assert json.loads(written([FAILED]))["error"]["code"] == "not_html"
    for form in (Format.MARKDOWN, Format.TEXT, Format.HTML):
        assert written([FAILED], form) == ""
    write_to(str(tmp_path), [FAILED], Format.MARKDOWN)
    assert files_in(tmp_path) == []
    write_to(str(tmp_path), [FAILED], Format.JSONL)
    assert files_in(tmp_path) == ["example.org/a.json"]


def test_text_pages_are_separated_by_form_feeds_and_hold_none() -> None:
    answers = [StandIn(text="one\fpage\n\n"), FAILED, StandIn(text=""), StandIn(text="three")]
    assert written(answers, Format.TEXT) == "one page\n\f\n\fthree\n"


def test_html_pages_are_written_as_they_are() -> None:
    assert written([StandIn(html="<p>x")], Format.HTML) == "<p>x\n"


def test_markdown_carries_what_is_known_of_the_page() -> None:
    more: dict[str, object] = {
        "title": 'The "Old" Mill: 50%',
        "lang": None,
        "template_share": 0.41,
        "pages_seen": 17,
        "family": 3,
        "fingerprint": "00ff00ff00ff00ff",
    }
    assert written([StandIn(more=more)], Format.MARKDOWN) == (
        "---\n"
        'url: "https://example.org/a"\n'
        'site: "example.org"\n'
        'title: "The \\"Old\\" Mill: 50%"\n'
        "template_share: 0.41\n"
        "pages_seen: 17\n"
        'fingerprint: "00ff00ff00ff00ff"\n'
        "---\n"
        "\n"
        "# Mill\n\nFlour is ground on Tuesdays.\n"
    )


@given(title=st.text(st.characters(exclude_categories=["Cs"])))
def test_no_title_breaks_out_of_the_front_matter(title: str) -> None:
    output = written([StandIn(more={"title": title})], Format.MARKDOWN)
    head = output.split("---\n", 2)[1]
    lines = head.splitlines()
    assert [line.split(":")[0] for line in lines] == ["url", "site", "title"]
    assert json.loads(lines[2].removeprefix("title: ")) == title
    assert re.fullmatch("[\n\x20-\x7e\xa0-\ufffd\U00010000-\U0010ffff]*", head)


def test_markdown_pages_can_be_split_again_whatever_they_say() -> None:
    code = "```\na: 1\n---\nurl: x\n---\n\f\n---\n```"
    pages = [StandIn(markdown=code), StandIn(), StandIn(markdown=None), StandIn(markdown="\f")]
    for is_bare in (False, True):
        alone = [written([page], Format.MARKDOWN, is_bare=is_bare) for page in pages]
        together = written(pages, Format.MARKDOWN, is_bare=is_bare)
        assert together.split("\f\n") == alone
        assert all(page.startswith("---\n") is not is_bare for page in alone)


def test_markdown_without_front_matter_is_what_the_page_says() -> None:
    assert written([StandIn()], Format.MARKDOWN, is_bare=True) == (
        "# Mill\n\nFlour is ground on Tuesdays.\n"
    )


def test_a_page_cannot_give_a_terminal_orders() -> None:
    order = "a\x1b]0;owned\x07b\x9b2Jc\rd\te"
    for form in set(STREAMED) - {Format.WARC}:
        answer = StandIn(text=order, markdown=order, html=order)
        shown = written([answer, answer], form)
        assert re.findall("[\x00-\x08\x0b\x0d-\x1f\x7f-\x9f]", shown) == []
        assert "a\ufffd]0;owned\ufffdb\ufffd2Jc\ufffdd\te" in shown or form.row.has_pieces


# Streams and files


class ClosedPipe(io.BytesIO):
    """A pipe whose reader has gone."""

    def flush(self) -> None:
        raise BrokenPipeError


def test_a_closed_pipe_is_told_to_the_caller() -> None:
    writer = open_writer(None, None, ClosedPipe())
    with pytest.raises(BrokenPipeError), writer:
        writer.write(StandIn())


def test_standard_output_stays_open_and_has_each_page_at_once() -> None:
    reader, end = os.pipe()
    with os.fdopen(reader, "rb") as read, os.fdopen(end, "wb") as stdout:
        with open_writer(None, Format.TEXT, stdout) as writer:
            writer.write(StandIn(text="one"))
            assert os.read(read.fileno(), 100) == b"one\n"
        assert not stdout.closed


def test_a_file_is_written_anew_and_holds_each_page_at_once(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text("old" * 1000)
    with open_writer(str(path), Format.TEXT, io.BytesIO()) as writer:
        writer.write(StandIn(text="one"))
        assert path.read_text() == "one\n"
        writer.write(StandIn(text="two"))
    assert path.read_text() == "one\n\ftwo\n"


@pytest.mark.skipif(os.name != "posix", reason="limits of file sizes are POSIX's")
def test_a_page_that_does_not_fit_on_the_disk_is_taken_back_whole(tmp_path: Path) -> None:
    import resource  # noqa: PLC0415  not there on every system
    import signal  # noqa: PLC0415

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    path = tmp_path / "out.jsonl"
    try:
        with open_writer(str(path), None, io.BytesIO()) as writer:
            writer.write(StandIn(text="fits"))
            resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 10, before[1]))
            with pytest.raises(OSError, match="File too large"):
                writer.write(StandIn(text="does not fit"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert [json.loads(line)["text"] for line in path.read_text().splitlines()] == ["fits"]


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="no such device here")
def test_a_device_can_be_written_to() -> None:
    write_to("/dev/null", [StandIn()])


@pytest.mark.parametrize("target", ["", "no/such/folder/here/../out.jsonl", "a\0b", "x" * 5000])
def test_a_target_that_cannot_be_written_is_refused_at_once(tmp_path: Path, target: str) -> None:
    with pytest.raises(UsageError):
        open_writer(target and str(tmp_path / target), None, io.BytesIO())


def test_a_folder_cannot_be_made_where_a_file_is(tmp_path: Path) -> None:
    (tmp_path / "taken").touch()
    with pytest.raises(UsageError, match="taken"):
        open_writer(f"{tmp_path}/taken/", None, io.BytesIO())


def test_a_source_is_never_written_over(tmp_path: Path) -> None:
    source = tmp_path / "crawl.jsonl"
    source.write_text("{}")
    (tmp_path / "pages").mkdir()
    for target, form, read in (
        (str(source), None, str(source)),
        (str(tmp_path / "pages" / ".." / "crawl.jsonl"), None, str(source)),
        (str(tmp_path), Format.HTML, str(tmp_path / "pages")),
        (str(tmp_path / "pages"), Format.HTML, str(tmp_path / "pages")),
        (f"{tmp_path}/pages/out/", Format.HTML, str(tmp_path / "pages")),
    ):
        with pytest.raises(UsageError, match="cannot write"):
            open_writer(target, form, io.BytesIO(), sources=["-", read])
    assert source.read_text() == "{}"


def snapshot(folder: Path) -> dict[str, str]:
    return {name: (folder / name).read_text() for name in files_in(folder)}


def make_site(folder: Path) -> Path:
    for name in ("1.html", "sub/2.htm.gz", "notes.txt", "index.json"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"what stood in {name}")
    return folder


@pytest.mark.parametrize(
    "inside",
    [
        "1.html",
        "out.html",
        "sub/2.htm.gz",
        "sub/out.XHTML",
        "sub/../out.html.gz",
        "index.json",
        "INDEX.json",
        "sub/../index.json",
    ],
)
def test_a_file_that_a_source_folder_reads_is_never_a_target(tmp_path: Path, inside: str) -> None:
    site = make_site(tmp_path / "site")
    before = snapshot(tmp_path)
    for form in (None, Format.TEXT):
        with pytest.raises(UsageError, match="would be read as a part of"):
            open_writer(f"{site}/{inside}", form, io.BytesIO(), sources=["-", str(site)])
    assert snapshot(tmp_path) == before


@pytest.mark.skipif(os.name != "posix", reason="links as POSIX has them")
def test_no_link_hides_that_a_target_is_read(tmp_path: Path) -> None:
    site = make_site(tmp_path / "site")
    (tmp_path / "out.txt").symlink_to(site / "1.html")
    (tmp_path / "other").symlink_to(site)
    (tmp_path / "circle.txt").symlink_to(tmp_path / "circle.txt")
    before = snapshot(tmp_path)
    for target, source in (
        ("out.txt", "site"),
        ("other/1.html", "site"),
        ("site/1.html", "other"),
        ("circle.txt", "site"),
    ):
        with pytest.raises(UsageError):
            open_writer(
                str(tmp_path / target),
                Format.TEXT,
                io.BytesIO(),
                sources=[str(tmp_path / source)],
            )
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("target", ["site/out.txt", "site/out.jsonl", "out.html", "site2/a.html"])
def test_a_file_that_no_source_reads_may_stand_beside_or_in_it(tmp_path: Path, target: str) -> None:
    site = make_site(tmp_path / "site")
    (tmp_path / "site2").mkdir()
    with open_writer(str(tmp_path / target), None, io.BytesIO(), sources=[str(site)]) as writer:
        writer.write(StandIn())
    assert (tmp_path / target).stat().st_size


@given(
    parts=st.lists(
        st.sampled_from(["a", ".", ".html", ".HTM", ".xhtml", ".xhtm", ".gz", ".xz", ".zst", "\n"]),
        max_size=5,
    )
)
def test_output_knows_the_names_that_sources_read(parts: list[str]) -> None:
    assert is_page_name("".join(parts)) == is_html_name("".join(parts))


def test_html_may_go_to_the_folder_of_json_lines_and_not_to_that_of_pages(tmp_path: Path) -> None:
    for name in ("crawl.jsonl", "crawl.json.gz", "crawl", "page.html"):
        (tmp_path / name).write_text("{}")
    for source in ("crawl.jsonl", "crawl.json.gz", "crawl"):
        sources = ["-", str(tmp_path / source)]
        open_writer(str(tmp_path), Format.HTML, io.BytesIO(), sources=sources)
    sources = [str(tmp_path / "page.html")]
    with pytest.raises(UsageError, match="could be overwritten"):
        open_writer(str(tmp_path), Format.HTML, io.BytesIO(), sources=sources)


def test_a_refused_folder_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="could be overwritten"):
        open_writer(
            f"{tmp_path}/new/deep/",
            Format.HTML,
            io.BytesIO(),
            sources=[str(tmp_path)],
        )
    assert list(tmp_path.iterdir()) == []


def test_json_does_not_go_where_it_could_replace_the_index_of_a_source(tmp_path: Path) -> None:
    site = make_site(tmp_path / "example.org")
    sources = [str(site)]
    with pytest.raises(UsageError, match=r"index\.json"):
        open_writer(str(tmp_path), Format.JSONL, io.BytesIO(), sources=sources)
    for target in (str(site), f"{tmp_path}/out/"):
        open_writer(target, Format.JSONL, io.BytesIO(), sources=sources)


def test_a_folder_beside_the_source_and_other_formats_inside_it_are_fine(tmp_path: Path) -> None:
    pages = tmp_path / "pages"
    pages.mkdir()
    for target, form in ((f"{tmp_path}/out/", Format.HTML), (str(pages), Format.MARKDOWN)):
        sources = ["-", str(pages)]
        open_writer(target, form, io.BytesIO(), sources=sources)


# Folders


def test_a_folder_gets_a_file_for_each_page_named_after_its_url(tmp_path: Path) -> None:
    target = f"{tmp_path}/deep/out/"
    urls = ["https://example.org/", "https://example.org/docs/a.html", "file:b/c.htm"]
    write_to(target, [StandIn(url=url) for url in urls], Format.TEXT)
    folder = tmp_path / "deep" / "out" / "example.org"
    assert files_in(folder) == ["b/c.txt", "docs/a.txt", "index.txt"]
    assert (folder / "index.txt").read_text() == "Flour is ground on Tuesdays.\n"


@pytest.mark.parametrize(
    ("form", "suffix"),
    [
        (Format.JSONL, "json"),
        (Format.MARKDOWN, "md"),
        (Format.TEXT, "txt"),
        (Format.HTML, "html"),
        (Format.PIECES, "jsonl"),
    ],
)
def test_the_suffix_tells_the_format(tmp_path: Path, form: Format, suffix: str) -> None:
    write_to(str(tmp_path), [StandIn()], form)
    assert files_in(tmp_path) == [f"example.org/a.{suffix}"]


def test_a_second_run_writes_the_same_names_again(tmp_path: Path) -> None:
    answers = [StandIn(), StandIn(url="https://example.org/A"), StandIn(), StandIn(url=None)]
    write_to(str(tmp_path), answers)
    first = files_in(tmp_path)
    write_to(str(tmp_path), answers)
    assert files_in(tmp_path) == first
    assert len(first) == 4


def test_a_file_that_cannot_be_finished_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Path, target: Path) -> None:
        raise OSError(errno.ENOSPC, "disk full")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_to(str(tmp_path), [StandIn()])
    assert files_in(tmp_path / "example.org") == []


@pytest.mark.parametrize("taken", ["example.org/a.md/own", "example.org/docs"])
def test_what_stands_in_the_way_of_a_file_costs_one_page(tmp_path: Path, taken: str) -> None:
    (tmp_path / taken).parent.mkdir(parents=True)
    (tmp_path / taken).touch()
    url = "https://example.org/a" if "a.md" in taken else "https://example.org/docs/a"
    with open_writer(str(tmp_path), None, io.BytesIO()) as writer:
        with pytest.raises(NotWritten, match="cannot write"):
            writer.write(StandIn(url=url))
        writer.write(StandIn(url="https://example.org/b"))
    assert files_in(tmp_path) == sorted([taken, "example.org/b.md"])


@pytest.mark.skipif(os.name != "posix", reason="the longest path is asked for as POSIX has it")
def test_a_path_too_long_for_the_file_system_costs_one_page(tmp_path: Path) -> None:
    target, longest = str(tmp_path), os.pathconf(tmp_path, "PC_PATH_MAX")
    while len(target) < longest - 100:
        target += "/" + "d" * min(200, longest - 80 - len(target))
    Path(target).mkdir(parents=True)
    with open_writer(target, None, io.BytesIO()) as writer:
        with pytest.raises(NotWritten, match="too long"):
            writer.write(StandIn(url=f"https://example.org/{'x' * 120}"))
        writer.write(StandIn())
    assert files_in(Path(target)) == ["example.org/a.md"]


def test_a_name_that_the_file_system_cannot_spell_costs_one_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    move = Path.replace

    def spell(self: Path, target: Path) -> Path:
        target.name.encode("ascii")
        return move(self, target)

    monkeypatch.setattr(Path, "replace", spell)
    with open_writer(str(tmp_path), None, io.BytesIO()) as writer:
        with pytest.raises(NotWritten, match="no file of that name is possible here"):
            writer.write(StandIn(url="https://example.org/m%C3%BChle"))
        writer.write(StandIn())
    assert files_in(tmp_path) == ["example.org/a.md"]


def test_files_are_as_readable_as_others_that_the_user_makes(tmp_path: Path) -> None:
    write_to(str(tmp_path), [StandIn()])
    (tmp_path / "other").touch()
    made = (tmp_path / "example.org" / "a.md").stat().st_mode
    assert made == (tmp_path / "other").stat().st_mode


def test_a_page_without_url_is_named_by_its_place_among_all_pages(tmp_path: Path) -> None:
    write_to(str(tmp_path), [FAILED, StandIn(url=None), StandIn(url=None, site=None)])
    assert files_in(tmp_path) == ["example.org/page-00002.md", "no-site/page-00003.md"]


# File names


def name(url: str | None, site: str | None = "example.org") -> str:
    return str(FileNames(".md").next_name(url, site, 1))


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://example.org", "index.md"),
        ("https://example.org/a/b/", "a/b/index.md"),
        ("https://example.org/a/b", "a/b.md"),
        ("https://example.org/a/b.HTML", "a/b.md"),
        ("https://example.org/a/.html", "a/index.md"),
        ("https://example.org/a/b.php", "a/b.php.md"),
        ("https://example.org/show?id=17&page=2#top", "show_id=17_page=2.md"),
        ("https://example.org/?q=a%2Fb%3F", "index_q=a_b_.md"),
        ("https://example.org/m%C3%BChle/%E7%A3%A8", "mühle/磨.md"),
        ("https://example.org/a%20b+c", "a b+c.md"),
        ("https://example.org//a///b", "a/b.md"),
        ("file:docs/b.html.gz", "docs/b.md"),
        ("https://example.org/../../etc/passwd", "_/_/etc/passwd.md"),
        ("https://example.org/%2e%2e/%2e%2e%2fetc", "_/_._etc.md"),
        ("https://example.org/..%5C..%5Cetc", "_._.._etc.md"),
        ("https://example.org/.git/config", "_git/config.md"),
        ("https://example.org/con/AUX.html", "_con/_AUX.md"),
        ("https://example.org/nul.tar.gz", "_nul.tar.gz.md"),
        ("https://example.org/com1%20.x", "_com1 .x.md"),
        ("https://example.org/a./b%20", "a/b.md"),
        ("https://example.org/a%00b%0a%E2%80%AEc", "a_b__c.md"),
        ("https://example.org/a.md/b", "a.md_/b.md"),
        ("http://[broken", "http_/[broken.md"),
    ],
)
def test_a_file_is_named_after_its_url(url: str, expected: str) -> None:
    assert name(url) == f"example.org/{expected}"


@pytest.mark.parametrize(
    ("site", "expected"),
    [
        ("example.org/docs", "example.org/docs/a.md"),
        ("localhost:8000", "localhost_8000/a.md"),
        ("../..", "_/_/a.md"),
        ("/etc", "_/etc/a.md"),
        ("C:\\x", "C__x/a.md"),
        ("", "no-site/a.md"),
    ],
)
def test_a_site_has_a_folder_of_its_own(site: str, expected: str) -> None:
    assert name("https://example.org/a", site) == expected


def test_different_pages_whose_names_would_be_the_same_are_told_apart() -> None:
    names = FileNames(".md")
    urls = [
        "/a",
        "/a.html",
        "/A",
        "/a#x",
        "//a",
        "/a%2E",
        "/\u00c5",
        "/A\u030a",
        "/STRASSE",
        "/straße",
    ]
    made = [str(names.next_name(f"https://example.org{url}", "example.org", 1)) for url in urls]
    assert len({one.casefold() for one in made}) == len(urls)
    assert made[0] == "example.org/a.md"
    assert re.fullmatch(r"example\.org/a-[0-9a-f]{8}\.md", made[1])


def test_the_same_url_again_is_numbered() -> None:
    names = FileNames(".md")
    made = [str(names.next_name("https://example.org/a", "s", n)) for n in range(3)]
    assert made == ["s/a.md", "s/a-2.md", "s/a-3.md"]


def test_a_numbered_name_that_a_page_has_taken_is_not_used_again() -> None:
    names = FileNames(".md")
    urls = ["/a-2", "/a", "/a", "/a-2"]
    made = [str(names.next_name(f"https://example.org{url}", "s", 1)) for url in urls]
    assert len(set(made)) == 4


def test_a_site_that_builds_urls_against_the_rule_still_loses_no_page() -> None:
    rule = FileNames(".md")
    rule.next_name("https://example.org/a", "s", 1)
    marked = rule.next_name("https://example.org/a.html", "s", 2)
    names = FileNames(".md")
    urls = ["/a", f"/{marked.stem}", "/a.html"]
    made = {str(names.next_name(f"https://example.org{url}", "s", 1)) for url in urls}
    assert len(made) == 3


@pytest.mark.parametrize(
    "path",
    ["x" * 3000, "é" * 300 + "/" + "ü" * 300, "a/" * 3000, "b/" + "?" + "q=1&" * 900, "/" * 9999],
)
def test_a_long_url_keeps_its_beginning_and_gets_a_hash(path: str) -> None:
    one, other = name(f"https://example.org/{path}"), name(f"https://example.org/{path}x")
    assert one != other
    assert one[:13] == other[:13]
    assert len(one.encode()) < 170
    assert re.search(r"-[0-9a-f]{8}\.md\Z", one)


def test_a_long_site_is_cut_and_told_apart() -> None:
    one, other = name("file:a", "s" * 300), name("file:a", "s" * 301)
    assert one != other
    assert len(one) < 80


def check_safe(path: PurePosixPath) -> None:
    assert not path.is_absolute()
    assert len(str(path).encode("utf-8")) < 260
    for part in path.parts:
        assert part not in {"", ".", ".."}
        assert not part.startswith(".")
        assert not part.endswith((".", " "))
        assert not re.search(r'[<>:"/\\|?*\x00-\x1f\x7f]', part)
        assert part.split(".")[0].rstrip().lower() not in DEVICES
        assert len(part.encode("utf-8")) <= 200
    assert all(not part.lower().endswith(".md") for part in path.parts[:-1])
    assert path.name.endswith(".md")


SEPARATORS = ["/", "\\", "%2F", "%5c", "?", "#", "&", ":", "~"]
DOTS_AND_NAMES = ["..", ".", "%2e", "con", "NUL", "com1", ".md", ".html", "a", "A", "é", "x" * 90]
NO_LETTERS = [" ", "%00", "%ff", "\ud800", "\u202e"]
hostile = st.one_of(
    st.text(),
    st.lists(
        st.sampled_from(SEPARATORS + DOTS_AND_NAMES + NO_LETTERS),
        max_size=14,
    ).map("".join),
)


@pytest.mark.slow
@settings(max_examples=300)
@given(
    pages=st.lists(
        st.tuples(
            st.one_of(st.none(), hostile, hostile.map("https://example.org/".__add__)),
            st.one_of(st.none(), hostile, st.just("example.org")),
        ),
        max_size=12,
    )
)
def test_every_page_gets_a_safe_name_of_its_own(
    pages: list[tuple[str | None, str | None]],
) -> None:
    names = FileNames(".md")
    made = [names.next_name(url, site, place) for place, (url, site) in enumerate(pages)]
    for path in made:
        check_safe(path)
    assert len({str(path).casefold() for path in made}) == len(pages)
    again = FileNames(".md")
    assert made == [again.next_name(url, site, n) for n, (url, site) in enumerate(pages)]


@settings(max_examples=30, deadline=None)
@given(urls=st.lists(hostile, max_size=6))
def test_no_url_makes_a_file_outside_its_folder(
    urls: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    base = tmp_path_factory.mktemp("run")
    write_to(f"{base}/out/", [StandIn(url=url, site=url) for url in urls])
    outside = [
        path for path in base.rglob("*") if path.is_file() and base / "out" not in path.parents
    ]
    assert outside == []
    assert sum(path.is_file() for path in (base / "out").rglob("*")) == len(urls)


def test_every_format_is_documented_in_a_row_of_its_own() -> None:
    docs = (Path(__file__).parents[1] / "docs" / "outputs.md").read_text(encoding="utf-8")
    assert [name for name in Format if f"\n| `{name}` | " not in docs] == []
