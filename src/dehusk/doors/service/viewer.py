"""What the viewer's page asks for: pages, verdicts, Markdown, templates, rules, gold."""

from __future__ import annotations

import io
import json
import logging
import re
import zipfile
from collections.abc import Callable
from dataclasses import asdict
from functools import partial, wraps
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from math import isnan
from typing import Annotated, Any, Final
from urllib.parse import quote

from fastapi import APIRouter, FastAPI, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import StreamingResponse
from starlette.staticfiles import StaticFiles

from dehusk import __version__
from dehusk.answer.result import Result
from dehusk.answer.view import verdict_words
from dehusk.doors.service.app import add_failures
from dehusk.doors.service.frames import ViewerState
from dehusk.doors.service.gold import html_of, teco_html
from dehusk.doors.service.judges import JudgeName
from dehusk.doors.service.server import Failed
from dehusk.methods.papers.hyperlink import Hyperlink
from dehusk.page.page import Page
from dehusk.page.tree import Tree
from dehusk.template.drawing import draw_graph
from dehusk.template.graph import link_graph
from dehusk.template.templates import PageLoader, redirected
from dehusk.template.viewing import ViewedSite

router = APIRouter()
_SHARES: Final = 24
"""Pages whose share is told at once: a moment's work."""
_STATIC: Final = files("dehusk.doors.service").joinpath("static")
Number = Annotated[int, Query(ge=0, le=10**9)]
Seen = Annotated[int | None, Query(ge=0, le=10**9)]
Judge = Annotated[JudgeName, Query(description="Who looks; '' for nobody named.")]


class Correction(BaseModel):
    """A verdict that somebody corrects."""

    model_config = ConfigDict(extra="forbid")

    page: int = Field(ge=0)
    action: str = Field(pattern="^(keep|drop|undo)$")
    selector: str = Field(min_length=1, max_length=5000)
    is_rule: bool = Field(default=True, description="For the whole site, not this page only.")
    judge: JudgeName = ""


class Confirmation(BaseModel):
    """A page whose verdict somebody calls right."""

    model_config = ConfigDict(extra="forbid")

    page: int = Field(ge=0)
    is_right: bool
    judge: JudgeName = ""


def make_viewer(state: ViewerState) -> FastAPI:
    """The application of the viewer's own page."""
    app = FastAPI(title="dehusk view", version=__version__, docs_url=None, redoc_url=None)
    app.state.viewer = state
    app.include_router(router)
    add_failures(app)
    app.mount("/", StaticFiles(directory=str(_STATIC), html=True))
    return app


def _state(request: Request) -> ViewerState:
    state: ViewerState = request.app.state.viewer
    return state


def _in_thread(work: Callable[..., Any]) -> Callable[..., Any]:
    """A handler whose work is done by the viewer's thread."""

    @wraps(work)
    async def answer(**given: Any) -> Any:
        return await _state(given["request"]).thread.do(partial(work, **given))

    return answer


def _result(state: ViewerState, page: int, seen: int | None = None, judge: str = "") -> Result:
    """The answer on a page, as a judge sees it. Raises Failed where there is none, PageError."""
    if page >= len(state.viewed.pages):
        raise Failed(404, "no_page", "there is no such page")
    return state.viewed.result(page, seen, judge)


@router.get("/api/collection")
async def collection(request: Request, judge: Judge = "") -> dict[str, Any]:
    """All sites with their pages."""
    state = _state(request)
    viewed = state.viewed
    return {
        "version": __version__,
        "method": viewed.memories.method.name,
        "is_kept": state.is_kept,
        "refused": len(viewed.refusals),
        "sites": [_site(state, site, judge) for site in viewed.sites.values()],
    }


def _site(state: ViewerState, site: ViewedSite, judge: str) -> dict[str, Any]:
    viewed = state.viewed
    pages = [
        {
            "page": number,
            "url": viewed.pages[number].url,
            "family": viewed.families[number],
            "is_confirmed": judge in state.judges.of_page(number),
        }
        for number in site.pages
    ]
    return {"site": site.name, "pages": pages, "steps": sorted(site.states)}


@router.get("/api/shares")
async def shares(
    request: Request, site: str, start: Number = 0, judge: Judge = ""
) -> dict[str, Any]:
    """The template share of some pages of a site; `next` where there are more."""
    state = _state(request)
    viewed = state.viewed.sites.get(site)
    if viewed is None:
        raise Failed(404, "no_site", "there is no such site")
    found = {}
    for page in viewed.pages[start : start + _SHARES]:
        # One after another: whoever asks for a page meanwhile comes between.
        found[page] = await state.thread.do(partial(_shortly, state, page, None, judge))
    more = start + _SHARES
    return {"pages": found, "next": more if more < len(viewed.pages) else None}


