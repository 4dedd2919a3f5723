"""A crawl of a site that means well: all pages, in a fixed order, with its wishes obeyed."""

from __future__ import annotations

import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import dehusk
from dehusk.answer.result import Refusal, Result
from dehusk.errors import PageError, SettingError, UsageError
from dehusk.page.page import Page
from dehusk.settings import CrawlSettings, SiteBy, SourceSettings, Wish
from dehusk.sources import Failure
from dehusk.sources.crawl.crawler import Crawl
from dehusk.sources.crawl.scope import LeftOut
from dehusk.sources.crawl.state import open_state
from dehusk_bench.samples import sample_site
from dehusk_bench.samples.server import ServedSite, serve_site
from hostile_server import Behaviour, Hostile, Request, home, links, serve

pytestmark = pytest.mark.slow

HASTE: dict[str, Any] = {"delay_s": 0, "max_delay_s": 0, "allow_private": ("127.0.0.1",)}


def crawl(
    site: Hostile | ServedSite,
    *starts: str,
    path: Path | None = None,
    site_by: SiteBy = SiteBy.HOST,
    **settings: Any,
) -> tuple[list[Page | Failure], dict[LeftOut, int]]:
    """All that a crawl gives, and what it leaves out."""
    urls = [site.url + start for start in starts or ("/",)]
    chosen = CrawlSettings(**(HASTE | settings))
    with (
        open_state(path) as state,
        Crawl(urls, chosen, SourceSettings(site_by=site_by), state) as running,
    ):
        items = list(running)
        return items, {reason: count for reason, count in running.left_out.items() if count}


def paths_of(items: list[Page | Failure], site: Hostile | ServedSite) -> list[str]:
    return [(i.url or "").removeprefix(site.url) for i in items if isinstance(i, Page)]


def test_all_800_pages_of_a_site_are_found_and_each_is_asked_for_once() -> None:
    with serve_site(sample_site("town", pages=800, seed=1)) as site:
        items, _ = crawl(site, max_pages=10_000, concurrency=4)
        assert set(paths_of(items, site)) == set(site.pages)
        assert len(site.pages) == 800
        assert len(site.unlinked) < 160
        asked = Counter(path for path, _ in site.requests)
        assert asked.most_common(1)[0][1] == 1
        failures = [item for item in items if isinstance(item, Failure)]
        assert {i.error.code for i in failures if isinstance(i.error, PageError)} == {"status"}


@pytest.mark.parametrize("kind", ["shop", "docs"])
def test_the_order_of_pages_is_the_sites_whatever_comes_first(kind: str) -> None:
    with serve_site(sample_site(kind, pages=60, seed=2)) as site:
        first, _ = crawl(site, concurrency=3)
        again, _ = crawl(site, concurrency=3)
        assert paths_of(first, site) == paths_of(again, site)
        assert len(paths_of(first, site)) == 60


def test_every_kind_of_page_is_met_before_many_of_one() -> None:
    articles = [f"/article/{n}" for n in range(200)]
    others = ["/shop/1", "/forum/1", "/help/start.html", "/about"]
    paths: dict[str, Behaviour] = {"/": home(*articles, *others), "*": home()}
    with serve(paths) as server:
        items, _ = crawl(server, max_pages=12)
        assert set(others) <= set(paths_of(items, server))


def test_links_of_one_shape_are_told_apart_by_where_they_stand() -> None:
    menu = "<ul>" + "".join(f"<li><a href='/{n}'>m</a>" for n in range(50)) + "</ul>"
    rest = "<article><h2><a href='/900'>a</a></h2></article>"
    paths: dict[str, Behaviour] = {"/": lambda r: r.page((menu + rest).encode()), "*": home()}
    with serve(paths) as server:
        items, _ = crawl(server, max_pages=4)
        assert "/900" in paths_of(items, server)


def test_robots_txt_is_obeyed_and_can_be_passed_over() -> None:
    robots = b"User-agent: *\nDisallow: /a\nAllow: /a/yes\n\nUser-agent: other\nDisallow: /\n"
    paths: dict[str, Behaviour] = {
        "/robots.txt": lambda r: r.page(robots),
        "/": home("/a", "/a/yes", "/b"),
        "*": home(),
    }
    with serve(paths) as server:
        items, left_out = crawl(server)
        assert paths_of(items, server) == ["/", "/a/yes", "/b"]
        assert left_out == {LeftOut.ROBOTS: 1}
        items, _ = crawl(server, ignored=frozenset([Wish.ROBOTS]))
        assert sorted(paths_of(items, server)) == ["/", "/a", "/a/yes", "/b"]
        (item,), _ = crawl(server, user_agent="other/1.0")
        assert isinstance(item, Failure)
        assert "robots" in str(item.error)


