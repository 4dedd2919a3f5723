"""A crawl against a server that means harm: every refusal typed, nothing hangs, nothing grows."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from typing import Any

import httpcore2
import pytest

from crawled import crawl
from dehusk.sources.crawl import addresses
from dehusk.sources.crawl.scope import LeftOut
from hostile_server import (
    INSIDE,
    Behaviour,
    Hostile,
    Request,
    bomb,
    drips,
    endless,
    gzipped,
    home,
    links,
    resets,
    sends,
    serve,
    then,
)

pytestmark = pytest.mark.slow

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


BOMB = bomb(64 << 20)
BROKEN: dict[str, tuple[Behaviour, str]] = {
    "a redirect to itself": (lambda r: r.redirect("/bad"), "redirect"),
    "a redirect without a target": (lambda r: r.page(b"", status="301 Moved"), "redirect"),
    "a redirect to a file": (lambda r: r.redirect("file:///etc/passwd"), "redirect"),
    "a redirect to nowhere": (lambda r: r.redirect("http://[::1/"), "redirect"),
    "a bomb": (
        lambda r: r.page(BOMB, "Content-Encoding: gzip"),
        "too_large",
    ),
    "an endless body": (then(sends(OK + b"\r\n"), endless()), "too_large"),
    "an endless chunked body": (
        then(sends(OK + b"Transfer-Encoding: chunked\r\n\r\n"), endless(chunked=True)),
        "too_large",
    ),
    "headers byte by byte": (drips(OK + b"X: " + b"a" * 10_000), "fetch_timeout"),
    "a slow body": (
        then(sends(OK + b"Content-Length: 1000000\r\n\r\n"), drips(b"<p>")),
        "fetch_timeout",
    ),
    "nothing at all": (lambda r: time.sleep(20), "fetch_timeout"),
    "a closed connection": (lambda r: None, "bad_response"),
    "a body shorter than it says": (
        sends(OK + b"Content-Length: 1000\r\n\r\n<p>short"),
        "bad_response",
    ),
    "two lengths": (
        sends(OK + b"Content-Length: 5\r\nContent-Length: 7\r\n\r\n<p>abcd"),
        "bad_response",
    ),
    "a length below nothing": (sends(OK + b"Content-Length: -5\r\n\r\n<p>abcd"), "bad_response"),
    "a chunk that lies": (
        sends(OK + b"Transfer-Encoding: chunked\r\n\r\nffffffff\r\nabc"),
        "bad_response",
    ),
    "chunks that are none": (
        sends(OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nabc"),
        "bad_response",
    ),
    "a reset in the headers": (resets(b"HTTP/1.1 200"), "connection"),
    "a reset in the body": (resets(OK + b"Content-Length: 1000\r\n\r\nabc"), "connection"),
    "huge headers": (sends(OK + b"X: " + b"a" * 1_000_000 + b"\r\n\r\n<p>x"), "bad_response"),
    "endless headers": (then(sends(OK), endless(line=True)), "bad_response"),
    "no HTTP": (sends(b"220 mail.example ESMTP ready\r\n\r\n"), "bad_response"),
    "not packed as it says": (
        lambda r: r.page(b"<p>plain", "Content-Encoding: gzip"),
        "bad_response",
    ),
    "packed as nobody asked": (lambda r: r.page(b"x", "Content-Encoding: br"), "bad_response"),
    "packed and cut short": (
        lambda r: r.page(BOMB[:2000], "Content-Encoding: gzip"),
        "bad_response",
    ),
    "an error": (lambda r: r.page(b"no", status="500 Oh"), "status"),
    "a status that is none": (lambda r: r.page(b"no", status="999 Oh"), "status"),
    "a switch of protocols": (
        sends(b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
        "bad_response",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_answer_is_a_typed_failure_and_the_crawl_goes_on(name: str) -> None:
    behaviour, code = BROKEN[name]
    paths = {"/": home("/bad", "/good"), "/bad": behaviour, "/good": home()}
    with serve(paths) as server:
        timeout_s = 1.0 if code == "fetch_timeout" else 20.0
        outcome = crawl(server, timeout_s=timeout_s, max_bytes=1_000_000)
        assert outcome.codes == {"/bad": code}
        assert set(outcome.pages) == {"/", "/good"}


def test_a_bomb_does_not_fill_memory() -> None:
    packed = bomb(256 << 20)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with serve({"/": lambda r: r.page(packed, "Content-Encoding: gzip")}) as server:
        assert crawl(server).codes == {"/": "too_large"}
    grown_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown_kb < 150_000


def test_a_redirect_loop_over_several_pages_is_named() -> None:
    paths = {f"/{n}": lambda r: r.redirect(f"/{(int(r.path[1:]) + 1) % 4}") for n in range(4)}
    with serve(paths) as server:
        outcome = crawl(server, "/0")
        assert outcome.codes == {"/3": "redirect"}
        assert "circle" in str(outcome.errors["/3"])
        assert server.asked() == ["/0", "/1", "/2", "/3"]


def test_ten_redirects_are_followed_and_eleven_are_not() -> None:
    def step(request: Request) -> None:
        number = int(request.path[1:])
        request.redirect(f"/{number + 1}")

    ends: dict[str, Behaviour] = {"/10": home()}
    with serve({"*": step} | ends) as server:
        assert crawl(server, "/0").pages == ["/10"]
    with serve({"*": step}) as server:
        assert crawl(server, "/0").codes == {"/10": "redirect"}
        assert server.asked() == [f"/{n}" for n in range(11)]


def test_a_private_address_is_refused_before_a_byte_is_sent() -> None:
    with serve({"/": home()}) as server:
        outcome = crawl(server, allow_private=())
        assert outcome.codes == {"/": "private_address"}
        assert server.requests == []


@pytest.mark.parametrize(
    "spelling", ["localhost", "127.1", "2130706433", "0x7f000001", "0", "[::ffff:127.0.0.1]"]
)
def test_a_private_address_is_refused_however_it_is_spelled(spelling: str) -> None:
    with serve({"/": home()}) as server:
        port = server.url.rpartition(":")[2]
        named = Hostile(f"http://{spelling}:{port}")
        outcome = crawl(named, allow_private=())
        assert set(outcome.codes.values()) <= {"private_address", "connection"}
        assert outcome.pages == []
        assert server.requests == []


def test_a_redirect_to_a_private_address_is_refused() -> None:
    with serve({"/": home()}, INSIDE) as inside, serve({}) as outside:
        outside.paths["/"] = lambda r: r.redirect(inside.url + "/")
        outcome = crawl(outside)
        assert set(outcome.codes.values()) == {"private_address"}
        assert outside.asked() == ["/"]
        assert inside.requests == []


def test_a_name_that_changes_its_address_gains_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    # Public when it is looked up for the check, private when it is looked up to connect: but there
    # is no second look, and the address that was checked is the one that is connected to.
    answers = iter([["192.0.3.7"], ["127.0.0.1"]])
    connected: list[str] = []

    async def look_up(_: str, __: int) -> list[str]:
        return next(answers)

    async def connect(_: object, host: str, *__: object, **___: object) -> Any:
        connected.append(host)
        raise httpcore2.ConnectError("nobody there")

    monkeypatch.setattr(addresses, "_look_up", look_up)
    monkeypatch.setattr(httpcore2.AnyIOBackend, "connect_tcp", connect)
    outcome = crawl(Hostile("http://rebind.example"), allow_private=())
    assert outcome.codes == {"/": "connection"}
    assert connected == ["192.0.3.7"]


def test_of_a_public_and_a_private_address_only_the_public_one_is_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def look_up(_: str, __: int) -> list[str]:
        return ["127.0.0.1", "192.0.3.7", "::1"]

    connected: list[str] = []

    async def connect(_: object, host: str, *__: object, **___: object) -> Any:
        connected.append(host)
        raise httpcore2.ConnectError("nobody there")

    monkeypatch.setattr(addresses, "_look_up", look_up)
    monkeypatch.setattr(httpcore2.AnyIOBackend, "connect_tcp", connect)
    crawl(Hostile("http://mixed.example"), allow_private=())
    assert connected == ["192.0.3.7"]


def test_a_socket_that_leads_elsewhere_than_it_was_told_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = httpcore2.AnyIOBackend.connect_tcp

    async def look_up(_: str, __: int) -> list[str]:
        return ["192.0.3.7"]

    async def connect(self: Any, host: str, *args: Any, **more: Any) -> Any:
        return await real(self, "127.0.0.1", *args, **more)

    monkeypatch.setattr(addresses, "_look_up", look_up)
    monkeypatch.setattr(httpcore2.AnyIOBackend, "connect_tcp", connect)
    with serve({"/": home()}) as server:
        port = server.url.rpartition(":")[2]
        outcome = crawl(Hostile(f"http://moved.example:{port}"), allow_private=())
        assert outcome.codes == {"/": "private_address"}
        assert server.requests == []


def test_credentials_go_to_their_host_alone() -> None:
    with serve({"/": home()}) as other, serve({}) as server:
        server.paths["/"] = lambda r: r.redirect(other.url + "/")
        secret = server.url.replace("http://", "http://user:pass@")
        outcome = crawl(Hostile(secret))
        assert len(outcome.pages) == 1
        assert all("user" not in page for page in outcome.pages)
        assert {r.headers.get("authorization") for r in server.requests} == {"Basic dXNlcjpwYXNz"}
        assert {r.headers.get("authorization") for r in other.requests} == {None}


def test_cookies_are_not_kept_but_a_page_that_insists_gets_its_own_back() -> None:
    def insists(request: Request) -> None:
        if "seen=1" in request.headers.get("cookie", ""):
            request.page(links("/next"))
        else:
            request.redirect("/wall", "Set-Cookie: seen=1; Path=/")

    many = [f"Set-Cookie: c{n}={'x' * 3000}" for n in range(20)]
    paths: dict[str, Behaviour] = {
        "/": lambda r: r.page(links("/wall"), *many),
        "/wall": insists,
        "/next": home(),
    }
    with serve(paths) as server:
        assert crawl(server).pages == ["/", "/wall", "/next"]
        cookies = [r.headers.get("cookie") for r in server.requests if r.path == "/next"]
        assert cookies == [None]


@pytest.mark.parametrize("status", ["500 Oh", "503 Busy", "429 Slow down"])
def test_a_robots_txt_that_fails_forbids_everything(status: str) -> None:
    paths: dict[str, Behaviour] = {
        "/robots.txt": lambda r: r.page(b"", status=status),
        "/": home("/a"),
    }
    with serve(paths) as server:
        outcome = crawl(server)
        assert outcome.codes == {"/": "robots"}
        assert server.asked() == []


def test_a_robots_txt_that_leads_to_a_private_address_forbids_everything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = addresses.why_not_public
    monkeypatch.setattr(
        addresses, "why_not_public", lambda host: None if host == "127.0.0.1" else real(host)
    )
    paths: dict[str, Behaviour] = {
        "/robots.txt": lambda r: r.redirect("http://10.0.0.5/robots.txt"),
        "*": home("/a", "/b"),
    }
    with serve(paths) as server, serve({"/": lambda r: r.redirect(server.url)}) as other:
        outcome = crawl(server, allow_private=())
        assert outcome.codes == {"/": "robots"}
        assert "10.0.0.5" not in str(outcome.errors["/"])
        assert [request.path for request in server.requests] == ["/robots.txt"]  # Once.
        assert crawl(other, allow_private=()).codes == {"/": "redirect"}
        assert server.asked() == []


def test_a_robots_txt_that_never_ends_is_read_so_far() -> None:
    robots = then(sends(OK + b"\r\nUser-agent: *\nDisallow: /no\n"), endless(line=True))
    with serve({"/robots.txt": robots, "/": home("/no", "/yes"), "/yes": home()}) as server:
        outcome = crawl(server)
        assert outcome.pages == ["/", "/yes"]
        assert outcome.left_out == {LeftOut.ROBOTS: 1}


def endless_links(make: Callable[[int], str]) -> Behaviour:
    """Pages that always link to new ones, all counted by one number."""
    count = [0]

    def behave(request: Request) -> None:
        count[0] += 3
        request.page(links(*(make(count[0] + n) for n in range(3))))

    return behave


def test_a_path_that_repeats_itself_is_left() -> None:
    def deeper(request: Request) -> None:
        request.page(links("a/", "b/") + b"%d" % len(request.path))

    with serve({"*": deeper}) as server:
        outcome = crawl(server, max_pages=1000)
        assert outcome.left_out[LeftOut.REPEATED] > 0
        # With two folders of which each may stand three times there are 69 paths, and the home.
        assert len(outcome.pages) == 69


def test_a_calendar_without_an_end_is_left_after_two_years() -> None:
    def month(request: Request) -> None:
        year, number = map(int, request.path.strip("/").split("/")[1:])
        year, number = (year, number + 1) if number < 12 else (year + 1, 1)
        request.page(links(f"/cal/{year}/{number:02}") + request.path.encode())

    with serve({"/": home("/cal/2026/01"), "/cal/*": month}) as server:
        outcome = crawl(server)
        assert outcome.left_out == {LeftOut.CALENDAR: 1}
        assert 24 <= len(outcome.pages) <= 27


def test_facets_in_every_mix_are_left() -> None:
    names = [f"f{n}" for n in range(12)]

    def facets(request: Request) -> None:
        path, _, query = request.path.partition("?")
        chosen = [part for part in query.split("&") if part]
        more = ["&".join(sorted({*chosen, f"{name}=1"})) for name in names]
        request.page(links(*(f"{path}?{mix}" for mix in more)) + request.path.encode())

    with serve({"*": facets}) as server:
        outcome = crawl(server, "/list", max_pages=1000)
        assert outcome.left_out[LeftOut.FACETS] > 0
        assert len(outcome.pages) < 40


def test_facets_that_are_repeated_are_left() -> None:
    def longer(request: Request) -> None:
        mark = "&" if "?" in request.path else "?"
        request.page(links(f"{request.path}{mark}f=1", f"{request.path}{mark}f=2"))

    with serve({"*": longer}) as server:
        outcome = crawl(server, "/list", max_pages=220)
        assert outcome.left_out[LeftOut.FACETS] > 0
        assert len(outcome.pages) < 40


def test_session_ids_by_any_name_do_not_multiply_pages() -> None:
    count = [0]

    def shop(request: Request) -> None:
        count[0] += 1
        path = request.path.partition("?")[0]
        request.page(
            "".join(
                f'<a href="/p{n}?PHPSESSID={count[0]}&zz={count[0]}">p{n}</a>' for n in range(20)
            ).encode()
            + path.encode()
        )

    with serve({"*": shop}) as server:
        outcome = crawl(server, max_pages=1000)
        paths = {page.partition("?")[0] for page in outcome.pages}
        assert paths == {"/", *(f"/p{n}" for n in range(20))}
        assert len(outcome.pages) < 80
        assert not any("PHPSESSID" in page for page in outcome.pages)


def test_a_site_of_endless_new_pages_ends_at_its_limit() -> None:
    with serve({"*": endless_links(lambda n: f"/x{n}")}) as server:
        assert len(crawl(server, max_pages=60).pages) == 60
    with serve({"*": endless_links(lambda n: f"/x{n}")}) as server:
        outcome = crawl(server, max_pages=500, max_depth=3)
        assert len(outcome.pages) == 1 + 3 + 9 + 27
        assert outcome.left_out[LeftOut.TOO_DEEP] == 81


def test_a_sitemap_with_a_bomb_of_entities_names_nothing() -> None:
    bomb_xml = (
        b'<?xml version="1.0"?><!DOCTYPE z [<!ENTITY a "aaaaaaaaaa">'
        + b"".join(b'<!ENTITY %c "%s">' % (98 + n, b"&%c;" % (97 + n) * 10) for n in range(12))
        + b"]><urlset><url><loc>&m;</loc></url></urlset>"
    )
    with serve({"/": home(), "/sitemap.xml": lambda r: r.page(bomb_xml)}) as server:
        assert crawl(server).pages == ["/"]


def test_a_packed_sitemap_bomb_is_cut_off() -> None:
    packed = BOMB
    with serve({"/": home(), "/sitemap.xml": lambda r: r.page(packed)}) as server:
        assert crawl(server).pages == ["/"]


def test_a_packed_page_is_unpacked() -> None:
    with serve({"/": gzipped(links("/a")), "/a": home()}) as server:
        assert crawl(server).pages == ["/", "/a"]


def test_a_server_that_falls_silent_stops_the_crawl_and_loses_nothing() -> None:
    targets = [f"/{n}" for n in range(40)]

    with serve({"/": home(*targets), "*": resets(b"")}) as server:
        outcome = crawl(server, retries=2)
        (error,) = outcome.errors.values()
        assert "no longer answers" in str(error)
        assert outcome.pages == ["/"]
