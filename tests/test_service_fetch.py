"""`dehusk serve --fetch`: searches that load their pages, from servers that mean well or do not."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

import dehusk
from dehusk.doors.cli import main
from dehusk.doors.service.settings import ServiceSettings
from dehusk.settings import CrawlSettings
from dehusk_bench.speed.serve import running
from hostile_server import INSIDE, Behaviour, Hostile, Request, serve, then
from test_service_linked import NAMES, html_of

pytest.importorskip("fastapi", reason="the extra serve is not installed")

from dehusk.doors.service.bodies import LINKED, validated
from dehusk.doors.service.linked import Searches
from dehusk.doors.service.loader import Loader
from dehusk.doors.service.service import Service
from dehusk.sources.crawl import addresses

JSON = {"Content-Type": "application/json"}
pytestmark = pytest.mark.slow


def page_of(name: str) -> Behaviour:
    return lambda request: request.page(html_of(name).encode())


SITE: dict[str, Behaviour] = {f"/{name}": page_of(name) for name in NAMES}


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    options = [
        "--fetch",
        "--allow-private",
        "127.0.0.1",
        "--delay",
        "0",
        "--deadline",
        "30",
        "--workers",
        "1",
    ]
    with running("--method", "segments", *options) as (port, _):
        yield port


def post(port: int, body: dict[str, Any]) -> tuple[int, list[Any]]:
    """Status and lines of a search."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("POST", "/v1/linked", json.dumps({"fetch": True} | body), JSON)
    answer = connection.getresponse()
    found = answer.status, [json.loads(line) for line in answer.read().splitlines()]
    connection.close()
    return found


def search(port: int, server: Hostile, path: str = "/rye", **body: Any) -> list[Any]:
    """The lines of a search that begins."""
    status, lines = post(port, {"page": {"url": server.url + path}} | body)
    assert status == 200, lines
    return lines


def test_a_search_tells_what_it_loads_and_answers_last(port: int) -> None:
    with serve(SITE) as server:
        *told, answer = search(port, server)
        asked = server.asked()
    assert told[:2] == [
        {"loading": f"{server.url}/rye"},
        {"loaded": f"{server.url}/rye", "state": "loaded"},
    ]
    assert [line["loading"] for line in told[::2]] == [server.url + path for path in asked]
    assert [line["loaded"] for line in told[1::2]] == [server.url + path for path in asked]
    assert (answer["wanted"], answer["outcome"], answer["loads"]) == (None, "found", 4)
    assert [load["state"] for load in answer["loaded"]] == ["voted"] * 3
    assert answer["markdown"].startswith("# On rye")
    assert answer["url"] == f"{server.url}/rye"


def test_the_key_page_may_be_what_a_browser_shows_and_is_not_fetched_then(port: int) -> None:
    shown = html_of("rye", menu="<li>Signed in as Ann</li>")
    with serve(SITE) as server:
        *_, answer = search(port, server, page={"url": f"{server.url}/rye", "html": shown})
        assert "/rye" not in server.asked()
    assert answer["outcome"] == "found"
    assert {number for number, *_ in answer["elements"]} == {0, 1, 2, 3, 4}


def test_links_that_a_posted_page_keeps_from_being_followed_are_not_loaded(port: int) -> None:
    shown = "<meta name=robots content=nofollow>" + html_of("rye")
    with serve(SITE) as server:
        *_, answer = search(port, server, page={"url": f"{server.url}/rye", "html": shown})
        assert server.requests == []
    assert {load["reason"] for load in answer["loaded"]} == {"nofollow"}


def test_a_service_that_was_not_told_to_loads_nothing() -> None:
    with running("--workers", "1") as (port, _), serve(SITE) as server:
        status, lines = post(port, {"page": {"url": f"{server.url}/rye"}})
        assert (status, lines[0]["error"]["code"]) == (403, "no_fetch")
        assert server.requests == []


def test_private_addresses_are_refused_unless_allowed() -> None:
    with running("--workers", "1", "--fetch") as (port, _), serve(SITE) as server:
        connection = HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", "/health")
        assert json.loads(connection.getresponse().read())["fetch"] is True
        connection.close()
        *_, error = search(port, server)
        assert error["error"]["code"] == "private_address"
        page = {"url": f"{server.url}/rye", "html": html_of("rye")}
        *_, answer = search(port, server, page=page)
        assert answer["outcome"] == "no_pages"
        (load,) = answer["loaded"]  # Those behind it would be refused as well.
        assert "no public address" in load["reason"]
        assert server.requests == []
    assert main(["serve", "--allow-private", "127.0.0.1"]) == 2


