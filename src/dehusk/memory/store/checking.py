"""A store read with all of it checked: a site's memory, what is damaged, what is still good."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from dehusk.errors import StateError, StoreDamaged
from dehusk.memory import Memory, load
from dehusk.memory.store.rows import Database, SiteRow, Statements, StoreRow, checksum

Replay = Callable[[Memory, Memory], Memory]
"""Gives the memory after a page, from the one before it and what the page taught."""


@dataclass(frozen=True, slots=True)
class Parts:
    """A site's memory as it is stored: the snapshot, and what each page behind it taught."""

    snapshot: Memory
    lessons: tuple[Memory, ...]


def read_parts(statements: Statements, method: str, row: SiteRow) -> Parts:
    """The parts of a site's memory. Raises StoreDamaged, which names the site and what is wrong."""
    try:
        snapshot = _read_snapshot(statements, method, row)
        log = statements.log(row.id, row.folded)
        if [page for page, _ in log] != list(range(row.folded + 1, row.pages + 1)):
            raise StateError(f"its log does not hold the pages {row.folded + 1} to {row.pages}")
        if sum(len(body) for _, body in log) != row.log_bytes:
            raise StateError("its log is not as long as was written")
        lessons = tuple(load(body, method, site=row.name) for _, body in log)
        if any(lesson.pages != 1 for lesson in lessons):
            raise StateError("its log holds more than a page in a row")
    except StateError as fault:
        raise StoreDamaged(f"the memory of site {row.name!r} is damaged: {fault}", row.name) from (
            fault
        )
    return Parts(snapshot, lessons)


def read_memory(statements: Statements, method: str, row: SiteRow, replay: Replay | None) -> Memory:
    """A site's memory: its snapshot, and what its log says came behind. Raises StoreDamaged."""
    parts = read_parts(statements, method, row)
    memory = parts.snapshot
    for lesson in parts.lessons:
        if replay is None:
            raise StoreDamaged(
                f"site {row.name!r} has a log, which {method} never writes", row.name
            )
        memory = replay(memory, lesson)
    return memory


def _read_snapshot(statements: Statements, method: str, row: SiteRow) -> Memory:
    """The memory after the first `folded` pages. Raises StateError."""
    if not row.folded:
        return Memory()
    body = statements.snapshot(row.id)
    if body is None or len(body) != row.snapshot_bytes:
        raise StateError("its snapshot is missing, or not as long as was written")
    memory = load(body, method, site=row.name)
    if memory.pages != row.folded:
        raise StateError(f"its snapshot is of {memory.pages} pages, not of {row.folded}")
    return memory


_STEP: Final = 64
"""Rows that are looked for at once; where they cannot be read, one at a time."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it was written. `site` is the site it is about, if one."""

    message: str
    site: str | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """What `check` found."""

    row: StoreRow | None
    """What the store says of itself; None where that cannot be read."""
    good: tuple[SiteRow, ...]
    """The sites whose memory can be read to the last byte."""
    findings: tuple[Finding, ...]


def check(database: Database) -> Report:
    """Read and verify all there is. Nothing is changed, and no damage raises."""
    statements = Statements(database)
    findings = [Finding(fault) for fault in database.faults()]
    row = _check_store(statements, findings)
    if row is None:
        return Report(None, (), tuple(findings))
    good: list[SiteRow] = []
    numbers = _site_numbers(database)
    for number in numbers:
        try:
            site = statements.site(number)
            if site is None:
                findings.append(Finding(f"pages of site number {number}, which has no row"))
                continue
            read_parts(statements, row.method, site)
            good.append(site)
        except StateError as fault:
            findings.append(Finding(str(fault), getattr(fault, "site", None)))
    mark = 0
    for site in good:
        mark ^= site.id
    if not findings and (len(good), mark) != (row.sites, row.mark):
        findings.append(
            Finding(f"{row.sites} sites were written, {len(good)} are found, or others")
        )
    findings += check_shelves(database)
    return Report(row, tuple(sorted(good, key=lambda site: site.name)), tuple(findings))


