"""Older layouts of a store, brought to the present one."""

from __future__ import annotations

from dataclasses import replace

from dehusk.memory.store.database import Database
from dehusk.memory.store.rows import FORMAT, SiteRow, checksum
from dehusk.memory.store.statements import Statements

_FIRST_SITE = "name, pages, folded, snapshot_bytes, log_bytes, changed"


def upgrade(database: Database) -> None:
    """Bring a store of format 1 to format 2, which knows families and revisions.

    To be called between `begin` and `commit`. A row that is damaged stays so.
    """
    statements = Statements(database)
    found = database.rows(f"SELECT id, {_FIRST_SITE}, checksum FROM site")  # noqa: S608
    for column in ("families", "revision"):
        database.run(f"ALTER TABLE site ADD COLUMN {column} INTEGER NOT NULL DEFAULT 0", [()])
    for number, name, *numbers, written in found:
        is_good = checksum(number, name, *numbers) == written
        if is_good and isinstance(name, bytes):
            row = SiteRow(name.decode("utf-8", "surrogatepass"), *(int(str(n)) for n in numbers))
            statements.write_sites([row])
    statements.write_store(replace(statements.read_store(), format=FORMAT))
