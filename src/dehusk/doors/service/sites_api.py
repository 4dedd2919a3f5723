"""What the memory knows, what users corrected, and how the service is."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request, Response
from starlette.responses import StreamingResponse

from dehusk import __version__
from dehusk.doors.service import describing
from dehusk.doors.service.bodies import MAX_NAME, RULE, read_body, validated
from dehusk.doors.service.failures import Failed
from dehusk.doors.service.metrics import TYPE as METRICS_TYPE
from dehusk.doors.service.pages_api import service_of
from dehusk.memory.rules import Rule
from dehusk.memory.store import SiteRow

router = APIRouter()
_MAX_LISTED: Final = 1000
"""Revisions that are listed at once."""
_MAX_RULE_BYTES: Final = 100_000
Site = Annotated[str, Query(min_length=1, max_length=MAX_NAME, description="The site's name.")]


def _site(row: SiteRow) -> dict[str, Any]:
    return {
        "site": row.name,
        "pages": row.pages,
        "families": row.families or None,
        "template_changes": row.revision if row.families else None,
        "bytes": row.size_bytes,
    }


def _rule(rule: Rule) -> dict[str, str]:
    return {"id": rule.id, "action": str(rule.action), "selector": rule.selector}


@router.get("/v1/sites", **describing.plain("What the memory knows"))
async def sites(request: Request) -> dict[str, Any]:
    """Lists all sites."""
    service = service_of(request)
    await service.flush()
    return {"sites": [_site(row) for row in service.memories.sites()]}


@router.get("/v1/site", **describing.plain("One site", 404))
async def site(request: Request, name: Site) -> dict[str, Any]:
    """Gives a site's figures and its rules."""
    service = service_of(request)
    await service.flush()
    for row in service.memories.sites():
        if row.name == name:
            return _site(row) | {"rules": [_rule(rule) for rule in service.memories.rules(name)]}
    raise Failed(404, "no_site", "the memory knows no such site")


@router.delete("/v1/site", **describing.plain("Forget a site", 404))
async def forget(request: Request, name: Site) -> dict[str, Any]:
    """Takes a site out, with all that is kept of it."""
    if not await service_of(request).forget(name):
        raise Failed(404, "no_site", "the memory knows no such site")
    return {"forgotten": name}


@router.get("/v1/revisions", **describing.plain("Answers that have changed"))
async def revisions(
    request: Request,
    site: Site,
    since: Annotated[int, Query(ge=0, le=10**15)] = 0,
    after: Annotated[str | None, Query(pattern="^[0-9a-f]{16}$")] = None,
) -> dict[str, Any]:
    """Lists the answers on a site's pages that first came from a revision above `since`.

    A page is named by the first 8 bytes of BLAKE2b of its URL, in hex: no URL is kept. Where there
    are more than 1,000, `next` says what to go on `after`.
    """
    start = bytes.fromhex(after) if after else None
    listed: list[dict[str, Any]] = []
    for answer in service_of(request).memories.given(site, since, start):
        listed.append({"page": answer.key.hex(), "revision": answer.revision})
        if len(listed) == _MAX_LISTED:
            break
    more = listed[-1]["page"] if len(listed) == _MAX_LISTED else None
    return {"site": site, "answers": listed, "next": more}


@router.get("/v1/events", **describing.events())
async def events(request: Request) -> Response:
    """Tells of every page that is learned, for as long as the connection lasts."""
    return StreamingResponse(service_of(request).listeners.listen(), media_type="text/event-stream")


@router.get("/v1/rules", **describing.plain("The rules of a site"))
async def rules(request: Request, site: Site) -> dict[str, Any]:
    """Lists what users have corrected on a site."""
    found = service_of(request).memories.rules(site)
    return {"site": site, "rules": [_rule(rule) for rule in found]}


@router.post("/v1/rules", **describing.rule())
async def add_rule(request: Request) -> dict[str, Any]:
    """Keeps or drops what a selector selects, on every page of the site from now on."""
    service = service_of(request)
    post = validated(RULE, await read_body(request, _MAX_RULE_BYTES, service.settings.deadline_s))
    rule = service.memories.add_rule(post.site, post.action, post.selector)
    await service.change_rules(post.site)
    return _rule(rule)


@router.delete("/v1/rules", **describing.plain("Take a rule back", 404))
async def remove_rule(
    request: Request,
    site: Site,
    rule: Annotated[str, Query(alias="id", pattern="^[0-9a-f]{12}$")],
) -> dict[str, Any]:
    """Takes a rule of a site back."""
    service = service_of(request)
    if not service.memories.remove_rule(site, rule):
        raise Failed(404, "no_rule", "the site has no such rule")
    await service.change_rules(site)
    return {"removed": rule}


@router.get("/health", **describing.plain("Is it well?"))
async def health(request: Request) -> dict[str, Any]:
    """Answers as long as the service can work; `not_kept` where it cannot keep what it learns."""
    service = service_of(request)
    status = "ok" if service.is_keeping else "not_kept"
    return {"status": status, "version": __version__, "method": service.memories.method.name}


@router.get("/metrics", **describing.metrics())
async def metrics(request: Request) -> Response:
    """Gives the figures of the service in the text format of Prometheus."""
    service = service_of(request)
    starts = sum(worker.starts for worker in service.pool.workers)
    gauges: dict[str, tuple[str, float]] = {
        "dehusk_workers": ("Worker processes.", len(service.pool.workers)),
        "dehusk_worker_starts": ("Times that a worker was started.", starts),
        "dehusk_requests_waiting": ("Requests that wait for a worker.", service.waiting),
        "dehusk_listeners": ("Listeners to events.", len(service.listeners)),
        "dehusk_is_keeping": ("1 if the last commit succeeded.", service.is_keeping),
        "dehusk_memory_bytes": ("Size of the memory's file.", service.memories.size_bytes),
    }
    return Response(service.metrics.text(gauges), media_type=METRICS_TYPE)
