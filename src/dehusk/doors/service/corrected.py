"""What people correct in the viewer: rules, pages, and gold."""

from __future__ import annotations

import io
import json
import re
import zipfile
from functools import partial
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from dehusk.doors.service.asking import (
    Judge,
    Number,
    corrections_on,
    in_thread,
    result_on,
    rules_of,
    state_of,
)
from dehusk.doors.service.frames import ViewerState
from dehusk.doors.service.gold import teco_html
from dehusk.doors.service.judges import JudgeName
from dehusk.doors.service.server import Failed

router = APIRouter()


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


@router.post("/api/corrections")
async def correct(request: Request, given: Correction) -> dict[str, Any]:
    """Keep or drop what a selector selects: a rule of the site, or on the page alone."""
    state = state_of(request)
    site = await state.thread.do(partial(_correct, state, given))
    state.changed()
    corrections = corrections_on(state, given.page, given.judge)
    return {"rules": rules_of(state, site), "corrections": corrections}


def _correct(state: ViewerState, given: Correction) -> str:
    """Do as somebody wished; the site of the page."""
    viewed, judge = state.viewed, given.judge
    site = result_on(state, given.page).site
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
    state = state_of(request)
    await state.thread.do(partial(_remove, state, site, rule, judge))
    state.changed()
    return {"rules": rules_of(state, site)}


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
    state = state_of(request)
    await state.thread.do(partial(_confirm, state, given))
    return {"confirmed": len(state.judges.pages)}


def _confirm(state: ViewerState, given: Confirmation) -> None:
    result_on(state, given.page)
    state.judges.confirm(given.page, given.judge, is_right=given.is_right)


@router.get("/api/judges")
@in_thread
def judges(request: Request, page: Number, judge: Judge = "") -> dict[str, Any]:
    """Who has judged, and how far they agree: on this page once the judge has called it right."""
    state = state_of(request)
    result_on(state, page)
    found = state.judges
    own = found.of_page(page)
    return {
        "judges": found.names,
        "of_page": own,
        "page": found.page_agreement(page) if judge in own and len(own) > 1 else None,
        "all": found.agreement(),
    }


@router.get("/api/gold.jsonl")
@in_thread
def gold(request: Request) -> Response:
    """The pages that somebody called right, as most judges say, as JSON lines with gold."""
    found = state_of(request).judges
    records = (found.record(page) for page in found.pages)
    lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    headers = {"Content-Disposition": 'attachment; filename="gold.jsonl"'}
    body = lines.encode("utf-8", "replace")
    return Response(body, media_type="application/x-ndjson", headers=headers)


@router.get("/api/gold.zip")
@in_thread
def teco(request: Request) -> Response:
    """The same pages with the marks of the TECO suite, a folder for each site."""
    found = state_of(request).judges
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for page in found.pages:
            result = found.result(page)
            folder = re.sub(r"[^A-Za-z0-9.-]+", "_", result.site).strip(".") or "site"
            html = teco_html(result).encode("utf-8", "replace")
            archive.writestr(f"{folder}/page-{page:05}.html", html)
    headers = {"Content-Disposition": 'attachment; filename="gold-teco.zip"'}
    return Response(packed.getvalue(), media_type="application/zip", headers=headers)