def _check_store(statements: Statements, findings: list[Finding]) -> StoreRow | None:
    """The store's row, if it or its copy can be read; both are looked at."""
    rows: list[StoreRow] = []
    for table in ("store", "store_copy"):
        try:
            rows.append(statements.read_copy(table))
        except StateError as fault:
            findings.append(Finding(f"{fault} ({table})"))
    if len(set(map(StoreRow.text, rows))) > 1:
        findings.append(Finding("the store's own row and its copy differ"))
    return rows[0] if rows else None


def _site_numbers(database: Database) -> list[int]:
    """The numbers of all sites that can be found, from both ends of every table that names them."""
    found: set[int] = set()
    for table, column in (("site", "id"), ("snapshot", "site"), ("log", "site")):
        for comparison, order in ((">", "ASC"), ("<", "DESC")):
            with suppress(StateError):
                found.update(_walk(database, table, column, comparison, order))
    return sorted(found)


def _walk(
    database: Database, table: str, column: str, comparison: str, order: str
) -> Iterator[int]:
    """The numbers in a column, one after another, up to where the table cannot be read."""
    at = -(2**63) if comparison == ">" else 2**63 - 1
    step = _STEP
    while True:
        try:
            rows = database.rows(
                f"SELECT DISTINCT {column} FROM {table} WHERE {column} {comparison} ?"  # noqa: S608
                f" ORDER BY {column} {order} LIMIT ?",
                (at, step),
            )
        except StateError:
            if step == 1:
                return
            step = 1
            continue
        numbers = [number for (number,) in rows if isinstance(number, int)]
        yield from numbers
        onward = [number for number in numbers if (number > at) == (comparison == ">")]
        # A damaged table may give the same rows for ever: every step must lead further.
        if len(rows) < step or not onward or onward[-1] == at:
            return
        at = onward[-1]


def check_shelves(database: Database) -> Iterator[Finding]:
    """What is damaged on the shelves: rows, or how many there are."""
    try:
        marks = database.rows("SELECT shelf, rows, mark, checksum FROM shelf_mark")
        rows = database.rows("SELECT shelf, site, key, value, checksum FROM shelf")
    except StateError as fault:
        yield Finding(f"the shelves: {fault}")
        return
    counts: dict[object, tuple[int, int]] = {}
    for shelf, site, key, value, written in rows:
        if checksum((shelf, site), key, value) != written:
            yield Finding(f"a row of the shelf {_named(shelf)} is damaged")
        count, mark = counts.get(shelf, (0, 0))
        counts[shelf] = count + 1, mark ^ (written if isinstance(written, int) else 0)
    for shelf, *numbers, written in marks:
        there = counts.pop(shelf, (0, 0))
        if checksum(shelf, *numbers) != written:
            yield Finding(f"the mark of the shelf {_named(shelf)} is damaged")
        elif there != tuple(numbers):
            yield Finding(f"rows of the shelf {_named(shelf)} are missing, or not those written")
    for shelf in counts:
        yield Finding(f"the shelf {_named(shelf)} has rows but no mark")


def _named(shelf: object) -> str:
    return shelf.decode(errors="replace") if isinstance(shelf, bytes) else repr(shelf)


def copy_good(report: Report, source: Database, target: Database) -> None:
    """Write all that is good into an empty store."""
    assert report.row is not None
    old, new = Statements(source), Statements(target)
    mark = 0
    target.begin()
    for site in report.good:
        mark ^= site.id
        if site.folded:
            new.write_snapshot(site.id, old.snapshot(site.id) or b"", site.folded)
        new.write_log((site.id, page, body) for page, body in old.log(site.id, site.folded))
        new.write_sites([site])
    row = StoreRow(report.row.method, report.row.settings, sites=len(report.good), mark=mark)
    new.write_store(row)
    target.commit()


def good_shelf_rows(database: Database) -> Iterator[tuple[bytes, int, bytes, bytes]]:
    """The rows of all shelves that are as they were written: shelf, site, key, value."""
    try:
        rows = database.rows("SELECT shelf, site, key, value, checksum FROM shelf")
    except StoreDamaged:
        return
    for shelf, site, key, value, written in rows:
        if (
            isinstance(shelf, bytes)
            and isinstance(site, int)
            and isinstance(key, bytes)
            and isinstance(value, bytes)
            and checksum((shelf, site), key, value) == written
        ):
            yield shelf, site, key, value
