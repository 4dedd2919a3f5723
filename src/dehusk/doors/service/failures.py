"""One form for all that goes wrong."""

from __future__ import annotations

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from dehusk.doors.service.server import Failed, not_kept
from dehusk.errors import PageError, StateError, UsageError


def add_failures(app: FastAPI) -> None:
    """Give an application one form for all that goes wrong."""
    for kind in (Failed, RequestValidationError, UsageError, StateError, PageError, HTTPException):
        app.add_exception_handler(kind, _failure)


async def _failure(request: Request, fault: Exception) -> Response:
    """The answer to a request that is not done as it wished."""
    headers = None
    if isinstance(fault, Failed):
        failed = fault
    elif isinstance(fault, HTTPException) and fault.status_code == 405:
        return _other_method(request, fault)
    elif isinstance(fault, HTTPException):
        code = "not_found" if fault.status_code == 404 else "http"
        failed, headers = Failed(fault.status_code, code, str(fault.detail)), fault.headers
    elif isinstance(fault, RequestValidationError):
        first = fault.errors()[0]
        place = ".".join(map(str, first["loc"]))
        failed = Failed(400, "bad_request", f"{place}: {first['msg']}")
    elif isinstance(fault, StateError) and not isinstance(fault, UsageError):
        failed = not_kept(fault)
    elif isinstance(fault, PageError):
        failed = Failed(422, fault.code, fault.reason)
    else:
        failed = Failed(400, "bad_request", str(fault))
    return Response(failed.body(), failed.status, headers, "application/json")


def _other_method(request: Request, fault: HTTPException) -> Response:
    """The answer to a method that a path does not take, and to OPTIONS, which asks for them."""
    methods = {name.upper() for name in request.app.openapi()["paths"].get(request.url.path, ())}
    methods |= set((fault.headers or {}).get("Allow", "OPTIONS").split(", ")) | {"OPTIONS"}
    methods |= {"HEAD"} if "GET" in methods else set()
    allowed = {"Allow": ", ".join(sorted(methods))}
    if request.method == "OPTIONS":
        return Response(None, 204, allowed)
    words = f"{request.url.path} takes {allowed['Allow']}"
    return Response(Failed(405, "method", words).body(), 405, allowed, "application/json")
