"""`dehusk sites`: what a memory knows, and what can be done with it."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from msgspec.structs import asdict

import dehusk
from dehusk import pipeline
from dehusk.doors.cli import atlas
from dehusk.doors.cli.checks import check_targets
from dehusk.doors.cli.progress import print_table
from dehusk.errors import NotAMemory, PageError, StateError, StoreDamaged, UsageError, did_you_mean
from dehusk.memory import Memory, upkeep
from dehusk.memory.memory import CHANGES, KNOWN, PLACES
from dehusk.memory.store import Report, SiteRow
from dehusk.memory.usual import Shift
from dehusk.methods import Method, settings_of
from dehusk.methods.contract import FamilySeen
from dehusk.output.whole import part_of, unwritable
from dehusk.page.page import Page
from dehusk.settings import SourceSettings
from dehusk.sources import Failure, read_pages
from dehusk.template.templates import Template, template_of

_NAMES: Final = {
    KNOWN: "pages known",
    CHANGES: "template changes",
    PLACES: "places of dates and authors",
}
_MAX_FAMILIES: Final = 20
"""Families that are shown: rare ones are often a single odd page."""


@dataclass(frozen=True, slots=True)
class _ShownSite:
    """All that is known of a site."""

    row: SiteRow
    memory: Memory
    method: Method
    families: Sequence[FamilySeen]
    shift: Shift | None


def _read_site(address: str, name: str) -> _ShownSite:
    """The site of that name. Raises UsageError for one that is not there."""
    with dehusk.open(address, reads_only=True) as memory:
        row = memory.site(name)
        if row is None:
            raise _unknown([name], address, memory)
        shift = memory.usual(name).shift
        return _ShownSite(row, memory.memory(name), memory.method, memory.families(name), shift)


def _write_site(
    site: _ShownSite, figures: Mapping[str, object], arguments: argparse.Namespace
) -> int:
    """Write the site's figures, tables and families; 1 if a page of --against could not be read."""
    for name, value in figures.items():
        sys.stdout.write(f"{name:16} {'-' if value is None else value}\n")
    changes = site.memory.table(CHANGES)
    if len(changes):
        sys.stdout.write(f"{'new template on':16} page {changes.last[0]}\n")
    if site.shift:
        sys.stdout.write(f"{'answers changed':16} on page {site.shift.page}: {site.shift}\n")
    sys.stdout.write("\n")
    header = ("table", "rows", "bytes in memory", "on 5 pages or more", "most pages")
    print_table(
        header,
        [
            (name, *("-" if number is None else f"{number:,}" for number in numbers))
            for name, *numbers in _tables(site.memory)
        ],
    )
    if site.families:
        sys.stdout.write("\n")
        print_table(("family", "pages", "last on page", "an example"), _families(site))
    if not arguments.against:
        return 0
    if not site.families:
        raise UsageError(f"--against: the method {site.method.name} does not tell families apart")
    return _show_templates(site, arguments.against)


def _tables(memory: Memory) -> Iterator[tuple[str, int, int, int | None, int | None]]:
    """Each table: its name, rows, bytes, rows that were on 5 pages or more, and most pages."""
    for name, table in sorted({**memory.tables, **memory.settled().history}.items()):
        often, most = int((table.count >= 5).sum()), int(table.count.max(initial=0))
        yield _NAMES.get(name, name), len(table), table.size_bytes, often, most
    for name, sequence in sorted(memory.sequences.items()):
        yield name, len(sequence), sequence.nbytes, None, None


def _details(site: _ShownSite) -> dict[str, object]:
    """All that is shown of a site besides its line in the list, for programs."""
    changes = site.memory.table(CHANGES)
    names = ("table", "rows", "bytes", "on_5_pages", "most_pages")
    return {
        "new_template_on": int(changes.last[0]) if len(changes) else None,
        "answers_changed": site.shift and asdict(site.shift),
        "tables": [dict(zip(names, row, strict=True)) for row in _tables(site.memory)],
        "families_seen": [asdict(seen) for seen in site.families],
    }