def test_a_robots_txt_that_is_not_there_allows_everything() -> None:
    for status in ("404 Not Found", "403 Forbidden", "401 Who"):
        robots = partial(Request.page, body=b"User-agent: *\nDisallow: /", status=status)
        with serve({"/": home(), "/robots.txt": robots}) as server:
            assert paths_of(crawl(server)[0], server) == ["/"]


WISHES = {
    "noindex in a header": (["X-Robots-Tag: noindex"], b"", LeftOut.NOINDEX, Wish.NOINDEX),
    "noindex for this crawler": (["X-Robots-Tag: dehusk: noindex"], b"", LeftOut.NOINDEX, None),
    "noindex in a tag": ([], b"<meta name=robots content='NOINDEX, x'>", LeftOut.NOINDEX, None),
    "noindex in a tag of its own": (
        [],
        b"<meta name=dehusk content=noindex>",
        LeftOut.NOINDEX,
        Wish.NOINDEX,
    ),
    "a reservation in a header": (["TDM-Reservation: 1"], b"", LeftOut.TDM, Wish.TDM),
    "a reservation in a tag": (
        [],
        b"<meta name=tdm-reservation content=1>",
        LeftOut.TDM,
        Wish.TDM,
    ),
    "noai": (["X-Robots-Tag: noai"], b"", LeftOut.TDM, Wish.TDM),
}


@pytest.mark.parametrize("name", WISHES)
def test_what_a_page_asks_for_is_obeyed_and_its_links_are_followed(name: str) -> None:
    headers, tag, reason, wish = WISHES[name]
    paths: dict[str, Behaviour] = {
        "/": home("/page"),
        "/page": lambda r: r.page(tag + links("/next"), *headers),
        "/next": home(),
    }
    with serve(paths) as server:
        items, left_out = crawl(server)
        assert paths_of(items, server) == ["/", "/next"]
        assert left_out == {reason: 1}
        if wish is not None:
            items, left_out = crawl(server, ignored=frozenset([wish]))
            assert paths_of(items, server) == ["/", "/page", "/next"]
            assert left_out == {}


@pytest.mark.parametrize(
    ("header", "tag"),
    [
        ("X-Robots-Tag: otherbot: noindex", b""),
        ("X-Robots-Tag: unavailable_after: 1 Jan 2050 00:00:00 GMT", b""),
        ("X-Robots-Tag: index, follow", b"<meta name=otherbot content=noindex>"),
        ("TDM-Reservation: 0", b"<meta name=description content=noindex>"),
    ],
)
def test_what_is_asked_of_others_is_not_obeyed(header: str, tag: bytes) -> None:
    paths: dict[str, Behaviour] = {"/": home("/a"), "/a": lambda r: r.page(tag + b"<p>x", header)}
    with serve(paths) as server:
        assert paths_of(crawl(server)[0], server) == ["/", "/a"]


def test_a_reservation_for_a_part_of_the_site_is_obeyed() -> None:
    file = b"""[{"location": "/open/*", "tdm-reservation": 0},
                {"location": "/*", "tdm-reservation": 1, "tdm-policy": "https://a.example/"}]"""
    paths: dict[str, Behaviour] = {
        "/.well-known/tdmrep.json": lambda r: r.page(file),
        "*": home("/open/a", "/closed"),
    }
    with serve(paths) as server:
        items, left_out = crawl(server, "/open/start")
        assert paths_of(items, server) == ["/open/start", "/open/a"]
        assert left_out == {LeftOut.TDM: 1}


def test_a_start_that_may_not_be_kept_is_a_failure() -> None:
    with serve({"/": lambda r: r.page(b"<p>x", "X-Robots-Tag: noindex")}) as server:
        (item,), _ = crawl(server)
        assert isinstance(item, Failure)
        assert isinstance(item.error, PageError)
        assert item.error.code == "reserved"


