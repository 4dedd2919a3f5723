"""A small site on this machine whose pages link each other.

Where it is not open, other pages are shown only with the cookie that its first page sets. Its menu
also names links that lead nowhere, elsewhere, or do something.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

GRAINS = ("rye", "oats", "barley", "millet")
ODD = ("gone", "paper.pdf", "away", "old", "logout", "long")
"""404; a PDF; a redirect to another origin; one to /old/; what signs out; more than 4 MB."""
ACTS = """
/user_logout /do_logout.php /logoutUser /account/logout /userlogout /%6cogout /%256cogout /LogOut
/session/destroy /users/log_me_out /auth/end_session /d%C3%A9connexion /Abmeldung /salir
/cerrar-sesi%C3%B3n /%E7%99%BB%E5%87%BA /b?delete_id=5 /delete_post/5 /post/5?do=del /exit
/b?add_to_cart=3 /cart?add-to-cart=3 /wp-admin/post.php?post=3&action=trash /b?_wpnonce=ab12
/index.php?title=X&action=purge /vote?id=3&dir=up /follow/ann /admin/disable?u=3 /markallread
/friends/accept/5 /checkout/confirm /account/cancel /newsletter/unsubscribe
""".split()  # noqa: SIM905
"""What does something for somebody who is signed in, by its address."""
ACTING = (
    *(f'<a href="{path}">Grain {number}</a>' for number, path in enumerate(ACTS[::3])),
    '<a href="/a1" rel="nofollow">Grain</a>',
    '<a href="/a2" data-method="delete">Grain</a>',
    '<a href="/a3" download>Grain</a>',
    '<a href="/a4">Log out</a>',
    '<a href="/a%355" title="Löschen">×</a>',
)
SHOWS = """
/ /rye /login /catalog /blog/outdoor /address /news/2024/how-to-remove-coffee-from-your-desk
/index.php?option=com_content&task=view&id=3 /a?page=2 /additives /archive/2024 /watch?v=8
""".split()  # noqa: SIM905
"""What shows a page and no more."""
_MENU = "".join(f'<li><a href="/{name}">{name.title()}</a></li>' for name in (*GRAINS, *ODD))
_PAGE = """<!doctype html><html lang=en><title>{0} – Grain Almanac</title>
<style>body{{font:16px/1.5 sans-serif;max-width:46rem;margin:24px auto;padding:0 24px}}
nav ul{{display:flex;flex-wrap:wrap;gap:4px 16px;padding:0;list-style:none}}</style>
<header><strong>The Grain Almanac</strong>
<nav><ul><li><a href="/">Home</a></li>{links}{menu}</ul></nav></header>
<main><h1>How {0} is grown here</h1>
<p>{0} is sown in autumn and stands through the winter under snow; what is known
of {0} on heavy soils fills this page and no other one of the almanac.</p>
<p>Whoever grows {0} for straw cuts it later than whoever bakes {0}, and dries it longer.</p></main>
<footer><p>Made by hand in the valley, twice a year. Write to us about your fields.</p></footer>"""
_ALONE = b"<!doctype html><title>Alone</title><main><h1>Alone</h1><p>It links nobody.</p></main>"


@dataclass
class LinkedSite:
    """Where it is, and the paths that were asked for, with the status of each."""

    url: str = ""
    is_open: bool = True
    links: str = ""
    """Links that stand before its menu on every page."""
    policy: str = "default-src 'none'; connect-src 'self'; style-src 'unsafe-inline'"
    requests: list[tuple[str, int]] = field(default_factory=list)
    free: threading.Event = field(default_factory=threading.Event)
    """Pages but the first are not sent before it is set, as it is at first."""

    def __post_init__(self) -> None:
        self.free.set()

    def asked(self) -> set[str]:
        """The paths that were asked for."""
        return {path for path, _ in self.requests}


class _Handler(BaseHTTPRequestHandler):
    site: LinkedSite
    away: str

    def do_GET(self) -> None:
        status, headers, body = self._answer(self.path.strip("/"))
        self.site.requests.append((self.path, status))
        self.send_response(status)
        policy = self.site.policy
        given = {"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": policy}
        for name, value in (given | headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _answer(self, name: str) -> tuple[int, dict[str, str], bytes]:
        if name == "":
            return 200, {"Set-Cookie": "session=1"}, self._page("Emmer")
        if name == "robots.txt":
            return 404, {}, b""
        if name == "alone":
            return 200, {}, _ALONE
        self.site.free.wait(30)
        if not self.site.is_open and "session=1" not in self.headers.get("Cookie", ""):
            return 403, {}, b"Sign in"
        if name in GRAINS:
            return 200, {}, self._page(name.title())
        if name == "paper.pdf":
            return 200, {"Content-Type": "application/pdf"}, b"%PDF-1.7"
        if name == "long":
            return 200, {}, self._page("Long") + b"<p>much " * 700_000
        if name in ("away", "old") and not self.path.endswith("/"):
            return 302, {"Location": f"{self.away}/" if name == "away" else "/old/"}, b""
        return (200, {}, self._page("Old")) if name == "old" else (404, {}, self._page("Not here"))

    def _page(self, name: str) -> bytes:
        return _PAGE.format(name, links=self.site.links, menu=_MENU).encode()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@contextmanager
def linked_site(away: str) -> Iterator[LinkedSite]:
    """The site as long as the block lasts; `away` is the origin that a link of it leads to."""
    site = LinkedSite()
    handler = type("Handler", (_Handler,), {"away": away, "site": site})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    site.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
