"""A second crawl of a site says what has become of its pages, and clears up behind them."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dehusk.doors.cli import main
from hostile_server import Hostile, serve

GRAINS = ("rye", "oats", "barley", "millet", "spelt", "emmer", "teff")
_OLD = """<header><b>Almanac</b></header><nav><ul>{menu}</ul></nav><main>{content}</main>
<footer><p>Made by hand in the valley, twice a year.</p></footer>"""
_NEW = """<div class=top><a href="/">The almanac of the valley</a> <span>Our new look!</span>
<div class=side>{menu}</div></div><div class=page>{content}</div><div class=bottom><p>Printed in the
town on paper made of straw. Write to us about your fields and gardens.</p></div>"""


def content(name: str, more: str = "") -> str:
    """What the almanac says of a grain."""
    return f"""<h1>How {name} is grown</h1><p>{name.title()} is sown in autumn and stands through
the winter under snow; what is known of {name} on heavy soils fills this page and no other.</p>
<p>Whoever grows {name} for straw cuts it later than whoever bakes {name}, and dries it longer.</p>
{more}"""


class Almanac:
    """A site whose pages a test changes between two crawls."""

    def __init__(self, server: Hostile, folder: Path) -> None:
        self.server, self.folder = server, folder
        self.pages = {f"/{name}": content(name) for name in GRAINS}
        self.pages["/"] = content("grain")
        self.unlinked: set[str] = set()
        self.template = _OLD
        self.status = {"/sitemap.xml": "404 Not Found", "/robots.txt": "404 Not Found"}
        self.delay_s = 0.0
        server.paths |= dict.fromkeys(("/*", *self.status), self._answer)

    def _answer(self, request: Any) -> None:
        time.sleep(self.delay_s)
        status = self.status.get(request.path)
        text = self.pages.get(request.path)
        if status or text is None:
            request.page(b"<p>Nothing", status=status or "404 Not Found")
            return
        linked = [path for path in self.pages if path not in self.unlinked]
        menu = "".join(f'<li><a href="{path}">{path[1:] or "Home"}</a></li>' for path in linked)
        page = self.template.format(menu=menu, content=text)
        title = f"<!doctype html><html lang=en><title>{request.path} - Almanac</title>"
        request.page((title + page).encode())

    @property
    def command(self) -> list[str]:
        """The command line of a crawl in haste."""
        haste = ["--allow-private", "127.0.0.1", "--delay", "0", "--max-delay", "0"]
        place = ["-o", f"{self.folder / 'out'}/", "--changes", str(self.folder / "changes.jsonl")]
        return ["crawl", self.server.url, *place, *haste, "--retries", "0"]

    def crawl(self, *more: str) -> int:
        """Crawl it; the exit status."""
        return main([*self.command, *more])

    def changes(self) -> dict[str, list[str]]:
        """The paths of the last crawl's changes, by what became of the pages."""
        found: dict[str, list[str]] = {}
        for change in self.records():
            found.setdefault(change["change"], []).append(self.path(change["url"]))
        return {kind: sorted(paths) for kind, paths in found.items()}

    def records(self) -> list[dict[str, Any]]:
        """The lines of the file of changes."""
        written = (self.folder / "changes.jsonl").read_text("utf-8")
        assert not written or written.endswith("\n")
        return [json.loads(line) for line in written.splitlines()]

    def path(self, url: str) -> str:
        """The path of a page's URL."""
        return url.removeprefix(self.server.url)

    def files(self) -> set[str]:
        """The names of all outputs."""
        return {file.name for file in (self.folder / "out").rglob("*.*") if file.suffix != ".crawl"}


@pytest.fixture
def almanac(tmp_path: Path) -> Iterator[Almanac]:
    """A site of eight pages, crawled once."""
    with serve({}) as server:
        site = Almanac(server, tmp_path)
        assert site.crawl() == 0
        yield site


def test_the_first_crawl_calls_all_pages_new(almanac: Almanac) -> None:
    assert almanac.changes() == {"new": sorted(almanac.pages)}


def test_a_crawl_of_an_unchanged_site_has_no_changes(almanac: Almanac) -> None:
    almanac.crawl()
    assert almanac.records() == []


