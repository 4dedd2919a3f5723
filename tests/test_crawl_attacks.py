"""A site that aims at the crawl of the others: none of them may be lost for it."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from protego import Protego

from crawled import HASTE, crawl, crawl_all
from dehusk.page.page import Page
from dehusk.settings import CrawlSettings, SiteBy, SourceSettings
from dehusk.sources.crawl import judge, network, robots, scope
from dehusk.sources.crawl.crawler import Crawl
from dehusk.sources.crawl.fetch import Response
from dehusk.sources.crawl.frontier import normal_url
from dehusk.sources.crawl.network import read_retry_after
from dehusk.sources.crawl.state import open_state
from hostile_server import Behaviour, Request, home, serve

pytestmark = pytest.mark.slow

SHORT_S = 1.0
"""Waited in full for a site that is silent, and time enough for one that answers at once."""

ENDLESS = "9" * 400
FAR = "Mon, 01 Jan 2024 00:00:00 +99999999999999999999"
"""A date that no clock can show."""
ROBOTS: dict[str, Behaviour] = {
    "a rate beyond all numbers": lambda r: r.page(
        f"User-agent: *\nRequest-rate: 1/{ENDLESS}\n".encode()
    ),
    "a delay beyond all numbers": lambda r: r.page(
        f"User-agent: *\nCrawl-delay: {ENDLESS}\n".encode()
    ),
    "a redirect to a port that is none": lambda r: r.redirect("http://a.example:x/"),
    "a redirect to a host that is none": lambda r: r.redirect("http://../"),
}


@pytest.mark.parametrize("name", ROBOTS)
def test_a_robots_txt_of_one_site_does_not_end_the_crawl_of_another(name: str) -> None:
    with serve({"/robots.txt": ROBOTS[name], "/": home()}) as bad, serve({"/": home()}) as good:
        outcome = crawl_all([f"{bad.url}/", f"{good.url}/"])
        assert f"{good.url}/" in outcome.pages


def test_a_retry_after_that_no_clock_can_show_does_not_hang_the_crawl() -> None:
    assert read_retry_after(FAR, 0.0) is None
    paths: dict[str, Behaviour] = {
        "/": home("/bad", "/good"),
        "/bad": lambda r: r.page(b"", f"Retry-After: {FAR}", status="503 Busy"),
        "/good": home(),
    }
    with serve(paths) as server:
        outcome = crawl(server)
        assert outcome.pages == ["/", "/good"]
        assert outcome.codes == {"/bad": "status"}


@pytest.mark.parametrize(
    "written",
    ["http://..", "http://a.example：80/", "http://：xn--a*", "http://a$b/", "http://[::1%25lo]/"],
)
def test_a_host_that_no_name_server_knows_is_no_address(written: str) -> None:
    assert normal_url(written) is None
    with serve({"/": home(written, "/good"), "/good": home()}) as server:
        assert crawl(server).pages == ["/", "/good"]


def test_what_nobody_foresaw_costs_its_page_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    real_read, real_busy = judge.read, network.is_busy

    def read(response: Response, *more: str) -> judge.Reading:
        if response.url.endswith("/unread"):
            raise RuntimeError("in the parser")
        return real_read(response, *more)

    def is_busy(answer: Response) -> bool:
        if answer.url.endswith("/unfetched"):
            raise RuntimeError("in the network")
        return real_busy(answer)

    monkeypatch.setattr(judge, "read", read)
    monkeypatch.setattr(network, "is_busy", is_busy)
    with serve({"/": home("/unread", "/unfetched", "/good"), "*": home()}) as server:
        outcome = crawl(server)
        assert outcome.pages == ["/", "/good"]
        assert outcome.codes == {"/unread": "fault", "/unfetched": "fault"}


def test_a_robots_txt_that_nobody_foresaw_forbids_its_site_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = robots.ask_manners
    with serve({"/": home()}) as bad, serve({"/": home()}) as good:

        async def ask(origin: str, *args: object, **more: object) -> object:
            if origin == bad.url:
                raise RuntimeError("in the reader of robots.txt")
            return await real(origin, *args, **more)  # type: ignore[arg-type]

        monkeypatch.setattr(network, "ask_manners", ask)
        outcome = crawl_all([f"{bad.url}/", f"{good.url}/"])
        assert outcome.pages == [f"{good.url}/"]
        assert outcome.codes == {f"{bad.url}/": "robots"}


def test_a_site_that_falls_silent_is_given_up_and_the_others_go_on(tmp_path: Path) -> None:
    many = [f"/{n}" for n in range(40)]
    silent: dict[str, Behaviour] = {"/": home(*many), "*": lambda r: time.sleep(20)}
    answering: dict[str, Behaviour] = {"/": home(*many), "*": home()}
    with serve(silent) as bad, serve(answering) as good:
        urls = [f"{bad.url}/", f"{good.url}/"]
        settings = CrawlSettings(**(HASTE | {"timeout_s": SHORT_S}))
        with open_state(tmp_path / "state") as state:
            with Crawl(urls, settings, SourceSettings(), state) as first:
                items = list(first)
                assert len(items) == 43 + 9
                assert first.waiting == 40 - 9
            found = [item.url or "" for item in items if isinstance(item, Page)]
            assert len([url for url in found if url.startswith(good.url)]) == 41
            (error,) = [item for item in items if not item.url]
            assert "no longer answers" in str(error)
            assert len(bad.asked()) <= 12
            bad.paths["*"] = home()
            with Crawl(urls, settings, SourceSettings(), state) as second:
                pages = [item for item in second if isinstance(item, Page)]
        assert len(pages) == 40 - 9


def test_what_a_site_leaves_unanswered_once_given_up_is_asked_for_again(tmp_path: Path) -> None:
    def slow(request: Request) -> None:
        time.sleep(0.1)
        request.page(b"<p>Rye")

    many = [f"/{n}" for n in range(40)]
    silent: dict[str, Behaviour] = {"/": home(*many), "*": lambda r: time.sleep(20)}
    with serve(silent) as bad, serve({"/": home(*many), "*": slow}) as good:
        settings = CrawlSettings(**(HASTE | {"timeout_s": SHORT_S, "concurrency": 4}))
        with open_state(tmp_path / "state") as state:
            with Crawl([f"{bad.url}/", f"{good.url}/"], settings, SourceSettings(), state) as run:
                list(run)
            assert run.waiting > 0
            assert state.answers() == {}


def test_slow_robots_txts_of_one_domain_hold_the_others_up_for_so_long_and_no_longer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    async def ask(origin: str, token: str, *_: object, **__: object) -> robots.Manners:
        asked.append(origin)
        if ".example.org" in origin:
            await asyncio.sleep(0.2)
        return robots.Manners(token, Protego.parse(""))

    monkeypatch.setattr(network, "ask_manners", ask)
    monkeypatch.setattr(scope, "_MAX_MANNERS_S", 1.0)
    with network.Network(CrawlSettings(), {}) as running:
        tried = scope.Scope(CrawlSettings(), SourceSettings(site_by=SiteBy.DOMAIN), running.manners)
        tried.admit_start("http://example.org/")
        admitted = [tried.admit(f"http://h{n}.example.org/", None, "") for n in range(50)]
        assert len(asked) <= 8
        assert all(found and found.reason is scope.LeftOut.ROBOTS for found in admitted[10:])
        again = tried.admit("http://h1.example.org/more", None, "")
        assert again is not None
        assert again.reason is None
