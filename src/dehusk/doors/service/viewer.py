"""What the viewer's page asks for: pages, verdicts, Markdown, templates, rules, gold."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable
from dataclasses import asdict
from functools import partial, wraps
from importlib.resources import files
from math import isnan
from typing import Annotated, Any, Final

from fastapi import APIRouter, FastAPI, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import StreamingResponse
from starlette.staticfiles import StaticFiles

from dehusk import __version__
from dehusk.answer.render import verdict_words
from dehusk.answer.result import Result
from dehusk.doors.service.app import add_failures
from dehusk.doors.service.events import Listeners
from dehusk.doors.service.failures import Failed
from dehusk.doors.service.gold import gold_record, teco_html
from dehusk.doors.service.hand import Hand
from dehusk.doors.service.peers import peer_text
from dehusk.errors import PageError
from dehusk.template.linking import link_graph
from dehusk.template.viewing import Viewed, ViewedSite

router = APIRouter()
_SHARES: Final = 24
"""Pages whose share is told at once: a moment's work."""
_STATIC: Final = files("dehusk.doors.service").joinpath("static")
Number = Annotated[int, Query(ge=0, le=10**9)]
Seen = Annotated[int | None, Query(ge=0, le=10**9)]


class Correction(BaseModel):
    """A verdict that somebody corrects."""

    model_config = ConfigDict(extra="forbid")

    page: int = Field(ge=0)
    action: str = Field(pattern="^(keep|drop|undo)$")
    selector: str = Field(min_length=1, max_length=5000)
    is_rule: bool = Field(default=True, description="For the whole site, not this page only.")


class Confirmation(BaseModel):
    """A page whose verdict somebody calls right."""

    model_config = ConfigDict(extra="forbid")

    page: int = Field(ge=0)
    is_right: bool


class Room:
    """What the viewer works with."""

    def __init__(self, viewed: Viewed, frames: str, *, is_kept: bool) -> None:
        self.viewed = viewed
        self.frames = frames
        """Where pages are shown: another origin, with a secret path."""
        self.is_kept = is_kept
        """Rules outlast the viewer."""
        self.listeners = Listeners()
        self.hand = Hand()
        """Does all that takes a while, so that clicks and signals are heard meanwhile."""
        self.other_hand = Hand()
        """For what takes a while and touches nothing of ours: other extractors."""
        self.version = 0
        """Rises with every correction, so that no frame shows an old verdict."""

    def changed(self) -> None:
        """Note that a verdict may be another now, and tell all who look."""
        self.version += 1
        self.listeners.tell("changed", {"version": self.version})


def make_viewer(room: Room) -> FastAPI:
    """The application of the viewer's own page."""
    app = FastAPI(title="dehusk view", version=__version__, docs_url=None, redoc_url=None)
    app.state.room = room
    app.include_router(router)
    add_failures(app)
    app.mount("/", StaticFiles(directory=str(_STATIC), html=True))
    return app


def _room(request: Request) -> Room:
    room: Room = request.app.state.room
    return room


def _at_hand(work: Callable[..., Any]) -> Callable[..., Any]:
    """A handler whose work is done by the room's hand."""

    @wraps(work)
    async def answer(**given: Any) -> Any:
        return await _room(given["request"]).hand.do(partial(work, **given))

    return answer


def _result(room: Room, page: int, seen: int | None = None) -> Result:
    """The answer on a page. Raises Failed where there is none."""
    if page >= len(room.viewed.pages):
        raise Failed(404, "no_page", "there is no such page")
    try:
        return room.viewed.result(page, seen)
    except PageError as error:
        raise Failed(422, error.code, error.reason) from None


@router.get("/api/collection")
async def collection(request: Request) -> dict[str, Any]:
    """All sites with their pages."""
    room = _room(request)
    viewed = room.viewed
    return {
        "version": __version__,
        "method": viewed.memories.method.name,
        "is_kept": room.is_kept,
        "refused": len(viewed.refusals),
        "sites": [_site(viewed, site) for site in viewed.sites.values()],
    }