def _shortly(state: ViewerState, page: int, seen: int | None, judge: str) -> dict[str, Any]:
    return _brief(_result(state, page, seen, judge))


def _brief(result: Result) -> dict[str, Any]:
    return {
        "share": round(result.template_share, 4),
        "title": result.title,
        "family": result.family,
        "type": result.type,
    }


@router.get("/api/page")
@_in_thread
def page(request: Request, page: Number, seen: Seen = None, judge: Judge = "") -> dict[str, Any]:
    """The verdict on a page after so many pages of its site."""
    state = _state(request)
    result = _result(state, page, seen, judge)
    site = state.viewed.site_of(page)
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
        "author": result.author,
        "published": result.published,
        "confidence": result.confidence,
        "comments": result.comments,
        "site": result.site,
        "seen": count,
        "pages_seen": result.pages_seen,
        "frame": f"{state.frames}/{page}?seen={count}&v={state.version}&judge={quote(judge)}",
        "version": state.version,
        "markdown": result.markdown,
        "regions": regions,
        "rules": _rules(state, result.site),
        "corrections": _corrections(state, page, judge),
        "is_confirmed": judge in state.judges.of_page(page),
    }


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return None if isnan(value) else round(value, 3)
    return value


def _rules(state: ViewerState, site: str) -> list[dict[str, str]]:
    rules = state.viewed.memories.rules(site)
    return [{"id": r.id, "action": str(r.action), "selector": r.selector} for r in rules]


def _corrections(state: ViewerState, page: int, judge: str) -> list[dict[str, str]]:
    own = state.viewed.corrections.get((judge, page))
    if own is None:
        return []
    both = [("keep", selector) for selector in own.keep] + [("drop", css) for css in own.drop]
    return [{"action": action, "selector": selector} for action, selector in both]