def _families(site: _ShownSite) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [
        (str(seen.number), f"{seen.pages:,}", f"{seen.last_page:,}", seen.example or "-")
        for seen in site.families[:_MAX_FAMILIES]
    ]
    others = site.families[_MAX_FAMILIES:]
    if others:
        pages = sum(family.pages for family in others)
        rows.append((f"{len(others):,} more", f"{pages:,}", "-", "-"))
    return rows


def _show_templates(site: _ShownSite, sources: Sequence[str]) -> int:
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


def _template(site: _ShownSite, key: Page, others: Sequence[Page]) -> Template:
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


def run(arguments: argparse.Namespace) -> int:
    """List the sites, or do what is asked; 1 for damage."""
    if arguments.act == "merge" and arguments.memory:
        raise UsageError("merge takes two memories by their names, not by --memory")
    if arguments.act != "merge" and not arguments.memory:
        raise UsageError("name the memory with --memory FILE; see `dehusk sites --help`")
    if arguments.json and arguments.act not in (None, "show"):
        raise UsageError(f"--json: {arguments.act} has no JSON; the list of sites and show have")
    if arguments.act is None:
        return _list(arguments)
    return _ACTS[arguments.act](arguments)


def _list(arguments: argparse.Namespace) -> int:
    """All sites, by name."""
    with dehusk.open(arguments.memory, reads_only=True) as memory:
        damaged: list[StoreDamaged] = []
        rows, forgotten = memory.sites(damaged.append), memory.forgotten_sites
        name = memory.method.name
    for fault in damaged:
        sys.stderr.write(f"dehusk: {fault}; `dehusk sites check` says more\n")
    status = 1 if damaged else 0
    if arguments.json:
        sys.stdout.writelines(json.dumps(_fields(row)) + "\n" for row in rows)
        return status
    header = ("site", "pages", "families", "template changes", "bytes", "last change")
    print_table(header, [_cells(row) for row in rows])
    pages, size = sum(row.pages for row in rows), sum(row.size_bytes for row in rows)
    sys.stdout.write(f"\nsites: {len(rows):,}, pages: {pages:,}, bytes: {size:,}, method: {name}\n")
    if forgotten:
        sys.stdout.write(f"sites forgotten because all were too large: {forgotten:,}\n")
    return status


def _fields(row: SiteRow) -> dict[str, object]:
    return {
        "site": row.name,
        "pages": row.pages,
        "families": row.families or None,
        "template_changes": row.revision if row.families else None,
        "bytes": row.size_bytes,
        "changed": _time(row),
    }


def _cells(row: SiteRow) -> tuple[str, ...]:
    return (
        row.name,
        f"{row.pages:,}",
        f"{row.families:,}" if row.families else "-",
        f"{row.revision:,}" if row.families else "-",
        f"{row.size_bytes:,}",
        _time(row),
    )


def _time(row: SiteRow) -> str:
    return datetime.fromtimestamp(row.changed, UTC).isoformat().replace("+00:00", "Z")


def _show(arguments: argparse.Namespace) -> int:
    """One site, table by table and family by family."""
    if arguments.json and arguments.against:
        raise UsageError(
            "--json: not with --against; `dehusk template --format json` has templates"
        )
    site = _read_site(arguments.memory, arguments.site)
    if arguments.json:
        sys.stdout.write(json.dumps(_fields(site.row) | _details(site)) + "\n")
        return 0
    return _write_site(site, _fields(site.row), arguments)


def _forget(arguments: argparse.Namespace) -> int:
    """Sites taken out."""
    with dehusk.open(arguments.memory, reads_only=True) as memory:
        known = {row.name for row in memory.sites()}
        missing = [site for site in arguments.sites if site not in known]
        if missing:
            raise _unknown(missing, arguments.memory, memory)
    with dehusk.open(arguments.memory) as memory:
        for site in arguments.sites:
            memory.forget(site)
    return 0


