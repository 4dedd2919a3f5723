"""A web server that does all that a crawler has to survive, one path for each."""

from __future__ import annotations

import gzip
import socket
import socketserver
import struct
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import httpcore2
import pytest

from dehusk.sources.crawl import addresses

HOST = "127.0.0.1"
INSIDE = "127.0.0.2"
"""Another address of this machine, which no test allows."""
FOR_CRAWLERS = ("/robots.txt", "/sitemap.xml", "/.well-known/tdmrep.json")


@dataclass
class Request:
    """What a client asked, and the connection to misbehave on."""

    path: str
    headers: dict[str, str]
    connection: socket.socket

    def send(self, data: bytes) -> None:
        self.connection.sendall(data)

    def page(self, body: bytes, *headers: str, status: str = "200 OK") -> None:
        """A proper answer with these headers too."""
        head = [
            f"HTTP/1.1 {status}",
            "Content-Type: text/html",
            f"Content-Length: {len(body)}",
            "Connection: close",
            *headers,
        ]
        self.send("\r\n".join((*head, "", "")).encode("latin-1") + body)

    def redirect(self, target: str, *headers: str) -> None:
        self.page(b"", f"Location: {target}", *headers, status="302 Found")


Behaviour = Callable[[Request], None]


@dataclass
class Hostile:
    """A running server: what each path does, and what was asked of it."""

    url: str
    paths: dict[str, Behaviour] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)

    def asked(self) -> list[str]:
        """The paths that were asked for, but for the files that all crawlers ask for."""
        return [request.path for request in self.requests if request.path not in FOR_CRAWLERS]


@contextmanager
def serve(paths: dict[str, Behaviour], host: str = HOST) -> Iterator[Hostile]:
    """Serves these paths; 404 for others. A path ending in `*` stands for all that begin so."""
    hostile = Hostile("", paths)

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with suppress(OSError):
                request = _read_request(self.request)
                if request is not None:
                    hostile.requests.append(request)
                    _behaviour(hostile.paths, request.path)(request)

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        allow_reuse_address = True
        # Left to itself, closing would wait for threads that never end on purpose.
        block_on_close = False

    with Server((host, 0), Handler) as server:
        hostile.url = f"http://{host}:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield hostile
        server.shutdown()
        thread.join()


def _behaviour(paths: dict[str, Behaviour], path: str) -> Behaviour:
    if path in paths:
        return paths[path]
    for name, behaviour in paths.items():
        if name.endswith("*") and path.startswith(name[:-1]) and path not in FOR_CRAWLERS:
            return behaviour
    return lambda request: request.page(b"no", status="404 Not Found")


def _read_request(connection: socket.socket) -> Request | None:
    """What the client asks; None where it only connects."""
    connection.settimeout(30)
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            return None
        data += more
    first, *lines = data.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (s.partition(":") for s in lines)}
    return Request(first.split(" ")[1], headers, connection)


def links(*targets: str) -> bytes:
    """A page that links to these."""
    return "".join(f'<p><a href="{target}">{target}</a>' for target in targets).encode()


def home(*targets: str) -> Behaviour:
    """A start page with links to these."""
    return lambda request: request.page(links(*targets))


def sends(data: bytes) -> Behaviour:
    """These bytes, and the end."""
    return lambda request: request.send(data)


def then(*behaviours: Behaviour) -> Behaviour:
    """One after another."""

    def behave(request: Request) -> None:
        for behaviour in behaviours:
            behaviour(request)

    return behave


def endless(*, chunked: bool = False, line: bool = False) -> Behaviour:
    """Bytes for as long as the client takes them."""
    block = b"X-More: " + b"a" * 1000 + b"\r\n" if line else b"<p>and more" * 6000
    data = b"%x\r\n%s\r\n" % (len(block), block) if chunked else block

    def behave(request: Request) -> None:
        while True:
            request.send(data)

    return behave


def drips(data: bytes, every_s: float = 0.05) -> Behaviour:
    """These bytes one by one, and then spaces for ever: each read succeeds, none is the last."""

    def behave(request: Request) -> None:
        for byte in data:
            request.send(bytes([byte]))
            time.sleep(every_s)
        while True:
            request.send(b" ")
            time.sleep(every_s)

    return behave


def resets(before: bytes) -> Behaviour:
    """These bytes, then a reset instead of an end."""

    def behave(request: Request) -> None:
        request.send(before)
        request.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        request.connection.close()

    return behave


def bomb(size: int) -> bytes:
    """So many zeros, gzipped, without ever having them all in memory."""
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    block = bytes(1 << 20)
    packed = b"".join(packer.compress(block) for _ in range(size >> 20))
    return packed + packer.flush()


def gzipped(body: bytes) -> Behaviour:
    """A page, packed."""
    return lambda request: request.page(gzip.compress(body), "Content-Encoding: gzip")


def allow_only_loopback(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that are connected to from now on; none but this machine's can be.

    Names are not looked up: none has an address.
    """
    real = httpcore2.AnyIOBackend.connect_tcp
    connected: list[str] = []

    async def connect(self: Any, host: str, *args: Any, **more: Any) -> Any:
        connected.append(host)
        if host != HOST:
            raise httpcore2.ConnectError("not in a test")
        return await real(self, host, *args, **more)

    async def look_up(host: str, _: int) -> list[str]:
        if not host.replace(".", "").isdecimal():
            raise addresses.NoName(f"no address for {host}")
        return [host]

    monkeypatch.setattr(httpcore2.AnyIOBackend, "connect_tcp", connect)
    monkeypatch.setattr(addresses, "_look_up", look_up)
    return connected
