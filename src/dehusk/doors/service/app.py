"""The HTTP interface as one application."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, FastAPI, Query, Request, Response
from msgspec.structs import asdict
from starlette.responses import StreamingResponse

from dehusk import __version__
from dehusk.doors.service import docs, openapi
from dehusk.doors.service.accept import KINDS, preferred
from dehusk.doors.service.bodies import (
    BATCH,
    CLEAN,
    LINKED,
    LOAD,
    MAX_NAME,
    RULE,
    TEMPLATE,
    CleanQuery,
    LoadQuery,
    read_body,
    read_json,
    read_page,
    read_pages,
    validated,
)
from dehusk.doors.service.failures import add_failures
from dehusk.doors.service.linked import Searches
from dehusk.doors.service.loader import Loader
from dehusk.doors.service.monitoring import METRICS_TYPE
from dehusk.doors.service.server import Failed, not_kept
from dehusk.doors.service.service import PageAnswer, Service
from dehusk.errors import PageError, StateError
from dehusk.memory.rules import Rule
from dehusk.memory.store import SiteRow
from dehusk.page.page import Page

router = APIRouter()
Url = Annotated[str | None, Query(max_length=MAX_NAME, description="Where the page came from.")]
Site = Annotated[str | None, Query(min_length=1, max_length=MAX_NAME, description="Its site.")]
Learn = Annotated[bool, Query(description="Learn the page, too.")]
_MAX_LISTED: Final = 1000
"""Revisions that are listed at once."""
_MAX_RULE_BYTES: Final = 100_000
SiteName = Annotated[str, Query(min_length=1, max_length=MAX_NAME, description="The site's name.")]


def make_app(service: Service) -> FastAPI:
    """The application in front of this service."""
    loader = Loader(service.settings, service.metrics)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        await service.open()
        try:
            yield
        finally:
            await loader.close()
            await service.close()

    app = FastAPI(
        title="dehusk",
        version=__version__,
        description=openapi.ABOUT,
        lifespan=lifespan,
        # FastAPI's own pages load scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        dependencies=[Depends(_check_query)],
    )
    app.state.service = service
    app.state.loader = loader
    app.state.searches = Searches(service, loader)
    app.include_router(router)
    app.include_router(docs.router)
    add_failures(app)
    return app


async def _check_query(request: Request) -> None:
    """Refuse a name in the query that comes twice or means nothing here: it may be misspelt."""
    if not request.query_params:
        return
    described = request.app.openapi()["paths"].get(request.scope["route"].path, {})
    parameters = described.get(request.method.lower(), {}).get("parameters", ())
    known = sorted(each["name"] for each in parameters if each["in"] == "query")
    for name, given in Counter(name for name, _ in request.query_params.multi_items()).items():
        if given > 1:
            raise Failed(400, "bad_request", f"query.{name[:40]}: given more than once")
        if name not in known:
            there = f"there are {', '.join(known)}" if known else "there are none"
            if "?" in request.query_params.get("url", ""):
                there += "; an & within url is written %26"
            raise Failed(400, "bad_request", f"query.{name[:40]}: no such name; {there}")


def service_of(request: Request) -> Service:
    """What answers behind the application."""
    service: Service = request.app.state.service
    return service


def _response(answer: PageAnswer, kind: str = "application/json") -> Response:
    """The answer on a page: where it could not be used 422, and JSON that says why."""
    if answer.error:
        return Response(answer.body, 422, media_type="application/json")
    return Response(answer.body, media_type=kind)


async def _body(request: Request) -> bytes:
    settings = service_of(request).settings
    return await read_body(request, settings.max_body_bytes, settings.deadline_s)


@router.get("/v1/clean", **openapi.clean(LoadQuery))
async def load(request: Request) -> Response:
    """Loads the page as a crawler would, and answers as if it had been posted.

    Only a service that was started with `--fetch` does, and only from public addresses.
    """
    service, loader = service_of(request), request.app.state.loader
    loader.check()
    asked = validated(LOAD, dict(request.query_params))
    kind = _kind(request, asked)
    try:
        page = await loader.page(asked.url, asked.site, request.is_disconnected)
    except PageError as error:
        return _response(service.refuse(Page(b"", error.url, asked.site), error))
    return await _cleaned(service, page, asked, kind)


@router.post("/v1/clean", **openapi.clean(CleanQuery))
async def clean(request: Request) -> Response:
    """Learns the page with its site, unless `learn` is false, and gives its JSON line.

    With `Accept: text/markdown` or `text/plain` it gives the content as such.
    """
    # Half of what a request costs would go into FastAPI's own reading of the query.
    asked = validated(CLEAN, dict(request.query_params))
    kind = _kind(request, asked)
    page = read_page(request, await _body(request), asked.url, asked.site)
    return await _cleaned(service_of(request), page, asked, kind)


def _kind(request: Request, asked: CleanQuery) -> str:
    """The media type of the answer. Raises Failed where it has no place for what is asked."""
    kind = preferred(request.headers.getlist("accept"))
    asked.check(kind)
    return kind


async def _cleaned(service: Service, page: Page, asked: CleanQuery, kind: str) -> Response:
    answer = await service.clean(page, written_as=KINDS[kind], **asked.options())
    return _response(answer, kind)


@router.post("/v1/batch", **openapi.batch())
async def batch(request: Request) -> Response:
    """Takes JSON lines and gives JSON lines in the same order, each as soon as it is ready."""
    asked = validated(BATCH, dict(request.query_params))
    asked.check()
    service = service_of(request)
    pages = read_pages(await _body(request), service.settings.max_pages)
    ask = partial(service.clean, revise=asked.revise, **asked.options())
    lines = _answers(ask, pages, every=asked.revise is None)
    return StreamingResponse(lines, media_type="application/x-ndjson")


async def _answers(
    ask: Callable[[Page], Awaitable[PageAnswer]], pages: Sequence[Page], *, every: bool
) -> AsyncIterator[bytes]:
    """A line for each page, or for each whose answer has changed."""
    for page in pages:
        try:
            answer = await ask(page)
        except (Failed, StateError) as fault:  # The head of the answer is sent: say it in a line.
            failed = fault if isinstance(fault, Failed) else not_kept(fault)
            yield failed.body() + b"\n"
            return
        if answer.is_changed or every:
            yield answer.body + b"\n"


@router.post(
    "/v1/explain", **openapi.page("Why each part of a page is kept or dropped", openapi.OBJECT)
)
async def explain(request: Request, url: Url = None, site: Site = None) -> Response:
    """Gives the regions of the page with scores and reasons, and learns nothing."""
    page = read_page(request, await _body(request), url, site)
    return _response(await service_of(request).act("explain", [page]))


@router.post(
    "/v1/marks", **openapi.page("What is kept and dropped, element by element", openapi.OBJECT)
)
async def marks(
    request: Request, url: Url = None, site: Site = None, *, learn: Learn = True
) -> Response:
    """Gives the verdict on every element that has a number in `data-dehusk-node`, and its texts."""
    page = read_page(request, await _body(request), url, site)
    return _response(await service_of(request).clean(page, learns=learn, act="marks"))


@router.post(
    "/v1/benchmark", **openapi.page("Score a page that somebody has marked", openapi.OBJECT)
)
async def benchmark(request: Request, url: Url = None, site: Site = None) -> Response:
    """Scores the template of a page whose content has the marks of the TECO suite."""
    page = read_page(request, await _body(request), url, site)
    return _response(await service_of(request).act("benchmark", [page]))


@router.post("/v1/template", **openapi.template())
async def template(request: Request) -> Response:
    """Finds the template among the pages that are posted, and learns nothing."""
    post = read_json(request, TEMPLATE, await _body(request))
    pages = [page.page() for page in (post.page, *post.others)]
    return _response(await service_of(request).act("template", pages))


@router.post("/v1/linked", **openapi.linked())
async def linked(request: Request) -> Response:
    """Names the page to load next, until the template is found. Post it with the others then.

    With `fetch` the service loads the pages itself, and writes a line of JSON for each. The answer
    is the last line.
    """
    post = read_json(request, LINKED, await _body(request))
    searches: Searches = request.app.state.searches
    if post.fetch:
        return StreamingResponse(searches.run(post), media_type="application/x-ndjson")
    return _response(await searches.step(post))


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


@router.get("/v1/sites", **openapi.plain("All sites that the service knows"))
async def sites(request: Request) -> dict[str, Any]:
    """Lists all sites."""
    service = service_of(request)
    await service.flush()
    return {"sites": [_site(row) for row in service.session.sites()]}


@router.get("/v1/site", **openapi.plain("One site: figures, rules, sudden changes", 404))
async def site(request: Request, name: SiteName) -> dict[str, Any]:
    """Gives a site's figures and its rules."""
    service = service_of(request)
    await service.flush()
    for row in service.session.sites():
        if row.name == name:
            shift = service.session.usual(name).shift
            return _site(row) | {
                "answers_changed": shift and asdict(shift),
                "rules": [_rule(rule) for rule in service.session.rules(name)],
            }
    raise Failed(404, "no_site", "the memory knows no such site")


