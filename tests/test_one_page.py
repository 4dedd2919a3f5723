"""What a newcomer tries first: one page of the web, one file with its address, two folders."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace

import pytest

import dehusk
from dehusk.doors.cli import main
from dehusk.errors import UsageError
from dehusk.settings import SourceSettings
from hostile_server import HOST, Behaviour, allow_only_loopback, serve

PATIENCE = ["--allow-private", HOST, "--delay", "600", "-q"]
"""A delay that no test outlives: whoever waits without a reason never comes back."""


def _html(name: str) -> bytes:
    return (
        f"<title>{name}</title><nav><a href=/rye>Rye</a> <a href=/oats>Oats</a></nav><main>"
        f"<h1>{name}</h1><p>There were forty sacks of {name}, and room for no more than ten.</p>"
        "</main><footer>All rights reserved</footer>"
    ).encode()


def _said(name: str) -> str:
    return f"# {name}\n\nThere were forty sacks of {name}, and room for no more than ten.\n"


def _page(name: str) -> Behaviour:
    return lambda request: request.page(_html(name))


SITE: dict[str, Behaviour] = {
    "/rye": _page("rye"),
    "/oats": _page("oats"),
    "/old": lambda request: request.redirect("/older"),
    "/older": lambda request: request.redirect("/rye"),
    "/secret": _page("secret"),
    "/robots.txt": lambda request: request.page(b"User-agent: *\nDisallow: /secret"),
}


@pytest.fixture(autouse=True)
def only_loopback(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    return allow_only_loopback(monkeypatch)


@pytest.fixture
def give(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    """Puts bytes into standard input."""
    return lambda given: monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=BytesIO(given)))


def test_one_url_is_one_page_as_markdown_without_a_wait(capfd: pytest.CaptureFixture[str]) -> None:
    with serve(SITE) as server:
        assert main(["clean", f"{server.url}/rye", *PATIENCE]) == 0
        assert server.asked() == ["/rye"]
        assert "/robots.txt" in [request.path for request in server.requests]
    head, said = capfd.readouterr().out.split("---\n\n")
    assert head.startswith(f'---\nurl: "{server.url}/rye"\n')
    assert said == _said("rye")


def test_nobody_waits_where_a_redirect_leads(capfd: pytest.CaptureFixture[str]) -> None:
    with serve(SITE) as server:
        assert main(["clean", f"{server.url}/old", "--no-front-matter", *PATIENCE]) == 0
        assert server.asked() == ["/old", "/older", "/rye"]
    assert capfd.readouterr().out == _said("rye")


def test_several_urls_are_that_many_pages_and_spare_their_host(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with serve(SITE) as server:
        urls = [f"{server.url}/{name}" for name in ("oats", "none", "rye", "oats")]
        began = time.monotonic()
        more = ["--allow-private", HOST, "--delay", "0.2", "--format", "jsonl"]
        assert main(["clean", *urls, *more]) == 1
        assert time.monotonic() - began > 0.55
        assert [r.path for r in server.requests].count("/robots.txt") == 1
    said = capfd.readouterr()
    lines = [json.loads(line) for line in said.out.splitlines()]
    assert [line["url"] for line in lines] == urls
    assert [line["error"] is None for line in lines] == [True, False, True, True]
    assert "dehusk: http" in said.err


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("{server}/none", "status 404 Not Found"),
        ("{server}/secret", "forbidden by robots.txt; for a site of your own: --ignore robots"),
        ("http://127.0.0.2:1/", "which is not public (loopback); --allow-private 127.0.0.2"),
        ("http://no-such-host.invalid/", "no address for no-such-host.invalid"),
    ],
)
def test_a_page_that_cannot_be_had_is_one_clear_sentence(
    url: str, reason: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with serve(SITE) as server:
        url = url.format(server=server.url)
        assert main(["clean", url, "--allow-private", HOST]) == 1
    said = capfd.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"dehusk: {url}: ")
    assert reason in said.err
    assert said.err.count("\n") == 1


def test_a_page_of_the_web_teaches_a_memory_and_is_saved(tmp_path: Path) -> None:
    memory, saved = str(tmp_path / "a.husk"), str(tmp_path / "a.warc.gz")
    (tmp_path / "a.html").write_bytes(_html("wheat"))
    with serve(SITE) as server:
        urls = [f"{server.url}/rye", str(tmp_path / "a.html")]
        assert main(["clean", *urls, "--memory", memory, "--save", saved, *PATIENCE]) == 0
    with dehusk.open(memory) as sites:
        assert {row.name: row.pages for row in sites.sites()} == {
            server.url.removeprefix("http://"): 1,
            tmp_path.name: 1,
        }
    assert [page.html for page in dehusk.read(saved)] == [_html("rye")]


def test_a_crawl_takes_the_site_into_a_folder_and_can_be_resumed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with serve(SITE) as server:
        command = ["crawl", f"{server.url}/rye", "-o", f"{tmp_path}/site/", "--delay", "0"]
        assert main([*command, "--allow-private", HOST, "--pages", "1"]) == 0
        assert "to go on: the same command with --resume and more --pages" in capfd.readouterr().err
        assert main([*command, "--allow-private", HOST, "--resume"]) == 0
        assert "1 page of 1 site, 1 already written" in capfd.readouterr().err
        assert main([*command, "--allow-private", HOST, "--resume"]) == 0
        assert capfd.readouterr().err == "nothing left to clean: 2 pages already written\n"
    folder = tmp_path / "site" / server.url.removeprefix("http://").replace(":", "_")
    assert sorted(path.name for path in folder.iterdir()) == ["oats.md", "rye.md"]
    assert (folder / "oats.md").read_text("utf-8").endswith(_said("oats"))


@pytest.mark.slow
@pytest.mark.parametrize("form", ["markdown", "text", "html", "jsonl", "pieces"])
def test_a_terminal_and_a_pipe_get_the_same_bytes(form: str, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.html").write_bytes(_html(f"{name}\x1b[2J\x9b\x7f"))
    command = [sys.executable, "-m", "dehusk", "clean", str(tmp_path), "--format", form, "-q"]
    piped = subprocess.run(command, capture_output=True, check=True).stdout
    master, slave = os.openpty()
    with subprocess.Popen(command, stdout=slave, stderr=subprocess.PIPE) as process:
        os.close(slave)
        shown = b""
        try:
            while block := os.read(master, 1 << 16):
                shown += block
        except OSError:
            pass  # A terminal that nobody writes to any more.
        assert process.wait() == 0
    os.close(master)
    assert shown.replace(b"\r\n", b"\n") == piped
    assert b"\x1b" not in piped


def test_a_url_gives_a_file_and_standard_input_their_address(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], give: Callable[[bytes], None]
) -> None:
    html = b"<main><h1>Rye</h1><p>Sown in <a href=../oats>autumn</a>, and not too deep.</p></main>"
    (tmp_path / "page.html").write_bytes(html)
    give(html)
    for source in (str(tmp_path / "page.html"), "-"):
        more = ["--url", "https://grain.example/a/rye", "--format", "jsonl", "-q"]
        assert main(["clean", source, *more]) == 0
        answer = json.loads(capfd.readouterr().out)
        assert answer["url"] == "https://grain.example/a/rye"
        assert answer["site"] == "grain.example"
        assert "(https://grain.example/oats)" in answer["markdown"]


@pytest.mark.parametrize("given", [b'{"html": "<p>Rye"}\n', b"WARC/1.0\r\n"])
def test_an_address_for_several_pages_is_refused(
    given: bytes, capfd: pytest.CaptureFixture[str], give: Callable[[bytes], None]
) -> None:
    give(given)
    assert main(["clean", "-", "--url", "https://grain.example/rye", "-q"]) == 2
    said = capfd.readouterr()
    assert said.out == ""
    assert said.err == (
        "dehusk: --url is the address of one page, but stdin holds pages with their own\n"
    )


def _folders(root: Path, *names: str) -> list[str]:
    for name in names:
        (root / name).mkdir(parents=True)
        for page in ("rye", "oats"):
            (root / name / f"{page}.html").write_bytes(_html(f"{page} of {name}"))
    return [str(root / name) for name in names]


def test_folders_of_one_name_are_sites_with_addresses_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new, other = _folders(tmp_path, "old/html", "new/html", "news")
    monkeypatch.chdir(tmp_path)
    pages = list(dehusk.read(old, f"{new}/", other, "old/../new/html", f"{old}/rye.html"))
    places = [(page.site, page.url) for page in pages]
    assert places == [
        ("old/html", "file:old/html/oats.html"),
        ("old/html", "file:old/html/rye.html"),
        ("new/html", "file:new/html/oats.html"),
        ("new/html", "file:new/html/rye.html"),
        ("news", "file:oats.html"),
        ("news", "file:rye.html"),
        ("new/html", "file:new/html/oats.html"),
        ("new/html", "file:new/html/rye.html"),
        ("old/html", "file:old/html/rye.html"),
    ]


def test_a_folder_is_called_as_before_where_no_other_has_its_name(tmp_path: Path) -> None:
    old, new = _folders(tmp_path, "old/html", "new/html")
    for sources in ([old], [f"{new}/"], [old, f"{old}/", f"{old}/../html"]):
        pages = list(dehusk.read(*sources))
        assert {page.site for page in pages} == {"html"}
        assert {page.url for page in pages} == {"file:oats.html", "file:rye.html"}


def test_pages_of_folders_of_one_name_go_into_folders_of_their_own(tmp_path: Path) -> None:
    sources = _folders(tmp_path, "old/html", "new/html")
    out = tmp_path / "out"
    assert main(["clean", *sources, "-o", f"{out}/", "-q"]) == 0
    names = sorted(path.relative_to(out).as_posix() for path in out.rglob("*.md"))
    assert names == [f"{age}/html/{page}.md" for age in ("new", "old") for page in ("oats", "rye")]


def test_two_users_of_one_server_are_refused_in_one_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["clean", "http://a:1@grain.example/x", "http://b:2@grain.example/y"]) == 2
    assert "two users of http://grain.example" in capsys.readouterr().err


def test_an_address_without_a_page_is_refused() -> None:
    with pytest.raises(UsageError, match="--url is the address of one page"):
        dehusk.read(settings=SourceSettings(url="https://grain.example/"))
