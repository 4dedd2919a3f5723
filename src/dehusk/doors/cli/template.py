"""`dehusk template`: one page in, its template out."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dehusk import pipeline
from dehusk.doors.cli.checks import check_targets
from dehusk.doors.cli.learn import opened_browser
from dehusk.doors.cli.progress import Progress
from dehusk.doors.cli.web_options import given_options
from dehusk.doors.options import (
    MAX_LOADS_OPTION,
    chosen_method,
    make_limits,
    make_source_settings,
    search_settings,
)
from dehusk.errors import PageError, UsageError
from dehusk.memory import Memory
from dehusk.memory.opening import open as open_session
from dehusk.memory.session import Session
from dehusk.methods import DEFAULT, METHODS, Smooths
from dehusk.methods.papers.hyperlink import Hyperlink, best_settings, normal_url
from dehusk.output.names import is_page_name
from dehusk.output.whole import unwritable
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.sources import Failure, hint, is_web, read_pages
from dehusk.sources.compression import named_compression, unpacked_name
from dehusk.template.drawing import draw_graph
from dehusk.template.graph import link_graph
from dehusk.template.linked import search_among, search_message
from dehusk.template.templates import (
    PageLoader,
    Template,
    crawled_url,
    redirected,
    template_of,
)

if TYPE_CHECKING:
    from dehusk.page.browser import Browser


def run(arguments: argparse.Namespace) -> int:
    """Find the page's template by other pages of its site; 1 if some failed, or it has none."""
    _check_target(arguments)
    is_fetched = is_web(arguments.page) and not arguments.against
    if not is_fetched and (given := given_options(arguments)):
        meant = hint(arguments.page)
        raise UsageError(f"{', '.join(given)}: only for a web address without --against{meant}")
    default = Hyperlink.name if is_web(arguments.page) else DEFAULT
    name, settings = chosen_method(arguments, default, is_searching=is_fetched)
    if arguments.format == "sections" and not issubclass(METHODS.get(name, object), Smooths):
        raise UsageError(f"{name} makes no sections: it does not smooth; page does")
    if arguments.memory:
        with _opened_memory(arguments):
            pass  # What is wrong with it is said before anything is fetched.
    with opened_browser(arguments) as browser:
        compare = _fetched if is_fetched else _read
        compared = compare(arguments, name, settings, browser)
    if name == Hyperlink.name:
        search = compared.search
        settings |= {"loader": search.loader, "max_loads": search.max_loads}
    refusals: list[PageError] = []
    template = template_of(
        compared.key,
        compared.others,
        method=name,
        memory=_read_memory(arguments, pipeline.site_of(compared.key)),
        limits=make_limits(arguments),
        keep=arguments.keep,
        drop=arguments.drop,
        refused=refusals.append,
        **settings,
    )
    _report(arguments, template, compared, refusals)
    _write(arguments, _written(arguments, template, compared))
    return 1 if compared.failures or refusals or not compared.is_judged else 0


@dataclass(frozen=True, slots=True)
class _Compared:
    """A page and what it is compared with."""

    key: Page
    others: list[Page]
    search: Hyperlink
    """What finds the pages that link each other among them."""
    failures: int = 0
    is_judged: bool = True
    """Was it compared with others, or judged by itself?"""


def _fetched(
    arguments: argparse.Namespace, name: str, settings: dict[str, Any], browser: Browser | None
) -> _Compared:
    """The page and those that its links lead to, out of the web."""
    from dehusk.doors.cli import linked  # noqa: PLC0415  needs an extra

    progress = Progress(sys.stderr, None, is_quiet=arguments.quiet)
    chosen = settings if name == Hyperlink.name else best_settings(search_settings(arguments))
    with linked.opened_archive(arguments) as save:
        searching = linked.make_searching(arguments, chosen, browser, progress, save)
        found = searching.run(arguments.page, says_votes=name == Hyperlink.name)
    return _Compared(
        found.key,
        found.others,
        found.search(make_limits(arguments)),
        is_judged=found.is_judged or name != Hyperlink.name,
    )


def _read(
    arguments: argparse.Namespace, name: str, settings: dict[str, Any], browser: Browser | None
) -> _Compared:
    """The page and the others of its site, out of what the user names."""
    limits = make_limits(arguments)
    redirects: dict[str, str] = {}
    pages, failures = read_site(arguments, _sources(arguments), redirects)
    names = redirected(pages, redirects)
    path = Path(arguments.page)
    folder = [str(path.parent)] if path.is_file() else []
    key = find_page(arguments, pages, names, read_pages(folder, make_source_settings(arguments)))
    site = pipeline.site_of(key)
    others = [page for page in pages if page is not key and pipeline.site_of(page) == site]
    left_out = len(pages) - len(others) - any(page is key for page in pages)
    if left_out:
        _say(arguments, f"{left_out} page{'' if left_out == 1 else 's'} of other sites left out")
    shown = {id(page): page for page in (key, *others)}
    if browser is not None:
        shown = {number: browser.render(page, limits) for number, page in shown.items()}
    known = {url: shown[id(page)] for url, page in names.items() if id(page) in shown}
    loader = PageLoader(shown.values(), limits, names=known)
    chosen = settings if name == Hyperlink.name else best_settings(search_settings(arguments))
    search = Hyperlink(**chosen, loader=loader)
    key, *others = shown.values()
    if name != Hyperlink.name:
        return _Compared(key, others, search, failures)
    tree = parse(key, limits).tree
    repeated, found = search_among(search, tree)
    is_judged = bool(found.pages) or found.page_counts or not is_web(arguments.page)
    message = search_message(search, tree, found, MAX_LOADS_OPTION)
    _say(arguments, message, is_needed=not is_judged)
    return _Compared(key, others, repeated, failures, is_judged=is_judged)


