"""What the viewer shows of pages: verdicts, shares, Markdown, templates, links."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from math import isnan
from typing import Any, Final
from urllib.parse import quote

from fastapi import APIRouter, Request

from dehusk import __version__
from dehusk.answer.result import Result
from dehusk.answer.view import verdict_words
from dehusk.doors.service.asking import (
    Judge,
    Number,
    Seen,
    corrections_on,
    in_thread,
    result_on,
    rules_of,
    site_named,
    state_of,
)
from dehusk.doors.service.frames import SiteSurvey, ViewerState
from dehusk.doors.service.gold import html_of
from dehusk.doors.service.server import Failed
from dehusk.errors import PageError
from dehusk.methods.papers.hyperlink import Hyperlink
from dehusk.page.page import Page
from dehusk.page.tree import Tree
from dehusk.template.doubts import doubt_of
from dehusk.template.drawing import draw_graph
from dehusk.template.graph import link_graph
from dehusk.template.survey import Survey
from dehusk.template.templates import PageLoader, redirected
from dehusk.template.viewing import ViewedSite

router = APIRouter()
_SHARES: Final = 24
"""Pages whose share is told at once: a moment's work."""


@router.get("/api/collection")
async def collection(request: Request, judge: Judge = "") -> dict[str, Any]:
    """All sites with their pages."""
    state = state_of(request)
    viewed = state.viewed
    return {
        "version": __version__,
        "method": viewed.memories.method.name,
        "is_kept": state.is_kept,
        "refused": len(viewed.refusals),
        "is_cut": viewed.is_cut,
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
    state = state_of(request)
    viewed = site_named(state, site)
    found = {}
    for page in viewed.pages[start : start + _SHARES]:
        # One after another: whoever asks for a page meanwhile comes between.
        found[page] = await state.thread.do(partial(_shortly, state, page, None, judge))
    more = start + _SHARES
    return {"pages": found, "next": more if more < len(viewed.pages) else None}


def _shortly(state: ViewerState, page: int, seen: int | None, judge: str) -> dict[str, Any]:
    return _brief(result_on(state, page, seen, judge))


def _brief(result: Result) -> dict[str, Any]:
    return {
        "share": round(result.template_share, 4),
        "title": result.title,
        "family": result.family,
        "type": result.type,
        "doubt": doubt_of(result.confidence, result.site_removed),
    }


@router.get("/api/page")
@in_thread
def page(request: Request, page: Number, seen: Seen = None, judge: Judge = "") -> dict[str, Any]:
    """The verdict on a page after so many pages of its site."""
    state = state_of(request)
    result = result_on(state, page, seen, judge)
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
        "problem": result.problem,
        "site_removed": result.site_removed,
        "needs_render": result.needs_render,
        "comments": result.comments,
        "site": result.site,
        "seen": count,
        "pages_seen": result.pages_seen,
        "frame": f"{state.frames}/{page}?seen={count}&v={state.version}&judge={quote(judge)}",
        "version": state.version,
        "markdown": result.markdown,
        "regions": regions,
        "rules": rules_of(state, result.site),
        "corrections": corrections_on(state, page, judge),
        "is_confirmed": judge in state.judges.of_page(page),
    }


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return None if isnan(value) else round(value, 3)
    return value


@router.get("/api/site")
async def site(request: Request, site: str) -> dict[str, Any]:
    """A site as a whole: before and after, the questions to ask, the pages to look at.

    It is looked at bit by bit: until all pages are, `looked` says how many, and nothing else comes.
    """
    state = state_of(request)
    pages = site_named(state, site).pages
    known = state.surveys.get(site)
    if known is None or known.version != state.version:
        known = state.surveys[site] = SiteSurvey(state.version, Survey(site))
    end = min(known.looked + _SHARES, len(pages))
    while known.looked < end:
        # One after another: whoever asks for a page meanwhile comes between.
        await state.thread.do(partial(_take, known, state, pages))
    progress = {"pages": len(pages), "looked": known.looked}
    return progress | (
        await state.thread.do(partial(_whole, known)) if known.looked == len(pages) else {}
    )


def _take(known: SiteSurvey, state: ViewerState, pages: Sequence[int]) -> None:
    """Look at the next page. Here and not where it is asked for, so that no page is left out."""
    for number in pages[known.looked : known.looked + 1]:
        with suppress(PageError):
            known.survey.take(result_on(state, number))
            known.taken.append(number)
        known.looked += 1


def _whole(known: SiteSurvey) -> dict[str, Any]:
    """All that is told of a site. In the thread that takes its pages, so after the last of them."""
    found = known.survey
    numbers = {
        id(page): number for page, number in zip(found.doubts.pages, known.taken, strict=True)
    }
    return {
        "share": round(found.template_share, 4),
        "words_before": found.words.before,
        "words_after": found.words.after,
        "tokens_saved": found.words.tokens_saved,
        "confidence": found.confidence,
        "mostly_removed": found.doubts.mostly_removed,
        "questions": [asdict(one) for one in found.doubts.questions()],
        "unsure_pages": [
            asdict(page) | {"page": numbers[id(page)]} for page in found.doubts.unsure_pages()
        ],
    }


@router.get("/api/growth")
async def growth(request: Request, page: Number, judge: Judge = "") -> dict[str, Any]:
    """The template share of a page, after each number of pages that is still known."""
    state = state_of(request)
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
    state = state_of(request)
    result = await state.thread.do(partial(result_on, state, page, None, judge))
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
@in_thread
def template(request: Request, page: Number, judge: Judge = "") -> dict[str, Any]:
    """The template of a page's family, with its slots."""
    state = state_of(request)
    result_on(state, page)
    found = state.viewed.template(page, judge)
    return {"html": found.html, "slots": found.slots, "pages": len(found.results)}


@router.get("/api/graph")
@in_thread
def graph(request: Request, page: Number) -> dict[str, Any]:
    """The pages that a page is compared with by `hyperlink`, and how they link each other."""
    state = state_of(request)
    result_on(state, page)
    viewed = state.viewed
    pages = [viewed.pages[number] for number in viewed.site_of(page).pages]
    limits = viewed.memories.limits
    loader = PageLoader(pages, limits, names=redirected(pages, viewed.redirects))
    found = link_graph(viewed.pages[page], pages, limits, Hyperlink(loader=loader))
    facts = {"message": found.message, "voters": found.voters, "pages": len(found.urls)}
    return facts | {"svg": draw_graph(found)}


@router.get("/api/node")
@in_thread
def node(request: Request, page: Number, node: Number, judge: Judge = "") -> dict[str, Any]:
    """What can be said and done about a node."""
    state = state_of(request)
    result = result_on(state, page, None, judge)
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
