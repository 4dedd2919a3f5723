"""How the HTTP interface is described to programs: what FastAPI cannot see by itself."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any, Final

from dehusk.doors.service.accept import KINDS
from dehusk.doors.service.bodies import (
    BatchQuery,
    CleanQuery,
    LinkedPost,
    LoadQuery,
    PagePost,
    RulePost,
    TemplatePost,
)

ABOUT: Final = (
    "Post a page of a site, and get what it says, without what its site repeats. Every page"
    " teaches the service about its site. A page that cannot be used gets status 422 with the"
    " reason; no page can end the service."
)
OBJECT: Final[dict[str, Any]] = {"type": "object"}
_ERROR: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {"code": {"type": "string"}, "message": {"type": "string"}},
        }
    },
}
_WORDS: Final = {
    400: "The request is not as it should be.",
    401: "A token is needed.",
    403: "This origin may not ask, or not for this.",
    404: "There is no such thing.",
    408: "The body did not come in time.",
    413: "The body is too large.",
    415: "The body is of a kind that is not known.",
    421: "The service does not go by that name.",
    422: "The page cannot be used.",
    500: "The memory cannot be used.",
    503: "Too many requests wait, or the service has ended meanwhile.",
    507: "There is no room for what was learned.",
}
_ALWAYS: Final = (400, 401, 403, 421, 500, 507)
_BODY: Final = (408, 413, 415, 503)


def _result() -> dict[str, Any]:
    """The schema of a JSON line, as it ships with dehusk."""
    text = files("dehusk.output").joinpath("result.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return {name: value for name, value in schema.items() if name not in ("$schema", "$id")}


RESULT: Final = _result()


def _responses(answer: dict[str, Any], *statuses: int) -> dict[int | str, dict[str, Any]]:
    """The answer, and what else may come."""
    failures: dict[int | str, dict[str, Any]] = {
        status: {
            "description": _WORDS[status],
            "content": {"application/json": {"schema": _ERROR}},
        }
        for status in sorted({*_ALWAYS, *statuses})
    }
    return {200: answer, **failures}


def _json(schema: dict[str, Any], words: str = "The answer.") -> dict[str, Any]:
    return {"description": words, "content": {"application/json": {"schema": schema}}}


def _body(content: dict[str, Any]) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": content}}


def _schema(model: Any) -> dict[str, Any]:
    """A model's schema with its parts written out, so that it stands by itself."""
    schema: dict[str, Any] = model.model_json_schema()
    parts = schema.pop("$defs", {})
    return dict(filled(schema, parts))


def filled(schema: Any, parts: dict[str, Any]) -> Any:
    """The schema with references replaced by what they name; ours are two levels deep."""
    if isinstance(schema, list):
        return [filled(item, parts) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        beside = {name: value for name, value in schema.items() if name != "$ref"}
        return filled(parts[schema["$ref"].rpartition("/")[2]], parts) | beside
    return {name: filled(value, parts) for name, value in schema.items()}


def page(summary: str, answer: dict[str, Any]) -> dict[str, Any]:
    """A call that takes one page, as JSON or as it is."""
    responses = _responses(_json(answer), 422, *_BODY)
    html = {"schema": {"type": "string"}}
    content = {"application/json": {"schema": _schema(PagePost)}, "text/html": html}
    return {"summary": summary, "responses": responses, "openapi_extra": _body(content)}


def clean(query: type[CleanQuery]) -> dict[str, Any]:
    """The call that learns a page, which is posted or loaded."""
    is_loaded = query is LoadQuery
    described = page(f"{'Load' if is_loaded else 'Learn'} a page, and get what it says", RESULT)
    if is_loaded:
        described["responses"] = _responses(_json(RESULT), 422, 503)
        del described["openapi_extra"]["requestBody"]
    described["responses"][422] = _json(RESULT, _WORDS[422])
    text = {"schema": {"type": "string"}}
    described["responses"][200]["content"] |= dict.fromkeys(list(KINDS)[1:], text)
    described["openapi_extra"]["parameters"] = _parameters(query)
    return described


def _parameters(query: type[CleanQuery | BatchQuery]) -> list[dict[str, Any]]:
    """The names of a query, which is read by hand and so described by hand."""
    schema = _schema(query)
    return [
        {
            "name": name,
            "in": "query",
            "required": name in schema.get("required", ()),
            "schema": kind.get("anyOf", [kind])[0],
            "description": kind["description"],
        }
        for name, kind in schema["properties"].items()
    ]


def batch() -> dict[str, Any]:
    """A call that takes many pages."""
    lines = {"schema": {"type": "string", "description": "A page a line, as /v1/clean takes it."}}
    answer = {
        "description": "A JSON line for each page.",
        "content": {"application/x-ndjson": {"schema": {"type": "string"}}},
    }
    return {
        "summary": "The same for many pages",
        "responses": _responses(answer, *_BODY),
        "openapi_extra": _body({"application/x-ndjson": lines})
        | {"parameters": _parameters(BatchQuery)},
    }


def template() -> dict[str, Any]:
    """The call for a template."""
    return {
        "summary": "The template that pages share",
        "responses": _responses(_json(OBJECT), 422, *_BODY),
        "openapi_extra": _body({"application/json": {"schema": _schema(TemplatePost)}}),
    }


def linked() -> dict[str, Any]:
    """The call for a template by the pages that a page links."""
    wanted = {"type": ["string", "null"], "description": "The page to load next, if any."}
    loads = {"type": "integer", "description": "Pages loaded so far, the key page included."}
    answer = {**OBJECT, "required": ["wanted", "loads"]}
    answer["properties"] = {"wanted": wanted, "loads": loads}
    told = {"schema": {"type": "string", "description": "Lines of JSON, the answer last."}}
    described = _json(answer)
    described["content"]["application/x-ndjson"] = told
    return {
        "summary": "The template of a page, found by the pages that it links to",
        "responses": _responses(described, 422, *_BODY),
        "openapi_extra": _body({"application/json": {"schema": _schema(LinkedPost)}}),
    }


def rule() -> dict[str, Any]:
    """The call that adds a rule."""
    return {
        "summary": "Add a rule: keep or drop something on every page of a site",
        "responses": _responses(_json(OBJECT), *_BODY),
        "openapi_extra": _body({"application/json": {"schema": _schema(RulePost)}}),
    }


def plain(summary: str, *statuses: int) -> dict[str, Any]:
    """A call without a body."""
    return {"summary": summary, "responses": _responses(_json(OBJECT), *statuses)}


def events() -> dict[str, Any]:
    """The stream of events."""
    answer = {"description": "Events.", "content": {"text/event-stream": {"schema": OBJECT}}}
    return {"summary": "Pages that are learned, as it happens", "responses": _responses(answer)}


def metrics() -> dict[str, Any]:
    """The figures."""
    answer = {"description": "Figures.", "content": {"text/plain": {"schema": {"type": "string"}}}}
    return {"summary": "Figures for Prometheus", "responses": _responses(answer)}
