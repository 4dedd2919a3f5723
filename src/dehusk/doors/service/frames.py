"""Where pages of strangers are shown: an origin of its own, on which nothing runs.

Four walls, each enough by itself: the document is written anew from the tree (`render.as_view`);
this origin is another than the viewer's and serves nothing else; every document comes with a policy
that allows no script and no request, and with `sandbox`, so that it has no rights even outside a
frame; and the viewer shows it in a frame with an empty `sandbox`.

Nothing runs in the frame, so a click is a link to an address that answers 204: the document stays,
and the viewer is told of the click from here.
"""

from __future__ import annotations

import asyncio
import hmac
import re
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import files
from queue import SimpleQueue
from threading import Thread
from typing import Any, Final, TypeVar

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from dehusk.answer.view import Showing, view_html
from dehusk.doors.service.guard import name_of
from dehusk.doors.service.judges import MAX_NAME, Judges
from dehusk.doors.service.monitoring import Listeners
from dehusk.errors import PageError
from dehusk.template.survey import Survey
from dehusk.template.viewing import Viewed

_Result = TypeVar("_Result")
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


class SerialThread:
    """A thread that does one thing after another, in the order they were asked for.

    One, as nothing that it works with can be used by two at a time. It ends with the process,
    whatever it is at: somebody who wants to stop does not wait for a page of 5 MB.
    """

    def __init__(self) -> None:
        self._jobs: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()
        Thread(target=self._work, daemon=True).start()

    async def do(self, act: Callable[[], _Result]) -> _Result:
        """What the act gives, or raises. Left undone if whoever asked goes before it begins."""
        job: Future[_Result] = Future()
        self._jobs.put((job, act))
        return await asyncio.wrap_future(job)

    def _work(self) -> None:
        while True:
            job, act = self._jobs.get()
            if not job.set_running_or_notify_cancel():
                continue
            try:
                job.set_result(act())
            except Exception as fault:  # noqa: BLE001 - raised again where it was asked for
                job.set_exception(fault)


@dataclass(slots=True)
class SiteSurvey:
    """The sums over a site's pages, as far as they were looked at."""

    version: int
    """Of the viewer, when it began: a correction may change any page."""
    survey: Survey
    looked: int = 0
    taken: list[int] = field(default_factory=list)
    """The pages that are in it, by number, in order."""


class ViewerState:
    """What the viewer works with."""

    def __init__(
        self, viewed: Viewed, frames: str, *, is_kept: bool, judges: Judges | None = None
    ) -> None:
        self.viewed = viewed
        self.judges = Judges(viewed) if judges is None else judges
        self.frames = frames
        """Where pages are shown: another origin, with a secret path."""
        self.is_kept = is_kept
        """Rules outlast the viewer."""
        self.listeners = Listeners()
        self.thread = SerialThread()
        """Does all that takes a while, so that clicks and signals are heard meanwhile."""
        self.peer_thread = SerialThread()
        """For what takes a while and touches nothing of ours: other extractors."""
        self.surveys: dict[str, SiteSurvey] = {}
        """The sums over sites, as far as somebody asked for them."""
        self.version = 0
        """Rises with every correction, so that no frame shows an old verdict."""

    def changed(self) -> None:
        """Note that a verdict may be another now, and tell all who look."""
        self.version += 1
        self.listeners.tell("changed", {"version": self.version})


def make_frames(state: ViewerState, secret: str, viewer: str, names: frozenset[str]) -> Starlette:
    """The application that shows pages to the viewer at this origin."""
    policy = {"Content-Security-Policy": _POLICY.format(viewer=viewer)}

    async def show(request: Request) -> Response:
        """A page with its marks."""
        if not _is_known(request, secret, names):
            return Response(status_code=404, headers=_HEADERS)
        number, seen = request.path_params["page"], request.query_params.get("seen", "")[:9]
        if number >= len(state.viewed.pages):
            return Response(status_code=404, headers=_HEADERS)
        tab = _TAB.fullmatch(request.query_params.get("tab", ""))
        picks = f"/{secret}/pick/{tab[0] if tab else '-'}/{number}/"
        given = int(seen) if seen.isdecimal() else None
        judge = request.query_params.get("judge", "")[:MAX_NAME]
        try:
            body = await state.thread.do(partial(_document, state, number, given, judge, picks))
        except PageError as error:
            return Response(error.reason, 422, _HEADERS | policy, "text/plain")
        return Response(body, 200, _HEADERS | policy, "text/html; charset=utf-8")

    async def pick(request: Request) -> Response:
        """Tell the viewer of a click, and leave the document as it is."""
        if not _is_known(request, secret, names):
            return Response(status_code=404, headers=_HEADERS)
        state.listeners.tell(
            "picked", {name: request.path_params[name] for name in ("tab", "page", "node")}
        )
        return Response(status_code=204, headers=_HEADERS)

    return Starlette(
        routes=[
            Route("/{secret}/{page:int}", show),
            Route("/{secret}/pick/{tab}/{page:int}/{node:int}", pick),
        ]
    )


def _document(state: ViewerState, number: int, seen: int | None, judge: str, picks: str) -> bytes:
    """A page with its marks, whose clicks go there. Raises PageError."""
    result = state.viewed.result(number, seen, judge)
    showing = Showing(picks, _STYLE, [region.node for region in result.regions])
    document = view_html(result.tree, result.labels, result.explanation, showing)
    return document.encode("utf-8", "replace")


def _is_known(request: Request, secret: str, names: frozenset[str]) -> bool:
    """True for a request that the viewer has made, addressed to this machine."""
    host = name_of(request.headers.get("host", ""))
    given = str(request.path_params["secret"]).encode()
    return hmac.compare_digest(given, secret.encode()) and host in names
