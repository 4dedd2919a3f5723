"""`dehusk bench serve`: what the HTTP service adds to a page."""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import local
from typing import Final
from urllib.parse import quote

import numpy as np

from dehusk.answer.result import Result
from dehusk.errors import SourceError, UsageError
from dehusk.memory.opening import open as open_session
from dehusk.methods import DEFAULT
from dehusk.page.page import Page
from dehusk_bench.corpora import Caps, open_corpus
from dehusk_bench.options import add_corpora, add_extent, positive
from dehusk_bench.tables import number, table

DESCRIPTION: Final = (
    "Start `dehusk serve` on this machine with a new memory, post pages to it from so many clients"
    " at once, and show how long answers take (p50, p99), pages a second, and CPU time a page of"
    " all its processes, beside what the library takes for the same pages, a batch of each in turn."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options."""
    add_corpora(parser, note=": pages to post")
    parser.add_argument(
        "--method",
        metavar="NAME",
        help="the method to use (default: the one that dehusk uses by default)",
    )
    parser.add_argument(
        "--clients",
        action="append",
        type=positive,
        metavar="N",
        help="clients at once; may be repeated (default: 1, then 8)",
    )
    parser.add_argument(
        "--workers",
        type=positive,
        default=2,
        metavar="N",
        help="worker processes of the service (default: %(default)s)",
    )
    add_extent(parser)
    parser.add_argument("--markdown", action="store_true", help="write the table as Markdown")


_HOST = "127.0.0.1"
_BATCH = 40
"""Pages that one side takes before the other has its turn."""
_START_S = 60.0


@dataclass(slots=True)
class Figures:
    """What was measured with so many clients."""

    clients: int
    latencies_s: list[float] = field(default_factory=list)
    wall_s: float = 0.0
    service_cpu_s: float = 0.0
    library_cpu_s: float = 0.0
    different: int = 0
    """Answers that the library gives otherwise."""

    def cells(self) -> list[str]:
        """A row of the table."""
        count = len(self.latencies_s)
        p50, p99 = np.percentile(self.latencies_s, [50, 99]) * 1000
        service, library = (cpu * 1000 / count for cpu in (self.service_cpu_s, self.library_cpu_s))
        return [
            str(self.clients), str(count), number(p50, 1), number(p99, 1),
            number(count / self.wall_s, 1), number(service, 2), number(library, 2),
            number(service - library, 2), str(self.different),
        ]  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Load the service and print the table; 1 if an answer was not as the library's."""
    caps = Caps(arguments.sites, arguments.pages)
    corpora = [open_corpus(name, caps) for name in arguments.corpora or ["samples"]]
    # Pages of sites in turn, as crawls bring them: each site's own order stays.
    gold = sorted((page for corpus in corpora for page in corpus.pages()), key=lambda p: p.number)
    pages = [Page(page.html, page.page.url, page.site) for page in gold]
    if not pages:
        raise UsageError("no pages to post")
    method = arguments.method or DEFAULT
    rows = [
        measure(pages, method, clients, arguments.workers)
        for clients in arguments.clients or (1, 8)
    ]
    header = ["clients", "pages", "p50 ms", "p99 ms", "pages/s", "CPU ms", "library", "added"]
    cells = [row.cells() for row in rows]
    sys.stdout.write(table([*header, "different"], cells, markdown=arguments.markdown))
    size = np.median([len(page.html) for page in pages]) / 1000
    sys.stdout.write(
        f"\n{method}, {arguments.workers} workers, median page {size:.0f} kB."
        f" CPU ms: of all processes of the service, a page\n"
    )
    return 1 if any(row.different for row in rows) else 0


def measure(pages: Sequence[Page], method: str, clients: int, workers: int) -> Figures:
    """The figures with so many clients; service and library take turns."""
    figures = Figures(clients)
    with TemporaryDirectory() as folder, ThreadPoolExecutor(clients) as threads:
        library = open_session(Path(folder) / "library.husk", method=method)
        options = ["--method", method, "--workers", str(workers)]
        with library, running(*options, "--memory", f"{folder}/service.husk") as (port, pid):
            client = _Client(port)
            list(threads.map(client.warm, range(8 * workers)))
            library.ask(pages[0], render=Result.to_json)
            for start in range(0, len(pages), _BATCH):
                batch = pages[start : start + _BATCH]
                cpu, wall = _cpu_s(pid), time.perf_counter()
                answers = list(threads.map(client.post, batch))
                figures.wall_s += time.perf_counter() - wall
                figures.service_cpu_s += _cpu_s(pid) - cpu
                figures.latencies_s += [seconds for seconds, _ in answers]
                cpu = time.process_time()
                expected = [_line(answer.to_json()) for answer in library.clean(batch)]
                figures.library_cpu_s += time.process_time() - cpu
                if clients == 1:  # With more, pages of a site may overtake each other.
                    given = (body for _, body in answers)
                    figures.different += sum(a != b for a, b in zip(given, expected, strict=True))
    return figures


def _line(answer: dict[str, object]) -> bytes:
    return json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace")


class _Client:
    """Posts pages, each thread over a connection of its own."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._own = local()

    def post(self, page: Page) -> tuple[float, bytes]:
        """Seconds until the whole answer was there, and the answer."""
        assert isinstance(page.html, str)
        body = page.html.encode("utf-8", "surrogatepass")
        names = f"url={quote(page.url or '', safe='')}&site={quote(page.site or '', safe='')}"
        start = time.perf_counter()
        answer = self._send(f"/v1/clean?{names}", body)
        return time.perf_counter() - start, answer

    def warm(self, number: int) -> None:
        """Let the service and its workers load what they need."""
        self._send(f"/v1/clean?learn=false&site=warm-{number}", b"<p>Warm</p>")

    def _send(self, path: str, body: bytes) -> bytes:
        if not hasattr(self._own, "connection"):
            self._own.connection = HTTPConnection(_HOST, self._port, timeout=120)
        headers = {"Content-Type": "text/html; charset=utf-8"}
        self._own.connection.request("POST", path, body, headers)
        return bytes(self._own.connection.getresponse().read())


@contextmanager
def running(*options: str) -> Iterator[tuple[int, int]]:
    """The port and the process of `dehusk serve` with these options, as long as the block lasts."""
    with socket.socket() as probe:
        probe.bind((_HOST, 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "dehusk", "serve", "-q", "--port", str(port)]
    process = subprocess.Popen([*command, *options])  # noqa: S603  ourselves
    try:
        _wait(process, port)
        yield port, process.pid
    finally:
        process.terminate()
        process.wait(timeout=30)


def _wait(process: subprocess.Popen[bytes], port: int) -> None:
    """Wait until the service answers. Raises SourceError where it does not."""
    end = time.monotonic() + _START_S
    while time.monotonic() < end and process.poll() is None:
        connection = HTTPConnection(_HOST, port, timeout=5)
        try:
            connection.request("GET", "/health")
            if connection.getresponse().status == 200:
                return
        except (OSError, HTTPException):
            time.sleep(0.1)
        finally:
            connection.close()
    raise SourceError("dehusk serve did not start")


def _cpu_s(pid: int) -> float:
    """CPU seconds that a process and its children have used. Raises UsageError without /proc."""
    tick = os.sysconf("SC_CLK_TCK")
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        stats = [Path(f"/proc/{one}/stat").read_text() for one in (pid, *children)]
    except OSError as fault:
        raise UsageError(
            "dehusk bench serve counts CPU time in /proc, so it needs Linux"
        ) from fault
    fields = (stat.rpartition(")")[2].split() for stat in stats)
    return sum(int(field[11]) + int(field[12]) for field in fields) / tick
