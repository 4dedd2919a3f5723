"""Where memories last: a store of any number of sites, in a file or a database."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from shlex import quote
from typing import Final

from dehusk.errors import NoMemory, StateError, StoreDamaged, UsageError
from dehusk.memory.store.checking import (
    Finding,
    Replay,
    Report,
    check,
    check_shelves,
    copy_good,
    good_shelf_rows,
    read_memory,
)
from dehusk.memory.store.postgres import PostgresDatabase
from dehusk.memory.store.rows import Database, SiteRow, Statements, StoreRow, site_id
from dehusk.memory.store.shelf import Shelf, Shelves
from dehusk.memory.store.sqlite import SqliteDatabase
from dehusk.memory.store.store import Store
from dehusk.settings import Keeping, is_server

__all__ = [
    "Database",
    "Finding",
    "Keeping",
    "Replay",
    "Report",
    "Shelf",
    "SiteRow",
    "Statements",
    "Store",
    "StoreRow",
    "check",
    "check_shelves",
    "check_sound",
    "connect",
    "copy_good",
    "good_shelf_rows",
    "mending",
    "read_memory",
    "recorded_method",
    "site_id",
]


_CHECKED_BYTES: Final = 256_000_000
"""What is looked through whenever it is opened: SQLite reads a gigabyte in a second."""


def connect(
    address: str | os.PathLike[str],
    make_row: Callable[[], StoreRow] | None = None,
    *,
    writes: bool = True,
    is_synced: bool = True,
    takes_old: bool = False,
) -> Database:
    """A connection to the store at that address: a file, or a database (`postgresql://…`).

    It is made if it is not there and `writes`, and given the row that `make_row` gives.

    A file of an older format is brought to the present one, if `writes`, and left as it is where
    `takes_old`: of such a one only the store's own row can be read.
    Raises UsageError for what cannot be a store and where there is none, StoreLocked where another
    process writes to it.
    """
    if not writes:
        make_row = None
    database: Database
    if is_server(address):
        database = PostgresDatabase(
            os.fspath(address), writes=writes, makes=make_row is not None, is_synced=is_synced
        )
    else:
        database = SqliteDatabase(
            Path(address),
            writes=writes,
            make_row=make_row,
            is_synced=is_synced,
            takes_old=takes_old,
        )
    try:
        if _is_none(database):
            if make_row is None:
                raise NoMemory(database.address)
            _write_row(database, make_row())
    except BaseException:  # Ctrl-C too: let go of the lock
        database.close()
        raise
    return database


def check_sound(database: Database, shelf: str, *, writes: bool) -> None:
    """Raise StoreDamaged for a store that is not to be used.

    All of the shelf of that name is read: no user would miss what is not found there. To write to
    a damaged file may spoil what is good in it, so that it is looked through before; a large one
    is not, which `dehusk sites check` does.
    """
    if database.is_shared:
        return
    is_looked_at = writes and database.size_bytes() < _CHECKED_BYTES
    faults = database.faults(1) if is_looked_at else []
    try:
        if not faults:
            Shelves(database).counted(shelf.encode())
    except StoreDamaged as fault:
        faults = [str(fault)]
    if faults:
        message = f"{database.address}: damaged ({faults[0]})"
        raise StoreDamaged(message, advice=mending(database.address))


def _is_none(database: Database) -> bool:
    """True for tables that nothing was written to: whoever made them was killed behind that."""
    try:
        return Statements(database).is_empty()
    except StateError:
        return False  # A damaged store is one: it can be checked, and perhaps repaired.


def _write_row(database: Database, row: StoreRow) -> None:
    """Give a store its row, unless another process has done so meanwhile."""
    statements = Statements(database)
    database.begin()
    try:
        database.lock(0)
        if statements.is_empty():
            statements.write_store(row)
        database.commit()
    except BaseException:  # Ctrl-C too: no transaction may stay open
        database.rollback()
        raise


def mending(address: str | os.PathLike[str]) -> str:
    """What to do about a damaged store."""
    if is_server(address):
        return "`dehusk sites forget` removes a damaged site"
    repair = f"dehusk sites check --repair --memory {quote(os.fspath(address))}"
    return f"`{repair}` keeps what is good, if anything is; else restore a copy"


def recorded_method(address: str | os.PathLike[str]) -> str | None:
    """The method that the memories there were learned with; None for a new file."""
    try:
        database = connect(address, writes=False, takes_old=True)
    except UsageError:
        return None
    with closing(database):
        return Statements(database).read_store().method