def _rules(arguments: argparse.Namespace) -> int:
    """A rule added or taken back, or all rules of a site; 1 for one that is not there."""
    given = [("keep", arguments.keep), ("drop", arguments.drop), ("remove", arguments.remove)]
    acts = [(act, value) for act, value in given if value is not None]
    if len(acts) > 1:
        raise UsageError("one of --keep, --drop and --remove at a time")
    upkeep.check_there(arguments.memory)
    with dehusk.open(arguments.memory, reads_only=not acts) as memory:
        for act, value in acts:
            if act != "remove":
                if memory.site(arguments.site) is None:  # No page would obey the rule.
                    raise _unknown([arguments.site], arguments.memory, memory)
                memory.add_rule(arguments.site, act, value)
            elif not memory.remove_rule(arguments.site, value):
                sys.stderr.write(f"dehusk: {arguments.site} has no rule {value!r}\n")
                return 1
        rules = memory.rules(arguments.site)
    print_table(
        ("rule", "does", "selector"), [(rule.id, rule.action, rule.selector) for rule in rules]
    )
    return 0


def _unknown(sites: Sequence[str], address: str, memory: dehusk.Session) -> UsageError:
    """Says which sites the memory does not know, and what could be meant by the first."""
    meant = did_you_mean(sites[0], [row.name for row in memory.sites()])
    advice = meant or "; `dehusk sites --memory FILE` lists those that it knows"
    return UsageError(f"{address} knows no site {', '.join(map(repr, sites))}{advice}")


def _check(arguments: argparse.Namespace) -> int:
    """What is damaged and what is good; 1 where anything is damaged."""
    path = arguments.memory
    report = _repaired(path) if arguments.repair else upkeep.check_store(path)
    for finding in report.findings:
        sys.stdout.write(f"damaged: {finding.message}\n")
    count = len(report.good)
    sys.stdout.write(f"sites that are good: {count:,}\n")
    if report.findings and arguments.repair:
        real = Path(path).resolve() if Path(path).is_symlink() else path
        sys.stdout.write(f"{path} now holds only these; the damaged file is {real}-damaged\n")
    return 1 if report.findings else 0


def _repaired(path: str) -> Report:
    """The report on a file that was repaired. Raises StateError where it cannot be."""
    try:
        return upkeep.repair_store(path)
    except NotAMemory:
        raise
    except StoreDamaged as fault:
        raise StateError(
            f"{fault}; it cannot be repaired: restore a copy, or begin a new memory"
        ) from fault


def _vacuum(arguments: argparse.Namespace) -> int:
    """Room given back."""
    before, after = upkeep.vacuum_store(arguments.memory)
    sys.stdout.write(f"{before:,} bytes before, {after:,} now\n")
    return 0


def _upgrade(arguments: argparse.Namespace) -> int:
    """The present format."""
    upkeep.check_there(arguments.memory)
    sys.stdout.write(f"format {upkeep.upgrade_store(arguments.memory)}\n")
    return 0


def _merge(arguments: argparse.Namespace) -> int:
    """Two memories in one."""
    count = upkeep.merge_stores(arguments.first, arguments.second, arguments.output)
    sys.stdout.write(f"sites in {arguments.output}: {count:,}\n")
    return 0


def _export(arguments: argparse.Namespace) -> int:
    """A memory as JSON lines."""
    check_targets(arguments)
    lines = upkeep.export_lines(arguments.memory)
    if arguments.output in (None, "-"):
        sys.stdout.writelines(lines)
        return 0
    path = Path(arguments.output).resolve()
    try:
        # Half an export must not look like one; what is no file has no other name.
        other = part_of(path) if path.is_file() or not path.exists() else nullcontext(path)
        with other as part, part.open("w", encoding="utf-8") as file:
            file.writelines(lines)
    except OSError as fault:
        raise unwritable(arguments.output, fault) from fault
    return 0


def _import(arguments: argparse.Namespace) -> int:
    """JSON lines into a memory."""
    if arguments.file == "-":
        count = upkeep.import_lines(sys.stdin.buffer, arguments.memory)
    else:
        try:
            with Path(arguments.file).open("rb") as file:
                count = upkeep.import_lines(file, arguments.memory)
        except OSError as fault:
            raise UsageError(f"{arguments.file}: {fault.strerror}") from fault
    sys.stdout.write(f"sites read: {count:,}\n")
    return 0


_ACTS: Final[dict[str, Callable[[argparse.Namespace], int]]] = {
    "show": _show,
    "forget": _forget,
    "rules": _rules,
    "check": _check,
    "vacuum": _vacuum,
    "upgrade": _upgrade,
    "merge": _merge,
    "export": _export,
    "import": _import,
    "atlas": atlas.run,
}