@router.get("/api/growth")
async def growth(request: Request, page: Number, judge: Judge = "") -> dict[str, Any]:
    """The template share of a page, after each number of pages that is still known."""
    state = _state(request)
    if page >= len(state.viewed.pages):
        raise Failed(404, "no_page", "there is no such page")
    steps = sorted(state.viewed.site_of(page).states)
    found = []
    for seen in steps[:: max(1, len(steps) // 40)]:
        if await request.is_disconnected():
            break
        brief = await state.thread.do(partial(_shortly, state, page, seen, judge))
        found.append([seen, brief["share"]])
    return {"steps": found}


@router.get("/api/peer")
async def peer(request: Request, page: Number, judge: Judge = "") -> dict[str, Any]:
    """What trafilatura makes of the page; null where it is not installed."""
    state = _state(request)
    result = await state.thread.do(partial(_result, state, page, None, judge))
    own = await state.thread.do(lambda: result.text)
    read = partial(_peer_text, state.viewed.pages[page], result.tree)
    return {"name": "trafilatura", "text": await state.peer_thread.do(read), "own": own}


def _peer_text(page: Page, tree: Tree) -> str | None:
    """What trafilatura makes of a page; None where it is not installed."""
    if find_spec("trafilatura") is None:
        return None
    module = import_module("trafilatura")
    for name in ("trafilatura", "htmldate"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    text: str | None = module.extract(html_of(page, tree), url=page.url)
    return text or ""


@router.get("/api/template")
@_in_thread
def template(request: Request, page: Number, judge: Judge = "") -> dict[str, Any]:
    """The template of a page's family, with its slots."""
    state = _state(request)
    _result(state, page)
    found = state.viewed.template(page, judge)
    return {"html": found.html, "slots": found.slots, "pages": len(found.results)}


@router.get("/api/graph")
@_in_thread
def graph(request: Request, page: Number) -> dict[str, Any]:
    """The pages that a page is compared with by `hyperlink`, and how they link each other."""
    state = _state(request)
    _result(state, page)
    viewed = state.viewed
    pages = [viewed.pages[number] for number in viewed.site_of(page).pages]
    limits = viewed.memories.limits
    loader = PageLoader(pages, limits, names=redirected(pages, viewed.redirects))
    found = link_graph(viewed.pages[page], pages, limits, Hyperlink(loader=loader))
    return {"message": found.message, "voters": found.voters, "svg": draw_graph(found)}


@router.get("/api/node")
@_in_thread
def node(request: Request, page: Number, node: Number, judge: Judge = "") -> dict[str, Any]:
    """What can be said and done about a node."""
    state = _state(request)
    result = _result(state, page, None, judge)
    if node >= len(result.tree):
        raise Failed(404, "no_node", "there is no such node")
    one = result.nodes[node]
    below = result.nodes[node : int(result.tree.end[node])]
    texts = [other for other in below if other.text and other.text.strip()]
    told = texts[0].number if texts else node
    selectors = state.viewed.selectors(page, node)
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
    state = _state(request)
    site = await state.thread.do(partial(_correct, state, given))
    state.changed()
    corrections = _corrections(state, given.page, given.judge)
    return {"rules": _rules(state, site), "corrections": corrections}


def _correct(state: ViewerState, given: Correction) -> str:
    """Do as somebody wished; the site of the page."""
    viewed, judge = state.viewed, given.judge
    site = _result(state, given.page).site
    if given.is_rule and given.action != "undo":
        viewed.memories.add_rule(site, given.action, given.selector)
        viewed.memories.commit()
        state.judges.corrected(viewed.site_of(given.page).pages, judge)
    else:
        viewed.correct(given.page, given.action, given.selector, judge)
        state.judges.corrected([given.page], judge)
    return site


@router.delete("/api/rules")
async def remove_rule(request: Request, site: str, rule: str, judge: Judge = "") -> dict[str, Any]:
    """Take a rule of a site back."""
    state = _state(request)
    await state.thread.do(partial(_remove, state, site, rule, judge))
    state.changed()
    return {"rules": _rules(state, site)}


def _remove(state: ViewerState, site: str, rule: str, judge: str) -> None:
    """Take a rule back for good. Raises Failed where there is none."""
    if not state.viewed.memories.remove_rule(site, rule):
        raise Failed(404, "no_rule", "the site has no such rule")
    state.viewed.memories.commit()
    if site in state.viewed.sites:
        state.judges.corrected(state.viewed.sites[site].pages, judge)


@router.post("/api/gold")
async def confirm(request: Request, given: Confirmation) -> dict[str, Any]:
    """Call the verdict on a page right, or take that back."""
    state = _state(request)
    await state.thread.do(partial(_confirm, state, given))
    return {"confirmed": len(state.judges.pages)}


def _confirm(state: ViewerState, given: Confirmation) -> None:
    _result(state, given.page)
    state.judges.confirm(given.page, given.judge, is_right=given.is_right)


@router.get("/api/judges")
@_in_thread
def judges(request: Request, page: Number, judge: Judge = "") -> dict[str, Any]:
    """Who has judged, and how far they agree: on this page once the judge has called it right."""
    state = _state(request)
    _result(state, page)
    found = state.judges
    own = found.of_page(page)
    return {
        "judges": found.names,
        "of_page": own,
        "page": found.page_agreement(page) if judge in own and len(own) > 1 else None,
        "all": found.agreement(),
    }


@router.get("/api/gold.jsonl")
@_in_thread
def gold(request: Request) -> Response:
    """The pages that somebody called right, as most judges say, as JSON lines with gold."""
    found = _state(request).judges
    records = (found.record(page) for page in found.pages)
    lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    headers = {"Content-Disposition": 'attachment; filename="gold.jsonl"'}
    body = lines.encode("utf-8", "replace")
    return Response(body, media_type="application/x-ndjson", headers=headers)


@router.get("/api/gold.zip")
@_in_thread
def teco(request: Request) -> Response:
    """The same pages with the marks of the TECO suite, a folder for each site."""
    found = _state(request).judges
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for page in found.pages:
            result = found.result(page)
            folder = re.sub(r"[^A-Za-z0-9.-]+", "_", result.site).strip(".") or "site"
            html = teco_html(result).encode("utf-8", "replace")
            archive.writestr(f"{folder}/page-{page:05}.html", html)
    headers = {"Content-Disposition": 'attachment; filename="gold-teco.zip"'}
    return Response(packed.getvalue(), media_type="application/zip", headers=headers)


@router.get("/api/events")
async def events(request: Request) -> Response:
    """What happens: `picked` in the frame of a tab, `changed` by anybody."""
    return StreamingResponse(_state(request).listeners.listen(), media_type="text/event-stream")
