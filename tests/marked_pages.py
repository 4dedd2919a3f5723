"""Pages with the marks of the TECO suite, on a server of this machine."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_PAGE = """<!doctype html><title>Rye</title>
<nav><a href=/>Home</a> <a href=/b>About us</a></nav>
<main class=TECO_notTemplate><h1>Rye {0}</h1><p>Rye {0} is a grass that is grown as a grain, a
cover crop and a forage crop. It grows on poor soils, where wheat does not.</p></main>
<footer>All rights reserved</footer>"""


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(_PAGE.format(self.path.partition("?")[2]).encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@contextmanager
def marked_pages() -> Iterator[str]:
    """Where they are: what is asked for behind `?` is in the page."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