def test_a_re_crawl_tells_new_changed_moved_and_gone_pages_from_a_redesign(
    almanac: Almanac, capsys: pytest.CaptureFixture[str]
) -> None:
    del almanac.pages["/rye"]
    almanac.pages["/oats"] = content("oats", "<p>Oats were dear this year, for it rained.</p>")
    almanac.pages["/news/barley"] = almanac.pages.pop("/barley")
    almanac.pages["/quinoa"] = content("quinoa")
    almanac.template = _NEW
    capsys.readouterr()
    almanac.crawl("--prune")
    assert almanac.changes() == {
        "new": ["/quinoa"],
        "changed": ["/oats"],
        "moved": ["/news/barley"],
        "gone": ["/rye"],
    }
    records = {record["change"]: record for record in almanac.records()}
    assert records["moved"]["previous_url"] == f"{almanac.server.url}/barley"
    assert records["changed"]["added"] == ["Oats were dear this year, for it rained."]
    assert records["changed"]["removed"] == []
    told = "since the crawl before: 1 new, 1 changed, 1 moved, 1 gone (2 outputs removed)\n"
    assert told in capsys.readouterr().err
    assert "rye.md" not in almanac.files()
    assert {"barley.md", "oats.md", "quinoa.md"} <= almanac.files()
    almanac.crawl("--prune")
    assert almanac.records() == []


def test_a_redesign_alone_is_no_change(almanac: Almanac) -> None:
    almanac.template = _NEW
    almanac.crawl()
    assert almanac.records() == []


def test_a_page_that_is_there_but_no_longer_linked_is_gone_after_a_full_crawl(
    almanac: Almanac,
) -> None:
    # They still link each other, as the pages of an old version do.
    almanac.unlinked = {"/rye", "/oats"}
    almanac.pages["/rye"] += '<p><a href="/oats">Oats</a></p>'
    almanac.pages["/oats"] += '<p><a href="/rye">Rye</a></p>'
    almanac.crawl()
    assert almanac.changes() == {"gone": ["/oats", "/rye"]}
    assert {record["reason"] for record in almanac.records()} == {"no longer linked"}
    assert "rye.md" in almanac.files()
    almanac.crawl("--prune")
    assert almanac.records() == []
    assert not {"rye.md", "oats.md"} & almanac.files()


def test_a_page_that_is_gone_does_not_come_back_because_another_fails(almanac: Almanac) -> None:
    almanac.unlinked = {"/rye"}
    almanac.crawl()
    assert almanac.changes() == {"gone": ["/rye"]}
    almanac.status["/oats"] = "500 Oops"
    almanac.crawl()
    assert almanac.records() == []


def test_a_page_that_comes_back_is_new_and_written_again(almanac: Almanac) -> None:
    almanac.unlinked = {"/rye"}
    almanac.crawl("--prune")
    assert "rye.md" not in almanac.files()
    almanac.unlinked = set()
    almanac.crawl("--prune")
    assert almanac.changes() == {"new": ["/rye"]}
    assert "rye.md" in almanac.files()


def test_a_page_that_redirects_or_may_not_be_kept_is_gone_after_a_full_crawl(
    almanac: Almanac,
) -> None:
    almanac.server.paths["/rye"] = lambda request: request.redirect("/")
    noindex = "X-Robots-Tag: noindex"
    almanac.server.paths["/oats"] = lambda request: request.page(b"<p>Oats", noindex)
    almanac.server.paths["/teff"] = lambda request: request.redirect("/grains/teff")
    almanac.pages["/grains/teff"] = almanac.pages["/teff"]
    almanac.crawl("--prune")
    assert almanac.changes() == {"moved": ["/grains/teff"], "gone": ["/oats", "/rye"]}
    reasons = {almanac.path(r["url"]): r["reason"] for r in almanac.records()}
    assert reasons["/rye"] == "leads to a page already known"
    assert reasons["/oats"] == "noindex"
    assert not {"rye.md", "oats.md"} & almanac.files()
    assert len([*almanac.folder.rglob("teff.md")]) == 1


def test_a_line_that_comes_to_most_pages_is_template_and_one_on_a_few_is_content(
    almanac: Almanac,
) -> None:
    few, most = "<p>It is sold out until autumn.</p>", "<p>All prices rise in May.</p>"
    almanac.pages |= {path: text + most for path, text in almanac.pages.items()}
    for name in ("rye", "oats", "teff"):
        almanac.pages[f"/{name}"] += few
    almanac.crawl()
    assert almanac.changes() == {"changed": ["/oats", "/rye", "/teff"]}
    assert [record["added"] for record in almanac.records()] == [
        ["It is sold out until autumn."]
    ] * 3


@pytest.mark.parametrize(
    ("option", "fault"),
    [
        (["--depth", "0"], "too far from the start"),
        (["--pages", "1"], "the crawl was cut off"),
        (["--exclude", "*teff*"], "the crawl before had other options"),
    ],
)
def test_a_crawl_that_was_cut_prunes_nothing(
    option: list[str], fault: str, almanac: Almanac, capsys: pytest.CaptureFixture[str]
) -> None:
    almanac.template = _NEW
    almanac.unlinked = {"/rye"}
    before = almanac.files()
    assert almanac.crawl("--prune", *option) == 1
    assert "no output was removed: " in (said := capsys.readouterr().err)
    assert fault in said
    assert "gone" not in almanac.changes()
    assert almanac.files() == before


