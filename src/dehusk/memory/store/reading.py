"""A site's memory out of its rows, every part of it checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dehusk.errors import StateError, StoreDamaged
from dehusk.memory import Memory, load
from dehusk.memory.store.rows import SiteRow
from dehusk.memory.store.statements import Statements

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
