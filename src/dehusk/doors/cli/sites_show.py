"""`dehusk sites show`: what one site has taught, its families and their templates."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import dehusk
from dehusk import pipeline
from dehusk.doors.cli.tables import print_table
from dehusk.errors import PageError, UsageError
from dehusk.memory import Memory
from dehusk.memory.memory import CHANGES, KNOWN
from dehusk.memory.store import SiteRow
from dehusk.methods import Method, settings_of
from dehusk.methods.contract import FamilySeen
from dehusk.page.page import Page
from dehusk.settings import SourceSettings
from dehusk.sources import Failure, read_pages
from dehusk.template.templates import Template, template_of

_NAMES: Final = {KNOWN: "pages known", CHANGES: "template changes"}
_MAX_FAMILIES: Final = 20
"""Families that are shown: rare ones are often a single odd page."""


@dataclass(frozen=True, slots=True)
class ShownSite:
    """All that is known of a site."""

    row: SiteRow
    memory: Memory
    method: Method
    families: Sequence[FamilySeen]


def read_site(address: str, name: str) -> ShownSite:
    """The site of that name. Raises UsageError for one that is not there."""
    with dehusk.open(address, reads_only=True) as memory:
        row = memory.site(name)
        if row is None:
            raise UsageError(f"{address} knows no site {name!r}")
        return ShownSite(row, memory.memory(name), memory.method, memory.families(name))


def show(site: ShownSite, figures: Mapping[str, object], arguments: argparse.Namespace) -> int:
    """Write the site's figures, tables and families; 1 if a page of --against could not be read."""
    for name, value in figures.items():
        sys.stdout.write(f"{name:16} {'-' if value is None else value}\n")
    changes = site.memory.table(CHANGES)
    if len(changes):
        sys.stdout.write(f"{'new template on':16} page {changes.last[0]}\n")
    sys.stdout.write("\n")
    header = ("table", "rows", "bytes in memory", "on 5 pages or more", "most pages")
    print_table(header, list(_tables(site.memory)))
    if site.families:
        sys.stdout.write("\n")
        print_table(("family", "pages", "last on page", "an example"), _families(site))
    if not arguments.against:
        return 0
    if not site.families:
        raise UsageError(f"--against: the method {site.method.name} does not tell families apart")
    return _show_templates(site, arguments.against)


def _tables(memory: Memory) -> Iterator[tuple[str, ...]]:
    for name, table in sorted({**memory.tables, **memory.history}.items()):
        yield (
            _NAMES.get(name, name),
            f"{len(table):,}",
            f"{table.size_bytes:,}",
            f"{int((table.count >= 5).sum()):,}",
            f"{int(table.count.max(initial=0)):,}",
        )
    for name, sequence in sorted(memory.sequences.items()):
        yield name, f"{len(sequence):,}", f"{sequence.nbytes:,}", "-", "-"


def _families(site: ShownSite) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [
        (str(seen.number), f"{seen.pages:,}", f"{seen.last_page:,}", seen.example or "-")
        for seen in site.families[:_MAX_FAMILIES]
    ]
    others = site.families[_MAX_FAMILIES:]
    if others:
        pages = sum(family.pages for family in others)
        rows.append((f"{len(others):,} more", f"{pages:,}", "-", "-"))
    return rows


def _show_templates(site: ShownSite, sources: Sequence[str]) -> int:
    """Write the template of each family whose example is among the pages of the sources."""
    pages, failures = [], 0
    for item in read_pages(sources, SourceSettings()):
        if isinstance(item, Failure):
            failures += 1
            sys.stderr.write(f"dehusk: {item.error}\n")
        elif pipeline.site_of(item) == site.row.name:
            pages.append(item)
    by_url = {page.url: page for page in pages}
    for family in site.families[:_MAX_FAMILIES]:
        key = by_url.get(family.example) if family.example else None
        sys.stdout.write(f"\nfamily {family.number}: ")
        if key is None:
            sys.stdout.write("its example is not among the pages of --against\n")
            continue
        try:
            template = _template(site, key, [page for page in pages if page is not key])
        except PageError as error:
            failures += 1
            sys.stdout.write(f"{error}\n")
            continue
        sys.stdout.write("".join(_lines(template)))
    return 1 if failures else 0


def _template(site: ShownSite, key: Page, others: Sequence[Page]) -> Template:
    settings: dict[str, Any] = settings_of(site.method)
    return template_of(key, others, method=site.method.name, memory=site.memory, **settings)


def _lines(template: Template) -> Iterator[str]:
    """A family's template in short: where content stands on its pages, and what fills it."""
    rules = template.family.rules
    count = len(template.results)
    yield f"{template.result.url}, {count} page{'' if count == 1 else 's'} looked at\n"
    for name, selectors in (("content", rules.content), ("strip", rules.strip)):
        for selector in selectors:
            yield f"  {name:8} {selector.css}\n"
    for slot in template.slots:
        yield f"  slot     {slot['name']} (on {slot['pages']}): {slot['css']}\n"
