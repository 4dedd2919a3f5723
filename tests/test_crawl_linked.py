"""Pages that a method asks for, from servers that mean well and servers that do not."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from dehusk.errors import ConnectionFailed, PageError, UsageError
from dehusk.page.page import Page
from dehusk.settings import CrawlSettings, Wish
from dehusk.sources.crawl.fetch import Response
from dehusk.sources.crawl.linked import LinkedPages
from hostile_server import (
    INSIDE,
    Behaviour,
    Hostile,
    Request,
    allow_only_loopback,
    endless,
    home,
    links,
    resets,
    sends,
    serve,
    then,
)

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


@pytest.fixture(autouse=True)
def only_loopback(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    return allow_only_loopback(monkeypatch)


def linked(server: Hostile, start: str = "/", **settings: Any) -> LinkedPages:
    """Pages of this server, without a wait."""
    usual = {"delay_s": 0, "max_delay_s": 0.01, "retries": 0, "timeout_s": 20.0}
    return LinkedPages(
        server.url + start, CrawlSettings(**({"allow_private": ("127.0.0.1",)} | usual | settings))
    )


def outcome(pages: LinkedPages, url: str) -> str:
    """The code of what a fetch raises, or `page`."""
    try:
        pages.fetch(url)
    except PageError as error:
        return error.code
    return "page"


def test_each_page_is_asked_for_once_and_its_charset_is_the_servers() -> None:
    latin = sends(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=latin-1\r\n\r\n<p>caf\xe9</p>"
    )
    with serve({"/": home("/a"), "/a": latin}) as server, linked(server) as pages:
        assert pages.fetch(pages.url).url == f"{server.url}/"
        first = pages.fetch(f"{server.url}/a#top")
        assert first == Page(b"<p>caf\xe9</p>", f"{server.url}/a", first.site, "latin-1")
        assert pages.fetch(f"{server.url}/a") is first
        assert server.asked() == ["/", "/a"]


def test_redirects_are_followed_told_of_and_known_under_every_name() -> None:
    paths: dict[str, Behaviour] = {
        "/": home("/a"),
        "/a": lambda r: r.redirect("/a/"),
        "/a/": home("/"),
        "/old": lambda r: r.redirect("/a"),
    }
    heard: list[tuple[str | None, list[int]]] = []

    def hear(page: Page, answers: Any) -> None:
        assert all(isinstance(answer, Response) for answer in answers)
        heard.append((page.url, [answer.status for answer in answers]))

    settings = CrawlSettings(delay_s=0, allow_private=("127.0.0.1",))
    with serve(paths) as server, LinkedPages(server.url, settings, on_page=hear) as pages:
        page = pages.fetch(f"{server.url}/a")
        assert page.url == f"{server.url}/a/"
        assert pages.fetch(f"{server.url}/a/") is page
        assert pages.fetch(f"{server.url}/old") is page
        assert server.asked() == ["/a", "/a/", "/old"]
        assert heard == [(page.url, [302, 200]), (page.url, [302])]


def test_where_the_key_page_redirects_to_is_its_site_and_others_are_not_asked(
    only_loopback: list[str],
) -> None:
    with serve({"/": home()}) as other, serve({"/": home("/x"), "/x": home()}) as moved:
        paths: dict[str, Behaviour] = {
            "/": lambda r: r.redirect(moved.url + "/"),
            "/out": lambda r: r.redirect(other.url + "/"),
            "/away": lambda r: r.redirect("http://elsewhere.example/"),
        }
        with serve(paths) as server, linked(server) as pages:
            assert pages.fetch(pages.url).url == f"{moved.url}/"
            assert outcome(pages, f"{moved.url}/x") == "page"
            assert outcome(pages, f"{server.url}/out") == "redirect"
            assert outcome(pages, f"{server.url}/away") == "redirect"
            assert outcome(pages, f"{other.url}/") == "fetch"
            assert other.requests == []
    assert set(only_loopback) == {"127.0.0.1"}


def test_a_private_address_is_refused_also_behind_a_redirect() -> None:
    with serve({"/": home()}, INSIDE) as inside, serve({}) as outside:
        outside.paths["/"] = lambda r: r.redirect(inside.url + "/")
        with linked(inside) as pages:
            assert outcome(pages, pages.url) == "private_address"
        with linked(outside) as pages:
            assert outcome(pages, pages.url) == "private_address"
        assert inside.requests == []


WISHES: dict[str, tuple[Wish, Behaviour, str]] = {
    "noindex": (Wish.NOINDEX, lambda r: r.page(b"<p>x", "X-Robots-Tag: noindex"), "reserved"),
    "noindex in the page": (
        Wish.NOINDEX,
        lambda r: r.page(b"<meta name=robots content=noindex><p>x"),
        "reserved",
    ),
    "reserved from mining": (Wish.TDM, lambda r: r.page(b"<p>x", "TDM-Reservation: 1"), "reserved"),
}


@pytest.mark.parametrize("case", WISHES)
def test_what_a_page_asks_for_is_obeyed_unless_told_otherwise(case: str) -> None:
    wish, behaviour, code = WISHES[case]
    with serve({"/": home("/p"), "/p": behaviour}) as server:
        with linked(server) as pages:
            assert outcome(pages, f"{server.url}/p") == code
        with linked(server, ignored=frozenset({wish})) as pages:
            assert outcome(pages, f"{server.url}/p") == "page"


def test_robots_and_nofollow_are_obeyed_before_anything_is_asked_for() -> None:
    key = links("/no", "/yes") + b'<a rel=nofollow href="/login">in</a>'
    paths: dict[str, Behaviour] = {
        "/robots.txt": lambda r: r.page(b"User-agent: *\nDisallow: /no\nDisallow: /key2"),
        "/": lambda r: r.page(key),
        "/yes": lambda r: r.redirect("/no"),
        "*": home(),
    }
    with serve(paths) as server:
        with linked(server) as pages:
            assert outcome(pages, pages.url) == "page"
            assert outcome(pages, f"{server.url}/no") == "robots"
            assert outcome(pages, f"{server.url}/login") == "reserved"
            with pytest.raises(PageError, match=r"redirected to .*/no: forbidden by robots.txt"):
                pages.fetch(f"{server.url}/yes")
        assert server.asked() == ["/", "/yes"]
        with linked(server, "/key2") as pages:
            assert outcome(pages, pages.url) == "robots"
        with linked(server, "/key2", ignored=frozenset({Wish.ROBOTS, Wish.NOFOLLOW})) as pages:
            assert outcome(pages, pages.url) == "page"


BAD: dict[str, tuple[Behaviour, str]] = {
    "a circle": (lambda r: r.redirect("/bad"), "redirect"),
    "a longer circle": (lambda r: r.redirect("/bad" if r.path != "/bad" else "/c"), "redirect"),
    "ever further": (lambda r: r.redirect(f"{r.path}x"), "redirect"),
    "nowhere": (lambda r: r.redirect("ftp://x.example/"), "redirect"),
    "a picture": (sends(b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n\x89PNG"), "not_html"),
    "not there": (lambda r: r.page(b"no", status="404 Not Found"), "status"),
    "unchanged, though nobody asked": (lambda r: r.page(b"", status="304 Same"), "bad_response"),
    "no end": (then(sends(OK + b"\r\n"), endless()), "too_large"),
    "no answer": (lambda r: time.sleep(30), "fetch_timeout"),
    "no HTTP": (sends(b"220 ready\r\n\r\n"), "bad_response"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_answers_are_typed_and_good_pages_still_come(case: str) -> None:
    behaviour, code = BAD[case]
    paths = {"/": home("/bad", "/good"), "/good": home(), "*": behaviour}
    timeout_s = 2.0 if case == "no answer" else 20.0
    with serve(paths) as server, linked(server, timeout_s=timeout_s, max_bytes=100_000) as pages:
        assert outcome(pages, f"{server.url}/bad") == code
        assert outcome(pages, f"{server.url}/good") == "page"


def test_a_busy_server_is_asked_again_and_one_that_hangs_is_not() -> None:
    count = [0]

    def busy(request: Request) -> None:
        count[0] += 1
        if count[0] < 3:
            request.page(b"later", "Retry-After: 0", status="503 Busy")
        else:
            request.page(b"<p>now")

    paths: dict[str, Behaviour] = {"/busy": busy, "/hangs*": lambda r: time.sleep(30)}
    with serve(paths) as server, linked(server, "/busy", retries=2, timeout_s=1.5) as pages:
        assert outcome(pages, pages.url) == "page"
        for number in range(5):
            assert outcome(pages, f"{server.url}/hangs{number}") == "fetch_timeout"
        # Given up after three in a row.
        assert server.asked()[3:] == ["/hangs0", "/hangs1", "/hangs2"]


def test_a_page_that_fails_is_counted_and_asked_for_once() -> None:
    paths: dict[str, Behaviour] = {
        "/": home(),
        "/reset*": resets(b""),
        "/good": home(),
        "/gone": lambda r: r.page(b"no", status="404 Not Found"),
        "/to*": lambda r: r.redirect("/gone"),
    }
    with serve(paths) as server, linked(server, retries=2, timeout_s=20) as pages:
        assert outcome(pages, f"{server.url}/reset0") == "connection"
        assert server.asked() == ["/reset0"] * 3
        assert outcome(pages, f"{server.url}/good") == "page"
        assert [outcome(pages, f"{server.url}/to{n}") for n in range(2)] == ["status"] * 2
        assert outcome(pages, f"{server.url}/gone") == "status"
        assert server.asked()[3:] == ["/good", "/to0", "/gone", "/to1"]
        for number in range(1, 4):
            assert outcome(pages, f"{server.url}/reset{number}") == "connection"
        assert outcome(pages, f"{server.url}/other") == "fetch_timeout"  # Three pages in a row.


def test_one_redirect_too_many_says_nothing_of_the_page_itself() -> None:
    paths: dict[str, Behaviour] = {
        "/1": lambda r: r.redirect("/2"),
        "/2": lambda r: r.redirect("/3"),
        "/3": lambda r: r.redirect("/4"),
        "/4": home(),
    }
    with serve(paths) as server, linked(server, max_redirects=2) as pages:
        assert outcome(pages, f"{server.url}/1") == "redirect"
        assert outcome(pages, f"{server.url}/3") == "page"


def test_nobody_waits_twice_for_a_server_that_is_busy() -> None:
    def busy(request: Request) -> None:
        request.page(b"later", "Retry-After: 0", status="503 Busy")

    with serve({"/": home(), "/good": home(), "*": busy}) as server:
        with linked(server, retries=2, timeout_s=20) as pages:
            for number in range(2):
                assert outcome(pages, f"{server.url}/busy{number}") == "status"
            assert outcome(pages, f"{server.url}/good") == "page"
            for number in range(2, 5):
                assert outcome(pages, f"{server.url}/busy{number}") == "status"
            assert outcome(pages, f"{server.url}/busy5") == "fetch_timeout"
        assert server.asked() == ["/busy0", "/busy1", "/good", "/busy2", "/busy3", "/busy4"]


@pytest.mark.parametrize("is_text", [True, False])
def test_nofollow_of_a_key_page_that_was_had_elsewhere_is_obeyed(is_text: bool) -> None:
    html = b"<a rel=nofollow href=/a>a</a><a rel=nofollow href=/b>b</a><a href=/b#top>b</a>"
    none = b"<meta name=robots content=none>" + html
    with serve({"*": home()}) as server:
        for body, codes in ((html, ["reserved", "page"]), (none, ["reserved", "reserved"])):
            key = Page(body.decode() if is_text else body, f"{server.url}/")
            with linked(server) as pages:
                pages.heed(key)
                assert [outcome(pages, f"{server.url}/{name}") for name in "ab"] == codes
        with linked(server, ignored=frozenset({Wish.NOFOLLOW})) as pages:
            pages.heed(key)
            assert outcome(pages, f"{server.url}/a") == "page"


def test_leaving_ends_a_fetch_of_another_thread_and_all_that_come() -> None:
    asked = threading.Event()
    errors: list[PageError] = []

    def hangs(request: Request) -> None:
        asked.set()
        time.sleep(120)

    def work(pages: LinkedPages, url: str) -> None:
        with pytest.raises(ConnectionFailed) as caught:
            pages.fetch(url)
        errors.append(caught.value)

    with serve({"/": hangs}) as server:
        with linked(server, timeout_s=120) as pages:
            thread = threading.Thread(target=work, args=(pages, pages.url))
            thread.start()
            assert asked.wait(60)
        thread.join(60)
        assert [error.reason for error in errors] == ["no longer wanted"]
        work(pages, f"{server.url}/other")


def test_what_is_no_address_on_the_web_is_refused() -> None:
    with pytest.raises(UsageError):
        LinkedPages("ftp://x.example/")
    with serve({"/": home()}) as server, linked(server) as pages:
        assert outcome(pages, "mailto:someone") == "fetch"
