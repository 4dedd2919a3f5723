"""The page to share about a site: what it tells, and that nothing in it can act."""

from __future__ import annotations

import json
import re
import sys
from itertools import islice, pairwise
from pathlib import Path

import pytest
import turbohtml

import dehusk
from dehusk.doors.cli import main, make_parser
from dehusk.doors.cli.demo import _clean_site
from dehusk.doors.looking import read_into
from dehusk.page.page import Page
from dehusk.settings import Limits
from dehusk.template.survey import count_words
from dehusk.template.viewing import Viewed
from dehusk_bench.samples import sample_site, write_site
from hostile_pages import hostile_pages


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("report")
    write_site(sample_site("news", pages=10, seed=3), folder / "news")
    write_site(sample_site("docs", pages=6, seed=3), folder / "docs")
    sources = [str(folder / "news"), str(folder / "docs")]
    assert main(["report", *sources, "-o", str(folder / "site.html")]) == 0
    return (folder / "site.html").read_text(encoding="utf-8")


def test_it_tells_what_was_found_the_template_examples_savings_and_doubts(report: str) -> None:
    document = turbohtml.parse(report)
    headings = [heading.text.strip() for heading in document.select("h2, h3")]
    assert headings[:2] == ["All sites", "news-3.example"]
    for told in ("What was found", "The template", "Examples", "What is doubtful"):
        assert headings.count(told) == 2, told
    figures = document.select(".figures")[0].text
    assert "10pages" in figures
    assert "tokens saved" in figures
    assert len(document.select("article")) == 6
    assert len(document.select(".regions li.gone")) > 10
    assert len(document.select(".regions li.left")) > 10
    before, after = re.findall(r"([\d,]+) words before, <b>([\d,]+)</b>", report)[0]
    assert int(before.replace(",", "")) > int(after.replace(",", "")) > 100


def test_the_same_pages_give_the_same_bytes(tmp_path: Path) -> None:
    write_site(sample_site("shop", pages=4, seed=3), tmp_path / "shop")
    for name in ("a", "b"):
        assert main(["report", str(tmp_path / "shop"), "-o", str(tmp_path / name)]) == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_it_needs_nothing_from_elsewhere_and_allows_nothing(report: str) -> None:
    document = turbohtml.parse(report)
    assert not document.select("script, link, img, iframe, object, form, [style], [src]")
    (policy,) = document.select("meta[http-equiv=Content-Security-Policy]")
    assert str(policy.attrs["content"]).startswith("default-src 'none'; ")


_OWN = frozenset(
    ("html", "head", "meta", "title", "style", "body", "header", "main", "footer", "section", "h1",
     "h2", "h3", "h4", "h5", "p", "b", "bdi", "div", "table", "thead", "tbody", "tr", "th", "td",
     "dl", "dd", "dt", "svg", "rect", "ul", "ol", "li", "article", "span", "small", "pre", "code",
     "details", "summary", "a", "q", "br")
)  # fmt: skip


def test_what_hostile_pages_say_stays_text(tmp_path: Path) -> None:
    evil = "</style><script>x()</script>\"'><img src=x onerror=y()>\u202e\x00\ud800"
    found = [str(page) for page in islice(hostile_pages("https://evil.example"), 60)]
    pages = [{"url": f"https://x.example/{n}", "html": p} for n, p in enumerate(found)]
    for number in range(5):
        html = (
            f"<title>{evil}</title><p class='{evil}'>{evil} {number} long enough to be told of</p>"
        )
        pages.append({"url": f"javascript:alert({number})//{evil}", "html": html, "site": evil})
    source = tmp_path / "pages.jsonl"
    source.write_text("".join(json.dumps(page) + "\n" for page in pages))
    assert main(["report", str(source), "-o", str(tmp_path / "a.html")]) in (0, 1)
    document = turbohtml.parse((tmp_path / "a.html").read_text(encoding="utf-8"))
    names = {element.tag for element in document.select("*")}
    assert names <= _OWN, names - _OWN
    for element in document.select("*"):
        assert not [name for name in element.attrs if name.startswith("on")]
    links = [str(element.attrs["href"]) for element in document.select("a")]
    assert links
    assert all(link.startswith("https://x.example/") for link in links)


