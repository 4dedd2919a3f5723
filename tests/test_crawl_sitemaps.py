"""The sitemaps of a hostile host: one budget for all of them, and pages come meanwhile."""

from __future__ import annotations

import gzip
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import pytest

from crawled import HASTE, crawl
from dehusk.errors import PageError
from dehusk.page.page import Page
from dehusk.settings import CrawlSettings, SourceSettings
from dehusk.sources.crawl import sitemaps
from dehusk.sources.crawl.crawler import Crawl
from dehusk.sources.crawl.state import open_state
from hostile_server import Behaviour, Hostile, Request, home, serve

pytestmark = pytest.mark.slow


def urlset(*urls: str) -> bytes:
    return f"<urlset>{''.join(f'<url><loc>{url}</loc></url>' for url in urls)}</urlset>".encode()


def index(*urls: str) -> bytes:
    rows = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
    return f"<sitemapindex>{rows}</sitemapindex>".encode()


def named(*urls: str) -> Behaviour:
    """A robots.txt that names these sitemaps."""
    return lambda r: r.page("".join(f"Sitemap: {url}\n" for url in urls).encode())


@contextmanager
def silent_sitemaps() -> Iterator[Hostile]:
    """A site of three pages that names fifty sitemaps and gives none."""
    paths: dict[str, Behaviour] = {
        "/": home("/a", "/b"), "/a": home(), "/b": home(), "/silent*": lambda r: time.sleep(120),
    }  # fmt: skip
    with serve(paths) as server:
        server.paths["/robots.txt"] = named(*(f"{server.url}/silent{n}" for n in range(50)))
        yield server


def test_silent_sitemaps_hold_no_page_up() -> None:
    with silent_sitemaps() as server:
        settings = CrawlSettings(**(HASTE | {"timeout_s": 120.0}))
        with (
            open_state(None) as state,
            Crawl([f"{server.url}/"], settings, SourceSettings(), state) as running,
        ):
            began = time.monotonic()
            assert isinstance(next(iter(running)), Page)
            assert time.monotonic() - began < 60


def test_silent_sitemaps_are_given_up_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemaps, "_MAX_S", 2.0)
    with silent_sitemaps() as server:
        outcome = crawl(server, timeout_s=60.0)
        assert set(outcome.pages) == {"/", "/a", "/b"}
        assert any("longer than 2 s" in warning for warning in outcome.warnings)


def test_sitemaps_that_name_sitemaps_without_end_fill_no_memory() -> None:
    count = [0]

    def nested(request: Request) -> None:
        count[0] += 1
        many = (f"{server.url}/s{count[0]}-{n}{'x' * 1900}" for n in range(20_000))
        request.page(gzip.compress(index(*many), 1))

    with serve({"/": home("/a"), "/a": home(), "/s*": nested}) as server:
        server.paths["/robots.txt"] = named(f"{server.url}/start")
        server.paths["/start"] = nested
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        outcome = crawl(server)
        assert outcome.pages == ["/", "/a"]
        assert count[0] <= 100
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000


def test_bytes_and_entries_of_all_sitemaps_of_a_host_are_counted_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sitemaps, "_MAX_BYTES", 100_000)
    monkeypatch.setattr(sitemaps, "_BYTES_PER_URL", 1)

    def full(request: Request) -> None:
        name = request.path.strip("/")
        rows = (f"{server.url}/{name}-{n}{'y' * 900}" for n in range(40))
        request.page(urlset(*rows))

    with serve({"/": home(), "/s*": full}) as server:
        server.paths["/robots.txt"] = named(*(f"{server.url}/s{n}" for n in range(20)))
        outcome = crawl(server, max_pages=1)
        assert outcome.pages == ["/"]
        outcome = crawl(server, max_pages=60)
        assert any("more than" in warning for warning in outcome.warnings)
        assert len([r for r in server.requests if r.path in {f"/s{n}" for n in range(20)}]) <= 6


def test_a_damaged_sitemap_costs_what_it_unpacks_to_and_leaves_the_others() -> None:
    damaged = bytearray(gzip.compress(urlset(*(f"https://a.example/{n}" for n in range(9000)))))
    damaged[-8] ^= 1  # Its checksum.
    with serve({"/": home(), "/good": home()}) as server:
        server.paths["/bad.gz"] = lambda r: r.page(bytes(damaged))
        server.paths["/map"] = lambda r: r.page(urlset(f"{server.url}/good"))
        server.paths["/robots.txt"] = named(f"{server.url}/bad.gz", f"{server.url}/map")
        outcome = crawl(server)
    assert outcome.pages == ["/", "/good"]
    (warning,) = outcome.warnings
    assert "damaged" in warning
    assert 300_000 < sitemaps.read_sitemap(bytes(damaged)).size < 1_000_000


def test_the_warning_names_the_budget_that_was_used_up() -> None:
    waiting = sitemaps.Sitemaps(max_urls=1_000_000)
    waiting.add("https://a.example", ["https://a.example/1", "https://a.example/2"])
    taken = waiting.take()
    assert taken is not None
    taken[1].bytes = 0
    waiting.read("https://a.example", PageError(None, "gone"))
    assert "more than 500,000,000 bytes" in waiting.warnings[-1]


def test_a_crawl_goes_on_with_the_sitemaps_that_were_left(tmp_path: Path) -> None:
    paths: dict[str, Behaviour] = {"/": home("/a"), "/a": home("/b"), "/b": home(), "*": home()}
    with serve(paths) as server:
        for n in range(3):
            server.paths[f"/s{n}"] = lambda r: r.page(urlset(f"{server.url}/of{r.path[1:]}"))
        server.paths["/robots.txt"] = named(*(f"{server.url}/s{n}" for n in range(3)))
        whole = crawl(server).pages
        assert set(whole) == {"/", "/a", "/b", "/ofs0", "/ofs1", "/ofs2"}
        pages: list[str] = []
        for _ in range(len(whole) + 1):
            with (
                open_state(tmp_path / "state") as state,
                Crawl([f"{server.url}/"], CrawlSettings(**HASTE), SourceSettings(), state) as run,
            ):
                items = iter(run)
                # One page is dealt with, the next is given and then cut off.
                given = [item.url for item in islice(items, 2)]
                pages += [str(url).removeprefix(server.url) for url in given[:1]]
        assert pages == whole
