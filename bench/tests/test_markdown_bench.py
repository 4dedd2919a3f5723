"""Markdown is measured as a reader has it, and dehusk's is near to what pages say."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec

import pytest

from dehusk.doors.cli import main
from dehusk.page.page import Page
from dehusk_bench.corpora import GoldPage, open_corpus
from dehusk_bench.markdown import words
from dehusk_bench.markdown.command import measure, write_all
from dehusk_bench.markdown.gold import Gold, gold_of, made_pages
from dehusk_bench.markdown.parts import Parts, compare, read_parts, teds
from dehusk_bench.markdown.words import compare_words, said

needs_pandoc = pytest.mark.skipif(
    find_spec("pypandoc") is None
    and shutil.which("pandoc") is None
    and os.environ.get("CI") != "true",
    reason="pandoc is not installed",
)
PARTS = (
    "# A\n\nb `c` $x_1$\n\n```py\nd\n```\n\n| e | f |\n| --- | --- |\n| g | h |\n\n> [!NOTE]\n> i"
)


def test_markdown_is_read_in_parts() -> None:
    parts = read_parts(PARTS)
    assert parts.text == "A b c d e f g h NOTE i"
    assert (parts.code, parts.formula, parts.rows) == ("cd", "x_1", (("e", "f"), ("g", "h")))


def test_code_parted_at_its_links_is_the_same_code() -> None:
    parted, whole = read_parts("[`a`](file:///b)`(c, `[`d`](e)`)`"), read_parts("`a(c, d)`")
    assert parted == whole


def test_a_table_has_its_spans_laid_out_and_no_empty_columns() -> None:
    table = (
        "<table><tr><th colspan=2>a<th>b<th><tr><td rowspan=2>c<td>d<td>e<td>"
        "<tr><td>f<td>g<td><tr><td colspan=x>h</table>"
    )
    assert read_parts(table).rows == (("a", "", "b"), ("c", "d", "e"), ("", "f", "g"), ("h",))


def test_footnotes_are_blocks_and_no_code() -> None:
    parts = read_parts("a[^1]\n\n[^1]: b `c`\n\n    d\n\ne")
    assert (parts.text, parts.code) == ("a[^1] b c d e", "c")
    assert read_parts("- a\n\n  [^1]: <https://b.example>\n\n      c").text == (
        "a https://b.example c"
    )


def test_dollars_in_code_and_of_money_are_no_formulas() -> None:
    assert (
        read_parts("`$a$` and\n\n```\n$b$\n```\n\ncosts $5 and $6, or \\$7 and 8\\$").formula == ""
    )


def test_the_same_is_as_near_as_can_be_and_another_style_too() -> None:
    gold = read_parts(PARTS)
    restyled = PARTS.replace("# A", "A\n=").replace("```", "~~~").replace("| e | f |", "e|f")
    assert compare(gold, read_parts(restyled)) == dict.fromkeys(compare(gold, gold), 1.0)


def test_a_table_costs_what_is_changed_in_it() -> None:
    table = (("a", "b"), ("c", "d"))
    assert teds(table, table) == 1
    assert teds(table, (("a", "b"),)) == pytest.approx(1 - 3 / 7)
    assert teds(table, (("a", "b"), ("c", "x"))) == pytest.approx(1 - 1 / 7)
    assert teds(table, ()) == 0


def test_known_formulas_are_written_as_they_are() -> None:
    scores = measure(made_pages(14), {"dehusk": write_all})["dehusk"]
    assert scores["text"][0] > 0.99
    assert scores["formula"][0] > 0.99


def test_the_content_of_sample_sites_is_written_as_its_elements_hold_it() -> None:
    pages = [
        page for name in ("docs", "tables") for page in open_corpus(f"samples:{name}:1:6").pages()
    ]
    asked = [each for page in pages if (each := gold_of(page))]
    scores = measure(asked, {"dehusk": write_all})["dehusk"]
    assert scores["text"][0] > 0.98
    assert scores["code"][0] > 0.98
    assert scores["TEDS"][0] > 0.95


GOLD_PAGE = """<main><h1>Mill<a class="headerlink" href="#m">¶</a></h1><p>Flour<br></p>
<table role="presentation"><tr><td>One</td><td>two</td></tr><tr><td>3</td><td>4</td></tr></table>
<table class="c"><caption>Sorts</caption><tr><th>Copyright</th><th>b</th></tr>
<tr><td>(c) 2020</td><td><code><a href="file:///x">f</a>(x)</code></td></tr></table></main>"""


@needs_pandoc
def test_pandoc_writes_gold_without_what_only_lays_out_a_page() -> None:
    page = GoldPage(Page(GOLD_PAGE), "h.example", 1, content_nodes=((1, 0),))
    asked = gold_of(page, Gold.PANDOC)
    assert asked is not None
    assert asked.gold == Parts(
        "Mill Flour One two 3 4 Sorts Copyright b (c) 2020 f(x)",
        "f(x)",
        "",
        (("Copyright", "b"), ("(c) 2020", "f(x)")),
    )
    assert compare(asked.gold, read_parts(write_all(asked.html)))["text"] == 1


@needs_pandoc
@pytest.mark.parametrize("gold", Gold)
@pytest.mark.slow
def test_the_command_prints_a_row_for_each_contender(
    gold: Gold, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "markdown", "made", "--gold", gold]) == 0
    printed = capsys.readouterr().out
    assert "dehusk" in printed
    assert ("pandoc" in printed) == (gold is Gold.ELEMENTS)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("- [x] a $b_1$ `$c$`\n\n> [!NOTE]\n> d", "a b_1 $c$ NOTE d"),
        ("a[^1] <https://h.example/b%20c>\n\n[^1]: d", "a[^1] https://h.example/b%20c d"),
        ("$$5\n\n[a](b) $$6\n\n$$\nc\n$$ d$e$", "$$5 a $$6 c de"),
        ("```\n- [x] a $b$\n```", "- [x] a $b$"),
        ("- - [x] a\n    - [ ] b", "a b"),
    ],
)
def test_a_reader_has_formulas_and_addresses_as_they_are(written: str, expected: str) -> None:
    assert said(written).split() == expected.split()


def test_words_that_markdown_loses_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    page = Page("<p>One two three.</p><p>Four</p>", "https://h.example/")
    assert compare_words([page]).differences == ()
    monkeypatch.setattr(words, "markdown", lambda *_: "One three three.")
    found = compare_words([page])
    assert found.row() == ("1", "1", "1")
    assert found.differences[1][2:] == (("two", "four"), ("three",))


def test_markdown_of_sample_sites_has_the_words_of_their_text(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["bench", "markdown", "--words", "samples:docs:1:4", "samples:tables:1:4"]) == 0
    rows = capsys.readouterr().out.splitlines()[1:]
    assert [row.split()[2:] for row in rows if row] == [["0", "0"], ["0", "0"]]
