"""`dehusk template URL` and `clean URL --method hyperlink`, on sites that are well and others."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import pytest

import dehusk
from chromium import executable
from dehusk.doors.cli import main
from dehusk.errors import UsageError
from hostile_server import Behaviour, Hostile, allow_only_loopback, home, sends, serve, then

NAMES = ("rye", "oats", "wheat", "barley", "millet")
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(autouse=True)
def only_loopback(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    return allow_only_loopback(monkeypatch)


def page(name: str, menu: Sequence[str] = NAMES, more: str = "") -> bytes:
    links = "".join(f'<li><a href="/{other}">{other}</a></li>' for other in menu)
    return (
        f"<title>{name}</title><div class=top><ul>{links}</ul></div>"
        f"<div class=main><h1>All about {name}</h1><p>The grain called {name} is old, and it grows"
        f" in fields where {name} was always grown.</p>{more}</div>"
        "<div class=bottom>All rights reserved</div>"
    ).encode()


def site(*bad: str) -> dict[str, Behaviour]:
    """A site whose pages all link each other; those named bad are not there."""
    return {
        f"/{name}": lambda r, name=name: r.page(page(name))  # type: ignore[misc]
        for name in NAMES
        if name not in bad
    }


class Ran(NamedTuple):
    status: int
    out: str
    err: str


class Run:
    """Runs a command on a server."""

    def __init__(self, capfd: pytest.CaptureFixture[str]) -> None:
        self._capfd = capfd

    def __call__(self, command: str, server: Hostile, path: str, *more: str) -> Ran:
        polite = [
            "--allow-private",
            "127.0.0.1",
            "--delay",
            "0",
            "--retries",
            "0",
            "--fetch-timeout",
            "20",
        ]
        urls = [server.url + name for name in path.split()]
        status = main([command, *urls, *polite, *more])
        out, err = self.read()
        return Ran(status, out, err.replace(server.url, ""))

    def read(self) -> tuple[str, str]:
        """What was written since."""
        return self._capfd.readouterr()


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    return Run(capfd)


def test_a_page_of_the_web_is_compared_with_a_few_that_it_links(run: Run) -> None:
    with serve(site()) as server:
        status, out, err = run("template", server, "/rye")
        assert status == 0
        assert "All rights reserved" in out
        assert "<!-- slot: main -->" in out
        assert "fields" not in out
        # Three that link each other are enough: nothing is asked for that is not needed.
        assert len(server.asked()) == 4
        assert [line.split()[1] for line in err.splitlines()[:4]] == server.asked()
        assert "3 pages that all link each other; 4 pages loaded" in err


@pytest.mark.parametrize("method", ["hyperlink", "site-hash"])
def test_the_library_gives_the_template_that_the_command_gives(run: Run, method: str) -> None:
    told: dict[str, bool] = {}
    polite = dehusk.CrawlSettings(allow_private=("127.0.0.1",), delay_s=0, retries=0)
    with serve(site("oats")) as server:
        written = run("template", server, "/rye", "--method", method, "-q").out
        template = dehusk.template_at(
            f"{server.url}/rye",
            method=method,
            crawl=polite,
            on_load=lambda url, found: told.update({url: isinstance(found, dehusk.Page)}),
        )
        assert template.html.strip() == written.strip()
        assert told.pop(f"{server.url}/oats") is False
        assert set(told.values()) == {True}
        before = len(server.requests)
        with pytest.raises(UsageError, match="has no setting"):
            dehusk.template_at(server.url, method=method, crawl=polite, colour=3)
        assert len(server.requests) == before
        with pytest.raises(dehusk.PageError, match="404"):
            dehusk.template_at(f"{server.url}/oats", method=method, crawl=polite)


def test_one_page_of_the_web_is_cleaned_by_those_that_it_links(run: Run) -> None:
    with serve(site()) as server:
        status, out, err = run(
            "clean", server, "/oats", *["--method", "hyperlink", "--size", "2", "--format", "jsonl"]
        )
        assert status == 0
        (line,) = out.splitlines()
        answer = json.loads(line)
        assert answer["url"] == f"{server.url}/oats"
        assert answer["text"].startswith("All about oats")
        assert "rights" not in answer["text"]
        assert len(server.asked()) == 3
        assert "1 page of 1 site" in err


def test_several_pages_are_key_pages_each_and_one_that_fails_ends_nothing(
    run: Run, tmp_path: Path
) -> None:
    with serve(site("rye")) as server:
        more = ["--method", "hyperlink", "-o", str(tmp_path / "out.jsonl")]
        status, _, err = run("clean", server, "/oats /rye", *more)
        assert status == 1
        lines = [json.loads(x) for x in (tmp_path / "out.jsonl").read_text().splitlines()]
        assert [bool(line["error"]) for line in lines] == [False, True]
        assert "dehusk: /rye: status 404 Not Found" in err


def test_another_method_compares_with_the_pages_that_the_search_loads(run: Run) -> None:
    with serve(site()) as server:
        status, out, err = run(
            "template", server, "/rye", "--method", "site-hash", "--size", "4", "--format", "slots"
        )
        assert status == 0
        assert json.loads(out)["method"] == "site-hash"
        assert err.splitlines()[-2:] == [
            "compared with 4 other pages",
            "4 pages of the same family, 1 slot",
        ]
        assert "must have a node" not in err
        assert len(server.asked()) == 5


def test_the_picture_shows_who_links_whom(run: Run) -> None:
    with serve(site("millet")) as server:
        status, out, _ = run("template", server, "/rye", "--format", "graph", "-q")
        assert status == 0
        picture = ElementTree.fromstring(out)
        kinds = [group.get("class") for group in picture.iter(f"{SVG}g")]
        assert kinds == ["key", "voter", "voter", "voter"]
        # Each of four pages links the three others, and is linked by them.
        lines = list(picture.iter(f"{SVG}line"))
        assert [line.get("stroke-dasharray") for line in lines] == [None] * 6
        titles = [title.text for title in picture.iter(f"{SVG}title")]
        assert titles[1] == f"{server.url}/rye"


def test_a_run_that_is_quiet_says_nothing_where_all_is_well(run: Run) -> None:
    with serve(site()) as server:
        assert run("template", server, "/rye", "-q").err == ""
        assert run("clean", server, "/rye", "--method", "hyperlink", "-q").err == ""


def test_a_log_for_programs_names_every_load(run: Run) -> None:
    with serve(site("oats")) as server:
        ran = run("clean", server, "/rye", "--method", "hyperlink", "--log-format", "json")
        events = [json.loads(line)["event"] for line in ran.err.splitlines()]
        assert set(events) == {"loaded", "not_loaded", "compared", "summary"}
        assert events[0] == "loaded"


def test_redirects_of_the_menu_are_followed_and_no_page_votes_twice(run: Run) -> None:
    paths = site()
    paths["/oats/"] = paths["/oats"]
    paths["/oats"] = lambda r: r.redirect("/oats/")
    paths["/wheat"] = lambda r: r.redirect("/oats/")
    paths["/barley"] = lambda r: r.redirect("/rye")
    with serve(paths) as server:
        status, _, err = run("template", server, "/rye")
        assert status == 0
        assert "loaded /oats (redirected to /oats/)" in err
        assert "left out /wheat: it is a page that was loaded before" in err
        assert "left out /barley: it is the page itself" in err
        assert "no 3 pages link each other" in err


SLOW = ("hangs", "cut off")
BAD: dict[str, tuple[Behaviour, str]] = {
    "in a circle": (lambda r: r.redirect(r.path), "redirects"),
    "to another host": (lambda r: r.redirect("http://elsewhere.example/"), "on another site"),
    "to a private address": (lambda r: r.redirect("http://10.0.0.1/"), "on another site"),
    "hangs": (lambda r: time.sleep(30), "no complete answer within 3 s"),
    "a picture": (
        sends(b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n\x89PNG"),
        "image/png, not HTML",
    ),
    "a picture that says it is HTML": (
        sends(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n\x89PNG\r\n\x1a\n" + bytes(99)),
        "binary data",
    ),
    "not there": (lambda r: r.page(b"", status="410 Gone"), "status 410 Gone"),
    "cut off": (lambda r: None, "closed the connection"),
    "noindex": (lambda r: r.page(page("x"), "X-Robots-Tag: noindex"), "asks for noindex"),
}


CASES = [pytest.param(case, marks=pytest.mark.slow if case in SLOW else ()) for case in BAD]


def patience(case: str) -> list[str]:
    """Short only where a server hangs: on a busy machine others may take their time too."""
    return ["--fetch-timeout", "3"] if case == "hangs" else []


@pytest.mark.parametrize("case", CASES)
def test_links_that_lead_nowhere_are_named_and_others_take_their_place(
    run: Run, case: str, only_loopback: list[str]
) -> None:
    behaviour, reason = BAD[case]
    paths = site() | {"/oats": behaviour, "/wheat": behaviour}
    with serve(paths) as server:
        status, out, err = run("template", server, "/rye", *patience(case))
        assert status == 0
        assert "All rights reserved" in out
        assert err.count("not loaded") == 2
        assert reason in err
        assert "no 3 pages link each other: 2 do" in err
        assert "2 links could not be used" in err
    assert set(only_loopback) == {"127.0.0.1"}


@pytest.mark.parametrize("case", CASES)
def test_a_key_page_that_cannot_be_had_is_an_error_with_its_reason(run: Run, case: str) -> None:
    behaviour, reason = BAD[case]
    if case == "to another host":
        reason = "no address for elsewhere.example"  # Where the key page leads, there the site is.
    if case == "to a private address":
        reason = ""  # Tried, since private addresses are allowed here.
    with serve(site() | {"/key": behaviour}) as server:
        for more in (["template"], ["clean", "--method", "hyperlink"]):
            status, out, err = run(more[0], server, "/key", *more[1:], *patience(case))
            assert status == 1
            assert reason in err
            assert "All rights" not in out
            assert "Traceback" not in err


ALONE: dict[str, tuple[dict[str, Behaviour], str]] = {
    "no links": ({"/key": lambda r: r.page(page("rye", ()))}, "links no other page of its site"),
    "links to nowhere": ({"/key": lambda r: r.page(page("rye"))}, "4 links could not be used"),
    "links to others": (
        {"/key": home("https://a.example/", "https://b.example/")},
        "2 links to other sites left out",
    ),
    "robots": (
        site()
        | {
            "/key": lambda r: r.page(page("rye")),
            "/robots.txt": lambda r: r.page(b"User-agent: *\nDisallow: /\nAllow: /key"),
        },
        "forbidden by robots.txt",
    ),
    "nofollow": (
        site() | {"/key": lambda r: r.page(page("rye"), "X-Robots-Tag: nofollow")},
        "nofollow",
    ),
    "nothing at all": ({"/key": lambda r: r.page(b"")}, "links no other page of its site"),
}


@pytest.mark.parametrize("case", ALONE)
def test_a_page_that_stands_alone_is_judged_alone_and_the_reason_is_said(
    run: Run, case: str
) -> None:
    paths, sentence = ALONE[case]
    with serve(paths) as server:
        status, out, err = run("template", server, "/key")
        assert status == 0
        assert out.startswith("<!DOCTYPE html>")
        assert sentence in err
        assert "the page was judged by itself" in err
        assert server.asked()[0] == "/key"
        cleaned = run("clean", server, "/key", "--method", "hyperlink")
        assert cleaned.status == 0
        assert "the page was judged by itself" in cleaned.err
        # The papers have no verdict on a page alone: in both commands there is no answer.
        for command in ("template", "clean"):
            more = ["--method", "hyperlink", "--equality", "paper"]
            assert run(command, server, "/key", *more).status == 1
            # The status is explained whatever else is not said.
            status, _, err = run(command, server, "/key", *more, "-q")
            assert status == 1
            assert "so there is none" in err or "no page could be loaded" in err
            assert err.count("\n") == 1


def test_links_that_cost_no_request_leave_room_for_others(run: Run) -> None:
    names = [*(f"no{n}" for n in range(9)), *NAMES]
    robots: Behaviour = lambda r: r.page(b"User-agent: *\nDisallow: /no")  # noqa: E731
    key: Behaviour = lambda r: r.page(page("rye", names))  # noqa: E731
    with serve(site() | {"/key": key, "/robots.txt": robots}) as server:
        status, _, err = run("template", server, "/key")
        assert status == 0
        assert err.count("forbidden by robots.txt") == 9
        assert len(server.asked()) <= 5
    dead: Behaviour = lambda r: r.page(page("rye", [*"abcd", *NAMES]))  # noqa: E731
    with serve(site() | {"/key": dead}) as server:
        status, _, err = run("template", server, "/key")
        assert status == 0
        assert "the page was judged by itself" in err
        assert "5 more not followed: no more than 5 pages are asked for; try a higher --max" in err


def test_a_search_is_repeated_from_its_archive_by_the_url_that_was_given(
    run: Run, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    saved = str(tmp_path / "a.warc.gz")
    with serve(site()) as server:
        first = run("template", server, "/rye?utm_source=x", "--save", saved)
    assert first.status == 0
    assert main(["template", f"{server.url}/rye?utm_source=x", "--against", saved]) == 0
    assert capfd.readouterr().out == first.out
    assert main(["template", f"{server.url}/rye/", "--against", saved]) == 2
    said = f"/rye/: neither a file nor the URL of a page in --against; there is {server.url}/rye\n"
    assert capfd.readouterr().err.endswith(said)


def test_robots_that_forbid_the_key_page_forbid_all(run: Run) -> None:
    robots: Behaviour = lambda r: r.page(b"User-agent: *\nDisallow: /")  # noqa: E731
    with serve(site() | {"/robots.txt": robots}) as server:
        status, _, err = run("template", server, "/rye")
        assert status == 1
        hint = "for a site of your own: --ignore robots"
        assert err == f"dehusk: /rye: forbidden by robots.txt; {hint}\n"
        assert server.asked() == []
        assert run("template", server, "/rye", "--ignore", "robots").status == 0


def test_nobody_there_is_an_error(run: Run) -> None:
    with serve({}) as server:
        pass
    status, out, err = run("template", server, "/rye")
    assert (status, out) == (1, "")
    assert err == "dehusk: /rye: nobody answers at its address\n"


@pytest.mark.slow
def test_of_ten_thousand_links_no_more_are_followed_than_allowed(run: Run) -> None:
    many = home(*(f"/p{number}" for number in range(10_050)))
    with serve({"/": many}) as server:
        status, _, err = run("template", server, "/", "--max-loads", "6", "--method", "auto")
        assert status == 0
        assert len(server.asked()) == 6
        assert "5 links could not be used" in err
        assert (
            "10045 more not followed: no more than 6 pages are asked for; try a higher --max-loads"
            in err
        )


def test_what_does_not_go_together_is_refused_before_anything_is_asked_for(
    run: Run, tmp_path: Path
) -> None:
    with serve(site()) as server:
        for more in (
            ["crawl", "--method", "hyperlink"],
            ["clean", "--method", "hyperlink", "--memory", "x.husk"],
            ["clean", "--size", "3"],
            ["template", "--max-loads", "1"],
            ["template", "--votes", "9"],
            ["template", "--format", "sections"],
            ["template", "-o", str(tmp_path / "no" / "x.html")],
            ["template", "--memory", str(tmp_path / "no.husk")],
            ["template", "--memory", str(tmp_path / "a.warc"), "--save", str(tmp_path / "a.warc")],
            ["template", "-o", "saved.warc.gz"],
            ["template", "-o", "page.html.gz"],
            ["template", "--save", __file__],
        ):
            status, _, err = run(more[0], server, "/rye", *more[1:])
            assert status == 2
            assert re.match(r"dehusk: .+\n\Z", err)
        assert main(["clean", f"{server.url}/rye", "http:///x", "--method", "hyperlink"]) == 2
        assert server.requests == []


@pytest.mark.slow
def test_links_that_only_scripts_write_are_followed_where_pages_are_rendered(run: Run) -> None:
    executable()

    def written(name: str) -> bytes:
        body = json.dumps(page(name).decode()).replace("</", "<\\/")
        return f"<body><script>document.body.innerHTML = {body}</script>".encode()

    paths: dict[str, Behaviour] = {
        f"/{name}": lambda r, name=name: r.page(written(name))  # type: ignore[misc]
        for name in NAMES
    }
    with serve(paths) as server:
        assert "links no other page" in run("template", server, "/rye").err
        status, out, err = run("template", server, "/rye", "--render")
        assert status == 0
        assert "3 pages that all link each other; 4 pages loaded" in err
        assert "All rights reserved" in out
        assert "fields" not in out


def test_several_key_pages_spare_their_host_together(run: Run) -> None:
    begun: list[float] = []

    def noted(behaviour: Behaviour) -> Behaviour:
        return then(lambda r: begun.append(time.monotonic()), behaviour)

    paths = {path: noted(behaviour) for path, behaviour in site().items()}
    with serve(paths) as server:
        run("clean", server, "/rye /oats", "--method", "hyperlink", "--delay", "0.2")
    assert len(begun) == 8
    assert begun[4] - begun[3] > 0.17


@pytest.mark.slow
def test_ctrl_c_ends_a_search_that_waits() -> None:
    with serve({"/rye": lambda r: r.page(page("rye")), "*": lambda r: time.sleep(90)}) as server:
        command = [sys.executable, "-m", "dehusk", "template", f"{server.url}/rye"]
        with subprocess.Popen(
            [*command, "--allow-private", "127.0.0.1", "--delay", "0"],
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
        ) as process:
            while len(server.asked()) < 2:
                time.sleep(0.01)
                assert process.poll() is None
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
        assert process.returncode == 130
        assert err.endswith(b"dehusk: interrupted\n")


def test_links_that_cost_no_request_leave_the_template_its_pages(run: Run, tmp_path: Path) -> None:
    forbidden = [f"no{number}" for number in range(7)]
    paths: dict[str, Behaviour] = {
        f"/{name}": lambda r, name=name: r.page(page(name, [*forbidden, *NAMES]))  # type: ignore[misc]
        for name in NAMES
    }
    paths["/robots.txt"] = lambda r: r.page(b"User-agent: *\nDisallow: /no")
    archive = str(tmp_path / "x.warc.gz")
    with serve(paths) as server:
        live = run("template", server, "/rye?utm_source=x", "--save", archive)
        picture = run("template", server, "/rye", "--format", "graph")
        status = main(["template", f"{server.url}/rye", "--against", archive])
        out, err = run.read()
        found = dehusk.template_at(
            f"{server.url}/rye", crawl=dehusk.CrawlSettings(allow_private=("127.0.0.1",), delay_s=0)
        )
    assert "redirected" not in live.err
    assert "3 pages that all link each other; 4 pages loaded" in live.err
    assert "3 pages that all link each other; 4 pages loaded" in picture.out
    assert "3 pages that all link each other; 4 pages loaded" in err
    assert (status, out) == (0, live.out)
    assert found.html.rstrip() == live.out.rstrip()
    assert found.method.max_loads == 12  # type: ignore[attr-defined]