def test_nofollow_links_files_and_other_sites_are_left() -> None:
    body = b"""<a rel="ugc nofollow" href="/x">x</a> <a href="/doc.PDF">d</a> <a href="/a">a</a>
        <a href="http://other.example/">o</a> <a href="mailto:x@y.example">m</a> <a href="#t">t</a>
        <a href="javascript:void(0)">j</a> <a href="/data">d</a> <a href="http://[bad/">b</a>"""
    paths: dict[str, Behaviour] = {
        "/": lambda r: r.page(body),
        "/a": home(),
        "/data": lambda r: r.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\n\r\n1,2"),
        "/x": home(),
    }
    with serve(paths) as server:
        items, left_out = crawl(server)
        assert paths_of(items, server) == ["/", "/a"]
        assert left_out == {LeftOut.NOFOLLOW: 1, LeftOut.NOT_HTML: 2, LeftOut.OFF_SITE: 1}
        assert "/x" not in server.asked()
        items, _ = crawl(server, ignored=frozenset([Wish.NOFOLLOW]))
        assert "/x" in paths_of(items, server)


def test_a_link_that_may_be_followed_elsewhere_is_followed() -> None:
    paths: dict[str, Behaviour] = {
        "/": lambda r: r.page(b'<a rel=nofollow href="/x">x</a><a href="/a">a</a>'),
        "/a": home("/x"),
        "/x": home(),
    }
    with serve(paths) as server:
        items, left_out = crawl(server)
        assert paths_of(items, server) == ["/", "/a", "/x"]
        assert left_out == {}


def test_a_canonical_url_stands_for_its_copies() -> None:
    def page(request: Request) -> None:
        request.page(b'<link rel=canonical href="/real"><p>The same', 'Link: <x>; rel="next"')

    paths: dict[str, Behaviour] = {"/": home("/copy?a=1", "/copy?a=2"), "/real": page, "*": page}
    with serve(paths) as server:
        items, left_out = crawl(server)
        assert paths_of(items, server) == ["/", "/real"]
        assert left_out == {LeftOut.CANONICAL: 2}
        items, _ = crawl(server, ignored=frozenset([Wish.CANONICAL]))
        assert "/copy?a=1" in paths_of(items, server)


def test_a_canonical_url_that_helps_nobody_costs_no_page() -> None:
    def says(target: str) -> Behaviour:
        return lambda r: r.page(f'<link rel=canonical href="{target}">{r.path}'.encode())

    paths: dict[str, Behaviour] = {
        "/": home("/home", "/gone", "/other", "/one"),
        "/home": says("/"),
        "/gone": says("/404"),
        "/other": says("http://other.example/x"),
        "/one": says("/two"),
        "/two": says("/one"),
    }
    with serve(paths) as server:
        items, _ = crawl(server)
        pages = paths_of(items, server)
        assert {"/", "/home", "/other", "/two"} <= set(pages)


def test_redirects_count_once_and_the_start_may_lead_to_another_host() -> None:
    with serve({"/": home("/a"), "/a": home()}) as other, serve({}) as server:
        server.paths["/"] = lambda r: r.redirect(other.url + "/")
        items, left_out = crawl(server)
        assert paths_of(items, other) == ["/", "/a"]
    paths: dict[str, Behaviour] = {
        "/": home("/old", "/new", "/away"),
        "/old": lambda r: r.redirect("/new"),
        "/away": lambda r: r.redirect("http://other.example/"),
        "/new": home(),
    }
    with serve(paths) as server:
        items, left_out = crawl(server)
        assert paths_of(items, server) == ["/", "/new"]
        assert left_out == {LeftOut.KNOWN: 1, LeftOut.OFF_SITE: 1}
        assert server.asked().count("/new") == 1


def test_patterns_choose_what_is_crawled() -> None:
    with serve({"*": home("/docs/a", "/docs/b?print=1", "/blog/a", "/docs/c")}) as server:
        items, left_out = crawl(server, include=("*/docs/*",), exclude=("*print*",))
        assert paths_of(items, server) == ["/", "/docs/a", "/docs/c"]
        assert left_out == {LeftOut.EXCLUDED: 2}


def test_a_site_can_be_a_folder_of_a_host() -> None:
    with serve({"*": home("/docs/a", "/blog/a", "/docs/b/c", "/")}) as server:
        items, left_out = crawl(server, "/docs/start", site_by=SiteBy.PREFIX)
        assert set(paths_of(items, server)) == {"/docs/start", "/docs/a", "/docs/b/c"}
        assert {item.site for item in items} == {f"{server.url[7:]}/docs"}
        assert left_out == {LeftOut.OFF_SITE: 2}


def test_two_sites_are_crawled_side_by_side() -> None:
    with serve({"*": home("/a", "/b")}) as one, serve({"*": home("/c", "/d")}) as two:
        chosen = CrawlSettings(**HASTE)
        with (
            open_state(None) as state,
            Crawl([one.url, two.url], chosen, SourceSettings(), state) as running,
        ):
            urls = [item.url for item in running]
        assert [str(url)[len(one.url) :] for url in urls] == ["/", "/", "/a", "/c", "/b", "/d"]


