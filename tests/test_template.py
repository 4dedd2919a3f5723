"""`dehusk template`, and `dehusk clean` with a method that follows links."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dehusk.doors.cli import main
from dehusk.page.page import Page
from dehusk.template.templates import PageLoader

SITE = "https://grain.example"
NAMES = ("rye", "oats", "barley", "wheat")


def _page(name: str) -> str:
    menu = "".join(f'<li><a href="/{other}.html">{other}</a></li>' for other in NAMES)
    return (
        f"<title>{name}</title><div class=top><ul>{menu}</ul></div>"
        f"<div class=main><h1>All about {name}</h1><p>The grain called {name} is old.</p></div>"
        "<div class=bottom>All rights reserved</div>"
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pages = tmp_path / "pages"
    pages.mkdir()
    for name in NAMES:
        (pages / f"{name}.html").write_text(_page(name), encoding="utf-8")
    index = {f"{name}.html": f"{SITE}/{name}.html" for name in NAMES}
    (pages / "index.json").write_text(json.dumps(index), encoding="utf-8")
    return pages


def _run(*arguments: str) -> int:
    return main(["template", *arguments])


@pytest.mark.parametrize("page", ["file", "url"])
@pytest.mark.parametrize(
    "method",
    [
        ["hyperlink", "--set", "equality=text"],
        ["segments", "--set", "min_count=3"],
        ["rtdm"],
        ["site-hash"],
    ],
)
def test_the_template_of_a_page_is_what_its_site_repeats(
    folder: Path, method: list[str], page: str, capfd: pytest.CaptureFixture[str]
) -> None:
    name = str(folder / "rye.html") if page == "file" else f"{SITE}/rye.html"
    assert _run(name, "--against", str(folder), "--method", *method) == 0
    html = capfd.readouterr().out
    assert html.startswith("<!DOCTYPE html>")
    assert "All rights reserved" in html
    assert "barley" in html
    assert "is old" not in html


def test_the_folder_of_the_page_is_what_it_is_compared_with(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert (
        _run(str(folder / "rye.html"), "--method", "hyperlink", "--size", "3", "--votes", "2") == 0
    )
    shown = capfd.readouterr()
    assert "pages loaded" in shown.err
    assert "All rights reserved" in shown.out


def test_json_has_the_verdict_on_every_node(
    folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "out.json"
    page = str(folder / "oats.html")
    assert _run(page, "--method", "hyperlink", "--format", "json", "-o", str(target)) == 0
    assert capfd.readouterr().out == ""
    answer = json.loads(target.read_text(encoding="utf-8"))
    assert answer["url"] == f"{SITE}/oats.html"
    by_text = {node["text"]: node for node in answer["nodes"] if node["text"]}
    assert by_text["All rights reserved"]["label"] == "template"
    assert [node["node"] for node in answer["nodes"]] == list(range(len(answer["nodes"])))


def test_a_page_that_is_alone_still_gives_an_answer_and_says_why(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "alone.html"
    page.write_text("<p>No links here.</p>", encoding="utf-8")
    assert _run(str(page), "--method", "hyperlink") == 0
    shown = capfd.readouterr()
    assert shown.out.startswith("<!DOCTYPE html>")
    assert "link" in shown.err


def test_pages_of_other_sites_are_left_out(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    index["wheat.html"] = "https://other.example/wheat.html"
    (folder / "index.json").write_text(json.dumps(index), encoding="utf-8")
    assert _run(str(folder / "rye.html")) == 0
    assert "1 page of other sites left out" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no-such.html"], "neither a file nor the URL"),
        (["rye.html", "--against", "no-such-folder"], "no-such-folder"),
        (["rye.html", "--method", "segments", "--size", "3"], "size"),
        (["rye.html", "--method", "hyperlink", "--votes", "9"], "votes"),
        (["rye.html", "--method", "hyperlink", "--set", "loader=x"], "loader"),
    ],
)
def test_wrong_use_is_status_2(
    folder: Path,
    arguments: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    assert _run(*arguments) == 2
    assert message in capfd.readouterr().err


def test_clean_can_follow_links_within_its_sources(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["clean", str(folder), "--method", "hyperlink", "--format", "text"]) == 0
    pages = capfd.readouterr().out.split("\f")
    assert len(pages) == len(NAMES)
    assert all("All rights reserved" not in page for page in pages)
    assert main(["clean", "-", "--method", "hyperlink"]) == 2


def test_a_loader_gives_trees_by_url_and_none_for_what_is_not_there() -> None:
    pages = [Page(_page(name), f"{SITE}/{name}.html") for name in NAMES]
    load = PageLoader([*pages, Page(b"\x89PNG" + bytes(99), f"{SITE}/x.png")])
    tree = load(f"{SITE}/rye.html#top")
    assert tree is not None
    assert tree.url == f"{SITE}/rye.html"
    assert load(f"{SITE}/rye.html") is tree
    assert load(f"{SITE}/none.html") is None
    assert load(f"{SITE}/x.png") is None


def test_a_loader_knows_pages_by_the_urls_that_redirect_to_them() -> None:
    page = Page(_page("rye"), f"{SITE}/rye/")
    load = PageLoader([page], names={f"{SITE}/rye": page})
    tree = load(f"{SITE}/rye")
    assert tree is not None
    assert tree.url == f"{SITE}/rye/"


def test_the_size_alone_brings_its_own_votes(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    page = str(folder / "rye.html")
    for size in ("1", "2", "8"):
        assert _run(page, "--method", "hyperlink", "--size", size) == 0
    assert capfd.readouterr().out.count("<!DOCTYPE html>") == 3


def test_a_broken_page_among_the_others_is_named_and_passed_over(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "index.json").unlink()
    (folder / "broken.html").write_bytes(b"\x89PNG" + bytes(99))
    assert _run(str(folder / "rye.html"), "--method", "rtdm") == 1
    shown = capfd.readouterr()
    assert "binary" in shown.err
    assert "All rights reserved" in shown.out


@pytest.mark.parametrize("target", ["rye.html", "new.html", "."])
def test_a_template_is_never_written_over_a_page(folder: Path, target: str) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert _run(str(folder / "rye.html"), "-o", str(folder / target)) == 2
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_single_files_of_a_folder_are_one_site(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in NAMES:
        (tmp_path / f"{name}.html").write_text(_page(name), encoding="utf-8")
    paths = [str(tmp_path / f"{name}.html") for name in NAMES]
    assert (
        _run(paths[0], "--against", *paths[1:], "--method", "segments", "--set", "min_count=3") == 0
    )
    shown = capfd.readouterr()
    assert "compared with 3 other pages" in shown.err
    assert "All rights reserved" in shown.out


def test_a_file_of_json_lines_is_not_a_page(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    crawl = tmp_path / "crawl.jsonl"
    line = json.dumps({"url": f"{SITE}/x", "html": _page("rye")})
    crawl.write_text(f"{line}\n{line}\n", encoding="utf-8")
    assert _run(str(crawl)) == 2
    assert "not one page" in capfd.readouterr().err
