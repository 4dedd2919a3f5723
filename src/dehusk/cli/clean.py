"""`dehusk clean`: pages in, content out."""

from __future__ import annotations

import argparse
import sys

from dehusk.cli.progress import Progress
from dehusk.errors import PageError, PageFault
from dehusk.methods import DEFAULT
from dehusk.methods.written import parse_settings
from dehusk.model import Limits, Page
from dehusk.output import Format, open_writer
from dehusk.result import Refusal, Result
from dehusk.site import Sites
from dehusk.sources import Failure, SiteBy, SourceSettings, count_pages, read_pages


def run(arguments: argparse.Namespace) -> int:
    """Clean all sources; 1 if anything could not be read or used."""
    limits = Limits(
        max_bytes=arguments.max_bytes,
        max_nodes=arguments.max_nodes,
        max_depth=arguments.max_depth,
        timeout_s=arguments.timeout,
    )
    method = arguments.method or DEFAULT
    sites = Sites(method=method, limits=limits, **parse_settings(method, arguments.settings))
    source_settings = SourceSettings(
        site=arguments.site,
        site_by=SiteBy(arguments.site_by),
        html_field=arguments.html_field,
        url_field=arguments.url_field,
        max_bytes=arguments.max_bytes,
    )
    items = read_pages(arguments.sources, source_settings)
    writer = open_writer(
        arguments.output,
        Format(arguments.format) if arguments.format else None,
        sys.stdout.buffer,
        is_terminal=sys.stdout.isatty(),
        sources=arguments.sources,
    )
    is_live = sys.stderr.isatty() and not arguments.quiet
    total = count_pages(arguments.sources) if is_live else None
    progress = Progress(sys.stderr, total, is_quiet=arguments.quiet)
    with writer:
        try:
            for item in items:
                answer = answer_on(item, sites, writer.format)
                writer.write(answer)
                progress.count(answer)
        finally:
            progress.finish()
    return 1 if progress.refusals else 0


def answer_on(item: Page | Failure, sites: Sites, written_as: Format) -> Result | Refusal:
    """The answer on one item, rendered. Nothing that a page does ends the run."""
    if isinstance(item, Failure):
        return Refusal(item.url, item.site, item.error)
    try:
        result = sites.add(item)
        _render(result, written_as)
    except PageError as error:
        return Refusal(item.url, item.site, error)
    except Exception as fault:  # noqa: BLE001 - the outermost loop: counted and named
        unforeseen = PageFault(item.url, f"{type(fault).__name__}: {fault}")
        return Refusal(item.url, item.site, unforeseen)
    return result


def _render(result: Result, written_as: Format) -> None:
    """Render what will be written: a fault in it is the page's, not the writer's."""
    if written_as is Format.TEXT:
        _ = result.text
    elif written_as is Format.HTML:
        _ = result.html
    else:
        result.to_json()
