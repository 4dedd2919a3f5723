"""`dehusk mcp` as its clients meet it: a real process, asked by the official client."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import dehusk
from dehusk.doors.cli import main
from dehusk.settings import CrawlSettings
from extras import imported
from hostile_server import HOST, INSIDE, Behaviour, Request, serve
from test_clean import PAGES, harvest

mcp = imported("mcp")

import dehusk.doors.mcp as door  # noqa: E402
from dehusk.doors.mcp import Tools  # noqa: E402

pytestmark = pytest.mark.slow

SITE: dict[str, Behaviour] = {
    f"/{number}": lambda request, number=number: request.page(harvest(number).encode())  # type: ignore[misc]
    for number in range(PAGES)
}


def _talk(work: Callable[[Any], Awaitable[None]], *options: str) -> None:
    """Start the server, and let the official client do the work with it."""
    words = ["-m", "dehusk", "mcp", "--delay", "0", *options]
    server = mcp.StdioServerParameters(command=sys.executable, args=words, env=_environment())

    async def talk() -> None:
        async with mcp.Client(mcp.stdio_client(server)) as client:
            await work(client)

    asyncio.run(asyncio.wait_for(talk(), 120))


def _environment() -> dict[str, str]:
    return {"PYTHONPATH": ":".join(path for path in sys.path if path)}


def _facts(answer: Any) -> dict[str, Any]:
    """What an answer says besides its text, as data and as text for clients that read only that."""
    assert not answer.is_error, answer.content
    facts: dict[str, Any] = answer.structured_content
    assert json.loads(answer.content[0].text) == facts
    return facts


def test_pages_of_the_web_are_cleaned_and_teach_the_memory(tmp_path: Path) -> None:
    memory = tmp_path / "mill.husk"

    async def work(client: Any) -> None:
        for number in range(PAGES):
            answer = await client.call_tool("clean_url", {"url": f"{server.url}/{number}"})
        facts, text = _facts(answer), answer.content[1].text
        assert facts["title"] == f"Harvest {PAGES - 1}"
        assert facts["pages_seen"] == PAGES
        assert f"There were {PAGES - 1} sacks of rye." in text
        assert "All rights reserved" not in text
        listed = await client.call_tool("known_sites", {})
        assert _facts(listed)["sites"] == 1
        (site,) = json.loads(listed.content[1].text)
        assert site["pages"] == PAGES
        known = await client.call_tool("known_site", {"site": site["site"]})
        told = json.loads(known.content[1].text)
        assert sum(family["pages"] for family in told["templates"]) == PAGES
        nowhere = await client.call_tool("known_site", {"site": "nowhere.example"})
        assert nowhere.is_error
        assert "known_sites" in nowhere.content[0].text

    with serve(SITE) as server:
        _talk(work, "--memory", str(memory), "--allow-private", HOST)
    with dehusk.open(memory) as session:
        assert [row.pages for row in session.sites()] == [PAGES]


def test_html_is_cleaned_in_parts_and_teaches_nothing(tmp_path: Path) -> None:
    memory = tmp_path / "mill.husk"

    async def work(client: Any) -> None:
        given = {"html": harvest(3), "url": "https://grain.example/3", "format": "text"}
        whole = (await client.call_tool("clean_html", given)).content[1].text
        assert "There were 3 sacks of rye." in whole
        read = ""
        start: int | None = 0
        while start is not None:
            answer = await client.call_tool(
                "clean_html", given | {"start": start, "max_characters": 9}
            )
            facts = _facts(answer)
            assert facts["characters"] == len(whole)
            assert len(answer.content[1].text) <= 9
            read += answer.content[1].text
            start = facts.get("next_start")
        assert read == whole
        listed = await client.call_tool("known_sites", {})
        assert _facts(listed)["sites"] == 0

    _talk(work, "--memory", str(memory))


def test_the_template_of_a_site_is_found_among_the_pages_it_links() -> None:
    async def work(client: Any) -> None:
        url = f"{server.url}/0"
        answer = await client.call_tool("site_template", {"url": url})
        assert _facts(answer)["pages"] > 1
        assert "All rights reserved" in answer.content[1].text
        assert "sacks of rye" not in answer.content[1].text
        slots = await client.call_tool("site_template", {"url": url, "format": "slots"})
        assert json.loads(slots.content[1].text)[0]["css"]
        part = await client.call_tool("site_template", {"url": url, "max_characters": 10})
        assert part.content[1].text == answer.content[1].text[:10]

    with serve(SITE) as server:
        _talk(work, "--allow-private", HOST)


def test_all_tools_together_ask_a_host_no_faster_than_one() -> None:
    asked: list[float] = []

    def noting(request: Request) -> None:
        if request.path in ("/0", "/1"):  # robots.txt need not wait.
            asked.append(time.monotonic())
        request.page(b"<p>Forty sacks of rye were brought in before the rain.")

    with serve({"*": noting, "/robots.txt": noting}) as server:
        settings = CrawlSettings(delay_s=0.6, allow_private=(HOST,))
        tools = Tools(dehusk.Session(), settings)
        tools.clean_url(f"{server.url}/0")
        tools.site_template(f"{server.url}/1")
    # The server may notice the first of two a moment late.
    assert asked[1] - asked[0] > 0.4


def test_without_a_memory_old_sites_are_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[int] = []

    class Learner:
        """A server that learns a page of each of many sites."""

        def __init__(self, session: dehusk.Session, _: CrawlSettings) -> None:
            self.session = session

        def run(self, _: str) -> None:
            for number in range(60):
                self.session.add(harvest(number), f"https://{number}.example/")
            held.extend(memory.size_bytes for memory in self.session.memories.values())

    monkeypatch.setattr(door, "make_server", Learner)
    monkeypatch.setattr(door, "Keeping", lambda: dehusk.Keeping(max_active_bytes=20_000))
    assert main(["mcp"]) == 0
    assert 1 < len(held) < 60
    assert sum(held) <= 20_000


def test_hostile_requests_are_refused_and_the_next_is_answered() -> None:
    async def work(client: Any) -> None:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert tools == {"clean_url", "clean_html", "site_template"}, "no memory to ask"
        for name, asked, reason in (
            ("clean_url", {"url": f"{inside.url}/"}, "not public"),
            ("clean_url", {"url": f"{server.url}/away"}, "not public"),
            ("clean_url", {"url": "file:///etc/passwd"}, "file:///etc/passwd"),
            ("clean_url", {"url": f"{server.url}/nowhere"}, "404"),
            ("site_template", {"url": f"{inside.url}/"}, "not public"),
            ("clean_html", {"html": "<p>x" * 500}, "nodes"),
            ("clean_html", {"html": "x" * 20_001}, "bytes"),
            ("clean_html", {"html": "<p>Rye", "start": -1}, "start"),
            ("clean_html", {"html": "<p>Rye", "format": "pdf"}, "format"),
        ):
            answer = await client.call_tool(name, asked)
            assert answer.is_error, asked
            assert reason in answer.content[0].text
        good = await client.call_tool("clean_html", {"html": "<p>Rye"})
        assert good.content[1].text.strip() == "Rye"
        assert not inside.requests

    with serve({}, INSIDE) as inside:
        away: dict[str, Behaviour] = {
            "/away": lambda request: request.redirect(f"{inside.url}/secret")
        }
        with serve(away) as server:
            _talk(work, "--allow-private", HOST, "--max-nodes", "400", "--max-bytes", "20000")


def test_a_memory_that_another_process_writes_is_named(tmp_path: Path) -> None:
    memory = tmp_path / "mill.husk"
    with dehusk.open(memory):
        words = [sys.executable, "-m", "dehusk", "mcp", "--memory", str(memory)]
        run = subprocess.run(words, input=b"", capture_output=True, check=False, timeout=120)
    assert run.returncode == 1
    assert run.stderr.decode().count("\n") == 1
    assert str(memory) in run.stderr.decode()
