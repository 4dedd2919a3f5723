"""What a worker of the service does with pages: the bodies of its answers are made there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from math import isnan
from typing import Any, Final

from dehusk import pipeline
from dehusk.answer.marks import marks_of
from dehusk.answer.result import Result
from dehusk.doors.service.gold import node_gold, strip_marks, teco_score, template_score
from dehusk.errors import NotHtml, PageError
from dehusk.methods import settings_of
from dehusk.page.page import Page
from dehusk.template.templates import template_of
from dehusk.workers.acts import Judge, PageAct
from dehusk.workers.messages import Reply, Request


def _line(judge: Judge, request: Request) -> Reply:
    """The JSON line of a page, which is learned or not."""
    pieces, learns = request.options["pieces"], request.options["learns"]
    return judge.answer(request, lambda result: _json(result.to_json(pieces)), learns=learns)


def _marks(judge: Judge, request: Request) -> Reply:
    """The verdict on every node of a page, which is learned or not."""
    learns = request.options["learns"]
    return judge.answer(request, lambda result: _json(_marked(result)), learns=learns)


def _marked(result: Result) -> dict[str, Any]:
    """The verdict on every node, by address, and what an extension shows besides."""
    facts = {
        "url": result.url,
        "site": result.site,
        "title": result.description.title,
        "pages_seen": result.pages_seen,
        "template_share": round(result.template_share, 4),
        "template": result.template,
        "markdown": result.markdown,
    }
    return facts | marks_of(result)


def _explain(judge: Judge, request: Request) -> Reply:
    """The regions of a page, and why."""
    (page,) = request.pages
    result = judge.session.explain(page)
    regions = [
        {name: _plain(value) for name, value in asdict(region).items()}
        | {"label": region.label.name.lower()}
        for region in result.regions
    ]
    answer = {
        "url": result.url,
        "site": result.site,
        "method": judge.session.method.name,
        "pages_seen": result.pages_seen,
        "template_share": round(result.template_share, 4),
        "needs_render": result.needs_render,
        "regions": regions,
    }
    return Reply(_json(answer))


def _benchmark(judge: Judge, request: Request) -> Reply:
    """How well the template of a page with TECO's marks is found."""
    (marked,) = request.pages
    tree, paths = strip_marks(marked)
    page = Page(tree.source, marked.url, marked.site, "utf-8")
    result = judge.session.ask(page, render=lambda result: result.text)
    gold = node_gold(result.tree, paths, ()) if paths else None
    if gold is None:
        raise NotHtml(marked.url, "no mark of the TECO suite on it (class TECO_notTemplate)")
    labels = result.labels.labels
    scores = {
        name: score(gold, result.tree, labels)._asdict()
        for name, score in (("template", template_score), ("teco", teco_score))
    }
    facts = {"url": result.url, "site": result.site, "pages_seen": result.pages_seen}
    return Reply(_json(facts | {"method": judge.session.method.name} | scores))


def _template(judge: Judge, request: Request) -> Reply:
    """The template of a page's family: HTML, slots, rules."""
    page, *others = request.pages
    refused: list[PageError] = []
    method = judge.session.method
    settings: dict[str, Any] = settings_of(method)
    template = template_of(
        page, others, method=method.name, limits=judge.session.limits,
        refused=refused.append, **settings,
    )  # fmt: skip
    answer = {
        "url": page.url,
        "site": pipeline.site_of(page),
        "method": method.name,
        "pages": len(template.results),
        "html": template.html,
        "slots": template.slots,
        "rules": template.rules,
        "refused": [{"url": e.url, "code": e.code, "message": e.reason} for e in refused],
    }
    return Reply(_json(answer))


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def _plain(value: Any) -> Any:
    """The value as JSON knows it: no nan."""
    if isinstance(value, float):
        return None if isnan(value) else round(value, 4)
    return value


ACTS: Final[Mapping[str, PageAct]] = {
    "line": _line,
    "marks": _marks,
    "explain": _explain,
    "benchmark": _benchmark,
    "template": _template,
}