def _site(viewed: Viewed, site: ViewedSite) -> dict[str, Any]:
    pages = [
        {
            "page": number,
            "url": viewed.pages[number].url,
            "family": viewed.families[number],
            "is_confirmed": number in viewed.confirmed,
        }
        for number in site.pages
    ]
    return {"site": site.name, "pages": pages, "steps": sorted(site.states)}


@router.get("/api/shares")
async def shares(request: Request, site: str, start: Number = 0) -> dict[str, Any]:
    """The template share of some pages of a site; `next` where there are more."""
    room = _room(request)
    viewed = room.viewed.sites.get(site)
    if viewed is None:
        raise Failed(404, "no_site", "there is no such site")
    found = {}
    for page in viewed.pages[start : start + _SHARES]:
        # One after another: whoever asks for a page meanwhile comes between.
        found[page] = await room.hand.do(partial(_shortly, room, page))
    more = start + _SHARES
    return {"pages": found, "next": more if more < len(viewed.pages) else None}


def _shortly(room: Room, page: int, seen: int | None = None) -> dict[str, Any]:
    return _brief(_result(room, page, seen))


def _brief(result: Result) -> dict[str, Any]:
    return {
        "share": round(result.template_share, 4),
        "title": result.description.title,
        "family": result.family,
        "type": result.type,
    }


@router.get("/api/page")
@_at_hand
def page(request: Request, page: Number, seen: Seen = None) -> dict[str, Any]:
    """The verdict on a page after so many pages of its site."""
    room = _room(request)
    result = _result(room, page, seen)
    site = room.viewed.site_of(page)
    count = site.nearest(seen)
    regions = [
        {name: _plain(value) for name, value in asdict(region).items()}
        | {"label": region.label.name.lower()}
        for region in result.regions
    ]
    return {
        **_brief(result),
        "page": page,
        "url": result.url,
        "site": result.site,
        "seen": count,
        "pages_seen": result.pages_seen,
        "frame": f"{room.frames}/{page}?seen={count}&v={room.version}",
        "version": room.version,
        "markdown": result.markdown,
        "regions": regions,
        "rules": _rules(room, result.site),
        "corrections": _corrections(room, page),
        "is_confirmed": page in room.viewed.confirmed,
    }


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return None if isnan(value) else round(value, 3)
    return value


def _rules(room: Room, site: str) -> list[dict[str, str]]:
    rules = room.viewed.memories.rules(site)
    return [{"id": r.id, "action": str(r.action), "selector": r.selector} for r in rules]


def _corrections(room: Room, page: int) -> list[dict[str, str]]:
    own = room.viewed.corrections.get(page)
    if own is None:
        return []
    both = [("keep", selector) for selector in own.keep] + [("drop", css) for css in own.drop]
    return [{"action": action, "selector": selector} for action, selector in both]


