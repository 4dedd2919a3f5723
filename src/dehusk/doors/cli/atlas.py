"""`dehusk sites atlas`: an atlas of themes out of a memory and the pages that it learned."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

import dehusk
from dehusk import pipeline
from dehusk.doors.cli.checks import check_targets
from dehusk.doors.cli.progress import plain
from dehusk.errors import PageError, UsageError
from dehusk.memory import Memory
from dehusk.methods.auto import ATLAS_PAGES, Auto
from dehusk.methods.auto.atlas import MIN_SITES, NO_ATLAS, AtlasMaker
from dehusk.output.whole import part_of, unwritable
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.urls import site_by_url
from dehusk.settings import SiteBy, SourceSettings
from dehusk.sources import Failure, read_pages

_PAGES: Final = 12
"""Pages of a site that are looked at: more of them tell the same."""


def run(arguments: argparse.Namespace) -> int:
    """Write the atlas; 1 if a page could not be read. Raises UsageError without any site."""
    check_targets(arguments)
    maker, seen, failures = AtlasMaker(), Counter[str](), 0
    with dehusk.open(arguments.memory, reads_only=True) as session:
        if not isinstance(session.method, Auto):
            raise UsageError(f"{arguments.memory}: a memory of {session.method.name}, not of auto")
        method = replace(session.method, atlas=NO_ATLAS)
        for item in read_pages(arguments.sources, SourceSettings()):
            if isinstance(item, Failure):
                failures += 1
                sys.stderr.write(f"dehusk: {plain(str(item.error))}\n")
                continue
            site = pipeline.site_of(item)
            if seen[site] < _PAGES:
                seen[site] += 1
                _teach(maker, method, item, session.memory(site))
    if not maker.sites:
        raise UsageError(
            f"no page is of a site that {arguments.memory} has learned more than"
            f" {ATLAS_PAGES} pages of: give the pages that it was learned from"
        )
    atlas = maker.make()
    if not len(atlas):
        raise UsageError(
            f"{len(maker.sites):,} sites agree on nothing: it takes {MIN_SITES} of a theme"
        )
    try:
        with part_of(Path(arguments.output).resolve()) as part:
            part.write_bytes(atlas.dump())
    except OSError as fault:
        raise unwritable(arguments.output, fault) from fault
    sys.stdout.write(f"sites: {len(maker.sites):,}, entries that {MIN_SITES} of them or more")
    sys.stdout.write(f" agree on: {len(atlas):,}\n")
    return 1 if failures else 0


def _teach(maker: AtlasMaker, method: Auto, page: Page, memory: Memory) -> None:
    """Let the atlas learn from a page, if its site is known so well that it needs no atlas.

    So no site is judged by what it has said itself.
    """
    if memory.pages <= ATLAS_PAGES:
        return
    with suppress(PageError):
        tree = parse(page).tree
        known, alone = method.content(memory, tree), method.content(method.lesson(tree), tree)
        if known is not None and alone is not None:
            owner = site_by_url(page.url, SiteBy.DOMAIN) or pipeline.site_of(page)
            verdict = (known[1] >= 0.5).astype(np.float64)
            maker.add(owner, tree, known[0], verdict, alone[1])
