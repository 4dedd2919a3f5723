"""A sample site on a local web server, for trying out and measuring crawls."""

from __future__ import annotations

import gzip
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final
from urllib.parse import urldefrag, urljoin, urlsplit

import turbohtml

from dehusk_bench.samples.page import SamplePage

HOST: Final = "127.0.0.1"
_ROBOTS: Final = "User-agent: *\nDisallow: /private/\nSitemap: {url}/sitemap.xml\n"


@dataclass(frozen=True, slots=True)
class ServedSite:
    """A site that is being served: where, its pages by path, and what was asked for."""

    url: str
    """Scheme, host and port, without a slash at the end."""
    pages: Mapping[str, bytes]
    unlinked: tuple[str, ...]
    """The paths that no chain of links leads to: the sitemap names them."""
    requests: list[tuple[str, int]] = field(default_factory=list)
    """Path and status of every answer that was sent to its end."""


@contextmanager
def serve_site(samples: Iterable[SamplePage]) -> Iterator[ServedSite]:
    """Serves the pages on this machine as long as the block lasts."""
    server = ThreadingHTTPServer((HOST, 0), _Handler)
    server.daemon_threads = True
    url = f"http://{HOST}:{server.server_port}"
    pages = {_path(sample): _html(sample, url) for sample in samples}
    site = ServedSite(url, pages, tuple(_unlinked(pages, url)))
    _Handler.sites[server.server_port] = site
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        del _Handler.sites[server.server_port]


def _path(sample: SamplePage) -> str:
    """Path and query of a page's URL."""
    parts = urlsplit(sample.page.url or "")
    return f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"


def _html(sample: SamplePage, url: str) -> bytes:
    """The page with its own site's links leading to the server."""
    assert isinstance(sample.page.html, str)
    return sample.page.html.replace(f"https://{sample.page.site}", url).encode("utf-8")


def _unlinked(pages: Mapping[str, bytes], url: str) -> Iterator[str]:
    """The paths that cannot be reached by links from the first page."""
    first = next(iter(pages))
    seen, waiting = {first}, deque([first])
    while waiting:
        path = waiting.popleft()
        for link in turbohtml.parse(pages[path]).iter_elements(("a",)):
            href = str(link.attrs.get("href") or "")
            target = urldefrag(urljoin(url + path, href)).url.removeprefix(url) or "/"
            if target in pages and target not in seen:
                seen.add(target)
                waiting.append(target)
    return (path for path in pages if path not in seen)


class _Handler(BaseHTTPRequestHandler):
    """Answers GET: pages with ETags and packed, robots.txt, a sitemap; 404 for the rest."""

    sites: dict[int, ServedSite] = {}  # noqa: RUF012 - the sites of all servers, by port
    protocol_version = "HTTP/1.1"
    # Without it a small answer waits for the client's acknowledgement of its headers.
    wbufsize = 1 << 16

    def do_GET(self) -> None:
        """Send what the path names."""
        assert isinstance(self.server, ThreadingHTTPServer)
        site = self.sites[self.server.server_port]
        body = _file(site, self.path)
        etag = f'"{blake2b(body or b"", digest_size=8).hexdigest()}"'
        if body is None:
            status, body = HTTPStatus.NOT_FOUND, b"<title>Not here</title>"
        elif self.headers.get("If-None-Match") == etag:
            status, body = HTTPStatus.NOT_MODIFIED, b""
        else:
            status = HTTPStatus.OK
        self._send(status, body, etag)
        site.requests.append((self.path, status))

    def _send(self, status: HTTPStatus, body: bytes, etag: str) -> None:
        packed = gzip.compress(body, 1) if body else b""
        self.send_response(status)
        self.send_header("Content-Type", _type(self.path))
        self.send_header("ETag", etag)
        if packed:
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(packed)))
        self.end_headers()
        self.wfile.write(packed)
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Nothing: the requests are counted."""


def _file(site: ServedSite, path: str) -> bytes | None:
    """What stands at a path; None for nothing."""
    if path == "/robots.txt":
        return _ROBOTS.format(url=site.url).encode()
    if path == "/sitemap.xml":
        places = (site.url + path.replace("&", "&amp;") for path in site.unlinked)
        urls = "".join(f"<url><loc>{place}</loc></url>" for place in places)
        written = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        return f"{written}{urls}</urlset>".encode()
    return site.pages.get(path)


def _type(path: str) -> str:
    kinds = {"/robots.txt": "text/plain", "/sitemap.xml": "application/xml"}
    return kinds.get(path, "text/html; charset=utf-8")