@router.get("/api/growth")
async def growth(request: Request, page: Number) -> dict[str, Any]:
    """The template share of a page, after each number of pages that is still known."""
    room = _room(request)
    if page >= len(room.viewed.pages):
        raise Failed(404, "no_page", "there is no such page")
    steps = sorted(room.viewed.site_of(page).states)
    found = []
    for seen in steps[:: max(1, len(steps) // 40)]:
        if await request.is_disconnected():
            break
        found.append([seen, (await room.hand.do(partial(_shortly, room, page, seen)))["share"]])
    return {"steps": found}


@router.get("/api/peer")
async def peer(request: Request, page: Number) -> dict[str, Any]:
    """What trafilatura makes of the page; null where it is not installed."""
    room = _room(request)
    result = await room.hand.do(partial(_result, room, page))
    own = await room.hand.do(lambda: result.text)
    read = partial(peer_text, room.viewed.pages[page], result.tree)
    return {"name": "trafilatura", "text": await room.other_hand.do(read), "own": own}


@router.get("/api/template")
@_at_hand
def template(request: Request, page: Number) -> dict[str, Any]:
    """The template of a page's family, with its slots."""
    room = _room(request)
    _result(room, page)
    found = room.viewed.template(page)
    return {"html": found.html, "slots": found.slots, "pages": len(found.results)}


@router.get("/api/graph")
@_at_hand
def graph(request: Request, page: Number) -> dict[str, Any]:
    """The pages that a page is compared with by `hyperlink`, and how they link each other."""
    room = _room(request)
    _result(room, page)
    viewed = room.viewed
    pages = [viewed.pages[number] for number in viewed.site_of(page).pages]
    found = link_graph(viewed.pages[page], pages, viewed.memories.limits)
    return asdict(found)


@router.get("/api/node")
@_at_hand
def node(request: Request, page: Number, node: Number) -> dict[str, Any]:
    """What can be said and done about a node."""
    room = _room(request)
    result = _result(room, page)
    if node >= len(result.tree):
        raise Failed(404, "no_node", "there is no such node")
    one = result.nodes[node]
    below = result.nodes[node : int(result.tree.end[node])]
    texts = [other for other in below if other.text and other.text.strip()]
    told = texts[0].number if texts else node
    selectors = room.viewed.selectors(page, node)
    return {
        "node": node,
        "tag": one.tag,
        "text": " ".join(" ".join(other.text or "" for other in texts[:20]).split())[:300],
        "label": one.label.name.lower(),
        "why": verdict_words(result.labels, result.explanation, told),
        "selectors": [{"css": css, "count": count} for css, count in selectors],
    }


@router.post("/api/corrections")
async def correct(request: Request, given: Correction) -> dict[str, Any]:
    """Keep or drop what a selector selects: a rule of the site, or on the page alone."""
    room = _room(request)
    site = await room.hand.do(partial(_correct, room, given))
    room.changed()
    return {"rules": _rules(room, site), "corrections": _corrections(room, given.page)}


def _correct(room: Room, given: Correction) -> str:
    """Do as somebody wished; the site of the page."""
    site = _result(room, given.page).site
    if given.is_rule and given.action != "undo":
        room.viewed.memories.add_rule(site, given.action, given.selector)
        room.viewed.memories.commit()
    else:
        room.viewed.correct(given.page, given.action, given.selector)
    return site


@router.delete("/api/rules")
async def remove_rule(request: Request, site: str, rule: str) -> dict[str, Any]:
    """Take a rule of a site back."""
    room = _room(request)
    await room.hand.do(partial(_remove, room, site, rule))
    room.changed()
    return {"rules": _rules(room, site)}


def _remove(room: Room, site: str, rule: str) -> None:
    """Take a rule back for good. Raises Failed where there is none."""
    if not room.viewed.memories.remove_rule(site, rule):
        raise Failed(404, "no_rule", "the site has no such rule")
    room.viewed.memories.commit()


@router.post("/api/gold")
async def confirm(request: Request, given: Confirmation) -> dict[str, Any]:
    """Call the verdict on a page right, or take that back."""
    room = _room(request)
    await room.hand.do(partial(_result, room, given.page))
    confirmed = room.viewed.confirmed
    (confirmed.add if given.is_right else confirmed.discard)(given.page)
    return {"confirmed": len(confirmed)}


@router.get("/api/gold.jsonl")
@_at_hand
def gold(request: Request) -> Response:
    """The pages that somebody called right, as JSON lines with gold."""
    room = _room(request)
    records = [
        gold_record(room.viewed.pages[page], _result(room, page))
        for page in sorted(room.viewed.confirmed)
    ]
    lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    headers = {"Content-Disposition": 'attachment; filename="gold.jsonl"'}
    body = lines.encode("utf-8", "replace")
    return Response(body, media_type="application/x-ndjson", headers=headers)


@router.get("/api/gold.zip")
@_at_hand
def teco(request: Request) -> Response:
    """The same pages with the marks of the TECO suite, a folder for each site."""
    room = _room(request)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for page in sorted(room.viewed.confirmed):
            result = _result(room, page)
            folder = re.sub(r"[^A-Za-z0-9.-]+", "_", result.site).strip(".") or "site"
            html = teco_html(result).encode("utf-8", "replace")
            archive.writestr(f"{folder}/page-{page:05}.html", html)
    headers = {"Content-Disposition": 'attachment; filename="gold-teco.zip"'}
    return Response(packed.getvalue(), media_type="application/zip", headers=headers)


@router.get("/api/events")
async def events(request: Request) -> Response:
    """What happens: `picked` in the frame of a tab, `changed` by anybody."""
    return StreamingResponse(_room(request).listeners.listen(), media_type="text/event-stream")
