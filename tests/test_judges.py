"""Several judges of a page: their marks kept apart, their agreement, and what most of them say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest

import dehusk
from chromium import chromium, viewer
from dehusk.doors.cli import main
from dehusk.doors.service.agreement import (
    agreement,
    cohen_kappa,
    fleiss_kappa,
    majority,
    pair_agreements,
)
from dehusk.doors.service.gold import gold_record, nodes_inside
from dehusk.doors.service.judges import Judges
from dehusk.errors import SourceError
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.template.viewing import Viewed
from dehusk_bench.corpora import Caps, open_corpus

PATIENT = 30_000


def page_of(number: int) -> Page:
    html = (
        "<body><nav id=top>Home News</nav><div class=sign>Join</div>"
        f"<article><h1>Page {number}</h1><p id=a>First {number}</p><p id=b>Second {number}</p>"
        f"<ul id=c><li>Third {number}</li></ul></article></body>"
    )
    return Page(html, f"https://grain.example/{number}")


@pytest.fixture
def viewed(tmp_path: Path) -> Iterator[Viewed]:
    with dehusk.open(tmp_path / "a.husk", method="segments") as memories:
        made = Viewed(memories)
        made.add_all(page_of(number) for number in range(8))
        yield made


@pytest.fixture
def judges(viewed: Viewed) -> Judges:
    """Three who differ on page 0: Ann drops #b, Ben drops #c, Cem drops #b and keeps .sign."""
    viewed.correct(0, "drop", "#b", "Ann")
    viewed.correct(0, "drop", "#c", "Ben")
    viewed.correct(0, "drop", "#b", "Cem")
    viewed.correct(0, "keep", ".sign", "Cem")
    made = Judges(viewed)
    for name in ("Ann", "Ben", "Cem"):
        made.confirm(0, name, is_right=True)
    return made


def flags(*values: int) -> Any:
    return np.array(values, np.bool_)


def test_kappa_of_two_is_cohens() -> None:
    one = flags(*[1] * 25, *[0] * 25)
    other = flags(*[1] * 20, *[0] * 5, *[1] * 10, *[0] * 15)
    assert cohen_kappa(one, other) == pytest.approx(0.4)
    assert cohen_kappa(one, one) == 1
    assert cohen_kappa(one, ~one) == pytest.approx(-1)
    assert cohen_kappa(flags(1, 1), flags(1, 1)) is None


def test_kappa_of_more_is_fleiss() -> None:
    assert fleiss_kappa(np.array([3, 2, 0, 1]), np.full(4, 3)) == pytest.approx(1 / 3)
    assert fleiss_kappa(np.array([3, 0]), np.array([3, 2])) == pytest.approx(1)
    assert fleiss_kappa(np.array([3, 3]), np.array([3, 3])) is None


def test_pairs_are_compared_where_both_have_judged() -> None:
    pages = [
        {"Ann": flags(1, 0, 1), "Ben": flags(1, 0, 0)},
        {"Ann": flags(1, 1), "Cem": flags(1, 1)},
        {"Ben": flags(1, 0)},
    ]
    found = {pair.judges: (pair.nodes, pair.alike) for pair in pair_agreements(pages)}
    assert found == {("Ann", "Ben"): (3, pytest.approx(2 / 3)), ("Ann", "Cem"): (2, 1.0)}
    together = agreement(pages)
    assert together is not None
    assert (together.judges, together.nodes) == (("Ann", "Ben", "Cem"), 5)
    assert together.alike == pytest.approx(4 / 5)
    assert agreement(pages[2:]) is None


def test_most_judges_decide_and_where_they_are_even_it_is_content() -> None:
    three = {"a": flags(1, 1, 0), "b": flags(1, 0, 0), "c": flags(0, 1, 0)}
    assert majority(three).tolist() == [True, True, False]
    assert majority({"a": flags(1, 0), "b": flags(0, 0)}).tolist() == [True, False]


def test_the_gold_is_what_most_judges_say(judges: Judges) -> None:
    assert judges.result(0).text == "Page 0\nFirst 0\nThird 0"
    record: dict[str, Any] = judges.record(0)
    assert record["content"] == "Page 0\nFirst 0\nThird 0"
    assert [one["judge"] for one in record["judges"]] == ["Ann", "Ben", "Cem"]
    assert record["agreement"]["nodes"] == 6
    assert record["agreement"]["alike"] == 0.5


def test_judges_are_told_on_what_they_differ(judges: Judges) -> None:
    found = judges.page_agreement(0)
    assert [(one["text"], one["content"]) for one in found["differences"]] == [
        ("Join", ["Cem"]),
        ("Second 0", ["Ben"]),
        ("Third 0", ["Ann", "Cem"]),
    ]
    alike = {tuple(pair["judges"]): pair["alike"] for pair in found["pairs"]}
    assert alike["Ann", "Cem"] == pytest.approx(5 / 6, abs=1e-4)
    assert judges.agreement()["pages"] == 1


