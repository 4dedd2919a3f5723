"""Content comes out as WARC, Parquet, packed files, llms.txt and pieces, and always whole."""

from __future__ import annotations

import errno
import gzip
import io
import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dehusk
from dehusk import MarkdownSettings
from dehusk.answer.result import Refusal, Result
from dehusk.doors.cli import main
from dehusk.errors import MissingExtra, NotHtml, NotWritten, SettingError, UsageError
from dehusk.memory.session import Session
from dehusk.output import Format, open_writer, write_llms_txt
from dehusk.page.page import Capture, Page
from dehusk.sources.warc.framing import Record, Window, parse_fields, read_records
from dehusk.sources.warc.pieces import gzip_source, plain_source
from dehusk_bench.samples import KINDS, sample_site

SCHEMA = json.loads(
    (Path(dehusk.__file__).parent / "output" / "result.schema.json").read_text("utf-8")
)
FAILED = Refusal("https://mill.example/x", "mill.example", NotHtml("https://mill.example/x", "no"))
HTML = "<title>Sack {n}</title><h1>Sack {n}</h1><p>Flour no {n} is ground on Tuesdays."


def answers(count: int = 3) -> list[Result]:
    sites = Session()
    pages = [Page(HTML.format(n=n), f"https://mill.example/{n}") for n in range(count)]
    return [sites.add(page) for page in pages]


def write(target: Path | str, *given: Result | Refusal, **options: object) -> None:
    form = options.pop("form", None)
    with open_writer(str(target), form, io.BytesIO(), **options) as writer:  # type: ignore[arg-type]
        for answer in given:
            writer.write(answer)


# WARC


def records(data: bytes) -> list[Record]:
    is_packed = data.startswith(b"\x1f")
    source = (gzip_source if is_packed else plain_source)(io.BytesIO(data).read)
    found = list(read_records(Window(source, is_packed=is_packed), 10**9))
    assert all(isinstance(each, Record) for each in found)
    return [each for each in found if isinstance(each, Record)]


@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz", "b.WARC.GZ"])
def test_warc_holds_a_conversion_of_each_page(tmp_path: Path, name: str) -> None:
    write(tmp_path / name, *answers(), FAILED)
    found = records((tmp_path / name).read_bytes())
    assert [bytes(each.block).decode() for each in found] == [a.text for a in answers()]
    fields = found[1].fields
    assert fields[b"warc-type"] == b"conversion"
    assert fields[b"warc-target-uri"] == b"https://mill.example/1"
    assert fields[b"content-type"] == b"text/plain; charset=utf-8"
    assert len({each.fields[b"warc-record-id"] for each in found}) == 3


def test_a_conversion_refers_to_the_record_it_was_made_from(tmp_path: Path) -> None:
    capture = Capture("<urn:uuid:7>", "2026-01-02T03:04:05Z")
    page = Page(HTML, "https://mill.example/", capture=capture)
    for name in ("a.warc", "b.warc"):
        write(tmp_path / name, Session().add(page))
    (found,) = records((tmp_path / "a.warc").read_bytes())
    assert found.fields[b"warc-refers-to"] == b"<urn:uuid:7>"
    assert found.fields[b"warc-date"] == b"2026-01-02T03:04:05Z"
    assert (tmp_path / "a.warc").read_bytes() == (tmp_path / "b.warc").read_bytes()


def test_the_date_can_be_set_for_pages_without_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    write(tmp_path / "a.warc", *answers(1))
    (found,) = records((tmp_path / "a.warc").read_bytes())
    assert found.fields[b"warc-date"] == b"1970-01-02T00:00:00Z"


@given(url=st.text(), name=st.text(), date=st.text(), text=st.text())
def test_nothing_in_a_page_breaks_out_of_its_record(
    url: str, name: str, date: str, text: str
) -> None:
    page = Page("<p>", f"https://mill.example/{url}", "mill", capture=Capture(name, date))
    result = Session().add(page)
    object.__setattr__(result, "text", text)
    stream = io.BytesIO()
    with open_writer(None, Format.WARC, stream) as writer:
        writer.write(result)
        writer.write(result)
    first, second = records(stream.getvalue())
    assert bytes(first.block) == bytes(second.block)
    assert set(first.fields) <= {*parse_fields(b"\n" + b"\n".join(_FIELDS)), b""}


