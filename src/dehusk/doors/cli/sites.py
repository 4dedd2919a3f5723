"""`dehusk sites`: what a memory knows, and what can be done with it."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import dehusk
from dehusk.doors.cli.checks import check_targets
from dehusk.doors.cli.sites_show import read_site, show
from dehusk.doors.cli.tables import print_table
from dehusk.errors import StoreDamaged, UsageError
from dehusk.memory import upkeep
from dehusk.memory.store import SiteRow


def run(arguments: argparse.Namespace) -> int:
    """List the sites, or do what is asked; 1 for damage."""
    if arguments.act == "merge" and arguments.memory:
        raise UsageError("merge takes two memories by their names, not by --memory")
    if arguments.act != "merge" and not arguments.memory:
        raise UsageError("--memory FILE says which memory; `dehusk sites --help` shows the rest")
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
    site = read_site(arguments.memory, arguments.site)
    return show(site, _fields(site.row), arguments)


def _forget(arguments: argparse.Namespace) -> int:
    """Sites taken out."""
    with dehusk.open(arguments.memory, reads_only=True) as memory:
        known = {row.name for row in memory.sites()}
    missing = [site for site in arguments.sites if site not in known]
    if missing:
        raise UsageError(f"{arguments.memory} knows no site {', '.join(map(repr, missing))}")
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
    with dehusk.open(arguments.memory, reads_only=not acts) as memory:
        for act, value in acts:
            if act != "remove":
                memory.add_rule(arguments.site, act, value)
            elif not memory.remove_rule(arguments.site, value):
                sys.stderr.write(f"dehusk: {arguments.site} has no rule {value!r}\n")
                return 1
        rules = memory.rules(arguments.site)
    print_table(
        ("rule", "does", "selector"), [(rule.id, rule.action, rule.selector) for rule in rules]
    )
    return 0


def _check(arguments: argparse.Namespace) -> int:
    """What is damaged and what is good; 1 where anything is damaged."""
    path = arguments.memory
    report = upkeep.repair_store(path) if arguments.repair else upkeep.check_store(path)
    for finding in report.findings:
        sys.stdout.write(f"damaged: {finding.message}\n")
    count = len(report.good)
    sys.stdout.write(f"sites that are good: {count:,}\n")
    if report.findings and arguments.repair:
        real = Path(path).resolve() if Path(path).is_symlink() else path
        sys.stdout.write(f"{path} now holds only these; the damaged file is {real}-damaged\n")
    return 1 if report.findings else 0


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
    try:
        with Path(arguments.output).open("w", encoding="utf-8") as file:
            file.writelines(lines)
    except OSError as fault:
        raise UsageError(f"cannot write to {arguments.output}: {fault.strerror}") from fault
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
}