BAD: dict[str, Behaviour] = {
    "/oats": lambda r: r.redirect("/oats"),
    "/wheat": lambda r: r.send(b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n\x89PNG"),
    "/barley": lambda r: r.page(b"no", status="500 No"),
    "/spelt": lambda r: r.redirect("http://elsewhere.example/"),
}


def test_links_that_are_no_pages_are_told_with_their_reasons(port: int) -> None:
    with serve(SITE | BAD) as server:
        *told, answer = search(port, server)
    assert answer["outcome"] == "no_pages"
    assert "4 links could not be used" in answer["message"]
    reasons = {load["url"].removeprefix(server.url): load["reason"] for load in answer["loaded"]}
    assert set(reasons) == set(BAD)
    assert "image/png" in reasons["/wheat"]
    assert "elsewhere.example" in reasons["/spelt"]
    assert {line["state"] for line in told[3::2]} == {"failed"}


def test_a_redirected_page_is_compared_where_it_is(port: int) -> None:
    moved: dict[str, Behaviour] = {
        "/oats": lambda r: r.redirect("/old/oats"),
        "/old/oats": page_of("oats"),
        "/key": lambda r: r.redirect("/rye"),
    }
    with serve(SITE | moved) as server:
        *_, answer = search(port, server, "/key")
        assert answer["url"] == f"{server.url}/rye"
        assert answer["outcome"] == "found"
        assert f"{server.url}/oats" in [load["url"] for load in answer["loaded"]]


def test_robots_are_obeyed(port: int) -> None:
    def robots(*paths: str) -> Behaviour:
        lines = "".join(f"Disallow: {path}\n" for path in paths)
        return lambda request: request.page(f"User-agent: *\n{lines}".encode())

    with serve(SITE | {"/robots.txt": robots("/rye")}) as server:
        *_, told, error = search(port, server)
        assert (told["state"], told["reason"]) == ("failed", "forbidden by robots.txt")
        assert error["error"]["code"] == "robots"
        assert server.asked() == []
    with serve(SITE | {"/robots.txt": robots("/oats", "/wheat", "/spelt")}) as server:
        *_, answer = search(port, server)
        assert server.asked() == ["/rye", "/barley"]
    assert answer["outcome"] == "single"
    failed = [load for load in answer["loaded"] if load["state"] == "failed"]
    assert len(failed) == 3
    assert all("robots.txt" in load["reason"] for load in failed)


def test_a_site_of_one_page_and_one_of_ten_thousand_links(port: int) -> None:
    with serve({"/": lambda r: r.page(b"<p>All there is.</p>")}) as server:
        *_, answer = search(port, server, "/")
        assert (answer["outcome"], server.asked()) == ("no_links", ["/"])
    many = "".join(f"<a href=/{n}>{n}</a> " for n in range(10_000)).encode()
    with serve({"/": lambda r: r.page(many)}) as server:
        *_, answer = search(port, server, "/", max_loads=6)
        assert (answer["outcome"], len(server.asked())) == ("no_pages", 6)


@pytest.mark.parametrize("is_search", [True, False])
def test_who_goes_away_ends_what_is_loaded_for_him(port: int, is_search: bool) -> None:
    asked, ended = threading.Event(), threading.Event()

    def hangs(request: Request) -> None:
        asked.set()
        request.connection.settimeout(60)
        if request.connection.recv(100) == b"":
            ended.set()

    with serve({"*": hangs}) as server:
        body = json.dumps({"fetch": True, "page": {"url": f"{server.url}/"}}).encode()
        head = (
            "POST /v1/linked HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        single = f"GET /v1/clean?url={server.url}/ HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
            client.sendall(head.encode() + body if is_search else single)
            assert asked.wait(60)
        assert ended.wait(25)  # Less than the deadline of a request, which would end it too.


@pytest.mark.parametrize("is_search", [True, False])
def test_what_is_loaded_does_not_hold_up_the_end(is_search: bool) -> None:
    asked = threading.Event()

    def hangs(_: Request) -> None:
        asked.set()
        time.sleep(30)

    told: list[bytes] = []
    with serve({"*": hangs}) as server:
        with running("--fetch", "--allow-private", "127.0.0.1", "--workers", "1") as (port, pid):
            connection = HTTPConnection("127.0.0.1", port, timeout=60)
            body = {"fetch": True, "page": {"url": f"{server.url}/"}}
            if is_search:
                connection.request("POST", "/v1/linked", json.dumps(body), JSON)
            else:
                connection.request("GET", f"/v1/clean?url={server.url}/")
            assert asked.wait(60)
            started = time.monotonic()
            os.kill(pid, signal.SIGTERM)
            told = connection.getresponse().read().splitlines()
            connection.close()
        assert time.monotonic() - started < 25
    assert json.loads(told[-1])["error"]["code"] == "ending"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"page": {"url": "ftp://grain.example/"}}, "not an address on the web"),
        ({"page": {"url": "http://a.example/"}, "max_loads": 101}, "max_loads: "),
        ({"page": {"url": "http://a.example/"}, "size": 2, "votes": 3}, "votes"),
        ({"page": {"url": "http://a.example/"}, "fetch": "yes"}, "fetch: "),
    ],
)
def test_bad_requests_are_refused_before_anything_is_loaded(
    port: int, body: dict[str, Any], words: str
) -> None:
    status, (line,) = post(port, body)
    assert (status, line["error"]["code"]) == (400, "bad_request")
    assert words in line["error"]["message"]


