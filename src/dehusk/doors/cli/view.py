"""`dehusk view`: pages and what was found on them, in a browser."""

from __future__ import annotations

import argparse
import sys
import webbrowser
from itertools import islice
from typing import Any

from dehusk.doors.cli.clean import as_shown, make_limits, make_source_settings
from dehusk.doors.cli.serve import check_extra, method_settings
from dehusk.errors import UsageError
from dehusk.page.page import Page
from dehusk.sources import is_web, read_pages
from dehusk.template.viewing import Viewed


def run(arguments: argparse.Namespace) -> int:
    """Show the pages until interrupted; 1 if some could not be read."""
    check_extra("dehusk view")
    if any(map(is_web, arguments.sources)):
        raise UsageError(
            "a site of the web must be saved first: `dehusk clean URL -o crawl.warc.gz`"
        )
    from dehusk.doors.service.run import open_or_borrow  # noqa: PLC0415  an extra
    from dehusk.doors.service.run_view import view  # noqa: PLC0415  an extra

    with open_or_borrow(
        arguments.memory,
        "page",
        limits=make_limits(arguments),
        keep=arguments.keep,
        drop=arguments.drop,
        **method_settings(arguments),
    ) as memories:
        viewed = Viewed(memories)
        failures = _read(arguments, viewed)
        if not viewed.pages:
            raise UsageError("no page that can be shown")
        view(
            viewed,
            arguments.port,
            is_kept=arguments.memory is not None,
            ready=lambda address: _ready(address, opens=not arguments.no_browser),
        )
    return 1 if failures or viewed.refusals else 0


def _read(arguments: argparse.Namespace, viewed: Viewed) -> int:
    """Take the pages in; how many items could not be read, each of them named."""
    failures = 0
    items: Any = read_pages(arguments.sources, make_source_settings(arguments))
    if arguments.render:
        from dehusk.page.browser import Browser  # noqa: PLC0415  nobody else needs asyncio

        with Browser() as browser:
            items = list(islice(as_shown(items, browser, make_limits(arguments)), arguments.pages))
    for item in items:
        if len(viewed.pages) >= arguments.pages:
            sys.stderr.write(f"dehusk: only the first {arguments.pages:,} pages are shown\n")
            break
        if not isinstance(item, Page):
            failures += 1
            sys.stderr.write(f"dehusk: {item.error}\n")
        elif not viewed.add(item):
            sys.stderr.write(f"dehusk: {viewed.refusals[-1]}\n")
    return failures


def _ready(address: str, *, opens: bool) -> None:
    """Say where the viewer is, and open it."""
    sys.stderr.write(f"dehusk: {address} (Ctrl-C ends it)\n")
    sys.stderr.flush()
    if opens:
        webbrowser.open(address)