@pytest.mark.parametrize("path", ["/", "/oats"])
@pytest.mark.parametrize("status", ["500 Oops", "403 Forbidden", "429 Slow down"])
def test_a_crawl_in_which_a_page_fails_prunes_nothing(
    path: str, status: str, almanac: Almanac, capsys: pytest.CaptureFixture[str]
) -> None:
    almanac.status[path] = status
    almanac.unlinked = {"/rye"}
    before = almanac.files()
    assert almanac.crawl("--prune") == 1
    assert f"no output was removed: {almanac.server.url}{path} failed" in capsys.readouterr().err
    assert almanac.records() == []
    assert almanac.files() == before
    del almanac.status[path]
    almanac.crawl("--prune")
    assert almanac.changes() == {"gone": ["/rye"]}


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        ("/robots.txt", "the crawl could not start"),
        ("/sitemap.xml", "not every robots.txt and sitemap could be read"),
    ],
)
def test_a_server_that_fails_to_say_what_it_has_loses_no_page(
    path: str, fault: str, almanac: Almanac, capsys: pytest.CaptureFixture[str]
) -> None:
    almanac.status[path] = "500 Oops"
    almanac.unlinked = {"/rye"}
    before = almanac.files()
    assert almanac.crawl("--prune") == 1
    assert f"no output was removed: {fault}" in capsys.readouterr().err
    assert almanac.records() == []
    assert almanac.files() == before
    almanac.status[path] = "404 Not Found"
    almanac.crawl("--prune")
    assert almanac.changes() == {"gone": ["/rye"]}


def test_a_home_page_without_links_does_not_empty_the_folder(
    almanac: Almanac, capsys: pytest.CaptureFixture[str]
) -> None:
    almanac.unlinked = set(almanac.pages)
    before = almanac.files()
    assert almanac.crawl("--prune") == 1
    said = "no output was removed: 7 of 8 pages would be gone, which looks like a fault of the site"
    assert said in capsys.readouterr().err
    assert "gone" not in almanac.changes()
    assert almanac.files() == before


def test_a_home_page_that_is_gone_takes_no_other_page_with_it(almanac: Almanac) -> None:
    almanac.status["/"] = "404 Not Found"
    before = almanac.files()
    assert almanac.crawl("--prune") == 1
    assert almanac.files() == before


def test_pruning_touches_no_file_that_is_not_the_crawls(almanac: Almanac) -> None:
    site = next(path for path in (almanac.folder / "out").iterdir() if path.is_dir())
    foreign = [site / "mine.md", site / "rye.txt", almanac.folder / "out" / "notes.md"]
    for path in foreign:
        path.write_text("mine")
    del almanac.pages["/rye"]
    almanac.crawl("--prune")
    assert not (site / "rye.md").exists()
    assert [path.read_text() for path in foreign] == ["mine"] * 3


def test_pruning_another_folder_than_the_last_crawls_removes_nothing(
    almanac: Almanac, tmp_path: Path
) -> None:
    state = str(tmp_path / "out" / "dehusk.crawl")
    other = tmp_path / "other"
    for place in (tmp_path / "out").rglob("rye.md"):
        copy = other / place.relative_to(tmp_path / "out")
        copy.parent.mkdir(parents=True)
        copy.write_text("mine")
    del almanac.pages["/rye"]
    almanac.crawl("--prune", "--state", state, "-o", f"{other}/")
    assert almanac.changes() == {"gone": ["/rye"]}
    assert [file.read_text() for file in other.rglob("rye.md")] == ["mine"]
    assert "rye.md" in almanac.files()


def test_blocks_are_told_only_where_the_last_output_is_there(almanac: Almanac) -> None:
    for name in ("oats", "rye"):
        almanac.pages[f"/{name}"] = content(name, f"<p>There is more to say on {name}.</p>")
    next((almanac.folder / "out").rglob("oats.md")).unlink()
    almanac.crawl()
    found = {almanac.path(record["url"]): record["added"] for record in almanac.records()}
    assert found == {"/oats": None, "/rye": ["There is more to say on rye."]}


@pytest.mark.parametrize("form", ["text", "jsonl", "html"])
def test_blocks_are_told_of_formats_that_can_be_read_back(form: str, tmp_path: Path) -> None:
    with serve({}) as server:
        site = Almanac(server, tmp_path)
        site.crawl("--format", form)
        site.pages["/oats"] = content("oats").replace("Whoever grows oats for straw", "Who grows")
        site.crawl("--format", form)
        (change,) = site.records()
        assert change["change"] == "changed"
        if form == "html":
            assert change["added"] is None
        else:
            assert [block[:9] for block in change["added"]] == ["Who grows"]
            assert [block[:13] for block in change["removed"]] == ["Whoever grows"]


