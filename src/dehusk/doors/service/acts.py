"""What a worker of the service does with pages: the bodies of its answers are made there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from math import isnan
from typing import Any, Final

from dehusk import pipeline
from dehusk.answer.marks import marks_of
from dehusk.answer.result import Result
from dehusk.doors.service.gold import (
    Marks,
    is_marked,
    node_gold,
    strip_marks,
    teco_score,
    template_score,
)
from dehusk.errors import NotHtml, PageError
from dehusk.methods import settings_of
from dehusk.methods.papers.hyperlink import Hyperlink
from dehusk.output.formats import Format, Shape, json_line
from dehusk.page.page import Page
from dehusk.settings import Limits, MarkdownSettings
from dehusk.template.linked import Linked, Wanted, linked_answer, search_message
from dehusk.template.templates import template_of
from dehusk.workers.acts import Judge, PageAct
from dehusk.workers.messages import Reply, Request


def _written(judge: Judge, request: Request) -> Reply:
    """The answer on a page, which is learned or not, in the format that is asked for."""
    pieces, learns = request.options["pieces"], request.options["learns"]
    settings = MarkdownSettings(**request.options["markdown"])
    written_as = Format(request.options["format"])

    def write(result: Result) -> bytes:
        written = Shape(written_as, pieces).data(result.written_with(settings)) or b""
        return written.rstrip() if written_as is Format.JSONL else written

    return judge.answer(request, write, learns=learns)


def _marks(judge: Judge, request: Request) -> Reply:
    """The verdict on every node of a page, which is learned or not."""
    learns = request.options["learns"]
    return judge.answer(request, lambda result: _json(_marked(result)), learns=learns)


def _marked(result: Result) -> dict[str, Any]:
    """The verdict on every node, by address, and what an extension shows besides."""
    facts = {
        "url": result.url,
        "site": result.site,
        "title": result.title,
        "pages_seen": result.pages_seen,
    }
    return facts | _shown(result)


def _shown(result: Result) -> dict[str, Any]:
    """What an extension shows of an answer, and the verdict on every node, by address."""
    facts = {
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
    page, marks = _unmarked(marked, judge.session.limits)
    result = judge.session.ask(page, render=lambda result: result.text)
    scores = _scores(result, marks)
    if scores is None:
        raise NotHtml(marked.url, "no mark of the TECO suite on it (class TECO_notTemplate)")
    facts = {"url": result.url, "site": result.site, "pages_seen": result.pages_seen}
    return Reply(_json(facts | {"method": judge.session.method.name} | scores))


def _unmarked(marked: Page, limits: Limits) -> tuple[Page, Marks]:
    """The page without TECO's marks, and what they mark."""
    tree, marks = strip_marks(marked, limits)
    return Page(tree.source, marked.url, marked.site, "utf-8"), marks


def _scores(result: Result, marks: Marks) -> dict[str, Any] | None:
    """How well the template is found, by the marks; None where they mark nothing."""
    gold = node_gold(result.tree, marks.not_template, ()) if marks.not_template else None
    if gold is None:
        return None
    return {
        name: score(gold, result.tree, result.labels.labels)._asdict()
        for name, score in (("template", template_score), ("teco", teco_score))
    }


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


def _linked(judge: Judge, request: Request) -> Reply:
    """The template of a page by the pages that it links; or which of them is wanted next."""
    key, *others = request.pages
    page, marks = _unmarked(key, judge.session.limits) if is_marked(key) else (key, None)
    options = request.options
    pages = dict(zip(options["urls"], others, strict=True))
    method = Hyperlink(**options["settings"])
    overrides = judge.session.decided(request.site)
    found = linked_answer(page, pages, options["failed"], method, judge.session.limits, overrides)
    if isinstance(found, Wanted):
        answer = {"wanted": found.url, "loads": found.loads}
        return Reply(_json(answer), {"wanted": found.url, "asked": found.asked})
    facts = _linked_facts(found, method)
    if marks is not None:
        facts["benchmark"] = _scores(found.result, marks)
    return Reply(_json(facts), {"outcome": found.detection.outcome})


def _linked_facts(linked: Linked, method: Hyperlink) -> dict[str, Any]:
    """What was found, and how."""
    found, graph = linked.detection, linked.graph
    loads = [
        {name: value for name, value in asdict(load).items() if value} for load in linked.loads
    ]
    facts = {
        "wanted": None,
        "url": linked.result.url,
        "site": linked.result.site,
        "method": method.name,
        "outcome": found.outcome,
        "message": search_message(method, linked.result.tree, found),
        "asked": method.size,
        "needed": found.needed,
        "loads": found.loads,
        "loaded": loads,
        "graph": {"urls": graph.urls, "voters": graph.voters, "links": graph.links},
    }
    return facts | _shown(linked.result)


def _json(value: Mapping[str, object]) -> bytes:
    return json_line(value).rstrip()


def _plain(value: Any) -> Any:
    """The value as JSON knows it: no nan."""
    if isinstance(value, float):
        return None if isnan(value) else round(value, 4)
    return value


ACTS: Final[Mapping[str, PageAct]] = {
    "written": _written,
    "marks": _marks,
    "explain": _explain,
    "benchmark": _benchmark,
    "template": _template,
    "linked": _linked,
}
