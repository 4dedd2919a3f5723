"""`problem`: a page that is not what anybody wanted says so, at every door."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random

import jsonschema
import pytest

import dehusk
from dehusk.answer.problem import MOST_SURE, Problem, counted
from dehusk.answer.result import FIELDS, Refusal
from dehusk.doors.cli import main
from dehusk.doors.documents import facts_of
from dehusk.errors import PageTooLarge
from dehusk.output.formats import Format, Shape
from dehusk.page.page import Capture, Page
from wall_pages import SOUND_PAGES, WALL_PAGES, WallPage

SCHEMA = json.loads(
    (Path(dehusk.__file__).parent / "output" / "result.schema.json").read_text("utf-8")
)
SITE = "https://hollow-oak.example"
_MISSED = {"paywall: no free articles left"}
"""What sells the rest is no content there, and nothing is stated for machines."""
_STEMS = ["oak", "rye", "ferry", "harbour", "mill", "brass", "letter", "shipyard", "deck", "quay"]
BLOCKED = (
    "<!doctype html><title>Hollow Oak</title><body><h1>Sorry, not this time</h1>"
    "<p>Requests of this kind are blocked here. Write to the owner if you are a reader.</p></body>"
)
"""A wall in words that nobody knows; but for `blocked`, which content has too."""
KNOWN_WALL = next(page for page in WALL_PAGES if page.name == "bot_wall: access denied").html


def _article(number: int) -> Page:
    random = Random(number)

    def words(count: int) -> str:
        return " ".join(random.choices(_STEMS, k=count)).capitalize()

    said = "".join(f"<p>{words(50)}.</p>" for _ in range(6))
    html = (
        f"<!doctype html><title>{words(4)}</title><body><nav><a href='/'>Home</a></nav><main>"
        f"<h1>{words(4)}</h1>{said}</main><footer>© 2024 Hollow Oak</footer></body>"
    )
    return Page(html, f"{SITE}/{number}")


def _mixed(wall: str) -> list[Page]:
    """Thirty pages, ten of which are the same wall."""
    return [
        Page(wall, f"{SITE}/w{number}") if number % 3 == 1 else _article(number)
        for number in range(30)
    ]


@pytest.mark.parametrize("page", WALL_PAGES, ids=lambda page: page.name)
def test_a_page_that_nobody_wanted_says_what_it_is(page: WallPage) -> None:
    result = dehusk.extract(page.html, f"{SITE}/page")
    assert result.problem == (None if page.name in _MISSED else page.kind)
    if result.problem is not None and result.confidence is not None:
        assert result.confidence <= MOST_SURE


@pytest.mark.parametrize("page", SOUND_PAGES, ids=lambda page: page.name)
def test_a_short_page_with_words_of_walls_is_no_problem(page: WallPage) -> None:
    assert dehusk.extract(page.html, f"{SITE}/page").problem is None


def test_there_are_walls_of_every_kind_in_the_test() -> None:
    assert {page.kind for page in WALL_PAGES} == set(Problem)
    assert len(WALL_PAGES) > 60


def test_a_page_of_its_frame_alone_is_empty_and_not_its_footer() -> None:
    frame = next(page.html for page in WALL_PAGES if page.name.endswith("around nothing"))
    result = dehusk.extract(frame, f"{SITE}/minutes")
    assert "Hollow Oak Ltd." in result.tree.source.decode()
    assert (result.text, result.markdown, result.problem) == ("", "", Problem.EMPTY_PAGE)


def test_what_the_user_keeps_stays_on_a_page_of_its_frame_alone() -> None:
    frame = next(page.html for page in WALL_PAGES if page.name.endswith("around nothing"))
    assert (
        dehusk.extract(frame, keep="footer p").text == "© 2024 Hollow Oak Ltd. All rights reserved."
    )


@pytest.mark.parametrize("wall", [BLOCKED, KNOWN_WALL], ids=["unknown words", "known words"])
@pytest.mark.parametrize("mark", ["", " <p>Case {}</p>"], ids=["the same", "numbered"])
def test_ten_blocked_pages_among_thirty_are_not_ten_articles(wall: str, mark: str) -> None:
    site = dehusk.Site()
    pages = [
        replace(page, html=page.html + mark.format(number * 7919))  # type: ignore[operator]
        if page.url and "/w" in page.url else page
        for number, page in enumerate(_mixed(wall))
    ]  # fmt: skip
    found = [site.add(page.html, page.url) for page in pages]
    walls = [result for result in found if result.url and "/w" in result.url]
    # The first wall of unknown words is like any page that says little: no other says the same.
    assert {result.problem for result in walls[1:]} == {Problem.BOT_WALL}
    assert all((result.confidence or 0) <= MOST_SURE for result in walls[1:])
    assert (walls[0].problem is None) is (wall is BLOCKED)
    assert {result.problem for result in found if result not in walls} == {None}


def test_the_same_page_at_its_address_again_is_no_evidence() -> None:
    site = dehusk.Site()
    again = [site.add(f"{BLOCKED}<p>{number}</p>", f"{SITE}/one") for number in range(5)]
    assert {result.problem for result in again} == {None}


def test_an_article_that_was_copied_is_no_problem() -> None:
    site = dehusk.Site()
    story = _article(3).html
    copies = [site.add(story, f"{SITE}/copy{number}") for number in range(6)]
    assert {result.problem for result in copies} == {None}


@pytest.mark.parametrize(
    ("status", "problem"),
    [(200, None), (None, None), (404, Problem.SOFT_404), (401, Problem.LOGIN_WALL),
     (402, Problem.PAYWALL), (429, Problem.BOT_WALL)],
)  # fmt: skip
def test_a_short_page_is_what_its_status_says(status: int | None, problem: Problem | None) -> None:
    note = "<title>Note</title><h1>Note</h1><p>The ferry goes every half hour until noon today.</p>"
    page = Page(note, f"{SITE}/note", capture=Capture(status=status))
    assert dehusk.extract(page).problem is problem
    long = replace(page, html=_article(1).html)
    assert dehusk.extract(long).problem is None


def test_the_json_line_and_its_schema_have_the_problem() -> None:
    line = dehusk.extract(KNOWN_WALL, SITE).to_json()
    assert line["problem"] == "bot_wall"
    assert list(line)[: len(FIELDS)] == list(FIELDS)
    assert FIELDS.index("problem") == FIELDS.index("confidence") + 1
    jsonschema.validate(json.loads(json.dumps(line)), SCHEMA)
    assert set(SCHEMA["properties"]["problem"]["enum"]) == {*map(str, Problem), None}
    refused = Refusal(SITE, None, PageTooLarge(SITE, "too large")).to_json()
    assert refused["problem"] is None


def test_front_matter_and_facts_have_the_problem_only_where_there_is_one() -> None:
    wall, article = dehusk.extract(KNOWN_WALL, SITE), dehusk.extract(_article(1))
    assert b'\nproblem: "bot_wall"\n' in (Shape(Format.MARKDOWN).data(wall) or b"")
    assert b"problem" not in (Shape(Format.MARKDOWN).data(article) or b"")
    assert facts_of(wall)["problem"] == "bot_wall"
    assert "problem" not in facts_of(article)


def _source(tmp_path: Path) -> str:
    missing = next(page.html for page in WALL_PAGES if page.name == "soft_404: English")
    pages = [_article(1), Page(KNOWN_WALL, f"{SITE}/a"), _article(2), Page(missing, f"{SITE}/b"),
             Page(KNOWN_WALL, f"{SITE}/c"), _article(3)]  # fmt: skip
    lines = (json.dumps({"url": page.url, "html": page.html}) for page in pages)
    path = tmp_path / "pages.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_clean_counts_problems_in_its_summary_and_leaves_them_out_if_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], jobs: str
) -> None:
    said = "3 pages are not what you wanted: 2 bot walls, 1 soft 404"
    command = ["clean", _source(tmp_path), "--jobs", jobs, "-o", str(tmp_path / "out.jsonl")]
    assert main(command) == 0
    assert capsys.readouterr().err.endswith(f"\n{said}\n")
    lines = (tmp_path / "out.jsonl").read_text("utf-8").splitlines()
    kinds = [json.loads(line)["problem"] for line in lines]
    assert kinds == [None, "bot_wall", None, "soft_404", "bot_wall", None]
    assert main([*command, "--skip-problems"]) == 0
    assert capsys.readouterr().err.endswith(f"\n{said}; left out\n")
    assert (tmp_path / "out.jsonl").read_text("utf-8").splitlines() == [
        line for line, kind in zip(lines, kinds, strict=True) if kind is None
    ]
    assert main([*command, "--skip-problems", "--log-format", "json"]) == 0
    figures = json.loads(capsys.readouterr().err.splitlines()[-1])
    assert figures["problems"] == {"bot_wall": 2, "soft_404": 1}


def test_a_run_that_leaves_problems_out_is_not_resumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["clean", _source(tmp_path), "-o", str(tmp_path / "out.jsonl"), "--skip-problems"]
    assert main([*command, "--resume"]) == 2
    assert "--skip-problems leaves out pages" in capsys.readouterr().err


def test_problems_are_counted_in_words() -> None:
    assert [counted(1, "soft_404"), counted(1200, "empty_search")] == [
        "1 soft 404",
        "1,200 empty searches",
    ]


def test_an_answer_that_lets_its_tree_go_keeps_its_problem() -> None:
    first = dehusk.extract(KNOWN_WALL, SITE)
    for number in range(9):
        dehusk.extract(_article(number))
    assert first._tree is None
    assert first.problem is Problem.BOT_WALL


@pytest.mark.parametrize(
    ("title", "heading", "said"),
    [
        ("Search results for rye", "Search results for 'rye'", "No results found."),
        ("Search", "Search", "Nothing found."),
        ("Rye - Search", "0 results for rye", "Try other words."),
    ],
)
def test_a_search_that_found_nothing_may_say_so_below_its_title(
    title: str, heading: str, said: str
) -> None:
    menu = "<nav><a href=/>Home</a> <a href=/n>News</a></nav>"
    page = f"<title>{title}</title>{menu}<main><h1>{heading}</h1><p>{said}</main>"
    assert dehusk.extract(page, SITE).problem is Problem.EMPTY_SEARCH


def test_a_page_of_images_is_not_empty() -> None:
    menu = "<nav><a href=/>Home</a> <a href=/n>News</a></nav>"
    images = "".join(f"<figure><img src=/{n}.jpg alt='mill {n}'></figure>" for n in range(3))
    page = f"<title>Mills</title>{menu}<main>{images}</main><footer>All rights reserved</footer>"
    result = dehusk.extract(page, SITE)
    assert result.problem is None
    assert result.markdown.count("![mill") == 3
