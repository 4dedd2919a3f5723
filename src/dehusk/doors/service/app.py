"""The HTTP interface as one application, and one form for all that goes wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from dehusk import __version__
from dehusk.doors.service import describing, pages_api, sites_api
from dehusk.doors.service.failures import Failed, not_kept
from dehusk.doors.service.service import Service
from dehusk.errors import StateError, UsageError

_CODES: Final = {404: "not_found", 405: "method"}


def make_app(service: Service) -> FastAPI:
    """The application that answers at this service."""

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        await service.open()
        try:
            yield
        finally:
            await service.close()

    app = FastAPI(
        title="dehusk",
        version=__version__,
        description=describing.ABOUT,
        lifespan=lifespan,
        # Their pages load scripts from elsewhere; the description itself is at /openapi.json.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        dependencies=[Depends(_check_query)],
    )
    app.state.service = service
    app.include_router(pages_api.router)
    app.include_router(sites_api.router)
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
            raise Failed(400, "bad_request", f"query.{name[:40]}: no such name; {there}")


def add_failures(app: FastAPI) -> None:
    """Give an application one form for all that goes wrong."""
    for kind in (Failed, RequestValidationError, UsageError, StateError, HTTPException):
        app.add_exception_handler(kind, _failure)


async def _failure(_request: Request, fault: Exception) -> Response:
    """The answer to a request that is not done as it wished."""
    headers = None
    if isinstance(fault, Failed):
        failed = fault
    elif isinstance(fault, HTTPException):
        code = _CODES.get(fault.status_code, "http")
        failed, headers = Failed(fault.status_code, code, str(fault.detail)), fault.headers
    elif isinstance(fault, RequestValidationError):
        first = fault.errors()[0]
        place = ".".join(map(str, first["loc"]))
        failed = Failed(400, "bad_request", f"{place}: {first['msg']}")
    elif isinstance(fault, StateError) and not isinstance(fault, UsageError):
        failed = not_kept(fault)
    else:
        failed = Failed(400, "bad_request", str(fault))
    return Response(failed.body(), failed.status, headers, "application/json")