def test_figures_count_searches_and_loads(port: int) -> None:
    with serve(SITE | {"/oats": BAD["/barley"]}) as server:
        search(port, server)
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/metrics")
    text = connection.getresponse().read().decode()
    connection.close()
    assert 'dehusk_linked_total{outcome="found"}' in text
    assert 'dehusk_linked_total{outcome="wanted"}' in text
    assert 'dehusk_loads_total{outcome="ok"}' in text
    assert 'dehusk_loads_total{outcome="status"}' in text
    assert "dehusk_searches 0" in text


def test_fetching_needs_its_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = importlib.util.find_spec
    monkeypatch.delitem(sys.modules, "dehusk.sources.crawl")
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "protego" else real(name)
    )
    assert main(["serve", "--fetch"]) == 2
    assert "dehusk serve --fetch needs an extra: pip install 'dehusk[crawl]'" in (
        capsys.readouterr().err
    )


def within(
    run: Callable[[Searches], Coroutine[Any, Any, None]],
    delay_s: float = 0.0,
    timeout_s: float = 20.0,
    **settings: Any,
) -> None:
    """Run something with searches in this process."""
    fetch = CrawlSettings(
        delay_s=delay_s, max_delay_s=0.1, timeout_s=timeout_s, allow_private=("127.0.0.1",)
    )

    async def with_searches(memories: dehusk.Session) -> None:
        service = Service(memories, ServiceSettings(workers=1, **({"fetch": fetch} | settings)))
        await service.open()
        loader = Loader(service.settings, service.metrics)
        try:
            await run(Searches(service, loader))
        finally:
            await loader.close()
            await service.close()
        assert len(loader) == 0

    with dehusk.open(method="segments") as memories:
        asyncio.run(with_searches(memories))


async def lines_of(searches: Searches, url: str) -> list[Any]:
    body = json.dumps({"page": {"url": url}, "fetch": True}).encode()
    return [json.loads(line) async for line in searches.run(validated(LINKED, body))]


def test_a_redirect_to_a_private_address_is_refused() -> None:
    with serve(SITE, INSIDE) as inside, serve({}) as outside:
        outside.paths |= SITE | {"/oats": lambda r: r.redirect(f"{inside.url}/oats")}
        outside.paths["/away"] = lambda r: r.redirect(f"{inside.url}/rye")

        async def run(searches: Searches) -> None:
            *_, error = await lines_of(searches, f"{outside.url}/away")
            assert error["error"]["code"] == "private_address"
            *_, answer = await lines_of(searches, f"{outside.url}/rye")
            states = {load["url"]: load["state"] for load in answer["loaded"]}
            assert states.pop(f"{outside.url}/oats") == "failed"
            assert set(states.values()) == {"voted"}

        within(run)
        assert inside.requests == []


def test_names_of_the_own_network_are_told_from_those_of_nobody_by_no_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def look_up(host: str, _: int) -> list[str]:
        if host == "nobody.internal":
            raise addresses.NoName(f"no address for {host}")
        return [host if host == "127.0.0.1" else "10.0.0.5"]

    real = addresses.why_not_public
    monkeypatch.setattr(addresses, "_look_up", look_up)
    monkeypatch.setattr(
        addresses, "why_not_public", lambda host: None if host == "127.0.0.1" else real(host)
    )

    async def answer(searches: Searches, url: str, name: str) -> str:
        other.paths["/robots.txt"] = lambda r: r.redirect(f"http://{name}/")
        return json.dumps(await lines_of(searches, url.replace("NAME", name))).replace(name, "NAME")

    async def run(searches: Searches) -> None:
        ways = ("http://NAME/", f"{server.url}/to/NAME", other.url, f"{server.url}/other")
        for url in ways:
            known = await answer(searches, url, "db.internal")
            assert "private_address" in known or "robots.txt cannot be had" in known
            assert "10.0.0.5" not in known
            assert await answer(searches, url, "nobody.internal") == known

    paths: dict[str, Behaviour] = {
        "/to/*": lambda r: r.redirect(f"http://{r.path.rpartition('/')[2]}/"),
        "/other": lambda r: r.redirect(other.url),
    }
    with serve(paths) as server, serve({"/": lambda r: r.page(b"<p>Open")}) as other:
        within(run, fetch=CrawlSettings(delay_s=0, max_delay_s=0.1, retries=0))