def test_sitemaps_are_found_by_robots_txt_or_by_their_usual_place() -> None:
    def sitemap(*urls: str) -> Behaviour:
        rows = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
        return lambda r: r.page(f"<urlset>{rows}</urlset>".encode())

    with serve({"*": home()}) as server:
        server.paths["/sitemap.xml"] = sitemap(f"{server.url}/s?a=1&amp;b=2")
        assert paths_of(crawl(server)[0], server) == ["/", "/s?a=1&b=2"]
        assert paths_of(crawl(server, sitemaps=False)[0], server) == ["/"]
        robots = f"Sitemap: {server.url}/index.xml\n".encode()
        server.paths["/robots.txt"] = lambda r: r.page(robots)
        index = f"<sitemapindex><sitemap><loc>{server.url}/list.txt</loc></sitemap></sitemapindex>"
        server.paths["/index.xml"] = lambda r: r.page(index.encode())
        server.paths["/list.txt"] = lambda r: r.page(f"{server.url}/t\nnothing\n".encode())
        assert paths_of(crawl(server)[0], server) == ["/", "/t"]


def test_a_page_that_fails_once_is_asked_for_again_at_the_end() -> None:
    tries: Counter[str] = Counter()

    def flaky(request: Request) -> None:
        tries[request.path] += 1
        if tries[request.path] == 1:
            request.page(b"", "Retry-After: 0", status="503 Busy")
        else:
            request.page(links())

    paths: dict[str, Behaviour] = {"/": home("/flaky", "/a"), "/flaky": flaky, "/a": home()}
    with serve(paths) as server:
        items, _ = crawl(server)
        assert paths_of(items, server) == ["/", "/a", "/flaky"]
        assert server.asked() == ["/", "/flaky", "/a", "/flaky"]


def test_requests_keep_their_distance() -> None:
    robots = b"User-agent: *\nCrawl-delay: 0.2\n"
    paths: dict[str, Behaviour] = {"/robots.txt": lambda r: r.page(robots), "*": home("/a", "/b")}
    with serve(paths) as server:
        began = time.monotonic()
        crawl(server, max_delay_s=5, concurrency=3)
        # The sitemap, then three pages: three waits.
        assert time.monotonic() - began > 0.55
    robots = b"User-agent: *\nCrawl-delay: 3600\n"
    with serve(paths) as server:
        began = time.monotonic()
        crawl(server, max_delay_s=0.01)
        assert time.monotonic() - began < 60


def test_a_second_crawl_asks_only_for_what_has_changed(tmp_path: Path) -> None:
    state = tmp_path / "crawl"
    with serve_site(sample_site("blog", pages=30, seed=3)) as site:
        settings = CrawlSettings(**HASTE)
        first = list(dehusk.crawl(site.url, state=state, settings=settings))
        given = [answer for answer in first if isinstance(answer, Result)]
        assert len(given) == 30
        site.requests.clear()
        again = list(dehusk.crawl(site.url, state=state, settings=settings))
        assert [answer for answer in again if isinstance(answer, Result)] == []
        assert Counter(status for _, status in site.requests)[304] == 30
        changed = next(path for path in site.pages if path != "/")
        assert isinstance(site.pages, dict)
        site.pages[changed] = site.pages[changed].replace(b"</body>", b"<p>News</body>")
        third = list(dehusk.crawl(site.url, state=state, settings=settings))
        assert [answer.url for answer in third if isinstance(answer, Result)] == [
            site.url + changed
        ]


def test_the_library_gives_answers_and_refusals() -> None:
    with serve({"/": home("/a", "/b"), "/a": home()}) as server:
        answers = list(dehusk.crawl(server.url, settings=CrawlSettings(**HASTE)))
        kinds = [type(answer) for answer in answers]
        assert kinds == [Result, Result, Refusal]


def test_a_second_crawl_behind_a_limit_loses_no_page(tmp_path: Path) -> None:
    state = tmp_path / "crawl"
    with serve_site(sample_site("blog", pages=30, seed=3)) as site:

        def crawled(max_pages: int, *, fresh: bool = False) -> list[str]:
            # A sitemap would name what the links of unchanged pages are to be remembered for.
            settings = CrawlSettings(**HASTE, max_pages=max_pages, sitemaps=False)
            answers = dehusk.crawl(site.url, state=state, settings=settings, fresh=fresh)
            return [str(answer.url) for answer in answers if isinstance(answer, Result)]

        first = crawled(3)
        site.requests.clear()
        second = crawled(3)
        assert len(second) == 3
        assert Counter(status for _, status in site.requests)[304] == 3
        third = crawled(1000)
        given = first + second + third
        assert len(given) == len(set(given))
        assert len(given) > 25
        assert crawled(1000) == []
        assert set(crawled(1000, fresh=True)) == set(given)


