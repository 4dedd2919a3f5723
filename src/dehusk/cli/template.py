"""`dehusk template`: one page in, its template out."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from dehusk import pipeline
from dehusk.cli.clean import make_limits, make_source_settings
from dehusk.errors import UsageError
from dehusk.loader import PageLoader
from dehusk.memory import Memory
from dehusk.methods import DEFAULT, Method, make_method
from dehusk.methods.hyperlink import Hyperlink, detect, normal_url
from dehusk.methods.written import parse_settings
from dehusk.model import Limits, Page
from dehusk.parse import parse
from dehusk.result import Result
from dehusk.sources import Failure, read_pages


def run(arguments: argparse.Namespace) -> int:
    """Find the page's template by the other pages of its site; 1 if some of these failed."""
    limits = make_limits(arguments)
    pages, failures = _read_site(arguments)
    key = _find_page(arguments.page, pages)
    site = pipeline.site_of(key)
    others = [page for page in pages if page is not key and pipeline.site_of(page) == site]
    left_out = len(pages) - len(others) - any(page is key for page in pages)
    if left_out:
        sys.stderr.write(f"{left_out} pages of other sites left out\n")
    method = _make_method(arguments, PageLoader([key, *others], limits))
    result = _ask(key, others, method, limits)
    _write(arguments, result, method)
    return 1 if failures else 0


def _read_site(arguments: argparse.Namespace) -> tuple[list[Page], int]:
    """The pages to compare with, and how many could not be read; each of these is named."""
    sources = arguments.against
    if not sources:
        path = Path(arguments.page)
        sources = [str(path.parent)] if path.is_file() else []
    pages: list[Page] = []
    failures = 0
    for item in read_pages(sources, make_source_settings(arguments)):
        if isinstance(item, Failure):
            failures += 1
            sys.stderr.write(f"dehusk: {item.error}\n")
        else:
            pages.append(item)
    return pages, failures


def _find_page(name: str, pages: list[Page]) -> Page:
    """The page that the user means: a URL among the pages, or a file, by its bytes one of them."""
    path = Path(name)
    if path.is_file():
        html = path.read_bytes()
        return next((p for p in pages if p.html == html), Page(html, path.absolute().as_uri()))
    wanted = normal_url(name)
    for page in pages:
        if page.url and normal_url(page.url) == wanted:
            return page
    raise UsageError(f"{name}: neither a file nor the URL of a page in --against")


def _make_method(arguments: argparse.Namespace, loader: PageLoader) -> Method:
    """The method with its settings; --size and --votes are settings of `hyperlink`."""
    name = arguments.method or DEFAULT
    settings: dict[str, Any] = parse_settings(name, arguments.settings)
    for option in ("size", "votes"):
        if getattr(arguments, option) is not None:
            settings[option] = getattr(arguments, option)
    if name == Hyperlink.name:
        settings["loader"] = loader
    return make_method(name, **settings)


def _ask(key: Page, others: list[Page], method: Method, limits: Limits) -> Result:
    """The answer on the page, after the others were learned; what was done goes to stderr."""
    memory = Memory()
    if isinstance(method, Hyperlink):
        sys.stderr.write(f"{detect(method, parse(key, limits).tree).message}\n")
    else:
        for page in others:
            memory = pipeline.learn(page, memory, method, limits)
        count = len(others)
        sys.stderr.write(f"compared with {count} other page{'' if count == 1 else 's'}\n")
    return pipeline.clean(key, memory, method, limits)[0]


def _write(arguments: argparse.Namespace, result: Result, method: Method) -> None:
    """Write the template as HTML, or every node's verdict as JSON."""
    written = result.template
    if arguments.format == "json":
        nodes = [
            {
                "node": node.number,
                "parent": node.parent,
                "tag": node.tag,
                "text": node.text,
                "score": None if node.score != node.score else round(node.score, 4),
                "label": node.label.name.lower(),
                "reason": node.reason.name.lower(),
            }
            for node in result.nodes
        ]
        answer = {
            "url": result.url,
            "site": result.site,
            "method": method.name,
            "template_share": round(result.template_share, 4),
            "nodes": nodes,
        }
        written = json.dumps(answer, ensure_ascii=False, indent=1)
    data = (written.rstrip("\n") + "\n").encode("utf-8", "replace")
    if arguments.output:
        try:
            Path(arguments.output).write_bytes(data)
        except OSError as fault:
            raise UsageError(f"cannot write to {arguments.output}: {fault.strerror}") from fault
    else:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