def test_one_judge_without_a_name_gives_the_gold_of_the_verdict(viewed: Viewed) -> None:
    judges = Judges(viewed)
    judges.confirm(3, "", is_right=True)
    assert judges.record(3) == gold_record(viewed.pages[3], viewed.result(3))
    judges.confirm(3, "", is_right=False)
    assert (judges.pages, judges.names) == ([], [])


def test_what_a_judge_corrects_changes_his_own_marks_alone(viewed: Viewed, judges: Judges) -> None:
    before = judges.marks(0)
    viewed.correct(0, "drop", "#a", "Ann")
    judges.corrected([0], "Ann")
    after = judges.marks(0)
    assert after["Ann"] != before["Ann"]
    assert {name: after[name] for name in ("Ben", "Cem")} == {
        name: before[name] for name in ("Ben", "Cem")
    }
    viewed.memories.add_rule("grain.example", "keep", ".sign")
    judges.corrected(range(8), "Ben")
    assert "Join" in viewed.result(0, judge="Ben").text
    assert judges.marks(0)["Ann"] == after["Ann"]
    assert judges.marks(0)["Ben"] != after["Ben"]


def test_what_others_do_later_is_not_in_the_marks_of_who_has_corrected(
    viewed: Viewed, judges: Judges
) -> None:
    viewed.correct(0, "keep", "#top", "Ann")
    judges.corrected([0], "Ann")
    viewed.memories.add_rule("grain.example", "drop", "#a")
    judges.corrected([0], "Ben")
    first = parse(viewed.pages[0]).tree
    says = {name: nodes_inside(first, m.content, m.excluded) for name, m in judges.marks(0).items()}
    texts = {
        name: "".join(first.text(n) for n in np.flatnonzero(inside & first.is_text).tolist())
        for name, inside in says.items()
        if inside is not None
    }
    assert "First 0" in texts["Ann"]
    assert "First 0" not in texts["Ben"]


def test_exported_gold_is_read_again_and_by_the_bench(
    viewed: Viewed, judges: Judges, tmp_path: Path
) -> None:
    file = tmp_path / "gold.jsonl"
    file.write_text(json.dumps(judges.record(0)) + "\n")
    again = Judges(viewed)
    assert again.read(file, pytest.fail) == 3
    assert again.record(0) == judges.record(0)
    pages = list(open_corpus(str(file), Caps()).pages())
    assert [page.content for page in pages] == ["Page 0\nFirst 0\nThird 0"]


def test_gold_without_names_is_of_a_judge_called_as_the_file(
    viewed: Viewed, tmp_path: Path
) -> None:
    old = {
        **gold_record(viewed.pages[1], viewed.result(1)),
        "content_nodes": [[1, 2]],
        "excluded_nodes": [],
    }
    other = {**old, "url": "https://elsewhere.example/"}
    for name in ("dora", "emil"):
        (tmp_path / f"{name}.jsonl").write_text(f"{json.dumps(old)}\n\n{json.dumps(other)}\n")
    judges = Judges(viewed)
    files = [tmp_path / f"{name}.jsonl" for name in ("dora", "emil")]
    assert [judges.read(file, pytest.fail) for file in files] == [1, 1]
    assert judges.of_page(1) == ["dora", "emil"]
    assert judges.agreement()["all"]["alike"] == 1


def test_marks_of_a_page_that_was_another_are_left_out(viewed: Viewed, tmp_path: Path) -> None:
    file, words = tmp_path / "ann.jsonl", list[str]()
    record = gold_record(viewed.pages[1], viewed.result(1))
    html = str(record["html"])
    others = [
        {**record, "html": html.replace("First", "Another")},
        {**gold_record(viewed.pages[2], viewed.result(2)), "html": html.replace("<p id=a>", "<p>")},
        {**gold_record(viewed.pages[3], viewed.result(3)), "html": f"<main>{html}"},
    ]
    file.write_text("\n".join(map(json.dumps, others)))
    judges = Judges(viewed)
    assert judges.read(file, words.append) == 2  # What is read may be new, not what is built.
    assert judges.pages == [1, 2]
    assert ["another version of https://grain.example/3" in each for each in words] == [True]


_KNOWN = {"url": "https://grain.example/1", "site": "grain.example", "content_nodes": [[1]]}


