"""The description of the HTTP interface for people: one page, made of the one for programs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any, Final

from fastapi import APIRouter, Request, Response
from starlette.responses import RedirectResponse

from dehusk.doors.service.openapi import filled
from dehusk.template.report import POLICY, STYLE

router = APIRouter(include_in_schema=False)
_TRY: Final = (
    "curl -s '{address}v1/clean?url=https://grain.example/rye' \\\n"
    "     -H 'Accept: text/markdown' --data-binary '<h1>Rye</h1><p>A hardy grain.</p>'"
)
_AUTHORIZED: Final = ' \\\n     -H "Authorization: Bearer $DEHUSK_TOKEN"'


@router.get("/")
async def root() -> Response:
    """Where somebody begins who has only the address."""
    return RedirectResponse("/docs")


@router.get("/docs")
async def docs(request: Request) -> Response:
    """What can be asked, for people; without scripts, and without anything from elsewhere."""
    example = _TRY.format(address=request.base_url)
    if request.app.state.service.settings.token:
        example += _AUTHORIZED
    body = "".join(_document(request.app.openapi(), example))
    headers = {"Content-Security-Policy": f"{POLICY}; frame-ancestors 'none'"}
    return Response(body, 200, headers, "text/html; charset=utf-8")


def _document(described: Mapping[str, Any], example: str) -> Iterator[str]:
    info = described["info"]
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield '<meta name="color-scheme" content="light dark">\n<title>dehusk: the service</title>\n'
    yield f"<style>{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>dehusk {info['version']}</h1>\n"
    yield f"<p>{escape(info['description'])}</p>\n</header>\n<main>\n<section>\n<h2>Try it</h2>\n"
    yield f'<pre tabindex="0">{escape(example)}</pre>\n<p>For programs, there is'
    yield ' <a href="/openapi.json">openapi.json</a>. <a href="/health">health</a> says whether'
    yield " the service works. To look at pages in a browser, run <code>dehusk view</code>.</p>\n"
    calls = [
        (method, path, call)
        for path, methods in filled(described["paths"], described["components"]["schemas"]).items()
        for method, call in methods.items()
    ]
    links = (
        f'<li><a href="#{_anchor(method, path)}"><code>{method.upper()} {path}</code></a>'
        f" {escape(call['summary'])}</li>\n"
        for method, path, call in calls
    )
    yield f"<ul>\n{''.join(links)}</ul>\n</section>\n"
    for method, path, call in calls:
        yield from _call(method, path, call)
    yield "</main>\n</body>\n</html>\n"


def _anchor(method: str, path: str) -> str:
    return f"{method}{path.replace('/', '-')}"


def _call(method: str, path: str, call: Mapping[str, Any]) -> Iterator[str]:
    """One call: what it takes, and what it gives."""
    yield f'<section id="{_anchor(method, path)}">\n<h2><code>{method.upper()} {path}</code></h2>\n'
    for paragraph in call.get("description", call["summary"]).split("\n\n"):
        yield f"<p>{_words(paragraph)}</p>\n"
    if parameters := call.get("parameters"):
        rows = [(one["name"], one["schema"], one.get("description", "")) for one in parameters]
        yield _table("Query", f"{method.upper()} {path}", rows)
    for kind, body in call.get("requestBody", {}).get("content", {}).items():
        fields = body["schema"].get("properties", {})
        rows = [(name, schema, schema.get("description", "")) for name, schema in fields.items()]
        words = _words(body["schema"].get("description", "The HTML of the page."))
        title = f"Body: {kind}"
        table = _table(title, f"{method.upper()} {path}", rows) if rows else ""
        yield table or f"<h3>{title}</h3>\n<p>{words}</p>\n"
    given = (
        f"<li><b>{status}</b> {escape(answer['description'])}</li>"
        for status, answer in call["responses"].items()
    )
    yield f"<details><summary>Answers</summary><ul>{''.join(given)}</ul></details>\n</section>\n"


def _words(text: str) -> str:
    """A sentence, in which names are set as code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(text))


def _table(title: str, call: str, rows: list[tuple[str, Mapping[str, Any], str]]) -> str:
    """Names, what each may be, and what it means."""
    cells = "".join(
        f"<tr><th scope=row><code>{escape(name)}</code></th><td>{escape(_kind(schema))}</td>"
        f"<td>{_words(words)}</td></tr>\n"
        for name, schema, words in rows
    )
    return (
        f'<h3>{escape(title)}</h3>\n<div class="wide" tabindex="0" role="region"'
        f' aria-label="{escape(f"{title} of {call}")}"><table>\n<thead><tr><th scope=col>name</th>'
        f"<th scope=col>type</th><th scope=col>meaning</th></tr></thead>\n<tbody>\n{cells}"
        "</tbody>\n</table></div>\n"
    )


def _kind(schema: Mapping[str, Any]) -> str:
    """What a value may be, in a few words."""
    if "enum" in schema:
        return " or ".join(map(str, schema["enum"]))
    if "anyOf" in schema:
        kinds = dict.fromkeys(_kind(one) for one in schema["anyOf"])
        return " or ".join(kind for kind in kinds if kind != "null")
    kind = schema.get("type", "any")
    return str(" or ".join(kind) if isinstance(kind, list) else kind)
