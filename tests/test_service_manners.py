"""How the service says no, how it ends, and what it tells of itself."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
import uvicorn

import dehusk
from dehusk.doors.service.settings import ServiceSettings
from dehusk.errors import StoreDamaged, StoreFull, UsageError
from dehusk_bench.speed.serve import running

pytest.importorskip("fastapi", reason="the extra serve is not installed")

from dehusk.doors.service import app, failures, monitoring
from dehusk.doors.service.monitoring import Metrics
from dehusk.doors.service.server import Ending, listen, patient_for
from dehusk.doors.service.service import PageAnswer, Service
from dehusk.page.page import Page

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with running("--method", "segments") as (found, _):
        yield found


def _ask(port: int, method: str, path: str, body: bytes | None = None) -> tuple[int, Any]:
    connection = HTTPConnection("127.0.0.1", port, timeout=300)
    connection.request(method, path, body)
    answer = connection.getresponse()
    found = answer.status, json.loads(answer.read())
    connection.close()
    return found


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nowhere", 404, "not_found"),
        ("POST", "/v1/clean/", 404, "not_found"),
        ("PUT", "/v1/clean", 405, "method"),
    ],
)
def test_what_is_not_there_says_so(
    port: int, method: str, path: str, status: int, code: str
) -> None:
    found, answer = _ask(port, method, path)
    assert (found, answer["error"]["code"]) == (status, code)


def test_a_bad_line_of_a_batch_is_named(port: int) -> None:
    good = b'{"url": "https://a.example/1", "html": "<p>1"}'
    for bad, words in ((b"nonsense", "Invalid JSON"), (b'{"html": 3}', "html: ")):
        status, answer = _ask(port, "POST", "/v1/batch", good + b"\n\n" + bad)
        assert status == 400
        assert answer["error"]["message"].startswith(f"line 3: {words}")
        assert "line 1" not in answer["error"]["message"]


@pytest.mark.parametrize("origin", ["*", "https://app.example/", "https://App.example", "null"])
def test_what_no_browser_calls_an_origin_is_refused(origin: str) -> None:
    with pytest.raises(UsageError, match="not an origin"):
        ServiceSettings(origins=(origin,))


def test_names_are_hosts_without_ports() -> None:
    assert "grain.example" in ServiceSettings(names=("Grain.example",)).known_names
    for name in ("grain.example:8100", "http://grain.example", "::1"):
        with pytest.raises(UsageError, match="not the name of a host"):
            ServiceSettings(names=(name,))
    assert "[::1]" in ServiceSettings(names=("[::1]",)).known_names


def test_methods_that_somebody_makes_up_are_counted_as_one() -> None:
    metrics = Metrics()
    for number in range(100):
        metrics.count(f"MADE-UP-{number}", "other", 401, 0.1)
    assert dict(metrics.requests) == {("other", "other", 401): 100}


@contextmanager
def _started(memory: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A service of its own, to be ended."""
    command = [sys.executable, "-m", "dehusk", "serve", "--port", "0", "--method", "segments"]
    process = subprocess.Popen(
        [*command, "--memory", str(memory)], stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        found = re.search(r"http://127.0.0.1:([0-9]+)", process.stderr.readline())
        assert found is not None
        yield process, int(found[1])
    finally:
        process.kill()
        process.communicate()


def test_who_listens_does_not_hold_up_the_end(tmp_path: Path) -> None:
    with _started(tmp_path / "a.husk") as (process, port):
        listener = HTTPConnection("127.0.0.1", port, timeout=300)
        listener.request("GET", "/v1/events")
        stream = listener.getresponse()
        assert stream.readline().startswith(b":")
        process.send_signal(signal.SIGTERM)
        assert stream.read().strip() == b""  # Ended as a stream should, not cut off.
        listener.close()
        _, said = process.communicate(timeout=300)
    events = [json.loads(line)["event"] for line in said.splitlines()]
    assert events == ["request"]


def test_what_the_http_server_says_is_json_too(tmp_path: Path) -> None:
    with _started(tmp_path / "a.husk") as (process, port):
        with socket.create_connection(("127.0.0.1", port)) as raw:
            raw.sendall(b"nonsense\r\n\r\n")
            raw.recv(1000)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=300)
    (line,) = map(json.loads, said.splitlines())
    assert (line["event"], line["level"]) == ("server", "warning")