def test_a_crawl_that_was_cut_off_says_how_to_go_on(tmp_path: Path) -> None:
    state = tmp_path / "crawl"
    settings = CrawlSettings(**HASTE, max_pages=5)
    with serve({"*": home("/a", "/b")}) as server:
        answers = dehusk.crawl(server.url, state=state, settings=settings)
        next(answers)
        next(answers)
        del answers
        for max_pages in (1, 5, 9):
            again = CrawlSettings(**HASTE, max_pages=max_pages)
            with pytest.raises(UsageError, match="waits here with 2 URLs to go: --resume goes on"):
                list(dehusk.crawl(server.url, state=state, settings=again))
        rest = list(dehusk.crawl(server.url, state=state, settings=settings, resume=True))
        assert [str(a.url)[len(server.url) :] for a in rest] == ["/a", "/b"]
        anew = list(dehusk.crawl(server.url, state=state, settings=settings, fresh=True))
        assert [str(a.url)[len(server.url) :] for a in anew] == ["/", "/a", "/b"]


def test_a_page_that_failed_is_asked_for_again_though_the_page_before_it_is_unchanged(
    tmp_path: Path,
) -> None:
    state = tmp_path / "crawl"
    settings = CrawlSettings(**HASTE, retries=0)
    with serve_site(sample_site("blog", pages=5, seed=3)) as site:
        assert isinstance(site.pages, dict)
        lost = next(path for path in site.pages if path != "/")
        page = site.pages.pop(lost)
        answers = list(dehusk.crawl(site.url, state=state, settings=settings))
        assert site.url + lost in [a.url for a in answers if isinstance(a, Refusal)]
        site.pages[lost] = page
        answers = list(dehusk.crawl(site.url, state=state, settings=settings))
        assert [a.url for a in answers if isinstance(a, Result)] == [site.url + lost]


def test_a_crawl_to_resume_must_be_the_same(tmp_path: Path) -> None:
    state = tmp_path / "crawl"
    settings = CrawlSettings(**HASTE, max_pages=1)
    with serve({"*": home("/a", "/b")}) as server:
        list(dehusk.crawl(server.url, state=state, settings=settings))
        for resume in (True, False):
            with pytest.raises(UsageError, match=r"began at .*; --fresh forgets it"):
                list(dehusk.crawl(f"{server.url}/b", state=state, resume=resume))
        with pytest.raises(UsageError, match="method"):
            list(dehusk.crawl(server.url, state=state, method="chunks", resume=True))
        more = CrawlSettings(**HASTE, max_pages=5)
        answers = list(dehusk.crawl(server.url, state=state, settings=more, resume=True))
        assert [str(a.url)[len(server.url) :] for a in answers] == ["/a", "/b"]


def test_a_state_that_is_none_is_refused(tmp_path: Path) -> None:
    state = tmp_path / "crawl"
    state.write_bytes(b"something else entirely, and long enough to look at" * 100)
    with pytest.raises(dehusk.DehuskError, match="not the state of a crawl"):
        list(dehusk.crawl("http://a.example", state=state))
    assert state.read_bytes().startswith(b"something else")
    memory = tmp_path / "grain.husk"
    with dehusk.open(memory):
        pass
    for fresh in (True, False):
        with pytest.raises(UsageError, match="not the state of a crawl"):
            list(dehusk.crawl("http://a.example", state=memory, fresh=fresh))


@pytest.mark.parametrize("url", ["ftp://a.example/", "http:///x", "http://[bad/", "x"])
def test_what_is_no_address_of_the_web_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="not an address"):
        list(dehusk.crawl(url))


@pytest.mark.parametrize(
    "setting",
    [{"max_pages": 0}, {"delay_s": -1}, {"user_agent": "bad\nname"}, {"user_agent": "/1.0"}],
)
def test_an_impossible_setting_is_refused(setting: dict[str, Any]) -> None:
    with pytest.raises(SettingError):
        CrawlSettings(**setting)


def test_two_crawls_do_not_share_a_state(tmp_path: Path) -> None:
    path = tmp_path / "crawl"
    with (
        open_state(path),
        pytest.raises(UsageError, match="another dehusk is crawling into it"),
        open_state(path),
    ):
        pass