@router.delete("/v1/site", **openapi.plain("Forget a site", 404))
async def forget(request: Request, name: SiteName) -> dict[str, Any]:
    """Removes a site, with everything that was learned about it."""
    if not await service_of(request).forget(name):
        raise Failed(404, "no_site", "the memory knows no such site")
    return {"forgotten": name}


@router.get("/v1/revisions", **openapi.plain("Answers that have changed"))
async def revisions(
    request: Request,
    site: SiteName,
    since: Annotated[int, Query(ge=0, le=10**15, description="A revision of the site.")] = 0,
    after: Annotated[
        str | None, Query(pattern="^[0-9a-f]{16}$", description="The last `next`, for more.")
    ] = None,
) -> dict[str, Any]:
    """Lists the answers on a site's pages that first came from a revision above `since`.

    A page is named by the first 8 bytes of BLAKE2b of its URL, in hex: no URL is kept. If there are
    more than 1,000, give `next` as `after` to get more.
    """
    start = bytes.fromhex(after) if after else None
    listed: list[dict[str, Any]] = []
    for answer in service_of(request).session.given(site, since, start):
        listed.append({"page": answer.key.hex(), "revision": answer.revision})
        if len(listed) == _MAX_LISTED:
            break
    more = listed[-1]["page"] if len(listed) == _MAX_LISTED else None
    return {"site": site, "answers": listed, "next": more}


