"""What is done to whole stores: checked, repaired, added up, written out and read in."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final

from dehusk.errors import NoMemory, SourceError, StateError, StoreDamaged, UsageError, WrongMemory
from dehusk.memory import check_settings, dump, load
from dehusk.memory.lessons import Lessons, method_of
from dehusk.memory.rules import SHELF as RULES
from dehusk.memory.store import (
    Database,
    Report,
    Statements,
    Store,
    StoreRow,
    check,
    check_shelves,
    check_sound,
    connect,
    copy_good,
    good_shelf_rows,
)
from dehusk.memory.usual import SHELF as USUAL
from dehusk.memory.usual import Usual
from dehusk.settings import Keeping, is_server

Address = str | os.PathLike[str]
_KIND: Final = "dehusk memories"
_VERSION: Final = 1


def check_store(address: Address) -> Report:
    """What is damaged and what is good, everything read; a store of nothing but damage too."""
    with closing(connect(address, writes=False)) as database:
        return check(database)


def repair_store(address: Address) -> Report:
    """The report on a file, which afterwards holds only what is good.

    The damaged file stays beside it, under its name with `-damaged`. Raises StateError where
    nothing in it can be read.
    """
    if is_server(address):
        raise UsageError(f"{address}: on a server; `dehusk sites forget` removes a damaged site")
    # Where a link leads is what is repaired; the link stays.
    path = Path(os.path.realpath(address))
    part = Path(f"{path}-repair")
    for left in (part, Path(f"{part}-wal"), Path(f"{part}-shm")):
        left.unlink(missing_ok=True)
    with closing(connect(address)) as database:
        report = check(database)
        if not report.findings:
            return report
        if report.row is None:
            raise StateError(f"{address}: nothing in it can be read, so nothing can be repaired")
        row = StoreRow(report.row.method, report.row.settings)
        with closing(connect(part, lambda: row)) as target:
            copy_good(report, database, target)
            shelves = Store(target, None, Keeping()).shelves
            for shelf, site, key, value in good_shelf_rows(database):
                shelves.put((shelf, site), key, value)
            target.begin()
            shelves.write()
            target.commit()
        # Still under the lock, so that nobody writes to the old file while it goes.
        path.replace(f"{path}-damaged")
        for suffix in ("-wal", "-shm"):
            with suppress(FileNotFoundError):
                Path(f"{path}{suffix}").replace(f"{path}-damaged{suffix}")
        part.replace(path)
    return report


def vacuum_store(address: Address) -> tuple[int, int]:
    """The bytes that the store took before and after the room that is not used was given back."""
    check_there(address)
    with closing(connect(address)) as database:
        before = database.size_bytes()
        database.compact()
        return before, database.size_bytes()


def upgrade_store(address: Address) -> int:
    """The format that the store has now; opening it to write brings an older one to it."""
    with closing(connect(address)) as database:
        return Statements(database).read_store().format


def merge_stores(first: Address, second: Address, target: Address) -> int:
    """How many sites the target has: those of both, the memories of common ones added up.

    Both must be of one method with the same settings. Of shelves only those of sites are taken;
    of a key that both have, the second's value, and of what is usual the one that knows of more
    answers. Raises StateError, and UsageError for a target that
    is there and for one memory named twice.
    """
    _check_new(target)
    _check_two(first, second)
    with closing(_open(first)) as one, closing(_open(second)) as two:
        if one.row.method != two.row.method:
            raise WrongMemory(f"memories of {one.row.method} and of {two.row.method} do not add up")
        check_settings(one.row.method, one.row.settings, two.row.settings)
        lines = list_lines(one)
        head = next(lines)
        for source in (lines, _without_head(list_lines(two))):
            read_lines(source, target, head)
    with closing(_open(target)) as merged:
        return merged.row.sites


def _check_two(first: Address, second: Address) -> None:
    """Raise UsageError where both are one memory, whose pages would count twice."""
    names = [str(each) if is_server(each) else os.path.realpath(each) for each in (first, second)]
    if names[0] == names[1]:
        raise UsageError(f"{first} and {second} are the same memory: its pages would count twice")


def export_lines(address: Address) -> Iterator[str]:
    """The store as lines of JSON: what it is, then a line for each site. Raises StoreDamaged."""
    with closing(_open(address)) as store:
        for line in list_lines(store):
            yield json.dumps(line) + "\n"


def import_lines(lines: Iterable[str | bytes], address: Address) -> int:
    """How many sites were read into the store, which is made if it is not there.

    A site that is there already is added to, unless it knows all pages of the other: an import can
    be done again, after an interruption too. Raises UsageError for lines that are not an export,
    SourceError for damaged ones, StateError for one of another method or other settings.
    """
    parsed = _parse(lines)
    try:
        head = next(parsed, {})
    except SourceError as fault:
        raise UsageError(f"not an export of memories: {fault}") from fault
    if head.get("kind") != _KIND:
        raise UsageError("not an export of memories: its first line does not say so")
    if head.get("version") != _VERSION:
        raise SourceError(f"an export of version {head.get('version')}; this dehusk reads 1")
    return read_lines(parsed, address, head)


def list_lines(store: Store) -> Iterator[dict[str, Any]]:
    """What an export says: a head, then each site with its memory and its shelves."""
    row = store.row
    yield {
        "kind": _KIND,
        "version": _VERSION,
        "method": row.method,
        "settings": dict(row.settings),
    }
    # What an export leaves out must not look as if it had never been there.
    for finding in check_shelves(store.database):
        raise StoreDamaged(f"{store.database.address}: {finding.message}")
    shelves: dict[int, list[list[str]]] = {}
    for shelf, number, key, value in good_shelf_rows(store.database):
        if number:
            shelves.setdefault(number, []).append([_text(part) for part in (shelf, key, value)])
    for site in sorted(store.statements.sites(), key=lambda site: site.name):
        memory = store.memory(site.name)
        yield {
            "site": site.name,
            "changed": site.changed,
            "memory": _text(dump(memory, row.method, site=site.name)),
            "shelves": shelves.get(site.id, []),
        }


def read_lines(lines: Iterator[dict[str, Any]], address: Address, head: dict[str, Any]) -> int:
    """How many sites were added to the store, which the head describes."""
    row = StoreRow(head["method"], head["settings"])
    lessons = Lessons(method_of(row.method, row.settings, {}), knows_pages=True)
    count = 0
    with closing(connect(address, lambda: row)) as database:
        check_sound(database, RULES, writes=True)
        there = Statements(database).read_store()
        if there.method != row.method:
            raise WrongMemory(f"memories of {there.method} and of {row.method} do not add up")
        check_settings(there.method, there.settings, row.settings)
        store = Store(database, lessons.replay, Keeping(), lessons.summary)
        for line in lines:
            _read_site(store, line)
            count += 1
    return count


def _read_site(store: Store, line: dict[str, Any]) -> None:
    """Add one site to the store. Raises SourceError."""
    try:
        site, changed = str(line["site"]), int(line["changed"])
        memory = load(_bytes(line["memory"]), store.row.method, site=site)
        shelves = [[_bytes(part) for part in row] for row in line["shelves"]]
    except (KeyError, TypeError, ValueError, StateError) as fault:
        raise SourceError(f"a site that cannot be read: {fault}") from fault
    store.add_whole(site, memory, changed)
    for name, key, value in shelves:
        shelf = store.shelves.shelf(name.decode(), site)
        is_usual = name.decode() == USUAL
        shelf.put(key, Usual.of_more(shelf.get(key), value) if is_usual else value)
    store.commit()


def _parse(lines: Iterable[str | bytes]) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                parsed = json.loads(line)
            except (ValueError, RecursionError) as fault:
                raise SourceError(f"line {number}: not JSON ({fault})") from fault
            if not isinstance(parsed, dict):
                raise SourceError(f"line {number}: not a JSON object")
            yield parsed


def _open(address: Address) -> Store:
    """The store to read."""
    database: Database = connect(address, writes=False)
    try:
        row = Statements(database).read_store()
        lessons = Lessons(method_of(row.method, row.settings, {}), knows_pages=True)
        return Store(database, lessons.replay, Keeping(), lessons.summary)
    except BaseException:  # Ctrl-C too: let go of the file
        database.close()
        raise


def _without_head(lines: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    next(lines)
    return lines


def check_there(address: Address) -> None:
    """Raise UsageError where there is no store: opening one to write would make it."""
    if not is_server(address) and not Path(address).exists():
        raise NoMemory(address)


def _check_new(target: Address) -> None:
    """Raise UsageError where there is a store, or any file of that name."""
    if is_server(target):
        try:
            connect(target, writes=False).close()
        except UsageError:
            return
    elif not Path(target).exists():
        return
    raise UsageError(f"{target}: already exists; name a new one")


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)