@pytest.mark.parametrize(
    "line",
    [
        "nonsense",
        "[1]",
        "[" * 99_999,
        *(
            json.dumps(_KNOWN | wrong)
            for wrong in (
                {"content_nodes": [[99]]},
                {"content_nodes": 3},
                {"content_nodes": None},
                {"content_nodes": ["11"]},
                {"content_nodes": [[1.7]]},
                {"content_nodes": [[-1]]},
                {"content_nodes": [[float("inf")]]},
                {"content_nodes": [[10**30]]},
                {"excluded_nodes": [[True]]},
                {"judges": 5},
                {"judges": [{"judge": "Ann"}]},
                {"url": [1]},
                {"judge": "Ann\n"},
                {"judge": "\u202eAnn"},
                {"judge": "A" * 41},
            )
        ),
        json.dumps({key: _KNOWN[key] for key in ("url", "site")}),
        json.dumps(_KNOWN).replace("[1]", "[1e999]"),
    ],
)
def test_what_is_no_gold_is_named(viewed: Viewed, tmp_path: Path, line: str) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text(line)
    judges = Judges(viewed)
    with pytest.raises(SourceError, match=r"bad\.jsonl"):
        judges.read(file, print)
    assert judges.names == []


def test_gold_of_other_pages_alone_is_named(viewed: Viewed, tmp_path: Path) -> None:
    file = tmp_path / "other.jsonl"
    file.write_text(json.dumps({"url": "https://elsewhere.example/", "content_nodes": []}))
    with pytest.raises(SourceError, match="no marks of a page that is shown"):
        Judges(viewed).read(file, print)


def test_a_line_of_gold_ends_where_json_says(viewed: Viewed, tmp_path: Path) -> None:
    file = tmp_path / "browser.jsonl"
    file.write_text(json.dumps(_KNOWN | {"title": "Rye\u2028and oats"}, ensure_ascii=False))
    assert Judges(viewed).read(file, pytest.fail) == 1


def test_a_gold_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<p>Rye</p>")
    arguments = ["view", str(tmp_path / "a.html"), "--no-browser", "--port", "0"]
    assert main([*arguments, "--gold", str(tmp_path / "none.jsonl")]) == 1


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("judges")
    records = [{"html": page_of(n).html, "url": page_of(n).url} for n in range(8)]
    (folder / "pages.jsonl").write_text("\n".join(map(json.dumps, records)))
    with viewer(str(folder / "pages.jsonl"), "--method", "segments") as found:
        yield found


@pytest.mark.slow
def test_judges_mark_a_page_by_themselves_and_then_see_how_far_they_agree(address: str) -> None:
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(PATIENT)
        faults: list[str] = []
        page.on("pageerror", lambda fault: faults.append(str(fault)))
        page.goto(address)
        page.click("#tab-rules")
        _become(page, "Ann")
        _drop(page, "Second 0")
        page.click("#panel button:has-text('This page is right')")
        page.wait_for_selector("#panel button:has-text('Not gold')")
        _become(page, "Ben")
        page.wait_for_selector("text=1 other judge called this page right")
        assert "Second 0" in _content(page)  # What Ann dropped is there for Ben.
        assert not page.is_visible("#panel .agreement")
        page.keyboard.press("g")
        page.wait_for_selector("#panel .agreement")
        assert "Called right by Ann, Ben" in page.text_content("#panel")
        cells = page.locator("#panel .agreement tbody tr").first.locator("th, td").all_inner_texts()
        assert cells[:3] == ["Ann – Ben", "6", "83 %"]
        (difference,) = page.locator("#panel .regions .why").all_inner_texts()
        assert difference == "content: Ben; template: Ann"
        page.click("#panel .regions button")
        page.wait_for_selector("#pick[open]")
        assert not page.is_checked("#pick-rule")
        assert faults == []
    connection = HTTPConnection(urlsplit(address).netloc, timeout=60)
    connection.request("GET", "/api/gold.jsonl")
    record = json.loads(connection.getresponse().read())
    connection.close()
    assert "Second 0" in record["content"]  # They are even.
    assert [one["judge"] for one in record["judges"]] == ["Ann", "Ben"]


def _become(page: Any, name: str) -> None:
    """Judge under this name."""
    page.wait_for_selector("#judge")
    page.fill("#judge", name)
    with page.expect_response(lambda response: f"judges?page=0&judge={name}" in response.url):
        page.press("#judge", "Enter")
    page.wait_for_selector(f"#judge[value='{name}']")
    page.locator("#stage").focus()


def _drop(page: Any, words: str) -> None:
    page.frame_locator("#frame").locator(f"text={words}").first.click()
    page.wait_for_selector("#pick[open]")
    page.click("#pick button:has-text('Drop')")
    page.wait_for_selector("#panel .rules li")


def _content(page: Any) -> str:
    return str(page.evaluate("fetch('/api/page?page=0&judge=Ben').then(r => r.text())"))
