"""`dehusk template`: one page in, its template out."""

from __future__ import annotations

import argparse
import json
import os
import sys
from itertools import chain, islice
from pathlib import Path
from typing import Any

from dehusk import pipeline
from dehusk.cli.clean import make_limits, make_source_settings
from dehusk.errors import PageError, UsageError
from dehusk.loader import PageLoader
from dehusk.memories import open as open_memories
from dehusk.memories import recorded_method
from dehusk.memory import Memory
from dehusk.methods import DEFAULT, Method, Smooths, make_method
from dehusk.methods.hyperlink import BEST_VOTES, Hyperlink, detect, normal_url
from dehusk.methods.written import parse_settings, with_favour
from dehusk.model import Limits, Page
from dehusk.output.names import is_page_name
from dehusk.override import Overrides, overrides
from dehusk.parse import parse
from dehusk.result import Result
from dehusk.sources import Failure, read_pages


def run(arguments: argparse.Namespace) -> int:
    """Find the page's template by the other pages of its site; 1 if some of these failed."""
    limits = make_limits(arguments)
    _check_target(arguments)
    pages, failures = read_site(arguments)
    key = find_page(arguments, pages)
    site = pipeline.site_of(key)
    others = [page for page in pages if page is not key and pipeline.site_of(page) == site]
    left_out = len(pages) - len(others) - any(page is key for page in pages)
    if left_out:
        sys.stderr.write(f"{left_out} page{'' if left_out == 1 else 's'} of other sites left out\n")
    method = _make_method(arguments, PageLoader([key, *others], limits))
    if arguments.format == "sections" and not isinstance(method, Smooths):
        raise UsageError(f"{method.name} makes no sections: it does not smooth; page does")
    memory = _read_memory(arguments, site)
    chosen = overrides(arguments.keep, arguments.drop)
    result, refusals = _ask(key, others, method, limits, memory, chosen)
    _write(arguments, result, method)
    return 1 if failures or refusals else 0


def read_site(arguments: argparse.Namespace) -> tuple[list[Page], int]:
    """The pages to compare with, and how many could not be read; each of these is named."""
    pages: list[Page] = []
    failures = 0
    for item in read_pages(_sources(arguments), make_source_settings(arguments)):
        if isinstance(item, Failure):
            failures += 1
            sys.stderr.write(f"dehusk: {item.error}\n")
        else:
            pages.append(item)
    return pages, failures


def _sources(arguments: argparse.Namespace) -> list[str]:
    """What to compare with: the sources named, else the folder of the page."""
    if arguments.against or arguments.memory:
        return list(arguments.against)
    path = Path(arguments.page)
    return [str(path.parent)] if path.is_file() else []


def find_page(arguments: argparse.Namespace, pages: list[Page]) -> Page:
    """The page that the user means: a URL among the pages, or a file, by its bytes one of them.

    A file that is none of them has the URL and the site that its folder gives it.
    """
    name: str = arguments.page
    if not Path(name).is_file():
        wanted = normal_url(name)
        for page in pages:
            if page.url and normal_url(page.url) == wanted:
                return page
        raise UsageError(f"{name}: neither a file nor the URL of a page in --against")
    settings = make_source_settings(arguments)
    items = list(islice(read_pages([name], settings), 2))
    if len(items) != 1:
        raise UsageError(f"{name}: not one page of HTML")
    (key,) = items
    if isinstance(key, Failure):
        raise key.error
    neighbours = read_pages([str(Path(name).parent)], settings)
    found = (item for item in chain(pages, neighbours) if isinstance(item, Page))
    return next((page for page in found if page.html == key.html), key)


def _check_target(arguments: argparse.Namespace) -> None:
    """Raise UsageError for a target that is a page of a source, or would be read as one."""
    if not arguments.output:
        return
    target = Path(arguments.output)
    if arguments.output.endswith(("/", os.sep)) or target.is_dir():
        raise UsageError(f"-o {arguments.output}: a template is one page, so name a file")
    for source in (*_sources(arguments), arguments.page):
        path = Path(source)
        is_same = target.exists() and path.is_file() and target.samefile(path)
        is_inside = path.is_dir() and target.resolve().is_relative_to(path.resolve())
        if is_same or (is_inside and is_page_name(target.name)):
            raise UsageError(f"cannot write to {target}: it is, or would be, a page of {source}")


def _make_method(arguments: argparse.Namespace, loader: PageLoader) -> Method:
    """The method with its settings; --size and --votes are settings of `hyperlink`."""
    name = _method_name(arguments)
    written = with_favour(name, arguments.settings, arguments.favour)
    settings: dict[str, Any] = parse_settings(name, written)
    for option in ("size", "votes"):
        if getattr(arguments, option) is not None:
            if name != Hyperlink.name:
                raise UsageError(f"--{option} goes with --method hyperlink")
            settings[option] = getattr(arguments, option)
    if "size" in settings and "votes" not in settings and name == Hyperlink.name:
        settings["votes"] = BEST_VOTES.get(settings["size"], min(2, settings["size"]))
    if name == Hyperlink.name:
        settings["loader"] = loader
    return make_method(name, **settings)


def _read_memory(arguments: argparse.Namespace, site: str) -> Memory:
    """What the site has taught before; the file is only read."""
    if not arguments.memory:
        return Memory()
    settings: dict[str, Any] = parse_settings(_method_name(arguments), arguments.settings)
    with open_memories(
        arguments.memory, reads_only=True, method=arguments.method, **settings
    ) as memories:
        memory = memories.memory(site)
    sys.stderr.write(f"{site}: {memory.pages} page{'' if memory.pages == 1 else 's'} remembered\n")
    return memory


def _method_name(arguments: argparse.Namespace) -> str:
    """The method that is asked for, else the memory's, else the default."""
    return str(arguments.method or recorded_method(arguments.memory) or DEFAULT)


def _ask(
    key: Page,
    others: list[Page],
    method: Method,
    limits: Limits,
    memory: Memory,
    chosen: Overrides,
) -> tuple[Result, int]:
    """The answer on the page, after the others were learned, and how many of these failed."""
    refusals = 0
    if isinstance(method, Hyperlink):
        sys.stderr.write(f"{detect(method, parse(key, limits).tree).message}\n")
    else:
        for page in others:
            try:
                memory = pipeline.learn(page, memory, method, limits)
            except PageError as error:
                refusals += 1
                sys.stderr.write(f"dehusk: {error}\n")
        count = len(others) - refusals
        sys.stderr.write(f"compared with {count} other page{'' if count == 1 else 's'}\n")
    return pipeline.clean(key, memory, method, limits, overrides=chosen)[0], refusals


def _write(arguments: argparse.Namespace, result: Result, method: Method) -> None:
    """Write the template as HTML, or every node's verdict or the page's sections as JSON."""
    written = result.template
    if arguments.format != "html":
        pieces = _sections(result) if arguments.format == "sections" else _nodes(result)
        answer = {
            "url": result.url,
            "site": result.site,
            "method": method.name,
            "template_share": round(result.template_share, 4),
            "sections" if arguments.format == "sections" else "nodes": pieces,
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


def _nodes(result: Result) -> list[dict[str, object]]:
    """Every node's verdict."""
    return [
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


def _sections(result: Result) -> list[dict[str, object]]:
    """The page's sections."""
    return [
        {
            "node": section.node,
            "inside": section.inside,
            "tag": section.tag,
            "score": None if section.score != section.score else round(section.score, 4),
            "label": section.label.name.lower(),
            "text": section.text,
        }
        for section in result.sections or ()
    ]