def _say(arguments: argparse.Namespace, message: str, *, is_needed: bool = False) -> None:
    """Say it, to whoever wants to hear or where it explains the exit status."""
    if is_needed or not arguments.quiet:
        sys.stderr.write(f"{message}\n")


def read_site(
    arguments: argparse.Namespace, sources: Sequence[str], redirects: dict[str, str]
) -> tuple[list[Page], int]:
    """The pages to compare with, and how many could not be read; each of these is named.

    Where redirects lead is put into `redirects`.
    """
    pages: list[Page] = []
    failures = 0
    settings = replace(make_source_settings(arguments), url=None)
    for item in read_pages(sources, settings, redirects=redirects):
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


_NEAR: Final = 0.8
"""From this likeness on, another URL may be meant: a slash forgotten, or a letter."""


def find_page(
    arguments: argparse.Namespace,
    pages: Sequence[Page],
    names: Mapping[str, Page] = {},
    beside: Iterable[Page | Failure] = (),
) -> Page:
    """The page that the user means: a URL among the pages, or a file, by its bytes one of them.

    `names` are URLs that redirect to pages. A file that is none of them may be one of those
    `beside` it, else it is read as `dehusk clean` reads it.
    """
    name: str = arguments.page
    settings = make_source_settings(arguments)
    if not Path(name).is_file():
        if settings.url:
            raise UsageError(f"--url is the address of a file, and {name} is none")
        known = {normal_url(page.url): page for page in reversed(pages) if page.url} | dict(names)
        for wanted in (normal_url(name), crawled_url(name)):
            if wanted in known:
                return known[wanted]
        near = get_close_matches(normal_url(name), known, 1, _NEAR)
        meant = f"; there is {known[near[0]].url}" if near else hint(name)
        if is_web(name) and not arguments.against:
            meant = f"; `dehusk clean {name} --save FILE` saves it, then --against FILE"
        raise UsageError(f"{name}: neither a file nor the URL of a page in --against{meant}")
    items = list(islice(read_pages([name], settings), 2))
    if len(items) != 1:
        raise UsageError(f"{name}: not one page; name one by its URL, and this with --against")
    (key,) = items
    if isinstance(key, Failure):
        raise key.error
    if settings.url:
        return key
    found = (item for item in chain(pages, beside) if isinstance(item, Page))
    return next((page for page in found if page.html == key.html), key)


_NOT_TEXT: Final = (".warc", ".wacz", ".parquet", ".husk")
"""Ends of names of files that are no text; one may stand there and be dear to somebody."""


def _check_target(arguments: argparse.Namespace) -> None:
    """Raise UsageError for a target that is a page of a source, or cannot be written to."""
    check_targets(arguments)
    if not arguments.output:
        return
    target = Path(arguments.output)
    if arguments.output.endswith(("/", os.sep)) or target.is_dir():
        raise UsageError(f"-o {arguments.output}: a template is one page, so name a file")
    if not target.parent.is_dir():
        raise UsageError(f"cannot write to {target}: there is no folder {target.parent}")
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise UsageError(f"cannot write to {target}: no permission; name another place with -o")
    if unpacked_name(target.name).endswith(_NOT_TEXT) or named_compression(target.name):
        raise UsageError(f"-o {arguments.output}: a template is plain text, so name such a file")
    for source in (*_sources(arguments), arguments.page):
        path = Path(source)
        is_same = target.exists() and path.is_file() and target.samefile(path)
        is_inside = path.is_dir() and target.resolve().is_relative_to(path.resolve())
        if is_same or (is_inside and is_page_name(target.name)):
            raise UsageError(f"cannot write to {target}: it is, or would be, a page of {source}")


def _read_memory(arguments: argparse.Namespace, site: str) -> Memory:
    """What the site has taught before; the file is only read."""
    if not arguments.memory:
        return Memory()
    with _opened_memory(arguments) as memories:
        memory = memories.memory(site)
    _say(arguments, f"{site}: {memory.pages} page{'' if memory.pages == 1 else 's'} remembered")
    return memory


def _opened_memory(arguments: argparse.Namespace) -> Session:
    """The memories of sites, for reading."""
    _, settings = chosen_method(arguments, is_searching=True)
    return open_session(arguments.memory, reads_only=True, method=arguments.method, **settings)


def _report(
    arguments: argparse.Namespace,
    template: Template,
    compared: _Compared,
    refusals: list[PageError],
) -> None:
    """Say what the page was compared with, and what could not be."""
    for error in refusals:
        sys.stderr.write(f"dehusk: {error}\n")
    if not isinstance(template.method, Hyperlink):
        count = len(compared.others) - len(refusals)
        _say(arguments, f"compared with {count} other page{'' if count == 1 else 's'}")
    count = len(template.results) - 1
    family = f"{count} page{'' if count == 1 else 's'} of the same family"
    slots = len(template.slots)
    _say(arguments, f"{family}, {slots} slot{'' if slots == 1 else 's'}")


def _written(arguments: argparse.Namespace, template: Template, compared: _Compared) -> str:
    """The template in the format that was asked for."""
    if arguments.format != "graph":
        return _FORMATS[arguments.format](template)
    limits = make_limits(arguments)
    return draw_graph(link_graph(compared.key, compared.others, limits, compared.search))


def _write(arguments: argparse.Namespace, written: str) -> None:
    """Write it where it is wanted."""
    data = (written.rstrip("\n") + "\n").encode("utf-8", "replace")
    if arguments.output:
        try:
            Path(arguments.output).write_bytes(data)
        except OSError as fault:
            raise unwritable(arguments.output, fault) from fault
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
