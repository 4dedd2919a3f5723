"""`dehusk bench load`: whether the HTTP service stands many requests beside slow clients."""

from __future__ import annotations

import argparse
import selectors
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np

from dehusk.errors import UsageError
from dehusk.methods import DEFAULT
from dehusk_bench.options import positive
from dehusk_bench.samples import sample_site
from dehusk_bench.speed.serve import running
from dehusk_bench.tables import number, table

DESCRIPTION: Final = (
    "Start `dehusk serve` on this machine with a new memory and post sample pages to it, each at a"
    " new address, while slow clients hold connections open: heads and bodies that come byte by"
    " byte, and connections on which nothing comes. Show answers, their times, and the memory of"
    " all its processes as the requests go on. Linux only. Exit status 1 if a request was not"
    " answered with 200, or if memory grew by more than a tenth after the first fifth."
)
_HOST: Final = "127.0.0.1"
_ROWS: Final = 10
_WARM: Final = 2
"""Rows of the table before which memory may grow: sites are learned, caches filled."""
_MAX_GROWTH: Final = 1.1
_BYTE_S: Final = 1.0
"""Seconds between two bytes of a slow client."""
_DEADLINE_S: Final = 25
"""What the service gives a head, a body and a page: each slow client is sent away again and again,
and no page is given up while the workers start on a busy machine."""
_HEAD: Final = b"POST /v1/clean HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/html\r\n"
_BEGINNINGS: Final = (_HEAD, _HEAD + b"Content-Length: 1000000\r\n\r\n", b"")
"""A head without end, a body without end, and nothing at all."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options."""
    for name, usual, words in (
        ("requests", 100_000, "pages to post"),
        ("slow", 500, "slow clients that are there all the time"),
        ("clients", 4, "clients that post pages at once"),
        ("workers", 2, "worker processes of the service"),
    ):
        parser.add_argument(
            f"--{name}", type=positive, default=usual, metavar="N",
            help=f"{words} (default: %(default)s)",
        )  # fmt: skip
    parser.add_argument(
        "--method", default=DEFAULT, metavar="NAME", help="the method (default: %(default)s)"
    )
    parser.add_argument("--markdown", action="store_true", help="write the table as Markdown")


@dataclass(slots=True)
class Row:
    """A part of the requests."""

    requests: int
    seconds: float
    latencies_s: list[float]
    megabytes: float
    """Of all processes of the service, at the end of the part."""
    slow: int
    """Slow clients that were connected then."""

    def cells(self) -> list[str]:
        """A row of the table."""
        p50, p99 = np.percentile(self.latencies_s, [50, 99]) * 1000
        rate = len(self.latencies_s) / self.seconds
        shown = (number(figure, 1) for figure in (rate, p50, p99, self.megabytes))
        return [f"{self.requests:,}", *shown, str(self.slow)]


def run(arguments: argparse.Namespace) -> int:
    """Load the service and print the table; 1 if it did not stand that."""
    statuses: Counter[str] = Counter()
    rows = list(measure(arguments, statuses))
    header = ["requests", "a second", "p50 ms", "p99 ms", "MB", "slow clients"]
    sys.stdout.write(table(header, [row.cells() for row in rows], markdown=arguments.markdown))
    growth = max(row.megabytes for row in rows[_WARM:]) / rows[_WARM - 1].megabytes
    said = ", ".join(f"{count:,} {status}" for status, count in statuses.most_common())
    sys.stdout.write(
        f"\n{arguments.method}, {arguments.workers} workers, {arguments.clients} clients; answers:"
        f" {said}; memory after the first fifth: × {growth:.2f} at most\n"
    )
    return 1 if set(statuses) != {"200"} or growth > _MAX_GROWTH else 0


def measure(arguments: argparse.Namespace, statuses: Counter[str]) -> Iterator[Row]:
    """The rows, as the requests go on; what was answered is counted in `statuses`."""
    size = arguments.requests // _ROWS
    if size < arguments.clients:
        raise UsageError(f"--requests must be at least {_ROWS * arguments.clients}")
    options = ["--method", arguments.method, "--workers", str(arguments.workers)]
    options += ["--deadline", str(_DEADLINE_S)]
    with (
        TemporaryDirectory() as folder,
        ThreadPoolExecutor(arguments.clients) as threads,
        running(*options, "--memory", f"{folder}/load.husk") as (port, pid),
        slow_clients(port, arguments.slow) as slow,
        closing(_Client(port)) as client,
    ):
        posts = _posts()
        for part in range(1, _ROWS + 1):
            start = time.perf_counter()
            answers = list(threads.map(client.post, list(islice(posts, size))))
            seconds = time.perf_counter() - start
            statuses.update(status for _, status in answers)
            latencies = [latency for latency, _ in answers]
            yield Row(part * size, seconds, latencies, _megabytes(pid), len(slow.connected))