_FIELDS = [
    b"WARC-Type: x", b"WARC-Record-ID: x", b"WARC-Date: x", b"WARC-Target-URI: x",
    b"WARC-Refers-To: x", b"WARC-Block-Digest: x", b"Content-Type: x", b"Content-Length: x",
]  # fmt: skip


def test_other_readers_read_what_is_written(tmp_path: Path) -> None:
    warcio = pytest.importorskip("warcio.archiveiterator")
    write(tmp_path / "a.warc.gz", *answers())
    with (tmp_path / "a.warc.gz").open("rb") as file:
        found = [
            (each.rec_type, each.content_stream().read().decode())
            for each in warcio.ArchiveIterator(file, check_digests="raise")
        ]
    assert found == [("conversion", answer.text) for answer in answers()]


# Packed files


def test_a_packed_file_without_pages_can_be_unpacked(tmp_path: Path) -> None:
    source, output = tmp_path / "none.jsonl", tmp_path / "out.jsonl.gz"
    source.write_bytes(b"")
    assert main(["clean", str(source), "-o", str(output), "-q"]) == 0
    assert gzip.decompress(output.read_bytes()) == b""
    assert output.stat().st_size > 0


def test_a_name_that_ends_in_gz_is_packed_page_by_page(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    with open_writer(str(path), None, io.BytesIO()) as writer:
        for number, answer in enumerate(answers(), 1):
            writer.write(answer)
            lines = gzip.decompress(path.read_bytes()).splitlines()
            assert [json.loads(line)["url"] for line in lines][-1] == answer.url
            assert len(lines) == number


# Parquet


def rows(path: Path) -> list[dict[str, object]]:
    return [dict(row) for row in pq.read_table(path).to_pylist()]


def test_parquet_holds_the_fields_of_the_json_line(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", *answers(), FAILED, piece_tokens=50)
    expected_rows: list[Result | Refusal] = [*answers(), FAILED]
    for row, answer in zip(rows(tmp_path / "a.parquet"), expected_rows, strict=True):
        assert row.pop("truncated") is None
        assert row.pop("needs_render") is None
        expected = json.loads(json.dumps(answer.to_json(50)))
        assert row == expected


def test_a_parquet_file_is_there_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    with open_writer(str(path), None, io.BytesIO()) as writer:
        writer.write(answers(1)[0])
        assert not path.exists()
    assert len(rows(path)) == 1
    assert [each.name for each in tmp_path.iterdir()] == ["a.parquet"]


def test_parquet_never_takes_the_place_of_what_is_no_file(tmp_path: Path) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for target in (pipe, link):
        with pytest.raises(UsageError, match="not a regular file"):
            open_writer(str(target), Format.PARQUET, io.BytesIO())
    assert pipe.is_fifo()
    assert link.is_symlink()
    assert {path.name for path in tmp_path.iterdir()} == {"pipe", "link"}


@pytest.mark.parametrize("is_there", [True, False])
def test_parquet_is_written_where_a_link_leads(tmp_path: Path, *, is_there: bool) -> None:
    target, link = tmp_path / "there" / "rye.parquet", tmp_path / "link.parquet"
    target.parent.mkdir()
    if is_there:
        target.write_bytes(b"old")
    link.symlink_to(target)
    write(link, *answers(2))
    assert link.is_symlink()
    assert pq.read_table(target).num_rows == 2


def test_a_page_never_takes_the_place_of_a_pipe(tmp_path: Path) -> None:
    answer = answers(1)[0]
    write(f"{tmp_path}/out/", answer, form=Format.TEXT)
    (written,) = (tmp_path / "out").rglob("*.txt")
    written.unlink()
    os.mkfifo(written)
    writer = open_writer(f"{tmp_path}/out/", Format.TEXT, io.BytesIO())
    with writer, pytest.raises(NotWritten, match="not a regular file"):
        writer.write(answer)
    assert written.is_fifo()


def test_an_interrupted_run_leaves_a_whole_parquet_file(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    writer = open_writer(str(path), None, io.BytesIO())
    writer.__enter__()
    writer.write(answers(1)[0])
    writer.__exit__(KeyboardInterrupt, None, None)
    assert len(rows(path)) == 1


def test_a_folder_of_parquet_is_added_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dehusk.output.parquet._ROWS", 2)
    for _ in range(2):
        write(f"{tmp_path}/out/", *answers(3), form=Format.PARQUET)
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == [f"part-0000{number}.parquet" for number in range(4)]
    assert len(rows(tmp_path / "out")) == 6


def test_half_a_surrogate_pair_does_not_stop_parquet(tmp_path: Path) -> None:
    write(
        tmp_path / "a.parquet",
        Session(method="segments").add(Page("<p>a\ud800b", "https://mill.example/\ud800")),
    )
    assert rows(tmp_path / "a.parquet")[0]["text"] == "a\ufffdb"


def test_parquet_is_refused_where_it_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="pipe"):
        open_writer(None, Format.PARQUET, io.BytesIO())
    with pytest.raises(UsageError, match="cannot write"):
        open_writer("/no/such/folder/a.parquet", None, io.BytesIO())
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"dehusk\[parquet\]"):
        open_writer("a.parquet", None, io.BytesIO())


# llms.txt


def test_llms_txt_lists_the_pages_of_each_site(tmp_path: Path) -> None:
    sites = Session()
    urls = ["https://mill.example/", "https://mill.example/docs/rye", "https://b.example/x"]
    pages = [Page(HTML.format(n=number), url) for number, url in enumerate(urls)]
    odd = Page("<title>a [b] \\ c</title><p>x", "file:odd.html", "mill.example")
    write(f"{tmp_path}/", *[sites.add(page) for page in [*pages, odd]])
    (tmp_path / "mill.example" / "notes.md").write_text("no page of ours")
    written = write_llms_txt(tmp_path)
    assert [path.relative_to(tmp_path).as_posix() for path in written] == [
        "b.example/llms.txt",
        "b.example/llms-full.txt",
        "mill.example/llms.txt",
        "mill.example/llms-full.txt",
    ]
    assert (tmp_path / "mill.example" / "llms.txt").read_text() == (
        "# mill.example\n\n> 3 pages of mill.example, without their template.\n\n"
        "## Pages\n\n- [Sack 0](https://mill.example/)\n- [a \\[b\\] \\\\ c](odd.md)\n\n"
        "## docs\n\n- [Sack 1](https://mill.example/docs/rye)\n"
    )
    full = (tmp_path / "mill.example" / "llms-full.txt").read_text()
    assert "# Sack 1\n\nSource: https://mill.example/docs/rye\n\nFlour no 1" in full
    assert write_llms_txt(tmp_path) == written


def test_llms_full_says_a_title_once_however_it_is_marked_up(tmp_path: Path) -> None:
    html = "<title>a*b* c</title><h2><a href=/x>A*b* <b>c</b></a></h2><p>d</p><h2>a*b* c</h2><p>e"
    write(f"{tmp_path}/", dehusk.extract(html, "https://mill.example/x", keep="body"))
    write_llms_txt(tmp_path)
    full = (tmp_path / "mill.example" / "llms-full.txt").read_text()
    assert full.partition("/x\n\n")[2] == "d\n\n## a\\*b* c\n\ne\n"


def test_llms_txt_needs_a_folder_of_markdown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.html").write_text(HTML)
    page = str(tmp_path / "a.html")
    assert main(["clean", page, "--llms-txt", "-q"]) == 2
    assert "needs a folder of Markdown" in capsys.readouterr().err
    assert main(["clean", page, "--llms-txt", "-q", "-o", f"{tmp_path}/out/"]) == 0
    assert len(list((tmp_path / "out").rglob("llms*.txt"))) == 2


@pytest.mark.parametrize("asked", [("--format", "text"), ("-o", "a.warc"), ("--format", "html")])
def test_how_markdown_is_written_is_refused_where_there_is_none(
    asked: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.html").write_text(HTML)
    page = str(tmp_path / "a.html")
    assert main(["clean", page, "-q", "--links", "none", *asked]) == 2
    assert "has none" in capsys.readouterr().err
    assert main(["clean", page, "-q", "--links", "none", "--format", "jsonl"]) == 0
    # A folder is written as Markdown, whatever its name ends in.
    assert main(["clean", page, "-q", "--links", "none", "-o", f"{tmp_path}/pages.txt/"]) == 0


# Pieces


@pytest.mark.parametrize("text", ["Rye was sown.", "Der Müller säte."])
def test_a_line_at_the_end_of_a_page_is_in_no_piece(text: str) -> None:
    result = dehusk.extract(f"<main><h1>Rye</h1><p>{text}</p><hr><h3></h3></main>", keep="main")
    (piece,) = result.pieces(100)
    assert result.markdown[piece.start : piece.end] == piece.markdown == result.markdown


def test_pieces_are_the_text_cut_at_headings_and_blocks() -> None:
    html = (
        "<h1>Rye</h1><p>A hardy grain.</p>"
        f"<h2>Sowing</h2><p>{'In autumn. ' * 12}</p><p>{'Not too deep. ' * 8}</p>"
        "<h3>Depth</h3><p>Two fingers.</p><h2>Harvest</h2><p>In July.</p>"
    )
    result = dehusk.extract(html, method="segments")
    pieces = result.pieces(50)
    assert "\n".join(piece.text for piece in pieces) == result.text
    assert [piece.headings for piece in pieces] == [
        ("Rye",),
        ("Rye", "Sowing"),
        ("Rye", "Sowing", "Depth"),
    ]
    assert all(piece.tokens <= 50 for piece in pieces)
    assert pieces[1].address == "html > body > p:nth-child(5)"
    assert pieces[2].address == "html > body > h3:nth-child(6)"
    assert result.nodes[pieces[2].node].text == "Depth"


def test_a_piece_has_the_headings_above_its_first_line_and_never_those_of_the_next_section() -> (
    None
):
    html = (
        "<h1>Rye</h1><h2>Names</h2><h2>Sowing</h2><h3>Depth</h3><p>Two fingers.</p>"
        f"<p>{'In autumn. ' * 12}</p><h2>Uses</h2><h1>Oats</h1><p>{'Sown in spring. ' * 9}</p>"
    )
    result = dehusk.extract(html, method="segments")
    for tokens in range(1, 120):
        for piece in result.pieces(tokens):
            above: list[tuple[int, str]] = []
            for node in result.nodes[: piece.node + 1]:
                if node.tag in {"h1", "h2", "h3"}:
                    above = [each for each in above if each[0] < int(node.tag[1])]
                    above.append((int(node.tag[1]), result.nodes[node.number + 1].text or ""))
            assert piece.headings[: len(above)] == tuple(text for _, text in above)
    assert [(each.headings, each.text[:16]) for each in result.pieces(20)][:2] == [
        (("Rye", "Names"), "Rye\nNames\nSowing"),
        (("Rye", "Sowing", "Depth"), "In autumn. In au"),
    ]


def test_a_piece_begins_with_the_headings_above_it_if_asked(tmp_path: Path) -> None:
    html = (
        f"<h1>Rye</h1><p>{'A grain. ' * 20}</p><h2>Sowing</h2><p>{'In autumn. ' * 20}</p>"
        f"<p>{'Not too deep. ' * 20}</p>"
    )
    settings = MarkdownSettings(heading_path=True)
    result = dehusk.extract(html, method="segments", markdown=settings)
    pieces, plain = result.pieces(80), result.written_with(MarkdownSettings()).pieces(80)
    assert [piece.text.split(". ")[0] for piece in pieces] == [
        "Rye\nA grain",
        "Rye\nSowing\nIn autumn",
        "Rye > Sowing\nNot too deep",
    ]
    assert [(each.headings, each.markdown) for each in pieces] == [
        (each.headings, each.markdown) for each in plain
    ]
    assert all(piece.tokens == -(-len(piece.text) // 4) for piece in pieces)
    page, out = tmp_path / "rye.html", tmp_path / "pieces.jsonl"
    page.write_text(html, "utf-8")
    asked = ["clean", str(page), "--method", "segments", "-o", str(out), "--heading-path"]
    assert main([*asked, "--pieces", "80"]) == 0
    (line,) = map(json.loads, out.read_text("utf-8").splitlines())
    assert [each["text"] for each in line["pieces"]] == [piece.text for piece in pieces]
    assert main(asked) == 2


def test_a_block_that_is_too_long_is_cut_between_words() -> None:
    words = [f"word{number}" for number in range(200)]
    pieces = dehusk.extract(f"<h1>A</h1><p>{' '.join(words)}</p>", method="segments").pieces(20)
    assert all(piece.tokens <= 20 and piece.headings == ("A",) for piece in pieces)
    assert " ".join(piece.text for piece in pieces).split() == ["A", *words]
    assert len(dehusk.extract(f"<p>{'x' * 1000}</p>", method="segments").pieces(20)) == 13


@pytest.mark.parametrize("kind", KINDS)
def test_pieces_lose_nothing_of_any_kind_of_page(kind: str) -> None:
    site = dehusk.Site()
    for sample in sample_site(kind, pages=6, seed=3, lang="de" if kind == "town" else "en"):
        result = site.add(sample.page.html, sample.page.url)
        pieces = result.pieces(80)
        joined = " ".join(piece.text for piece in pieces).split()
        assert joined == result.text.split()
        assert all(0 < piece.tokens <= 80 for piece in pieces)
        jsonschema.validate(json.loads(json.dumps(result.to_json(80))), SCHEMA)


def test_pieces_come_only_when_asked_for_and_are_null_for_a_failed_page(tmp_path: Path) -> None:
    assert "pieces" not in answers(1)[0].to_json()
    jsonschema.validate(json.loads(json.dumps(FAILED.to_json(5))), SCHEMA)
    write(tmp_path / "a.jsonl", *answers(1), FAILED, piece_tokens=5)
    first, second = map(json.loads, (tmp_path / "a.jsonl").read_text().splitlines())
    assert len(first["pieces"]) > 1
    assert second["pieces"] is None
    with pytest.raises(UsageError, match="pieces go into"):
        open_writer(None, Format.TEXT, io.BytesIO(), piece_tokens=5)


@pytest.mark.parametrize("size", [0, -1, "a", 1.5, True, None])
def test_pieces_have_a_whole_number_of_tokens(size: Any) -> None:
    with pytest.raises(SettingError, match="whole number of at least 1"):
        dehusk.extract("<p>a").pieces(size)


def test_pieces_of_markdown_are_parts_of_the_pages_markdown() -> None:
    rows = "".join(f"<tr><td>{n}<td>value of {n}" for n in range(30))
    html = (
        "<h1>Räder</h1><p>A <a href=/b>link</a> of words.<ul><li>one<li>two</ul>"
        f"<h2>{'Long ' * 50}</h2><table><tr><th>n<th>v{rows}</table><h2>Code</h2><pre>a = 1</pre>"
    )
    result = dehusk.extract(html, "https://h.example/", method="segments")
    pieces = result.pieces(80)
    assert len(pieces) > 3
    for piece in pieces:
        written = result.markdown[piece.start : piece.end]
        assert written
        assert piece.markdown in (written, f"| n | v |\n| --- | --- |\n{written}")
        assert all(len(heading) <= 200 for heading in piece.headings)
    joined = "".join("".join(result.markdown[each.start : each.end].split()) for each in pieces)
    assert joined == "".join(result.markdown.split())


def test_code_that_is_too_long_is_cut_between_lines_into_fences() -> None:
    lines = [f"line_{number} = {number}" for number in range(60)]
    html = "<h1>A</h1><pre class=language-py>" + "\n".join(lines) + "</pre>"
    pieces = dehusk.extract(html, method="segments").pieces(50)
    codes = [piece.markdown.removeprefix("# A\n\n") for piece in pieces]
    assert len(pieces) > 3
    assert pieces[0].markdown.startswith("# A\n\n```py\nline_0")
    inside = [code.removeprefix("```py\n").removesuffix("\n```") for code in codes]
    assert all(code.startswith("```py\n") for code in codes)
    assert "\n".join(inside).split("\n") == lines


def test_a_page_without_content_has_no_pieces() -> None:
    assert dehusk.extract("").pieces(10) == []


def test_many_headings_cost_time_in_proportion() -> None:
    html = "".join(f"<h{n % 6 + 1}>{n}</h{n % 6 + 1}>" for n in range(20_000))
    assert len(dehusk.extract(html, method="segments").pieces(1000)) > 20


def test_each_piece_is_a_line_with_what_is_known_of_its_page(tmp_path: Path) -> None:
    page = Page(
        "<title>Rye</title><h1>Rye</h1><p>A grain.</p><h2>Sowing</h2><p>In autumn.",
        "https://r.example/",
    )
    empty = Page("<title>Nothing</title>", "https://r.example/empty")
    result = Session().add(page)
    given: list[Result | Refusal] = [result, Session().add(empty), FAILED]
    write(tmp_path / "a.jsonl", *given, form=Format.PIECES, piece_tokens=4)
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text("utf-8").splitlines()]
    pieces = [asdict(piece) | {"headings": list(piece.headings)} for piece in result.pieces(4)]
    assert [{key: line[key] for key in pieces[0]} for line in lines] == pieces
    assert [(line["url"], line["title"], line["piece"], line["pieces"]) for line in lines] == [
        ("https://r.example/", "Rye", number, len(lines)) for number in range(1, len(lines) + 1)
    ]
    write(f"{tmp_path}/folder/", *given, form=Format.PIECES)
    (file,) = (path for path in (tmp_path / "folder").rglob("*") if path.is_file())
    assert file.name == "index.jsonl"


def test_one_file_of_pieces_cannot_be_gone_on_with(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="one file of pieces"):
        write(tmp_path / "a.jsonl", form=Format.PIECES, resumes=True)


@pytest.mark.parametrize("chosen", [("--pieces", "20"), ("--format", "pieces")])
def test_a_fault_in_the_pieces_of_a_page_is_that_pages_refusal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: tuple[str, ...]
) -> None:
    cut = Result.pieces

    def faulty(result: Result, max_tokens: int) -> object:
        if result.url == "https://mill.example/1":
            raise RecursionError("too deep")
        return cut(result, max_tokens)

    monkeypatch.setattr(Result, "pieces", faulty)
    lines = [{"url": f"https://mill.example/{n}", "html": HTML.format(n=n)} for n in range(3)]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    target = tmp_path / "out.jsonl"
    assert main(["clean", str(tmp_path / "in.jsonl"), *chosen, "-o", str(target)]) == 1
    written = [json.loads(line) for line in target.read_text("utf-8").splitlines()]
    assert [line["url"][-1] for line in written if not line.get("error")] == ["0", "2"]


def _fail(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def _parts(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob(".*"))


def test_a_full_disk_leaves_no_part_of_a_parquet_folder_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "out"

    def half(table: object, where: Path, **_: object) -> None:
        Path(where).write_bytes(b"PAR1")
        _fail(table)

    monkeypatch.setattr("pyarrow.parquet.write_table", half)
    source = _page(tmp_path)
    assert main(["clean", str(source), "-o", f"{folder}/", "--format", "parquet", "-q"]) == 1
    assert _parts(folder) == []


def test_a_full_disk_leaves_no_part_of_a_list_for_models_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, source = tmp_path / "out", _page(tmp_path)
    assert main(["clean", str(source), "-o", f"{folder}/", "-q"]) == 0
    monkeypatch.setattr("dehusk.output.llms.Path.read_text", _fail)
    with pytest.raises(OSError, match="No space"):
        write_llms_txt(folder)
    assert _parts(folder) == []


def test_what_a_killed_run_left_in_a_folder_goes_with_the_next(tmp_path: Path) -> None:
    folder, source = tmp_path / "out", _page(tmp_path)
    script = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "from dehusk.doors.cli import main\n"
        "main(sys.argv[1:])\n"
    )
    command = ["clean", str(source), "-o", f"{folder}/", "-q"]
    subprocess.run([sys.executable, "-c", script, *command], check=False)
    (left,) = _parts(folder)
    _, here, process, _ = left.split("-")
    running = folder / f".dehusk-{here}-{os.getpid()}-1.part"
    elsewhere, old = (folder / f".dehusk-0-{process}-{n}.part" for n in (1, 2))
    for part in (running, elsewhere, old):
        part.write_bytes(b"")
    os.utime(old, (0, 0))
    assert main(command) == 0
    stays = sorted((running.name, elsewhere.name))
    assert _parts(folder) == stays, "those of runs that go on, or that may on other machines"
    assert len(list(folder.rglob("*.md"))) == 1


def _page(folder: Path) -> Path:
    page = folder / "page.html"
    page.write_text("<nav>Home</nav><p>Harvest</p>", encoding="utf-8")
    return page


def test_parquet_is_not_packed_once_more(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Parquet is packed by itself"):
        open_writer(str(tmp_path / "a.parquet.gz"), None, io.BytesIO())