def test_a_single_file_and_a_memory_know_changes_too(tmp_path: Path) -> None:
    with serve({}) as server:
        site = Almanac(server, tmp_path)
        place = ["-o", str(tmp_path / "out.jsonl"), "--memory", str(tmp_path / "site.husk")]
        site.crawl(*place)
        site.pages["/oats"] = content("oats", "<p>There is more to say on oats.</p>")
        del site.pages["/rye"]
        site.crawl(*place)
        assert site.changes() == {"changed": ["/oats"], "gone": ["/rye"]}


def _interrupted(site: Almanac, after: int, *more: str) -> None:
    """Start a crawl and kill it once it has asked for so many files."""
    line = [sys.executable, "-m", "dehusk", *site.command, "-q", *more]
    asked = len(site.server.requests)
    with subprocess.Popen(line, env=os.environ) as process:
        while len(site.server.requests) < asked + after and process.poll() is None:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)


@pytest.mark.slow
def test_a_re_crawl_killed_at_any_moment_tells_and_prunes_nothing_wrong(almanac: Almanac) -> None:
    del almanac.pages["/rye"]
    almanac.pages["/oats"] = content("oats", "<p>Oats were dear this year, for it rained.</p>")
    almanac.pages["/news/barley"] = almanac.pages.pop("/barley")
    almanac.template, almanac.delay_s = _NEW, 0.02
    told, files = (almanac.folder / "changes.jsonl").read_bytes(), almanac.files()
    dice = random.Random(7)
    for more in ([], ["--resume"], ["--resume"]):
        _interrupted(almanac, dice.randint(3, 5), "--prune", *more)
        if (almanac.folder / "changes.jsonl").read_bytes() == told:
            assert files <= almanac.files()
    almanac.crawl("--prune", "--resume")
    assert almanac.changes() == {"changed": ["/oats"], "moved": ["/news/barley"], "gone": ["/rye"]}
    (changed,) = (record for record in almanac.records() if record["change"] == "changed")
    assert changed["added"] == ["Oats were dear this year, for it rained."]
    assert not {"rye.md"} & almanac.files()


def test_changes_that_could_not_be_written_are_told_by_resuming(
    almanac: Almanac, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    del almanac.pages["/rye"]

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("dehusk.workers.changes.write_whole", full)
        assert almanac.crawl("--prune") != 0
    assert "rye.md" in almanac.files()
    capsys.readouterr()
    assert almanac.crawl("--prune") == 2
    assert "--resume goes on with it" in capsys.readouterr().err
    almanac.crawl("--prune", "--resume")
    assert almanac.changes() == {"gone": ["/rye"]}
    assert "rye.md" not in almanac.files()


def test_the_summary_for_programs_counts_changes(
    almanac: Almanac, capsys: pytest.CaptureFixture[str]
) -> None:
    del almanac.pages["/rye"]
    capsys.readouterr()
    almanac.crawl("--prune", "--log-format", "json")
    summary = json.loads(capsys.readouterr().err.splitlines()[-1])
    counts = {"new": 0, "changed": 0, "moved": 0, "gone": 1, "pruned": 1}
    assert summary["changes"] == counts


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--prune"], "--prune needs a folder with a file for each page: -o FOLDER/"),
        (["--prune", "-o", "a.jsonl"], "--prune needs a folder"),
        (["--prune", "-o", "a/", "--fresh"], "--fresh forgets which pages there were"),
        (["--changes", "c.jsonl"], "--changes needs -o or --state"),
        (["--changes", "-", "-o", "a/"], "--changes needs the name of a file"),
        (["--changes", ".", "-o", "a/"], "not a regular file"),
        (["--changes", "a.jsonl", "-o", "a.jsonl"], "the same file"),
    ],
)
def test_what_nobody_could_tell_is_refused(
    options: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["crawl", "http://127.0.0.1:9/", *options]) == 2
    assert said in capsys.readouterr().err


def test_clean_names_the_command_that_tells_changes(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["clean", "https://example.org", "--changes", "c.jsonl"])
    assert "dehusk crawl" in capsys.readouterr().err


def test_a_page_whose_output_was_removed_is_written_again(almanac: Almanac) -> None:
    files = sorted((almanac.folder / "out").rglob("*.md"))
    lost, name = files[1], files[1].stem
    assert f"# How {name} is grown" in lost.read_text("utf-8")
    lost.unlink()
    assert almanac.crawl() == 0
    assert f"# How {name} is grown" in lost.read_text("utf-8")
    assert almanac.changes() == {}
