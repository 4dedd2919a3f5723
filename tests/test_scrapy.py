"""The Scrapy add-on, with a real spider on a site of 500 pages on this machine."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dehusk
from dehusk_bench.samples import sample_site
from dehusk_bench.samples.server import ServedSite, serve_site

pytestmark = pytest.mark.slow

PAGES = 500
SPIDER = """
import scrapy


class Walker(scrapy.Spider):
    name = "walker"

    async def start(self):
        for path in self.paths.split():
            yield scrapy.Request(self.url + path)

    def parse(self, response):
        answer = response.meta["dehusk"]
        yield {"url": response.url, "same": answer["url"] == response.url}
"""
ITEMS = """
from dataclasses import dataclass

import scrapy


@dataclass
class Bare:
    url: str


@dataclass(frozen=True)
class Frozen:
    url: str
    dehusk: dict | None = None


class Kinds(scrapy.Spider):
    name = "kinds"

    async def start(self):
        for path in ("/robots.txt", self.path):
            yield scrapy.Request(self.url + path, dont_filter=True)

    def parse(self, response):
        yield {"url": response.url}
        yield {"url": response.url, "dehusk": "mine"}
        yield Bare(response.url)
        yield Frozen(response.url)
        yield {"url": response.url, "dehusk": "last"}
"""


@pytest.fixture(scope="module")
def site() -> Iterator[ServedSite]:
    with serve_site(sample_site("docs", pages=PAGES)) as served:
        yield served


def _start(folder: Path, spider: str, *settings: str, **given: str) -> subprocess.Popen[bytes]:
    (folder / "spider.py").write_text(spider, encoding="utf-8")
    addon = 'ADDONS={"dehusk.scrapy.Addon": 500}'
    usual = ("ROBOTSTXT_OBEY=0", "CONCURRENT_REQUESTS_PER_DOMAIN=8", "DOWNLOAD_DELAY=0", addon)
    told = [word for line in (*usual, *settings) for word in ("-s", line)]
    told += [word for name, value in given.items() for word in ("-a", f"{name}={value}")]
    command = [sys.executable, "-m", "scrapy", "runspider", "spider.py", "-O", "out.jsonl:jsonl"]
    with (folder / "log.txt").open("w") as log:
        return subprocess.Popen([*command, *told], cwd=folder, stderr=log)


def _ended(folder: Path, process: subprocess.Popen[bytes]) -> str:
    """What the run has logged, when it has come to its end."""
    process.wait(timeout=300)
    return (folder / "log.txt").read_text("utf-8")


def _run(folder: Path, spider: str, *settings: str, **given: str) -> tuple[Any, dict[str, int]]:
    """The items of a run, and what Scrapy's stats say of dehusk and of items."""
    process = _start(folder, spider, *settings, **given)
    log = _ended(folder, process)
    assert process.returncode == 0, log
    assert "Traceback" not in log, log
    stats = re.findall(r"'((?:dehusk|item)[\w/]+)': (\d+)", log)
    lines = (folder / "out.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines], {name: int(value) for name, value in stats}


def test_a_crawl_that_is_killed_and_run_again_learns_every_page_once(
    site: ServedSite, tmp_path: Path
) -> None:
    paths = " ".join(site.pages)
    process = _start(tmp_path, SPIDER, "DEHUSK_DURABLE=page", url=site.url, paths=paths)
    memory = tmp_path / ".scrapy" / "dehusk" / "walker.husk"
    while len(site.requests) < PAGES // 4:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    with dehusk.open(memory) as opened:
        before = sum(row.pages for row in opened.sites())
    assert 0 < before < PAGES

    items, stats = _run(tmp_path, SPIDER, url=site.url, paths=paths)
    assert stats["dehusk/pages"] == len(items) == PAGES
    learned = before + stats["dehusk/pages_learned"]
    assert PAGES // 2 < learned <= PAGES, "pages that are copies of others are not learned"
    assert all(item["same"] for item in items)
    answers = {item["dehusk"]["url"]: item["dehusk"] for item in items}
    assert answers.keys() == {site.url + path for path in site.pages}
    last = max(answers.values(), key=lambda answer: answer["pages_seen"])
    assert last["pages_seen"] == learned
    assert last["text"]
    assert last["markdown"]
    assert last["family"] is not None
    assert last["template_share"] > 0.1
    assert {link["template"] for answer in answers.values() for link in answer["links"]} == {
        True, False,
    }  # fmt: skip

    some = list(site.pages)[:100]
    items, stats = _run(tmp_path, SPIDER, "DEHUSK_REVISE=1", url=site.url, paths=" ".join(some))
    # A copy may say something new once what it said was forgotten.
    learned += stats.get("dehusk/pages_learned", 0)
    assert stats["item_dropped_reasons_count/Unchanged"] == len(some) - len(items)
    assert len(items) < len(some) // 2
    with dehusk.open(memory) as opened:
        assert [row.pages for row in opened.sites()] == [learned]
    assert learned <= PAGES


def test_near_duplicates_are_dropped_and_counted(site: ServedSite, tmp_path: Path) -> None:
    first, second = list(site.pages)[10:12]
    paths = f"{first} {second} {first}?again=1"
    site.pages[f"{first}?again=1"] = site.pages[first]  # type: ignore[index]
    settings = ("DEHUSK_UNIQUE=1", "DEHUSK_MEMORY=", "DEHUSK_METHOD=segments")
    items, stats = _run(tmp_path, SPIDER, *settings, url=site.url, paths=paths)
    assert len(items) == 2
    assert stats["item_dropped_reasons_count/NearDuplicate"] == 1
    assert stats["item_dropped_count"] == 1
    assert not (tmp_path / ".scrapy").exists()


def test_only_items_of_html_pages_with_room_for_it_are_given_the_answer(
    site: ServedSite, tmp_path: Path
) -> None:
    path = next(iter(site.pages))
    items, stats = _run(tmp_path, ITEMS, "DEHUSK_MEMORY=kept.husk", url=site.url, path=path)
    with_answer = [item for item in items if isinstance(item.get("dehusk"), dict)]
    assert [item["url"] for item in with_answer] == [site.url + path]
    assert sum(item.get("dehusk") == "mine" for item in items) == 2
    assert sum(item.get("dehusk") == "last" for item in items) == 2
    assert stats["dehusk/items_without_field"] == 2
    assert (tmp_path / "kept.husk").exists()


def test_a_memory_of_another_method_ends_the_crawl_and_says_so(
    site: ServedSite, tmp_path: Path
) -> None:
    with dehusk.open(tmp_path / "other.husk", method="segments"):
        pass
    settings = ("DEHUSK_MEMORY=other.husk", "DEHUSK_METHOD=auto")
    process = _start(tmp_path, SPIDER, *settings, url=site.url, paths="/")
    log = _ended(tmp_path, process)
    assert "a memory of the method segments, not auto" in log
    assert "dehusk/pages" not in log


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (["DEHUSK_METHODS=segments"], "DEHUSK_METHODS: no such setting; there are DEHUSK_MEMORY, "),
        (["DEHUSK_REVISE=1", "DEHUSK_MEMORY="], "DEHUSK_REVISE needs a memory"),
    ],
)
def test_settings_that_cannot_be_meant_end_the_crawl_and_say_so(
    site: ServedSite, tmp_path: Path, settings: list[str], said: str
) -> None:
    log = _ended(tmp_path, _start(tmp_path, SPIDER, *settings, url=site.url, paths="/"))
    assert said in log
    assert "dehusk/pages" not in log
