"""A site that aims at the crawl of the others: none of them may be lost for it."""

from __future__ import annotations

import pytest

from crawled import crawl, crawl_all
from dehusk.sources.crawl import judge, network, robots
from dehusk.sources.crawl.fetch import Response
from dehusk.sources.crawl.frontier import normal_url
from dehusk.sources.crawl.network import read_retry_after
from hostile_server import Behaviour, home, serve

pytestmark = pytest.mark.slow

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