def _posts() -> Iterator[tuple[str, bytes]]:
    """Paths and bodies of requests, without end: sample pages, each at an address of its own."""
    kinds = ("news", "shop", "forum", "docs")
    sites = [sample_site(kind, pages=40, seed=9) for kind in kinds]
    bodies = [str(page.page.html).encode() for pages in zip(*sites, strict=True) for page in pages]
    count = 0
    while True:
        for place, body in enumerate(bodies):
            count += 1
            yield f"/v1/clean?site={kinds[place % len(kinds)]}&url=http://a.example/{count}", body


class _Client:
    """Posts pages, each thread over a connection of its own."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._own = threading.local()
        self._all: list[HTTPConnection] = []

    def post(self, request: tuple[str, bytes]) -> tuple[float, str]:
        """Seconds until the answer was there, and its status, or what went wrong."""
        if not hasattr(self._own, "connection"):
            self._own.connection = HTTPConnection(_HOST, self._port, timeout=120)
            self._all.append(self._own.connection)
        start = time.perf_counter()
        try:
            self._own.connection.request("POST", *request, {"Content-Type": "text/html"})
            answer = self._own.connection.getresponse()
            answer.read()
            said = str(answer.status)
        except (OSError, HTTPException) as fault:
            self._own.connection.close()
            said = type(fault).__name__
        return time.perf_counter() - start, said

    def close(self) -> None:
        """Close all connections."""
        for connection in self._all:
            connection.close()


@dataclass(slots=True)
class _Slow:
    """Slow clients: each sends a byte a second, and comes again when it is sent away."""

    port: int
    count: int
    connected: dict[socket.socket, int] = field(default_factory=dict)
    is_over: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        with selectors.DefaultSelector() as selector:
            while not self.is_over.is_set():
                for kind in range(len(self.connected), self.count):
                    self._connect(selector, kind)
                for key, _ in selector.select(0):
                    assert isinstance(key.fileobj, socket.socket)
                    self._hear(selector, key.fileobj)
                for client, kind in list(self.connected.items()):
                    if kind % len(_BEGINNINGS) != 2:
                        self._send(selector, client, b"x")
                self.is_over.wait(_BYTE_S)
            for client in self.connected:
                client.close()

    def _connect(self, selector: selectors.BaseSelector, kind: int) -> None:
        client = socket.create_connection((_HOST, self.port), timeout=10)
        self.connected[client] = kind
        selector.register(client, selectors.EVENT_READ)
        self._send(selector, client, _BEGINNINGS[kind % len(_BEGINNINGS)])

    def _hear(self, selector: selectors.BaseSelector, client: socket.socket) -> None:
        """Take note of the end of a connection."""
        try:
            is_open = bool(client.recv(65536))
        except OSError:
            is_open = False
        if not is_open:
            self._drop(selector, client)

    def _send(self, selector: selectors.BaseSelector, client: socket.socket, data: bytes) -> None:
        try:
            client.sendall(data)
        except OSError:
            self._drop(selector, client)

    def _drop(self, selector: selectors.BaseSelector, client: socket.socket) -> None:
        selector.unregister(client)
        del self.connected[client]
        client.close()


@contextmanager
def slow_clients(port: int, count: int) -> Iterator[_Slow]:
    """So many slow clients, as long as the block lasts."""
    slow = _Slow(port, count)
    thread = threading.Thread(target=slow.run, name="slow clients", daemon=True)
    thread.start()
    try:
        yield slow
    finally:
        slow.is_over.set()
        thread.join(30)


def _megabytes(pid: int) -> float:
    """What a process and its children hold in memory."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    total = 0
    for one in (str(pid), *children):
        lines = Path(f"/proc/{one}/status").read_text().splitlines()
        total += next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))
    return total / 1000