def test_pages_that_it_is_not_about_are_said(tmp_path: Path) -> None:
    source = tmp_path / "pages.jsonl"
    lines = [f'{{"url": "https://x.example/{n}", "html": "<p>Rye {n}</p>"}}\n' for n in range(4)]
    source.write_text("".join(['{"url": 1}\n', *lines]))
    given = ["report", str(source), "-o", str(tmp_path / "a.html")]
    assert main([*given, "--pages", "3"]) == 1
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "Only the first 3 pages were read; there are more." in text
    assert "Pages that could not be used, and are not counted: 1." in text
    assert main([*given, "--pages", "4"]) == 1
    assert "Only the first" not in (tmp_path / "a.html").read_text(encoding="utf-8")


def test_headings_of_one_site_leave_out_no_level(tmp_path: Path) -> None:
    write_site(sample_site("shop", pages=4, seed=3), tmp_path / "shop")
    assert main(["report", str(tmp_path / "shop"), "-o", str(tmp_path / "a")]) == 0
    document = turbohtml.parse((tmp_path / "a").read_text(encoding="utf-8"))
    levels = [int(heading.tag[1]) for heading in document.select("h1, h2, h3, h4, h5")]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


@pytest.mark.parametrize(
    ("text", "words"),
    [("", 0), ("Rye and oats", 3), ("黑麦和燕麦", 5), ("ライ麦 of 2011 年", 6), ("귀리와 호밀", 2)],
)
def test_chinese_and_japanese_have_a_word_for_each_character(text: str, words: int) -> None:
    assert count_words(text) == words


def test_the_demo_counts_words_as_reports_do(tmp_path: Path) -> None:
    html = "<article><h1>燕麦</h1><p>黑麦和燕麦。</p></article>"
    url = "https://x.example/1"
    sample = {"folder": "x", "file": "1.html", "site": "x.example", "url": url, "html": html}
    assert _clean_site([sample], tmp_path).words_in == count_words("燕麦 黑麦和燕麦。")  # type: ignore[list-item]


def test_a_terminal_shows_how_far_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_site(sample_site("shop", pages=4, seed=3), tmp_path / "shop")
    given = ["report", str(tmp_path / "shop"), "-o", str(tmp_path / "a")]
    assert main(given) == 0
    assert capsys.readouterr().err == f"{tmp_path / 'a'}: a report on 4 pages of 1 site\n"
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert main(given) == 0
    said = capsys.readouterr().err
    assert "1 page read\r\x1b[K" in said
    assert "1 page judged\r\x1b[K" in said


def test_only_the_pages_that_are_looked_at_are_rendered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    done: list[object] = []

    class Browser:
        def __enter__(self) -> Browser:
            return self

        def __exit__(self, *_: object) -> None:
            done.append("closed")

        def render(self, page: Page, _: Limits) -> Page:
            done.append(page.url)
            return page

    monkeypatch.setattr("dehusk.page.browser.Browser", Browser)
    urls = [f'"https://x.example/{n}"' for n in range(5)]
    lines = [f'{{"url": {url}, "html": "<p>Rye"}}' for url in (1, *urls)]
    (tmp_path / "pages.jsonl").write_text("\n".join(lines))
    words = ["view", str(tmp_path / "pages.jsonl"), "--render", "--pages", "2"]
    viewed = Viewed(dehusk.open())
    assert read_into(viewed, make_parser("view").parse_args(words)) == 1
    assert done == ["https://x.example/0", "https://x.example/1", "closed"]
    assert viewed.is_cut
    assert "only the first 2 pages" in capsys.readouterr().err


def test_a_page_that_cannot_be_used_is_named_and_the_rest_told_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "pages.jsonl"
    source.write_text('{"url": "https://x.example/1", "html": "<p>Rye</p>"}\n{"url": 1}\n')
    assert main(["report", str(source), "-o", str(tmp_path / "a.html")]) == 1
    assert "dehusk: " in capsys.readouterr().err
    assert "x.example" in (tmp_path / "a.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["https://grain.example/"], "must be saved first"),
        (["pages.jsonl", "-o", "pages.jsonl"], "are the same file"),
        (["empty.jsonl"], "no page to look at"),
        (["pages.jsonl", "-o", "pages.jsonl/a.html"], "cannot write to"),
    ],
)
def test_wrong_use_is_said_in_one_sentence(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    given: list[str],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty.jsonl").write_text("")
    Path("pages.jsonl").write_text('{"url": "https://x.example/1", "html": "<p>Rye</p>"}\n')
    assert main(["report", *given]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
