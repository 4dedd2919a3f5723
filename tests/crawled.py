"""Crawls of hostile servers, to their end and without a wait."""

from __future__ import annotations

from collections import Counter
from typing import Any

from dehusk.errors import PageError
from dehusk.page.page import Page
from dehusk.settings import CrawlSettings, SourceSettings
from dehusk.sources import Failure
from dehusk.sources.crawl.crawler import Crawl
from dehusk.sources.crawl.scope import LeftOut
from dehusk.sources.crawl.state import open_state
from hostile_server import Hostile

HASTE: dict[str, Any] = {
    "allow_private": ("127.0.0.1",),
    "delay_s": 0, "max_delay_s": 0.01, "retries": 0, "timeout_s": 20.0,
}  # fmt: skip


class Outcome:
    """What a crawl gave."""

    def __init__(self, items: list[Page | Failure], left_out: Counter[LeftOut], base: str) -> None:
        self.pages = [(i.url or "").removeprefix(base) for i in items if isinstance(i, Page)]
        self.errors = {
            (i.url or "").removeprefix(base): i.error for i in items if isinstance(i, Failure)
        }
        self.codes = {
            url: error.code for url, error in self.errors.items() if isinstance(error, PageError)
        }
        self.left_out = {reason: count for reason, count in left_out.items() if count}
        self.warnings: list[str] = []


def crawl(server: Hostile, start: str = "/", **settings: Any) -> Outcome:
    """Crawl the server to its end, without a wait."""
    return crawl_all([server.url + start], server.url, **settings)


def crawl_all(urls: list[str], base: str = "", **settings: Any) -> Outcome:
    """Crawl from all of these, with `base` left out of what comes."""
    chosen = CrawlSettings(**(HASTE | settings))
    with open_state(None) as state, Crawl(urls, chosen, SourceSettings(), state) as running:
        outcome = Outcome(list(running), running.left_out, base)
        outcome.warnings = running.warnings
        return outcome
