"""Figures of the record that other pages quote: each is what the record says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dehusk.errors import UsageError
from dehusk_bench.record.quoting import fill, fill_files

ROOT = Path(__file__).parents[2]
RECORD = ROOT / "docs" / "results"
METHOD_PAGES = sorted((ROOT / "docs" / "methods").glob("*.md"))
SOURCE = re.compile(
    r"(`|^ *)dehusk (bench|train) \w|[Tt]able \d|section \d|figure \d|\b[TP],? (table )?\d",
    re.MULTILINE,
)
"""A command, or a place in a paper."""
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_figures_quoted_from_the_record_are_what_it_says(page: Path) -> None:
    text = page.read_text("utf-8")
    assert text == fill(text, RECORD), (
        "`dehusk bench report … --quoted-in docs --quoted-in README.md` brings it up to date"
    )


@pytest.mark.parametrize("page", METHOD_PAGES, ids=lambda page: page.stem)
def test_figures_that_are_not_quoted_say_where_they_are_from(page: Path) -> None:
    text = re.sub(
        r"<!-- table .*?<!-- end of table -->", "", page.read_text("utf-8"), flags=re.DOTALL
    )
    paragraphs = ["", "", *re.split(r"\n\n+", text)]
    for near in zip(paragraphs, paragraphs[1:], paragraphs[2:], strict=False):
        bare = re.sub(r"[\d.,]+ ?%?\**<!-- [^>]*-->", "", near[-1])
        if len(re.findall(r"(?<![\d.])0?\.\d{3}\b", bare)) > 1:
            assert SOURCE.search("\n".join(near)), near[-1]


@pytest.fixture
def record(tmp_path: Path) -> Path:
    (tmp_path / "mills.csv").write_text(
        ",P,F1,95 %,95 %\n**`auto`**,0.9784,0.9631,90.4% … 97.5%,–\n`rtdm`,0.912,-0.04,,\n", "utf-8"
    )
    (tmp_path / "sweep.csv").write_text("Tb,N,size\n2,5,\n2,20,7.6\n10,20,1204\n", "utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("written", "true"),
    [
        ("0.5<!-- mills.csv; auto; F1 -->", "1.0<!-- mills.csv; auto; F1 -->"),
        ("0.555<!-- mills.csv; auto; F1 -->", "0.963<!-- mills.csv; auto; F1 -->"),
        (".55<!-- mills.csv; auto; P -->", ".98<!-- mills.csv; auto; P -->"),
        ("**0.55**<!-- mills.csv; auto; P -->", "**0.98**<!-- mills.csv; auto; P -->"),
        ("1 %<!-- mills.csv; auto; column 4 -->", "90 %<!-- mills.csv; auto; column 4 -->"),
        ("+0.01<!-- mills.csv; rtdm; F1 -->", "−0.04<!-- mills.csv; rtdm; F1 -->"),
        ("8.8<!-- sweep.csv; 2, 20; size -->", "7.6<!-- sweep.csv; 2, 20; size -->"),
        ("1<!-- sweep.csv; 10, 20; size -->", "1,204<!-- sweep.csv; 10, 20; size -->"),
    ],
)
def test_a_figure_keeps_its_form_and_gets_the_records_value(
    record: Path, written: str, true: str
) -> None:
    assert fill(f"It has {written}, as told.", record) == f"It has {true}, as told."
    assert fill(true, record) == true


def test_a_table_has_the_rows_and_columns_that_are_named(record: Path) -> None:
    text = (
        "<!-- table mills.csv; rows: rtdm | auto; columns: P | F1 -->\nold\n<!-- end of table -->\n"
    )
    filled = fill(text, record)
    assert "| `rtdm` | 0.912 | -0.04 |\n| **`auto`** | 0.9784 | 0.9631 |\n" in filled
    assert "old" not in filled
    assert fill(filled, record) == filled
    whole = fill("<!-- table sweep.csv -->\n<!-- end of table -->", record)
    assert "| Tb | N | size |\n| --- | ---: | ---: |\n| 2 | 5 |  |\n" in whole


@pytest.mark.parametrize(
    "comment",
    ["none.csv; auto; F1", "mills.csv; none; F1", "mills.csv; auto; none", "mills.csv; auto; 95 %",
     "mills.csv; auto; column 9", "mills.csv; auto; column 5"],
)  # fmt: skip
def test_what_the_record_does_not_have_is_refused(record: Path, comment: str) -> None:
    with pytest.raises(UsageError):
        fill(f"0.5<!-- {comment} -->", record)


def test_files_and_folders_are_brought_up_to_date(record: Path, tmp_path: Path) -> None:
    page = tmp_path / "pages" / "a.md"
    page.parent.mkdir()
    page.write_text("0.1<!-- mills.csv; auto; P -->\n", "utf-8")
    fill_files(page.parent, record)
    assert page.read_text("utf-8") == "1.0<!-- mills.csv; auto; P -->\n"
    with pytest.raises(UsageError, match="no such file"):
        fill_files(tmp_path / "none", record)