@router.get("/v1/events", **openapi.events())
async def events(request: Request) -> Response:
    """Tells of every page that is learned, for as long as the connection lasts."""
    return StreamingResponse(service_of(request).listeners.listen(), media_type="text/event-stream")


@router.get("/v1/rules", **openapi.plain("The rules of a site"))
async def rules(request: Request, site: SiteName) -> dict[str, Any]:
    """Lists what users have corrected on a site."""
    found = service_of(request).session.rules(site)
    return {"site": site, "rules": [_rule(rule) for rule in found]}


@router.post("/v1/rules", **openapi.rule())
async def add_rule(request: Request) -> dict[str, Any]:
    """Keeps or drops what a selector selects, on every page of the site from now on.

    The answer says how many pages of the site were learned: if it is 0, check the site's name.
    """
    service = service_of(request)
    body = await read_body(request, _MAX_RULE_BYTES, service.settings.deadline_s)
    post = read_json(request, RULE, body)
    await service.flush()
    pages = service.session.memory(post.site).pages
    rule = service.session.add_rule(post.site, post.action, post.selector)
    await service.change_rules(post.site)
    return _rule(rule) | {"site_pages": pages}


@router.delete("/v1/rules", **openapi.plain("Remove a rule", 404))
async def remove_rule(
    request: Request,
    site: SiteName,
    rule: Annotated[
        str, Query(alias="id", pattern="^[0-9a-f]{12}$", description="The rule's `id`.")
    ],
) -> dict[str, Any]:
    """Removes a rule of a site."""
    service = service_of(request)
    if not service.session.remove_rule(site, rule):
        raise Failed(404, "no_rule", "the site has no such rule")
    await service.change_rules(site)
    return {"removed": rule}


@router.get("/health", **openapi.plain("Does the service work?"))
async def health(request: Request) -> dict[str, Any]:
    """Answers while the service works; status `not_kept` if it cannot save what it learns."""
    service = service_of(request)
    status = "ok" if service.is_keeping else "not_kept"
    return {
        "status": status,
        "version": __version__,
        "method": service.session.method.name,
        "fetch": service.settings.fetch is not None,
    }


@router.get("/metrics", **openapi.metrics())
async def metrics(request: Request) -> Response:
    """Gives the figures of the service in the text format of Prometheus."""
    service = service_of(request)
    starts = sum(worker.starts for worker in service.pool.workers)
    gauges: dict[str, tuple[str, float]] = {
        "dehusk_workers": ("Worker processes.", len(service.pool.workers)),
        "dehusk_worker_starts": ("Times that a worker was started.", starts),
        "dehusk_requests_waiting": ("Requests that wait for a worker.", service.waiting),
        "dehusk_searches": ("Requests that load pages.", len(request.app.state.loader)),
        "dehusk_listeners": ("Listeners to events.", len(service.listeners)),
        "dehusk_is_keeping": ("1 if the last commit succeeded.", service.is_keeping),
        "dehusk_memory_bytes": ("Size of the memory's file.", service.session.size_bytes),
    }
    return Response(service.metrics.text(gauges), media_type=METRICS_TYPE)