def test_a_traceback_stands_in_its_line(tmp_path: Path) -> None:
    server = logging.getLogger("uvicorn.error")
    with (tmp_path / "log").open("w") as file:
        monitoring.log_to(file, is_quiet=True)
        try:
            raise ValueError("grain")
        except ValueError:
            server.exception("it went wrong")
        monitoring.LOG.handlers.clear()
        server.handlers.clear()
    line = json.loads((tmp_path / "log").read_text())
    assert line["message"] == "it went wrong"
    assert "ValueError: grain" in line["traceback"]


def test_a_request_that_the_end_cuts_off_is_answered() -> None:
    async def endless(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(3600)

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def run() -> None:
        task = asyncio.create_task(Ending(endless)({"type": "http"}, None, send))  # type: ignore[arg-type]
        await asyncio.sleep(0)
        task.cancel()
        await task

    asyncio.run(run())
    assert sent[0]["status"] == 503
    assert json.loads(sent[1]["body"])["error"]["code"] == "ending"


class Asked:
    """A request, as far as a handler needs one."""

    def __init__(self, service: Service) -> None:
        self.app = self
        self.state = self
        self.service = service


def test_health_says_when_nothing_can_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full() -> None:
        raise StoreFull("no room on the disk")

    async def run(memories: dehusk.Session) -> list[str]:
        service = Service(memories, ServiceSettings(workers=1))
        asked: Any = Asked(service)
        told = []
        for commit in (memories.commit, full, memories.commit):
            monkeypatch.setattr(memories, "commit", commit)
            await service.flush()
            told.append((await app.health(asked))["status"])
        return told

    with dehusk.open(tmp_path / "a.husk", method="segments") as memories:
        assert asyncio.run(run(memories)) == ["ok", "not_kept", "ok"]


def test_a_memory_that_cannot_be_used_is_a_failure_like_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nobody: Any = None
    for fault, status in ((StoreFull("no room"), 507), (StoreDamaged("damaged"), 500)):
        answer = asyncio.run(failures._failure(nobody, fault))
        assert answer.status_code == status
        assert json.loads(bytes(answer.body))["error"]["code"] == "not_kept"

    async def full(page: Page) -> PageAnswer:
        raise StoreFull("no room")

    async def lines() -> list[bytes]:
        return [line async for line in app._answers(full, [Page(b"")], every=True)]

    (line,) = asyncio.run(lines())
    assert json.loads(line)["error"] == {"code": "not_kept", "message": "no room"}


LARGE = 50_000_000
"""Bytes of an answer: more than the buffers of any system hold."""


@contextmanager
def _answering_large(patience_s: float) -> Iterator[tuple[uvicorn.Server, tuple[str, int]]]:
    """A server with so much patience, and its address."""

    async def large(scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-length", str(LARGE).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": bytes(LARGE)})

    opened = listen("127.0.0.1", 0)
    config = uvicorn.Config(large, http=patient_for(patience_s), lifespan="off", log_config=None)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([opened],))
    thread.start()
    try:
        yield server, opened.getsockname()
    finally:
        server.should_exit = True
        thread.join(30)


@pytest.mark.parametrize("before", [b"", b"\r\n1\r\nx\r\n0\r\n"], ids=["head", "trailer"])
def test_who_sends_headers_without_end_is_sent_away(before: bytes) -> None:
    start = b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
    some = b"".join(b"x%d: y\r\n" % number for number in range(1000))
    with (
        _answering_large(patience_s=300.0) as (_, address),
        socket.create_connection(address, timeout=60) as endless,
    ):
        endless.sendall(start + before)
        # The answer comes before the end of the request. Who does not read it is not read from.
        reader = threading.Thread(target=_read_all, args=(endless,))
        reader.start()
        with pytest.raises(ConnectionError):
            endless.sendall(2000 * some)
        reader.join(60)


def _read_all(connection: socket.socket) -> None:
    with suppress(OSError):
        while connection.recv(1 << 20):
            pass


def test_who_does_not_read_an_answer_is_sent_away() -> None:
    with (
        _answering_large(patience_s=1.0) as (server, address),
        socket.create_connection(address, timeout=60) as slow,
    ):
        slow.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        read = len(slow.recv(1000))
        end = time.monotonic() + 60
        while server.server_state.connections and time.monotonic() < end:
            time.sleep(0.05)
        with suppress(ConnectionError):
            while piece := slow.recv(1 << 20):
                read += len(piece)
        assert read < LARGE


def test_who_reads_a_large_answer_gets_all_of_it() -> None:
    with _answering_large(patience_s=300.0) as (_, (host, port)):
        reader = HTTPConnection(host, port, timeout=300)
        reader.request("GET", "/")
        assert len(reader.getresponse().read()) == LARGE
        reader.close()
