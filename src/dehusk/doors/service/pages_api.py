"""Pages in, answers out: the part of the HTTP interface that judges pages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from starlette.responses import StreamingResponse

from dehusk.doors.service import describing
from dehusk.doors.service.bodies import (
    CLEAN,
    MAX_NAME,
    TEMPLATE,
    read_body,
    read_page,
    read_pages,
    validated,
)
from dehusk.doors.service.failures import Failed, not_kept
from dehusk.doors.service.service import PageAnswer, Service
from dehusk.errors import StateError
from dehusk.page.page import Page

router = APIRouter()
Url = Annotated[str | None, Query(max_length=MAX_NAME, description="Where the page came from.")]
Site = Annotated[str | None, Query(min_length=1, max_length=MAX_NAME, description="Its site.")]
Pieces = Annotated[
    int | None, Query(ge=1, le=1_000_000, description="Add pieces of at most so many tokens.")
]
Revise = Annotated[
    str | None,
    Query(
        pattern="^(last|[0-9]{1,15})$",
        description="Only answers that have changed since this revision, or since the `last` one.",
    ),
]


def service_of(request: Request) -> Service:
    """What answers behind the application."""
    service: Service = request.app.state.service
    return service


def _response(answer: PageAnswer) -> Response:
    """The answer on a page: 422 where it could not be used."""
    return Response(answer.body, 422 if answer.error else 200, media_type="application/json")


async def _body(request: Request) -> bytes:
    settings = service_of(request).settings
    return await read_body(request, settings.max_body_bytes, settings.deadline_s)


@router.post("/v1/clean", **describing.clean())
async def clean(request: Request) -> Response:
    """Learns the page with its site, unless `learn` is false, and gives its JSON line."""
    # Half of what a request costs would go into FastAPI's own reading of the query.
    asked = validated(CLEAN, dict(request.query_params))
    page = read_page(request, await _body(request), asked.url, asked.site)
    answer = await service_of(request).clean(
        page, learns=asked.learn, pieces=asked.pieces, revise=None
    )
    return _response(answer)


@router.post("/v1/batch", **describing.batch())
async def batch(
    request: Request, revise: Revise = None, pieces: Pieces = None, *, learn: bool = True
) -> Response:
    """Takes JSON lines and gives JSON lines, in order, each as soon as it is there."""
    if revise is not None and not learn:
        raise Failed(400, "bad_request", "revise takes note of answers, so it needs learn")
    service = service_of(request)
    pages = read_pages(await _body(request), service.settings.max_pages)
    lines = _answers(service, pages, revise, pieces, learns=learn)
    return StreamingResponse(lines, media_type="application/x-ndjson")


async def _answers(
    service: Service, pages: Sequence[Page], revise: str | None, pieces: int | None, *, learns: bool
) -> AsyncIterator[bytes]:
    """A line for each page."""
    for page in pages:
        try:
            answer = await service.clean(page, learns=learns, pieces=pieces, revise=revise)
        except (Failed, StateError) as fault:  # The head of the answer is sent: say it in a line.
            failed = fault if isinstance(fault, Failed) else not_kept(fault)
            yield failed.body() + b"\n"
            return
        if answer.is_changed or revise is None:
            yield answer.body + b"\n"


@router.post("/v1/explain", **describing.page("Why each region is kept", describing.OBJECT))
async def explain(request: Request, url: Url = None, site: Site = None) -> Response:
    """Gives the regions of the page with scores and reasons, and learns nothing."""
    page = read_page(request, await _body(request), url, site)
    return _response(await service_of(request).act("explain", [page]))


@router.post("/v1/marks", **describing.page("The verdict on every node", describing.OBJECT))
async def marks(
    request: Request, url: Url = None, site: Site = None, *, learn: bool = True
) -> Response:
    """Gives the verdict on every element that has a number in `data-dehusk-node`, and its texts."""
    page = read_page(request, await _body(request), url, site)
    return _response(await service_of(request).clean(page, learns=learn, act="marks"))


@router.post("/v1/benchmark", **describing.page("Score a marked page", describing.OBJECT))
async def benchmark(request: Request, url: Url = None, site: Site = None) -> Response:
    """Scores the template of a page whose content bears the marks of the TECO suite."""
    page = read_page(request, await _body(request), url, site)
    return _response(await service_of(request).act("benchmark", [page]))


@router.post("/v1/template", **describing.template())
async def template(request: Request) -> Response:
    """Finds the template among the pages that are posted, and learns nothing."""
    post = validated(TEMPLATE, await _body(request))
    pages = [page.page() for page in (post.page, *post.others)]
    return _response(await service_of(request).act("template", pages))
