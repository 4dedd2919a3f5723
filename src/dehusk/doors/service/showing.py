"""Where pages of strangers are shown: an origin of its own, on which nothing runs.

Four walls, each enough by itself: the document is written anew from the tree (`render.as_view`);
this origin is another than the viewer's and serves nothing else; every document comes with a policy
that allows no script and no request, and with `sandbox`, so that it has no rights even outside a
frame; and the viewer shows it in a frame with an empty `sandbox`.

Nothing runs in the frame, so a click is a link to an address that answers 204: the document stays,
and the viewer is told of the click from here.
"""

from __future__ import annotations

import hmac
import re
from functools import partial
from importlib.resources import files
from typing import Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from dehusk.answer.render import Showing, view_html
from dehusk.doors.service.viewer import Room
from dehusk.errors import PageError

_STYLE: Final = (
    files("dehusk.doors.service").joinpath("static/frame.css").read_text(encoding="utf-8")
)
_POLICY: Final = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none';"
    " form-action 'none'; frame-ancestors {viewer}"
)
_TAB: Final = re.compile(r"[0-9a-f-]{1,36}")
"""What a tab of the viewer calls itself, so that a click is heard by the one it was made in."""
_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-site",
    "X-DNS-Prefetch-Control": "off",
    "Cache-Control": "no-store",
    "Permissions-Policy": "browsing-topics=(), interest-cohort=()",
}


def make_frames(room: Room, secret: str, viewer: str, names: frozenset[str]) -> Starlette:
    """The application that shows pages to the viewer at this origin."""
    policy = {"Content-Security-Policy": _POLICY.format(viewer=viewer)}

    async def show(request: Request) -> Response:
        """A page with its marks."""
        if not _is_known(request, secret, names):
            return Response(status_code=404, headers=_HEADERS)
        number, seen = request.path_params["page"], request.query_params.get("seen", "")[:9]
        if number >= len(room.viewed.pages):
            return Response(status_code=404, headers=_HEADERS)
        tab = _TAB.fullmatch(request.query_params.get("tab", ""))
        picks = f"/{secret}/pick/{tab[0] if tab else '-'}/{number}/"
        given = int(seen) if seen.isdecimal() else None
        try:
            body = await room.hand.do(partial(_document, room, number, given, picks))
        except PageError as error:
            return Response(error.reason, 422, _HEADERS | policy, "text/plain")
        return Response(body, 200, _HEADERS | policy, "text/html; charset=utf-8")

    async def pick(request: Request) -> Response:
        """Tell the viewer of a click, and leave the document as it is."""
        if not _is_known(request, secret, names):
            return Response(status_code=404, headers=_HEADERS)
        room.listeners.tell(
            "picked", {name: request.path_params[name] for name in ("tab", "page", "node")}
        )
        return Response(status_code=204, headers=_HEADERS)

    return Starlette(
        routes=[
            Route("/{secret}/{page:int}", show),
            Route("/{secret}/pick/{tab}/{page:int}/{node:int}", pick),
        ]
    )


def _document(room: Room, number: int, seen: int | None, picks: str) -> bytes:
    """A page with its marks, whose clicks go there. Raises PageError."""
    result = room.viewed.result(number, seen)
    showing = Showing(picks, _STYLE, [region.node for region in result.regions])
    document = view_html(result.tree, result.labels, result.explanation, showing)
    return document.encode("utf-8", "replace")


def _is_known(request: Request, secret: str, names: frozenset[str]) -> bool:
    """True for a request that the viewer has made, addressed to this machine."""
    host = request.headers.get("host", "").rpartition(":")[0]
    given = str(request.path_params["secret"]).encode()
    return hmac.compare_digest(given, secret.encode()) and host in names
