"""`dehusk template`: one page in, its template out."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

from dehusk import pipeline
from dehusk.doors.cli.checks import check_targets
from dehusk.doors.options import make_limits, make_source_settings
from dehusk.errors import PageError, UsageError
from dehusk.memory import Memory
from dehusk.memory.opening import open as open_session
from dehusk.memory.store import recorded_method
from dehusk.methods import DEFAULT, METHODS, Smooths
from dehusk.methods.papers.hyperlink import BEST_VOTES, Hyperlink, detect, normal_url
from dehusk.methods.written import parse_settings, with_favour
from dehusk.output.names import is_page_name
from dehusk.page.page import Page
from dehusk.sources import Failure, read_pages
from dehusk.template.templates import Template, template_of


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
    name = _method_name(arguments)
    if arguments.format == "sections" and not issubclass(METHODS.get(name, object), Smooths):
        raise UsageError(f"{name} makes no sections: it does not smooth; page does")
    refusals: list[PageError] = []
    template = template_of(
        key,
        others,
        method=name,
        memory=_read_memory(arguments, site),
        limits=limits,
        keep=arguments.keep,
        drop=arguments.drop,
        refused=refusals.append,
        **_settings(arguments),
    )
    _report(template, len(others), refusals)
    _write(arguments, template)
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
    if arguments.against:
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
    check_targets(arguments)
    if arguments.output.endswith(("/", os.sep)) or target.is_dir():
        raise UsageError(f"-o {arguments.output}: a template is one page, so name a file")
    for source in (*_sources(arguments), arguments.page):
        path = Path(source)
        is_same = target.exists() and path.is_file() and target.samefile(path)
        is_inside = path.is_dir() and target.resolve().is_relative_to(path.resolve())
        if is_same or (is_inside and is_page_name(target.name)):
            raise UsageError(f"cannot write to {target}: it is, or would be, a page of {source}")


def _settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """The settings of the method; --size and --votes are settings of `hyperlink`."""
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
    return settings


def _read_memory(arguments: argparse.Namespace, site: str) -> Memory:
    """What the site has taught before; the file is only read."""
    if not arguments.memory:
        return Memory()
    settings: dict[str, Any] = parse_settings(_method_name(arguments), arguments.settings)
    with open_session(
        arguments.memory, reads_only=True, method=arguments.method, **settings
    ) as memories:
        memory = memories.memory(site)
    sys.stderr.write(f"{site}: {memory.pages} page{'' if memory.pages == 1 else 's'} remembered\n")
    return memory


def _method_name(arguments: argparse.Namespace) -> str:
    """The method that is asked for, else the memory's, else the default."""
    return str(arguments.method or recorded_method(arguments.memory) or DEFAULT)


def _report(template: Template, others: int, refusals: list[PageError]) -> None:
    """Say what the page was compared with, and what could not be."""
    for error in refusals:
        sys.stderr.write(f"dehusk: {error}\n")
    if isinstance(template.method, Hyperlink):
        sys.stderr.write(f"{detect(template.method, template.result.tree).message}\n")
    else:
        count = others - len(refusals)
        sys.stderr.write(f"compared with {count} other page{'' if count == 1 else 's'}\n")
    count = len(template.results) - 1
    sys.stderr.write(
        f"{count} page{'' if count == 1 else 's'} of the same family, {len(template.slots)} slots\n"
    )


def _write(arguments: argparse.Namespace, template: Template) -> None:
    """Write the template in the format that was asked for."""
    written = _FORMATS[arguments.format](template)
    data = (written.rstrip("\n") + "\n").encode("utf-8", "replace")
    if arguments.output:
        try:
            Path(arguments.output).write_bytes(data)
        except OSError as fault:
            raise UsageError(f"cannot write to {arguments.output}: {fault.strerror}") from fault
    else:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def _json(template: Template, answer: dict[str, object]) -> str:
    result = template.result
    head = {
        "url": result.url,
        "site": result.site,
        "method": template.method.name,
        "pages": len(template.results),
    }
    return json.dumps(head | answer, ensure_ascii=False, indent=1)


def _nodes(template: Template) -> str:
    """Every node's verdict."""
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
        for node in template.result.nodes
    ]
    share = round(template.result.template_share, 4)
    return _json(template, {"template_share": share, "nodes": nodes})


def _sections(template: Template) -> str:
    """The page's sections."""
    sections = [
        {
            "node": section.node,
            "inside": section.inside,
            "tag": section.tag,
            "score": None if section.score != section.score else round(section.score, 4),
            "label": section.label.name.lower(),
            "text": section.text,
        }
        for section in template.result.sections or ()
    ]
    share = round(template.result.template_share, 4)
    return _json(template, {"template_share": share, "sections": sections})


_FORMATS: Final[dict[str, Callable[[Template], str]]] = {
    "html": lambda template: template.html,
    "json": _nodes,
    "sections": _sections,
    "slots": lambda template: _json(template, {"slots": template.slots}),
    "rules": lambda template: _json(template, template.rules),
    "graby": lambda template: template.site_config,
}