def test_a_site_that_hangs_is_given_up() -> None:
    hangs = dict.fromkeys([f"/{name}" for name in NAMES[1:]], lambda _: time.sleep(20))

    async def run(searches: Searches) -> None:
        *_, answer = await lines_of(searches, f"{server.url}/rye")
        assert answer["outcome"] == "no_pages"
        assert "does not answer any more" in answer["loaded"][3]["reason"]

    with serve(SITE | hangs) as server:
        within(run, timeout_s=2.5)
        assert len(server.asked()) == 4


def test_a_search_whose_time_is_up_answers_by_what_it_has() -> None:
    hangs = {"/wheat": lambda _: time.sleep(20), "/spelt": lambda _: time.sleep(20)}

    async def run(searches: Searches) -> None:
        *_, answer = await lines_of(searches, f"{server.url}/rye")
        last = answer["loaded"][-1]
        assert (last["state"], last["reason"]) == ("failed", "it did not come in time")
        assert answer["markdown"]

    async def run_shortly(searches: Searches) -> None:
        *_, error = await lines_of(searches, f"{server.url}/wheat")
        assert error["error"]["code"] == "fetch_timeout"

    with serve(SITE | hangs) as server:
        within(run, fetch_s=6)
        within(run_shortly, fetch_s=0.5)


def test_searches_spare_a_host_together_also_where_redirects_lead_them_to_it() -> None:
    under_way: list[str] = []
    asked: list[str] = []
    most: list[int] = []

    def noted(behaviour: Behaviour) -> Behaviour:
        def note(request: Request) -> None:
            asked.append(request.path)
            under_way.append(request.path)
            most.append(len(under_way))
            time.sleep(0.02)
            under_way.remove(request.path)  # Before the answer: none may come meanwhile.

        return then(note, behaviour)

    async def run(searches: Searches) -> None:
        ways = (f"{server.url}/rye", f"{first.url}/oats", f"{second.url}/wheat")
        started = time.monotonic()
        answers = await asyncio.gather(*(lines_of(searches, url) for url in ways))
        assert [lines[-1]["outcome"] for lines in answers] == ["found"] * 3
        pages = len(most) - asked.count("/robots.txt")
        assert time.monotonic() - started >= 0.1 * (pages - 1)

    def moved(request: Request) -> None:
        request.redirect(server.url + request.path)

    paths = SITE | {"/robots.txt": lambda r: r.page(b"User-agent: *\nCrawl-delay: 0.1")}
    with (
        serve({path: noted(behaviour) for path, behaviour in paths.items()}) as server,
        serve({"*": moved}) as first,
        serve({"*": moved}) as second,
    ):
        within(run, delay_s=0.05)
    assert len(most) >= 3 * 5
    assert set(most) == {1}


def test_further_searches_are_told_to_come_again() -> None:
    begun = threading.Event()

    def hangs(_: Request) -> None:
        begun.set()
        time.sleep(20)

    async def run(searches: Searches) -> None:
        first = asyncio.create_task(lines_of(searches, server.url))
        while not begun.is_set():
            await asyncio.sleep(0.01)
        with pytest.raises(Exception, match="try again"):
            await lines_of(searches, other.url)
        first.cancel()

    with serve({"*": hangs}) as server, serve(SITE) as other:
        within(run, max_fetching=1)
        assert other.requests == []


def test_who_goes_away_at_once_leaves_no_thread_and_no_file_behind() -> None:
    def left() -> tuple[int, int]:
        names = [thread.name for thread in threading.enumerate()]
        return names.count("crawl"), len(list(Path("/dev/fd").iterdir()))

    async def go(searches: Searches, steps: int) -> None:
        """Read a search, and go away after so many steps of the loop."""
        reading = asyncio.create_task(lines_of(searches, f"http://127.0.0.1:{port}/"))
        for _ in range(steps):
            await asyncio.sleep(0)
        reading.cancel()
        await asyncio.wait([reading])
        await asyncio.gather(*searches._loader._running, return_exceptions=True)

    async def run(searches: Searches) -> None:
        await go(searches, 20)  # Threads of the pool, and what they import.
        before = left()
        for steps in range(1, 21):
            await go(searches, steps)
        searches._loader.stop()  # Who is told twice to end still closes all.
        await searches._loader.close()
        assert left() <= before

    # Nobody takes the connections, so they have no end here that would be counted.
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        within(run)
